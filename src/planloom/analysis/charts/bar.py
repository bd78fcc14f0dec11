"""Draws bar charts, plain and stacked, standing or lying."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from planloom.analysis.charts import axes as chart_axes
from planloom.analysis.charts import style
from planloom.analysis.charts.canvas import Canvas, KeyEntry, Sheet
from planloom.analysis.charts.lettering import Lettering
from planloom.analysis.charts.periods import typical_step
from planloom.analysis.charts.reading import ChartData
from planloom.analysis.charts.scales import short_value, value_axis

_MOST_VALUE_LABELS = 12
_WIDEST_SLOT = 130.0
_NAME_WIDTH = 260.0
_VALUE_GAP = 6.0
_NO_VALUE = {"en": "no data", "zh": "无数据"}


def draw_bar(data: ChartData, sheet: Sheet, *, horizontal: bool = False) -> Figure:
    """Return a bar chart: standing bars where their names fit below them, else lying ones.

    Several series are stacked, first series nearest to zero; negative parts go below zero.
    """
    if data.grain is None and (horizontal or not _names_fit(data, sheet)):
        return _lying(data, sheet)
    return _standing(data, sheet)


def _names_fit(data: ChartData, sheet: Sheet) -> bool:
    if len(data.names) > _MOST_VALUE_LABELS:
        return False
    slot = min(_WIDEST_SLOT, (style.WIDTH - 2 * style.MARGIN - 60) / len(data.names))
    return all(
        sheet.lettering.fits(name, slot - 10, size=style.SMALL_SIZE, lines=2) for name in data.names
    )


def _key(data: ChartData) -> list[KeyEntry]:
    if len(data.series) == 1:
        return []
    return [
        KeyEntry(series.name, style.series_color(index, series.name), style.series_hatch(index))
        for index, series in enumerate(data.series)
    ]


def _ends(data: ChartData) -> list[tuple[float, float]]:
    """Return for each row how far its bars reach below and above zero."""
    rows = zip(*(series.values for series in data.series), strict=True)
    return [
        (sum(v for v in row if v and v < 0), sum(v for v in row if v and v > 0)) for row in rows
    ]


def _colors(data: ChartData) -> list[str]:
    """Return the colours of a plain chart's bars; the first stands out where it is the largest."""
    values = [value or 0.0 for value in data.values]
    ranked = (
        data.grain is None
        and len(values) > 2
        and values[0] > max(values[1:])
        and values[1:-1] == sorted(values[1:-1], reverse=True)
    )
    usual = style.SOFT if ranked else style.ACCENT
    colors = [style.REST if style.is_rest(name) else usual for name in data.names]
    colors = [
        style.NEGATIVE if value < 0 else color for value, color in zip(values, colors, strict=True)
    ]
    return [style.ACCENT, *colors[1:]] if ranked else colors


def _value_labels(data: ChartData, sheet: Sheet) -> list[str]:
    """Return the text at the end of each row's bars: its value, or the sum of its stack."""
    largest = max(max(-low, high) for low, high in _ends(data))
    labels = _labels_of(data, sheet, largest, even=False)
    return _labels_of(data, sheet, largest, even=any("." in label for label in labels))


def _labels_of(data: ChartData, sheet: Sheet, largest: float, *, even: bool) -> list[str]:
    labels: list[str] = []
    for row in zip(*(series.values for series in data.series), strict=True):
        known = [value for value in row if value is not None]
        labels.append(
            short_value(sum(known), unit=sheet.unit, lang=sheet.lang, largest=largest, even=even)
            if known
            else _NO_VALUE[sheet.lang]
        )
    return labels


def _shows_values(data: ChartData, sheet: Sheet) -> bool:
    """Return whether bars carry a value: sums of shares, or of debts and gains, tell nothing."""
    if len(data.series) == 1:
        return True
    return sheet.unit != "%" and all(low == 0 for low, _ in _ends(data))


def _standing(data: ChartData, sheet: Sheet) -> Figure:
    canvas = Canvas(sheet, key=_key(data))
    ends = _ends(data)
    axis = value_axis(
        min(low for low, _ in ends), max(high for _, high in ends),
        unit=sheet.unit, lang=sheet.lang, from_zero=True,
    )  # fmt: skip
    axes = canvas.add_axes(
        left=style.MARGIN + chart_axes.label_room(sheet.lettering, axis),
        top=canvas.top + 12,
        right=style.WIDTH - style.MARGIN,
        bottom=canvas.height - 48,
    )
    places = data.places or tuple(float(index) for index in range(len(data.names)))
    width = typical_step(places) if data.grain else 1.0
    chart_axes.draw_value_axis(axes, axis)
    _set_slots(axes, places, width, style.WIDTH - 2 * style.MARGIN - 60)
    share = 0.68 if len(places) <= 40 else 0.9
    _draw_bars(axes, data, places, width * share, lying=False)
    chart_axes.draw_places(canvas, axes, data.grain, places, data.names)
    if len(places) <= _MOST_VALUE_LABELS and _shows_values(data, sheet):
        _make_room_below(axes, canvas, min(low for low, _ in ends))
        _label_standing(canvas, axes, places, ends, _value_labels(data, sheet))
    return canvas.figure


