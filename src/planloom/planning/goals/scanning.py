"""Reading a goal word by word: which words name columns, values, spans of time, or a wish."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from planloom.notes import Scalar
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.concepts import Concept, concepts_by_words, longest_concept
from planloom.planning.goals.dates import DateRange
from planloom.planning.goals.vocabulary import Tag, Word, longest_phrase, words_by_phrase
from planloom.planning.goals.wording import Token, norms, tokenize

TermTag = Tag | Literal[
    "column",  # names a column of the table
    "concept",  # speaks of an idea that may or may not be in the table
    "value",  # names a value of a column
    "range",  # names a span of time
    "quoted",  # was quoted and names nothing
    "digits",  # a number
    "stop",  # ends a sentence
    "mark",  # other marks
    "word",  # anything else
]  # fmt: skip

_QUOTED = re.compile(
    r"[“\"「『《]([^“”\"「」『』《》]{1,80})[”\"」』》]|[‘'`]([^‘’'`\n]{1,60})[’'`](?!\w)"
)
_STOPS = frozenset(";?!。；？！：:\n.")
_SLOTS = ("by", "which", "best", "worst", "common")
# A column with such a name is meant only where a column must stand, or in quotes.
_STRUCTURE = ("kind", "vague", "by", "which", "best", "worst", "common", "not", "only", "and",
              "then", "versus", "over", "target", "unsupported", "split")  # fmt: skip
_NEGATING_CHARACTERS = frozenset("不未没无非")
"""They begin too many words to negate anything but a value of the data."""
_MAX_VALUE_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Term:
    """Some words of a goal and what they stand for."""

    tag: TermTag
    text: str
    """As written."""
    start: int
    """Offset in the goal."""
    stop: int
    data: str = ""
    column: str | None = None
    concept: Concept | None = None
    value: Scalar = None
    range: DateRange | None = None
    is_exact: bool = True
    """The column was named in full or by a word of the same meaning."""

    @property
    def is_slot(self) -> bool:
        """Whether a column is expected after this word."""
        return self.tag in _SLOTS


@dataclass(frozen=True, slots=True)
class _Reading:
    """Everything that one phrase may stand for."""

    size: int
    words: tuple[Word, ...] = ()
    concept: Concept | None = None
    column: str | None = None
    part: str | None = None
    values: tuple[tuple[str, Scalar], ...] = ()


class Scanner:
    """Turns goals about one table into terms."""

    def __init__(self, index: ColumnIndex, values: Mapping[str, Sequence[Scalar]]):
        self._index = index
        self._values = _values_by_words(index, values)
        names = (*index.by_name, *self._values)
        self._kin_values = _values_by_concept(self._values)
        self._longest = max((longest_phrase(), longest_concept(), *map(len, names)))

    def scan(self, goal: str, ranges: Sequence[DateRange]) -> tuple[Term, ...]:
        """Return the terms of a goal in order; spans of time are given as found in its text."""
        fixed = [Term("range", goal[r.start : r.stop], r.start, r.stop, range=r) for r in ranges]
        fixed += [
            term for term in self._quoted(goal)
            if not any(term.start < other.stop and other.start < term.stop for other in fixed)
        ]  # fmt: skip
        fixed.sort(key=lambda term: term.start)
        terms: list[Term] = []
        position = 0
        for term in (*fixed, Term("stop", "", len(goal), len(goal))):
            self._plain(goal, position, term.start, terms)
            terms.append(term)
            position = term.stop
        return tuple(_merge_leftovers(terms))

    def _quoted(self, goal: str) -> list[Term]:
        return [
            self._quotation(match.group(1) or match.group(2), match)
            for match in _QUOTED.finditer(goal)
        ]

    def _quotation(self, inside: str, match: re.Match[str]) -> Term:
        key, (start, stop) = norms(inside), match.span()
        if name := self._index.by_name.get(key):
            return Term("column", inside, start, stop, column=name)
        if found := self._values.get(key):
            column, value = found[0]
            return Term("value", inside, start, stop, column=column, value=value)
        if concept := concepts_by_words().get(key):
            return Term("concept", inside, start, stop, concept=concept)
        return Term("quoted", inside, start, stop)

    def _plain(self, goal: str, start: int, stop: int, terms: list[Term]) -> None:
        tokens = [
            replace(token, start=token.start + start, end=token.end + start)
            for token in tokenize(goal[start:stop])
        ]
        i = 0
        while i < len(tokens):
            reading = self._longest_reading(tokens, i, terms)
            size = reading.size if reading else 1
            piece = goal[tokens[i].start : tokens[i + size - 1].end]
            plain = Term(_plain_tag(tokens[i]), piece, tokens[i].start, tokens[i + size - 1].end)
            if plain.tag == "digits":
                plain = replace(plain, data=tokens[i].norm)
            after = goal[plain.stop : stop]
            terms.append(self._choose(reading, plain, terms, after) if reading else plain)
            i += size

    def _longest_reading(
        self, tokens: Sequence[Token], i: int, terms: Sequence[Term]
    ) -> _Reading | None:
        for size in range(min(self._longest, len(tokens) - i), 0, -1):
            key = tuple(token.norm for token in tokens[i : i + size])
            concept = self._concept(key, tokens[i], terms)
            reading = _Reading(
                size,
                words_by_phrase().get(key, ()),
                concept,
                self._named(key, terms),
                self._index.by_part.get(key),
                self._values.get(key) or self._kin(concept, terms),
            )
            if reading != _Reading(size):
                return reading
        return None

    def _kin(
        self, concept: Concept | None, terms: Sequence[Term]
    ) -> tuple[tuple[str, Scalar], ...]:
        """Return the values of the same meaning after a negation: "not returns" for "returned"."""
        before = next((term for term in reversed(terms) if term.tag != "filler"), None)
        negates = before is not None and before.tag in ("not", "only")
        return self._kin_values.get(concept, ()) if concept and negates else ()

    def _concept(self, key: tuple[str, ...], token: Token, terms: Sequence[Term]) -> Concept | None:
        concept = concepts_by_words().get(key)
        if concept and len(key) == 1 and token.is_han and not concept.head:
            # One Chinese character is part of too many words to stand for itself everywhere.
            return concept if _in_slot(terms) else None
        return concept

    def _named(self, key: tuple[str, ...], terms: Sequence[Term]) -> str | None:
        name = self._index.by_name.get(key)
        is_tiny = len(key) == 1 and len(key[0]) == 1
        return name if name and (not is_tiny or _in_slot(terms)) else None

    def _choose(self, reading: _Reading, plain: Term, terms: Sequence[Term], after: str) -> Term:
        """Return the most likely of the readings of one phrase; `after` is the rest of the goal."""
        match = self._index.resolve(reading.concept) if reading.concept else None
        is_kin = match is not None and match.closeness != "stand-in"
        if self._means_value(reading, plain, terms, after, has_match=is_kin):
            column, value = reading.values[0]
            return replace(plain, tag="value", column=column, value=value)
        if reading.column and not self._is_structure(reading, terms):
            return replace(plain, tag="column", column=reading.column, concept=reading.concept)
        word = reading.words[0] if reading.words else None
        if word and _is_part_of_a_word(word, plain, terms):
            return plain
        if word and word.tag == "not" and plain.text in _NEGATING_CHARACTERS:
            return replace(plain, tag="not", data=word.data) if self._begins_value(after) else plain
        as_word = replace(plain, tag=word.tag, data=word.data) if word else None
        if word and self._prefers_word(word, reading, terms, has_match=match is not None):
            return as_word or plain
        if reading.part and not match and not (word and word.tag != "filler"):
            return replace(plain, tag="column", column=reading.part, concept=reading.concept)
        if reading.concept and (match or not reading.part):
            return replace(plain, tag="concept", concept=reading.concept)
        return as_word or plain

    def _is_structure(self, reading: _Reading, terms: Sequence[Term]) -> bool:
        tags = {word.tag for word in reading.words}
        if "grain" in tags and "date" in self._index.roles.values():
            return True
        if any(word.data == "pass rate" for word in reading.words):
            return False
        return bool(tags.intersection(_STRUCTURE)) and not _in_slot(terms)

    def _prefers_word(
        self, word: Word, reading: _Reading, terms: Sequence[Term], *, has_match: bool
    ) -> bool:
        if reading.concept is None:
            return not (reading.part and word.tag == "filler")
        if word.tag == "count":  # "数量" is a quantity, unless it counts what stands before it
            before = terms[-1] if terms else None
            counted = before and before.concept and before.concept.role in ("event", "person")
            return bool(counted) or not has_match
        if word.tag == "filler":
            return not has_match
        if word.tag in ("how", "grain", "unsupported"):
            return True
        return not (has_match and _in_slot(terms))

    def _means_value(
        self, reading: _Reading, plain: Term, terms: Sequence[Term], after: str, *, has_match: bool
    ) -> bool:
        """Whether a phrase that is a value of a column, and maybe more, stands for the value."""
        if not reading.values:
            return False
        column, value = reading.values[0]
        before = [term for term in terms if term.tag not in ("filler", "mark")][-1:]
        if before and (before[0].tag in ("only", "not") or before[0].column == column):
            return True
        if self._begins_with(after, column) and not (before and before[0].is_slot):
            return True  # "the day shift"
        is_worded = any(word.tag != "bound" for word in reading.words)
        if reading.column or has_match or is_worded or len(plain.text) == 1:
            return False
        # Two letters are a code such as "US" only when written like it.
        return len(plain.text) > 2 or not plain.text.isascii() or plain.text == str(value)

    def _begins_value(self, text: str) -> bool:
        key = norms(text[:40])
        return any(key[:size] in self._values for size in range(1, len(key) + 1))

    def _begins_with(self, text: str, column: str) -> bool:
        key = norms(text[:60])
        names = (name for name, owner in self._index.by_name.items() if owner == column)
        return any(key[: len(name)] == name for name in names)


def _values_by_words(
    index: ColumnIndex, values: Mapping[str, Sequence[Scalar]]
) -> Mapping[tuple[str, ...], tuple[tuple[str, Scalar], ...]]:
    found: dict[tuple[str, ...], tuple[tuple[str, Scalar], ...]] = {}
    for name, column in index.columns.items():
        if index.roles[name] not in ("category", "id", "text"):
            continue
        seen = dict.fromkeys((*(value for value, _ in column.top), *values.get(name, ())))
        for value in seen:
            key = norms(value) if isinstance(value, str) else ()
            if 0 < len(key) <= _MAX_VALUE_TOKENS and not all(word.isdecimal() for word in key):
                found[key] = (*found.get(key, ()), (name, value))
    return found


def _values_by_concept(
    values: Mapping[tuple[str, ...], tuple[tuple[str, Scalar], ...]],
) -> Mapping[Concept, tuple[tuple[str, Scalar], ...]]:
    found: dict[Concept, tuple[tuple[str, Scalar], ...]] = {}
    for key, owners in values.items():
        if (concept := concepts_by_words().get(key)) and concept.role == "category":
            found[concept] = (*found.get(concept, ()), *owners)
    return {concept: owners for concept, owners in found.items() if len(owners) == 1}


def _is_part_of_a_word(word: Word, plain: Term, terms: Sequence[Term]) -> bool:
    """Whether one Chinese character is more likely a part of an unknown word: 质量, 天气."""
    if len(plain.text) != 1 or plain.text.isascii():
        return False
    if word.tag == "grain":
        return not _in_slot(terms)
    before = terms[-1] if terms else None
    is_ending = before and before.stop == plain.start and before.tag in ("column", "concept")
    return word.tag == "count" and not is_ending


def _in_slot(terms: Sequence[Term]) -> bool:
    """Whether a column is expected next: after "by", 各, "which", "top 5"."""
    for term in reversed(terms):
        if term.is_slot:
            return True
        if term.tag not in ("filler", "number", "digits", "counter", "how", "mark"):
            return False
    return False


def _plain_tag(token: Token) -> TermTag:
    if token.norm in _STOPS or token.norm.startswith("\n"):
        return "stop"
    if token.is_number:
        return "digits"
    if token.is_word or token.is_han:
        return "word"
    return "and" if token.norm in (",", "，", "、", "&", "/") else "mark"


def _merge_leftovers(terms: Sequence[Term]) -> list[Term]:
    """Join unread Chinese characters that stand together; one alone says nothing."""
    merged: list[Term] = []
    for term in terms:
        last = merged[-1] if merged else None
        joins = last and last.tag == term.tag == "word" and last.stop == term.start
        if last and joins and not (last.text.isascii() or term.text.isascii()):
            merged[-1] = replace(last, text=last.text + term.text, stop=term.stop)
        else:
            merged.append(term)
    return [
        replace(term, tag="number", data=str(number))
        if term.tag == "word" and (number := chinese_number(term.text))
        else term
        for term in merged
    ]


def chinese_number(text: str) -> int | None:
    """Return the number below one hundred that Chinese numerals write.

    >>> [chinese_number(text) for text in ("十", "十五", "二十", "两", "三百")]
    [10, 15, 20, 2, None]
    """
    digits = {character: n for n, character in enumerate("零一二三四五六七八九")} | {"两": 2}
    if len(text) == 1 and text in digits:
        return digits[text]
    tens, ten, ones = text.partition("十")
    if not ten or not all(part in digits for part in (tens or "一", ones or "零")):
        return None
    return 10 * digits[tens or "一"] + digits[ones or "零"]
