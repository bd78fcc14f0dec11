"""Reads the text of one cell as a date, a moment or a time of day, in a given style."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

from planloom.analysis.loading.number_text import plain_text

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january", "feb february", "mar march", "apr april", "may", "jun june",
            "jul july", "aug august", "sep sept september", "oct october", "nov november",
            "dec december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_CLOCK = (
    r"(?:(?:T|\s)\s*(?P<half>上午|下午)?\s*(?P<hour>\d{1,2})[:时](?P<minute>\d{1,2})"
    r"(?:[:分](?P<seconds>\d{1,2})(?:[.,](?P<fraction>\d{1,9}))?)?[分秒]?"
    r"\s*(?P<ampm>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
_NAME = r"(?P<name>[a-z]{3,9})\.?"
_SHAPES = {
    shape: re.compile(pattern, re.IGNORECASE)
    for shape, pattern in {
        "ymd": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<first>\d{1,2})(?P=mark)(?P<second>\d{1,2})"
        + _CLOCK,
        "ymd_zh": r"(?P<year>\d{4})\s*年\s*(?P<first>\d{1,2})\s*月\s*(?P<second>\d{1,2})\s*[日号]"
        + _CLOCK,
        "ym": r"(?P<year>(?:19|20)\d{2})[-/](?P<first>\d{1,2})",
        "ym_zh": r"(?P<year>(?:19|20)\d{2})\s*年\s*(?P<first>\d{1,2})\s*月",
        "numeric": r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)"
        r"(?P<year>\d{4}|\d{2})" + _CLOCK,
        "day_name": _WEEKDAY + r"(?P<second>\d{1,2})(?:st|nd|rd|th)?[-\s/.]*" + _NAME
        + r"[-\s/,.]*(?P<year>\d{4}|\d{2})" + _CLOCK,
        "name_day": _WEEKDAY + _NAME + r"[-\s]+(?P<second>\d{1,2})(?:st|nd|rd|th)?,?[-\s]+"
        r"(?P<year>\d{4})" + _CLOCK,
        "name_year": _NAME + r"[-\s/,]*(?P<year>\d{4}|\d{2})",
        "compact": r"(?P<year>\d{4})(?P<first>\d{2})(?P<second>\d{2})",
    }.items()
}  # fmt: skip
_TIME = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2})(?:\.(?P<fraction>\d{1,6}))?)?"
    r"\s*(?P<ampm>[ap]\.?m\.?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MomentText:
    """A cell that looks like a date, taken apart; the order of day and month is still open."""

    shape: str
    """"ymd", "ymd_zh", "ym", "ym_zh", "numeric", "day_name", "name_day", "name_year", "compact"."""
    year: int
    first: int
    """Month; for "numeric" the first number, whatever it means."""
    second: int
    """Day; for "numeric" the second number."""
    mark: str
    """Between the numbers of "numeric" and "ymd"."""
    short_year: bool
    """The year had two digits: 69 to 99 are 19.., 00 to 68 are 20.. (as in POSIX)."""
    clock: time | None
    zone: timezone | None

    def date(self, *, day_first: bool, year_first: bool = False) -> date | None:
        """Return the date in this reading of "numeric", or None when the calendar lacks it.

        `year_first` concerns only those whose year has two digits, such as 24/01/05.
        """
        if self.shape != "numeric" or (year_first and not self.short_year):
            return _calendar_date(self.year, self.first, self.second)
        if year_first:
            return _calendar_date(full_year(self.first), self.second, self.year % 100)
        month, day = self.first, self.second
        return _calendar_date(self.year, *((day, month) if day_first else (month, day)))


@dataclass(frozen=True, slots=True)
class MomentStyle:
    """How a column writes its dates."""

    day_first: bool = False
    """Numbers such as 3/4/2024 are day/month."""
    year_first: bool = False
    """Numbers such as 24/01/05 are year/month/day."""
    compact: bool = False
    """Eight digits are a date."""
    dotted: bool = False
    """1.2.12 is a date rather than a version."""
    to_utc: bool = False
    """Times are turned to UTC, so those without a zone are not read; else all keep their clock."""


def split_moment(text: str, *, compact: bool = False, dotted: bool = False) -> MomentText | None:
    """Return the parts of a cell that looks like a date, or None.

    `compact` also takes eight digits such as 20240305, which elsewhere are a number; `dotted`
    takes 1.2.12, which elsewhere is a version.
    """
    text = plain_text(text)
    if len(text) < 5 or len(text) > 50:
        return None
    for shape, pattern in _SHAPES.items():
        if (compact or shape != "compact") and (match := pattern.fullmatch(text)):
            return _moment(shape, match.groupdict(), dotted=dotted)
    return None


def read_moment(text: str, style: MomentStyle) -> datetime | None:
    """Return the moment that a cell holds when it is written in `style`, or None.

    >>> read_moment("28/01/2018 2:15 PM", MomentStyle(day_first=True))
    datetime.datetime(2018, 1, 28, 14, 15)
    """
    parts = split_moment(text, compact=style.compact, dotted=style.dotted)
    day = parts and parts.date(day_first=style.day_first, year_first=style.year_first)
    if parts is None or day is None or (style.to_utc and parts.zone is None):
        return None
    moment = datetime.combine(day, parts.clock or time())
    if style.to_utc:
        return moment.replace(tzinfo=parts.zone).astimezone(UTC).replace(tzinfo=None)
    return moment


def full_year(number: int) -> int:
    """Return the year that two digits stand for, as POSIX has it: 1969 to 2068."""
    return number + (2000 if number < 69 else 1900)


def read_time(text: str) -> time | None:
    """Return the time of day that a cell holds, or None.

    >>> read_time("9:05 pm")
    datetime.time(21, 5)
    """
    match = _TIME.fullmatch(plain_text(text))
    return _clock(match.groupdict()) if match else None


def _moment(shape: str, parts: Mapping[str, str | None], *, dotted: bool) -> MomentText | None:
    digits = parts["year"] or ""
    year = int(digits)
    short_year = len(digits) == 2
    if short_year:
        year = full_year(year)
    name = parts.get("name")
    first = _MONTHS.get(name.lower(), 0) if name else int(parts["first"] or 0)
    second = int(parts.get("second") or 1)
    clock = _clock(parts)
    # 1.2.12 is a version number; 01.02.12 is a date.
    is_version = (
        not dotted and short_year and parts.get("mark") == "." and len(parts["first"] or "") < 2
    )
    if is_version or year < 1000 or (parts.get("hour") and clock is None):
        return None
    found = MomentText(
        shape=shape, year=year, first=first, second=second, mark=parts.get("mark") or "",
        short_year=short_year, clock=clock, zone=_zone(parts.get("zone")),
    )  # fmt: skip
    exists = found.date(day_first=False) or found.date(day_first=True)
    if len(parts.get("first") or "") == len(parts.get("second") or "") == 2:
        exists = exists or found.date(day_first=False, year_first=True)
    return found if exists else None


def _calendar_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _clock(parts: Mapping[str, str | None]) -> time | None:
    if not parts.get("hour"):
        return None
    hour = int(parts["hour"] or 0)
    half = (parts.get("ampm") or parts.get("half") or "").lower().replace(".", "")
    if half:
        if hour > 12:
            return None
        hour = hour % 12 + (12 if half in ("pm", "下午") else 0)
    micros = int((parts.get("fraction") or "0").ljust(6, "0")[:6])
    try:
        return time(hour, int(parts["minute"] or 0), int(parts.get("seconds") or 0), micros)
    except ValueError:
        return None


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset) if offset < timedelta(days=1) else None
