"""Reading every numeral of a text, in English and Chinese: figures, words, dates, names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from planloom.analysis.numbers import numeral_patterns as patterns
from planloom.analysis.numbers.chinese_numerals import SCALES, last_place, parse_chinese
from planloom.analysis.numbers.dates import PartialDate, read_dates
from planloom.analysis.numbers.english_numerals import read_english
from planloom.analysis.numbers.units import canonical_unit, currency_of, measure_of

NumeralKind = Literal[
    "number", "percent", "points", "ordinal", "fraction", "multiple", "growth", "date", "name",
    "vague",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Numeral:
    """One numeral of a text."""

    text: str
    """As written, with its sign, currency, scale and percent sign."""
    start: int
    end: int
    kind: NumeralKind
    """"multiple" is "twice" or "3.2x"; "growth" is one told as a change ("doubled": 100 %).
    "vague" gives a size and no number: 十几万, 数百."""
    value: float | None = None
    """Percent and points as percent; None for dates, names and what is vague."""
    tolerance: float = 0.0
    """Half of the last written digit, with its scale: 50,000 for "1.2 million"."""
    place: float = 1.0
    """Worth of the last digit that is not zero: 100 for "1,200"."""
    sign: Literal["", "+", "-"] = ""
    """A written sign; the sign of `value` goes with it."""
    unit: str = ""
    """Canonical currency or measure that stands with the number; "" when none is known."""
    hedge: patterns.Hedge = ""
    """"about 1,200", "more than 1,200", "nearly 1,200"."""
    dates: tuple[PartialDate, ...] = ()
    """Readings of a date; more than one where day and month could be either."""
    is_bare_year: bool = False
    """Four digits that may be a year or a count; `value` is set too."""
    shared_kind: NumeralKind | None = None
    """What else it may be: in "3, 5 and 7%" 3 may be per cent, "3 points" percentage points."""


def read_numerals(text: str) -> tuple[Numeral, ...]:
    """Return the numerals of a visible text (see `visible_text`) in their order, never overlapping.

    >>> [(n.text, n.kind, n.value) for n in read_numerals("Sales rose by 1.2 million to ¥3.5万")]
    [('1.2 million', 'number', 1200000.0), ('¥3.5万', 'number', 35000.0)]
    >>> [(n.text, n.kind) for n in read_numerals("X100 in Q1: 三成, 5个百分点, 一般")]
    [('X100', 'name'), ('Q1', 'date'), ('三成', 'percent'), ('5个百分点', 'points')]
    """
    # No numeral goes on in the next line or cell: "1" above "日期" is not the first of a month.
    plain = patterns.half_width(text).translate(_ENDS)
    claims = _Claims(text)
    for match in patterns.TECHNICAL.finditer(plain):
        claims.skip(match.start(), match.end())
    for span in read_dates(plain):
        claims.add(Numeral("", span.start, span.end, "date", dates=span.readings))
    for match in patterns.NAME.finditer(plain):
        claims.add(Numeral("", match.start(), match.end(), "name"))
    for match in patterns.CHINESE_VAGUE.finditer(plain):
        claims.add(Numeral("", match.start(), match.end(), "vague"))
    for reader in (_chinese_parts, read_english_words, _figures, _chinese_words):
        for numeral in reader(plain):
            claims.add(numeral)
    return _with_ranges(plain, claims.sorted())


_ENDS = str.maketrans(dict.fromkeys("\n\r\t", "\ue001"))


class _Claims:
    """Keeps the numerals found so far; what an earlier reader took, a later one cannot."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._taken = bytearray(len(text))
        self._found: list[Numeral] = []

    def skip(self, start: int, end: int) -> bool:
        if self._taken.find(1, start, end) != -1:
            return False
        self._taken[start:end] = b"\1" * (end - start)
        return True

    def add(self, numeral: Numeral) -> None:
        if self.skip(numeral.start, numeral.end):
            text = self._text[numeral.start : numeral.end]
            self._found.append(replace(numeral, text=text))

    def sorted(self) -> list[Numeral]:
        return sorted(self._found, key=lambda numeral: numeral.start)


def _figures(text: str) -> Iterator[Numeral]:
    """Yield the numbers written with digits."""
    for match in patterns.FIGURE.finditer(text):
        if match["ordinal_before"] or match["ordinal_after"] or patterns.is_tag(text, match):
            yield _ordinal(match)
            continue
        digits = match["digits"].replace(",", "").replace("\u00a0", "").replace("\u202f", "")
        scale = _scale(match)
        if scale is None:
            continue
        end = match.end()
        kind, factor = _kind_of_unit(match)
        value = float(digits + (match["exponent"] or "")) * scale * factor
        step = _step(digits, match["exponent"]) * scale * factor
        sign = _sign(match)
        numeral = Numeral(
            "",
            match.start("left"),
            end,
            kind,
            value=-value if sign == "-" else value,
            tolerance=step / 2,
            place=_last_nonzero_place(digits, step),
            sign=sign,
            unit=_unit(text, match, end),
            hedge=patterns.hedge(text, match.start("left"), end),
        )
        if kind == "number" and text.startswith(" points", end):
            numeral = replace(numeral, end=end + len(" points"), shared_kind="points")
        if _may_be_year(text, match, numeral):
            date = PartialDate(int(digits))
            numeral = replace(numeral, dates=(date,), is_bare_year=True)
        yield numeral


