"""Understands a goal without a model: which analyses of which columns it asks for, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from planloom.notes import Lang, Note, Scalar
from planloom.planning.goals import remarks
from planloom.planning.goals.caveats import note_caveats, replace_shares_of_persons
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.dates import DateRange, find_ranges
from planloom.planning.goals.filters import Scope, range_filters, take_scope, value_filters
from planloom.planning.goals.intent import (
    AnalysisRequest,
    Filter,
    Measure,
    TableShape,
    Understanding,
)  # fmt: skip
from planloom.planning.goals.requests import Ledger, RequestMaker
from planloom.planning.goals.scanning import Scanner, Term
from planloom.planning.goals.wishes import Wish, read_wishes
from planloom.planning.goals.wording import fold, norms, tokenize

LONGEST_GOAL = 5000
"""Characters of a goal that are read."""


def understand(
    goal: str,
    profile: TableShape,
    *,
    today: date,
    values: Mapping[str, Sequence[Scalar]] | None = None,
) -> Understanding:
    """Return what `goal`, in English or Chinese, asks of a table with this profile.

    Columns that the goal names win; words of the same meaning come next, in either language.
    What the data does not hold is listed in `unknown`, never replaced in silence; what the goal
    leaves open is chosen and listed in `assumptions`. The same input always gives the same result.
    `today` anchors words such as "last month". A profile lists only the commonest values of a
    column; `values` may give all of them, so that "only Leeds" is known to be a warehouse.
    """
    text = goal[:LONGEST_GOAL]
    index = ColumnIndex(profile)
    terms = Scanner(index, values or {}).scan(text, _ranges(text, today, index))
    scope = take_scope(terms, index)
    wishes = read_wishes(scope.terms, index)
    maker = RequestMaker(
        index,
        wishes,
        unwanted_kinds=frozenset(scope.unwanted_kinds),
        unwanted_columns=frozenset(scope.unwanted_columns),
        filtered=frozenset(name for name, values in scope.kept.items() if len(values) == 1),
    )
    ledger = maker.make()
    is_general = not _says_anything(terms, wishes, scope, index)
    if is_general:
        _note_strangers(terms, index, ledger)
    _fill_up(maker, wishes, ledger, is_general=is_general, is_empty=not text.strip())
    scope.ranges = _with_base_year(scope, terms, maker.date, ledger, text)
    filters = _filters(scope, maker.date, index, ledger, text)
    replace_shares_of_persons(ledger, index, is_limited=bool(scope.limits))
    note_caveats(terms, index, ledger, text)
    if filters and len(ledger.analyses) > 1:
        ledger.assume(remarks.FILTER_FOR_ALL)
    if len(goal) > LONGEST_GOAL:
        ledger.miss(remarks.GOAL_CUT)
    return Understanding(
        lang=language_of(text, terms),
        date=next((a.date for a in ledger.analyses if a.date), maker.date),
        measures=_measures(ledger.analyses),
        categories=_categories(ledger.analyses),
        analyses=tuple(ledger.analyses),
        filters=filters,
        understood=(*_words_read(terms, ledger, index), *map(remarks.request_note, ledger.analyses),
                    *map(remarks.filter_note, filters)),
        assumptions=tuple(ledger.assumptions),
        unknown=tuple(ledger.unknown),
        is_general=is_general,
    )  # fmt: skip


def _ranges(text: str, today: date, index: ColumnIndex) -> list[DateRange]:
    """Return the spans of time in a goal; a column may be called "Q1" or 12月 and is meant then."""
    return [
        r for r in find_ranges(fold(text), today)
        if not (r.month and norms(text[r.start : r.stop]) in index.by_name)
    ]  # fmt: skip


def language_of(goal: str, terms: Sequence[Term] = ()) -> Lang:
    """Return the language of a goal; names and values of the data do not count.

    >>> language_of("Show 销售额 by month"), language_of("分析 sales 的趋势")
    ('en', 'zh')
    """
    named = [term for term in terms if term.tag in ("column", "value", "quoted")]
    spans = [(term.start, term.stop) for term in named]
    counts = {False: 0, True: 0}
    for pass_spans in (spans, []):  # a goal of nothing but names is judged by the names
        for token in tokenize(goal):
            if not any(start <= token.start < stop for start, stop in pass_spans) and (
                token.is_han or token.is_word
            ):
                counts[token.is_han] += 1
        if any(counts.values()):
            break
    # An English word is worth about two Chinese characters.
    return "zh" if counts[True] >= 2 * counts[False] and counts[True] else "en"


def _says_anything(
    terms: Sequence[Term], wishes: Sequence[Wish], scope: Scope, index: ColumnIndex
) -> bool:
    if scope.kept or scope.dropped or scope.ranges or scope.limits or scope.unclear:
        return True
    if any(
        wish.kind or wish.subjects.measures or wish.subjects.categories or wish.unsupported
        for wish in wishes
    ):
        return True
    # "Analyse this data" is understood; "sales report" is not where nothing is sold.
    return any(term.tag == "vague" for term in terms) and not _strangers(terms, index)


def _strangers(terms: Sequence[Term], index: ColumnIndex) -> list[Term]:
    """Return the subjects of a goal that the table knows nothing of."""
    return [
        term
        for term in terms
        if term.tag == "concept"
        and term.concept is not None
        and term.concept.role not in ("topic", "date", "event")
        and index.resolve(term.concept) is None
    ]


def _note_strangers(terms: Sequence[Term], index: ColumnIndex, ledger: Ledger) -> None:
    for term in _strangers(terms, index):
        ledger.miss(remarks.no_such_column(term.text, index.nearest(term.text)))


def _fill_up(
    maker: RequestMaker, wishes: Sequence[Wish], ledger: Ledger, *, is_general: bool, is_empty: bool
) -> None:
    """Give the usual set of analyses where the goal asks for none that can be made."""
    if ledger.analyses:
        return
    if is_empty:
        ledger.assume(remarks.NO_GOAL)
    elif is_general:
        ledger.miss(remarks.GENERAL)
    elif ledger.unknown:
        ledger.assume(remarks.REPLACED)
    else:
        ledger.assume(remarks.WIDE_GOAL)
    topics = [wish for wish in wishes if wish.subjects.measures or wish.subjects.categories]
    maker.make_usual_set(topics[0] if topics else None)


_YEAR_OVER_YEAR = ("同比", "year over year", "year on year", "yoy", "year-over-year",
                   "year-on-year")  # fmt: skip


def _with_base_year(
    scope: Scope, terms: Sequence[Term], time: str | None, ledger: Ledger, goal: str
) -> list[DateRange]:  # fmt: skip
    """Return the spans of time, with the year before where a trend is compared with it."""
    if time is None or not any(term.text.lower() in _YEAR_OVER_YEAR for term in terms):
        return scope.ranges
    only_trends = all(analysis.kind == "trend" for analysis in ledger.analyses)
    widened: list[DateRange] = []
    for r in scope.ranges:
        is_short = r.first and r.end and (r.end - r.first).days <= 366
        if is_short and r.first and only_trends:
            first = r.first.replace(year=r.first.year - 1, day=min(r.first.day, 28))
            ledger.assume(remarks.base_year_kept(goal[r.start : r.stop], first.isoformat()))
            widened.append(replace(r, first=first))
            continue
        if is_short:
            ledger.miss(remarks.no_base_year(goal[r.start : r.stop]))
        widened.append(r)
    return widened


def _filters(
    scope: Scope, time: str | None, index: ColumnIndex, ledger: Ledger, goal: str
) -> tuple[Filter, ...]:
    filters = list(value_filters(scope))
    for word, column in scope.pass_marks:
        ledger.assume(remarks.pass_mark(word, column))
    for words in scope.loose_limits:
        ledger.miss(remarks.no_column_for_limit(words))
    for words in scope.unread_limits:
        ledger.miss(remarks.unread_condition(words))
    for words in scope.unclear:
        ledger.miss(remarks.unclear_negation(words))
    for word in scope.missing_values:
        ledger.miss(remarks.no_such_value(word))
    for r in scope.ranges:
        if time is None:
            ledger.miss(remarks.NO_DATE)
            continue
        column = index.columns[time]
        found = range_filters(r, column)
        if found is None:
            ledger.miss(
                remarks.no_data_in_span(
                    goal[r.start : r.stop], time, str(column.min)[:10], str(column.max)[:10]
                )
            )
        if found and r.month:
            ledger.assume(_year_note(r, found, goal))
        filters += [item for item in found or () if item not in filters]
    return tuple(filters)


def _year_note(r: DateRange, found: Sequence[Filter], goal: str) -> Note:
    days = [date.fromisoformat(str(item.value)) for item in found if isinstance(item.value, str)]
    last = days[-1] - timedelta(days=1) if days else found[-1].value
    first = days[0] if days else found[0].value
    return remarks.year_chosen(goal[r.start : r.stop], str(first), str(last))


def _words_read(terms: Sequence[Term], ledger: Ledger, index: ColumnIndex) -> list[Note]:
    """Say which words were taken for columns of another name."""
    used = {*_categories(ledger.analyses), *(m.column for m in _measures(ledger.analyses))}
    notes: list[Note] = []
    for term in terms:
        if term.tag != "concept" or term.concept is None:
            continue
        match = index.resolve(term.concept)
        if match and match.is_same and match.column in used:
            note = remarks.word_read_as(term.text, match.column)
            if fold(term.text) != fold(match.column) and note not in notes:
                notes.append(note)
    return notes


def _measures(analyses: Sequence[AnalysisRequest]) -> tuple[Measure, ...]:
    return tuple(dict.fromkeys(Measure(column=a.measure, how=a.how) for a in analyses))


def _categories(analyses: Sequence[AnalysisRequest]) -> tuple[str, ...]:
    named = (name for a in analyses for name in (a.category, a.by))
    return tuple(dict.fromkeys(name for name in named if name is not None))
