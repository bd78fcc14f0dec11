"""Refuses prose whose words do not fit the facts that it cites: a wrong name, rank or direction.

Numbers are checked elsewhere. Here every name of the data has to belong to a fact of its sentence,
every number has to stand by its own name, and what ranks or moves has to do so in the facts. What
cannot be decided is refused: the text of a template costs less than a false statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planloom.analysis.report.claim_words import (
    COMPARED_ZH,
    LESS_THAN,
    MONTHS,
    MORE_THAN,
    NEGATION,
    UNSUPPORTED,
    ClaimKind,
    claims_in,
    is_claim,
)
from planloom.analysis.report.fact_roles import FactRoles, Name, columns_of
from planloom.values import Fact

_CITATION = re.compile(r"\{\{([^{}|]+)(?:\|[^{}]*)?\}\}")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
_CLAUSE_END = re.compile(
    r"[,;:，；：、]|\b(?:and|while|whereas|but|although|though)\b|[而但](?!且)|并且|而且",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s(?:in|for|at|on|from)\s(?:the\s)?$", re.IGNORECASE)
_COVER = "\ue000"
"""Stands for citations and names while words are looked for; in no text that people write."""
_ROWS = re.compile(r"\brows?\b|\brecords?\b|\bentr(?:y|ies)\b|记录|[行条]", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Mention:
    """A name in a sentence."""

    start: int
    end: int
    name: Name
    text: str


@dataclass(frozen=True, kw_only=True)
class _Number:
    """A cited number in a sentence."""

    start: int
    end: int
    id: str


def claim_problems(
    text: str, facts: Mapping[str, Fact], *, columns: Sequence[str] = (), values: Sequence[str] = ()
) -> Iterator[str]:
    """Yield what a text says of the data that no fact cited in the same sentence supports.

    `columns` are the names of the table's columns, `values` those of its categories, as far as
    they are known; the values of label facts count without being given. Facts that `text` cites
    and `facts` does not hold are passed over.
    """
    words = _Words(facts, columns, values)
    start = 0
    ends = [match.end() for match in _SENTENCE_END.finditer(words.covered(text))]
    for end in (*ends, len(text)):
        if text[start:end].strip():
            yield from _Sentence(text[start:end], words).problems()
        start = end


class _Words:
    """The names of the data, and the facts, that sentences are read with."""

    def __init__(self, facts: Mapping[str, Fact], columns: Sequence[str], values: Sequence[str]):
        self.facts = facts
        self.roles = FactRoles(facts)
        self.columns = tuple(dict.fromkeys(name for name in columns if name.strip()))
        told = [str(facts[name].value) for name in facts if self.roles.is_label(name)]
        names = {name for name in (*told, *values) if name.strip()} - set(columns)
        self.names = {name.casefold(): name for name in names}
        self._names = _pattern(names)
        self._columns = {form: name for name in self.columns for form in _forms(name)}
        self._column_words = _pattern(self._columns, plural=True)

    def names_in(self, covered: str) -> Iterator[re.Match[str]]:
        """Yield where names of the data are written out."""
        return self._names.finditer(covered)

    def columns_in(self, covered: str) -> Iterator[tuple[str, int]]:
        """Yield the columns that are spoken of, with where."""
        for match in self._column_words.finditer(covered):
            form = match[0].casefold()
            name = self._columns.get(form) or self._columns.get(form.removesuffix("s"))
            if name is not None:
                yield name, match.start()

    def covered(self, text: str, *, names: bool = True) -> str:
        """Return a text of the same length without its citations and, if asked, names."""
        text = _CITATION.sub(_cover, text)
        if not names:
            return text
        # A name that reads as a claim stays, so that no claim can hide in a name.
        return self._names.sub(lambda m: m[0] if is_claim(m[0]) else _cover(m), text)


class _Sentence:
    """One sentence: its names, its numbers, and what is wrong with it."""

    def __init__(self, text: str, words: _Words):
        self._text = text
        self._words = words
        self._roles = words.roles
        cited = [m for m in _CITATION.finditer(text) if m[1].strip() in words.facts]
        self._cited = [match[1].strip() for match in cited]
        self._numbers = [
            _Number(start=match.start(), end=match.end(), id=name)
            for match, name in zip(cited, self._cited, strict=True)
            if not self._roles.is_label(name)
        ]
        own = [
            _Mention(start=m.start(), end=m.end(), name=self._roles.name(name), text=m[0])
            for m, name in zip(cited, self._cited, strict=True)
            if self._roles.is_label(name)
        ]
        self._mentions = sorted([*own, *self._written()], key=lambda mention: mention.start)
        self._plain = words.covered(text)
        cuts = [match.start() for match in _CLAUSE_END.finditer(self._plain)]
        self._clauses = list(zip([0, *cuts], [*cuts, len(text)], strict=True))

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, each with the mend."""
        yield from self._unbacked_names()
        yield from self._unbacked_columns()
        for number in self._numbers:
            yield from self._misplaced(number)
        yield from self._claims()
        yield from self._comparisons()

    # -- names

    def _written(self) -> Iterator[_Mention]:
        for match in self._words.names_in(self._words.covered(self._text, names=False)):
            value = self._words.names[match[0].casefold()]
            labels = {
                label
                for cited in self._cited
                for label in (cited, *self._roles.holders(cited))
                if self._roles.facts[label].value == value
            }
            names = [self._roles.name(label) for label in labels]
            prefixes = frozenset(prefix for name in names for prefix in name.prefixes)
            is_period = any(name.is_period for name in names)
            yield _Mention(
                start=match.start(),
                end=match.end(),
                text=match[0],
                name=Name(value=value, prefixes=prefixes, is_period=is_period),
            )

    def _unbacked_names(self) -> Iterator[str]:
        for mention in self._mentions:
            if not mention.name.prefixes:
                yield (
                    f"No fact cited in the same sentence is about '{mention.text}'. Cite the fact "
                    "that names it as {{id}}, or leave it out."
                )
        if match := MONTHS.search(self._plain):
            yield f"The period '{match[0]}' is written out. Cite the fact that names it."

    def _unbacked_columns(self) -> Iterator[str]:
        backed = {
            column
            for cited in self._cited
            for column in columns_of(self._words.facts[cited], self._words.columns)
        }
        for column, _ in self._words.columns_in(self._plain):
            if column not in backed:
                yield (
                    f"No fact cited in the same sentence is about '{column}'. Cite one that is, or "
                    "leave the word out."
                )

    # -- numbers

    def _misplaced(self, number: _Number) -> Iterator[str]:
        yield from self._wrong_column(number)
        holders = self._roles.holders(number.id)
        if holders:
            yield from self._wrong_holder(number, holders)
        elif self._roles.is_relation(number.id):
            yield from self._wrong_relation(number)
        elif self._is_of_the_whole(number) and self._is_attached(number):
            yield (
                f"{{{{{number.id}}}}} is of the whole, not of the name beside it. Put them in "
                "sentences of their own."
            )

    def _wrong_column(self, number: _Number) -> Iterator[str]:
        said = [item for item in self._words.columns_in(self._plain) if item[1] < number.start]
        about = columns_of(self._words.facts[number.id], self._words.columns)
        if not said or said[-1][0] in about:
            return
        near = self._text[number.start : number.end + 12]
        if not about and (_ROWS.search(near) or number.id.endswith(".rows")):
            return
        yield (
            f"{{{{{number.id}}}}} is not about '{said[-1][0]}', which stands before it. Name what "
            "it is about."
        )

    def _wrong_holder(self, number: _Number, holders: Sequence[str]) -> Iterator[str]:
        values = {self._roles.facts[label].value for label in holders}
        said = self._named_for(number)
        if said is None or said.name.value not in values:
            yield (
                f"{{{{{number.id}}}}} is the value of {{{{{holders[0]}}}}}, which has to stand "
                "right before it."
            )
        kind = self._roles.name(holders[0]).is_period
        if self._roles.is_move(number.id):
            return
        if any(mention.name.is_period != kind for mention in self._mentions):
            yield (
                f"{{{{{number.id}}}}} is of {{{{{holders[0]}}}}} alone; a sentence with it may not "
                "speak of " + ("single groups." if kind else "single periods.")
            )

    def _wrong_relation(self, number: _Number) -> Iterator[str]:
        related = self._roles.related(number.id)
        values = {self._roles.facts[label].value for label in related}
        before = [m for m in self._mentions if m.end <= number.start][-1:]
        stop = self._clause(number.start)[1]
        after = [m for m in self._mentions if number.end <= m.start < stop][:1]
        if any(mention.name.value not in values for mention in (*before, *after)):
            named = " and ".join(f"{{{{{label}}}}}" for label in related)
            named = named or "others"
            yield f"{{{{{number.id}}}}} is between {named}; no other name may stand by it."

    def _named_for(self, number: _Number) -> _Mention | None:
        """Return the name that a reader takes a number to belong to."""
        before = [mention for mention in self._mentions if mention.end <= number.start]
        after = [mention for mention in self._mentions if mention.start >= number.end]
        if after and _JOINED.fullmatch(self._text[number.end : after[0].start]):
            return after[0]
        return before[-1] if before else (after[0] if after else None)

    def _is_of_the_whole(self, number: _Number) -> bool:
        value = self._words.facts[number.id].value
        return not isinstance(value, str) and not self._roles.is_count(number.id)

    def _is_attached(self, number: _Number) -> bool:
        """Say whether a reader would take a number of the whole for that of a name."""
        before = [m for m in self._mentions if m.end <= number.start][-1:]
        stop = self._clause(number.start)[1]
        after = [m for m in self._mentions if number.end <= m.start < stop][:1]
        return any(
            not self._has_number_between(mention, number) for mention in (*before, *after)
        )  # fmt: skip

    def _has_number_between(self, mention: _Mention, number: _Number) -> bool:
        low, high = sorted((mention.start, number.start))
        return any(
            low < other.start < high and self._roles.holders(other.id) for other in self._numbers
        )

    # -- claims

    def _claims(self) -> Iterator[str]:
        if match := UNSUPPORTED.search(self._plain):
            yield f"'{match[0]}' says what no fact gives. Leave it out."
        claims = claims_in(self._plain)
        if claims and (match := NEGATION.search(self._plain)):
            yield f"'{match[0]}' turns a statement round, which cannot be checked. Say it plainly."
        for kind, start, end in claims:
            if not self._is_supported(kind, start, end):
                yield (
                    f"'{self._text[start:end]}' does not fit the facts cited beside it. Cite the "
                    "fact that shows it, or leave it out."
                )

    def _is_supported(self, kind: ClaimKind, start: int, end: int) -> bool:
        if kind == "majority":
            return self._has_majority(start)
        if kind in {"up", "down"}:
            return self._moves(kind, start)
        if kind in {"average", "median"}:
            return self._is_measured_so(kind, start)
        if kind == "total":
            return not self._is_measured_otherwise(start)
        item = self._spoken_of(kind, start, end)
        if item is None:
            return False
        roles = self._roles_of(item)
        if kind == "max" and roles & {"up", "down"}:
            # "gained most" is right of what gained most, where the sentence says which way.
            return bool(roles & {word for word, _, _ in claims_in(self._plain)})
        return kind in roles

    def _roles_of(self, item: _Mention | _Number) -> frozenset[str]:
        if isinstance(item, _Mention):
            return self._roles.roles(item.name)
        holders = self._roles.holders(item.id)
        named = self._roles.roles(self._roles.name(holders[0])) if holders else frozenset[str]()
        return named | self._roles.number_roles(item.id)

    def _spoken_of(self, kind: ClaimKind, start: int, end: int) -> _Mention | _Number | None:
        """Return the name or number that a rank is said of."""
        low, high = self._clause(start)
        ranked = (n for n in self._numbers if self._roles.holders(n.id) or self._has_own_rank(n))
        items = [*self._mentions, *ranked]
        near = [item for item in items if low <= item.start < high] or items
        before = [item for item in near if item.start < start]
        after = [item for item in near if item.start >= end]
        is_verb = re.match(r"le[ad]|domin|领|peak", self._text[start:end], re.IGNORECASE)
        if kind in {"second", "first", "latest"} and after:
            return min(after, key=lambda item: item.start)
        if is_verb and before:
            named = [item for item in before if isinstance(item, _Mention)] or before
            return max(named, key=lambda item: item.start)
        return min(
            near, key=lambda item: min(abs(item.start - end), abs(start - item.end)), default=None
        )

    def _has_own_rank(self, number: _Number) -> bool:
        return bool(self._roles.number_roles(number.id) & {"max", "min"})

    def _has_majority(self, start: int) -> bool:
        percent = [n for n in self._numbers if self._words.facts[n.id].unit == "%"]
        percent.sort(key=lambda number: abs(number.start - start))
        value = self._words.facts[percent[0].id].value if percent else None
        return isinstance(value, int | float) and value > 50

    def _moves(self, kind: ClaimKind, start: int) -> bool:
        """Say whether something cited beside a word for a rise or fall does go that way."""
        found = [
            (abs(item.start - start), roles & {"up", "down"})
            for item in (*self._numbers, *self._mentions)
            if (roles := self._roles_of(item)) & {"up", "down"}
        ]
        if found:
            return kind in min(found, key=lambda pair: pair[0])[1]
        return kind == self._way_between_periods(start)

    def _way_between_periods(self, start: int) -> ClaimKind | None:
        """Return which way the two values after a word go: "rose from 1 in May to 2 in June"."""
        dated = [
            (str(self._roles.facts[label].value), value)
            for number in self._numbers
            if number.start > start or len(self._numbers) == 2
            for label in self._roles.holders(number.id)
            if self._roles.name(label).is_period
            and isinstance(value := self._words.facts[number.id].value, int | float)
        ]
        if len(dated) != 2:
            return None
        (_, first), (_, last) = sorted(dated)
        return None if first == last else ("up" if last > first else "down")

    def _is_measured_so(self, kind: ClaimKind, start: int) -> bool:
        low, high = self._clause(start)
        inside = [n for n in self._numbers if low <= n.start < high]
        after = [n for n in self._numbers if n.start > start]
        near = inside or after or self._numbers
        cited = [number.id for number in near] or self._cited
        return any(kind in self._roles.number_roles(name) for name in cited)

    def _is_measured_otherwise(self, start: int) -> bool:
        """Say whether the number next to "total" is a mean, a median or an extreme instead."""
        after = [number for number in self._numbers if number.start > start]
        near = after[0] if after else (self._numbers or [None])[-1]
        if near is None or self._roles.holders(near.id):
            return False
        return bool(self._roles.number_roles(near.id) & {"average", "median", "max", "min"})

    # -- comparisons

    def _comparisons(self) -> Iterator[str]:
        for pattern, is_more in ((MORE_THAN, True), (LESS_THAN, False)):
            for match in pattern.finditer(self._plain):
                yield from self._compared(match, match.start(), match.end(), is_more=is_more)
        for match in COMPARED_ZH.finditer(self._plain):
            is_more = match["more"] is not None
            yield from self._compared(match, match.start(), match.start() + 1, is_more=is_more)

    def _compared(
        self, match: re.Match[str], start: int, end: int, *, is_more: bool
    ) -> Iterator[str]:
        left = [mention for mention in self._mentions if mention.end <= start]
        right = [mention for mention in self._mentions if mention.start >= end]
        if not left or not right or self._is_number_next(end, right[0].start):
            return
        first, second = (self._roles.value_of(m.name) for m in (left[-1], right[0]))
        shared = first.keys() & second.keys()
        if not shared or not all((first[key] > second[key]) == is_more for key in shared):
            said = self._text[match.start() : match.end()]
            yield f"'{said}' does not fit the facts of the names beside it. Leave it out."

    def _is_number_next(self, start: int, stop: int) -> bool:
        return any(start <= number.start < stop for number in self._numbers)

    def _clause(self, at: int) -> tuple[int, int]:
        for low, high in self._clauses:
            if low <= at < high:
                return low, high
        return self._clauses[-1]


def _cover(match: re.Match[str]) -> str:
    return _COVER * len(match[0])


def _forms(column: str) -> tuple[str, str]:
    return column.casefold(), column.casefold().replace("_", " ")


def _pattern(names: Iterable[str], *, plural: bool = False) -> re.Pattern[str]:
    """Return what finds the longest of names, Latin ones as whole words."""
    longest = sorted(names, key=len, reverse=True)
    end = r"(?:s(?=\W|$))?" if plural else ""
    parts = [
        f"{_edge(name[0], before=True)}{re.escape(name)}{end}{_edge(name[-1], before=False)}"
        for name in longest
    ]
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)


def _edge(letter: str, *, before: bool) -> str:
    if not (letter.isascii() and letter.isalnum()):
        return ""
    return r"(?<![A-Za-z0-9])" if before else r"(?![A-Za-z0-9])"