def _may_be_year(text: str, match: re.Match[str], numeral: Numeral) -> bool:
    return (
        numeral.kind == "number"
        and not (numeral.unit or numeral.sign or match["scale"] or match["glued"])
        and not match["exponent"]
        and patterns.YEAR.fullmatch(match["digits"]) is not None
        and patterns.COUNTED.match(text, match.end()) is None
    )


def _ordinal(match: re.Match[str]) -> Numeral:
    value = float(match["digits"].replace(",", ""))
    return Numeral("", match.start("left"), match.end(), "ordinal", value=value)


def _scale(match: re.Match[str]) -> float | None:
    """Return the factor of "million", "万", "k" ...; None where the letter is no scale here."""
    word = (match["scale"] or match["glued"] or "").lower()
    if match["glued"] and word in {"m", "b", "t"} and match["glued"].islower():
        # "$5m" is money, "5m" a length.
        return patterns.ENGLISH_SCALES[word] if match["currency"] else None
    if word in patterns.ENGLISH_SCALES:
        return patterns.ENGLISH_SCALES[word]
    factor = 1.0
    for character in word:
        factor *= SCALES.get(character) or patterns.CHINESE_PLACES[character]
    return factor


def _kind_of_unit(match: re.Match[str]) -> tuple[NumeralKind, float]:
    unit = (match["unit"] or "").lower()
    if unit == "‰":
        return "percent", 0.1
    if unit == "bps" or unit.startswith("basis"):
        return "points", 0.01
    if unit in patterns.PERCENT_UNITS:
        return "percent", 1.0
    if unit in {"x", "×", "倍", "fold", "-fold"}:
        return "multiple", 1.0
    return ("points", 1.0) if unit else ("number", 1.0)


def _sign(match: re.Match[str]) -> Literal["", "+", "-"]:
    written = (match["sign"] or "") + (match["sign2"] or "")
    if not written.strip():
        return ""
    return "+" if written.strip() == "+" else "-"


def _step(digits: str, exponent: str | None) -> float:
    decimals = len(digits.partition(".")[2])
    return float(f"1e{(int(exponent[1:]) if exponent else 0) - decimals}")


def _last_nonzero_place(digits: str, step: float) -> float:
    bare = digits.replace(".", "")
    return step * float(f"1e{len(bare) - len(bare.rstrip('0'))}") if bare.strip("0") else step


def _unit(text: str, match: re.Match[str], end: int) -> str:
    if match["currency"]:
        currency = currency_of(match["currency"])
        return currency.code if currency else ""
    return unit_after(text, end)


def unit_after(text: str, end: int) -> str:
    """Return the canonical currency or measure that follows a number; "" when there is none."""
    match = patterns.UNIT_AFTER.match(text, end)
    if match is None:
        return ""
    word = match[1] or match[2]
    return canonical_unit(word) if currency_of(word) or measure_of(word) else ""


def _chinese_parts(text: str) -> Iterator[Numeral]:
    """Yield 百分之五, 三成五, 三分之一, 第三 and the like, whose parts are no numbers alone."""
    for match in patterns.CHINESE_PERCENT.finditer(text):
        value = _number(match["number"])
        if value is None:
            continue
        factor = {"百": 1.0, "千": 0.1, "万": 0.01}[match["base"]]
        step = _step_of(match["number"]) * factor
        sign = "-" if match["sign"] else ""
        yield _hedged(
            text, match, "percent", -value * factor if sign else value * factor, step, sign
        )
    for match in patterns.CHINESE_COMPOUND.finditer(text):
        step = float(patterns.CHINESE_PLACES.get(match["low_scale"], 10_000))
        value = int(match["high"]) * SCALES[match["high_scale"]] + int(match["low"]) * step
        numeral = _hedged(text, match, "number", value, step)
        yield replace(numeral, unit=unit_after(text, match.end()))
    for match in patterns.CHINESE_TENTHS.finditer(text):
        value = _number(match["tenths"])
        if value is not None and 0 < value <= 10:
            half = _number(match["half"]) or 0 if match["half"] else 0
            half = 5 if match["half"] == "半" else half
            yield _hedged(text, match, "percent", value * 10 + half, 1 if match["half"] else 10)
    for match in patterns.CHINESE_FRACTION.finditer(text):
        bottom, top = _number(match["bottom"]), _number(match["top"])
        if bottom and top is not None:
            yield _hedged(text, match, "fraction", top / bottom, 0.01)
    for match in patterns.CHINESE_HALF.finditer(text):
        numeral = _hedged(text, match, "fraction", 0.5, 0.01)
        yield replace(numeral, hedge="over") if match[0] == "过半" else numeral
    for match in patterns.CHINESE_ORDINAL.finditer(text):
        value = _number(match["number"])
        if value is not None:
            yield Numeral("", match.start(), match.end(), "ordinal", value=value)
    for match in patterns.CHINESE_GROWTH.finditer(text):
        value = -50.0 if match[0] in {"减半", "腰斩"} else 100.0
        yield _hedged(text, match, "growth", value, 10)


