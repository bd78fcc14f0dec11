import csv
from pathlib import Path

from planloom.analysis.database import connect, write_table
from planloom.analysis.export import export_csv, is_formula
from planloom.values import TableRef


def make_table(folder: Path, query: str) -> TableRef:
    with connect(writable=folder) as connection:
        return write_table(connection, query, folder / "source.parquet", name="source")


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_texts_that_a_spreadsheet_would_run_are_written_as_text(tmp_path: Path) -> None:
    query = """SELECT unnest(['=1+1', '+1', '-1', '@x', chr(9) || 'x', chr(13) || 'x', 'a=b', NULL])
        AS "=cmd", unnest([-1, 2, -3, 4, 5, 6, 7, NULL]) AS n"""
    header, *rows = read(export_csv(make_table(tmp_path, query), tmp_path / "out.csv"))
    assert header == ["'=cmd", "n"]
    assert [row[0] for row in rows] == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "a=b", "",
    ]  # fmt: skip
    assert [row[1] for row in rows] == ["-1", "2", "-3", "4", "5", "6", "7", ""]
    assert not any(is_formula(row[0]) for row in rows if row[0])


def test_excel_is_told_that_the_file_is_utf_8(tmp_path: Path) -> None:
    table = make_table(tmp_path, "SELECT '北京, \"首都\"' AS 城市, DATE '2024-01-02' AS 日期")
    path = export_csv(table, tmp_path / "out.csv")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert read(path) == [["城市", "日期"], ['北京, "首都"', "2024-01-02"]]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.csv", "source.parquet"]


def test_an_empty_table_gives_its_header(tmp_path: Path) -> None:
    table = make_table(tmp_path, "SELECT 1 AS a, 'x' AS b WHERE FALSE")
    assert read(export_csv(table, tmp_path / "out.csv")) == [["a", "b"]]
