"""What the facts of an analysis say of each other: whose value a number is, which is the highest.

Read from the ids, which the analyses build by rule: `<analysis>.top` is the value of what
`<analysis>.top_label` names, `<analysis>.highest` that of the period `<analysis>.highest_period`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from planloom.analysis.numbers.formatting import PERIOD_UNITS
from planloom.values import Fact

Role = Literal["max", "min", "second", "up", "down", "average", "median", "first", "latest"]

_LABEL_ENDS = ("_label", "_period")
_PLACES = ("top", "second", "before_last", "last", "largest")
_MOVES: Mapping[str, Role] = {"gained": "up", "lost": "down"}
_RELATIONS: Mapping[str, tuple[str, ...]] = {
    "change": ("first_period", "last_period"),
    "latest": ("previous_period", "last_period"),
    "year_on_year": ("year_ago_period", "last_period"),
    "lead": ("top_label", "second_label"),
}
_ENDS: Mapping[str, Role] = {"first_period": "first", "last_period": "latest"}
_COUNTS = frozenset({"groups", "distinct", "averaged", "steps", "moved", "rows", "few"})


@dataclass(frozen=True, kw_only=True)
class Name:
    """A name of the data that a sentence uses: a category's value, or a period."""

    value: str
    prefixes: frozenset[str]
    """The analyses whose facts it was taken from; empty when no cited fact gives it."""
    is_period: bool


