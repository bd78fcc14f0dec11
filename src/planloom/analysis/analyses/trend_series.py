"""The few largest categories over time, each as a series of its own, the others as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planloom.analysis.analyses.aggregation import Measure
from planloom.analysis.analyses.assembly import ResultTable
from planloom.analysis.analyses.course import Course
from planloom.analysis.analyses.fact_sheet import FactSheet, Source
from planloom.analysis.analyses.grain_words import period_heading
from planloom.analysis.analyses.grouping import Grouping
from planloom.analysis.analyses.labels import ROWS, display_name, label_note, other_mark
from planloom.analysis.analyses.naming import distinct_names
from planloom.analysis.analyses.periods import label_sql
from planloom.analysis.analyses.remarks import words
from planloom.analysis.analyses.timeline import Timeline
from planloom.analysis.database import identifier, literal
from planloom.notes import Note
from planloom.values import Column

_SERIES = 5  # lines in one chart that can still be told apart
_NAMED = "WHERE label IS NOT NULL AND first_value IS NOT NULL AND last_value IS NOT NULL"


@dataclass(frozen=True, kw_only=True)
class Series:
    """The categories that have a column of their own."""

    sheet: FactSheet
    timeline: Timeline
    category: Column
    labels: tuple[str | None, ...]
    """Largest first; None for the rows without a category."""
    others: int
    """Further categories, in one column together."""

    @property
    def keys(self) -> tuple[str | None, ...]:
        """The labels, with the mark of the others."""
        return self.labels if not self.others else (*self.labels, other_mark(self.others))

    @property
    def period(self) -> str:
        """The name of the column of periods."""
        return "period"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of values, in the order of `keys`."""
        wanted = ("⟨missing⟩" if key is None else key or "⟨blank⟩" for key in self.keys)
        return distinct_names(self.period, *wanted)[1:]

    @property
    def rows(self) -> str:
        """The name of the column that counts the rows of a period."""
        return distinct_names(self.period, *self.columns, "rows")[-1]

    def title(self, of_whole: Note) -> Note:
        """Return the title, from that of the whole measure."""
        args = {**of_whole.args, "by": display_name(self.category.name)}
        return Note(f"{of_whole.en} by {{by}}", f"{of_whole.zh}（按{{by}}）", args)

    def result(self) -> ResultTable:
        """Return the table: one row for each period, one column for each series."""
        timeline = self.timeline
        headings = {self.period: period_heading(timeline.grain)}
        headings |= dict(zip(self.columns, map(label_note, self.keys), strict=True))
        headings[self.rows] = ROWS
        unit = timeline.measure.unit
        return ResultTable(
            kind="trend",
            base=timeline.base,
            query=self._query(),
            headings=headings,
            keys=(self.period,),
            units={self.period: timeline.grain} | dict.fromkeys(self.columns, unit),
        )

    def _query(self) -> str:
        timeline = self.timeline
        conditions = [f"label IS NOT DISTINCT FROM {literal(label)}" for label in self.labels]
        if self.others:
            conditions.append(f"NOT ({' OR '.join(conditions)})")
        inner = [
            f"{filled(timeline, condition)} AS series_{number}"
            for number, condition in enumerate(conditions)
        ]
        # A period without any row has no group to count in.
        empty = "0" if timeline.fills_with_zero else "NULL"
        outer = [
            f"CASE WHEN found.start IS NULL THEN {empty} ELSE series_{number} END "
            f"AS {identifier(column)}"
            for number, column in enumerate(self.columns)
        ]
        period = f"{label_sql('calendar.start', timeline.grain)} AS {identifier(self.period)}"
        counted = f"coalesce(found.rows, 0) AS {identifier(self.rows)}"
        return (
            f"SELECT {', '.join((period, *outer, counted))} FROM ({timeline.calendar}) AS calendar "
            f"LEFT JOIN (SELECT {', '.join(('start', 'count(item) AS rows', *inner))} "
            f"FROM ({labelled_items(timeline, self.category)}) AS items GROUP BY start) AS found "
            "ON calendar.start = found.start ORDER BY calendar.start"
        )


