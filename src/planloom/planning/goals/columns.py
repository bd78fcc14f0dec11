"""The columns of a table as a goal may name them: by name, by part of a name, by meaning."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planloom.planning.goals.concepts import Concept, concepts_in
from planloom.planning.goals.intent import ColumnShape, TableShape
from planloom.planning.goals.wording import norms, typing_distance

ColumnRole = Literal["date", "year", "measure", "category", "id", "text"]
Use = Literal["compare", "count"]

MOST_CATEGORIES = 50
"""A column with more values is compared only when the goal names it."""
_CANDIDATES = 40
"""Names compared letter by letter when the nearest are sought; wide tables have thousands."""
_BRACKET = re.compile(r"[(（\[【].*?[)）\]】]\s*$")
_AVERAGED_WORDS = frozenset(
    {"rate", "ratio", "avg", "average", "mean", "per", "percent", "pct", "percentage", "index"}
    | {"率", "均", "比"}
)
_AVERAGED_UNITS = frozenset({"%", "‰", "°C", "°F", "℃", "℉", "K", "岁", "分"})
_UNADDED_WORDS = frozenset(
    ["latitude", "longitude", "lat", "lon", "lng", "zip", "postcode", "纬度", "经度", "邮编"]
)
_PERIOD_WORDS = frozenset(
    ["month", "day", "week", "quarter", "hour", "weekday", "月", "日", "周", "季度", "小时", "月份"]
)
_STAND_INS = {
    "sales": ("income", "quantity"),
    "income": ("sales", "salary"),
    "basket": ("sales",),
    "score": ("satisfaction",),
    "satisfaction": ("score",),
    "employee": ("salesperson",),
    "salesperson": ("employee",),
    "churn": ("hire",),
    "output": ("quantity",),
    "quantity": ("output",),
    "ward": ("department",),
}
"""Families that may stand in for a missing one; the user is told."""


@dataclass(frozen=True, slots=True)
class Match:
    """The column that a word of the goal stands for."""

    column: str
    closeness: Literal["same", "kin", "stand-in"]
    """Whether word and column name mean the same, are of one family, or neither."""

    @property
    def is_same(self) -> bool:
        """Whether the column is just what the word says."""
        return self.closeness == "same"


class ColumnIndex:
    """Finds the columns of one table by the words of a goal."""

    def __init__(self, table: TableShape):
        self.table = table
        self.columns = {column.name: column for column in table.columns}
        self._cores = {name: _core(name) for name in self.columns}
        self.roles = {
            name: role_of(column, table.rows, self._cores[name])
            for name, column in self.columns.items()
        }
        self._concepts = {name: concepts_in(core) for name, core in self._cores.items()}
        self._resolved: dict[tuple[Concept, Concept | None, Use], Match | None] = {}
        self._lengths = {name: len(core) for name, core in self._cores.items()}

    @cached_property
    def by_name(self) -> dict[tuple[str, ...], str]:
        """The column of each full name; of two alike the first."""
        found: dict[tuple[str, ...], str] = {}
        for name, core in self._cores.items():
            whole = norms(name)
            for key in (whole, core, ("".join(whole),)):
                if key and key != ("",):
                    found.setdefault(key, name)
        return found

    @cached_property
    def by_part(self) -> dict[tuple[str, ...], str]:
        """The column of each run of words that stands in its name alone."""
        owners: Counter[tuple[str, ...]] = Counter()
        found: dict[tuple[str, ...], str] = {}
        for name in self.columns:
            parts = _parts(self._cores[name][:12])
            owners.update(parts)
            found.update(dict.fromkeys(parts, name))
        return {part: name for part, name in found.items() if owners[part] == 1}

    def averages(self, name: str) -> bool:
        """Whether the sum of a column means nothing: prices, rates, scores, temperatures."""
        column, words = self.columns[name], self._cores[name]
        if column.meaning == "percent" or column.unit in _AVERAGED_UNITS:
            return True
        own = [concept for concept, _ in self._concepts[name] if concept.role == "measure"]
        return bool(own and own[-1].averaged) or bool(_AVERAGED_WORDS.intersection(words))

    def families(self, name: str) -> frozenset[str]:
        """Return the families of ideas that a column's name speaks of."""
        return frozenset(concept.family for concept, _ in self._concepts[name])

    def speaks_of(self, name: str, concept: Concept) -> bool:
        """Whether a column's name holds a word for `concept` itself."""
        return any(own == concept for own, _ in self._concepts[name])

    def identifies_rows(self, name: str) -> bool:
        """Whether each row has a value of its own, so that counting values counts rows."""
        column = self.columns[name]
        return column.is_unique or (column.distinct == self.table.rows and not column.missing)

    def resolve(
        self, concept: Concept, *, modifier: Concept | None = None, use: Use = "compare"
    ) -> Match | None:
        """Return the column that holds `concept`, or its nearest kin, or None."""
        key = (concept, modifier, use)
        if key not in self._resolved:  # a goal asks for the same idea many times
            self._resolved[key] = self._resolve(concept, modifier, use)
        return self._resolved[key]

    def _resolve(self, concept: Concept, modifier: Concept | None, use: Use) -> Match | None:
        best: tuple[float, str] | None = None
        for name in self.columns:
            score = self._fit(name, concept, modifier, use)
            if score > 0 and (best is None or score > best[0]):
                best = (score, name)
        if best is None:
            return None
        score, name = best
        if use == "compare" and concept.role == "person" and self.identifies_rows(name):
            # One row for each person: the name tells more than the number, and no less.
            name = next((n for n in self.columns if self._names_person(n, concept)), name)
        return Match(name, "same" if score >= 4 else "kin" if score > 1.5 else "stand-in")

    def _fit(self, name: str, concept: Concept, modifier: Concept | None, use: Use) -> float:
        """Score a column: 6 and more the same idea, about 3 the same family, 1 a stand-in."""
        if not self._plays(name, concept):
            return 0
        score = max((self._kinship(name, i, concept) for i in range(len(self._concepts[name]))),
                    default=0.0)  # fmt: skip
        if score == 0:
            return 1.0 if self._names_person(name, concept) else 0.0
        others = {other for other, _ in self._concepts[name]} - {concept}
        # Words of the name that the goal does not have speak against the column.
        score -= 0.2 * len(others - {modifier}) if score > 1 else 0
        score += 0.5 * (modifier in others)
        is_id = self.roles[name] in ("id", "text")
        return max(score + 0.1 * (is_id == (use == "count")), 0.1)

    def _kinship(self, name: str, i: int, concept: Concept) -> float:
        own, end = self._concepts[name][i]
        # The "delivery" of "delivery time" is no number of deliveries.
        is_number = self.roles[name] == "measure" and concept.role != "measure"
        is_head = end == self._lengths[name] or all(
            later.head for later, _ in self._concepts[name][i + 1 :]
        )
        if own == concept:
            return 6.0 if is_head else 0.0 if is_number else 4.5
        if own.family == concept.family:
            return 3.0 if is_head else 0.0 if is_number else 2.0
        return 1.0 if own.family in _STAND_INS.get(concept.family, ()) and is_head else 0.0

    def _names_person(self, name: str, concept: Concept) -> bool:
        # Tables of people call the person's name just "name".
        owned = [own for own, _ in self._concepts[name]]
        return concept.role == "person" and any(own.name == "name" for own in owned) and all(
            own.head for own in owned
        )  # fmt: skip

    def _plays(self, name: str, concept: Concept) -> bool:
        role = self.roles[name]
        match concept.role:
            case "measure":
                # Whether something was late or was returned is kept as a yes or no, too.
                return role == "measure" or self.columns[name].meaning == "flag"
            case "date":
                return role in ("date", "year")
            case "category":
                few = self.columns[name].distinct <= MOST_CATEGORIES
                return role in ("category", "id", "text") or (role == "measure" and few)
            case "person" | "entity" | "event":
                return role not in ("date", "year")
            case "topic":
                return False

    def nearest(self, words: str, limit: int = 3) -> tuple[str, ...]:
        """Return the columns whose names look most like `words`; the first ones when none does."""
        wanted = "".join(norms(words[:60]))
        names = {name: "".join(core[:20])[:60] for name, core in self._cores.items()}
        shared = sorted(names, key=lambda name: -_common_letters(wanted, names[name]))
        scored = sorted(shared[:_CANDIDATES], key=lambda name: -_likeness(wanted, names[name]))
        return tuple(scored[:limit])

    def misspelt(self, words: str) -> str | None:
        """Return the only column whose name is within one or two mistyped letters of `words`."""
        wanted = "".join(norms(words))
        if not 4 <= len(wanted) <= 40 or not wanted.isascii():
            return None
        slack = 1 if len(wanted) < 7 else 2
        close = {
            name
            for key, name in (*self.by_name.items(), *self.by_part.items())
            if abs(len("".join(key)) - len(wanted)) <= slack and len("".join(key)) >= 4
            and typing_distance("".join(key), wanted) <= slack
        }  # fmt: skip
        return close.pop() if len(close) == 1 else None


