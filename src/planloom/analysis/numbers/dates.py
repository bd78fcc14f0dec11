"""Reading dates, periods and times of day in English and Chinese text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass

from planloom.analysis.numbers.chinese_numerals import parse_chinese


@dataclass(frozen=True, slots=True)
class PartialDate:
    """The parts of a date or time that a text names; None where it leaves them out."""

    year: int | None = None
    quarter: int | None = None
    month: int | None = None
    week: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None

    def is_part_of(self, other: PartialDate) -> bool:
        """Say whether `other` names every part that this one names, alike.

        >>> PartialDate(2024, month=3).is_part_of(PartialDate(2024, month=3, day=9))
        True
        """
        mine, its = astuple(self), astuple(other)
        return all(part is None or part == its[index] for index, part in enumerate(mine))


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date found in a text."""

    start: int
    end: int
    readings: tuple[PartialDate, ...]
    """More than one where the order of day and month is open, as in 03/09/2024."""


_MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_MONTHS = {
    name: index
    for index, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3}
_ORDINALS["4th"] = 4

# No letter, digit or decimal point may touch a date: "v2024-03" and "1.2024-03" are none.
_LEFT = r"(?<![A-Za-z0-9_.,/-])"
_RIGHT = r"(?![A-Za-z0-9_])(?![.,/-]\d)"
_CLOCK = (
    r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d+)?)?"
    r"(?:\s?(?P<half>[ap]\.?m\b\.?))?(?:Z|[+-]\d\d:\d\d)?"
)
_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_NUM = r"[0-9〇零一二三四五六七八九十]"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_LEFT}{_YEAR}(?P<mark>[-/.])(?P<month>1[0-2]|0?[1-9])(?P=mark)(?P<day>[12]\d|3[01]|0?[1-9])"
        rf"(?:(?:T|\s){_CLOCK})?{_RIGHT}",
        rf"{_LEFT}{_YEAR}-?(?:W(?P<week>[0-5]?\d)|\s?Q(?P<quarter>[1-4])){_RIGHT}",
        rf"{_LEFT}{_YEAR}[-/](?P<month>1[0-2]|0[1-9])(?![-–/]\d){_RIGHT}",
        rf"{_LEFT}(?P<a>[0-3]?\d)(?P<mark>[-/.])(?P<b>[0-3]?\d)(?P=mark){_YEAR}{_RIGHT}",
        rf"{_LEFT}Q(?P<quarter>[1-4])(?:(?:\s|\s?[-/]|\sof\s|,\s|\s')?{_YEAR})?{_RIGHT}",
        rf"{_LEFT}(?P<qword>first|second|third|fourth|1st|2nd|3rd|4th)\squarter"
        rf"(?:(?:\s|\sof\s|,\s){_YEAR})?{_RIGHT}",
        rf"{_LEFT}{_DAY}(?:\sof)?\s(?P<mname>{_MONTH_NAMES})\.?(?:,?\s{_YEAR})?"
        rf"(?:(?:,?\s|\sat\s){_CLOCK})?{_RIGHT}",
        rf"{_LEFT}(?P<mname>{_MONTH_NAMES})\.?\s{_DAY}(?:,?\s{_YEAR})?(?:(?:,?\s|\sat\s){_CLOCK})?{_RIGHT}",
        rf"{_LEFT}(?P<mname>{_MONTH_NAMES})\.?(?:\s|,\s|\sof\s|-){_YEAR}{_RIGHT}",
        rf"{_LEFT}week\s(?P<week>[0-5]?\d)(?:(?:\s|,\s|\sof\s|/){_YEAR})?{_RIGHT}",
        rf"{_LEFT}W(?P<week>[0-5]\d)(?:[\s/-]{_YEAR})?{_RIGHT}",
        r"(?:(?<![0-9A-Za-z.,])(?P<zyear>[0-9]{4}|[12一二][0-9〇零一二三四五六七八九]{3})\s?年(?:度)?\s?)?"
        r"第?\s?(?P<zquarter>[1-4一二三四])\s?季度",
        rf"(?:(?<![0-9A-Za-z.,])(?P<zyear>[0-9]{{4}}|[12一二][0-9〇零一二三四五六七八九]{{3}})\s?年\s?)?"
        rf"第\s?(?P<zweek>{_NUM}{{1,3}})\s?周",
        rf"(?<![0-9A-Za-z.,])(?P<zyear>[0-9]{{4}}|[12一二][0-9〇零一二三四五六七八九]{{3}})\s?年"
        rf"(?:\s?(?P<zmonth>{_NUM}{{1,3}})\s?月(?:份|\s?(?P<zday>{_NUM}{{1,3}})\s?[日号])?)?"
        rf"(?:\s?{_CLOCK})?",
        rf"(?<![0-9A-Za-z.,〇零一二三四五六七八九十])(?P<zmonth>{_NUM}{{1,2}})\s?月"
        rf"(?:份|\s?(?P<zday>{_NUM}{{1,3}})\s?[日号])?(?:\s?{_CLOCK})?",
        r"(?<![0-9A-Za-z.,])(?P<zday>[12]\d|3[01]|[1-9])\s?日(?![均活元本])",
        r"(?P<noon>上午|下午|晚上|凌晨|中午)?\s?(?<![0-9A-Za-z.,])(?P<hour>[01]?\d|2[0-4])\s?[点时]"
        r"(?:\s?(?P<minute>[0-5]?\d)\s?分|(?P<halfpast>半)|整)(?:\s?(?P<second>[0-5]?\d)\s?秒)?",
        rf"{_LEFT}{_CLOCK}{_RIGHT}",
        rf"{_LEFT}(?P<hour>1[0-2]|[1-9])\s?(?P<half>[ap]\.?m\b\.?)",
    )
)


