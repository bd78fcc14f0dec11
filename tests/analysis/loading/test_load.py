"""Any data file becomes typed tables; what was decided is said in words."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import duckdb
import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.utils.datetime import MAC_EPOCH
from pydantic import TypeAdapter

from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.results import LoadedFile, LoadedTable
from planloom.errors import InputError

Load = Callable[..., LoadedFile]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write content to a file of this name and load it."""

    def write_and_load(content: str | bytes, name: str = "data.csv") -> LoadedFile:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_file(path, out=tmp_path / "out")

    return write_and_load


def moment(*parts: int) -> datetime:
    # The moments of a table have no zone.
    return datetime(*parts)  # noqa: DTZ001 - see above


def rows(table: LoadedTable, columns: str = "*") -> list[tuple[object, ...]]:
    return duckdb.execute(f"SELECT {columns} FROM read_parquet(?)", [table.table.path]).fetchall()


def types(table: LoadedTable) -> list[str]:
    return [column.type for column in table.table.columns]


def said(loaded: LoadedFile) -> str:
    notes = [*loaded.decisions, *(n for table in loaded.tables for n in table.decisions)]
    assert all(note.text("zh") for note in notes)
    return "\n".join(note.text("en") for note in notes)


def rejected(table: LoadedTable) -> list[tuple[object, ...]]:
    assert table.rejected is not None
    return duckdb.execute("FROM read_parquet(?)", [table.rejected.path]).fetchall()


# Encodings


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "名称,价格\n苹果,3\n"),
        ("utf-8-sig", "名称,价格\n苹果,3\n"),
        ("gb18030", "名称,价格\n苹果,3\n"),
        ("big5", "名稱,價格\n蘋果,3\n"),
        ("shift_jis", "名前,価格\nりんご,3\n"),
        ("euc_kr", "이름,가격\n사과,3\n"),
        ("utf-16", "名称,价格\n苹果,3\n"),
        ("utf-16-le", "name,price\npomme,3\n"),
        ("iso-8859-7", "όνομα,τιμή\nΓεωργία,3\n"),
        ("cp1251", "город,цена\nМосква,3\n"),
        ("koi8-r", "город,цена\nМосква,3\n"),
        ("cp1252", "Straße,Preis\nMünchen – Süd,3\n"),
        ("latin-1", "rue,prix\ncafé,3\n"),
        ("cp1250", "miasto,cena\nŁódź,3\nGdańsk,4\n"),
    ],
)
def test_encoding_is_recognised(load: Load, encoding: str, text: str) -> None:
    loaded = load(text.encode(encoding))
    assert loaded.encoding == encoding
    header, first = text.splitlines()[:2]
    assert loaded.tables[0].header == tuple(header.split(","))
    assert rows(loaded.tables[0])[0][0] == first.split(",")[0]


def test_few_broken_bytes_leave_the_text_utf8(load: Load) -> None:
    text = "名称,价格\n" + "苹果,3\n" * 20
    loaded = load(text.encode() + b"\xff,4\n")
    assert loaded.encoding == "utf-8"
    assert loaded.tables[0].header == ("名称", "价格")
    assert "1 damaged place" in said(loaded)


def test_nul_bytes_are_removed(load: Load) -> None:
    loaded = load(b"a,b\n1\x00,x\x00y\n")
    assert rows(loaded.tables[0]) == [(1, "xy")]
    assert "2 NUL bytes removed" in said(loaded)


