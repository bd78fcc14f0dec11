"""Spans of time that a goal names: years, quarters, months, days, "last 30 days", 上半年."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

_MONTHS = "january february march april may june july august september october november december"
_MONTH_NUMBERS = {
    name: number
    for number, full in enumerate(_MONTHS.split(), 1)
    for name in (full, full[:3], full[:4])
}
_ORDINALS = {
    "1": 1, "2": 2, "3": 3, "4": 4, "一": 1, "二": 2, "三": 3, "四": 4,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
    "上": 1, "下": 2,
}  # fmt: skip
_SMALL = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
    "九": 9, "十": 10, "十二": 12, "半": 6,
}  # fmt: skip
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "月": "month", "季度": "quarter",
          "季": "quarter", "年": "year"}  # fmt: skip

_YEAR = r"(?<![\d.,])(?P<year>(?:19|20)\d\d)(?![\d.,]*\d)"
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True)) + r")\b\.?"
_ORDINAL = r"(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th|[1-4一二三四])"
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(sorted(_SMALL, key=len, reverse=True)) + ")"


@dataclass(frozen=True, slots=True)
class DateRange:
    """A span of time in a goal: `first` <= date < `end`."""

    start: int
    """Offset of the words in the goal."""
    stop: int
    first: date | None
    """None when open."""
    end: date | None
    """The day after the last one; None when open."""
    month: int = 0
    """A month (1 to 12) without its year; then `first` and `end` are not known yet."""
    length: int = 1
    """How many months, from that one on, are meant: 6 for 上半年."""


def find_ranges(text: str, today: date) -> tuple[DateRange, ...]:
    """Return the spans of time named in folded text, in order, those that belong together joined.

    >>> [(r.first, r.end) for r in find_ranges("sales in q2 2024", date(2024, 9, 1))]
    [(datetime.date(2024, 4, 1), datetime.date(2024, 7, 1))]
    """
    found: list[DateRange] = []
    for pattern, read in _PATTERNS:
        for match in pattern.finditer(text):
            taken = any(match.start() < r.stop and r.start < match.end() for r in found)
            span = None if taken else _span(read, match, today)
            if span:
                found.append(DateRange(match.start(), match.end(), *span))
    for bare in (*_parts_of_year(text), *_bare_months(text)):
        if not any(_overlap(bare, other) for other in found):
            found.append(bare)
    found.sort(key=lambda r: r.start)
    joined = [_open_ended(r, text) for r in _joined(found, text)]
    return tuple(_with_year(joined))


def _span(
    read: Callable[[dict[str, str], date], tuple[date, date]], match: re.Match[str], today: date
) -> tuple[date, date] | None:
    try:
        return read({k: v for k, v in match.groupdict().items() if v}, today)
    except (ValueError, OverflowError):  # such as 2024-02-31
        return None


def _overlap(left: DateRange, right: DateRange) -> bool:
    return left.start < right.stop and right.start < left.stop


def months(year: int, month: int, count: int = 1) -> tuple[date, date]:
    """Return first day and day after the last of `count` months; `month` may leave 1 to 12."""
    first = year * 12 + month - 1
    last = first + count
    return date(first // 12, first % 12 + 1, 1), date(last // 12, last % 12 + 1, 1)


def _day(parts: dict[str, str], _today: date) -> tuple[date, date]:
    month = parts["month"]
    number = _MONTH_NUMBERS.get(month) or int(month)
    first = date(int(parts["year"]), number, int(parts["day"]))
    return first, first + timedelta(days=1)


def _month(parts: dict[str, str], _today: date) -> tuple[date, date]:
    month = parts["month"]
    number = _MONTH_NUMBERS.get(month) or int(month)
    if not 1 <= number <= 12:
        raise ValueError(month)
    return months(int(parts["year"]), number)


def _quarter(parts: dict[str, str], _today: date) -> tuple[date, date]:
    return months(int(parts["year"]), 3 * _ORDINALS[parts["nth"]] - 2, 3)


def _half(parts: dict[str, str], today: date) -> tuple[date, date]:
    year = int(parts.get("year", today.year)) - ("去" in parts.get("rel", ""))
    return months(year, 6 * _ORDINALS[parts["nth"]] - 5, 6)


def _year(parts: dict[str, str], _today: date) -> tuple[date, date]:
    return months(int(parts["year"]), 1, 12)


def _years(parts: dict[str, str], _today: date) -> tuple[date, date]:
    first, last = int(parts["year"]), int(parts["last"])
    if last < first:
        raise ValueError("the years run backwards")
    return months(first, 1, 12 * (last - first + 1))


def _previous(parts: dict[str, str], today: date) -> tuple[date, date]:
    return _calendar(_UNITS.get(parts["unit"], parts["unit"]), today, -1)


def _this(parts: dict[str, str], today: date) -> tuple[date, date]:
    return _calendar(_UNITS.get(parts["unit"], parts["unit"]), today, 0)


def _year_before_last(_parts: dict[str, str], today: date) -> tuple[date, date]:
    return _calendar("year", today, -2)


def _calendar(unit: str, today: date, shift: int) -> tuple[date, date]:
    """Return the calendar period `shift` periods from that of today."""
    if unit == "day":
        first = today + timedelta(days=shift)
        return first, first + timedelta(days=1)
    if unit == "week":
        first = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
        return first, first + timedelta(weeks=1)
    if unit == "month":
        return months(today.year, today.month + shift)
    if unit == "quarter":
        return months(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * shift, 3)
    return months(today.year + shift, 1, 12)


def _recent(parts: dict[str, str], today: date) -> tuple[date, date]:
    """Return the days up to today that "last 3 months" reaches back over."""
    count = _SMALL.get(parts["count"]) or int(parts["count"])
    unit = _UNITS.get(parts["unit"], parts["unit"])
    end = today + timedelta(days=1)
    if parts["count"] == "半":  # half a year
        count, unit = 6, "month"
    if unit in ("day", "week"):
        return end - timedelta(days=count * (7 if unit == "week" else 1)), end
    back = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = months(today.year, today.month - back)[0]
    return first + timedelta(days=min(today.day, 28) - 1), end


def _to_date(_parts: dict[str, str], today: date) -> tuple[date, date]:
    return date(today.year, 1, 1), today + timedelta(days=1)


_UNIT_EN = r"(?P<unit>day|week|month|quarter|year)"
_UNIT_ZH = r"(?P<unit>天|日|周|星期|月|季度|季|年)"
_Reader = Callable[[dict[str, str], date], tuple[date, date]]
_PATTERNS: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/.年]\s?(?P<month>\d\d?)[-/.月]\s?(?P<day>\d\d?)(?!\d)[日号]?",
         _day),
        (rf"\b{_MONTH}\s+(?P<day>\d\d?)(?:st|nd|rd|th)?,?\s+(?P<year>(?:19|20)\d\d)\b", _day),
        (rf"\b(?P<day>\d\d?)(?:st|nd|rd|th)?\s+{_MONTH}\s+(?P<year>(?:19|20)\d\d)\b", _day),
        (rf"\bq(?P<nth>[1-4])\s*(?:of|/|-|,)?\s*{_YEAR}", _quarter),
        (rf"{_YEAR}\s*[-/年]?\s*q(?P<nth>[1-4])(?!\d)", _quarter),
        (rf"\b{_ORDINAL}\s+quarter\s+(?:of\s+|in\s+)?{_YEAR}", _quarter),
        (rf"{_YEAR}\s*年?的?第?(?P<nth>[1-4一二三四])季度?", _quarter),
        (rf"{_YEAR}\s*年?的?(?P<nth>[上下])半年", _half),
        (rf"\bh(?P<nth>[12])\s*(?:of\s+)?{_YEAR}", _half),
        (rf"\b(?P<nth>first|second)\s+half\s+(?:of\s+)?{_YEAR}", _half),
        (r"(?P<rel>去年|今年)的?(?P<nth>[上下])半年", _half),
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)\s*年?\s*(?:-|–|—|~|至|到)\s*(?P<last>(?:19|20)\d\d)(?!\d)年?",
         _years),
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)\s*年\s*(?P<month>1[0-2]|0?[1-9])\s*月份?", _month),
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/](?P<month>1[0-2]|0?[1-9])(?![\d-])", _month),
        (rf"\b{_MONTH}\s*(?:of\s+|in\s+|,\s*)?{_YEAR}", _month),
        (rf"\b(?:last|past|previous|recent)\s+{_COUNT}\s+{_UNIT_EN}s?\b", _recent),
        (rf"(?:最近|近|过去|前(?![两二三23]个?季度))的?{_COUNT}个?{_UNIT_ZH}(?!度?排)", _recent),
        (rf"\b(?:last|previous)\s+{_UNIT_EN}\b", _previous),
        (rf"\b(?:this|current)\s+{_UNIT_EN}\b", _this),
        (r"\byear to date\b|\bytd\b|今年以来|年初至今", _to_date),
        (rf"上一?个?{_UNIT_ZH}(?!半)", _previous),
        (rf"(?<![\w.])(?:本|这个|当前){_UNIT_ZH}", _this),
        (r"去(?P<unit>年)", _previous),
        (r"今(?P<unit>年)", _this),
        (r"昨(?P<unit>天|日)", _previous),
        (r"前年", _year_before_last),
        (rf"{_YEAR}\s*(?:年度?份?|财年)?", _year),
    )
)  # fmt: skip

_BARE_MONTH = re.compile(
    r"\b(?:in|during|for|of|since)\s+(?P<name>" + "|".join(_MONTHS.split()) + r")\b"
    r"|(?<![\d年])(?P<number>1[0-2]|[1-9])月份?(?!\d)"
)


def _bare_months(text: str) -> Iterator[DateRange]:
    for match in _BARE_MONTH.finditer(text):
        month = _MONTH_NUMBERS[match["name"]] if match["name"] else int(match["number"])
        yield DateRange(match.start(), match.end(), None, None, month)


_PART_OF_YEAR = re.compile(
    r"(?P<half>[上下])半年|(?<![a-z\d])h(?P<h>[12])(?![a-z\d])"
    r"|\b(?P<nth_half>first|second|1st|2nd)\s+half\b(?:\s+of\s+the\s+year)?"
    r"|(?<![a-z\d])q(?P<q>[1-4])(?![a-z\d])"
    r"|前(?P<first>[两二三23])个?季度"
    r"|第(?P<quarter>[1-4一二三四])个?季度?|(?<![\w前近后每个])(?P<zh>[一二三四1-4])季度(?!末)"
    r"|\b(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter\b(?:\s+of\s+the\s+year)?"
)


def _parts_of_year(text: str) -> Iterator[DateRange]:
    """Find halves and quarters whose year is not said."""
    for match in _PART_OF_YEAR.finditer(text):
        kind, word = next((k, w) for k, w in match.groupdict().items() if w)
        if kind == "first":  # 前三季度: the first three quarters
            yield DateRange(match.start(), match.end(), None, None, 1, 9 if word in "三3" else 6)
            continue
        size = 6 if kind in ("half", "h", "nth_half") else 3
        month = size * (_ORDINALS[word] - 1) + 1
        yield DateRange(match.start(), match.end(), None, None, month, size)


def _with_year(found: list[DateRange]) -> list[DateRange]:
    """Give the parts of a year the only year that the goal names: "in 2024, ... Q1"."""
    years = {r.first.year for r in found if r.first and r.end and (r.first, r.end) == (
        date(r.first.year, 1, 1), date(r.first.year + 1, 1, 1))}  # fmt: skip
    if len(years) != 1:
        return found
    (year,) = years
    dated: list[DateRange] = []
    for r in found:
        first, end = months(year, r.month, r.length) if r.month else (r.first, r.end)
        dated.append(replace(r, first=first, end=end, month=0))
    return dated


_BETWEEN = re.compile(
    r"\s*(?:to|until|till|through|and|vs\.?|versus|with|-|–|—|~|,|、|至|到|和|与|及|对比|相比|跟)\s*"
    r"(?:the\s+|with\s+)?"
)


def _joined(found: list[DateRange], text: str) -> Iterator[DateRange]:
    """Join spans that a goal names together: "from May 2023 to June 2024", "2023 vs 2024"."""
    current: DateRange | None = None
    for r in found:
        if (
            current
            and _BETWEEN.fullmatch(text, current.stop, r.start)
            and r.first
            and current.first
        ):
            first, end = min(current.first, r.first), max(current.end or r.first, r.end or r.first)
            current = replace(current, stop=r.stop, first=first, end=end)
            continue
        if current:
            yield current
        current = r
    if current:
        yield current


_SINCE = re.compile(r"(?:\b(?:since|from|starting|after)|自从?|从)\s*(?P<word>)$")
_AFTER = re.compile(r"\bafter\s*$|晚于\s*$")
_BEFORE = re.compile(r"\bbefore\s*$|早于\s*$|\bprior to\s*$")
_UNTIL = re.compile(r"\b(?:until|till|up to|through)\s*$|截至\s*$|截止到?\s*$")
_ZH_SINCE = re.compile(r"\s*(?:以来|起|至今|开始|及以后|及之后|onwards?\b)")
_ZH_AFTER = re.compile(r"\s*(?:之后|以后|后(?!十|\d|\w名))")
_ZH_BEFORE = re.compile(r"\s*(?:之前|以前|前(?!十|\d|\w名|[一两二三]个?季|[上下]?半年))")


def _open_ended(r: DateRange, text: str) -> DateRange:
    """Open a span on one side where the words around it say so: since, before, 以来."""
    if r.first is None or r.end is None:
        return r
    before, after = text[max(0, r.start - 12) : r.start], text[r.stop : r.stop + 8]
    zh = next((m for p in (_ZH_SINCE, _ZH_AFTER, _ZH_BEFORE) if (m := p.match(after))), None)
    stop = r.stop + (zh.end() if zh else 0)
    if _AFTER.search(before) or (zh and zh.re is _ZH_AFTER):
        return replace(r, stop=stop, first=r.end, end=None)
    if _BEFORE.search(before) or (zh and zh.re is _ZH_BEFORE):
        return replace(r, stop=stop, first=None, end=r.first)
    if _UNTIL.search(before):
        return replace(r, first=None)
    is_single = r.end - r.first <= timedelta(days=366)
    if (zh and zh.re is _ZH_SINCE) or (is_single and _SINCE.search(before)):
        return replace(r, stop=stop, end=None)
    return r
