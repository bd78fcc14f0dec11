"""Settles what a model left open in its choices, and tells how the goal was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from planloom.notes import Note
from planloom.planning.constrained.choosing import Chosen
from planloom.planning.constrained.doubts import NEEDLESS_TREND
from planloom.planning.constrained.reading import measures_of
from planloom.planning.goals import remarks
from planloom.planning.goals.choices import fitting_grain, main_date
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.intent import AnalysisRequest, Filter, TableShape, Understanding

_FULL_RANKING = 20
_CUT_RANKING = 10
_OF_ROWS = tuple(
    make("").en
    for make in (
        remarks.no_such_value, remarks.unclear_negation, remarks.no_column_for_limit,
        remarks.unread_condition,
    )
)  # fmt: skip
"""Remarks of the rules on conditions; a model that chose rows has understood more."""


def understanding_of(chosen: Chosen, table: TableShape, rules: Understanding) -> Understanding:
    """Return a model's choices as an understanding of the goal.

    What the goal asks for and nobody can make (`rules.unknown`) stays said, unless the model's
    choice shows that it was understood after all.
    """
    index = ColumnIndex(table)
    filters = tuple(
        f
        for f in chosen.choices.filters
        if not _keeps_all(f, index) and not _takes_one_of_all(f, chosen, index, rules)
    )
    assumptions: list[Note] = []
    analyses = tuple(
        dict.fromkeys(
            _settled(request, index, filters, assumptions)
            for request in _as_both_read(_as_said(chosen), chosen, rules)
        )
    )
    dates = [request.date for request in analyses if request.date]
    if chosen.offer.left_out:
        assumptions.append(columns_left_out(chosen.offer.left_out))
    if filters and len(analyses) + len(chosen.choices.others) > 1:
        assumptions.append(remarks.FILTER_FOR_ALL)
    categories = (name for a in analyses for name in (a.category, a.by))
    return Understanding(
        lang=rules.lang,
        date=dates[0] if dates else main_date(index),
        measures=measures_of(analyses),
        categories=tuple(dict.fromkeys(name for name in categories if name is not None)),
        analyses=analyses,
        others=chosen.choices.others,
        filters=filters,
        understood=(
            *map(remarks.request_note, analyses),
            *(other_note(other.tool) for other in chosen.choices.others),
            *map(remarks.filter_note, filters),
        ),
        assumptions=_once(assumptions),
        unknown=tuple(note for note in rules.unknown if not _is_answered(note, filters)),
    )


def _as_said(chosen: Chosen) -> Iterator[AnalysisRequest]:
    """Yield the analyses with what the goal says plainly: how many, and for which of them."""
    requests, offer = chosen.choices.analyses, chosen.offer
    grouped = {request.category for request in requests}
    rankings = [request for request in requests if request.kind == "ranking"]
    for request in requests:
        if len(rankings) == 1 and request.kind == "ranking" and request.top is None:
            yield replace(request, top=offer.top)
        elif request.by and request.by in grouped and request.by not in offer.one_by_one:
            # The goal speaks of the group for the other analysis only.
            yield replace(request, by=None)
        else:
            yield request


def _as_both_read(
    requests: Iterable[AnalysisRequest], chosen: Chosen, rules: Understanding
) -> Iterator[AnalysisRequest]:
    """Yield the analyses, where the rules read plainly what the model was asked about in vain.

    That is an average that became a sum, and a trend in a goal that speaks of no time.
    """
    given = tuple(requests)
    by_rules = {_place(request): request for request in rules.analyses}
    is_needless = NEEDLESS_TREND in chosen.left and all(r.kind != "trend" for r in rules.analyses)
    is_shared = any(request.kind != "trend" and _place(request) in by_rules for request in given)
    for request in given:
        read = by_rules.get(_place(request))
        if request.how == "sum" and read and read.how in {"mean", "median"}:
            yield replace(request, how=read.how)
        elif request.kind != "trend" or not (is_needless and is_shared):
            yield request


def _place(request: AnalysisRequest) -> tuple[str, str | None, str | None, str | None]:
    return request.kind, request.measure, request.category, request.date


def _takes_one_of_all(
    item: Filter, chosen: Chosen, index: ColumnIndex, rules: Understanding
) -> bool:
    """Say whether one value is kept where the goal names all: "between members and guests"."""
    leaves_out = any(
        f.column == item.column and f.comparison in {"!=", "not in"} for f in rules.filters
    )
    if item.comparison != "=" or leaves_out:
        return False
    rows = (row for row in chosen.offer.rows if row.column == item.column and row.is_named)
    return any(len(row.values) >= index.columns[item.column].distinct > 1 for row in rows)


def _keeps_all(item: Filter, index: ColumnIndex) -> bool:
    """Say whether a restriction names every value there is: "online and offline" is no choice."""
    column = index.columns[item.column]
    every = isinstance(item.value, tuple) and len(item.value) >= column.distinct
    return item.comparison == "in" and every


def _settled(
    request: AnalysisRequest,
    index: ColumnIndex,
    filters: Sequence[Filter],
    assumptions: list[Note],
) -> AnalysisRequest:
    if request.by and request.by in {f.column for f in filters if f.comparison == "="}:
        request = replace(request, by=None)  # one value is left: one line
    if request.kind == "trend" and request.date is not None:
        return _with_grain(request, index, assumptions)
    if request.kind != "ranking" or request.top is not None or request.category is None:
        return request
    if index.columns[request.category].distinct <= _FULL_RANKING:
        return request
    assumptions.append(remarks.top_chosen(request.category, _CUT_RANKING))
    return replace(request, top=_CUT_RANKING)


def _with_grain(
    request: AnalysisRequest, index: ColumnIndex, assumptions: list[Note]
) -> AnalysisRequest:
    column = index.columns[str(request.date)]
    if index.roles[column.name] == "year":
        return replace(request, grain="year")
    if request.grain is not None:
        return request
    grain = fitting_grain(column)
    assumptions.append(remarks.grain_chosen(grain))
    return replace(request, grain=grain)


def _is_answered(note: Note, filters: Sequence[Filter]) -> bool:
    if note == remarks.GENERAL:
        return True
    return bool(filters) and note.en in _OF_ROWS


def _once(notes: Sequence[Note]) -> tuple[Note, ...]:
    return tuple(note for i, note in enumerate(notes) if note not in notes[:i])


def columns_left_out(count: int) -> Note:
    """Say that a wide table was offered in part."""
    return Note(
        "The table is wide; the model chose among its most relevant columns, and {count} others "
        "were not offered.",
        "表的列较多，只向模型提供了最相关的列，其余 {count} 列未提供。",
        {"count": str(count)},
    )


def other_note(tool: str) -> Note:
    """Say that an analysis by a further tool will be made."""
    return Note("Analysis by {tool}.", "使用 {tool} 进行分析。", {"tool": tool})