# Dialects


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_recognised(load: Load, delimiter: str) -> None:
    lines = [["id", "text", "n"], ["1", '"a, b; c"', "2"], ["2", "plain", "3"]]
    loaded = load("\n".join(delimiter.join(line) for line in lines))
    assert loaded.delimiter == delimiter
    assert rows(loaded.tables[0]) == [(1, "a, b; c", 2), (2, "plain", 3)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_all_line_ends_are_read(load: Load, end: str) -> None:
    loaded = load(end.join(["a,b", "1,x", '2,"y"', ""]))
    assert rows(loaded.tables[0]) == [(1, "x"), (2, "y")]


def test_stray_quotes_in_tab_separated_text_are_plain(load: Load) -> None:
    loaded = load('id\tname\n1\t"Rome\n2\tEnd"\n3\tsay "hi"\n', "t.tsv")
    assert rows(loaded.tables[0]) == [(1, '"Rome'), (2, 'End"'), (3, 'say "hi"')]


def test_quoted_line_breaks_stay_in_their_field(load: Load) -> None:
    loaded = load('a,b\n1,"x\n""y"", z"\n2,w\n')
    assert rows(loaded.tables[0]) == [(1, 'x\n"y", z'), (2, "w")]


def test_line_breaks_of_another_kind_inside_fields_are_kept(load: Load) -> None:
    loaded = load('a,b\n"x\ry",1\n"z\r\nw",2\n')
    assert rows(loaded.tables[0]) == [("x\ry", 1), ("z\r\nw", 2)]


def test_backslash_before_quotes_is_understood(load: Load) -> None:
    loaded = load('a,b\n1,"say \\"hi\\", ok"\n2,w\n')
    assert rows(loaded.tables[0]) == [(1, 'say "hi", ok'), (2, "w")]


def test_one_column_is_a_table(load: Load) -> None:
    loaded = load("value\nHello, world\nfoo\nbar\n")
    assert loaded.tables[0].header == ("value",)
    assert loaded.tables[0].rows_kept == 3


def test_gzip_is_unpacked(load: Load) -> None:
    loaded = load(gzip.compress(b"a,b\n1,2\n"), "data.csv.gz")
    assert rows(loaded.tables[0]) == [(1, 2)]
    assert loaded.tables[0].title == "data"
    assert not list((Path(loaded.tables[0].table.path).parent).glob("*.part"))


# Layout


def test_titles_comments_and_notes_are_no_records(load: Load) -> None:
    above, below = "Sales report\n# made by hand\n\n", "\nSource: us\n"
    text = above + "month,city,sales\n2024-01,Bonn,3\n2024-02,Ulm,4\n" + below
    table = load(text).tables[0]
    assert table.header == ("month", "city", "sales")
    assert (table.rows_in, table.rows_kept, table.rows_rejected) == (2, 2, 0)
    assert table.header_row == 4
    assert [(line, reason) for line, reason, _ in rejected(table)] == [
        (1, "title above the table"),
        (2, "comment above the table"),
        (8, "note below the table"),
    ]


def test_ragged_records_are_rejected_with_their_line(load: Load) -> None:
    table = load("a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n").tables[0]
    assert (table.rows_in, table.rows_kept, table.rows_rejected) == (4, 2, 2)
    assert rejected(table) == [
        (3, "2 fields instead of 3", "4,5"),
        (4, "4 fields instead of 3", "6,7,8,9"),
    ]


def test_delimiter_at_the_end_of_lines_adds_no_column(load: Load) -> None:
    table = load("a,b,\n1,2,\n3,4,\n").tables[0]
    assert table.header == ("a", "b")
    assert rows(table) == [(1, 2), (3, 4)]


def test_repeated_header_lines_are_set_aside(load: Load) -> None:
    table = load("a,b\n1,x\na,b\n2,y\n").tables[0]
    assert rows(table) == [(1, "x"), (2, "y")]
    assert table.rows_in == 2


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("2024-01-05,3,x\n2024-01-06,4,y\n", ("column_1", "column_2", "column_3")),
        ("name,city\nAnn,Paris\nBob,Rome\n", ("name", "city")),
        ("country,2019,2020,2021\nA,1,2,3\nB,4,5,6\n", ("country", "2019", "2020", "2021")),
        ("id,name,ID,\n1,x,2,z\n", ("id", "name", "ID_2", "column_4")),
        (",Sales,,Cost,\nRegion,Q1,Q2,Q1,Q2\nN,1,2,3,4\n",
         ("Region", "Sales Q1", "Sales Q2", "Cost Q1", "Cost Q2")),
        ("i,'world'\n1,a\n", ("i", "'world'")),
    ],
)  # fmt: skip
def test_column_names(load: Load, text: str, header: tuple[str, ...]) -> None:
    assert load(text).tables[0].header == header


