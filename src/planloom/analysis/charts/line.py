"""Draws line charts: one or more series over time, named at the ends of their lines."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from planloom.analysis.charts import axes as chart_axes
from planloom.analysis.charts import style
from planloom.analysis.charts.canvas import Canvas, Sheet
from planloom.analysis.charts.lettering import spread
from planloom.analysis.charts.periods import has_gap, typical_step
from planloom.analysis.charts.reading import ChartData, Series
from planloom.analysis.charts.scales import extent, short_value, starts_at_zero, value_axis
from planloom.notes import Lang

End = Literal["first", "last"]
_Points = list[tuple[float, float]]
_LABEL_WIDTH = 150.0
_LABEL_GAP = 10.0
_NOT_FROM_ZERO: dict[Lang, str] = {
    "en": "{0}; scale does not start at zero",
    "zh": "{0}，纵轴不从零开始",
}
_INCOMPLETE: dict[Lang, str] = {
    "en": "{0}; dashed: incomplete period",
    "zh": "{0}，虚线为不完整的周期",
}


def draw_line(data: ChartData, sheet: Sheet, *, incomplete: Sequence[End] = ()) -> Figure:
    """Return a line chart; rows without a value, and missing periods, are gaps in the lines.

    Lines are dashed to and from the ends whose period is `incomplete`.
    """
    low, high = extent(value for series in data.series for value in series.values)
    axis = value_axis(
        low, high, unit=sheet.unit, lang=sheet.lang, from_zero=starts_at_zero(low, high)
    )
    if not axis.low <= 0 <= axis.high:
        sheet = replace(sheet, subtitle=_NOT_FROM_ZERO[sheet.lang].format(sheet.subtitle))
    if incomplete:
        sheet = replace(sheet, subtitle=_INCOMPLETE[sheet.lang].format(sheet.subtitle))
    canvas = Canvas(sheet)
    labels = _end_labels(data, canvas)
    room = max(canvas.lettering.width(label, style.TEXT_SIZE) for label in labels)
    axes = canvas.add_axes(
        left=style.MARGIN + chart_axes.label_room(sheet.lettering, axis),
        top=canvas.top + 8,
        right=style.WIDTH - style.MARGIN - max(28.0, room + _LABEL_GAP),
        bottom=canvas.height - 48,
    )
    places = data.places or tuple(float(index) for index in range(len(data.names)))
    margin = (places[-1] - places[0]) * 0.012 or 1.0
    axes.set_xlim(places[0] - margin, places[-1] + margin)
    chart_axes.draw_value_axis(axes, axis)
    chart_axes.draw_places(canvas, axes, data.grain, places, data.names)
    for index, series in enumerate(data.series):
        color = style.series_color(index, series.name)
        runs = _with_gaps(data, places, series)
        dashed = {places[0] if end == "first" else places[-1] for end in incomplete}
        _draw_series(axes, runs, color, whole=index < len(style.SERIES), dashed=dashed)
    _draw_end_labels(data, places, labels, canvas, axes)
    return canvas.figure


def _with_gaps(data: ChartData, places: Sequence[float], series: Series) -> list[_Points]:
    """Return the unbroken runs of a series, as points."""
    step = typical_step(places)
    runs: list[_Points] = [[]]
    for place, value in zip(places, series.values, strict=True):
        last = runs[-1][-1][0] if runs[-1] else None
        if last is not None and data.grain and has_gap(data.grain, last, place, step):
            runs.append([])
        if value is None:
            runs.append([])
        else:
            runs[-1].append((place, value))
    return [run for run in runs if run]


def _draw_series(
    axes: Axes, runs: list[_Points], color: str, *, whole: bool, dashed: set[float]
) -> None:
    """Draw the runs of one series, dashed at the places of incomplete periods.

    Not `whole` lines have long dashes all along, since another line has their colour already.
    """
    # Hundreds of ups and downs would run into one blot.
    width = 2.4 if sum(map(len, runs)) < 200 else 1.4
    for run in runs:
        if len(run) == 1:  # A line needs two points: alone, one would be invisible.
            _plot(axes, run, color=color, marker="o", markersize=5, linestyle="none")
            continue
        start = 1 if run[0][0] in dashed else 0
        stop = len(run) - 1 if run[-1][0] in dashed else len(run)
        for ends in ([run[:2]] if start else []) + ([run[-2:]] if stop < len(run) else []):
            _plot(axes, ends, color=color, linewidth=width, linestyle=(0, (1.6, 1.6)))
        if stop - start > 1:
            usual = "solid" if whole else (0, (4, 1.6))
            _plot(axes, run[start:stop], color=color, linewidth=width, linestyle=usual)


def _plot(axes: Axes, points: _Points, **looks: object) -> None:
    x, y = zip(*points, strict=True)
    # The ends of lines may stand out of the axes by half their width.
    (line,) = axes.plot(x, y, zorder=3, clip_on=False)
    line.set(**looks)


def _end_labels(data: ChartData, canvas: Canvas) -> list[str]:
    """Return what stands at the end of each line: its name, or of a single line its value."""
    sheet = canvas.sheet
    if len(data.series) > 1:
        return [
            canvas.lettering.wrap(
                series.name,
                _LABEL_WIDTH,
                size=style.TEXT_SIZE,
                lines=2 if len(data.series) < 7 else 1,
            )
            for series in data.series
        ]
    last = next(value for value in reversed(data.values) if value is not None)
    return [short_value(last, unit=sheet.unit, lang=sheet.lang)]


def _draw_end_labels(
    data: ChartData, places: Sequence[float], labels: list[str], canvas: Canvas, axes: Axes
) -> None:
    ends: list[tuple[int, float, float]] = []
    for index, series in enumerate(data.series):
        known = [
            (place, value)
            for place, value in zip(places, series.values, strict=True)
            if value is not None
        ]
        if known:
            ends.append((index, *canvas.on_paper(axes, *known[-1])))
    right = canvas.on_paper(axes, axes.get_xlim()[1], 0)[0] + _LABEL_GAP
    if len(ends) == 1:  # Nothing else is in the way: the label stands beside the point.
        right = min(right, ends[0][1] + _LABEL_GAP + 3)
    line = style.TEXT_SIZE * 1.2
    heights = [line * (1 + labels[index].count("\n")) for index, _, _ in ends]
    floor = canvas.on_paper(axes, 0, axes.get_ylim()[0])[1] + 4
    middles = spread([y for _, _, y in ends], heights, canvas.top, floor)
    for (index, x, y), middle in zip(ends, middles, strict=True):
        color = style.series_color(index, data.series[index].name)
        canvas.guide([(x, y)], color=color, dot=True)
        if abs(middle - y) > line / 2 or right - x > 28:
            canvas.guide([(x + 5, y), (right - 3, middle)])
        canvas.text(
            right,
            middle,
            labels[index],
            color=style.text_color(color),
            valign="center" if "\n" in labels[index] else "center_baseline",
            bold=len(data.series) == 1,
        )