def labelled_items(timeline: Timeline, category: Column) -> str:
    """SQL for the rows with a date: start, item, and the category as text."""
    return timeline.items(f"CAST({identifier(category.name)} AS VARCHAR) AS label")


def filled(timeline: Timeline, condition: str) -> str:
    """SQL for the measure over the rows of a group that meet `condition`; 0 for none of a sum."""
    value = f"{timeline.measure.sql('item')} FILTER (WHERE {condition})"
    if not timeline.fills_with_zero:
        return value
    return f"CASE WHEN count(*) FILTER (WHERE {condition}) = 0 THEN 0 ELSE {value} END"


def find_series(sheet: FactSheet, timeline: Timeline, category: Column) -> Series:
    """Return the largest categories: by the measure where it adds up, else by their rows."""
    measure = timeline.measure
    if not measure.is_additive:
        measure = Measure(column=measure.column, how="count")
    grouping = Grouping(base=timeline.base, category=category, measure=measure, top=_SERIES)
    labels = [
        row[0]
        for row in sheet.read(f"SELECT label FROM ({grouping.all_groups}) AS ranked ORDER BY place")
    ]
    shown = len(labels) if grouping.shown_count(len(labels)) == len(labels) else _SERIES
    return Series(
        sheet=sheet,
        timeline=timeline,
        category=category,
        labels=tuple(labels[:shown]),
        others=len(labels) - shown,
    )


def series_findings(series: Series, course: Course) -> list[Note]:
    """Return which category is the largest, and which gained and lost most."""
    if len(course.usable) < 2:
        return []
    moves = _keep_moves(series)
    named = words(series.timeline.measure, by=series.category.name)
    return [*_largest(series, moves, named), *_movers(series, moves, named)]


def _keep_moves(series: Series) -> Source:
    """Compute each category's value over all, in the first and in the last complete period."""
    timeline = series.timeline
    first, last = timeline.comparable
    return series.sheet.keep(
        f"SELECT label, {timeline.measure.sql('item')} AS whole, count(item) AS rows, "
        f"{filled(timeline, f'start = {literal(first)}')} AS first_value, "
        f"{filled(timeline, f'start = {literal(last)}')} AS last_value, "
        "last_value - first_value AS move "
        f"FROM ({labelled_items(timeline, series.category)}) AS items GROUP BY label",
        "_moves",
    )


def _largest(series: Series, moves: Source, named: Mapping[str, str]) -> list[Note]:
    sheet, measure = series.sheet, series.timeline.measure
    kept = f"SELECT count(label), min(whole), sum(whole) FROM {moves.kept}"
    count, lowest, total = sheet.read(kept)[0]
    if not measure.is_additive or count < 2 or lowest is None or lowest < 0 or not total:
        return []
    shares = moves.derive(
        "SELECT label, whole, rows, 100 * CAST(whole AS DOUBLE) / "
        "fsum(CAST(whole AS DOUBLE)) OVER () AS share"
    )
    where = "WHERE label IS NOT NULL ORDER BY whole DESC NULLS LAST, label LIMIT 1"
    args = {"by": named["by"]}
    for what, value, unit, label in (
        ("largest_label", "label", "", Note("Largest {by}", "最大的{by}", args)),
        (
            "largest",
            "whole",
            measure.unit,
            Note("Value of the largest {by}", "最大{by}的数值", args),
        ),
        ("largest_share", "share", "%", Note("Share of the largest {by}", "最大{by}的占比", args)),
    ):
        sheet.add(what, label, value, shares, where=where, rows="rows", unit=unit)
    if _add_others(sheet, "largest", "whole", "max(whole)", shares, named):
        texts = (
            "Over the whole time <largest_label> and <largest_others|other|others> share first "
            "place by {by}, with <largest_share> each (<largest>).",
            "全期来看，<largest_label>及另外<largest_others>个{by}并列最大，各占<largest_share>"
            "（<largest>）。",
        )
    else:
        texts = (
            "Over the whole time <largest_label> is the largest {by}, with <largest_share> "
            "(<largest>).",
            "全期来看，<largest_label>在各{by}中最大，占<largest_share>（<largest>）。",
        )
    return [sheet.note(*texts, **named)]