def test_header_alone_gives_no_rows(load: Load) -> None:
    loaded = load("a,b\n")
    assert (loaded.tables[0].rows_in, loaded.tables[0].header) == (0, ("a", "b"))
    assert "no table body" in said(loaded)


def test_thousands_of_columns(load: Load) -> None:
    width = 2500
    text = "\n".join(",".join(map(str, line)) for line in (
        [f"c{i}" for i in range(width)], range(width), range(width))) + "\n"  # fmt: skip
    table = load(text).tables[0]
    assert len(table.header) == width
    assert types(table) == ["integer"] * width
    assert rows(table, "c0, c2499") == [(0, 2499)] * 2


# Values


@pytest.mark.parametrize(
    ("cells", "values", "kind", "unit"),
    [
        (["1", "2"], [1, 2], "integer", ""),
        (["1.5", "2"], [1.5, 2.0], "number", ""),
        (["1,234", "5,678,901"], [1234, 5678901], "integer", ""),
        (["1.234.567", "12"], [1234567, 12], "integer", ""),
        (["1.234,50", "0,5"], [1234.5, 0.5], "number", ""),
        (["1 234,5", "2 000,25"], [1234.5, 2000.25], "number", ""),
        (["1'234", "9"], [1234, 9], "integer", ""),
        (["12,34,567", "1,000"], [1234567, 1000], "integer", ""),
        (["3.5万", "2亿"], [35000, 200000000], "integer", ""),
        (["(1,200)", "300"], [-1200, 300], "integer", ""),
        (["$1,234.50", "-$3.00"], [1234.5, -3.0], "number", "$"),
        (["¥12.50", "￥3"], [12.5, 3.0], "number", "¥"),
        (["12.5%", "3%"], [12.5, 3.0], "number", "%"),
        (["１２", "３"], [12, 3], "integer", ""),
        (["12 kg", "3 kg"], [12, 3], "integer", "kg"),
        (["5元", "6元"], [5, 6], "integer", "元"),
        (["1e3", "2.5e-1"], [1000.0, 0.25], "number", ""),
        (["007", "12"], ["007", "12"], "text", ""),
        (["12345678901234567", "1"], ["12345678901234567", "1"], "text", ""),
        (["$5", "€6"], ["$5", "€6"], "text", ""),
        (["5%", "0.5"], ["5%", "0.5"], "text", ""),
        (["true", "FALSE"], [True, False], "boolean", ""),
        (["yes", "no"], ["yes", "no"], "text", ""),
        (["NA", "x"], ["NA", "x"], "text", ""),
        (["2024年3月5日", "2024年12月31日"], [date(2024, 3, 5), date(2024, 12, 31)], "date", ""),
        (["2024/3/5", "2024/12/31"], [date(2024, 3, 5), date(2024, 12, 31)], "date", ""),
        (["2024-03", "2024-12"], [date(2024, 3, 1), date(2024, 12, 1)], "date", ""),
        (["3-Nov-23", "28-Jul-99"], [date(2023, 11, 3), date(1999, 7, 28)], "date", ""),
        (["Mar 5, 2024", "December 31, 2024"], [date(2024, 3, 5), date(2024, 12, 31)], "date", ""),
        (["28/01/2018", "01/02/2018"], [date(2018, 1, 28), date(2018, 2, 1)], "date", ""),
        (["01/28/2018", "01/02/2018"], [date(2018, 1, 28), date(2018, 1, 2)], "date", ""),
        (["05.03.2024", "06.03.2024"], [date(2024, 3, 5), date(2024, 3, 6)], "date", ""),
        (["12-13-2004 02:15:00 PM", "01-01-2000 12:12:00 AM"],
         [moment(2004, 12, 13, 14, 15), moment(2000, 1, 1, 0, 12)], "datetime", ""),
        (["2024-03-05T10:00:00Z", "2024-03-05T11:30:00Z"],
         [moment(2024, 3, 5, 10), moment(2024, 3, 5, 11, 30)], "datetime", ""),
        (["2024-03-05T10:00:00+08:00", "2024-03-05T10:00:00Z"],
         [moment(2024, 3, 5, 2), moment(2024, 3, 5, 10)], "datetime", ""),
        (["5/19/2006 0:00:00", "5/1/2006 0:00:00"],
         [date(2006, 5, 19), date(2006, 5, 1)], "date", ""),
    ],
)  # fmt: skip
def test_values_of_a_column(
    load: Load, cells: list[str], values: list[object], kind: str, unit: str
) -> None:
    lines = [f'a,"{cell}"' for cell in cells]
    table = load("\n".join(["k,v", *lines]) + "\n").tables[0]
    assert [row[0] for row in rows(table, "v")] == values
    assert (table.table.column("v").type, table.table.column("v").unit) == (kind, unit)