_NEEDED = {
    pattern: signs
    for pattern in _PATTERNS
    for mark, signs in (
        ("zquarter", ("季",)), ("zweek", ("周",)),
        ("日(?!", ("日",)), ("[点时]", ("点", "时")), ("月", ("月", "年")),
    )
    if mark in pattern.pattern
}  # fmt: skip
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?W(?P<week>\d{1,2})|-?Q(?P<quarter>[1-4])|-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?"
    r"(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?"
)


def read_dates(text: str) -> Iterator[DateSpan]:
    """Yield the dates, periods and times of a text; earlier ones win where two overlap.

    Bare years ("in 2024") are left to the reader of numbers, which sees what follows them.
    """
    for pattern in _PATTERNS:
        # Looking for the character that a pattern cannot do without is much faster.
        if not any(sign in text for sign in _NEEDED.get(pattern, ("",))):
            continue
        for match in pattern.finditer(text):
            readings = tuple(_readings({k: v for k, v in match.groupdict().items() if v}))
            if readings:
                yield DateSpan(match.start(), match.end(), readings)


def read_iso(value: str) -> PartialDate | None:
    """Return the parts of an ISO date, time or period label; None for other text.

    >>> read_iso("2024-Q1")
    PartialDate(year=2024, quarter=1, ...)
    """
    match = _ISO.fullmatch(value.strip())
    if match is None:
        return None
    date = PartialDate(**{part: int(text) for part, text in match.groupdict().items() if text})
    return date if _is_possible(date) else None


def _readings(found: dict[str, str]) -> Iterator[PartialDate]:
    if "a" in found:
        first, second, year = int(found["a"]), int(found["b"]), int(found["year"])
        for day, month in {(first, second), (second, first)}:
            if 1 <= month <= 12 and 1 <= day <= 31:
                yield PartialDate(year, month=month, day=day)
        return
    parts = {
        key: int(found[key]) for key in ("year", "quarter", "month", "week", "day") if key in found
    }
    for key in ("year", "quarter", "month", "week", "day"):
        if text := found.get(f"z{key}"):
            number = parse_chinese(text)
            if number is None:
                return
            parts[key] = int(number)
    if found.get("mname") in {"may", "mar"}:  # "may 5 rows differ": a verb, no month
        return
    if "mname" in found:
        parts["month"] = _MONTHS[found["mname"][:3].lower()]
    if "qword" in found:
        parts["quarter"] = _ORDINALS[found["qword"].lower()]
    date = PartialDate(**parts, **_clock(found))
    if _is_possible(date):
        yield date


def _clock(found: dict[str, str]) -> dict[str, int]:
    if "hour" not in found:
        return {}
    hour = int(found["hour"])
    afternoon = found.get("half", "")[:1].lower() == "p" or found.get("noon") in {"下午", "晚上"}
    if afternoon and hour < 12:
        hour += 12
    if found.get("half", "")[:1].lower() == "a" and hour == 12:
        hour = 0
    clock = {"hour": hour}
    if "halfpast" in found:
        clock["minute"] = 30
    for key in ("minute", "second"):
        if key in found:
            clock[key] = int(found[key])
    return clock


def _is_possible(date: PartialDate) -> bool:
    limits = ((date.month, 1, 12), (date.day, 1, 31), (date.week, 1, 53), (date.quarter, 1, 4))
    return all(part is None or low <= part <= high for part, low, high in limits)
