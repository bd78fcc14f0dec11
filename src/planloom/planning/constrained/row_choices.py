"""Rows that a goal may want to keep: values, spans of time and bounds that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from planloom.analysis.numbers.numerals import read_numerals
from planloom.notes import Scalar
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.dates import DateRange
from planloom.planning.goals.filters import range_filters, take_scope
from planloom.planning.goals.intent import ColumnShape, Comparison, Filter
from planloom.planning.goals.scanning import Term
from planloom.planning.goals.wording import fold

WITHIN = "within"
"""The comparison with a span of time, in the words of the goal."""
_MOST_TRANSLATED_VALUES = 12
"""A column with more values is not offered to a goal in another script."""
_MOST_TRANSLATED = 60
_MOST_VALUES = 200


@dataclass(frozen=True, kw_only=True)
class RowChoice:
    """A restriction of rows that the goal gives a reason for."""

    column: str
    comparisons: tuple[str, ...]
    values: Mapping[str | float, tuple[Filter, ...] | Scalar]
    """What may be written as the value: a value of the data, a number of the goal, or the goal's
    words for a span of time with the filters that keep it."""
    is_named: bool = True
    """Whether the goal holds the values; False for a list that it may name in another script."""


def value_choices(
    goal: str,
    index: ColumnIndex,
    values: Mapping[str, Sequence[Scalar]],
    *,
    hidden: Set[str] = frozenset(),
) -> Iterator[RowChoice]:
    """Yield the values that the goal names; all of short lists where the scripts differ.

    The values of the columns `hidden` are not listed.
    """
    folded, room = fold(goal), _MOST_TRANSLATED
    for name, column in index.columns.items():
        if index.roles[name] in ("date", "year") or column.meaning in ("measure", "money"):
            continue
        known = [v for v in values.get(name) or [v for v, _ in column.top] if v is not None]
        found = [v for v in known if _is_named(str(v), folded)]
        is_named = bool(found)
        may_list = name not in hidden and index.roles[name] == "category"
        if not found and may_list and _is_translatable(known, column, goal):
            found = known[: max(room, 0)]
            room -= len(found)
        if found:
            yield RowChoice(
                column=name,
                comparisons=("=", "!="),
                values={_written(value): value for value in found[:_MOST_VALUES]},
                is_named=is_named,
            )


def _is_translatable(known: Sequence[Scalar], column: ColumnShape, goal: str) -> bool:
    """Say whether a goal in another script may name one of a short list of words."""
    is_whole = len(known) == column.distinct <= _MOST_TRANSLATED_VALUES
    # Codes and numbers are written alike in every script.
    words = [v for v in known if isinstance(v, str) and any(c.isalpha() for c in v)]
    return is_whole and len(words) == len(known) and all(
        _has_han(word) != _has_han(goal) for word in words
    )  # fmt: skip


def _written(value: Scalar) -> str | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return str(value)


def _is_named(value: str, folded_goal: str) -> bool:
    word = fold(value).strip()
    if not word or word.isdigit():
        return False
    if _has_han(word):
        return word in folded_goal
    return (
        re.search(rf"(?<![a-z0-9]){re.escape(word)}(?:e?s)?(?![a-z0-9])", folded_goal) is not None
    )


def _has_han(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)


def span_choices(
    goal: str, index: ColumnIndex, dates: Sequence[str], ranges: Sequence[DateRange]
) -> Iterator[RowChoice]:
    """Yield the spans of time that the goal names, for each date column that reaches into them."""
    for name in dates:
        spans = {goal[r.start : r.stop]: range_filters(r, index.columns[name]) for r in ranges}
        found: dict[str | float, tuple[Filter, ...] | Scalar] = {
            words: filters for words, filters in spans.items() if filters
        }
        if found:
            yield RowChoice(column=name, comparisons=(WITHIN,), values=found)


_BOUND_BEFORE = re.compile(
    r"(?:above|over|below|under|less|more|fewer|greater|than|least|most|exceed\w*|between|[<>=≥≤]|"
    r"超过|大于|小于|低于|高于|多于|少于|至少|最多|不到|不足|达到)[^,，。;；]{0,12}$"
)
_BOUND_AFTER = re.compile(
    r"^[^,，。;；]{0,4}(?:以上|以下|以内|or more|or less|and above|and below)"
)


def limit_choices(
    goal: str, index: ColumnIndex, terms: Sequence[Term], numbers: Sequence[str]
) -> Iterator[RowChoice]:
    """Yield bounds on numbers: those that name their column, else any column for the number."""
    limits = take_scope(terms, index).limits
    for limit in limits:
        value = limit.value
        if isinstance(value, int | float):
            yield RowChoice(
                column=limit.column, comparisons=(limit.comparison,), values={value: value}
            )
    ranges = [term.range for term in terms if term.range]
    bounds = _bounds(fold(goal), ranges)
    if bounds and not limits:
        comparisons: tuple[Comparison, ...] = (">", ">=", "<", "<=", "=")
        for name in numbers:
            yield RowChoice(column=name, comparisons=comparisons, values={v: v for v in bounds})


def _bounds(folded: str, ranges: Sequence[DateRange]) -> list[float]:
    """Return the numbers that stand beside words such as "above"."""
    found: list[float] = []
    for n in read_numerals(folded):
        if n.value is None or n.kind != "number" or lies_in(n.start, ranges):
            continue
        before, after = folded[max(0, n.start - 24) : n.start], folded[n.end : n.end + 12]
        if _BOUND_BEFORE.search(before) or _BOUND_AFTER.search(after):
            found.append(int(n.value) if float(n.value).is_integer() else float(n.value))
    return found


def lies_in(place: int, ranges: Sequence[DateRange]) -> bool:
    """Say whether an offset of the goal is within a span of time."""
    return any(r.start <= place < r.stop for r in ranges)