def _add_others(
    sheet: FactSheet, what: str, value: str, extreme: str, source: Source, named: Mapping[str, str]
) -> bool:
    """Add how many other categories have the extreme value; False when there are none."""
    level = source.derive(
        f"SELECT {value} = {extreme} OVER () AS is_level, rows",
        f"WHERE label IS NOT NULL AND {value} IS NOT NULL",
    )
    where = "WHERE is_level"
    if sheet.read(f"SELECT count(*) FROM {level.kept} {where}")[0][0] < 2:
        return False
    label = Note("Other {by} values that are level", "并列的其他{by}数", {"by": named["by"]})
    sheet.add(f"{what}_others", label, "count(*) - 1", level, where=where, rows="sum(rows)")
    return True


def _movers(series: Series, moves: Source, named: Mapping[str, str]) -> list[Note]:
    sheet = series.sheet
    count, lowest, highest = sheet.read(
        f"SELECT count(*), min(move), max(move) FROM {moves.kept} {_NAMED}"
    )[0]
    if count < 2:
        return []
    notes: list[Note] = []
    for what, exists in (("gained", highest > 0), ("lost", lowest < 0)):
        if exists:
            notes.append(_mover(series, moves, what, named))
    return notes


def _mover(series: Series, moves: Source, what: str, named: Mapping[str, str]) -> Note:
    """Tell who gained or lost most; of several that did alike, their number and no levels."""
    is_gain = what == "gained"
    _add_mover(series, moves, what, "DESC" if is_gain else "ASC", named)
    extreme = "max(move)" if is_gain else "min(move)"
    more_zh, to_zh = ("增加", "升至") if is_gain else ("减少", "降至")
    when_en = "Between <first_period> and <last_period>"
    when_zh = "<first_period>至<last_period>"
    if _add_others(series.sheet, what, "move", extreme, moves, named):
        return series.sheet.note(
            f"{when_en}, <{what}_label> and <{what}_others|other|others> {what} most, all alike: "
            f"<{what}_label> went from <{what}_from> to <{what}_to>.",
            f"{when_zh}，<{what}_label>及另外<{what}_others>个{{by}}{more_zh}最多且幅度相同，"
            f"<{what}_label>由<{what}_from>{to_zh}<{what}_to>。",
            **named,
        )
    return series.sheet.note(
        f"{when_en}, <{what}_label> {what} most: from <{what}_from> to <{what}_to>.",
        f"{when_zh}，<{what}_label>{more_zh}最多，由<{what}_from>{to_zh}<{what}_to>。",
        **named,
    )


def _add_mover(
    series: Series, moves: Source, what: str, order: str, named: Mapping[str, str]
) -> None:
    where = f"{_NAMED} ORDER BY move {order}, label LIMIT 1"
    args, unit = {"by": named["by"]}, series.timeline.measure.unit
    verb_zh = "增加" if what == "gained" else "减少"
    for name, value, value_unit, en, zh in (
        ("label", "label", "", "{by} that " + what + " most", verb_zh + "最多的{by}"),
        ("from", "first_value", unit, "its first value", "其期初值"),
        ("to", "last_value", unit, "its last value", "其期末值"),
    ):
        label = Note(en, zh, args if "{by}" in en else {})
        series.sheet.add(
            f"{what}_{name}", label, value, moves, where=where, rows="rows", unit=value_unit
        )
