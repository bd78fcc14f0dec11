"""Cautions that several analyses give: rows left out, groups without a name, sums of rates."""

from __future__ import annotations

from collections.abc import Mapping

from planloom.analysis.analyses.aggregation import Measure, is_rate
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.analyses.labels import display_name, sentence_case
from planloom.notes import Note


def words(measure: Measure, **columns: str) -> Mapping[str, str]:
    """Return the arguments of notes: the shown names of the measure and of other columns.

    Each comes twice: `value` inside a sentence, `Value` at its start.
    """
    named = dict(columns)
    if measure.column is not None:
        named["value"] = measure.column.name
    shown = {role: display_name(name) for role, name in named.items()}
    return shown | {role.title(): sentence_case(name) for role, name in shown.items()}


def adding_rates(measure: Measure, sheet: FactSheet) -> list[Note]:
    """Return the caution that a sum of percentages, prices or averages means nothing."""
    if measure.column is None or measure.how != "sum" or not is_rate(measure.column):
        return []
    return [
        sheet.note(
            "The values of {value} are added up here although they look like rates or averages; "
            "their sum may mean nothing. The mean is the safer reading.",
            "{value}看起来是比率或平均类指标，这里按求和处理，合计值未必有意义，宜以平均值为准。",
            **words(measure),
        )
    ]


def rows_without_value(measure: Measure, sheet: FactSheet) -> list[Note]:
    """Return the caution that rows without a value do not count, when there are any."""
    if measure.column is None:
        return []
    named = words(measure)
    label = Note("Rows without {value}", "缺少{value}的记录数", {"value": named["value"]})
    where = f"WHERE {measure.item} IS NULL"
    if not sheet.read(f"SELECT 1 FROM {sheet.base.kept} {where} LIMIT 1"):
        return []
    sheet.add("no_value", label, "count(*)", sheet.base, where=where)
    return [
        sheet.note(
            "Not counted: <no_value|row|rows> without {value}.",
            "<no_value>条记录缺少{value}，未计入统计。",
            **named,
        )
    ]
