"""Reads what the number formats of a workbook show beside the numbers: currency, percent, zeros."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planloom.analysis.loading.number_text import CURRENCIES, split_number
from planloom.analysis.loading.results import FileFormat

if TYPE_CHECKING:
    from xlrd.book import Book
    from xlrd.sheet import Sheet

MAX_BYTES = 5_000_000
"""Formats of larger workbooks are not read: that takes longer than all the values do."""
_ROWS = 400
_XLS_NUMBER = 2
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


def read_formats(
    path: Path, file_format: FileFormat, sheets: Sequence[str]
) -> Mapping[str, tuple[ColumnFormat, ...]]:
    """Return the formats of the columns of each sheet, from column A; none for large files."""
    if path.stat().st_size > MAX_BYTES:
        return {}
    if file_format == "xlsx":
        return _xlsx_formats(path, sheets)
    return _xls_formats(path, sheets) if file_format == "xls" else {}


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
    """Return what the formats of a column's numbers, each with its count, have in common."""
    total = codes.total()
    units: Counter[str] = Counter()
    for code, count in codes.items():
        units[unit_of_format(code)] += count
    unit, count = units.most_common(1)[0] if units else ("", 0)
    if count < _MOST * total:
        return ColumnFormat(mixed=tuple(sorted(found for found in units if found)))
    code, count = codes.most_common(1)[0] if codes else ("", 0)
    if re.fullmatch("0{2,}", code) and count >= _MOST * total:
        return ColumnFormat(digits=len(code))
    return ColumnFormat(unit=unit)


def _collected(rows: Iterable[Iterable[tuple[int, str]]]) -> tuple[ColumnFormat, ...]:
    codes: dict[int, Counter[str]] = {}
    for row in rows:
        for column, code in row:
            codes.setdefault(column, Counter())[code] += 1
    last = max(codes, default=-1)
    return tuple(column_format(codes.get(i, Counter())) for i in range(last + 1))


def _xlsx_formats(path: Path, sheets: Sequence[str]) -> dict[str, tuple[ColumnFormat, ...]]:
    import openpyxl

    with path.open("rb") as file, warnings.catch_warnings():
        # Complaints about styles and extensions that do not matter here.
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            # Calamine reads workbooks whose styles openpyxl refuses; values matter more.
            return {}
        found: dict[str, tuple[ColumnFormat, ...]] = {}
        for name in sheets:
            if name in book.sheetnames:
                rows = book[name].iter_rows(max_row=_ROWS)
                found[name] = _collected(
                    [
                        (place, str(cell.number_format))
                        for place, cell in enumerate(row)
                        if isinstance(cell.value, int | float) and not isinstance(cell.value, bool)
                    ]
                    for row in rows
                )
        book.close()
    return found


def _xls_formats(path: Path, sheets: Sequence[str]) -> dict[str, tuple[ColumnFormat, ...]]:
    import xlrd  # only needed for old workbooks
    from xlrd.biffh import XLRDError

    try:
        book = xlrd.open_workbook(str(path), formatting_info=True)
    except (XLRDError, ValueError, IndexError, AssertionError, NotImplementedError):
        return {}
    return {
        sheet.name: _collected(
            _xls_codes(book, sheet, row) for row in range(min(sheet.nrows, _ROWS))
        )
        for sheet in book.sheets()
        if sheet.name in sheets
    }


def _xls_codes(book: Book, sheet: Sheet, row: int) -> list[tuple[int, str]]:
    codes: list[tuple[int, str]] = []
    for column in range(sheet.row_len(row)):
        if sheet.cell_type(row, column) == _XLS_NUMBER:
            style = book.xf_list[sheet.cell_xf_index(row, column)]
            codes.append((column, str(book.format_map[style.format_key].format_str)))
    return codes