def _set_slots(axes: Axes, places: Sequence[float], width: float, room: float) -> None:
    """Set the range of places, wide enough that a few bars do not become walls."""
    span = places[-1] - places[0] + width
    spare = max(0.0, room / _WIDEST_SLOT * width - span) / 2
    axes.set_xlim(places[0] - width / 2 - spare, places[-1] + width / 2 + spare)


def _draw_bars(
    axes: Axes, data: ChartData, places: Sequence[float], thickness: float, *, lying: bool
) -> None:
    below, above = [0.0] * len(places), [0.0] * len(places)
    for index, series in enumerate(data.series):
        sizes = [value or 0.0 for value in series.values]
        starts = [below[row] if size < 0 else above[row] for row, size in enumerate(sizes)]
        color = _colors(data) if len(data.series) == 1 else style.series_color(index, series.name)
        if lying:
            bars = axes.barh(places, sizes, thickness, left=starts, color=color, zorder=2)
        else:
            bars = axes.bar(places, sizes, thickness, bottom=starts, color=color, zorder=2)
        if len(data.series) > 1:
            for patch in bars.patches:
                patch.set(
                    edgecolor=style.BACKGROUND, linewidth=0.8, hatch=style.series_hatch(index)
                )
        for row, size in enumerate(sizes):
            if size < 0:
                below[row] += size
            else:
                above[row] += size


def _make_room_below(axes: Axes, canvas: Canvas, lowest: float) -> None:
    """Lengthen the axis where a value under the lowest bar would stand among the names."""
    low, high = axes.get_ylim()
    points = canvas.on_paper(axes, 0, low)[1] - canvas.on_paper(axes, 0, high)[1]
    wanted = (style.SMALL_SIZE + 8) / points * (high - low)
    if lowest < 0 and lowest - low < wanted:
        axes.set_ylim(lowest - wanted, high)


def _label_standing(
    canvas: Canvas,
    axes: Axes,
    places: Sequence[float],
    ends: list[tuple[float, float]],
    labels: list[str],
) -> None:
    points = [
        canvas.on_paper(axes, place, low if low < 0 else high)
        for place, (low, high) in zip(places, ends, strict=True)
    ]
    slot = abs(points[1][0] - points[0][0]) if len(points) > 1 else _WIDEST_SLOT
    widest = max(canvas.lettering.width(label, style.SMALL_SIZE) for label in labels)
    if widest > slot - 4:
        return
    for (x, y), (low, _), label in zip(points, ends, labels, strict=True):
        below = low < 0
        canvas.value_text(
            x, y + (4 if below else -4), label, valign="top" if below else "baseline",
            color=style.MUTED if label == _NO_VALUE[canvas.sheet.lang] else style.INK,
        )  # fmt: skip


def _lying(data: ChartData, sheet: Sheet) -> Figure:
    names = _wrapped(data.names, sheet.lettering)
    row = 16 + 16.5 * max(1 + name.count("\n") for name in names)
    if len(names) > 20:
        row -= 5
    canvas = Canvas(sheet, height=row * len(names) + 24, key=_key(data))
    room = max(sheet.lettering.width(name, style.TEXT_SIZE) for name in names) + 12
    axes = canvas.add_axes(
        left=style.MARGIN + room,
        top=canvas.top + 4,
        right=style.WIDTH - style.MARGIN,
        bottom=canvas.top + 4 + row * len(names),
    )
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    ends = _ends(data)
    labels = _value_labels(data, sheet) if _shows_values(data, sheet) else [""] * len(names)
    _set_reach(canvas, axes, ends, labels, style.WIDTH - 2 * style.MARGIN - room)
    places = [float(index) for index in range(len(names))]
    _draw_bars(axes, data, places, min(0.72, 26 / row), lying=True)
    axes.axvline(0, color=style.BASELINE, linewidth=1.1, zorder=2.5)
    for place, name, label, (low, high) in zip(places, names, labels, ends, strict=True):
        x, y = canvas.on_paper(axes, low if low < 0 else high, place)
        canvas.text(style.MARGIN, y, name, valign="center" if "\n" in name else "center_baseline")
        if label:
            canvas.value_text(
                x - _VALUE_GAP if low < 0 else x + _VALUE_GAP, y, label,
                align="right" if low < 0 else "left",
                color=style.MUTED if label == _NO_VALUE[sheet.lang] else style.INK,
            )  # fmt: skip
    return canvas.figure


def _wrapped(names: Sequence[str], lettering: Lettering) -> list[str]:
    """Return the names in two lines each, or in three where that tells more of them apart."""
    two, three = (
        [lettering.wrap(name, _NAME_WIDTH, size=style.TEXT_SIZE, lines=lines) for name in names]
        for lines in (2, 3)
    )
    return three if len(set(three)) > len(set(two)) else two


def _set_reach(
    canvas: Canvas, axes: Axes, ends: list[tuple[float, float]], labels: list[str], room: float
) -> None:
    """Set the range of values so that the labels at the ends of bars have room beside them."""
    widths = [canvas.lettering.width(label, style.SMALL_SIZE) + 2 * _VALUE_GAP for label in labels]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    before = max((w for w, (end, _) in zip(widths, ends, strict=True) if end < 0), default=2.0)
    after = max((w for w, (end, _) in zip(widths, ends, strict=True) if end >= 0), default=2.0)
    per_point = ((high - low) or 1.0) / (room - before - after)
    axes.set_xlim(low - before * per_point, (high or (0.0 if low else 1.0)) + after * per_point)
