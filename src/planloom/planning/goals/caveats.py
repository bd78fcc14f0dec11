"""What holds for the analyses only with a caveat: sums of columns, "per person", namesakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from planloom.planning.goals import remarks
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.concepts import concepts_in
from planloom.planning.goals.filters import column_of
from planloom.planning.goals.requests import Ledger
from planloom.planning.goals.scanning import Term
from planloom.planning.goals.wording import fold, norms

_PLUS = frozenset({"+", "＋", "plus", "加", "加上"})
_TOGETHER = ("之和", "合计", "相加", "加起来", "加总", "总和", "combined", "added up")
_LESS = frozenset({"减", "减去", "减掉", "minus"})
_PER_PERSON = frozenset({"人均", "per capita"})
_PERSON_ID_WORDS = (
    "学号",
    "工号",
    "考号",
    "准考证",
    "身份证",
    "社保号",
    "badge",
    "staff",
    "emp id",
)


def note_caveats(terms: Sequence[Term], index: ColumnIndex, ledger: Ledger, goal: str) -> None:
    """Add to the ledger what holds for these analyses only with a caveat."""
    _note_arithmetic(terms, index, ledger, fold(goal))
    _note_per_person(terms, index, ledger)
    _note_namesakes(index, ledger)


def _note_arithmetic(terms: Sequence[Term], index: ColumnIndex, ledger: Ledger, goal: str) -> None:
    named = [
        (term, column)
        for term in terms
        if (column := column_of(term, index)) and index.roles[column] == "measure"
    ]
    for (left, first), (right, second) in pairwise(named):
        between = goal[left.stop : right.start].strip()
        is_list = between in ("和", "与", "及", "、", "以及", "and", "&")
        joined = between in _PLUS or (is_list and _said_together(goal[right.stop :]))
        if first != second and (joined or between in _LESS):
            ledger.miss(remarks.no_arithmetic(first, second))


def _said_together(after: str) -> bool:
    return after.strip().removeprefix("的").strip().startswith(_TOGETHER)


def _note_per_person(terms: Sequence[Term], index: ColumnIndex, ledger: Ledger) -> None:
    """Say what "per person" is taken to mean: a mean of rows is one of persons only sometimes."""
    word = next((t.text for t in terms if t.tag == "how" and t.text.lower() in _PER_PERSON), None)
    if word is None or not any(a.how == "mean" for a in ledger.analyses):
        return
    persons = [name for name in index.columns if _identifies_person(name, index)]
    if any(index.identifies_rows(name) for name in persons):
        return
    if persons:
        ledger.miss(remarks.mean_per_row_not_person(word, persons[0]))
    else:
        ledger.assume(remarks.row_is_person(word))


def _identifies_person(name: str, index: ColumnIndex) -> bool:
    roles = {concept.role for concept, _ in concepts_in(norms(name))}
    return (index.roles[name] in ("id", "category", "text") and "person" in roles) or any(
        word in fold(name) for word in _PERSON_ID_WORDS
    )


def _note_namesakes(index: ColumnIndex, ledger: Ledger) -> None:
    for request in ledger.analyses:
        name = request.category or request.by
        if name is None or not _is_person_name(name, index):
            continue
        for other, column in index.columns.items():
            is_id = index.roles[other] == "id" and _identifies_person(other, index)
            if is_id and _same_person(name, other, index) and (
                column.distinct > index.columns[name].distinct
            ):  # fmt: skip
                ledger.assume(remarks.namesakes(name, other))
                break


def _is_person_name(name: str, index: ColumnIndex) -> bool:
    concepts = [concept for concept, _ in concepts_in(norms(name))]
    is_person = any(concept.role == "person" for concept in concepts)
    is_name = bool(concepts) and all(concept.name == "name" for concept in concepts)
    return index.roles[name] != "id" and (is_person or is_name)


def _same_person(name: str, other: str, index: ColumnIndex) -> bool:
    """Whether name and number may be of one person: not those of a doctor and of a patient."""
    left, right = index.families(name) - {"name"}, index.families(other) - {"name"}
    return not left or not right or bool(left & right)


def replace_shares_of_persons(ledger: Ledger, index: ColumnIndex, *, is_limited: bool) -> None:
    """Give an overview where a goal asks what share of persons meets a condition."""
    if not is_limited:
        return
    for i, request in enumerate(ledger.analyses):
        category = request.category
        if request.kind != "share" or category is None:
            continue
        if _is_person_name(category, index) or _identifies_person(category, index):
            ledger.miss(remarks.NO_SHARE_OF_CONDITION)
            ledger.analyses[i] = replace(request, kind="overview", category=None, top=None)
    if all(request.kind != "share" for request in ledger.analyses):
        ledger.assumptions[:] = [n for n in ledger.assumptions if n != remarks.CASES_COUNTED]
    ledger.analyses[:] = dict.fromkeys(ledger.analyses)
