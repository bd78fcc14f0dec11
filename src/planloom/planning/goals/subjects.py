"""What the words of one wish stand for: its measures, its categories, and what it cannot have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from planloom.planning.goals.columns import ColumnIndex, Match
from planloom.planning.goals.concepts import Concept
from planloom.planning.goals.filters import column_of
from planloom.planning.goals.hows import how_to_compute
from planloom.planning.goals.intent import How, Measure
from planloom.planning.goals.scanning import Term

Place = Literal["by", "target", "free"]
"""Where a thing stands: after "by", after "which" or "top 5", or neither."""

_FEW_ENOUGH_TO_GROUP = 20
_TRANSPARENT = ("filler", "number", "digits", "counter", "mark", "how", "target")
_COUNT_ENDINGS = ("量", "数", "volume", "count")
"""Endings that make an event its number: 订单量."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A column, or something to count, that a wish speaks of."""

    term: Term
    place: Place
    kind: Literal["measure", "category", "countable", "date", "missing"]
    column: str | None = None
    how: How | None = None


@dataclass(slots=True)
class Subjects:
    """Everything one wish speaks of."""

    measures: list[Measure] = field(default_factory=list[Measure])
    categories: list[str] = field(default_factory=list[str])
    grouped: set[str] = field(default_factory=set[str])
    """The categories that stand after "by"."""
    date: str | None = None
    missing: list[Term] = field(default_factory=list[Term])
    missing_measure: bool = False
    missing_category: bool = False
    nearest: list[tuple[Term, str]] = field(default_factory=list[tuple[Term, str]])
    """Words that no column has exactly, and the column taken instead."""
    row_words: list[str] = field(default_factory=list[str])
    """Words for what one row stands for, so that rows were counted."""


def read_subjects(terms: Sequence[Term], index: ColumnIndex, *, is_ranking: bool) -> Subjects:
    """Return what the terms of one wish speak of."""
    subjects = Subjects()
    found = _things(terms, index)
    lacks_category = is_ranking and not any(
        thing.column and thing.kind in ("category", "countable") for thing in found
    )
    things = [thing for thing in found if not _is_remark(thing, is_wanted=lacks_category)]
    for thing in things:
        _note_nearest(thing, index, subjects)
    _take_categories(things, index, subjects, is_ranking=is_ranking)
    _take_measures(things, terms, index, subjects)
    _take_countables(things, index, subjects, is_ranking=is_ranking)
    _take_missing(things, subjects)
    hints = [_date_hint(term, index) for term in terms]
    subjects.date = next((hint for hint in hints if hint), None)
    return subjects


def _things(terms: Sequence[Term], index: ColumnIndex) -> list[Thing]:
    things: list[Thing] = []
    used: set[int] = set()
    for i, term in enumerate(terms):
        if i in used:
            continue
        if term.tag == "count":
            things.append(_count(terms, i, things, used, index))
        elif _is_half_a_name(terms, i):
            things.append(_unread(terms, i, used, index))
        elif term.tag in ("column", "concept", "quoted"):
            if _asks_distinct(terms, i) and (distinct := _distinct(term, index)):
                things.append(distinct)
                continue
            follows = bool(things) and i > 0 and terms[i - 1].stop == things[-1].term.stop
            if follows and _goes_on(things[-1], term, index):
                continue
            following = terms[i + 1] if i + 1 < len(terms) else None
            if following and _is_head(following) and following.start - term.stop <= 1:
                used.add(i + 1)
                things.append(_compound(term, following, terms, i, index))
            else:
                things.append(_thing(term, _place(terms, i), index))
        elif term.tag == "word" and _stands_in_slot(terms, i):
            things.append(_unread(terms, i, used, index))
    return things


def _asks_distinct(terms: Sequence[Term], i: int) -> bool:
    before = next((t for t in reversed(terms[:i]) if t.tag != "filler"), None)
    return before is not None and before.tag == "how" and before.data == "count_distinct"


def _distinct(term: Term, index: ColumnIndex) -> Thing | None:
    """Return the measure that counts the different values of a column."""
    thing = _thing(term, "free", index)
    if thing.kind == "countable" and thing.column is None:
        return Thing(replace(term, concept=None), "free", "missing")
    if thing.column is None or thing.kind not in ("countable", "category"):
        return None
    match = index.resolve(term.concept, use="count") if term.concept else None
    column = term.column or (match.column if match else thing.column)
    return Thing(term, "free", "measure", column, "count_distinct")


