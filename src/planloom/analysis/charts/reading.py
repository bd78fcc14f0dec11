"""Reads from a table what a chart draws, and refuses what the chart cannot show."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from planloom.analysis.analyses.labels import label_note
from planloom.analysis.charts.periods import Grain, period_name, read_periods
from planloom.analysis.database import connect, identifier, plain
from planloom.analysis.results import Analysis, ChartKind, ChartSpec
from planloom.errors import ToolError
from planloom.notes import Lang, Note
from planloom.values import TableRef

MAX_SERIES: Final = 12
MAX_SLICES: Final = 6
MAX_BARS: Final = 40
MAX_POINTS: Final = 5000
MAX_TIME_BARS: Final = 500
_LIMITS: Final[dict[ChartKind, int]] = {
    "line": MAX_POINTS, "bar": MAX_TIME_BARS, "stacked_bar": MAX_TIME_BARS, "donut": MAX_SLICES,
}  # fmt: skip

_LARGEST: Final = 1e30
"""Beyond this, sums and scales would overflow."""
_KINDS: Final[dict[ChartKind, Note]] = {
    "line": Note("line chart", "折线图"),
    "bar": Note("bar chart", "柱状图"),
    "stacked_bar": Note("stacked bar chart", "堆叠柱状图"),
    "donut": Note("donut chart", "环形图"),
}


@dataclass(frozen=True, slots=True)
class Series:
    """One line, one colour of stacked bars, or all bars of a plain bar chart."""

    name: str
    values: tuple[float | None, ...]
    """One for each row; None where the table holds none."""


@dataclass(frozen=True, slots=True)
class ChartData:
    """What a chart draws."""

    names: tuple[str, ...]
    """Of the rows, as the reader shall see them, in full."""
    series: tuple[Series, ...]
    grain: Grain | None = None
    """The steps of a time axis; None for categories."""
    places: tuple[float, ...] = ()
    """Ascending places of the rows on a time axis, see `periods.read_periods`; else empty."""

    @property
    def values(self) -> tuple[float | None, ...]:
        """The values of the first series."""
        return self.series[0].values


def read_chart_data(table: TableRef, spec: ChartSpec, lang: Lang) -> ChartData:
    """Return what `spec` wants drawn from `table`, in the order of the chart's axis.

    Raises:
        ToolError: a column is unknown or not numeric, or there is too much or nothing to draw.
    """
    _check_columns(table, spec)
    rows = _rows(table, spec)
    keys = [row[0] for row in rows]
    values = [[_number(cell) for cell in row[1:]] for row in rows]
    data = _placed(keys, values, _series_names(table, spec.y, lang), spec, lang)
    _check_data(data, spec)
    return data


def _check_columns(table: TableRef, spec: ChartSpec) -> None:
    for name in (spec.x, *spec.y):
        if name not in table.column_names:
            raise _unknown_column(table, name)
    for name in spec.y:
        kind = table.column(name).type
        if kind not in ("integer", "number"):
            raise ToolError(
                f"Column '{name}' holds {kind} values, which have no height in a chart. "
                "Name a numeric column for y, or count the rows first.",
                zh=f"列“{name}”不是数值列，无法在图表中表示大小。请为 y 指定数值列，或先统计行数。",
            )
    most = MAX_SERIES if spec.kind in ("line", "stacked_bar") else 1
    if not 1 <= len(spec.y) <= most:
        wanted = "exactly one" if most == 1 else f"1 to {most}"
        raise ToolError(
            f"A {_KINDS[spec.kind].text('en')} draws {wanted} y column(s), but {len(spec.y)} are "
            "named. Keep the largest and group the rest, or draw several charts.",
            zh=f"{_KINDS[spec.kind].text('zh')}最多支持 {most} 个 y 列，"
            f"实际指定了 {len(spec.y)} 个。请保留最大的几项并合并其余，或分成多张图。",
        )


def _unknown_column(table: TableRef, name: str) -> ToolError:
    near = difflib.get_close_matches(name, table.column_names, n=1)
    known = ", ".join(f"'{column}'" for column in table.column_names[:20])
    return ToolError(
        f"Table '{table.name}' has no column '{name}'. It has: {known}."
        + (f" Did you mean '{near[0]}'?" if near else ""),
        zh=f"表“{table.name}”中没有列“{name}”。现有列：{known}。"
        + (f"是否指“{near[0]}”？" if near else ""),
    )


def _rows(table: TableRef, spec: ChartSpec) -> list[tuple[object, ...]]:
    most = _LIMITS[spec.kind]
    columns = [identifier(spec.x), *(f"CAST({identifier(name)} AS DOUBLE)" for name in spec.y)]
    with connect(table) as connection:
        rows: list[tuple[object, ...]] = connection.execute(
            f"SELECT {', '.join(columns)} FROM {identifier(table.name)} "
            f"LIMIT {min(spec.rows or most + 1, most + 1)}"
        ).fetchall()
    if not rows:
        raise ToolError(
            f"Table '{table.name}' has no rows, so there is nothing to draw. "
            "Use a table with rows, or leave the chart out.",
            zh=f"表“{table.name}”没有数据行，无法绘图。请换用有数据的表，或不画此图。",
        )
    if len(rows) > most:
        raise ToolError(
            f"Table '{table.name}' has {spec.rows or table.rows:,} rows, but a "
            f"{_KINDS[spec.kind].text('en')} can show {most:,}. "
            "Keep the largest and group the rest, or sum up longer periods first.",
            zh=f"表“{table.name}”有 {spec.rows or table.rows:,} 行，"
            f"而{_KINDS[spec.kind].text('zh')}最多显示 {most:,} 行。"
            "请保留最大的几项并合并其余，或先按更长的周期汇总。",
        )
    return rows


def _number(cell: object) -> float | None:
    value = plain(cell)  # which knows no NaN or infinity
    if not isinstance(value, int | float):
        return None
    if abs(value) > _LARGEST:
        raise ToolError(
            f"The value {value:.3g} is too large to be drawn beside others. "
            "Look whether it is a mistake, and leave the row out.",
            zh=f"数值 {value:.3g} 过大，无法与其他值一同绘制。请检查是否有误，并排除该行。",
        )
    return 0.0 if abs(value) < 1 / _LARGEST else float(value)


def _placed(
    keys: list[object], values: list[list[float | None]], names: tuple[str, ...],
    spec: ChartSpec, lang: Lang,
) -> ChartData:  # fmt: skip
    known = [key for key in keys if key is not None]
    periods = read_periods(known) if spec.kind != "donut" else None
    if periods is None:
        return ChartData(
            names=tuple(_name(key, lang) for key in keys), series=_series(names, values)
        )
    grain, places = periods
    if spec.kind == "line":
        # A row without a time has no place on a time axis.
        timed = [row for key, row in zip(keys, values, strict=True) if key is not None]
        return _on_time_axis(grain, places, timed, names, spec, lang)
    if len(known) == len(keys) and all(a < b for a, b in pairwise(places)):
        return _on_time_axis(grain, places, values, names, spec, lang)
    # Periods in another order are a ranking: its bars keep their order.
    labels = iter(period_name(grain, place, lang) for place in places)
    shown = (_name(None, lang) if key is None else next(labels) for key in keys)
    return ChartData(names=tuple(shown), series=_series(names, values))


def _on_time_axis(
    grain: Grain,
    places: Sequence[float],
    values: list[list[float | None]],
    names: tuple[str, ...],
    spec: ChartSpec,
    lang: Lang,
) -> ChartData:
    order = sorted(range(len(places)), key=lambda index: places[index])
    ascending = tuple(places[index] for index in order)
    for before, after in pairwise(ascending):
        if before == after:
            raise ToolError(
                f"Column '{spec.x}' holds {period_name(grain, after, 'en')} more than once, so a "
                "line would go up and down within it. "
                "Sum up the rows of each period first, with one column for each line.",
                zh=f"列“{spec.x}”中 {period_name(grain, after, 'zh')} 出现多次，"
                "折线会在同一时间点来回跳动。请先按周期汇总，每条线一列。",
            )
    return ChartData(
        names=tuple(period_name(grain, place, lang) for place in ascending),
        series=_series(names, [values[index] for index in order]),
        grain=grain,
        places=ascending,
    )


def _series_names(table: TableRef, columns: tuple[str, ...], lang: Lang) -> tuple[str, ...]:
    """Return what columns are called: by an analysis' headings, else by their names."""
    if not isinstance(table, Analysis):
        return columns
    headings = dict(zip(table.column_names, table.headings, strict=True))
    return tuple(headings[name].text(lang) for name in columns)


