"""How large a table is, what time it covers, and what its measures look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from planloom.analysis.analyses.aggregation import How, Measure, find_aggregate, is_rate
from planloom.analysis.analyses.assembly import ResultTable, assemble
from planloom.analysis.analyses.columns import find_column, find_date
from planloom.analysis.analyses.fact_ids import digest, prefix, segment
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.analyses.labels import display_name, sentence_case
from planloom.analysis.database import connect, identifier, literal
from planloom.analysis.results import Analysis
from planloom.notes import Note
from planloom.values import Column, TableRef

_MOST_COLUMNS = 60  # described when none is named
_SKEWED = 2  # a mean this many times the median
_DESCRIBED: tuple[How, ...] = ("sum", "mean", "median", "min", "max")
_COUNTS = {
    "values": "count({x})",
    "missing": "count(*) - count({x})",
    "distinct": "count(DISTINCT {x})",
}
# All as floating point: the rows of one column come from columns of several types.
_STATISTICS = {
    "values": "count({x})",
    "missing": "count(*) - count({x})",
    "total": "fsum({x})",
    "mean": "favg({x})",
    "median": "CAST(median({x}) AS DOUBLE)",
    "min": "CAST(min({x}) AS DOUBLE)",
    "max": "CAST(max({x}) AS DOUBLE)",
}
_HEADINGS = {
    "column": Note("Column", "字段"),
    "unit": Note("Unit", "单位"),
    "values": Note("Values", "有值记录数"),
    "missing": Note("Missing", "缺失"),
    "distinct": Note("Distinct", "不同取值数"),
    "total": Note("Total", "合计"),
    "mean": Note("Mean", "平均值"),
    "median": Note("Median", "中位数"),
    "min": Note("Minimum", "最小值"),
    "max": Note("Maximum", "最大值"),
}


def overview(
    table: TableRef,
    *,
    measures: Sequence[str] = (),
    date: str | None = None,
    categories: Sequence[str] = (),
    out: Path,
) -> Analysis:
    """Return a row of statistics for each measure; without measures, one for each category.

    Statistics are over the rows that have a value; the median of an even number of values is the
    mean of the two middle ones. Columns whose sum means nothing (rates, percentages) have no total.
    Without measures and categories the first 60 columns are described by values, missing and
    distinct. A fact depends on the table and its column only: overviews of one table with other
    arguments share ids, and then the facts are equal.

    Raises:
        ToolError: a column is missing or does not fit.
    """
    out.mkdir(parents=True, exist_ok=True)
    named = [find_column(table, name) for name in dict.fromkeys(categories)]
    moment = None if date is None else find_date(table, date)
    with connect(table, writable=out) as connection:
        numeric = [
            find_aggregate(connection, table, name, "sum") for name in dict.fromkeys(measures)
        ]
        others = [
            find_aggregate(connection, table, column.name, "count")
            for column in named or table.columns[:_MOST_COLUMNS]
        ]
        sheet = FactSheet(connection, prefix=prefix("overview", table.name), base=table.name)
        findings = _size(sheet, moment)
        cautions: list[Note] = []
        for measure in numeric:
            findings += _describe(sheet, measure)
            cautions += _missing(sheet, measure)
        findings += _variety(sheet, named)
        return assemble(
            connection,
            _result(table.name, numeric, others),
            out=out,
            title=Note("Overview of the data", "数据概览"),
            sheet=sheet,
            findings=findings,
            cautions=cautions,
        )


def _result(base: str, numeric: list[Measure], others: list[Measure]) -> ResultTable:
    measures, statistics = (numeric, _STATISTICS) if numeric else (others, _COUNTS)
    columns = [measure.column for measure in measures if measure.column is not None]
    parts = (
        f"SELECT {position} AS position, {', '.join(_cells(measure, statistics))} "
        f"FROM {identifier(base)}"
        for position, measure in enumerate(measures)
    )
    shown = ["column", *statistics]
    if numeric and any(column.unit for column in columns):
        shown.insert(1, "unit")
    stacked = " UNION ALL ".join(parts)
    return ResultTable(
        kind="overview",
        base=base,
        query=f"SELECT {', '.join(map(identifier, shown))} FROM ({stacked}) AS stacked "
        "ORDER BY position",
        headings={name: _HEADINGS[name] for name in shown},
        keys=("column",),
        units={},
        variant=digest("\n".join((*shown, *(column.name for column in columns)))),
    )


def _cells(measure: Measure, statistics: Mapping[str, str]) -> list[str]:
    """Return the SQL for the row of a column; a sum of rates is left empty."""
    column = measure.column
    if column is None:
        return []
    cells = [f'{literal(column.name)} AS "column"', f"{literal(column.unit)} AS unit"]
    for name, sql in statistics.items():
        is_sum_of_rates = name == "total" and is_rate(column)
        value = "CAST(NULL AS DOUBLE)" if is_sum_of_rates else sql.format(x=measure.item)
        cells.append(f"{value} AS {identifier(name)}")
    return cells


def _size(sheet: FactSheet, moment: Column | None) -> list[Note]:
    """Tell how many rows there are, and from when to when."""
    sheet.add("rows", Note("Rows", "记录数"), "count(*)", sheet.base)
    if moment is None or not _has_values(sheet, identifier(moment.name)):
        return [sheet.note("The data holds <rows|row|rows>.", "数据共<rows>条记录。")]
    name, x = segment(moment.name), identifier(moment.name)
    args = {"date": display_name(moment.name)}
    for what, sql, en, zh in (
        ("first", "min", "First {date}", "最早的{date}"),
        ("last", "max", "Last {date}", "最晚的{date}"),
    ):
        value = f"CAST({sql}({x}) AS DATE)"
        label, rows = Note(en, zh, args), f"count({x})"
        sheet.add(f"{name}.{what}", label, value, sheet.base, rows=rows, unit="day")
    if sheet.value(f"{name}.first") == sheet.value(f"{name}.last"):
        return [
            sheet.note(
                f"The data holds <rows|row|rows>; the only {{date}} is <{name}.first>.",
                f"数据共<rows>条记录，{{date}}均为<{name}.first>。",
                **args,
            )
        ]
    return [
        sheet.note(
            f"The data holds <rows|row|rows>; {{date}} runs from <{name}.first> to <{name}.last>.",
            f"数据共<rows>条记录，{{date}}从<{name}.first>到<{name}.last>。",
            **args,
        )
    ]


def _has_values(sheet: FactSheet, item: str) -> bool:
    found = sheet.read(f"SELECT 1 FROM {sheet.base.kept} WHERE {item} IS NOT NULL LIMIT 1")
    return bool(found)


def _describe(sheet: FactSheet, summed: Measure) -> list[Note]:
    """Tell total, mean, median and range of a measure."""
    column = summed.column
    if column is None or not _has_values(sheet, summed.item):
        return []
    name = segment(column.name)
    for how in _DESCRIBED:
        if how == "sum" and is_rate(column):
            continue
        measure = replace(summed, how=how)
        label = measure.heading() if how != "sum" else _total_label(measure)
        sheet.add(
            f"{name}.{'total' if how == 'sum' else how}",
            label,
            measure.sql(measure.item),
            sheet.base,
            rows=f"count({measure.item})",
            unit=column.unit,
        )
    value = display_name(column.name)
    named = {"value": value, "Value": sentence_case(value)}
    if sheet.value(f"{name}.min") == sheet.value(f"{name}.max"):
        same = sheet.note(
            f"{{Value}} is <{name}.min> wherever it is given.",
            f"{{value}}均为<{name}.min>。",
            **named,
        )
        return [same]
    return [_totals(sheet, name, named), *_skew(sheet, name, named)]


def _total_label(measure: Measure) -> Note:
    return Note("Total {value}", "{value}合计", measure.args)


def _totals(sheet: FactSheet, name: str, named: Mapping[str, str]) -> Note:
    rest_en = (
        f"<{name}.mean> per row on average, between <{name}.min> and <{name}.max>, with a median "
        f"of <{name}.median>."
    )
    rest_zh = f"平均每条<{name}.mean>，中位数<{name}.median>，范围<{name}.min>至<{name}.max>。"
    if not sheet.has(f"{name}.total"):
        return sheet.note("{Value}: " + rest_en, "{value}：" + rest_zh, **named)
    return sheet.note(
        f"{{Value}} totals <{name}.total>: " + rest_en,
        f"{{value}}合计<{name}.total>，" + rest_zh,
        **named,
    )


def _skew(sheet: FactSheet, name: str, named: Mapping[str, str]) -> list[Note]:
    """Tell that a few large values lift the mean far above the typical row."""
    mean, median = sheet.number(f"{name}.mean"), sheet.number(f"{name}.median")
    if median <= 0 or mean < _SKEWED * median:
        return []
    return [
        sheet.note(
            f"The mean of {{value}} (<{name}.mean>) lies far above its median (<{name}.median>): "
            "a few large values lift the mean, so the median is closer to a typical row.",
            f"{{value}}的平均值（<{name}.mean>）远高于中位数（<{name}.median>），"
            "少数较大的值拉高了平均值，中位数更能代表一般水平。",
            **named,
        )
    ]


def _missing(sheet: FactSheet, measure: Measure) -> list[Note]:
    column, where = measure.column, f"WHERE {measure.item} IS NULL"
    if column is None or not sheet.read(f"SELECT 1 FROM {sheet.base.kept} {where} LIMIT 1"):
        return []
    name = segment(column.name)
    value = display_name(column.name)
    label = Note("Rows without {value}", "缺少{value}的记录数", {"value": value})
    sheet.add(f"{name}.missing", label, "count(*)", sheet.base, where=where)
    return [
        sheet.note(
            f"Not counted in the figures of {{value}}: <{name}.missing|row|rows> without a value.",
            f"<{name}.missing>条记录缺少{{value}}，未计入其统计。",
            value=value,
        )
    ]


def _variety(sheet: FactSheet, columns: Sequence[Column]) -> list[Note]:
    """Tell how many different values the categories have."""
    notes: list[Note] = []
    for column in columns:
        name, x = segment(column.name), identifier(column.name)
        args = {"category": display_name(column.name)}
        label = Note("Different values of {category}", "{category}的不同取值数", args)
        value, rows = f"count(DISTINCT {x})", f"count({x})"
        if sheet.add(f"{name}.distinct", label, value, sheet.base, rows=rows):
            notes.append(
                sheet.note(
                    f"{{Category}} takes <{name}.distinct|value|different values>.",
                    f"{{category}}共有<{name}.distinct>种取值。",
                    category=args["category"],
                    Category=sentence_case(args["category"]),
                )
            )
    return notes
