"""What a sheet shows beside its values is taken into account, and nothing is lost in silence."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from planloom.analysis.loading.byte_scan import unpack_gzip
from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.number_formats import column_formats
from planloom.analysis.loading.results import LoadedFile
from planloom.analysis.loading.sheet_marks import SheetMarks
from planloom.analysis.loading.sniffing import recognise_format
from planloom.analysis.loading.workbook import load_workbook
from planloom.errors import InputError

Cells = list[list[object]]


def saved(path: Path, cells: Cells, change: Callable[[Worksheet], None] | None = None) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    for line in cells:
        sheet.append(line)
    if change is not None:
        change(sheet)
    book.save(path)
    return path


def loaded(
    tmp_path: Path, cells: Cells, change: Callable[[Worksheet], None] | None = None
) -> LoadedFile:
    path = saved(tmp_path / "book.xlsx", cells, change)
    (tmp_path / "out").mkdir()
    return load_file(path, out=tmp_path / "out")


def column(file: LoadedFile, name: str) -> list[object]:
    found = duckdb.execute(
        f'SELECT "{name}" FROM read_parquet(?)', [file.tables[0].table.path]
    ).fetchall()
    return [row[0] for row in found]


def said(file: LoadedFile) -> str:
    notes = [*file.decisions, *file.tables[0].decisions]
    assert all(note.text("zh") for note in notes)
    return "\n".join(note.text("en") for note in notes)


def test_formulas_without_a_stored_result_are_counted(tmp_path: Path) -> None:
    file = loaded(tmp_path, [["a", "b"], [1, "=A2*2"], [2, "=A3*2"]])
    assert column(file, "b") == [None, None]
    assert "2 formulas have no stored result and became missing" in said(file)


def test_error_cells_are_counted_and_named(tmp_path: Path) -> None:
    def change(sheet: Worksheet) -> None:
        for place in ("B2", "B3", "C3"):
            sheet[place].data_type = "e"

    cells: Cells = [["k", "v", "w"], ["a", "#N/A", 1], ["b", "#DIV/0!", "#REF!"], ["c", 5, 3]]
    file = loaded(tmp_path, cells, change)
    assert column(file, "v") == [None, None, 5]
    assert "2 cells hold an error (#N/A, #DIV/0!) and became missing: v." in said(file)
    assert "1 cell holds an error (#REF!) and became missing: w." in said(file)


def _as_percent(sheet: Worksheet) -> None:
    for row in range(2, 21):
        sheet.cell(row, 2).number_format = "0.0%"


def test_number_among_percentages_is_not_multiplied(tmp_path: Path) -> None:
    cells: Cells = [["k", "v"], *[[f"r{i}", i / 20] for i in range(1, 20)], ["n", 250]]
    file = loaded(tmp_path, cells, _as_percent)
    assert column(file, "v") == [*[i / 20 for i in range(1, 20)], 250]
    assert file.tables[0].table.column("v").unit == ""
    assert "Only some of the cells are shown as percentages" in said(file)


def test_number_above_the_table_is_no_format_of_the_column() -> None:
    marks = SheetMarks()
    for row, code in enumerate(["General", "0.0%", "0%"]):
        marks.add_code(row, 1, code)
    assert [each.unit for each in column_formats(marks, 1)] == ["", "%"]
    assert [each.unit for each in column_formats(marks, 0)] == ["", ""]


def test_cells_of_another_currency_leave_no_unit(tmp_path: Path) -> None:
    def change(sheet: Worksheet) -> None:
        for row in range(2, 21):
            sheet.cell(row, 2).number_format = "0.00 [$€-407]"
        sheet["B21"].number_format = '"$"0.00'

    file = loaded(tmp_path, [["k", "v"], *[[f"r{i}", i] for i in range(20)]], change)
    assert file.tables[0].table.column("v").unit == ""
    assert "different units ($ €)" in said(file)


def test_hidden_rows_and_columns_are_mentioned(tmp_path: Path) -> None:
    def change(sheet: Worksheet) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True

    file = loaded(tmp_path, [["a", "b"], [1, 2], [3, 4]], change)
    assert file.tables[0].rows_kept == 2
    assert "Hidden columns were read too: b." in said(file)
    assert "1 hidden or filtered row was read too." in said(file)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.234,50", "2,5", "3,75"], [1234.5, 2.5, 3.75]),
        ([1.5, "1.234,50", 2], [1.5, 1234.5, 2.0]),
        ([1.5, "2.5", 3], [1.5, 2.5, 3.0]),
        (["1.234.567,5", 7, "n/a"], [1234567.5, 7.0, None]),
        (["1,234.5", 2], [1234.5, 2.0]),
        (["1,5 €", "2,5 $"], ["1,5 €", "2,5 $"]),
        (["a, b", "1,5", "c"], ["a, b", "1,5", "c"]),
    ],
)
def test_numbers_held_as_text(tmp_path: Path, cells: list[object], values: list[object]) -> None:
    file = loaded(tmp_path, [["k", "v"], *[["x", cell] for cell in cells]])
    assert column(file, "v") == values


def test_long_identifiers_keep_their_digits(tmp_path: Path) -> None:
    cells: Cells = [["id", "big"], [1234567890123456, 25 * 10**14], [1234567890123450, 1]]
    file = loaded(tmp_path, cells)
    assert column(file, "id") == ["1234567890123456", "1234567890123450"]
    assert column(file, "big") == [2.5e15, 1.0]


def _with_digits(path: Path, old: str, new: str) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(old.encode(), new.encode()))


def test_digits_beyond_a_floating_point_number_come_from_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "b.xlsx", [["id"], [77], [78]])
    _with_digits(path, "<v>77</v>", "<v>12345678901234567</v>")
    assert column(load_file(path, out=tmp_path), "id") == ["12345678901234567", "78"]


def test_digits_that_the_file_has_lost_are_mentioned(tmp_path: Path) -> None:
    path = saved(tmp_path / "b.xlsx", [["id"], [77], [78]])
    _with_digits(path, "<v>77</v>", "<v>1.2345678901234567E+19</v>")
    assert "their last digits may be wrong: id" in said(load_file(path, out=tmp_path))


def test_marks_of_large_workbooks_are_not_read_and_that_is_said(tmp_path: Path) -> None:
    path = saved(tmp_path / "b.xlsx", [["a"], [0.5]])
    (tmp_path / "loading.part").mkdir()
    _, notes = load_workbook(path, "xlsx", out=tmp_path, name="b", max_marked_bytes=10)
    assert "number formats could not be read" in notes[0].text("en")


def test_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "b.xlsx", [["a"], [1]])
    with pytest.raises(InputError, match=r"unpacks to .* bytes; at most 1,000 are read"):
        recognise_format(path, max_unpacked_bytes=1_000)
    assert recognise_format(path) == "xlsx"


def test_protected_workbook_is_named_as_such(tmp_path: Path) -> None:
    # The head of a compound file whose folder lists the streams of an encrypted workbook.
    names = "".join(name.ljust(32, "\0") for name in ("EncryptionInfo", "EncryptedPackage"))
    path = tmp_path / "b.xlsx"
    path.write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0") + names.encode("utf-16-le")
    )
    with pytest.raises(InputError, match="protected by a password"):
        load_file(path, out=tmp_path / "out")


def test_gzip_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 3_000_000))
    with pytest.raises(InputError, match="unpacks to more than 2,000,000 bytes"):
        unpack_gzip(path, tmp_path / "b.csv", max_bytes=2_000_000)
    assert (tmp_path / "b.csv").stat().st_size <= 2_000_000


_ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body>
</office:document-content>"""


def test_open_document_sheet_is_read_and_its_formats_are_not(tmp_path: Path) -> None:
    def cell(value: str | float) -> str:
        if isinstance(value, str):
            text = f"<text:p>{value}</text:p>"
            return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    lines = [["city", "n"], ["Ulm", 1.5], ["Bonn", 2.0]]
    rows = "".join(
        f"<table:table-row>{''.join(map(cell, line))}</table:table-row>" for line in lines
    )
    path = tmp_path / "b.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", _ODS.format(rows=rows))
    file = load_file(path, out=tmp_path / "out")
    assert (file.format, column(file, "city"), column(file, "n")) == (
        "ods", ["Ulm", "Bonn"], [1.5, 2.0],
    )  # fmt: skip
    assert "number formats could not be read" in said(file)
