"""Reads from a table what a chart draws, and refuses what the chart cannot show."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Final

from planloom.analysis.charts.periods import Grain, period_name, read_periods
from planloom.analysis.database import connect, identifier, plain
from planloom.analysis.results import ChartKind, ChartSpec
from planloom.errors import ToolError
from planloom.notes import Lang
from planloom.values import TableRef

MAX_SERIES: Final = 12
MAX_SLICES: Final = 6
MAX_BARS: Final = 40
MAX_POINTS: Final = 5000
MAX_TIME_BARS: Final = 500
_LIMITS: Final[dict[ChartKind, int]] = {
    "line": MAX_POINTS, "bar": MAX_TIME_BARS, "stacked_bar": MAX_TIME_BARS, "donut": MAX_SLICES,
}  # fmt: skip


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
    data = _placed(keys, values, spec, lang)
    _check_data(data, spec)
    return data


def _check_columns(table: TableRef, spec: ChartSpec) -> None:
    for name in (spec.x, *spec.y):
        if name not in table.column_names:
            near = difflib.get_close_matches(name, table.column_names, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            known = ", ".join(f"'{column}'" for column in table.column_names[:20])
            raise ToolError(f"Table '{table.name}' has no column '{name}'. It has: {known}.{hint}")
    for name in spec.y:
        kind = table.column(name).type
        if kind not in ("integer", "number"):
            raise ToolError(
                f"Column '{name}' holds {kind} values, which have no height in a chart. "
                "Name a numeric column for y, or count the rows first."
            )
    most = MAX_SERIES if spec.kind in ("line", "stacked_bar") else 1
    if not 1 <= len(spec.y) <= most:
        raise ToolError(
            f"A {_words(spec.kind)} draws 1 to {most} y columns, but {len(spec.y)} are named. "
            + ("Keep the largest and group the rest." if most > 1 else "Name exactly one.")
        )


def _rows(table: TableRef, spec: ChartSpec) -> list[tuple[object, ...]]:
    limit = _LIMITS[spec.kind]
    columns = [identifier(spec.x), *(f"CAST({identifier(name)} AS DOUBLE)" for name in spec.y)]
    with connect(table) as connection:
        rows: list[tuple[object, ...]] = connection.execute(
            f"SELECT {', '.join(columns)} FROM {identifier(table.name)} LIMIT {limit + 1}"
        ).fetchall()
    if not rows:
        raise ToolError(
            f"Table '{table.name}' has no rows, so there is nothing to draw. "
            "Use a table with rows, or leave the chart out."
        )
    if len(rows) > limit:
        raise ToolError(
            f"Table '{table.name}' has {table.rows:,} rows, but a {_words(spec.kind)} can show "
            f"{limit:,}. Keep the largest and group the rest, or sum up longer periods first."
        )
    return rows


def _number(cell: object) -> float | None:
    value = plain(cell)  # which knows no NaN or infinity
    return float(value) if isinstance(value, int | float) else None


def _placed(
    keys: list[object], values: list[list[float | None]], spec: ChartSpec, lang: Lang
) -> ChartData:
    known = [key for key in keys if key is not None]
    periods = read_periods(known) if spec.kind != "donut" else None
    if periods is not None:
        # A row without a time has no place on a time axis.
        timed = [row for key, row in zip(keys, values, strict=True) if key is not None]
        if spec.kind == "line" or (
            len(known) == len(keys) and list(periods[1]) == sorted(set(periods[1]))
        ):
            return _on_time_axis(periods[0], periods[1], timed, spec, lang)
    names = [_name(key, lang) for key in keys]
    if periods is not None and len(known) == len(keys):
        names = [period_name(periods[0], place, lang) for place in periods[1]]
    return ChartData(names=tuple(names), series=_series(spec.y, values))


def _on_time_axis(
    grain: Grain,
    places: Sequence[float],
    values: list[list[float | None]],
    spec: ChartSpec,
    lang: Lang,
) -> ChartData:
    order = sorted(range(len(places)), key=lambda index: places[index])
    ascending = [places[index] for index in order]
    names = [period_name(grain, place, lang) for place in ascending]
    for before, after, name in zip(ascending, ascending[1:], names, strict=False):
        if before == after:
            raise ToolError(
                f"Column '{spec.x}' holds {name} more than once, so a line would go up and down "
                "within it. Sum up the rows of each period first, one column for each line."
            )
    return ChartData(
        names=tuple(names),
        series=_series(spec.y, [values[index] for index in order]),
        grain=grain,
        places=tuple(ascending),
    )


def _series(names: tuple[str, ...], rows: list[list[float | None]]) -> tuple[Series, ...]:
    columns = zip(*rows, strict=True)
    return tuple(Series(name, tuple(column)) for name, column in zip(names, columns, strict=True))


def _name(key: object, lang: Lang) -> str:
    match key:
        case None:
            return "(missing)" if lang == "en" else "（缺失）"
        case bool():
            return {"en": ("no", "yes"), "zh": ("否", "是")}[lang][key]
        case float():
            return f"{key:.10g}"
        case datetime() | date() | time():
            return key.isoformat()
        case _:
            return str(key).strip() or ("(blank)" if lang == "en" else "（空白）")


def _check_data(data: ChartData, spec: ChartSpec) -> None:
    if all(value is None for series in data.series for value in series.values):
        raise ToolError(
            f"{_quoted(spec.y)} holds no value, so there is nothing to draw. "
            "Choose another column, or leave the chart out."
        )
    if spec.kind == "donut":
        _check_slices(data, spec)
    elif spec.kind != "line" and data.grain is None and len(data.names) > MAX_BARS:
        raise ToolError(
            f"Column '{spec.x}' gives {len(data.names)} bars, but no more than {MAX_BARS} can be "
            f"read. Keep the largest {MAX_BARS - 1} or fewer and group the rest."
        )


def _check_slices(data: ChartData, spec: ChartSpec) -> None:
    for name, value in zip(data.names, data.values, strict=True):
        if value is not None and value < 0:
            raise ToolError(
                f"'{name}' has the negative value {value:,.10g} in '{spec.y[0]}'; "
                "a donut shows parts of a whole. Draw bars instead."
            )
    parts = [value for value in data.values if value]
    if len(parts) < 2:
        raise ToolError(
            f"Column '{spec.y[0]}' has {len(parts)} value above zero; a donut needs two or more "
            "parts of a whole. Draw bars instead."
        )


def without_missing(data: ChartData) -> ChartData:
    """Return the rows whose first value is known and not zero: those with a slice to draw."""
    kept = [index for index, value in enumerate(data.values) if value]
    return replace(
        data,
        names=tuple(data.names[index] for index in kept),
        series=tuple(
            Series(series.name, tuple(series.values[index] for index in kept))
            for series in data.series
        ),
    )


def _quoted(names: tuple[str, ...]) -> str:
    return ("Column " if len(names) == 1 else "Columns ") + ", ".join(f"'{n}'" for n in names)


def _words(kind: ChartKind) -> str:
    return {
        "line": "line chart", "bar": "bar chart", "stacked_bar": "stacked bar chart",
        "donut": "donut",
    }[kind]  # fmt: skip