def _chinese_words(text: str) -> Iterator[Numeral]:
    """Yield the numbers in Chinese numerals that have a counter or unit, such as 二十三个."""
    for match in patterns.CHINESE_COUNT.finditer(text):
        word = match["number"]
        value = parse_chinese(word)
        if value is None or (word == "一" and not patterns.is_counted_one(text, match)):
            continue
        if patterns.IDIOM.match(text, match.start("number")):
            continue
        end = match.end("number")
        kind: NumeralKind = "number"
        if match["unit"] == "号":
            kind = "ordinal"
        elif match["unit"] == "倍":
            kind, end = "multiple", match.end("unit")
        elif match["unit"].endswith("百分点"):
            kind, end = "points", match.end("unit")
        value += 0.5 if match["half"] else 0
        yield Numeral(
            "",
            match.start("number"),
            end,
            kind,
            value=value,
            tolerance=last_place(word) / 2 if kind != "multiple" else 0.05 * value,
            place=last_place(word),
            unit=unit_after(text, match.end("number")),
            hedge=patterns.hedge(text, match.start("number"), match.end("unit")),
        )


def read_english_words(text: str) -> Iterator[Numeral]:
    """Yield the numbers, fractions, ordinals and multiples spelled in English."""
    for word in read_english(text):
        kind: NumeralKind = word.kind
        end = word.end
        if kind == "number" and (unit := patterns.SPELLED_UNIT.match(text, end)):
            kind, end = ("points" if "point" in unit[0].lower() else "percent"), unit.end()
        yield Numeral(
            "",
            word.start,
            end,
            kind,
            value=word.value,
            tolerance=word.step / 2,
            place=word.step,
            unit=unit_after(text, end) if kind == "number" else "",
            hedge=patterns.hedge(text, word.start, end),
        )


def _hedged(
    text: str,
    match: re.Match[str],
    kind: NumeralKind,
    value: float,
    step: float,
    sign: Literal["", "+", "-"] = "",
) -> Numeral:
    return Numeral(
        "",
        match.start(),
        match.end(),
        kind,
        value=value,
        tolerance=step / 2,
        place=step,
        sign=sign,
        hedge=patterns.hedge(text, match.start(), match.end()),
    )


def _number(word: str) -> float | None:
    if word == "百":
        return 100
    return float(word) if re.fullmatch(r"[\d.]+", word) else parse_chinese(word)


def _step_of(word: str) -> float:
    if re.fullmatch(r"[\d.]+", word):
        return _step(word, None)
    return last_place(word)


def _with_ranges(text: str, numerals: list[Numeral]) -> tuple[Numeral, ...]:
    """Let the first number of "3–5%", "3 to 5 million" or "1–9 March" take on the second's unit."""
    for index in range(len(numerals) - 2, -1, -1):
        this, following = numerals[index], numerals[index + 1]
        between = text[this.end : following.start]
        if len(between) > 8 or this.value is None or this.kind != "number":
            continue
        is_range = patterns.RANGE.fullmatch(between) or (
            patterns.BETWEEN.search(text[max(0, this.start - 16) : this.start])
        )
        if is_range:
            numerals[index] = _like(this, following)
        elif patterns.LIST.fullmatch(between):
            shared = following.shared_kind or following.kind
            if shared in {"percent", "points", "multiple"}:
                numerals[index] = replace(this, shared_kind=shared)
    return tuple(numerals)


def _like(this: Numeral, following: Numeral) -> Numeral:
    """Return a bare number with the kind, unit and scale of the next one."""
    value = this.value or 0.0
    if following.kind == "date" and not following.is_bare_year and not this.is_bare_year:
        return _as_date(this, following)
    if following.kind in {"percent", "points", "multiple"}:
        return replace(this, kind=following.kind, dates=(), is_bare_year=False)
    if following.kind != "number" or (following.unit not in {"", this.unit} and this.unit):
        return this
    scale = patterns.scale_of(following.text)
    if scale == 1 or patterns.scale_of(this.text) != 1 or this.place >= 1000:
        return replace(this, unit=this.unit or following.unit)
    return replace(
        this,
        value=value * scale,
        tolerance=this.tolerance * scale,
        place=this.place * scale,
        unit=this.unit or following.unit,
        dates=(),
        is_bare_year=False,
    )


def _as_date(this: Numeral, following: Numeral) -> Numeral:
    date, value = following.dates[0], int(this.value or 0)
    if re.match(r"\d+\s?月", following.text) and 1 <= value <= 12:
        part = PartialDate(date.year, month=value)
    elif date.day and 1 <= value <= 31:
        part = PartialDate(date.year, month=date.month, day=value)
    else:
        return this
    return replace(this, kind="date", value=None, dates=(part,))
