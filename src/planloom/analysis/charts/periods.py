"""Reads the values of a time axis, places its ticks and names them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Final, Literal

from planloom.notes import Lang

Grain = Literal["year", "quarter", "month", "week", "day", "moment"]

_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_TEXTS: Final[tuple[tuple[Grain, re.Pattern[str]], ...]] = (
    ("year", re.compile(r"(1[6-9]\d\d|20\d\d|21\d\d)")),
    ("quarter", re.compile(r"(\d{4})-?Q([1-4])")),
    ("month", re.compile(r"(\d{4})-(\d\d)")),
    ("week", re.compile(r"(\d{4})-W(\d\d)")),
    ("day", re.compile(r"(\d{4})-(\d\d)-(\d\d)")),
)
_STEPS: Final[dict[Grain, tuple[int, ...]]] = {
    "year": (1, 2, 5, 10, 20, 50, 100),
    "quarter": (1, 2, 4, 8, 20, 40),
    "month": (1, 2, 3, 6, 12, 24, 60, 120, 240),
    "week": (1, 2, 4, 8, 13, 26, 52, 104),
}
_HOURS: Final = (1, 2, 3, 6, 12)
_DAYS: Final = (1, 2, 7, 14)


def read_periods(values: Sequence[object]) -> tuple[Grain, tuple[float, ...]] | None:
    """Return the grain of a time axis and the place of each value on it; None when it is none.

    Values are dates, moments, whole years, or texts such as "2024", "2024-Q1", "2024-03",
    "2024-W05" and "2024-03-09". Places count years, quarters, months, weeks (from Monday) or
    days, so that neighbours lie 1 apart; moments are days with a fraction.
    """
    if not values:
        return None
    if all(isinstance(value, datetime) for value in values):
        return _from_moments([value for value in values if isinstance(value, datetime)])
    if all(isinstance(value, date) for value in values):
        return _from_dates([value for value in values if isinstance(value, date)])
    texts = [str(value) for value in values]
    for grain, pattern in _TEXTS:
        matches = [pattern.fullmatch(text) for text in texts]
        found = [match for match in matches if match is not None]
        if len(found) == len(texts):
            return _from_texts(grain, [tuple(int(part) for part in m.groups()) for m in found])
    return None


def _from_texts(
    grain: Grain, parts: list[tuple[int, ...]]
) -> tuple[Grain, tuple[float, ...]] | None:
    try:
        return grain, tuple(float(_place(grain, each)) for each in parts)
    except ValueError:  # such as month 13 or day 30 of February: names that only look like dates
        return None


def _place(grain: Grain, parts: tuple[int, ...]) -> int:
    match grain:
        case "quarter":
            return parts[0] * 4 + parts[1] - 1
        case "month":
            return _month_place(date(parts[0], parts[1], 1))
        case "week":
            return (date.fromisocalendar(parts[0], parts[1], 1).toordinal() - 1) // 7
        case "day":
            return date(*parts).toordinal()
        case _:
            return parts[0]


def _from_moments(moments: list[datetime]) -> tuple[Grain, tuple[float, ...]]:
    if all((m.hour, m.minute, m.second, m.microsecond) == (0, 0, 0, 0) for m in moments):
        return _from_dates([moment.date() for moment in moments])
    return "moment", tuple(
        m.toordinal() + (m.hour * 3600 + m.minute * 60 + m.second) / 86_400 for m in moments
    )


def _from_dates(days: list[date]) -> tuple[Grain, tuple[float, ...]]:
    several = len(set(days)) > 1
    if several and all((day.month, day.day) == (1, 1) for day in days):
        return "year", tuple(float(day.year) for day in days)
    if several and all(day.day == 1 for day in days):
        return "month", tuple(float(_month_place(day)) for day in days)
    return "day", tuple(float(day.toordinal()) for day in days)


def _month_place(day: date) -> int:
    return day.year * 12 + day.month - 1


def typical_step(places: Sequence[float]) -> float:
    """Return the usual distance of neighbours among sorted places; 1 for a single place."""
    steps = sorted(b - a for a, b in pairwise(places) if b > a)
    return steps[len(steps) // 2] if steps else 1.0


def has_gap(grain: Grain, before: float, after: float, step: float) -> bool:
    """Return whether something is missing between two neighbours that are usually `step` apart.

    Days may skip a long weekend.
    """
    allowed = max(4.0, 3 * step) if grain in ("day", "moment") else 1.5 * step
    return after - before > allowed


def tick_choices(grain: Grain, low: float, high: float) -> Iterator[list[float]]:
    """Yield sets of tick places within [low, high], from dense to sparse; each has one or more."""
    if grain == "moment":
        for hours in _HOURS:
            yield from _if_any(_multiples(low, high, hours / 24))
    if grain in ("day", "moment"):
        first = math.ceil(low)
        for days in _DAYS:
            yield from _if_any([float(p) for p in range(first, math.floor(high) + 1, days)])
        for months in _STEPS["month"]:
            yield from _if_any(_month_starts(low, high, months))
    elif grain == "week":
        for step in _STEPS[grain]:
            yield from _if_any([float(p) for p in range(math.ceil(low), int(high) + 1, step)])
    else:
        for step in _STEPS[grain]:
            yield from _if_any(_multiples(low, high, step))
    yield [low]


def _if_any(places: list[float]) -> Iterator[list[float]]:
    # Thousands of ticks never fit: do not even measure them.
    if 0 < len(places) <= 200:
        yield places


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [count * step for count in range(first, min(last, first + 200) + 1)]


def _month_starts(low: float, high: float, step: int) -> list[float]:
    first = _month_place(date.fromordinal(max(1, math.floor(low))))
    last = _month_place(date.fromordinal(max(1, math.floor(high))))
    starts = [
        float(date(place // 12, place % 12 + 1, 1).toordinal())
        for place in range(first, last + 1)
        if place % step == 0
    ]
    return [start for start in starts if low <= start <= high]


def tick_label(grain: Grain, place: float, lang: Lang) -> tuple[str, str]:
    """Return the name of a place in two parts: its own, and the larger period's it lies in.

    The second part is "" for years.

    >>> tick_label("month", 2024 * 12 + 2, "en"), tick_label("month", 2024 * 12 + 2, "zh")
    (('Mar', '2024'), ('3月', '2024年'))
    """
    whole = math.floor(place + 1e-6)
    match grain:
        case "year":
            return _year(whole, lang), ""
        case "quarter":
            return f"Q{whole % 4 + 1}", _year(whole // 4, lang)
        case "month":
            return _month(whole % 12 + 1, lang), _year(whole // 12, lang)
        case "week":
            year, week, _ = date.fromordinal(whole * 7 + 1).isocalendar()
            return (f"W{week}" if lang == "en" else f"第{week}周"), _year(year, lang)
        case "day":
            day = date.fromordinal(whole)
            return _day(day, lang), _year(day.year, lang)
        case "moment":
            day = date.fromordinal(whole)
            minutes = round((place - whole) * 1440)
            clock = f"{minutes // 60:02}:{minutes % 60:02}"
            return clock, period_name("day", whole, lang)


def tick_labels(grain: Grain, places: Sequence[float], lang: Lang) -> list[str]:
    """Return the labels of ticks: the larger period stands below, where it begins.

    >>> tick_labels("month", [24286, 24287, 24288], "en")
    ['Nov\\n2023', 'Dec', 'Jan\\n2024']
    """
    grain, places = _coarser(grain, places)
    labels: list[str] = []
    before = ""
    for place in places:
        own, larger = tick_label(grain, place, lang)
        labels.append(f"{own}\n{larger}" if larger and larger != before else own)
        before = larger
    return labels


def _coarser(grain: Grain, places: Sequence[float]) -> tuple[Grain, Sequence[float]]:
    """Name ticks by the largest period they all begin: month starts need no "1 Mar"."""
    if grain == "moment" and all(place == math.floor(place) for place in places):
        grain = "day"
    if grain == "day" and len(places) > 1:
        days = [date.fromordinal(int(place)) for place in places]
        if all(day.day == 1 for day in days):
            grain, places = "month", [float(_month_place(day)) for day in days]
    for finer, size in (("quarter", 4), ("month", 12)):
        if grain == finer and len(places) > 1 and all(place % size == 0 for place in places):
            return "year", [place / size for place in places]
    return grain, places


def period_name(grain: Grain, place: float, lang: Lang) -> str:
    """Return the full name of a place.

    >>> period_name("month", 24290, "en"), period_name("month", 24290, "zh")
    ('Mar 2024', '2024年3月')
    """
    own, larger = tick_label(grain, place, lang)
    if lang == "zh" and grain != "moment":
        return larger + own
    return f"{larger} {own}" if grain == "moment" else f"{own} {larger}".rstrip()


def _year(year: int, lang: Lang) -> str:
    return str(year) if lang == "en" else f"{year}年"


def _month(month: int, lang: Lang) -> str:
    return _MONTHS[month - 1] if lang == "en" else f"{month}月"


def _day(day: date, lang: Lang) -> str:
    if lang == "en":
        return f"{day.day} {_MONTHS[day.month - 1]}"
    return f"{day.month}月{day.day}日"
