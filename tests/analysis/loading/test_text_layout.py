"""Header, records and remarks of a delimited text are told apart, and no record gets lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.results import LoadedTable

Load = Callable[..., LoadedTable]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write a text to a file and load it."""

    def write_and_load(text: str, *, small_bytes: int = 4_000_000) -> LoadedTable:
        path = tmp_path / "data.csv"
        path.write_text(text, encoding="utf-8")
        return load_file(path, out=tmp_path / "out", small_bytes=small_bytes).tables[0]

    return write_and_load


def rows(table: LoadedTable) -> list[tuple[object, ...]]:
    return duckdb.execute("FROM read_parquet(?)", [table.table.path]).fetchall()


def reasons(table: LoadedTable) -> list[str]:
    if table.rejected is None:
        return []
    query = "SELECT reason FROM read_parquet(?)"
    return [row[0] for row in duckdb.execute(query, [table.rejected.path]).fetchall()]


def said(table: LoadedTable) -> str:
    assert all(note.text("zh") for note in table.decisions)
    return "\n".join(note.text("en") for note in table.decisions)


# Header


@pytest.mark.parametrize(
    ("text", "header", "first"),
    [
        ("student,score\nAnna,absent\nBob,90\nCarl,85\nDora,77\n", "student,score", "Anna"),
        ("item,date\nA,soon\nB,2024-01-05\nC,2024-01-06\n", "item,date", "A"),
        ("a,b,c\nX1,free,later\nX2,3,4\nX3,5,6\n", "a,b,c", "X1"),
        ("产品,价格\n苹果,待定\n香蕉,4\n梨,5\n", "产品,价格", "苹果"),
    ],
)
def test_first_record_with_odd_cells_is_no_second_header(
    load: Load, text: str, header: str, first: str
) -> None:
    table = load(text)
    assert table.header == tuple(header.split(","))
    assert table.rows_in == text.count("\n") - 1
    assert rows(table)[0][0] == first


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("time,speed\ns,m/s\n1,3\n2,4\n", ("time s", "speed m/s")),
        ("day,rain\n,(mm)\n2024-01-01,3\n2024-01-02,4\n", ("day", "rain (mm)")),
        ("日期,产量\n,万吨\n2024-01-01,3\n2024-01-02,4\n", ("日期", "产量 万吨")),
        ("k,Sales,Sales\nk,Q1,Q2\nN,1,2\nS,3,4\n", ("k", "Sales Q1", "Sales Q2")),
        ("a,b\n----,----\n1,2\n3,4\n", ("a", "b")),
    ],
)
def test_units_groups_and_rulings_belong_to_the_header(
    load: Load, text: str, header: tuple[str, ...]
) -> None:
    table = load(text)
    assert table.header == header
    assert table.rows_in == 2


@pytest.mark.parametrize("name", ["Nr", "NA", "ND", "no", "无", "None"])
def test_words_for_no_value_can_name_columns(load: Load, name: str) -> None:
    assert load(f"{name};Größe\n1;klein\n2;groß\n").header == (name, "Größe")
    assert load(f"k;{name}\nA;1\nB;2\n").header == ("k", name)


def test_a_first_record_without_value_is_no_header(load: Load) -> None:
    table = load("Anna,NA\nBob,90\nCarl,NA\nDora,85\n")
    assert table.header_row is None
    assert table.rows_in == 4


@pytest.mark.parametrize("body", ["0,1.5\n1,2.5\n", "A,1\nB,2\n", "0,Anna\n1,Bob\n"])
def test_index_column_may_lack_its_name(load: Load, body: str) -> None:
    table = load(f",value\n{body}")
    assert table.header == ("column_1", "value")
    assert table.rows_in == 2
    assert reasons(table) == []


def test_title_in_the_first_cell_stays_a_title(load: Load) -> None:
    table = load("Sales report,\nname,v\na,2\nb,3\n")
    assert table.header == ("name", "v")
    assert reasons(table) == ["title above the table"]


# Last records and remarks


@pytest.mark.parametrize("last", ["Source Code Inc", "Prepared Foods", "Report Ltd", "Notes AG"])
@pytest.mark.parametrize("gap", ["", "\n"])
def test_last_records_with_a_name_alone_are_records(load: Load, last: str, gap: str) -> None:
    table = load(f"company,a,b\nAlpha,1,2\nBeta,3,4\n{gap}{last},,\n")
    assert table.rows_kept == 3
    assert rows(table)[-1] == (last, None, None)


@pytest.mark.parametrize(
    "note",
    [
        "Source: World Bank,,",
        "* revised,,",
        "(2 rows)",
        "注：不含税,,",
        "Figures are provisional.,,",
    ],
)
def test_remarks_below_the_data_are_no_records(load: Load, note: str) -> None:
    table = load(f"company,a,b\nAlpha,1,2\nBeta,3,4\n{note}\n")
    assert table.rows_in == 2
    assert reasons(table) == ["note below the table"]


# More than a table


@pytest.mark.parametrize(
    "above", ["Company,ACME\nPeriod,2024\n", "Station: Oslo\nLat: 59.9, Lon: 10.7\n"]
)
@pytest.mark.parametrize("body", ["id,name,v\n1,a,2\n2,b,3\n3,c,4\n", "name,v\na,2\nb,3\nc,4\n"])
def test_keys_and_values_above_the_table_are_no_header(load: Load, above: str, body: str) -> None:
    table = load(f"{above}\n{body}")
    assert table.header == tuple(body.split("\n", 1)[0].split(","))
    assert table.rows_kept == 3
    assert reasons(table) == ["title above the table"] * 2


