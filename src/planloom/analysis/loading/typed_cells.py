"""Writes the typed cells of a sheet as text, after a look at what each column holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from planloom.analysis.loading.number_formats import ColumnFormat
from planloom.analysis.loading.number_text import (
    NumberStyle,
    NumberText,
    is_missing,
    plain_digits,
    plain_text,
    split_number,
)
from planloom.analysis.loading.separators import Separators, choose_separators
from planloom.notes import Note

CellValue = int | float | str | bool | time | date | datetime | timedelta
_MAX_TEXTS = 5_000
_MOST = 0.9
_LONG = 10**15
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How the cells of one column are written out."""

    format: ColumnFormat = field(default_factory=ColumnFormat)
    texts: NumberStyle | None = None
    """How numbers that the sheet holds as text are written, where a comma marks decimals."""
    has_long_ids: bool = False
    """Whole numbers have more digits than a spreadsheet keeps, so each digit is written."""


@dataclass(kw_only=True)
class _Contents:
    """What one column holds."""

    typed: int = 0
    texts: Counter[str] = field(default_factory=Counter[str])
    long: float = 0.0
    """The largest number with more than 15 digits that matter; 0 when there is none."""

    def add(self, value: CellValue, *, is_exact: bool) -> None:
        """Count a cell; `is_exact` says that all digits of it are known."""
        if isinstance(value, str):
            if not is_missing(value) and (value in self.texts or len(self.texts) < _MAX_TEXTS):
                self.texts[value] += 1
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.typed += 1
            if abs(value) >= _LONG and (is_exact or _is_long(value)):
                self.long = max(self.long, abs(value))


def _is_long(value: float) -> bool:
    return value == int(value) and len(str(abs(int(value))).rstrip("0")) > 15


def survey_columns(
    rows: Iterable[tuple[int, Sequence[CellValue]]],
    formats: Sequence[ColumnFormat],
    names: Sequence[str],
    exact: Mapping[tuple[int, int], str],
) -> tuple[list[CellStyle], list[Note]]:
    """Return how the cells of each column are written, and remarks.

    `rows` are those of the table with their place in the sheet, `exact` the digits of long
    numbers by row and column.
    """
    contents = [_Contents() for _ in formats]
    for index, values in rows:
        for place, (column, value) in enumerate(zip(contents, values, strict=False)):
            if value != "":
                column.add(value, is_exact=_has_long_digits(exact.get((index, place), "")))
    numbers = [_text_numbers(column) for column in contents]
    bodies = [[parts.body for parts in texts.values()] for texts in numbers]
    any_comma = any(choose_separators(column).decided == "," for column in bodies)
    notes: list[Note] = []
    styles: list[CellStyle] = []
    known = set(exact.values())
    for name, column, texts, shown in zip(names, contents, numbers, formats, strict=True):
        separators = choose_separators(
            [parts.body for parts in texts.values()], decimal_comma=any_comma
        )
        notes += [*_separator_notes(name, separators), *_long_notes(name, column.long, known)]
        style = NumberStyle(decimal=",", thousands=separators.thousands)
        has_comma = separators.decimal == ","
        styles.append(CellStyle(shown, style if has_comma else None, column.long > 0))
    return styles, notes


def _has_long_digits(text: str) -> bool:
    return len(text.lstrip("-").rstrip("0")) > 15


def _text_numbers(column: _Contents) -> dict[str, NumberText]:
    """Return the numbers among the texts when nearly all cells of the column are numbers."""
    found = {text: parts for text in column.texts if (parts := split_number(text))}
    numeric = sum(column.texts[text] for text in found)
    if numeric + column.typed < _MOST * (column.texts.total() + column.typed):
        return {}
    # The cells of columns with mixed units remain text and have to stay as they are.
    return found if len({parts.unit for parts in found.values()} - {""}) < 2 else {}


def _separator_notes(name: str, separators: Separators) -> list[Note]:
    if separators.decimal == ",":
        return [Note(
            "In numbers that the sheet holds as text, such as {example}, the comma was read as the "
            "decimal mark: {columns}.",
            "工作表中以文本存储的数字（如 {example}），逗号按小数点读取：{columns}。",
            {"columns": name, "example": separators.example},
        )]  # fmt: skip
    if separators.open_point:
        return [Note(
            "No value settles whether the point in numbers held as text, such as {example}, marks "
            "decimals or thousands; it was read as the decimal mark: {columns}.",
            "没有值能确定文本数字 {example} 中的点是小数点还是千位分隔符；"
            "已按小数点读取：{columns}。",
            {"columns": name, "example": separators.open_point},
        )]  # fmt: skip
    return []


def _long_notes(name: str, longest: float, known: set[str]) -> list[Note]:
    if longest < _EXACT or any(abs(float(text)) == longest for text in known):
        return []
    return [Note(
        "Numbers as long as {example} are more exact than the workbook stores them; their last "
        "digits may be wrong: {columns}.",
        "像 {example} 这样长的数字超出工作簿可存储的精度，末几位可能有误：{columns}。",
        {"columns": name, "example": str(int(longest))},
    )]  # fmt: skip


def cell_text(value: CellValue, style: CellStyle | None = None, exact: str = "") -> str:
    """Return a typed cell as the text that a plain CSV would hold.

    `exact` are the digits of a number that is too long for a floating-point number.

    >>> cell_text(138.0), cell_text(datetime(2024, 3, 5))
    ('138', '2024-03-05')
    >>> cell_text(0.125, CellStyle(ColumnFormat(unit="%")))
    '12.5'
    """
    style = style or CellStyle()
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            if style.has_long_ids and value == int(value):
                return exact or str(int(value))
            return _number_text(value, style.format)
        case datetime():
            near = (value + timedelta(milliseconds=1)).replace(microsecond=0)
            return near.date().isoformat() if near.time() == time() else near.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case _:
            return _with_point(value, style.texts) if style.texts else value


def _number_text(value: float, column: ColumnFormat) -> str:
    if column.unit == "%":
        # 0.07 * 100 is 7.000000000000001; a spreadsheet keeps 15 digits.
        value = float(f"{value * 100:.14g}")
    if value == int(value) and abs(value) < _LONG:
        return str(int(value)).zfill(column.digits)
    return repr(value)


def _with_point(text: str, style: NumberStyle) -> str:
    """Return a number that is written with a decimal comma with a point; other texts as they are.

    >>> _with_point("1.234,50 €", NumberStyle(decimal=",", thousands="."))
    '1234.50 €'
    """
    parts = split_number(text)
    if parts is None or not re.search(r"[,.' ]", parts.body):
        return text
    digits = plain_digits(parts.body, style.decimal, style.thousands)
    return text if digits is None else plain_text(text).replace(parts.body, digits, 1)
