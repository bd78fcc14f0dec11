"""Draws value axes and time axes: grid, baseline, and tick labels that do not touch."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from planloom.analysis.charts import style
from planloom.analysis.charts.canvas import Canvas
from planloom.analysis.charts.lettering import Lettering
from planloom.analysis.charts.periods import Grain, tick_choices, tick_labels
from planloom.analysis.charts.scales import ValueAxis

_TICK_GAP = 14.0
_MOST_TICKS = 13
_LINE = style.SMALL_SIZE * 1.36


def label_room(lettering: Lettering, axis: ValueAxis) -> float:
    """Return the width that the tick labels of a vertical value axis need, in points."""
    return max(lettering.width(label, style.SMALL_SIZE) for label in axis.labels) + 9


def draw_value_axis(axes: Axes, axis: ValueAxis) -> None:
    """Draw a vertical value axis: a thin grid, and a dark line at zero."""
    axes.set_ylim(axis.low, axis.high)
    axes.set_yticks(axis.ticks, axis.labels)
    axes.grid(axis="y", color=style.GRID, linewidth=0.9)
    if axis.low <= 0 <= axis.high:
        axes.axhline(0, color=style.BASELINE, linewidth=1.1, zorder=2.5)


def draw_places(
    canvas: Canvas, axes: Axes, grain: Grain | None, places: Sequence[float], names: Sequence[str]
) -> None:
    """Label the horizontal axis, of time or of ordered categories, below the axes.

    The axes is made higher or lower, so that its labels end just above the picture's edge.
    """
    if grain is None:
        ticks, labels = _name_ticks(canvas, axes, places, names)
    else:
        ticks, labels = _time_ticks(canvas, axes, grain, places)
        axes.tick_params(axis="x", length=5, color=style.REST)
    lines = [label.split("\n") for label in labels]
    bottom = canvas.height - style.MARGIN - _LINE * max(map(len, lines)) - 9
    canvas.lower(axes, bottom)
    axes.set_xticks(ticks, [""] * len(ticks))
    for tick, parts in zip(ticks, lines, strict=True):
        x = canvas.on_paper(axes, tick, 0)[0]
        for row, part in enumerate(parts):
            # Set line by line: matplotlib lines up blocks of text by their ink, so that "Jan"
            # would stand lower than "May".
            canvas.text(
                x,
                bottom + 25 + row * _LINE,
                part,
                size=style.SMALL_SIZE,
                color=style.MUTED,
                align="center",
                valign="baseline",
            )


def _time_ticks(
    canvas: Canvas, axes: Axes, grain: Grain, places: Sequence[float]
) -> tuple[list[float], list[str]]:
    """Return the densest ticks whose labels stand clear of each other and of the edge."""
    ticks: list[float] = []
    labels: list[str] = []
    for ticks in tick_choices(grain, places[0], places[-1]):
        labels = tick_labels(grain, ticks, canvas.sheet.lang)
        spans = [
            (canvas.on_paper(axes, tick, 0)[0], canvas.lettering.width(label, style.SMALL_SIZE))
            for tick, label in zip(ticks, labels, strict=True)
        ]
        clear = all(
            there - here >= (width + next_width) / 2 + _TICK_GAP
            for (here, width), (there, next_width) in pairwise(spans)
        )
        inside = spans[-1][0] + spans[-1][1] / 2 <= style.WIDTH - 4
        if clear and inside and len(ticks) <= _MOST_TICKS:
            break
    return ticks, labels


def _name_ticks(
    canvas: Canvas, axes: Axes, places: Sequence[float], names: Sequence[str]
) -> tuple[list[float], list[str]]:
    """Return ticks with wrapped names; every second, third ... where not all have room."""
    first, last = (canvas.on_paper(axes, place, 0)[0] for place in (places[0], places[-1]))
    slot = (last - first) / (len(names) - 1) if len(names) > 1 else 2 * (style.WIDTH - 4 - last)
    slot = min(slot, 200.0)
    every = 1
    while every < len(names) and not all(
        canvas.lettering.fits(name, slot * every - 10, size=style.SMALL_SIZE, lines=2)
        for name in names[::every]
    ):
        every += 1
    # Beside the edges less room is left than between two ticks.
    width = min(slot * every - 10, 2 * (style.WIDTH - 4 - last), 2 * (first - 4))
    wrapped = [
        canvas.lettering.wrap(name, width, size=style.SMALL_SIZE, lines=2)
        for name in names[::every]
    ]
    return list(places[::every]), wrapped