def _goes_on(thing: Thing, term: Term, index: ColumnIndex) -> bool:
    """Whether a word only says what the measure before it is: 数学成绩, "tuition income"."""
    concept = term.concept
    if term.tag != "concept" or concept is None or concept.role != "measure":
        return False
    match = index.resolve(concept)
    is_own = match is not None and match.is_same
    return thing.kind == "measure" and not is_own


def _is_head(term: Term) -> bool:
    return term.tag == "concept" and term.concept is not None and term.concept.head


def _compound(term: Term, head: Term, terms: Sequence[Term], i: int, index: ColumnIndex) -> Thing:
    """Read two words of which the second leans on the first: "return rate", "customer name"."""
    whole = replace(term, text=_joined(term, head), stop=head.stop)
    place, concept = _place(terms, i), head.concept
    if concept is None or concept.role == "topic":
        return _thing(whole, place, index)
    match = index.resolve(concept, modifier=term.concept)
    own = column_of(term, index)
    if match and term.concept and term.concept.family in index.families(match.column):
        return _of_column(whole, place, match.column, index)
    if own and (index.averages(own) or index.roles[own] == "category"):
        return _of_column(whole, place, own, index)
    return Thing(replace(whole, concept=concept), place, "missing")


def _joined(left: Term, right: Term) -> str:
    return left.text + (" " if right.start > left.stop else "") + right.text


def _thing(term: Term, place: Place, index: ColumnIndex) -> Thing:
    if term.tag == "quoted":
        return Thing(term, place, "missing")
    if term.tag == "column" and term.column:
        return _of_column(term, place, term.column, index)
    concept = term.concept
    match = index.resolve(concept) if concept else None
    if concept and concept.role in ("person", "entity", "event"):
        # Of people the name serves comparing and the id counting; which is wanted shows later.
        if match and index.roles[match.column] == "measure":
            return _of_column(term, place, match.column, index)
        if concept.role == "event" and term.text.lower().endswith(_COUNT_ENDINGS):
            return _counted(term, index)
        return Thing(term, place, "countable", match.column if match else None)
    if match:
        return _of_column(term, place, match.column, index)
    return Thing(term, place, "missing")


def _of_column(term: Term, place: Place, column: str, index: ColumnIndex) -> Thing:
    role = index.roles[column]
    if role == "measure":
        return Thing(term, place, "measure", column)
    if role in ("date", "year"):
        return Thing(term, place, "date", column)
    if role in ("id", "text") and place == "free":
        return Thing(term, place, "countable", column)
    return Thing(term, "by" if term.data == "compared" else place, "category", column)


def _place(terms: Sequence[Term], i: int) -> Place:
    for j in range(i - 1, -1, -1):
        term = terms[j]
        if term.tag == "by":
            return "by"
        if term.is_slot:
            return "target"
        if term.tag == "and":  # "by region and product": both are grouped by
            k = next((k for k in range(j - 1, -1, -1) if terms[k].tag not in _TRANSPARENT), -1)
            listed = k >= 0 and terms[k].tag in ("column", "concept", "grain")
            return _place(terms, k) if listed and j == _before(terms, i) else "free"
        if term.tag not in _TRANSPARENT:
            return "free"
    return "free"


def _before(terms: Sequence[Term], i: int) -> int:
    return next((j for j in range(i - 1, -1, -1) if terms[j].tag not in _TRANSPARENT), -1)


def _stands_in_slot(terms: Sequence[Term], i: int) -> bool:
    """Whether an unread word stands where only the name of a column makes sense."""
    before = next((t for t in reversed(terms[:i]) if t.tag not in _TRANSPARENT[:-2]), None)
    if before is None or (len(terms[i].text) == 1 and not terms[i].text.isascii()):
        return False
    numbered = terms[i - 1].tag in ("digits", "number", "counter") or before.text.lower() == "top"
    return before.tag in ("by", "common") or (before.tag in ("best", "worst") and numbered)


def _is_half_a_name(terms: Sequence[Term], i: int) -> bool:
    """Whether an unknown word goes on with a name after "by": "by customer mood"."""
    term, after = terms[i], terms[i + 1] if i + 1 < len(terms) else None
    if term.tag != "concept" or after is None or after.tag != "word" or not after.text.isascii():
        return False
    return after.start - term.stop == 1 and _place(terms, i) == "by"


