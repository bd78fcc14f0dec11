"""The values that a text may state, indexed so that each numeral is looked up, not compared."""

from __future__ import annotations

import bisect
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from planloom.analysis.numbers import numeral_patterns as patterns
from planloom.analysis.numbers.dates import PartialDate, read_iso
from planloom.analysis.numbers.direction import speaks_of_decline
from planloom.analysis.numbers.formatting import PERIOD_UNITS, show_fact
from planloom.analysis.numbers.numerals import Numeral, read_numerals
from planloom.analysis.numbers.units import (
    GENERIC_NOUNS,
    MULTIPLE_UNITS,
    RANK_UNITS,
    RATIO_UNITS,
    canonical_unit,
    unit_kind,
)
from planloom.notes import Lang
from planloom.values import Fact

ANY_UNIT = "*"
_LANGS: tuple[Lang, Lang] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Source:
    """One value that may be stated."""

    value: float
    name: str
    """What an error message calls it: the fact's id, or "allowed text"."""
    unit: str
    """Canonical."""
    origin: Fact | Numeral | int | float
    """What gives the value; a numeral is from an allowed text."""
    is_noun: bool = False
    """The unit is a count noun."""

    @property
    def is_given(self) -> bool:
        """Whether an allowed text gives the value; its unit may be missing then."""
        return isinstance(self.origin, Numeral)

    def is_magnitude(self) -> bool:
        """Say whether the value has no sign of its own: it may be told as a rise or a fall."""
        if isinstance(self.origin, Numeral):
            return not self.origin.sign
        return (
            isinstance(self.origin, Fact)
            and self.value > 0
            and any(speaks_of_decline(self.origin.label.text(lang)) for lang in _LANGS)
        )

    def shown(self, lang: Lang) -> str:
        """Return the value as a message cites it."""
        if isinstance(self.origin, Fact):
            return show_fact(self.origin, lang)
        return self.origin.text if isinstance(self.origin, Numeral) else str(self.origin)


class ValueIndex:
    """Sources of one kind (numbers, per cent, percentage points ...), sorted by value."""

    def __init__(self, sources: Iterable[Source]) -> None:
        groups: dict[str, list[Source]] = defaultdict(list)
        for source in sources:
            groups[source.unit].append(source)
            groups[ANY_UNIT].append(source)
        self._groups = {
            unit: sorted(group, key=lambda source: source.value) for unit, group in groups.items()
        }
        self._values = {
            unit: [source.value for source in group] for unit, group in self._groups.items()
        }

    def between(self, low: float, high: float, unit: str = ANY_UNIT) -> Iterable[Source]:
        """Yield the sources with low <= value <= high, both widened by float noise."""
        values = self._values.get(unit, [])
        noise = 1e-9 * (high - low) + 2 * math.ulp(max(abs(low), abs(high)))
        start = bisect.bisect_left(values, low - noise)
        stop = bisect.bisect_right(values, high + noise)
        group = self._groups.get(unit, [])
        return (group[index] for index in range(start, stop))

    def nearest(self, value: float) -> Source | None:
        """Return the source whose value is closest; None when there is none."""
        values = self._values.get(ANY_UNIT, [])
        if not values:
            return None
        index = bisect.bisect_left(values, value)
        around = self._groups[ANY_UNIT][max(0, index - 1) : index + 1]
        return min(around, key=lambda source: abs(source.value - value))


