"""The wishes of a goal, in order: where one ends and the next begins, and what each asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.intent import AnalysisKind, Grain, How
from planloom.planning.goals.scanning import Term
from planloom.planning.goals.subjects import Subjects, read_subjects

_BREAKS = ("stop", "then", "and")
_ORDERS = ("best", "worst", "common")
_LIST_MARKS = (",", "，", ":", "：", ";", "；", ".", "。", "\n")
"""Marks after which a goal lists what its first words promise."""
_SPLIT = ("by", "share")
_GRAINS: tuple[Grain, ...] = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that a goal asks for, with only what it says."""

    text: str
    """Its words, as written."""
    kind: AnalysisKind | None
    """None when it only names things, or asks vaguely."""
    subjects: Subjects
    grain: Grain | None = None
    top: int | None = None
    ascending: bool = False
    counts: bool = False
    """Asks for the most frequent, so that rows are counted."""
    how: How | None = None
    """A way to compute that stands without a measure."""
    asks_overview: bool = False
    """Asks for an overview beside its analysis."""
    is_ranked: bool = False
    """Asks for the highest or lowest, not only for a comparison."""
    unsupported: tuple[str, ...] = ()


@dataclass(slots=True)
class _Group:
    """Terms that belong to one wish."""

    terms: list[Term] = field(default_factory=list[Term])

    def has(self, *tags: str) -> bool:
        """Whether a term of one of these tags is there."""
        return any(term.tag in tags for term in self.terms)

    @property
    def has_structure(self) -> bool:
        """Whether the group says which analysis it wants."""
        return self.has("kind", "unsupported", *_ORDERS)

    @property
    def names_quantity(self) -> bool:
        """Whether the group holds something that may be a measure."""
        return any(
            term.tag in ("count", "how")
            or (term.tag in ("column", "concept") and _may_be_measure(term))
            for term in self.terms
        )


def _may_be_measure(term: Term) -> bool:
    return term.concept is None or term.concept.role in ("measure", "person", "event", "entity")


def read_wishes(terms: Sequence[Term], index: ColumnIndex) -> tuple[Wish, ...]:
    """Return the wishes in the order of the goal."""
    measures = _measure_test(index)
    groups = _grouped(_atoms(terms), measures)
    return tuple(_wish(group.terms, index) for group in groups if _says_something(group))


def _measure_test(index: ColumnIndex) -> Callable[[_Group], bool]:
    def names_measure(group: _Group) -> bool:
        subjects = read_subjects(group.terms, index, is_ranking=False)
        return bool(subjects.measures) or subjects.missing_measure

    return names_measure


def _says_something(group: _Group) -> bool:
    tags = ("filler", "mark", "stop", "then", "and", "word", "which", "only", "counter", "over")
    return any(term.tag not in tags for term in group.terms)


def _atoms(terms: Sequence[Term]) -> list[_Group]:
    """Cut at every word or mark that may join two wishes; the joint begins the next piece."""
    atoms = [_Group()]
    for term in terms:
        if term.tag in _BREAKS and atoms[-1].terms:
            atoms.append(_Group())
        atoms[-1].terms.append(term)
    return atoms


def _grouped(atoms: Sequence[_Group], names_measure: Callable[[_Group], bool]) -> list[_Group]:
    groups: list[_Group] = []
    for atom in atoms:
        if groups and not _begins_wish(groups[-1], atom, names_measure):
            groups[-1].terms += atom.terms
        else:
            groups.append(_Group(list(atom.terms)))
    return groups


def _begins_wish(group: _Group, atom: _Group, names_measure: Callable[[_Group], bool]) -> bool:
    """Whether a piece asks for something new instead of going on with the wish before it."""
    if not _says_something(group) or not _says_something(atom):
        return False
    ends_sentence = atom.terms[0].tag == "stop"
    shaped = group.has_structure or group.has("by", "grain")
    if atom.has_structure:
        if (
            _says_how_only(atom)
            and (group.has(*_ORDERS) or group.has("by"))
            and not group.has("kind")
        ):
            return False  # "Which is best? Show the top 5."; "sales by region, in percent"
        if group.has("vague") and not shaped:
            return atom.terms[0].text in _LIST_MARKS
        return shaped or (ends_sentence and names_measure(group))
    if atom.has("by", "grain") and shaped and names_measure(atom):
        return group.has("kind", *_ORDERS) or names_measure(group)
    if ends_sentence or atom.terms[0].tag == "then":
        return shaped and names_measure(atom)
    return False


def _says_how_only(atom: _Group) -> bool:
    """Whether a piece names nothing and only says how to show what was named before."""
    return not atom.has("unsupported", "column", "concept", "by", "grain", "count", "quoted")