class FactRoles:
    """Answers what facts say, by id."""

    def __init__(self, facts: Mapping[str, Fact]):
        self.facts = facts

    def is_label(self, fact_id: str) -> bool:
        """Say whether a fact is a name, not a number."""
        fact = self.facts[fact_id]
        return isinstance(fact.value, str) and not _is_end_of_range(fact)

    def name(self, label_id: str) -> Name:
        """Return the name that a label fact gives."""
        fact = self.facts[label_id]
        return Name(
            value=str(fact.value),
            prefixes=frozenset({_prefix(label_id)}),
            is_period=fact.unit in PERIOD_UNITS,
        )

    def holders(self, fact_id: str) -> tuple[str, ...]:
        """Return the label facts that a number belongs to; () for one that is of the whole."""
        prefix, what = _prefix(fact_id), _what(fact_id)
        own = [
            f"{prefix}.{base}{end}"
            for base in _bases(what)
            for end in _LABEL_ENDS
            if f"{prefix}.{base}{end}" in self.facts
        ]
        return tuple(own[:1])

    def related(self, fact_id: str) -> tuple[str, ...]:
        """Return the label facts that a number compares, such as both ends of a change."""
        names = _RELATIONS.get(self.change_of(fact_id), ())
        found = (f"{_prefix(fact_id)}.{name}" for name in names)
        return tuple(name for name in found if name in self.facts)

    def is_relation(self, fact_id: str) -> bool:
        """Say whether a number compares two others."""
        return self.change_of(fact_id) in _RELATIONS

    def is_move(self, fact_id: str) -> bool:
        """Say whether a fact tells of the group that gained or lost most."""
        return _what(fact_id).split("_")[0] in _MOVES

    def is_count(self, fact_id: str) -> bool:
        """Say whether a number counts groups, periods or rows."""
        return _what(fact_id) in _COUNTS or _what(fact_id).endswith(("_ties", "_others", "_rows"))

    def change_of(self, fact_id: str) -> str:
        """Return the name of a change without what tells its form ("latest_pct_size": "latest")."""
        return _what(fact_id).removesuffix("_size").removesuffix("_pct")

    def direction(self, fact_id: str) -> Role | None:
        """Return which way a change fact goes; None for other facts and for no change."""
        change = self.change_of(fact_id)
        if change not in _RELATIONS or change == "lead":
            return None
        signed = _what(fact_id).removesuffix("_size")
        value = self._number(f"{_prefix(fact_id)}.{signed}")
        if value is None:
            value = self._number(f"{_prefix(fact_id)}.{change}")
        if not value:
            return None
        return "up" if value > 0 else "down"

    def value_of(self, name: Name) -> Mapping[str, float]:
        """Return the value of a name by analysis."""
        return {
            prefix: value
            for prefix in name.prefixes
            for label in self._labels(prefix, name.value)
            if (value := self._number(_base_id(label))) is not None
        }

    def roles(self, name: Name) -> frozenset[Role]:
        """Return the roles that a name has in every analysis it was taken from."""
        by_prefix = [self._roles_in(prefix, name.value) for prefix in name.prefixes]
        if not by_prefix:
            return frozenset()
        return by_prefix[0].intersection(*by_prefix[1:])

    def number_roles(self, fact_id: str) -> frozenset[Role]:
        """Return the roles of a number by itself, such as the highest value of a column."""
        what = _what(fact_id)
        found: set[Role] = set()
        if what in {"max", "highest"}:
            found.add("max")
        if what in {"min", "lowest"}:
            found.add("min")
        label = self.facts[fact_id].label
        said = f"{label.text('en')} {label.text('zh')}".lower()
        if what in {"mean", "average"} or "average" in said or "平均" in said:
            found.add("average")
        if what == "median" or "median" in said or "中位" in said:
            found.add("median")
        if direction := self.direction(fact_id):
            found.add(direction)
        return frozenset(found)

    def _labels(self, prefix: str, value: str) -> list[str]:
        return [
            fact_id
            for fact_id, fact in self.facts.items()
            if fact.value == value and _prefix(fact_id) == prefix
        ]

    def _roles_in(self, prefix: str, value: str) -> frozenset[Role]:
        found: set[Role] = set()
        for label in self._labels(prefix, value):
            found |= self._roles_of_place(prefix, _what(_base_id(label)))
            if _what(label) in _ENDS:
                found.add(_ENDS[_what(label)])
        return frozenset(found)

    def _roles_of_place(self, prefix: str, what: str) -> set[Role]:
        if what in _MOVES:
            return {_MOVES[what]}
        if what in {"highest", "largest"}:
            return {"max"}
        if what == "lowest":
            return {"min"}
        return self._roles_by_value(prefix, what) if what in _PLACES else set()

    def _roles_by_value(self, prefix: str, what: str) -> set[Role]:
        """Return the roles of a place in a ranking, which may begin with the lowest."""
        numbers = {p: self._number(f"{prefix}.{p}") for p in _PLACES[:-1]}
        own = numbers[what]
        values = [n for n in numbers.values() if n is not None]
        top, last = numbers["top"], self._last(prefix, numbers)
        falls = "smallest-first" not in prefix if top is None or last is None else top >= last
        if own is None or len(values) < 2:
            ends: dict[str, Role] = {"top": "max" if falls else "min"}
            return {ends[what]} if what in ends else set()
        found: set[Role] = set()
        if own == (max(values) if falls else last):
            found.add("max")
        if own == (last if falls else min(values)):
            found.add("min")
        if what == "second" and falls:
            found.add("second")
        return found

    def _last(self, prefix: str, numbers: Mapping[str, float | None]) -> float | None:
        """Return the value of the last place; that is the second of two groups."""
        if numbers["last"] is not None:
            return numbers["last"]
        return numbers["second"] if self._number(f"{prefix}.groups") == 2 else None

    def _number(self, fact_id: str) -> float | None:
        fact = self.facts.get(fact_id)
        value = fact.value if fact else None
        return float(value) if isinstance(value, int | float) else None


def columns_of(fact: Fact, columns: Sequence[str]) -> frozenset[str]:
    """Return those of `columns` that a fact is about, by its id and its label."""
    label = f"{fact.label.text('en')} {fact.label.text('zh')}".casefold()
    parts = {part for segment in fact.id.casefold().split(".") for part in segment.split("-")}
    return frozenset(
        name
        for name in columns
        if name.casefold() in parts
        or name.casefold().replace("_", " ") in label
        or fact.id.casefold().find(f".{name.casefold()}.") >= 0
    )


def _is_end_of_range(fact: Fact) -> bool:
    """The first and last day of the data are dates, but name no row."""
    return not fact.id.endswith(_LABEL_ENDS) and fact.unit in PERIOD_UNITS


def _prefix(fact_id: str) -> str:
    return fact_id.rpartition(".")[0]


def _what(fact_id: str) -> str:
    return fact_id.rpartition(".")[2]


def _base_id(label_id: str) -> str:
    for end in _LABEL_ENDS:
        label_id = label_id.removesuffix(end)
    return label_id


def _bases(what: str) -> list[str]:
    """Return what a number's label may be called, longest first: "top_share" is of "top".

    >>> _bases("before_last_share")
    ['before_last_share', 'before_last', 'before']
    """
    parts = what.split("_")
    return ["_".join(parts[:n]) for n in range(len(parts), 0, -1)]
