"""Decides in which order a column writes day, month and year."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from planloom.analysis.loading.moment_text import (
    MomentStyle,
    MomentText,
    full_year,
    split_moment,
)
from planloom.notes import Note


def choose_order(
    name: str,
    texts: Mapping[str, MomentText],
    *,
    day_first: bool | None = None,
    decimal_comma: bool = False,
) -> tuple[MomentStyle, list[Note]]:
    """Return in which order a column writes day, month and year, and why, in words.

    `texts` are its distinct cells in the order of the file. `day_first` is what other columns
    show, `decimal_comma` that the file writes numbers as most day/month countries do.
    """
    numeric = {text: parts for text, parts in texts.items() if parts.shape == "numeric"}
    if not numeric:
        return MomentStyle(), []
    if _year_comes_first(numeric):
        return MomentStyle(year_first=True), [_year_note(name, next(iter(numeric)))]
    day_text, month_text = order_votes(numeric, dotted=True)
    if day_text and month_text:
        days = sum(parts.first > 12 for parts in numeric.values())
        months = sum(parts.second > 12 for parts in numeric.values())
        day_text, month_text = (day_text, None) if days >= months else (None, month_text)
    if day_text or month_text:
        note = _order_note(name, day_text or month_text or "", day_first=bool(day_text))
        return MomentStyle(day_first=bool(day_text)), [note]
    guess = _guess_order(list(numeric.values()), day_first=day_first, decimal_comma=decimal_comma)
    return MomentStyle(day_first=guess), [
        _open_order_note(name, next(iter(numeric)), day_first=guess)
    ]


def _year_comes_first(numeric: Mapping[str, MomentText]) -> bool:
    """Return whether dates such as 24/01/05 are year/month/day.

    Either no other order is in the calendar, or the first number moves like a year: it never
    falls, and takes far fewer values than the last one.
    """
    padded = all(re.match(r"\d\d\D\d\d\D\d\d(?!\d)", text) for text in numeric)
    dates = list(numeric.values())
    if not padded or not all(parts.date(day_first=False, year_first=True) for parts in dates):
        return False
    if not all(parts.date(day_first=True) for parts in dates) and not all(
        parts.date(day_first=False) for parts in dates
    ):
        return True
    first = [full_year(parts.first) for parts in dates]
    last = {parts.year for parts in dates}
    return len(dates) > 2 and first == sorted(first) and len(set(first)) * 2 < len(last)


def _year_note(name: str, example: str) -> Note:
    return Note(
        "Dates such as {example} were read as year/month/day: {columns}.",
        "{example} 这类日期按“年/月/日”顺序读取：{columns}。",
        {"columns": name, "example": example},
    )


def order_votes(cells: Iterable[str], *, dotted: bool = False) -> tuple[str | None, str | None]:
    """Return a value that can only be day/month and one that can only be month/day, or None."""
    day_first = month_first = None
    for text in cells:
        if not text[:1].isdigit():
            continue
        parts = split_moment(text, dotted=dotted)
        if parts is None or parts.shape != "numeric":
            continue
        if parts.first > 12 >= parts.second:
            day_first = day_first or text
        elif parts.second > 12 >= parts.first:
            month_first = month_first or text
    return day_first, month_first


def _order_note(name: str, example: str, *, day_first: bool) -> Note:
    if day_first:
        return Note(
            "Dates were read as day/month, because of the value {example}: {columns}.",
            "根据值 {example}，日期按“日/月”顺序读取：{columns}。",
            {"columns": name, "example": example},
        )
    return Note(
        "Dates were read as month/day, because of the value {example}: {columns}.",
        "根据值 {example}，日期按“月/日”顺序读取：{columns}。",
        {"columns": name, "example": example},
    )


def _open_order_note(name: str, example: str, *, day_first: bool) -> Note:
    if day_first:
        return Note(
            "No value settles whether dates such as {example} are day/month or month/day; "
            "they were read as day/month: {columns}.",
            "没有值能确定 {example} 这类日期是“日/月”还是“月/日”；已按“日/月”读取：{columns}。",
            {"columns": name, "example": example},
        )
    return Note(
        "No value settles whether dates such as {example} are day/month or month/day; "
        "they were read as month/day: {columns}.",
        "没有值能确定 {example} 这类日期是“日/月”还是“月/日”；已按“月/日”读取：{columns}。",
        {"columns": name, "example": example},
    )


def _guess_order(dates: list[MomentText], *, day_first: bool | None, decimal_comma: bool) -> bool:
    """Return whether dates are day/month when every number could be either."""
    if day_first is not None:
        return day_first
    as_days = [parts.date(day_first=True) for parts in dates]
    as_months = [parts.date(day_first=False) for parts in dates]
    days = [day for day in as_days if day is not None]
    months = [day for day in as_months if day is not None]
    days_run, months_run = days == sorted(days), months == sorted(months)
    if len(dates) > 2 and days_run != months_run:
        return days_run
    if len(dates) > 2 and days_run:
        # Both run forwards: a table of consecutive days spans less than one of first days.
        return max(days) - min(days) < max(months) - min(months)
    return decimal_comma or dates[0].mark == "."
