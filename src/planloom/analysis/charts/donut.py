"""Draws donuts: two to six parts of a whole, each named beside its slice."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import Wedge

from planloom.analysis.charts import style
from planloom.analysis.charts.canvas import Canvas, Sheet
from planloom.analysis.charts.lettering import spread
from planloom.analysis.charts.reading import ChartData, without_missing
from planloom.analysis.charts.scales import short_value

_RADIUS = 118.0
_RING = 46.0
_NAME_WIDTH = 190.0
_LINE = style.TEXT_SIZE * 1.42
_TOTAL = {"en": "total", "zh": "合计"}


@dataclass(frozen=True, slots=True)
class _Slice:
    name: str
    """Wrapped to be written."""
    color: str
    share: float
    """In 0..1."""
    middle: float
    """In turns from the first slice's beginning, clockwise."""


@dataclass(frozen=True, slots=True)
class _Label:
    part: _Slice
    angle: float
    """Of the slice's middle, in radians from the top, clockwise."""
    right: bool
    wanted: float
    """The y beside the slice."""
    middle: float
    """The y where there is room."""
    height: float


def draw_donut(data: ChartData, sheet: Sheet) -> Figure:
    """Return a donut; slices go clockwise from the top in the order of the rows."""
    data = without_missing(data)
    values = [value for value in data.values if value is not None]
    total = sum(values)
    canvas = Canvas(sheet, height=2 * _RADIUS + 64)
    center = (style.WIDTH / 2, canvas.top + _RADIUS + 30)
    slices = _slices(canvas, data.names, values)
    start = _best_start(canvas, center, slices)
    for part in slices:
        # The paper's y axis points down, so growing angles go clockwise; -90 degrees is the top.
        first = 360 * (start + part.middle - part.share / 2) - 90
        canvas.paper.add_patch(
            Wedge(
                center, _RADIUS, first, first + 360 * part.share, width=_RING,
                facecolor=part.color, edgecolor=style.BACKGROUND, linewidth=1.6,
            )
        )  # fmt: skip
    _draw_total(canvas, center, total)
    for label in _placed(canvas, center, slices, start):
        _draw_label(canvas, center, label)
    return canvas.figure


def _slices(canvas: Canvas, names: tuple[str, ...], values: list[float]) -> list[_Slice]:
    slices: list[_Slice] = []
    turned = 0.0
    lines = 3 if len(names) <= 4 else 2
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        share = value / sum(values)
        wrapped = canvas.lettering.wrap(name, _NAME_WIDTH, size=style.TEXT_SIZE, lines=lines)
        color = style.series_color(index, name)
        slices.append(_Slice(wrapped, color, share, turned + share / 2))
        turned += share
    return slices


def _best_start(canvas: Canvas, center: tuple[float, float], slices: list[_Slice]) -> float:
    """Return by which part of a turn to rotate the slices, so that labels stand beside them.

    They begin at the top, or as near to it as they can where small slices crowd there.
    """

    def moved(start: float) -> float:
        labels = _placed(canvas, center, slices, start)
        return max(abs(label.middle - label.wanted) for label in labels)

    starts = sorted((step / 36 for step in range(-18, 18)), key=abs)
    near = next((start for start in starts if moved(start) < 0.75 * _LINE), None)
    return min(starts, key=moved) if near is None else near


def _placed(
    canvas: Canvas, center: tuple[float, float], slices: list[_Slice], start: float
) -> list[_Label]:
    """Return the labels of both sides, moved apart where they would overlap."""
    labels: list[_Label] = []
    for right in (True, False):
        side = [
            (part, math.tau * (start + part.middle))
            for part in slices
            if (math.sin(math.tau * (start + part.middle)) >= 0) == right
        ]
        wanted = [center[1] - (_RADIUS + 12) * math.cos(angle) for _, angle in side]
        heights = [_LINE * (2 + part.name.count("\n")) + 6 for part, _ in side]
        middles = spread(wanted, heights, canvas.top, canvas.height - 4)
        labels += [
            _Label(part, angle, right, wish, middle, height)
            for (part, angle), wish, middle, height in zip(
                side, wanted, middles, heights, strict=True
            )
        ]
    return labels


def _share(share: float) -> str:
    text = f"{share:.1%}"
    return "<0.1%" if text == "0.0%" else text


def _draw_total(canvas: Canvas, center: tuple[float, float], total: float) -> None:
    sheet = canvas.sheet
    if sheet.unit == "%":  # The shares stand at the slices; their sum says nothing new.
        return
    text = short_value(total, unit=sheet.unit, lang=sheet.lang)
    canvas.text(center[0], center[1] - 8, text, size=22, align="center", bold=True)
    canvas.text(
        center[0], center[1] + 16, _TOTAL[sheet.lang], size=style.SMALL_SIZE, color=style.MUTED,
        align="center",
    )  # fmt: skip


def _draw_label(canvas: Canvas, center: tuple[float, float], label: _Label) -> None:
    """Write share and name beside the ring, with a line from the slice to them."""
    sign = 1 if label.right else -1
    x = center[0] + sign * (_RADIUS + 34)
    top = label.middle - label.height / 2 + 3
    y = top + _LINE / 2
    out = (_RADIUS + 3) * math.sin(label.angle), (_RADIUS + 3) * math.cos(label.angle)
    edge = (center[0] + out[0], center[1] - out[1])
    canvas.guide([edge, (x - sign * 16, y), (x - sign * 5, y)])
    align = "left" if label.right else "right"
    canvas.text(
        x, y, _share(label.part.share), bold=True, align=align,
        color=style.text_color(label.part.color),
    )  # fmt: skip
    canvas.text(x, top + _LINE, label.part.name, align=align, valign="top")