def test_cells_that_do_not_parse_are_counted_and_named(load: Load) -> None:
    loaded = load("k,v\n" + "".join(f"a,{i}\n" for i in range(1, 20)) + "a,oops\na,NR\n")
    assert [row[0] for row in rows(loaded.tables[0], "v")][-3:] == [19, None, None]
    assert "1 cell could not be read (oops) and became missing: v." in said(loaded)
    assert "1 cell with a sign for “no value” (NR) became missing: v." in said(loaded)


def test_cells_beyond_the_sample_can_change_the_type(load: Load) -> None:
    lines = [f"{i},{i},2024-01-05" for i in range(1, 12_000)]
    lines[7001] = "7002,007,2024-01-05"
    lines[7003] = "7.5,8,2024-01-05 10:30"
    table = load("\n".join(["a,b,c", *lines]) + "\n").tables[0]
    assert types(table) == ["number", "text", "datetime"]
    assert rows(table)[7001][1] == "007"
    assert rows(table)[7003][0] == 7.5
    assert rows(table)[7003][2] == moment(2024, 1, 5, 10, 30)


def test_decimal_comma_of_one_column_settles_another(load: Load) -> None:
    table = load("a;b\n1,5;1,234\n2,25;5,678\n").tables[0]
    assert rows(table) == [(1.5, 1.234), (2.25, 5.678)]


def test_backslash_n_is_missing_everywhere(load: Load) -> None:
    table = load("a\tb\n1\t\\N\n\\N\tx\n", "t.tsv").tables[0]
    assert rows(table) == [(1, None), (None, "x")]


# Workbooks


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, cells in sheets.items():
        sheet = book.create_sheet(title)
        for line in cells:
            sheet.append(line)
    book.save(path)
    return book


def test_workbook_under_a_csv_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    with path.open("wb") as file:
        book = openpyxl.Workbook()
        book.active.append(["a", "b"])
        book.active.append([1, "x"])
        book.save(file)
    loaded = load_file(path, out=tmp_path / "out")
    assert (loaded.format, rows(loaded.tables[0])) == ("xlsx", [(1, "x")])


def test_title_row_of_a_sheet_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    workbook(path, {"S": [
        ["PROGRESS"], [], ["Task", None, "Owner", "Status"], ["Design", None, "Ana", "Done"],
    ]})  # fmt: skip
    table = load_file(path, out=tmp_path / "out").tables[0]
    assert (table.header, rows(table)) == (("Task", "Owner", "Status"), [("Design", "Ana", "Done")])


def test_merged_header_cells_name_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    book = workbook(path, {"S": [["Region", "Sales", None], [None, "Q1", "Q2"], ["North", 1, 2]]})
    for block in ("A1:A2", "B1:C1"):
        book["S"].merge_cells(block)
    book.save(path)
    table = load_file(path, out=tmp_path / "out").tables[0]
    assert table.header == ("Region", "Sales Q1", "Sales Q2")
    assert rows(table) == [("North", 1, 2)]