def _wish(terms: Sequence[Term], index: ColumnIndex) -> Wish:
    # "split by" says both how to group and that parts of a whole are wanted.
    kinds = [term.data for term in terms if term.tag == "kind" or (term.tag, term.data) == _SPLIT]
    orders = [term for term in terms if term.tag in _ORDERS and not _is_loose_order(terms, term)]
    grain = _grain(terms)
    is_ranking = bool(orders) or "ranking" in kinds or "compare" in kinds
    subjects = read_subjects(terms, index, is_ranking=is_ranking or "share" in kinds)
    kind = _kind(kinds, subjects, grain=grain, is_ranked=is_ranking, terms=terms)
    hows = [term.data for term in terms if term.tag == "how"]
    unsupported = tuple(term.data for term in terms if term.tag == "unsupported")
    if "hourly" in unsupported and kind in (None, "overview"):
        kind, grain = "trend", "day"
    return Wish(
        text=_text(terms),
        kind=kind,
        subjects=subjects,
        grain=grain,
        top=_top(terms) if orders or "ranking" in kinds or kind == "ranking" else None,
        ascending=_is_ascending(orders, subjects, index),
        counts=any(term.tag == "common" for term in orders),
        how=_lone_how(hows),
        asks_overview="overview" in kinds and kind != "overview",
        is_ranked=bool(orders) or "ranking" in kinds,
        unsupported=unsupported,
    )


_BY_TIME = {"slowest": False, "最慢": False, "fastest": True, "最快": True}


def _is_ascending(orders: Sequence[Term], subjects: Subjects, index: ColumnIndex) -> bool:
    """Whether the lowest come first; the slowest are those that take the most time."""
    named = [measure.column for measure in subjects.measures if measure.column]
    takes_time = all("duration" in index.families(name) for name in named)
    for term in orders:
        if takes_time and term.text.lower() in _BY_TIME:
            return _BY_TIME[term.text.lower()]
    return bool(orders) and orders[0].tag == "worst"


def _text(terms: Sequence[Term]) -> str:
    shown = [term for term in terms if term.tag not in (*_BREAKS, "mark")]
    return " ".join(term.text for term in shown)


def _kind(
    kinds: Sequence[str],
    subjects: Subjects,
    *,
    grain: Grain | None,
    is_ranked: bool,
    terms: Sequence[Term],
) -> AnalysisKind | None:
    """Return the analysis that words, grouping and periods together ask for."""
    orders = any(term.tag in _ORDERS for term in terms)
    groups_by_date = subjects.date is not None and _date_is_grouped(terms, subjects.date)
    if "trend" in kinds or groups_by_date:
        return "trend"
    if grain and not (is_ranked and (orders or "ranking" in kinds) and subjects.categories):
        return "trend"
    if "share" in kinds:
        return "share"
    is_topic = _is_vague(terms) and not subjects.grouped
    if is_ranked or (subjects.categories and not is_topic):
        return "ranking"
    asks = any(term.tag in ("how", "count", "which") for term in terms)
    if "overview" in kinds or (subjects.measures and asks and not _is_vague(terms)):
        return "overview"
    return None


def _is_vague(terms: Sequence[Term]) -> bool:
    return any(term.tag == "vague" for term in terms)


def _date_is_grouped(terms: Sequence[Term], date: str) -> bool:
    """Whether the time column, or a word for time, stands after "by" or "over"."""
    for i, term in enumerate(terms):
        is_date = term.concept is not None and term.concept.role == "date"
        if (is_date or term.column == date) and _follows(terms, i, ("by", "over")):
            return True
    return False


def _follows(terms: Sequence[Term], i: int, tags: Sequence[str]) -> bool:
    before = next((t for t in reversed(terms[:i]) if t.tag != "filler"), None)
    return before is not None and before.tag in tags


def _is_loose_order(terms: Sequence[Term], order: Term) -> bool:
    """Whether 前 or 后 stands without a number, so that it means before or after."""
    if order.text not in ("前", "后"):
        return False
    i = terms.index(order)
    after = terms[i + 1] if i + 1 < len(terms) else None
    return not (after and after.tag in ("digits", "number"))


def _grain(terms: Sequence[Term]) -> Grain | None:
    for term in terms:
        for grain in _GRAINS:
            if term.tag == "grain" and term.data == grain:
                return grain
    return None


def _top(terms: Sequence[Term]) -> int | None:
    """Return the number that says how many: in an order of things any plain number does."""
    for i, term in enumerate(terms):
        if term.tag not in ("digits", "number"):
            continue
        number = term.data
        if not number.isdecimal() or not 1 <= int(number) <= 1000:
            continue
        if int(number) > 1 or (i and terms[i - 1].tag in _ORDERS):
            return int(number)
    return None


def _lone_how(hows: Sequence[str]) -> How | None:
    for how in ("mean", "median", "max", "min", "sum"):
        if how in hows:
            return _HOW[how]
    return None


_HOW: dict[str, How] = {
    "mean": "mean", "median": "median", "max": "max", "min": "min", "sum": "sum"
}  # fmt: skip