def _series(names: tuple[str, ...], rows: list[list[float | None]]) -> tuple[Series, ...]:
    columns = zip(*rows, strict=True)
    return tuple(Series(name, tuple(column)) for name, column in zip(names, columns, strict=True))


def _name(key: object, lang: Lang) -> str:
    match key:
        case bool():
            return {"en": ("no", "yes"), "zh": ("否", "是")}[lang][key]
        case float():
            return f"{key:.10g}"
        case str() if not key.strip():
            return "(blank)" if lang == "en" else "（空白）"
        case _:
            return label_note(plain(key)).text(lang).strip()


def _check_data(data: ChartData, spec: ChartSpec) -> None:
    if all(value is None for series in data.series for value in series.values):
        names = ", ".join(f"'{name}'" for name in spec.y)
        raise ToolError(
            f"There is no value in {names}, so there is nothing to draw. "
            "Choose another column, or leave the chart out.",
            zh=f"{names} 中没有任何值，无法绘图。请换一列，或不画此图。",
        )
    if spec.kind == "donut":
        _check_slices(data, spec)
    elif spec.kind != "line" and data.grain is None and len(data.names) > MAX_BARS:
        count = len(data.names)
        raise ToolError(
            f"Column '{spec.x}' gives {count} bars, but no more than {MAX_BARS} can be read. "
            f"Keep the largest {MAX_BARS - 1} or fewer and group the rest.",
            zh=f"列“{spec.x}”会画出 {count} 根柱子，超过可读的上限 {MAX_BARS}。"
            f"请保留最大的 {MAX_BARS - 1} 项以内并合并其余。",
        )


def _check_slices(data: ChartData, spec: ChartSpec) -> None:
    for name, value in zip(data.names, data.values, strict=True):
        if value is not None and value < 0:
            raise ToolError(
                f"'{name}' has the negative value {value:,.10g} in '{spec.y[0]}'; "
                "a donut shows parts of a whole. Draw bars instead.",
                zh=f"“{name}”在“{spec.y[0]}”中的值为负（{value:,.10g}），环形图只能表示整体的组成部分。"
                "请改用柱状图。",
            )
    parts = [value for value in data.values if value]
    if len(parts) < 2:
        raise ToolError(
            f"Column '{spec.y[0]}' has {len(parts)} value(s) above zero; a donut needs two or more "
            "parts of a whole. Draw bars instead.",
            zh=f"列“{spec.y[0]}”中大于零的值只有 {len(parts)} 个，"
            "环形图至少需要两个部分。请改用柱状图。",
        )


def without_missing(data: ChartData) -> ChartData:
    """Return the rows whose first value is known and not zero: those with a slice to draw."""
    kept = [index for index, value in enumerate(data.values) if value]
    names = tuple(data.names[index] for index in kept)
    values = tuple(data.values[index] for index in kept)
    return ChartData(names=names, series=(Series(data.series[0].name, values),))