def test_cells_merged_downwards_count_for_each_row(tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    book = workbook(path, {"S": [["Region", "n"], ["North", 1], [None, 2], ["South", 3]]})
    book["S"].merge_cells("A2:A3")
    book.save(path)
    table = load_file(path, out=tmp_path / "out").tables[0]
    assert rows(table) == [("North", 1), ("North", 2), ("South", 3)]


def test_all_sheets_are_read_and_hidden_ones_noted(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    book = workbook(path, {"Secret": [["x"], [1]], "Main": [["y", "z"], [2, 3]], "Empty": []})
    book["Secret"].sheet_state = "hidden"
    book.save(path)
    loaded = load_file(path, out=tmp_path / "out")
    assert [(t.title, t.table.name) for t in loaded.tables] == [
        ("Main", "source"),
        ("Secret", "source_2"),
    ]
    assert "Hidden sheets were read too: Secret." in said(loaded)
    assert "Empty" in said(loaded)


def test_number_formats_give_units_percent_zeros_and_dates(tmp_path: Path) -> None:
    path = tmp_path / "f.xlsx"
    book = workbook(path, {"S": [["c", "p", "z", "d"]]})
    sheet = book["S"]
    for row, cells in enumerate([(5, 0.07, 123, moment(2024, 3, 5)), (6.5, 0.5, 4567, None)], 2):
        for column, (value, code) in enumerate(
            zip(cells, ("#,##0.00 [$€-407]", "0.0%", "00000", "yyyy-mm-dd"), strict=True), 1
        ):
            sheet.cell(row, column, value).number_format = code
    book.save(path)
    table = load_file(path, out=tmp_path / "out").tables[0]
    assert [column.unit for column in table.table.columns] == ["€", "%", "", ""]
    assert rows(table) == [(5.0, 7.0, "00123", date(2024, 3, 5)), (6.5, 50.0, "04567", None)]


def test_1904_date_system_is_respected(tmp_path: Path) -> None:
    path = tmp_path / "d.xlsx"
    book = workbook(path, {"S": [["d", "n"]]})
    book.epoch = MAC_EPOCH
    book["S"].append([moment(2000, 1, 1), 1])
    book.save(path)
    assert rows(load_file(path, out=tmp_path / "out").tables[0]) == [(date(2000, 1, 1), 1)]


# Structured files


@pytest.mark.parametrize(
    "document",
    [
        '[{"a": 1, "b": {"c": "x"}}, {"a": 2, "b": {"c": "y"}}]',
        '{"data": [{"a": 1, "b.c": "x"}, {"a": 2, "b.c": "y"}], "total": 2}',
        '{"a": [1, 2], "b.c": ["x", "y"]}',
        '{"columns": ["a", "b.c"], "data": [[1, "x"], [2, "y"]]}',
        '{"a": {"0": 1, "1": 2}, "b.c": {"0": "x", "1": "y"}}',
        '[["a", "b.c"], [1, "x"], [2, "y"]]',
        '{"a": 1, "b.c": "x"}\n{"a": 2, "b.c": "y"}\n',
    ],
)
def test_json_shapes(load: Load, document: str) -> None:
    table = load(document, "data.json").tables[0]
    assert (table.header, rows(table)) == (("a", "b.c"), [(1, "x"), (2, "y")])


def test_broken_json_lines_are_rejected_with_their_number(load: Load) -> None:
    table = load('{"a": 1}\nbroken\n{"a": 2}\n', "d.jsonl").tables[0]
    assert (table.rows_in, table.rows_kept) == (3, 2)
    assert rejected(table)[0][0] == 2


def test_parquet_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    duckdb.execute(f"COPY (SELECT 1::TINYINT a, 2.5::DECIMAL(9,2) b, 'x' c, [1] d) TO '{path}'")
    table = load_file(path, out=tmp_path / "out").tables[0]
    assert types(table) == ["integer", "number", "text", "text"]
    assert rows(table) == [(1, 2.5, "x", "[1]")]


# Bad input


@pytest.mark.parametrize(
    ("content", "said_so"),
    [
        (b"", "is empty"),
        (b" \n\n", "nothing but blanks"),
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n....", "a PNG picture"),
        (b"SQLite format 3\0....", "an SQLite database"),
        (b"MZ\x90\0....", "a Windows program"),
        (bytes(range(32)) * 50, "binary data"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (b"PAR1 and then rubbish", "damaged Parquet"),
        (b"PK\x03\x04 and then rubbish", "damaged workbook"),
        (b"\x1f\x8b\x08 rubbish", "damaged gzip"),
        (b'{"a": ', "no valid JSON"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), "damaged workbook"),
    ],
)
def test_bad_input_says_what_it_is(load: Load, content: bytes, said_so: str) -> None:
    with pytest.raises(InputError, match=said_so):
        load(content)


def test_missing_file_and_folder_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "near.csv").write_text("a\n")
    with pytest.raises(InputError, match=r"There is no file .*near\.csv"):
        load_file(tmp_path / "gone.csv", out=tmp_path / "out")
    with pytest.raises(InputError, match="is a folder"):
        load_file(tmp_path, out=tmp_path / "out")


def test_zip_without_a_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "z.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match=r"ZIP archive \(with readme\.txt\)"):
        load_file(path, out=tmp_path / "out")


def test_nothing_but_tables_is_left_behind(load: Load) -> None:
    loaded = load("a,b\n1,2\n3\n")
    left = sorted(path.name for path in Path(loaded.tables[0].table.path).parent.iterdir())
    assert left == ["rejected.parquet", "source.parquet"]


def test_results_are_json_safe_and_repeatable(load: Load) -> None:
    adapter = TypeAdapter(LoadedFile)
    first = load("a,b\n1,x\n2,y\n")
    assert adapter.validate_json(adapter.dump_json(first)) == first
    assert load("a,b\n1,x\n2,y\n") == first


def test_progress_ends_at_hundred_percent(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    seen: list[int] = []
    load_file(path, out=tmp_path / "out", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 100


# Reading back

_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\t\n\r"))
_text = _text.map(lambda text: f"t{text}z")


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    records=st.lists(
        st.tuples(_text, st.integers(-(10**14), 10**14), st.dates(date(1900, 1, 1))),
        min_size=2,
        max_size=8,
    )
)
def test_written_table_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, int, date]]
) -> None:
    folder = tmp_path_factory.mktemp("back")
    path = folder / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["word", "number", "day"])
        writer.writerows(records)
    table = load_file(path, out=folder / "out").tables[0]
    assert rows(table) == records