@pytest.mark.parametrize(
    "second",
    ["name,city,zip\na,x,1\nb,y,2\n", "day,x\n2024-01-01,3\n2024-01-02,4\n", "id,w\n7,2\n8,3\n"],
)
def test_second_table_below_a_gap_is_set_aside_and_said(load: Load, second: str) -> None:
    table = load(f"id,v\n1,2\n3,4\n5,6\n7,8\n\n{second}")
    assert rows(table) == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert table.rows_in == 6
    assert reasons(table) == ["part of a second table"] * 3
    assert "A second table begins at line 7" in said(table)


def test_a_gap_alone_does_not_end_the_table(load: Load) -> None:
    table = load("name,a,b\nAnna,1,2\n\nBob,absent,ill\nCarl,3,4\n\nname,a,b\nDora,5,6\n")
    assert table.rows_kept == 4


# Separators


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("id    name     amount\n1     Anna     3.50\n2     Bob      4.25\n", "id,name,amount"),
        ("Station   Year  Rain\nBergen    2020  2250\nOslo      2020   763\n", "Station,Year,Rain"),
        ("id~name\n1~Anna\n2~Bob\n", "id,name"),
        ("id:a:b\n1:3:4\n2:4:5\n", "id,a,b"),
        ("a b c\n1 2 3\n4 5 6\n", "a,b,c"),
        ("a，b\n1，2\n3，4\n", "a,b"),
    ],
)
def test_rare_separators_are_found(load: Load, text: str, header: str) -> None:
    table = load(text)
    assert table.header == tuple(header.split(","))
    assert table.rows_kept == 2
    assert table.table.columns[0].type != "text" or header.startswith("Station")


@pytest.mark.parametrize(
    "text",
    [
        "product name\nProduct 1\nProduct 2\nProduct 3\n",
        "555 123 4567\n555 123 4568\n555 987 6543\n",
        "10:30\n11:45\n12:15\n",
        "2024-01-05 10:00\n2024-01-06 11:00\n2024-01-07 12:00\n",
        "host 10:30:15\nhost 10:30:16\nhost 10:30:17\n",
        "comment\nI like it, really\nNot good, bad\nfine\n",
        "评论\n不错，喜欢\n一般，凑合\n很好，会再来\n",
    ],
)
def test_text_of_one_column_is_not_torn_apart(load: Load, text: str) -> None:
    table = load(text)
    assert len(table.header) == 1
    has_header = "name" in text or "comment" in text or "评论" in text
    assert table.rows_in == text.count("\n") - has_header


@pytest.mark.parametrize(
    "text",
    [
        "id, name\n1, Anna\n2, Bob\n",
        " id | name \n----+------\n  1 | Anna \n  2 | Bob  \n(2 rows)\n",
        "| id | name |\n|---:|:-----|\n| 1 | Anna |\n| 2 | Bob |\n",
        "+----+------+\n| id | name |\n+----+------+\n|  1 | Anna |\n|  2 | Bob  |\n",
        "id   |name \n1    |Anna \n2    |Bob  \n",
    ],
)
def test_padding_is_no_part_of_fields(load: Load, text: str) -> None:
    table = load(text)
    assert table.header == ("id", "name")
    assert rows(table) == [(1, "Anna"), (2, "Bob")]
    assert table.rows_in == 2
    assert "Blanks around the fields" in said(table)


def test_blanks_around_some_fields_stay(load: Load) -> None:
    assert rows(load("a,b\nx,y \nz,w\n")) == [("x", "y "), ("z", "w")]
    assert rows(load("a,b\n  x  ,y\nz, w\nu,v\n"))[:2] == [("  x  ", "y"), ("z", " w")]


# Short records


@pytest.mark.parametrize("small_bytes", [4_000_000, 1], ids=["careful", "direct"])
@pytest.mark.parametrize("every", [1, 2], ids=["all short", "half short"])
def test_records_may_leave_out_their_last_field(load: Load, every: int, small_bytes: int) -> None:
    lines = [f"{i},{i * 2},n{i}" + ("" if i % every == 0 else ",x") for i in range(60)]
    table = load("\n".join(["a,b,c,note", *lines]) + "\n", small_bytes=small_bytes)
    assert table.header == ("a", "b", "c", "note")
    assert table.rows_kept == 60
    assert "60 records" in said(table) or "30 records" in said(table)


def test_some_records_that_end_at_the_same_field_are_filled_up(load: Load) -> None:
    lines = [f"{i},{i * 2}" + ("" if i % 3 == 0 else ",x") for i in range(30)]
    assert load("\n".join(["a,b,note", *lines]) + "\n").rows_kept == 30


def test_header_given_twice_is_one_row(load: Load) -> None:
    table = load("id,name\nid,name\n1,a\n")
    assert "The header has 2 rows" not in said(table)
    assert reasons(table) == ["header line repeated"]


def test_header_repeated_in_a_large_table_of_text_is_no_record(load: Load) -> None:
    lines = [f"x{i % 7},y{i % 5}" for i in range(60)]
    text = "\n".join(["name,city", *lines, "name,city", *lines]) + "\n"
    table = load(text, small_bytes=1)
    assert table.rows_in == 120
    assert reasons(table) == ["header line repeated"]
