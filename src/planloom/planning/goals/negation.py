"""What the negations of a goal leave out: before them, after them, or not to be told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.scanning import Term

_CLAUSE_MARKS = frozenset("，,()（）[]【】")
_COMMAS = ("，", ",")
_ALSO = ("还", "也", "also", "as well", "too", "另外")
_BESIDES = ("除了", "除", "除去", "besides", "apart from")
_TELLING = ("value", "column", "concept", "kind", "unsupported", "word", "quoted", "range")
_NEW_SENTENCE_PART = ("看", "show", "分析", "give", "then", "展示", "查看", "按", "画", "list")
_ALL = frozenset(["every", "all", "any", "each", "everyone", "everything", "everywhere"])
_DECLINES = ("drop", "dropping")
"""Words that leave out a value beside them, and else say that something went down."""
_BETWEEN_WEAK = ("the", "all", "any", "a", "an", "been", "be", "those", "to", "both")
_NEGATIVE_WORD = re.compile(
    r"不(?!断|同|错|佳|好|足|良|稳|理想|高|大|少|均|到|低|多|满|合格|及格|一|久|得|动|变)"
    r"|未(?!来)|没|勿|莫|剔|删|刨|抛|滤|弃|屏蔽|隐藏"
    r"|^(?:non|un|nor|hide|hiding|discard|cannot|cant|unless|lacking|sans|nothing)$"
)


@dataclass(slots=True)
class Negations:
    """Positions of terms, by what the negations of a goal do to them."""

    negated: set[int] = field(default_factory=set[int])
    consumed: set[int] = field(default_factory=set[int])
    """Terms that only lead to a negated value: the "orders with status" of "no orders with ..."."""
    unsure: set[int] = field(default_factory=set[int])
    """Values that may be meant to be kept or left out."""
    unclear: list[str] = field(default_factory=list[str])
    """The words that could not be told, as written."""


def read_negations(terms: Sequence[Term], index: ColumnIndex) -> Negations:
    """Return what each negation speaks of.

    A value that stands beside a negation which is not understood is never kept nor left out: to
    look at just the rows that should have gone would be worse than to look at all of them.
    """
    reader = _Reader(terms, index)
    for i, term in enumerate(terms):
        if term.tag == "not":
            reader.read(i)
    reader.doubt_the_rest()
    return reader.found


class _Reader:
    def __init__(self, terms: Sequence[Term], index: ColumnIndex):
        self.found = Negations()
        self._terms = terms
        self._index = index
        self._clauses = list(accumulate(int(_ends_clause(term)) for term in terms))
        self._bound: set[int] = set()
        """The negations that are understood."""

    def read(self, i: int) -> None:
        if i in self._bound:
            return
        match self._terms[i].data:
            case "value":
                if not self._bind(i, self._list_after(i)) and self._terms[i].text in _DECLINES:
                    self._bound.add(i)
            case "but":
                self._read_but(i)
            case "only":
                self._read_not_only(i)
            case "before":
                if not self._is_second_half(i):
                    self._bind(i, self._values_before(i))
            case "either":
                if not self._bind(i, self._values_before(i)):
                    self._read_forward(i)
            case _:
                self._read_forward(i)

    def _read_but(self, i: int) -> None:
        """Read "every city but Boston"; any other "but" says nothing of rows."""
        before = " ".join(self._terms[j].text.lower() for j in self._clause(i) if j < i)
        if not _ALL.isdisjoint(before.split()):
            self._bind(i, self._list_after(i))
        self._bound.add(i)

    def _read_not_only(self, i: int) -> None:
        """Read "not only East but also West", which keeps both, or "not only East": what else?"""
        first = self._list_after(i)
        columns = {self._terms[j].column for j in first}
        others = [t for t in self._terms if t.tag == "value" and t.column in columns]
        if len(others) == len(first):
            self._doubt(i, first)
        self._bound.add(i)

    def _bind(self, i: int, positions: set[int]) -> bool:
        if positions:
            self.found.negated |= positions
            self._bound.add(i)
        return bool(positions)

    def _is_second_half(self, i: int) -> bool:
        """Whether "以外" only ends what 除 began."""
        is_half = any(
            j < i and self._terms[j].tag == "not" and self._terms[j].text in _BESIDES
            for j in self._clause(i)
        )
        if is_half:
            self._bound.add(i)
        return is_half

    def _clause(self, i: int) -> list[int]:
        return [j for j, clause in enumerate(self._clauses) if clause == self._clauses[i]]

    def _list_after(self, i: int) -> set[int]:
        """Return the values that stand right after a weak negation: 非退货, "neither A nor B"."""
        found: set[int] = set()
        for j in range(i + 1, len(self._terms)):
            term = self._terms[j]
            if term.tag == "value" and (not found or self._joins(j)):
                found.add(j)
            elif term.tag == "and" and found:
                continue
            elif found or not (_leads_on(term) or self._names_column_of_next(j)):
                break
        return found

    def _names_column_of_next(self, j: int) -> bool:
        """Whether a column word leads to a value of its own: "not status returned"."""
        after = self._next(j)
        term = self._terms[j]
        return bool(term.column and after is not None and self._terms[after].column == term.column)

    def _joins(self, j: int) -> bool:
        """Whether a value goes on with the list before it; a comma joins one column's only."""
        k = j - 1
        while k >= 0 and self._terms[k].tag in ("and", "filler"):
            k -= 1
        if k < 0 or self._terms[k].tag != "value":
            return False
        between = self._terms[k + 1 : j]
        joints = [term.text for term in between if term.tag == "and"]
        is_same = self._terms[k].column == self._terms[j].column
        return is_same or any(text not in _COMMAS for text in joints)

    def _next(self, j: int) -> int | None:
        after = range(j + 1, len(self._terms))
        return next((k for k in after if self._terms[k].tag not in ("filler", "and")), None)

    def _read_forward(self, i: int) -> None:
        values, passed, doubtful = self._scan_forward(i)
        if doubtful:
            self._doubt(i, doubtful)
            self._bound.add(i)
            return
        if values:
            if not self._asks_for_both(i, values):
                self._bind(i, values)
                self.found.consumed |= set(range(i + 1, max(values))) - values
            self._bound.add(i)
            return
        telling = [j for j in passed if self._terms[j].tag in _TELLING]
        is_talk = all(self._terms[j].tag == "word" and self._terms[j].text.islower()
                      for j in telling)  # fmt: skip
        if not (is_talk and self._bind(i, self._values_before(i))):
            self._leave_out_things(i, passed, telling)

    def _leave_out_things(self, i: int, passed: set[int], telling: Sequence[int]) -> None:
        rest = "".join(other.text.lower() for other in self._terms[i + 1 :])
        if self._terms[i].text.lower() in _BESIDES and any(word in rest for word in _ALSO):
            self._bound.add(i)
            return  # "besides sales, also profit" asks for both
        self.found.negated |= passed
        if any(self._terms[j].tag not in ("word", "range") for j in telling):
            self._bound.add(i)
        for j in telling:
            concept = self._terms[j].concept
            unknown = concept is not None and concept.role in ("category", "person", "entity")
            if concept and unknown and self._terms[j].tag == "concept" and not (
                self._index.resolve(concept)
            ):  # fmt: skip
                self.found.unclear.append(self._words(i, j))

    def _scan_forward(self, i: int) -> tuple[set[int], set[int], set[int]]:
        """Return the values a negation speaks of, what stands before them, and doubtful ones."""
        values: set[int] = set()
        passed: set[int] = set()
        for j in range(i + 1, len(self._terms)):
            term = self._terms[j]
            if term.tag == "not" and not values and not passed - self._fillers(passed):
                self._bound.add(j)  # 不要排除退货: kept, or left out?
                doubled = {k for k in self._clause(i) if k > j and self._terms[k].tag == "value"}
                return set(), set(), doubled
            if term.tag in ("stop", "then", "only", "not") or (
                term.text in _CLAUSE_MARKS and term.text not in _COMMAS
            ):
                break
            if not values and self._ends_things(j, passed):
                break
            if term.tag == "and":
                after = self._next(j)
                if after is None or self._terms[after].tag != "value" or not self._joins(after):
                    break
            elif term.tag == "value":
                if values and not self._joins(j):
                    return set(), passed, values | {j}
                values.add(j)
            elif values and (term.tag != "filler" or term.text.lower() in _NEW_SENTENCE_PART):
                break  # "without Furniture show the trend" leaves out Furniture alone
            elif not values:
                passed.add(j)
        return (set(), passed, values) if values and self._says_more(passed) else (
            values, passed, set()
        )  # fmt: skip

    def _ends_things(self, j: int, passed: set[int]) -> bool:
        """Whether the wish itself begins: the 后各城市 of 剔除异常值后各城市金额."""
        term = self._terms[j]
        has_things = any(self._terms[k].tag in _TELLING for k in passed)
        is_grouping = term.tag == "by" and not term.text.isascii()
        return has_things and (is_grouping or term.text in ("后", "之后", "以后"))

    def _fillers(self, positions: set[int]) -> set[int]:
        return {j for j in positions if self._terms[j].tag == "filler"}

    def _says_more(self, passed: set[int]) -> bool:
        """Whether something else than the value may be what is left out: "no trend for East"."""
        return any(
            self._terms[j].tag in ("kind", "unsupported")
            or self._index.roles.get(self._terms[j].column or "") == "measure"
            for j in passed
        )

    def _asks_for_both(self, i: int, values: set[int]) -> bool:
        """Whether "besides East, also West" wants the two of them."""
        if self._terms[i].text.lower() not in _BESIDES:
            return False
        rest = self._terms[max(values) + 1 :]
        says_also = any(word in "".join(term.text.lower() for term in rest) for word in _ALSO)
        columns = {self._terms[j].column for j in values}
        return says_also and any(term.tag == "value" and term.column in columns for term in rest)

    def _values_before(self, i: int) -> set[int]:
        """Return the nearest list of values before a negation in its clause: 退货订单除外."""
        found: set[int] = set()
        for j in reversed([j for j in self._clause(i) if j < i]):
            term = self._terms[j]
            if term.tag == "value" and j not in self.found.negated:
                found.add(j)
            elif term.tag == "not" or (found and term.tag not in ("filler", "and")):
                break
        return found

    def doubt_the_rest(self) -> None:
        """Doubt each value that shares its clause with a negation not understood."""
        for i, term in enumerate(self._terms):
            if term.tag != "value" or i in self.found.negated | self.found.unsure:
                continue
            for j in self._clause(i):
                if self._is_open_negation(j) and not (j > i and self._denies_change(j)):
                    self._doubt(j, {i})
                    break

    def _is_open_negation(self, j: int) -> bool:
        term = self._terms[j]
        if term.tag == "not":
            return j not in self._bound
        if term.tag != "word":
            return False
        after = self._terms[j + 1].text if j + 1 < len(self._terms) else ""
        return bool(_NEGATIVE_WORD.search(term.text.lower() + after * (not term.text.isascii())))

    def _denies_change(self, j: int) -> bool:
        """Whether a negation only says that something did not happen: 北京没有增长."""
        after = self._next(j)
        return after is not None and self._terms[after].tag in ("kind", "how", "unsupported")

    def _doubt(self, i: int, values: set[int]) -> None:
        self.found.unsure |= values
        if values:
            self.found.unclear.append(self._words(*sorted({i, *values})))

    def _words(self, *positions: int) -> str:
        text = ""
        for term in self._terms[positions[0] : positions[-1] + 1]:
            gap = " " if text and text[-1].isascii() and term.text[:1].isascii() else ""
            text += gap + term.text
        return text


def _leads_on(term: Term) -> bool:
    """Whether a word may stand between a weak negation and its value: "not the East"."""
    if term.tag != "filler" or term.text == "的":
        return False
    return not term.text.isascii() or term.text.lower() in _BETWEEN_WEAK


def _ends_clause(term: Term) -> bool:
    return term.tag in ("stop", "then") or term.text in _CLAUSE_MARKS
