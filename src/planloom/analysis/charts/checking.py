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
from matplotlib.patches import Wedge
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from planloom.analysis.charts.canvas import GUIDE
from planloom.analysis.charts.glyphs import missing_glyphs
from planloom.notes import Note

ProblemKind = Literal[
    "missing_glyph", "empty_label", "cut", "overlap", "no_data", "not_from_zero", "order",
    "crowded",
]  # fmt: skip
# Boxes of text are taller than its ink, so touching by a pixel is no overlap.
_SLACK: Final = 1.5
_THINNEST_BAR: Final = 1.0
_NO_DATA: Final = Note(
    "No line, bar or slice is drawn. Use rows that hold values.",
    "图中没有任何线、柱或扇区。请使用有值的数据行。",
)
_BACKWARDS: Final = Note(
    "A line runs backwards. Sort the rows by the horizontal axis.",
    "折线出现回折。请按横轴对数据行排序。",
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a picture."""

    kind: ProblemKind
    note: Note
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
        if text.get_visible() and id(text) not in hidden:
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
            note = Note(
                "'{text}' holds {missing}, which the chart's fonts cannot draw. "
                "Install a font for it, or rename it.",
                "“{text}”中的 {missing} 没有字体可以显示。请安装相应字体，或改名。",
                {"text": words, "missing": _few(sorted(missing))},
            )
            yield Problem("missing_glyph", note)


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
        # All blank is a choice, such as labels that are written in another way.
        if blank and len(blank) < len(labels):
            note = Note(
                "{blank} of {all} tick labels are blank. Name the blank categories.",
                "{all} 个刻度标签中有 {blank} 个为空。请为空白类别命名。",
                {"blank": len(blank), "all": len(labels)},
            )
            yield Problem("empty_label", note)


def _cut(figure: Figure, boxes: list[tuple[str, Bbox]]) -> Iterator[Problem]:
    page = figure.bbox.padded(_SLACK)
    for text, box in boxes:
        inside = page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        if not inside:
            note = Note(
                "'{text}' is cut off at the edge of the picture. Shorten it.",
                "“{text}”超出了图片边缘。请缩短文字。",
                {"text": text},
            )
            yield Problem("cut", note)


def _overlaps(boxes: list[tuple[str, Bbox]]) -> Iterator[Problem]:
    for (first, one), (second, other) in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        if width > _SLACK and height > _SLACK:
            note = Note(
                "'{first}' and '{second}' overlap. Draw fewer or shorter labels.",
                "“{first}”与“{second}”重叠。请减少或缩短标签。",
                {"first": first, "second": second},
            )
            yield Problem("overlap", note)


def _marks(figure: Figure) -> Iterator[Problem]:
    lines = [line for axes in figure.axes for line in axes.lines if _is_mark(line, axes)]
    bars = [bar for axes in figure.axes for group in _bars(axes) for bar in group.patches]
    slices = [
        patch for axes in figure.axes for patch in axes.patches
        if isinstance(patch, Wedge) and patch.theta1 != patch.theta2
    ]  # fmt: skip
    if not (lines or bars or slices):
        yield Problem("no_data", _NO_DATA)
    for axes in figure.axes:
        for group in _bars(axes):
            yield from _bad_bars(axes, group)
    for line in lines:
        places = _known(line.get_xdata())
        if any(after < before for before, after in pairwise(places)):
            yield Problem("order", _BACKWARDS)


def _is_mark(line: Line2D, axes: Axes) -> bool:
    if line.get_gid() == GUIDE:
        return False
    # Lines across a whole axes, such as the one at zero, are measured in parts of the axes.
    in_data = line.get_transform().contains_branch_seperately(axes.transData)
    return all(in_data) and bool(_known(line.get_ydata()))


def _bars(axes: Axes) -> list[BarContainer]:
    containers = [group for group in axes.containers if isinstance(group, BarContainer)]
    return [group for group in containers if group.patches]


def _bad_bars(axes: Axes, bars: BarContainer) -> Iterator[Problem]:
    lying = bars.orientation == "horizontal"
    low, high = sorted(axes.get_xlim() if lying else axes.get_ylim())
    if not low <= 0 <= high:
        note = Note(
            "Bars are shown from {low} to {high}, without zero, so their lengths mislead. "
            "Let the axis begin at zero.",
            "柱子的坐标轴为 {low} 到 {high}，不含零，长度会误导读者。请让坐标轴从零开始。",
            {"low": f"{low:,.10g}", "high": f"{high:,.10g}"},
        )
        yield Problem("not_from_zero", note)
    boxes = [bar.get_window_extent() for bar in bars.patches]
    if min(box.height if lying else box.width for box in boxes) < _THINNEST_BAR:
        note = Note(
            "{bars} bars are too many to tell apart. "
            "Keep the largest and group the rest, or sum up longer periods.",
            "{bars} 根柱子过多，无法分辨。请保留最大的几项并合并其余，或按更长的周期汇总。",
            {"bars": len(boxes)},
        )
        yield Problem("crowded", note)


def _known(values: object) -> list[float]:
    return [float(value) for value in np.ravel(np.asarray(values, float)) if np.isfinite(value)]


def _few(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:8]) + (" …" if len(names) > 8 else "")
