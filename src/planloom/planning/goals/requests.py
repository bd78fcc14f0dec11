"""Turns the wishes of a goal into analyses with every choice made, and says what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from planloom.notes import Note
from planloom.planning.goals import remarks
from planloom.planning.goals.choices import (
    fitting_grain,
    main_categories,
    main_date,
    main_measure,
    ranking_category,
)  # fmt: skip
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.intent import AnalysisRequest, Grain, Measure
from planloom.planning.goals.vocabulary import UNSUPPORTED
from planloom.planning.goals.wishes import Wish

_FULL_RANKING = 20
"""A comparison of up to so many values shows all of them."""
_CUT_RANKING = 10


@dataclass(slots=True)
class Ledger:
    """The analyses decided on so far, with the remarks they gave rise to."""

    analyses: list[AnalysisRequest] = field(default_factory=list[AnalysisRequest])
    assumptions: list[Note] = field(default_factory=list[Note])
    unknown: list[Note] = field(default_factory=list[Note])

    def assume(self, note: Note) -> None:
        """Add an assumption once."""
        if note not in self.assumptions:
            self.assumptions.append(note)

    def miss(self, note: Note) -> None:
        """Add something that cannot be had, once."""
        if note not in self.unknown:
            self.unknown.append(note)

    def add(self, request: AnalysisRequest) -> None:
        """Add an analysis once."""
        if request not in self.analyses:
            self.analyses.append(request)


class RequestMaker:
    """Makes the analyses of one goal over one table."""

    def __init__(
        self,
        index: ColumnIndex,
        wishes: Sequence[Wish],
        *,
        unwanted_kinds: frozenset[str] = frozenset(),
        unwanted_columns: frozenset[str] = frozenset(),
        filtered: frozenset[str] = frozenset(),
    ):
        self.ledger = Ledger()
        self._index = index
        self._wishes = wishes
        self._unwanted_kinds = unwanted_kinds
        self._unwanted_columns = unwanted_columns
        # A column with one value left tells no groups apart.
        self._ungroupable = unwanted_columns | filtered
        self._main = main_measure(index, unwanted=unwanted_columns)

    @property
    def date(self) -> str | None:
        """The time column: the one a wish names, else the best."""
        hints = [wish.subjects.date for wish in self._wishes if wish.subjects.date]
        return hints[0] if hints else main_date(self._index)

    def make(self) -> Ledger:
        """Return the analyses that the wishes ask for, in order."""
        for position, wish in enumerate(self._wishes):
            self._note(wish)
            if wish.kind and not self._is_blocked(wish):
                self._make(wish, position)
        return self.ledger

    def _note(self, wish: Wish) -> None:
        for key in wish.unsupported:
            self.ledger.miss(UNSUPPORTED[key][1])
        for term in wish.subjects.missing:
            self.ledger.miss(remarks.no_such_column(term.text, self._index.nearest(term.text)))
        for term, column in wish.subjects.nearest:
            self.ledger.assume(remarks.nearest_taken(term.text, column))
        for word in wish.subjects.row_words:
            if wish.subjects.measures and self._is_word_for_rows(word):
                self.ledger.assume(remarks.row_is(word))

    def _is_word_for_rows(self, word: str) -> bool:
        return bool(word) and not any(
            self._index.identifies_rows(name) for name in self._index.columns
        )

    def _is_blocked(self, wish: Wish) -> bool:
        """Whether the wish rests on something the data does not hold."""
        subjects = wish.subjects
        if wish.unsupported and not (wish.kind == "trend" and wish.grain is not None):
            return set(wish.unsupported) != {"hourly"}
        if subjects.missing_measure and not subjects.measures:
            return True
        return subjects.missing_category and not subjects.categories and wish.kind in (
            "share", "ranking",
        )  # fmt: skip

    def _make(self, wish: Wish, position: int) -> None:
        measures = self._measures(wish, position)
        if wish.asks_overview:
            self._overview(measures)
        match wish.kind:
            case "trend":
                self._trend(wish, measures)
            case "share":
                self._grouped(wish, measures, position)
            case "ranking":
                self._grouped(wish, measures, position)
            case _:
                self._overview(measures)

    def _measures(self, wish: Wish, position: int) -> tuple[Measure, ...]:
        """Return the measures a wish names, or that its neighbours name, or the main one."""
        if wish.subjects.measures:
            self._explain_averages(wish.subjects.measures, wish)
            return tuple(wish.subjects.measures)
        if wish.counts:
            return (Measure(column=None, how="count"),)
        for other in (*reversed(self._wishes[:position]), *self._wishes[position + 1 :]):
            if other.subjects.measures:
                return (self._with_how(other.subjects.measures[0], wish),)
            if other.counts:
                return (Measure(column=None, how="count"),)
        measure = self._default_measure(wish)
        if measure.column or self._main.column is None:
            self.ledger.assume(remarks.measure_chosen(measure))
        else:
            self.ledger.assume(remarks.CASES_COUNTED)
        self._explain_averages([measure], wish)
        return (measure,)

    def _default_measure(self, wish: Wish) -> Measure:
        # Of something that is so or not so, such as "returned", the cases are counted.
        flags = [n for n in wish.subjects.categories if self._index.columns[n].meaning == "flag"]
        if wish.kind == "share" and (self._main.how == "mean" or flags):
            return Measure(column=None, how="count")
        return self._with_how(self._main, wish)

    def _with_how(self, measure: Measure, wish: Wish) -> Measure:
        if wish.how is None or measure.column is None or measure.how == "count_distinct":
            return measure
        return Measure(column=measure.column, how=wish.how)

    def _explain_averages(self, measures: Sequence[Measure], wish: Wish) -> None:
        for measure in measures:
            if measure.how == "mean" and wish.how != "mean" and measure.column:
                self.ledger.assume(remarks.averaged(measure.column))

    def _overview(self, measures: Sequence[Measure]) -> None:
        for measure in measures:
            self._add(AnalysisRequest(kind="overview", measure=measure.column, how=measure.how))

    def _trend(self, wish: Wish, measures: Sequence[Measure]) -> None:
        date = wish.subjects.date or self.date
        if date is None:
            self.ledger.miss(remarks.NO_DATE)
            return
        grain = self._grain(wish, date)
        grouped = [name for name in wish.subjects.categories if name in wish.subjects.grouped]
        for measure in measures:
            for by in grouped or [None]:
                self._add(
                    AnalysisRequest(
                        kind="trend", measure=measure.column, how=measure.how, date=date,
                        grain=grain, by=by,
                    )
                )  # fmt: skip

    def _grain(self, wish: Wish, date: str) -> Grain:
        if self._index.roles[date] == "year":
            return "year"
        if wish.grain:
            return wish.grain
        grain = fitting_grain(self._index.columns[date])
        self.ledger.assume(remarks.grain_chosen(grain))
        return grain

    def _grouped(self, wish: Wish, measures: Sequence[Measure], position: int) -> None:
        if wish.grain:
            self.ledger.miss(remarks.ranking_over_all_periods(wish.grain))
        categories = self._categories(wish, position)
        if not categories:
            self.ledger.miss(remarks.NO_CATEGORY)
        for measure in measures:
            for category in categories:
                self._compare(wish, measure, category)

    def _compare(self, wish: Wish, measure: Measure, category: str) -> None:
        if wish.kind == "share" and measure.how not in ("sum", "count", "count_distinct"):
            self.ledger.assume(remarks.no_share_of_average(measure.column or "", category))
        elif wish.kind == "share":
            self._add(
                AnalysisRequest(kind="share", measure=measure.column, how=measure.how,
                                category=category, top=wish.top)
            )  # fmt: skip
            return
        self._add(
            AnalysisRequest(
                kind="ranking", measure=measure.column, how=measure.how, category=category,
                top=wish.top or self._top(category), ascending=wish.ascending,
            )
        )  # fmt: skip

    def _top(self, category: str) -> int | None:
        if self._index.columns[category].distinct <= _FULL_RANKING:
            return None
        self.ledger.assume(remarks.top_chosen(category, _CUT_RANKING))
        return _CUT_RANKING

    def _categories(self, wish: Wish, position: int) -> tuple[str, ...]:
        if wish.subjects.categories:
            return tuple(wish.subjects.categories)
        others = (*reversed(self._wishes[:position]), *self._wishes[position + 1 :])
        for other in others:
            if other.subjects.categories:
                return (other.subjects.categories[0],)
        best = main_categories(self._index, unwanted=self._ungroupable)[:1]
        for name in best:
            self.ledger.assume(remarks.category_chosen(name))
        return best

    def _add(self, request: AnalysisRequest) -> None:
        if request.kind not in self._unwanted_kinds:
            self.ledger.add(request)

    def make_usual_set(self, topic: Wish | None = None) -> Ledger:
        """Return overview, trend, share and ranking of the goal's topic, as far as possible."""
        measures = topic.subjects.measures if topic else []
        measure = measures[0] if measures else self._main
        if not measures:
            self.ledger.assume(remarks.measure_chosen(measure))
        if measure.how == "mean" and measure.column:
            self.ledger.assume(remarks.averaged(measure.column))
        named = list(topic.subjects.categories) if topic else []
        self._overview([measure])
        self._usual_trend(measure)
        self._usual_groups(measure, named)
        return self.ledger

    def _usual_trend(self, measure: Measure) -> None:
        date = self.date
        if date is None:
            return
        grain = fitting_grain(self._index.columns[date])
        others = [
            name for name, role in self._index.roles.items() if role == "date" and name != date
        ]
        if others:
            self.ledger.assume(remarks.date_chosen(date, others))
        self._add(
            AnalysisRequest(
                kind="trend", measure=measure.column, how=measure.how, date=date, grain=grain
            )
        )

    def _usual_groups(self, measure: Measure, named: Sequence[str]) -> None:
        best = main_categories(self._index, unwanted=self._ungroupable)
        share = next(iter((*named, *best)), None)
        if share is None:
            return
        counted = Measure(column=None, how="count")
        part = measure if measure.how in ("sum", "count", "count_distinct") else counted
        self._add(AnalysisRequest(kind="share", measure=part.column, how=part.how, category=share))
        ranked = named[0] if named else ranking_category(self._index, share, self._ungroupable)
        if ranked:
            if not named:
                self.ledger.assume(remarks.category_chosen(share))
            self._add(
                AnalysisRequest(kind="ranking", measure=measure.column, how=measure.how,
                                category=ranked, top=self._top(ranked))
            )  # fmt: skip