def role_of(column: ColumnShape, rows: int, words: tuple[str, ...]) -> ColumnRole:
    """Return what a column can serve as in an analysis; `words` are those of its name."""
    is_number = column.type in ("integer", "number")
    if column.type in ("date", "datetime"):
        return "date"
    if column.meaning == "year" and is_number:
        return "year"
    if column.meaning in ("id", "email", "phone", "empty"):
        return "id"
    if is_number and column.meaning != "category":
        if _UNADDED_WORDS.intersection(words) or column.meaning == "place":
            return "id"
        return "category" if words and _PERIOD_WORDS.issuperset(words) else "measure"
    if column.type == "time":
        return "text"
    return "category" if column.distinct <= max(MOST_CATEGORIES, rows // 2) else "text"


def _core(name: str) -> tuple[str, ...]:
    """Return the comparable words of a name without the unit in brackets at its end."""
    return norms(_BRACKET.sub("", name)) or norms(name)


def _parts(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    parts = {words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
    return {part for part in parts if len("".join(part)) >= (2 if _is_han(part) else 4)} - {words}


def _is_han(words: tuple[str, ...]) -> bool:
    return all(len(word) == 1 and word >= "\u3400" for word in words)


def _common_letters(left: str, right: str) -> float:
    return len(set(left) & set(right)) / max(len(left), len(right), 1)


def _likeness(left: str, right: str) -> float:
    contained = 1.0 if left in right or right in left else 0.0
    apart = typing_distance(left, right) / max(len(left), len(right), 1)
    return _common_letters(left, right) + contained - apart