# The collected odd files

CASES = os.environ.get("PLANLOOM_CASES")


def _messy() -> list[dict[str, object]]:
    if not CASES:
        return []
    with (Path(CASES) / "messy_table.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


AGGREGATES: dict[tuple[str, str], str] = {
    ("csv-gbk-penguins", "mean of 身体质量, blanks left out"): "avg(身体质量)",
    (
        "csv-gbk-penguins",
        "rows with 企鹅的种类 = 阿德利企鹅",
    ): "count_if(企鹅的种类 = '阿德利企鹅')",
    ("csv-big5-pm25", "mean of all 24 hour columns where 測項=AMB_TEMP"): "HOURS avg AMB_TEMP",
    ("csv-big5-pm25", "max of PM2.5 hours"): "HOURS max PM2.5",
    ("csv-big5-pm25", "min of PM2.5 hours"): "HOURS min PM2.5",
    ("csv-big5-pm25", "count of NR cells"): "NR",
    ("csv-utf16le", "sum of a"): "sum(a)",
    ("csv-utf16le", "last cell of c"): "last(c)",
    ("csv-greek", "sum of age"): "sum(age)",
    ("csv-pollock-semicolon", "sum of Qty"): "sum(Qty)",
    ("csv-pollock-semicolon", "sum of Price ($ dropped)"): "sum(Price)",
    ("csv-pollock-multihdr", "sum of Qty"): "sum(Qty)",
    ("csv-pollock-multihdr", "sum of Price ($ dropped)"): "sum(Price)",
    ("csv-pollock-nohdr", "sum of Qty"): "sum(column_3)",
    ("csv-pollock-nohdr", "sum of Price ($ dropped)"): "sum(column_5)",
    ("csv-airedale", "sum of Amount"): "sum(Amount)",
    ("csv-decsep", "sum of commas"): "sum(commas)",
    ("csv-decsep", "sum of periods"): "sum(periods)",
    ("csv-locale", "b as number (de style)"): "sum(b)",
    ("csv-crcrlf", "sum of Value Without Dividends"): 'sum("Value Without Dividends")',
    ("csv-dqnl", "sum of A"): "sum(A)",
    ("csv-qnl", "b of row 1"): "first(b)",
    ("csv-jsoncell", "val"): "first(val)",
    ("csv-manynl", "sum of i"): "sum(i)",
    ("csv-mac", "sum of c"): "sum(c)",
    ("csv-comment", "sum of f1"): "sum(f1)",
    ("csv-zeros", "values kept as text"): "list(value)",
    ("csv-mmdd", "max of d (ISO)"): "max(d)::VARCHAR",
    ("csv-dup2", "first id sum"): "sum(id)",
    ("csv-dup2", "age sum"): "sum(age)",
    ("csv-ks1033", "sum of total_cost"): "sum(total_cost)",
    ("csv-ks1033", "sum of quantity"): "sum(quantity)",
    ("csv-ks1033", "counties"): "count(DISTINCT county)",
    ("csv-fy10", "sum of last column"): "sum(TOTAL)",
    ("csv-beijing", "mean of score"): "avg(score)",
    ("csv-beijing", "max of score"): "max(score)",
    ("csv-beijing", "companies"): "count(DISTINCT company)",
    ("csv-banklist", "rows with State = CA"): "count_if(State = 'CA')",
    ("csv-imdbtsv", "rows with titleType = movie"): "count_if(titleType = 'movie')",
    ("csv-imdbtsv", "missing startYear"): "count_if(startYear IS NULL)",
    ("csv-pipe", "sum of column 1"): "sum(column_1)",
    ("csv-hs17", "first code"): "first(code)::VARCHAR",
    ("csv-hs17", "last code"): "last(code)::VARCHAR",
    ("csv-hs17", "distinct codes"): "count(DISTINCT code)",
    ("csv-dupunnamed", "sum of column 1"): "sum(column_1)",
    ("csv-dupunnamed", "sum of column 3"): "sum(column_3)",
    ("csv-ne1033", "sum of total_cost"): "sum(total_cost)",
    ("csv-currency", "sum of cost_EUR"): "sum(cost_EUR)",
    ("csv-d1904xls", "first cell (ISO)"): "first(column_1)::VARCHAR",
}


def _aggregate(sql: str, loaded: LoadedFile) -> object:
    table = loaded.tables[0]
    if sql == "NR":
        pattern = r"(\S+) cells? with a sign for “no value” \(NR\)"
        return sum(int(n.replace(",", "")) for n in re.findall(pattern, said(loaded)))
    if sql.startswith("HOURS"):
        _, function, measure = sql.split()
        hours = ", ".join(f'"{hour}"' for hour in range(24))
        source = f"(UNPIVOT read_parquet('{table.table.path}') ON {hours})"
        sql = f"SELECT {function}(value) FROM {source} WHERE 測項 = '{measure}'"
        return duckdb.execute(sql).fetchall()[0][0]
    return rows(table, sql)[0][0]


@pytest.mark.skipif(not CASES, reason="PLANLOOM_CASES does not name the folder of case files")
@pytest.mark.parametrize("case", _messy(), ids=lambda case: str(case["id"]))
@pytest.mark.parametrize("small_bytes", [None, 0], ids=["careful", "direct"])
def test_messy_table(case: dict[str, object], small_bytes: int | None, tmp_path: Path) -> None:
    path = Path(str(CASES)) / str(case["local_file"])
    expected = case["expected"]
    assert isinstance(expected, dict)
    if case["id"] == "csv-empty":
        with pytest.raises(InputError, match="is empty"):
            load_file(path, out=tmp_path)
        return
    options = {} if small_bytes is None else {"small_bytes": small_bytes}
    loaded = load_file(path, out=tmp_path, **options)
    table = loaded.tables[0]
    assert (table.rows_in, len(table.header)) == (expected["rows"], expected["cols"])
    assert table.rows_in == table.rows_kept + table.rows_rejected
    assert table.rows_kept == table.table.rows
    assert loaded.delimiter == str(expected.get("delimiter", loaded.delimiter)).replace("\\t", "\t")
    assert loaded.encoding in str(expected.get("encoding", loaded.encoding))
    header = expected.get("header") or expected.get("header_first3") or []
    assert list(table.header)[: len(header)] == header
    if "header_row_index" in expected:
        assert table.header_row == expected["header_row_index"] + 1
    for name, value in expected.get("aggregate", {}).items():
        found = _aggregate(AGGREGATES[case["id"], name], loaded)
        assert found == (pytest.approx(value) if isinstance(value, float) else value), name
