"""The computed periods of a trend, and the facts about single periods and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planloom.analysis.analyses.aggregation import titled
from planloom.analysis.analyses.fact_sheet import FactSheet, Source
from planloom.analysis.analyses.grain_words import GRAIN_WORDS, GrainWords
from planloom.analysis.analyses.remarks import words
from planloom.analysis.analyses.timeline import Point, Timeline
from planloom.analysis.database import identifier, literal
from planloom.notes import Note


@dataclass(frozen=True, kw_only=True)
class Course:
    """The computed periods, and the sheet that collects facts about them."""

    sheet: FactSheet
    timeline: Timeline
    source: Source
    points: tuple[Point, ...]

    @property
    def usable(self) -> tuple[Point, ...]:
        """The periods that can be compared: complete, with a value."""
        return tuple(
            point for point in self.points if point.is_complete and point.value is not None
        )

    @property
    def filled(self) -> tuple[Point, ...]:
        """The usable periods that have rows: gaps are not the lowest, nor part of an average."""
        return tuple(point for point in self.usable if point.rows)

    @property
    def words(self) -> GrainWords:
        """How prose names the periods."""
        return GRAIN_WORDS[self.timeline.grain]

    @property
    def named(self) -> Mapping[str, str]:
        """The arguments of notes."""
        return words(self.timeline.measure, date=self.timeline.date.name)

    def label(self, en: str, zh: str) -> Note:
        """Return the label of a fact about the measure."""
        measure = self.timeline.measure
        return titled(f"{measure.en}: {en}", f"{measure.zh}：{zh}", measure.args)

    def add_point(self, what: str, point: Point, en: str, zh: str) -> None:
        """Add `<what>_period` and `<what>`, the label and the value of a period."""
        period, value, rows, _ = (identifier(name) for name in self.timeline.names)
        where = f"WHERE {period} = {literal(point.period)}"
        self.sheet.add(
            f"{what}_period",
            self.label(f"{en}, which one", f"{zh}（时间）"),
            period,
            self.source,
            where=where,
            rows=rows,
            unit=self.timeline.grain,
        )
        label, unit = self.label(en, zh), self.timeline.measure.unit
        self.sheet.add(what, label, value, self.source, where=where, rows=rows, unit=unit)

    def add_change(self, what: str, before: Point, after: Point, en: str, zh: str) -> None:
        """Add `<what>`, and `<what>_pct` if it means something; each also as its size.

        A percentage needs a base above zero and an end not below: "fell by 300 %" is no help.
        The sizes (`<what>_size`, `<what>_pct_size`) are for prose that says "fell by".
        """
        period, _, rows, _ = (identifier(name) for name in self.timeline.names)
        old, new = self._at(before), self._at(after)
        where = f"WHERE {period} IN ({literal(before.period)}, {literal(after.period)})"
        values = {what: (f"{new} - {old}", self.timeline.measure.unit)}
        if (before.value or 0) > 0 and (after.value or 0) >= 0:
            share = f"100 * (CAST({new} AS DOUBLE) - CAST({old} AS DOUBLE)) / CAST({old} AS DOUBLE)"
            values[f"{what}_pct"] = (share, "%")
        for name, (value, unit) in values.items():
            for suffix, sql in (("", value), ("_size", f"abs({value})")):
                self.sheet.add(
                    name + suffix,
                    self.label(*_change_label(name + suffix, en, zh)),
                    sql,
                    self.source,
                    where=where,
                    rows=f"sum({rows})",
                    unit=unit,
                )

    def _at(self, point: Point) -> str:
        period, value, _, _ = (identifier(name) for name in self.timeline.names)
        return f"max({value}) FILTER (WHERE {period} = {literal(point.period)})"

    def between(self, points: Sequence[Point]) -> str:
        """Return the SQL condition for the periods from the first to the last of `points`."""
        period = identifier(self.timeline.names[0])
        return f"{period} BETWEEN {literal(points[0].period)} AND {literal(points[-1].period)}"


def _change_label(name: str, en: str, zh: str) -> tuple[str, str]:
    if "_pct" in name:
        en, zh = f"{en} in percent", f"{zh}（百分比）"
    return (f"size of the {en}", f"{zh}的绝对值") if name.endswith("_size") else (en, zh)