class Sources:
    """Everything that a finished text may state."""

    def __init__(
        self, facts: Iterable[Fact], allowed: Iterable[str], labels: Iterable[str]
    ) -> None:
        self._lists: dict[str, list[Source]] = defaultdict(list)
        self._dates: dict[int | None, list[PartialDate]] = defaultdict(list)
        self._seen_dates: set[PartialDate] = set()
        self._ordinals: set[float] = set()
        self._fractions: set[float] = set()
        self.names: set[str] = set()
        self.plain_labels: set[str] = set()
        self.nouns: set[str] = set()
        phrases = set(labels)
        for fact in facts:
            phrases.update(self._add_fact(fact))
        for text in allowed:
            self._add_text(text)
        self.phrases = PhraseIndex(phrases)
        self._add_labels(phrases)
        self.numbers = ValueIndex(self._lists["number"])
        self.percents = ValueIndex(self._lists["percent"])
        self.points = ValueIndex(self._lists["points"])
        self.multiples = ValueIndex(self._lists["multiple"])

    def has_date(self, dates: tuple[PartialDate, ...]) -> bool:
        """Say whether a period of the facts or allowed texts names all parts of one reading."""
        for date in dates:
            pools = [self._dates.get(date.year, [])] if date.year else self._dates.values()
            if any(date.is_part_of(other) for pool in pools for other in pool):
                return True
        return False

    def has_ordinal(self, value: float) -> bool:
        """Say whether a rank of the facts or an ordinal of the allowed texts has the value."""
        return value in self._ordinals

    def has_fraction(self, value: float) -> bool:
        """Say whether an allowed text has the fraction."""
        return any(abs(value - other) < 1e-9 for other in self._fractions)

    def _add_fact(self, fact: Fact) -> list[str]:
        """File a fact by its value; return the labels that it brings."""
        phrases = [fact.label.text("en"), fact.label.text("zh")]
        for argument in fact.label.args.values():
            if isinstance(argument, str):
                phrases.append(argument)
                self._add_period(argument)
            else:
                self._file("number", Source(float(argument), fact.id, "", argument))
        value = fact.value
        if isinstance(value, str):
            if not self._add_period(value) or fact.unit not in PERIOD_UNITS:
                phrases.append(value)
        elif value is not None and not isinstance(value, bool):
            self._add_value(fact, float(value))
        return phrases

    def _add_value(self, fact: Fact, value: float) -> None:
        kind = unit_kind(fact.unit)
        source = Source(
            value,
            fact.id,
            canonical_unit(fact.unit) if kind not in {"percent", "points"} else "",
            fact,
            is_noun=kind == "noun",
        )
        if kind in {"percent", "points"}:
            self._file(kind, source)
            return
        self._file("number", source)
        if source.is_noun:
            self.nouns.add(source.unit)
        unit = fact.unit.strip().lower()
        if unit in MULTIPLE_UNITS:
            self._file("multiple", source)
        if unit in RANK_UNITS:
            self._ordinals.add(value)
        if unit == "year" and value.is_integer() and 0 < value < 9999:
            self._add_date(PartialDate(int(value)))
        is_ratio = unit in RATIO_UNITS or (
            unit == "" and isinstance(fact.value, float) and abs(value) <= 1
        )
        if is_ratio:
            self._file("percent", Source(value * 100, fact.id, "", fact))

    def _file(self, kind: str, source: Source) -> None:
        self._lists[kind].append(source)

    def _add_period(self, text: str) -> bool:
        date = read_iso(text)
        if date is not None:
            self._add_date(date)
        return date is not None

    def _add_date(self, date: PartialDate) -> None:
        if date not in self._seen_dates:
            self._seen_dates.add(date)
            self._dates[date.year].append(date)

    def _add_text(self, text: str) -> None:
        """Allow the numerals and names of a goal or a source document."""
        self.names.update(patterns.names_in(text))
        for numeral in read_numerals(text):
            for date in numeral.dates:
                self._add_date(date)
            if numeral.kind == "vague":
                self.names.add(numeral.text)
            if numeral.value is not None:
                self._add_given(numeral, numeral.value)

    def _add_given(self, numeral: Numeral, value: float) -> None:
        source = Source(value, "allowed text", numeral.unit, numeral)
        if numeral.kind == "ordinal":
            self._ordinals.add(value)
        elif numeral.kind == "fraction":
            self._fractions.add(value)
        else:
            self._file("percent" if numeral.kind == "growth" else numeral.kind, source)

    def _add_labels(self, phrases: Iterable[str]) -> None:
        for phrase in phrases:
            self.names.update(patterns.names_in(phrase))
            if PhraseIndex.is_plain(phrase):
                self.plain_labels.add(phrase.strip())


class PhraseIndex:
    """Names of the data with numerals in them, such as "Store 12", found where they stand whole."""

    _KEY = re.compile(
        r"\d+|[零〇一二两三四五六七八九十百千万亿]+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|"
        r"half|double|twice|first|second|third|dozen)\b",
        re.IGNORECASE,
    )
    _PLAIN = re.compile(r"\s*(?:[+\-−]?\d[\d,.]*%?)?\s*")
    _LONGEST = 200

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases: set[str] = set()
        self._places: dict[str, set[tuple[int, int]]] = defaultdict(set)
        for phrase in phrases:
            clean = " ".join(phrase.split())
            if len(clean) <= self._LONGEST and not self.is_plain(clean):
                self._add(patterns.half_width(clean))

    @classmethod
    def is_plain(cls, phrase: str) -> bool:
        """Say whether a label is a bare number, which covers nothing but that number."""
        return cls._PLAIN.fullmatch(phrase) is not None

    def _add(self, phrase: str) -> None:
        keys = list(self._KEY.finditer(phrase))
        if keys:
            self._phrases.add(phrase)
        for key in keys:
            self._places[key[0].lower()].add((key.start(), len(phrase)))

    def mask(self, text: str) -> str:
        """Return the text with every whole phrase blanked out, place by place."""
        if not self._phrases:
            return text
        plain = patterns.half_width(text)
        pieces: list[str] = []
        done = 0
        for key in self._KEY.finditer(plain):
            if key.start() < done:
                continue
            found = self._at(plain, key)
            if found is None or found[0] < done:
                continue
            start, end = found
            pieces += [text[done:start], "\ue000" * (end - start)]
            done = end
        return "".join([*pieces, text[done:]])

    def _at(self, text: str, key: re.Match[str]) -> tuple[int, int] | None:
        """Return where the longest phrase stands that has the key at its place."""
        for offset, length in sorted(self._places.get(key[0].lower(), ()), key=lambda p: -p[1]):
            start = key.start() - offset
            end = start + length
            if start >= 0 and text[start:end] in self._phrases and _is_whole(text, start, end):
                return start, end
        return None


def _is_whole(text: str, start: int, end: int) -> bool:
    """Say whether a phrase ends where it ends, so that "Store 1" is not found in "Store 12"."""
    before, after = text[start - 1 : start], text[end : end + 2]
    if text[start].isascii() and text[start].isalnum() and before.isascii() and before.isalnum():
        return False
    last = text[end - 1]
    if last.isdigit() and re.match(r"[\d%]|[.,]\d", after):
        return False
    return not (last.isascii() and last.isalnum() and after[:1].isascii() and after[:1].isalnum())


def fits_noun(source: Source, noun: str) -> bool:
    """Say whether a count may stand before a noun that other facts count."""
    return not source.is_noun or source.unit == noun or source.unit in GENERIC_NOUNS
