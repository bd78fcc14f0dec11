"""A measure by period: the query with its calendar, and which periods can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planloom.analysis.analyses.aggregation import Measure
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.analyses.naming import distinct_names
from planloom.analysis.analyses.periods import (
    GRAINS,
    INTERVALS,
    Grain,
    Seen,
    choose_grain,
    count_periods,
    incomplete_ends,
    label_sql,
    start_sql,
)
from planloom.analysis.database import identifier, literal
from planloom.errors import ToolError
from planloom.values import Column

_MOST_PERIODS = 10_000  # beyond, a wrong date is likelier than a real calendar of this length


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """How rows are put into periods."""

    base: str
    """Name of the analysed table."""
    date: Column
    measure: Measure
    grain: Grain
    starts: tuple[date, ...]
    """First days of the periods that have rows."""
    first_is_partial: bool
    last_is_partial: bool

    @property
    def comparable(self) -> tuple[date | None, date | None]:
        """First days of the first and the last complete period; (None, None) without any."""
        starts = self.starts[int(self.first_is_partial) : len(self.starts) - self.last_is_partial]
        return (starts[0], starts[-1]) if starts else (None, None)

    @property
    def names(self) -> tuple[str, str, str, str]:
        """The result columns: period, value, rows (the same as value when rows are counted)."""
        value, period, rows, change = distinct_names(self.measure.name, "period", "rows", "change")
        return period, value, value if self.measure.column is None else rows, change

    @property
    def fills_with_zero(self) -> bool:
        """A period without rows has a sum and a count of 0; a mean it has not."""
        return self.measure.how in {"sum", "count", "count_distinct"}

    def items(self, *more: str) -> str:
        """SQL for the rows with a date: first day of the period, what is aggregated, and more."""
        moment = identifier(self.date.name)
        columns = (f"{start_sql(moment, self.grain)} AS start", f"{self.measure.item} AS item")
        return (
            f"SELECT {', '.join((*columns, *more))} FROM {identifier(self.base)} "
            f"WHERE {moment} IS NOT NULL"
        )

    @property
    def calendar(self) -> str:
        """SQL for the first day of every period from the first to the last, also empty ones."""
        first, last = (self.starts[0], self.starts[-1]) if self.starts else (None, None)
        return (
            f"SELECT CAST(unnest(generate_series(CAST({literal(first)} AS TIMESTAMP), "
            f"CAST({literal(last)} AS TIMESTAMP), {INTERVALS[self.grain]})) AS DATE) AS start"
        )

    def query(self) -> str:
        """SQL for the result: period, value, rows with a value, change in percent.

        The change is to the period before; it is NULL where one of the two is incomplete, where
        the base is not above zero, and where the sign flips.
        """
        period, value, rows, change = (identifier(name) for name in self.names)
        counted = "" if self.measure.column is None else f"rows AS {rows}, "
        empty = "0" if self.fills_with_zero else "NULL"
        return (
            f"SELECT {label_sql('start', self.grain)} AS {period}, value AS {value}, {counted}"
            f"{self._change()} AS {change} FROM (SELECT start, CASE WHEN found.rows IS NULL "
            f"THEN {empty} ELSE found.value END AS value, coalesce(found.rows, 0) AS rows "
            f"FROM ({self.calendar}) AS calendar LEFT JOIN (SELECT start, "
            f"{self.measure.sql('item')} AS value, count(item) AS rows "
            f"FROM ({self.items()}) AS items GROUP BY start) AS found USING (start)) AS filled "
            "ORDER BY start"
        )

    def _change(self) -> str:
        first, last = self.comparable
        now, before = "CAST(value AS DOUBLE)", "lag(CAST(value AS DOUBLE)) OVER (ORDER BY start)"
        return (
            f"CASE WHEN start > CAST({literal(first)} AS DATE) "
            f"AND start <= CAST({literal(last)} AS DATE) AND {before} > 0 "
            f"AND {now} >= 0 THEN 100 * ({now} - {before}) / {before} END"
        )


def read_timeline(
    sheet: FactSheet, base: str, moment: Column, measure: Measure, grain: Grain | None
) -> Timeline:
    """Look at the dates and return the timeline; without `grain` the fitting one is chosen.

    Raises:
        ToolError: the dates span more periods of the grain than can be shown.
    """
    chosen = grain or _fitting_grain(sheet, base, moment)
    seen = _seen(sheet, base, moment, chosen)
    if seen:
        _check_length(seen, chosen, moment)
    first_is_partial, last_is_partial = incomplete_ends(seen, chosen)
    return Timeline(
        base=base,
        date=moment,
        measure=measure,
        grain=chosen,
        starts=tuple(each.start for each in seen),
        first_is_partial=first_is_partial,
        last_is_partial=last_is_partial,
    )


def _fitting_grain(sheet: FactSheet, base: str, moment: Column) -> Grain:
    day = identifier(moment.name)
    counts = ", ".join(f"count(DISTINCT {start_sql(day, grain)})" for grain in GRAINS)
    first, last, *filled = sheet.read(
        f"SELECT CAST(min({day}) AS DATE), CAST(max({day}) AS DATE), {counts} "
        f"FROM {identifier(base)}"
    )[0]
    if first is None:
        return "month"
    return choose_grain(first, last, dict(zip(GRAINS, filled, strict=True)))


def _seen(sheet: FactSheet, base: str, moment: Column, grain: Grain) -> list[Seen]:
    day = identifier(moment.name)
    rows = sheet.read(
        f"SELECT {start_sql(day, grain)}, CAST(min({day}) AS TIMESTAMP), "
        f"CAST(max({day}) AS TIMESTAMP) FROM {identifier(base)} WHERE {day} IS NOT NULL "
        "GROUP BY 1 ORDER BY 1"
    )
    # A day without times cannot be cut off: its moments are both midnight.
    whole_days = moment.type == "date"
    return [
        Seen(start=start, first=first, last=last.replace(hour=23) if whole_days else last)
        for start, first, last in rows
    ]


def _check_length(seen: Sequence[Seen], grain: Grain, moment: Column) -> None:
    first, last = seen[0].start, seen[-1].start
    length = count_periods(first, last, grain)
    if length > _MOST_PERIODS:
        raise ToolError(
            f"Column '{moment.name}' runs from {seen[0].first:%Y-%m-%d} to "
            f"{seen[-1].last:%Y-%m-%d}: {length:,} periods of one {grain}. "
            "Use a coarser grain, or check for wrong dates."
        )


@dataclass(frozen=True, kw_only=True)
class Point:
    """One row of the result."""

    period: str
    value: float | None
    is_complete: bool
    rows: int
    """Rows with a value; where there are none, a sum of 0 is a gap and no level."""


def read_points(sheet: FactSheet, timeline: Timeline, kept: str) -> list[Point]:
    """Return the periods in order, with what the findings need of them."""
    period, value, counted, _ = (identifier(name) for name in timeline.names)
    rows = sheet.read(
        f"SELECT {period}, CAST({value} AS DOUBLE), {counted} FROM {kept} ORDER BY {period}"
    )
    last = len(rows) - 1
    return [
        Point(
            period=label,
            value=number,
            is_complete=not (
                (position == 0 and timeline.first_is_partial)
                or (position == last and timeline.last_is_partial)
            ),
            rows=count,
        )
        for position, (label, number, count) in enumerate(rows)
    ]
