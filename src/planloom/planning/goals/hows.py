"""How a measure is to be computed: as the words beside it say, else as its meaning asks for."""

from __future__ import annotations

from collections.abc import Sequence

from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.filters import column_of
from planloom.planning.goals.intent import How
from planloom.planning.goals.scanning import Term

_HOWS: dict[str, How] = {
    "sum": "sum", "mean": "mean", "median": "median", "max": "max", "min": "min",
    "count_distinct": "count_distinct",
}  # fmt: skip


def how_to_compute(column: str, named: Term, terms: Sequence[Term], index: ColumnIndex) -> How:
    """Return the way to compute that stands nearest: before the measure, else right after it."""
    is_average = named.concept is not None and named.concept.averaged
    default: How = "mean" if is_average or index.averages(column) else "sum"
    position = next((i for i, t in enumerate(terms) if t.start >= named.start), 0)
    said = _how_before(terms, position, index) or _how_after(terms, position)
    if said == "count_distinct":
        return default
    return said or default


def _how_before(terms: Sequence[Term], i: int, index: ColumnIndex) -> How | None:
    own_total = terms[i].text.lower().startswith(("总", "total"))
    for j in range(i - 1, -1, -1):
        term = terms[j]
        if term.tag == "how":
            return _HOWS[term.data]
        if extreme := _extreme(terms, j, i, index):
            return extreme
        if term.tag in ("stop", "then", "kind", "count", "by") or (own_total and term.tag == "and"):
            return None
    return None


def _extreme(terms: Sequence[Term], j: int, i: int, index: ColumnIndex) -> How | None:
    """Read "highest temperature": the extreme value of a measure that is never added up."""
    term, column = terms[j], column_of(terms[i], index)
    # "Which site has the highest temperature" ranks the sites by their average.
    seeks = any(t.tag == "which" and t.text.lower() not in ("what", "什么") for t in terms)
    if seeks or j != i - 1 or not column or not index.averages(column):
        return None
    if term.tag == "best" and term.text.lower() in ("highest", "最高", "最大", "largest"):
        return "max"
    if term.tag == "worst" and term.text.lower() in ("lowest", "最低", "最小", "smallest"):
        return "min"
    return None


def _how_after(terms: Sequence[Term], i: int) -> How | None:
    for term in terms[i + 1 :]:
        if term.tag == "how":
            return _HOWS[term.data]
        if term.tag != "filler" or term.text not in ("的",):
            return None
    return None
