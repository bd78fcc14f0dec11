"""Reads what the number formats of a workbook show beside the numbers: currency, percent, zeros."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planloom.analysis.loading.number_text import CURRENCIES, split_number
from planloom.analysis.loading.results import FileFormat
from planloom.analysis.loading.sheet_marks import SheetMarks, read_xlsx_marks

if TYPE_CHECKING:
    from xlrd.book import Book
    from xlrd.sheet import Sheet

MAX_BYTES = 5_000_000
"""Formats of larger workbooks are not read: that takes longer than all the values do."""
_XLS_NUMBER, _XLS_ERROR = 2, 5
# By the codes of [MS-XLS] 2.5.10.
_XLS_ERRORS: Mapping[object, str] = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?",
    0x24: "#NUM!", 0x2A: "#N/A",
}  # fmt: skip
_MOST = 0.9
_BRACKETED = re.compile(r"\[\$([^\]\-]+)(?:-[0-9A-Fa-f]+)?\]")
_QUOTED = re.compile(r'"([^"]*)"')
_ESCAPED = re.compile(r"\\(.)|_.|\*.")


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """What the formats of a column show."""

    unit: str = ""
    """Currency or "%"; "" for none."""
    digits: int = 0
    """Zeros fill numbers up to this length, as for postcodes; 0 for no filling."""
    mixed: tuple[str, ...] = ()
    """Units of the cells when they differ."""


def read_marks(
    path: Path, file_format: FileFormat, sheets: Sequence[str], *, max_bytes: int = MAX_BYTES
) -> Mapping[str, SheetMarks]:
    """Return what each sheet says beside its values; none for large files and some formats."""
    if path.stat().st_size > max_bytes:
        return {}
    if file_format == "xlsx":
        return read_xlsx_marks(path, sheets)
    return _xls_marks(path, sheets) if file_format == "xls" else {}


def column_formats(marks: SheetMarks, data_start: int) -> list[ColumnFormat]:
    """Return the formats of the numbers in each column, from column A, below the header."""
    codes = marks.codes_below(data_start)
    return [column_format(codes.get(i, Counter())) for i in range(max(codes, default=-1) + 1)]


def unit_of_format(code: str) -> str:
    """Return the unit that a number format shows, or "".

    >>> unit_of_format('#,##0.00\\\\ [$€-407]'), unit_of_format("0.0%"), unit_of_format("0.00")
    ('€', '%', '')
    """
    section = code.split(";", maxsplit=1)[0]
    texts = _BRACKETED.findall(section) + _QUOTED.findall(section)
    bare = _ESCAPED.sub(r"\1", _QUOTED.sub("", _BRACKETED.sub("", section)))
    if "%" in bare:
        return "%"
    texts += re.findall(r"[$€£¥￥₩₹₽]|元", bare)
    for text in texts:
        parts = split_number(f"1 {text.strip()}") if text.strip() else None
        if parts is not None and parts.unit in CURRENCIES:
            return parts.unit
    return ""


def column_format(codes: Counter[str]) -> ColumnFormat:
    """Return what the formats of a column's numbers, each with its count, have in common.

    >>> column_format(Counter({"0.0%": 19, "General": 1}))
    ColumnFormat(unit='', digits=0, mixed=('%',))
    """
    total = codes.total()
    units: Counter[str] = Counter()
    for code, count in codes.items():
        units[unit_of_format(code)] += count
    unit, count = units.most_common(1)[0] if units else ("", 0)
    shown = tuple(sorted(found for found in units if found))
    # A percent format changes the number itself, so there every cell has to agree.
    if len(shown) > 1 or ("%" in shown and count < total) or count < _MOST * total:
        return ColumnFormat(mixed=shown)
    code, count = codes.most_common(1)[0] if codes else ("", 0)
    if re.fullmatch("0{2,}", code) and count >= _MOST * total:
        return ColumnFormat(digits=len(code))
    return ColumnFormat(unit=unit)


def _xls_marks(path: Path, sheets: Sequence[str]) -> dict[str, SheetMarks]:
    import xlrd  # only needed for old workbooks
    from xlrd.biffh import XLRDError

    try:
        book = xlrd.open_workbook(str(path), formatting_info=True)
    except (XLRDError, ValueError, IndexError, AssertionError, NotImplementedError):
        return {}
    return {sheet.name: _xls_sheet(book, sheet) for sheet in book.sheets() if sheet.name in sheets}


def _xls_sheet(book: Book, sheet: Sheet) -> SheetMarks:
    marks = SheetMarks(
        hidden_rows={row for row, info in sheet.rowinfo_map.items() if info.hidden},
        hidden_columns={column for column, info in sheet.colinfo_map.items() if info.hidden},
    )
    for row in range(sheet.nrows):
        for column in range(sheet.row_len(row)):
            kind = sheet.cell_type(row, column)
            if kind == _XLS_NUMBER:
                style = book.xf_list[sheet.cell_xf_index(row, column)]
                marks.add_code(row, column, str(book.format_map[style.format_key].format_str))
            elif kind == _XLS_ERROR:
                marks.count_error(column, _XLS_ERRORS.get(sheet.cell_value(row, column), "?"))
    return marks
