"""How a measure moves over time."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import duckdb

from planloom.analysis.analyses.aggregation import How, find_aggregate
from planloom.analysis.analyses.assembly import ResultTable, assemble
from planloom.analysis.analyses.columns import date_columns, find_column, find_date
from planloom.analysis.analyses.course import Course
from planloom.analysis.analyses.fact_ids import prefix, segment
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.analyses.grain_words import GRAIN_WORDS, period_heading
from planloom.analysis.analyses.labels import ROWS
from planloom.analysis.analyses.periods import Grain
from planloom.analysis.analyses.timeline import Timeline, read_points, read_timeline
from planloom.analysis.analyses.trend_cautions import trend_cautions
from planloom.analysis.analyses.trend_findings import trend_findings
from planloom.analysis.analyses.trend_series import Series, find_series, series_findings
from planloom.analysis.database import connect
from planloom.analysis.results import Analysis, ChartSpec
from planloom.errors import ToolError
from planloom.notes import Note
from planloom.values import TableRef


def trend(
    table: TableRef,
    *,
    date: str,
    value: str | None = None,
    how: How = "sum",
    grain: Literal["auto", "day", "week", "month", "quarter", "year"] = "auto",
    by: str | None = None,
    out: Path,
) -> Analysis:
    """Return a measure by period, oldest first; without `value` rows are counted.

    Every period between the first and the last is in the table. In one without rows a sum or count
    is 0; a mean, median, minimum or maximum is missing. A first or last period that the data
    covers only in part stays in the table and out of all comparisons. With `by`, each of the
    largest categories has a column of its own and the others one together. Rows without a date
    are left out; weeks begin on Monday and are numbered as in ISO 8601.

    Raises:
        ToolError: a column is missing or does not fit, or the dates span too many periods.
    """
    if grain != "auto" and grain not in get_args(Grain):
        raise ToolError(f"grain='{grain}' is unknown. Use auto, {', '.join(get_args(Grain))}.")
    out.mkdir(parents=True, exist_ok=True)
    with connect(table, writable=out) as connection:
        measure = find_aggregate(connection, table, value, how)
        moment = find_date(table, date)
        category = None if by is None else find_column(table, by)
        reader = FactSheet(connection, prefix="", base=table.name)
        timeline = read_timeline(
            reader, table.name, moment, measure, None if grain == "auto" else grain
        )
        sheet = FactSheet(connection, prefix=_prefix(table, timeline, by), base=table.name)
        source = sheet.keep(timeline.query(), "_periods")
        course = Course(
            sheet=sheet,
            timeline=timeline,
            source=source,
            points=tuple(read_points(sheet, timeline, source.kept)),
        )
        findings = trend_findings(course)
        series = None if category is None else find_series(sheet, timeline, category)
        if series is not None:
            findings += series_findings(series, course)
        return _assembled(connection, course, series, findings, out)


def _prefix(table: TableRef, timeline: Timeline, by: str | None) -> str:
    several = len(date_columns(table)) > 1
    options = (f"on-{segment(timeline.date.name)}",) if several else ()
    if by is not None:
        options += (f"by-{segment(by)}",)
    return prefix("trend", table.name, timeline.measure.id_part, *options, timeline.grain)


def _assembled(
    connection: duckdb.DuckDBPyConnection,
    course: Course,
    series: Series | None,
    findings: list[Note],
    out: Path,
) -> Analysis:
    timeline = course.timeline
    title = GRAIN_WORDS[timeline.grain].title(timeline.measure)
    if series is not None:
        title = series.title(title)
    return assemble(
        connection,
        _result(timeline) if series is None else series.result(),
        out=out,
        title=title,
        sheet=course.sheet,
        findings=findings,
        cautions=trend_cautions(course),
        chart=_chart(course, series, title),
    )


def _result(timeline: Timeline) -> ResultTable:
    period, value, rows, change = timeline.names
    return ResultTable(
        kind="trend",
        base=timeline.base,
        query=timeline.query(),
        headings={
            period: period_heading(timeline.grain),
            rows: ROWS,
            value: timeline.measure.heading(),
            change: Note("Change", "环比"),
        },
        keys=(period,),
        units={period: timeline.grain, value: timeline.measure.unit, change: "%"},
    )


def _chart(course: Course, series: Series | None, title: Note) -> ChartSpec | None:
    if len(course.points) < 2:
        return None
    timeline = course.timeline
    period, value, _, _ = timeline.names
    return ChartSpec(
        kind="line",
        x=period if series is None else series.period,
        y=(value,) if series is None else series.columns,
        title=title,
        x_title=period_heading(timeline.grain),
        y_title=timeline.measure.heading(),
        unit=timeline.measure.unit,
        incomplete=_incomplete_ends(timeline),
    )


def _incomplete_ends(timeline: Timeline) -> tuple[Literal["first", "last"], ...]:
    first: tuple[Literal["first"], ...] = ("first",) if timeline.first_is_partial else ()
    last: tuple[Literal["last"], ...] = ("last",) if timeline.last_is_partial else ()
    return (*first, *last)
