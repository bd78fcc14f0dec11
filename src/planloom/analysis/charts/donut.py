"""Draws donuts: two to six parts of a whole, each named beside its slice."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math

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


def draw_donut(data: ChartData, sheet: Sheet) -> Figure:
    """Return a donut; slices go clockwise from the top in the order of the rows."""
    data = without_missing(data)
    values = [value for value in data.values if value is not None]
    total = sum(values)
    canvas = Canvas(sheet, height=2 * _RADIUS + 64)
    center = (style.WIDTH / 2, canvas.top + _RADIUS + 30)
    labels: list[tuple[float, str, str, str]] = []
    turned = 0.0
    for index, (name, value) in enumerate(zip(data.names, values, strict=True)):
        share = value / total
        color = style.series_color(index, name)
        # The paper's y axis points down, so growing angles go clockwise; -90 degrees is the top.
        canvas.paper.add_patch(
            Wedge(
                center, _RADIUS, 360 * turned - 90, 360 * (turned + share) - 90, width=_RING,
                facecolor=color, edgecolor=style.BACKGROUND, linewidth=1.6,
            )
        )  # fmt: skip
        labels.append((turned + share / 2, name, _share(share), color))
        turned += share
    _draw_total(canvas, center, total)
    for right in (True, False):
        side = [label for label in labels if (math.sin(math.tau * label[0]) >= 0) == right]
        _draw_side(canvas, center, side, right=right)
    return canvas.figure


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


def _draw_side(
    canvas: Canvas,
    center: tuple[float, float],
    labels: list[tuple[float, str, str, str]],
    *,
    right: bool,
) -> None:
    names = [
        canvas.lettering.wrap(name, _NAME_WIDTH, size=style.TEXT_SIZE, lines=2)
        for _, name, _, _ in labels
    ]
    heights = [_LINE * (2 + name.count("\n")) + 6 for name in names]
    wanted = [center[1] - (_RADIUS + 14) * math.cos(math.tau * turn) for turn, *_ in labels]
    middles = spread(wanted, heights, canvas.top, canvas.height - 4)
    sign = 1 if right else -1
    for (turn, _, share, color), name, height, middle in zip(
        labels, names, heights, middles, strict=True
    ):
        x = center[0] + sign * (_RADIUS + 30)
        top = middle - height / 2 + 3
        _draw_leader(canvas, center, turn, (x - sign * 5, top + _LINE / 2))
        canvas.text(
            x, top + _LINE / 2, share, bold=True, align="left" if right else "right",
            color=style.text_color(color),
        )  # fmt: skip
        canvas.text(x, top + _LINE, name, align="left" if right else "right", valign="top")


def _draw_leader(
    canvas: Canvas, center: tuple[float, float], turn: float, end: tuple[float, float]
) -> None:
    angle = math.tau * turn
    out = [
        (center[0] + radius * math.sin(angle), center[1] - radius * math.cos(angle))
        for radius in (_RADIUS + 2, _RADIUS + 10)
    ]
    canvas.guide([*out, end])
