"""Finding the numbers of a finished text that no fact and no given text accounts for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from planloom.analysis.numbers import numeral_patterns as patterns
from planloom.analysis.numbers.direction import Direction, direction
from planloom.analysis.numbers.numerals import Numeral, read_numerals
from planloom.analysis.numbers.sources import ANY_UNIT, Source, Sources, ValueIndex, fits_noun
from planloom.analysis.numbers.units import GENERIC_NOUNS, RANK_NOUNS, currency_of, singular
from planloom.analysis.numbers.visible_text import visible_text
from planloom.notes import Lang
from planloom.values import Fact


@dataclass(frozen=True, slots=True)
class Unsourced:
    """A numeral of the text that nothing gives."""

    numeral: Numeral
    sentence: str
    """The sentence or table row it stands in."""
    nearest: str
    """The closest value of the same kind, as "id = shown"; "" when there is none."""


def unsourced_numbers(
    text: str,
    *,
    facts: Iterable[Fact],
    allowed: Iterable[str] = (),
    labels: Iterable[str] = (),
    lang: Lang,
) -> tuple[Unsourced, ...]:
    """Return the numerals of a Markdown or HTML text that have no source, in their order.

    A numeral is sourced when a fact agrees with it within half of its last written digit and
    - is of its kind: per cent only by "%" facts and ratios, percentage points only by "pp",
      dates only by period labels, ordinals by unitless ranks;
    - has its currency or measure, where the text writes one;
    - goes its way: "fell by 4%" needs -4, or a fact whose label speaks of a fall.
    A size without a number (十几万元, 数百家) needs the same words in `allowed`: facts are exact.

    `allowed` are texts (the goal, source documents) whose numerals and names may be used freely.
    `labels` are names of the data (columns, categories): one such as "Store 12" covers its number
    only where the whole name stands. Text values and labels of facts count as labels too.

    >>> unsourced_numbers("Sales rose by 4%.", facts=[], lang="en")[0].numeral.text
    '4%'
    >>> unsourced_numbers("The top 5 stores", facts=[], allowed=["top 5"], lang="en")
    ()
    """
    sources = Sources(facts, allowed, labels)
    visible = visible_text(text)
    masked = sources.phrases.mask(visible)
    checker = _Checker(masked, sources, lang)
    return tuple(
        Unsourced(numeral, _sentence(visible, numeral), checker.nearest(numeral))
        for numeral in read_numerals(masked)
        if not checker.is_sourced(numeral)
    )


class _Checker:
    """Looks the numerals of one text up."""

    def __init__(self, text: str, sources: Sources, lang: Lang) -> None:
        self._text = text
        self._lang: Lang = lang
        self._sources = sources

    def is_sourced(self, numeral: Numeral) -> bool:
        if numeral.kind in {"name", "vague"}:
            return numeral.text.lower() in self._sources.names
        if self._is_plain_label(numeral):
            return True
        if numeral.dates and self._is_date(numeral):
            return True
        if numeral.kind == "date" or (numeral.is_bare_year and self._must_be_year(numeral)):
            return False
        if numeral.kind == "ordinal":
            return self._sources.has_ordinal(numeral.value or 0)
        if numeral.kind == "fraction" and self._sources.has_fraction(numeral.value or 0):
            return True
        if any(self._agrees(source, numeral, way) for source, way in self._candidates(numeral)):
            return True
        shared = numeral.shared_kind
        return shared is not None and self.is_sourced(
            replace(numeral, kind=shared, shared_kind=None, dates=(), is_bare_year=False)
        )

    def nearest(self, numeral: Numeral) -> str:
        if numeral.kind == "vague":
            return ""
        index, factor = self._index(numeral)
        source = index.nearest((numeral.value or 0) * factor)
        return f"{source.name} = {source.shown(self._lang)}" if source else ""

    def _is_date(self, numeral: Numeral) -> bool:
        # "2024 orders" is a count, though "2024" may be a year of the data.
        if numeral.is_bare_year and self._noun_after(numeral):
            return False
        return self._sources.has_date(numeral.dates)

    def _must_be_year(self, numeral: Numeral) -> bool:
        return (
            _YEAR_BEFORE.search(self._text, max(0, numeral.start - 12), numeral.start) is not None
        )

    def _is_plain_label(self, numeral: Numeral) -> bool:
        """Say whether the numeral is a label of the data that is a bare number, such as "101"."""
        if numeral.text not in self._sources.plain_labels:
            return False
        return not (patterns.COUNTED.match(self._text, numeral.end) or self._noun_after(numeral))

    def _index(self, numeral: Numeral) -> tuple[ValueIndex, float]:
        """Return where to look the numeral up, and the factor that its value takes there."""
        if numeral.kind == "fraction":
            return self._sources.percents, 100
        if numeral.kind in {"percent", "growth"}:
            return self._sources.percents, 1
        if numeral.kind == "points":
            return self._sources.points, 1
        if numeral.kind == "multiple":
            return self._sources.multiples, 1
        return self._sources.numbers, 1

    def _candidates(self, numeral: Numeral) -> Iterator[tuple[Source, Direction]]:
        """Yield the sources within the rounding of the numeral, with the direction of the text."""
        index, factor = self._index(numeral)
        low, high = (bound * factor for bound in bounds(numeral))
        is_share = numeral.kind in {"percent", "points"}
        way: Direction = ""
        if numeral.kind not in {"growth", "multiple", "fraction"}:
            way = direction(self._text, numeral.start, numeral.end, is_share=is_share)
        units = [numeral.unit, ""] if currency_of(numeral.unit) else [ANY_UNIT]
        for source in self._within(numeral, index, low, high, units):
            yield source, way

    def _within(
        self, numeral: Numeral, index: ValueIndex, low: float, high: float, units: list[str]
    ) -> Iterator[Source]:
        for unit in units:
            yield from index.between(low, high, unit)
            yield from index.between(-high, -low, unit)
        if numeral.kind == "multiple":
            # 2x is 200 per cent of something, 增长1倍 a growth of 100 per cent.
            yield from self._sources.percents.between(low * 100, high * 100)
        if numeral.kind == "growth":
            factor = 1 + (numeral.value or 0) / 100
            yield from self._sources.multiples.between(factor * 0.95, factor * 1.05)

    def _agrees(self, source: Source, numeral: Numeral, way: Direction) -> bool:
        return (
            _sign_agrees(source, numeral, way)
            and _unit_agrees(source, numeral)
            and self._may_be_bare(source, numeral)
            and self._noun_agrees(source, numeral)
        )

    def _may_be_bare(self, source: Source, numeral: Numeral) -> bool:
        """Say whether a number without unit says enough to be the source's value.

        Else any small whole number would find a rank or a rounded weight that happens to fit.
        """
        if numeral.kind != "number" or numeral.unit or source.is_given:
            return True
        if source.unit in RANK_NOUNS:
            before = self._text[max(0, numeral.start - 14) : numeral.start]
            return _RANK_BEFORE.search(before) is not None
        is_rounded = numeral.place >= 1 and not source.value.is_integer()
        return source.is_noun or not source.unit or not is_rounded or abs(source.value) >= 100

    def _noun_agrees(self, source: Source, numeral: Numeral) -> bool:
        noun = self._noun_after(numeral) if numeral.kind == "number" else ""
        return not noun or fits_noun(source, noun)

    def _noun_after(self, numeral: Numeral) -> str:
        """Return the noun after a numeral, when it is one that facts count."""
        match = _NOUN.match(self._text, numeral.end)
        if match is None:
            return ""
        word = match[1].lower()
        noun = singular(word)
        is_plural = noun != word or numeral.value == 1
        return noun if is_plural and noun in self._sources.nouns - GENERIC_NOUNS else ""


_NOUN = re.compile(r"[ \u00a0]([A-Za-z]+)\b")
_YEAR_BEFORE = re.compile(r"\b(?:in|since|during|until|year|before|after)\s$", re.IGNORECASE)
_RANK_BEFORE = re.compile(
    r"(?:\brank(?:s|ed|ing)?|\bplaced?|\bposition|\bnumber|\btop|排名|排|位列|名列|位居)[\s:：第#]*$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[。！？；\n]|[.!?](?=\s)")


def bounds(numeral: Numeral) -> tuple[float, float]:
    """Return the magnitudes that round to the numeral, wider where the text says "about"."""
    value = abs(numeral.value or 0)
    half = numeral.tolerance
    # "Over 40%" is said of 49%, "over 1,000" not of 1,900.
    is_tens = numeral.kind == "percent" and numeral.place == 10
    whole = numeral.place if is_tens else min(numeral.place, 0.1 * value)
    if numeral.kind == "fraction":
        # "More than half" is said of 52% and of 64%, "nearly half" of 46%.
        over, under, about = value / 3, value / 10, 0.06 * value
        nearly = under
    else:
        over = under = max(half, whole)
        nearly = max(half, whole / 2)
        about = max(half, min(numeral.place / 2, 0.05 * value))
    if numeral.hedge == "about":
        return value - about, value + about
    if numeral.hedge == "over":
        return value - half, value + over
    if numeral.hedge == "nearly":
        return value - nearly, value + half
    if numeral.hedge == "under":
        return value - under, value + half
    return value - half, value + half


def _sign_agrees(source: Source, numeral: Numeral, way: Direction) -> bool:
    stated = numeral.value or 0
    if source.value == 0 or stated == 0:
        return True
    if numeral.kind == "growth":
        # A multiple such as 0.5x is told as "halved", a change of -50 per cent.
        is_multiple = 0 < source.value < 10
        return is_multiple or (source.value < 0) == (stated < 0)
    if numeral.sign == "-":
        return way != "up" and (source.value < 0 or (way == "down" and source.is_magnitude()))
    if numeral.sign == "+" or way == "up":
        return source.value > 0
    if way == "down":
        return source.value < 0 or source.is_magnitude()
    return source.value > 0 or way == "unclear"


def _unit_agrees(source: Source, numeral: Numeral) -> bool:
    if not numeral.unit or source.unit == numeral.unit:
        return True
    if source.is_given:
        return not source.unit
    if currency_of(numeral.unit):
        return False
    return source.unit in GENERIC_NOUNS


def _sentence(text: str, numeral: Numeral) -> str:
    start = 0
    for match in _SENTENCE_END.finditer(text, max(0, numeral.start - 400), numeral.start):
        start = match.end()
    start = start or max(0, numeral.start - 400)
    end = _SENTENCE_END.search(text, numeral.end, numeral.end + 200)
    return " ".join(text[start : end.end() if end else numeral.end + 200].split())
