"""Looks at a finished picture for what a reader would stumble over."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, Wedge
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from planloom.analysis.charts.canvas import GUIDE
from planloom.analysis.charts.glyphs import missing_glyphs

ProblemKind = Literal[
    "missing_glyph", "empty_label", "cut", "overlap", "no_data", "not_from_zero", "order",
    "crowded",
]  # fmt: skip
# Boxes of text are taller than its ink, so touching by a pixel is no overlap.
_SLACK: Final = 1.5
_THINNEST_BAR: Final = 1.0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a picture."""

    kind: ProblemKind
    text: str
    """What is wrong, with the value, and what to do."""


def check_figure(figure: Figure) -> tuple[Problem, ...]:
    """Return what is wrong with a finished figure; empty when it can be shown.

    The figure is laid out anew, without writing a picture.
    """
    figure.draw_without_rendering()
    boxes = [
        (text.get_text(), text.get_window_extent())
        for text in _texts(figure)
        if text.get_text().strip()
    ]
    return (
        *_missing(figure),
        *_empty_labels(figure),
        *_cut(figure, boxes),
        *_overlaps(boxes),
        *_marks(figure),
    )


def _texts(figure: Figure) -> Iterator[Text]:
    hidden = {id(label) for axis in _axises(figure) for label in _undrawn_labels(axis)}
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_visible() and id(text) not in hidden:
            yield text


def _axises(figure: Figure) -> Iterator[Axis]:
    for axes in figure.axes:
        yield from (axes.xaxis, axes.yaxis)


def _undrawn_labels(axis: Axis) -> Iterator[Text]:
    """Yield the tick labels that exist but are not drawn: outside of the range, or switched off."""
    low, high = sorted(axis.get_view_interval())
    slack = (high - low) * 1e-9
    shown = axis.get_visible() and axis.axes.axison
    ticks = (*axis.get_major_ticks(), *axis.get_minor_ticks())
    for tick in ticks:
        if not (shown and low - slack <= tick.get_loc() <= high + slack):
            yield from (tick.label1, tick.label2)


def _missing(figure: Figure) -> Iterator[Problem]:
    for text in _texts(figure):
        words = text.get_text()
        missing = missing_glyphs(words, _font_paths(text.get_fontproperties()))
        if missing:
            yield Problem(
                "missing_glyph",
                f"{words!r} holds {_few(sorted(missing))}, which the chart's fonts cannot draw. "
                "Install a font for it, or rename it.",
            )


def _font_paths(properties: FontProperties) -> list[str]:
    """Return the files in which matplotlib looks for a text's characters."""
    paths: list[str] = []
    for family in properties.get_family():
        single = properties.copy()
        single.set_family([family])
        try:
            paths.append(str(fontManager.findfont(single, fallback_to_default=False)))
        except ValueError:  # No such family: matplotlib passes over it, too.
            continue
    return paths or [str(fontManager.findfont(properties))]


def _empty_labels(figure: Figure) -> Iterator[Problem]:
    for axis in _axises(figure):
        undrawn = {id(label) for label in _undrawn_labels(axis)}
        labels = [label for label in axis.get_ticklabels() if id(label) not in undrawn]
        blank = [label for label in labels if not label.get_text().strip()]
        if blank and len(blank) < len(labels):
            yield Problem(
                "empty_label",
                f"{len(blank)} of {len(labels)} tick labels are blank. Name the blank categories.",
            )


def _cut(figure: Figure, boxes: list[tuple[str, Bbox]]) -> Iterator[Problem]:
    page = figure.bbox
    for text, box in boxes:
        inside = (
            box.x0 >= page.x0 - _SLACK and box.x1 <= page.x1 + _SLACK
            and box.y0 >= page.y0 - _SLACK and box.y1 <= page.y1 + _SLACK
        )  # fmt: skip
        if not inside:
            yield Problem("cut", f"{text!r} is cut off at the edge of the picture. Shorten it.")


def _overlaps(boxes: list[tuple[str, Bbox]]) -> Iterator[Problem]:
    for (first, one), (second, other) in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        if width > _SLACK and height > _SLACK:
            yield Problem(
                "overlap", f"{first!r} and {second!r} overlap. Draw fewer or shorter labels."
            )


def _marks(figure: Figure) -> Iterator[Problem]:
    lines = [line for axes in figure.axes for line in axes.lines if _is_mark(line)]
    bars = [bar for axes in figure.axes for bar in _bars(axes)]
    wedges = [
        patch for axes in figure.axes for patch in axes.patches
        if isinstance(patch, Wedge) and patch.theta1 != patch.theta2
    ]  # fmt: skip
    if not (lines or bars or wedges):
        yield Problem("no_data", "No line, bar or slice is drawn. Use rows that hold values.")
    for axes in figure.axes:
        yield from _baseline(axes)
    for line in lines:
        places = _known(line.get_xdata())
        if any(after < before for before, after in pairwise(places)):
            yield Problem("order", "A line runs backwards. Sort the rows by the horizontal axis.")


def _is_mark(line: Line2D) -> bool:
    # Lines across a whole axes, such as the one at zero, are measured in parts of the axes.
    if line.get_gid() == GUIDE:
        return False
    data = line.get_transform().contains_branch_seperately(line.axes.transData)
    return all(data) and bool(_known(line.get_ydata()))


def _bars(axes: Axes) -> list[Rectangle]:
    containers = [each for each in axes.containers if isinstance(each, BarContainer)]
    return [bar for container in containers for bar in container.patches]


def _baseline(axes: Axes) -> Iterator[Problem]:
    for container in axes.containers:
        if not isinstance(container, BarContainer) or not container.patches:
            continue
        lying = container.orientation == "horizontal"
        low, high = sorted(axes.get_xlim() if lying else axes.get_ylim())
        if not low <= 0 <= high:
            yield Problem(
                "not_from_zero",
                f"Bars are shown from {low:,.10g} to {high:,.10g}, without zero, so their "
                "lengths mislead. Let the axis begin at zero.",
            )
        boxes = [bar.get_window_extent() for bar in container.patches]
        thinnest = min(box.height if lying else box.width for box in boxes)
        if thinnest < _THINNEST_BAR:
            yield Problem(
                "crowded",
                f"{len(boxes)} bars are too many to tell apart. "
                "Keep the largest and group the rest, or sum up longer periods.",
            )


def _known(values: object) -> list[float]:
    return [float(value) for value in np.ravel(np.asarray(values, float)) if np.isfinite(value)]


def _few(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:8]) + (" …" if len(names) > 8 else "")
