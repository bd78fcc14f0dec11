"""Days, weeks, months, quarters and years: their labels, bounds, and whether one is incomplete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median
from typing import Literal

Grain = Literal["day", "week", "month", "quarter", "year"]

GRAINS: tuple[Grain, ...] = ("day", "week", "month", "quarter", "year")
"""From fine to coarse."""
INTERVALS: dict[Grain, str] = {
    "day": "INTERVAL 1 DAY", "week": "INTERVAL 7 DAY", "month": "INTERVAL 1 MONTH",
    "quarter": "INTERVAL 3 MONTH", "year": "INTERVAL 1 YEAR",
}  # fmt: skip
"""The length of a period, in SQL."""
_DENSE = 0.5  # at least this part of the periods has rows, else a coarser grain shows more
_MOST_POINTS = 40


def start_sql(moment: str, grain: Grain) -> str:
    """Return SQL for the first day of the period of `moment`; weeks begin on Monday (ISO 8601)."""
    return f"CAST(date_trunc('{grain}', {moment}) AS DATE)"


def label_sql(start: str, grain: Grain) -> str:
    """Return SQL for a period's label: 2024-03-09, 2024-W05, 2024-03, 2024-Q1 or 2024."""
    if grain == "quarter":
        return f"strftime({start}, '%Y-Q') || quarter({start})"
    formats = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
    return f"strftime({start}, '{formats[grain]}')"


def next_start(start: date, grain: Grain) -> date:
    """Return the first day of the period after the one that begins on `start`.

    >>> next_start(date(2024, 10, 1), "quarter")
    datetime.date(2025, 1, 1)
    """
    try:
        if grain in {"day", "week"}:
            return start + timedelta(days=1 if grain == "day" else 7)
        return add_months(start, {"month": 1, "quarter": 3}.get(grain, 12))
    except (OverflowError, ValueError):  # 9999-12-31 stands for "open end" in many systems
        return date.max


def add_months(start: date, months: int) -> date:
    """Return the first of a month, moved by `months` (negative: back)."""
    month = start.year * 12 + start.month - 1 + months
    return date(month // 12, month % 12 + 1, 1)


def count_periods(first: date, last: date, grain: Grain) -> int:
    """Return how many periods there are from that of `first` to that of `last`, both included.

    >>> count_periods(date(2024, 1, 31), date(2024, 3, 1), "month")
    3
    """
    months = (last.year - first.year) * 12 + last.month - first.month
    match grain:
        case "day":
            return (last - first).days + 1
        case "week":
            monday = first - timedelta(days=first.weekday())
            return (last - monday).days // 7 + 1
        case "month":
            return months + 1
        case "quarter":
            return (last.year - first.year) * 4 + (last.month - 1) // 3 - (first.month - 1) // 3 + 1
        case "year":
            return last.year - first.year + 1


def choose_grain(first: date, last: date, filled: dict[Grain, int]) -> Grain:
    """Return the grain at which rows from `first` to `last` read best as a line.

    `filled` tells for each grain how many periods have rows. Days up to 40, weeks up to half a
    year, months up to 40, quarters up to 40, else years; a coarser grain while most periods at
    this one are empty, as with figures that come once a year.
    """
    by_length = _grain_by_length(first, last)
    for grain in GRAINS[GRAINS.index(by_length) :]:
        if filled[grain] >= _DENSE * count_periods(first, last, grain):
            return grain if filled[grain] > 1 else by_length
    return by_length


def _grain_by_length(first: date, last: date) -> Grain:
    if count_periods(first, last, "day") <= _MOST_POINTS:
        return "day"
    if count_periods(first, last, "month") <= 6:
        return "week"
    if count_periods(first, last, "month") <= _MOST_POINTS:
        return "month"
    return "quarter" if count_periods(first, last, "quarter") <= _MOST_POINTS else "year"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The first and the last moment of the rows in one period."""

    start: date
    """First day of the period."""
    first: datetime
    last: datetime


def incomplete_ends(seen: Sequence[Seen], grain: Grain) -> tuple[bool, bool]:
    """Tell whether the first and whether the last period look cut off.

    The last one does when its last row lies farther from the period's end than is usual in the
    other periods; the first one likewise at its start. "Usual" is the largest distance of the
    others, but not above three times their median plus two (days; hours when periods are days),
    so that one outage does not hide a cut. Less than a fortieth of a period (2 days of a quarter,
    9 of a year) is no cut: business pauses over holidays. A single period cannot be judged:
    (False, False).
    """
    if len(seen) < 2:
        return False, False
    leads = [_distance(each.start, each.first, grain) for each in seen]
    lags = [_distance_to_end(each, grain) for each in seen]
    return leads[0] > _usual(leads[1:], grain), lags[-1] > _usual(lags[:-1], grain)


def _usual(distances: Sequence[int], grain: Grain) -> float:
    trifle = {"quarter": 2, "year": 9}.get(grain, 0)
    return max(trifle, min(max(distances), 3 * median(distances) + 2))


def _distance(start: date, first: datetime, grain: Grain) -> int:
    return first.hour if grain == "day" else (first.date() - start).days


def _distance_to_end(seen: Seen, grain: Grain) -> int:
    if grain == "day":
        return 23 - seen.last.hour
    return (next_start(seen.start, grain) - seen.last.date()).days - 1