def _unread(terms: Sequence[Term], i: int, used: set[int], index: ColumnIndex) -> Thing:
    """Read up to three unknown words in a slot as one name, maybe a misspelt one."""
    whole = terms[i]
    for j in range(i + 1, min(i + 3, len(terms))):
        if terms[j].tag != "word":
            break
        whole = replace(whole, text=_joined(whole, terms[j]), stop=terms[j].stop)
        used.add(j)
    column = index.misspelt(whole.text)
    place = _place(terms, i)
    return _of_column(replace(whole, is_exact=False), place, column, index) if column else Thing(
        whole, place, "missing"
    )  # fmt: skip


def _count(
    terms: Sequence[Term], i: int, things: list[Thing], used: set[int], index: ColumnIndex
) -> Thing:
    """Read "number of customers", "how many orders", 订单数, 多少个门店, 人数."""
    term = terms[i]
    before = things[-1] if things and things[-1].term.stop == term.start else None
    persons_only = "人" in term.text
    if before and _can_be_counted(before, persons_only=persons_only):
        things.pop()
        return replace(_counted(before.term, index), term=before.term)
    for j in range(i + 1, len(terms)):
        other = terms[j]
        if other.tag in ("column", "concept") and _asks_distinct(terms, j):
            used.add(j)
            return _distinct(other, index) or _counted(other, index)
        if other.tag in ("column", "concept") and not persons_only:
            thing = _thing(other, _place(terms, i), index)
            if thing.kind in ("countable", "category"):
                used.add(j)
                return _counted(other, index)
            if thing.kind == "measure":
                used.add(j)
                return thing
            break
        if other.tag not in ("filler", "counter", "how", "mark"):
            break
    return Thing(term, "free", "measure", None, "count")


def _can_be_counted(thing: Thing, *, persons_only: bool) -> bool:
    role = thing.term.concept.role if thing.term.concept else ""
    if persons_only:
        return role in ("person", "event")
    return thing.kind == "countable" or (thing.kind == "category" and thing.place == "free")


def _counted(term: Term, index: ColumnIndex) -> Thing:
    """Return the measure that counts what a term names."""
    column, concept = term.column, term.concept
    if column is None and concept:
        match = index.resolve(concept, use="count")
        column = match.column if match and match.is_same else None
        if match and index.roles[match.column] == "measure":
            return Thing(term, "free", "measure", match.column)
    if column is not None:
        if index.identifies_rows(column):
            return Thing(term, "free", "measure", None, "count")
        return Thing(term, "free", "measure", column, "count_distinct")
    if concept and concept.role in ("event", "person"):
        return Thing(term, "free", "measure", None, "count")
    return Thing(term, "free", "missing")


def _is_remark(thing: Thing, *, is_wanted: bool) -> bool:
    """Whether a missing idea is only talk: "level", "what type of report".

    `is_wanted` says that the wish compares groups and names no other.
    """
    concept = thing.term.concept
    if thing.kind != "missing" or concept is None:
        return False
    if concept.role == "topic":
        return True
    if concept.head and thing.term.text.lower() in ("rate", "ratio", "percentage", "率", "比率"):
        return True
    return thing.place == "free" and (
        concept.role == "date" or (concept.role == "category" and not is_wanted)
    )


def _note_nearest(thing: Thing, index: ColumnIndex, subjects: Subjects) -> None:
    if thing.column is None:
        return
    if not thing.term.is_exact:
        subjects.nearest.append((thing.term, thing.column))
    elif thing.term.tag == "concept" and thing.term.concept:
        match = index.resolve(thing.term.concept)
        if match and not match.is_same and match.column == thing.column:
            subjects.nearest.append((thing.term, thing.column))


def _take_categories(
    things: Sequence[Thing], index: ColumnIndex, subjects: Subjects, *, is_ranking: bool
) -> None:
    named = [thing for thing in things if thing.kind == "measure"]
    for thing in things:
        if thing.kind == "category" or _is_grouping_measure(thing, named, index):
            _add_category(subjects, thing.column or "", thing.place)
    has_target = any(t.kind == "category" and t.place != "by" for t in things)
    for thing in things:
        if thing.kind != "countable" or thing.column is None:
            continue
        # "The agents with the fewest tickets": the agents are ranked, the tickets counted.
        if thing.place != "free" and not (is_ranking and has_target):
            _add_category(subjects, _comparable(thing, index), thing.place)


