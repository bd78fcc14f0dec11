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