def _is_grouping_measure(thing: Thing, measures: Sequence[Thing], index: ColumnIndex) -> bool:
    """Whether numbers such as grades 1 to 5 group another measure: "salary by rating"."""
    if thing.kind != "measure" or thing.place != "by" or thing.column is None:
        return False
    few = index.columns[thing.column].distinct <= _FEW_ENOUGH_TO_GROUP
    return few and any(
        other.column != thing.column and other.term.start < thing.term.start for other in measures
    )


def _comparable(thing: Thing, index: ColumnIndex) -> str:
    match: Match | None = index.resolve(thing.term.concept) if thing.term.concept else None
    return thing.term.column or (match.column if match else thing.column or "")


def _add_category(subjects: Subjects, column: str, place: Place) -> None:
    if column not in subjects.categories:
        subjects.categories.append(column)
    if place == "by":
        subjects.grouped.add(column)


def _take_measures(
    things: Sequence[Thing], terms: Sequence[Term], index: ColumnIndex, subjects: Subjects
) -> None:
    for thing in things:
        if thing.kind != "measure" or thing.column in subjects.categories:
            continue
        how = thing.how or how_to_compute(thing.column or "", thing.term, terms, index)
        if how == "count":
            subjects.row_words.append(thing.term.text)
        measure = Measure(column=thing.column, how=how)
        if measure not in subjects.measures:
            subjects.measures.append(measure)
    if len(subjects.measures) > 1 and any(term.tag == "count" for term in terms):
        _drop_bare_counts(things, subjects)


def _drop_bare_counts(things: Sequence[Thing], subjects: Subjects) -> None:
    """Forget a "how many" that only repeats what was already counted: 用户数有多少."""
    bare = [t for t in things if t.how == "count" and t.term.tag == "count"]
    others = [t for t in things if t.kind == "measure" and t.term.tag != "count"]
    rows = Measure(column=None, how="count")
    if bare and others and not any(t.how == "count" for t in others) and rows in subjects.measures:
        subjects.measures.remove(rows)


def _take_countables(
    things: Sequence[Thing], index: ColumnIndex, subjects: Subjects, *, is_ranking: bool
) -> None:
    """Decide what orders, customers and visits are there for: to be counted or compared."""
    for thing in things:
        if thing.kind != "countable" or _comparable(thing, index) in subjects.categories:
            continue
        concept: Concept | None = thing.term.concept
        if thing.column is None and thing.place == "by" and not subjects.categories:
            continue  # nothing else is grouped, so this was meant to be
        if subjects.measures:
            lacks_category = is_ranking and not subjects.categories and thing.column
            if lacks_category and not (concept and concept.role == "event"):
                _add_category(subjects, _comparable(thing, index), thing.place)
            continue
        is_event = concept is not None and concept.role == "event"
        if is_ranking and not subjects.categories and thing.column and not is_event:
            _add_category(subjects, _comparable(thing, index), thing.place)
            continue
        counted = _counted(thing.term, index)
        if counted.kind == "measure":
            subjects.measures.append(Measure(column=counted.column, how=counted.how or "sum"))
            subjects.row_words += [thing.term.text] if counted.how == "count" else []


def _take_missing(things: Sequence[Thing], subjects: Subjects) -> None:
    for thing in things:
        concept = thing.term.concept
        unresolved = thing.kind == "countable" and thing.column is None and thing.place != "free"
        if unresolved and thing.term.text in subjects.row_words:
            continue  # "regions by orders": the orders were counted
        if thing.kind != "missing" and not unresolved:
            continue
        subjects.missing.append(thing.term)
        is_measure = (concept is not None and concept.role == "measure") or (
            concept is None and thing.place == "free"
        )
        if is_measure:
            subjects.missing_measure = True
        else:
            subjects.missing_category = True


def _date_hint(term: Term, index: ColumnIndex) -> str | None:
    if term.tag == "column" and term.column and index.roles[term.column] in ("date", "year"):
        return term.column
    if term.tag != "concept" or term.concept is None or term.concept.role == "date":
        return None
    dated = [
        name for name, role in index.roles.items()
        if role == "date" and index.speaks_of(name, term.concept)
    ]  # fmt: skip
    return dated[0] if len(dated) == 1 else None
