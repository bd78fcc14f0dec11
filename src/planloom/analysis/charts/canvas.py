"""The sheet that a chart is drawn on: title, key, and axes placed in points from the top left."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from planloom.analysis.charts import style
from planloom.analysis.charts.lettering import Lettering
from planloom.notes import Lang

_TOP: Final = 16.0
_LEADING: Final = 1.28
_SWATCH: Final = 12.0
GUIDE: Final = "guide"
"""The `gid` of lines that stand for no data."""
Align = Literal["left", "center", "right"]
VerticalAlign = Literal["top", "center", "bottom", "baseline", "center_baseline"]


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One colour of the key below the title."""

    name: str
    color: str
    hatch: str | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """What stands on every chart, whatever its kind."""

    lettering: Lettering
    lang: Lang
    unit: str
    title: str
    subtitle: str


class Canvas:
    """A figure with its title drawn; `top` tells where the rest may begin.

    Everything is placed in points from the top left corner; `paper` is an axes over the whole
    figure with these coordinates.
    """

    def __init__(self, sheet: Sheet, *, height: float | None = None, key: Sequence[KeyEntry] = ()):
        """Begin a figure as high as usual, or with `height` points below its title."""
        self.sheet = sheet
        self.lettering = sheet.lettering
        width = style.WIDTH - 2 * style.MARGIN
        title = self.lettering.wrap(sheet.title, width, size=style.TITLE_SIZE, lines=2)
        subtitle = self.lettering.wrap(sheet.subtitle, width, size=style.TEXT_SIZE, lines=2)
        rows = _key_rows(self.lettering, key, width)
        self.top = _TOP + _height(title, style.TITLE_SIZE) + _height(subtitle, style.TEXT_SIZE)
        self.top += 8 + len(rows) * style.TEXT_SIZE * 1.5 + (4 if rows else 0)
        self.height = max(style.HEIGHT, self.top) if height is None else self.top + height
        self.figure = Figure(figsize=(style.WIDTH / 72, self.height / 72), dpi=style.DPI)
        FigureCanvasAgg(self.figure)
        self.paper = self.figure.add_axes((0, 0, 1, 1), label="paper")
        self.paper.set(xlim=(0, style.WIDTH), ylim=(self.height, 0), xticks=[], yticks=[], zorder=2)
        self.paper.set_axis_off()
        self._draw_header(title, subtitle, rows)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = style.TEXT_SIZE,
        color: str = style.INK,
        align: Align = "left",
        valign: VerticalAlign = "center_baseline",
        bold: bool = False,
    ) -> Text:
        """Write on the paper, at a point in points."""
        artist = self.paper.text(
            x, y, text, size=size, color=color, ha=align, va=valign, linespacing=1.15,
            family=self.lettering.typeface.families_for(text),
        )  # fmt: skip
        if bold:
            embolden(artist, color)
        return artist

    def value_text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        color: str = style.INK,
        align: Align = "center",
        valign: VerticalAlign = "center_baseline",
    ) -> None:
        """Write a value beside its mark, readable across the lines of the grid."""
        artist = self.text(
            x, y, text, size=style.SMALL_SIZE, color=color, align=align, valign=valign
        )
        artist.set_path_effects([withStroke(linewidth=3, foreground=style.BACKGROUND)])

    def add_axes(self, *, left: float, top: float, right: float, bottom: float) -> Axes:
        """Add axes without a box or ticks between these points of the paper."""
        axes = self.figure.add_axes(
            (
                left / style.WIDTH,
                1 - bottom / self.height,
                max(1, right - left) / style.WIDTH,
                max(1, bottom - top) / self.height,
            ),
            zorder=1,
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(
            length=0, pad=7, colors=style.MUTED, labelsize=style.SMALL_SIZE, labelcolor=style.MUTED
        )
        axes.set_axisbelow(True)
        return axes

    def lower(self, axes: Axes, bottom: float) -> None:
        """Move the lower edge of an axes to a height on the paper."""
        box = axes.get_position()
        axes.set_position(
            (box.x0, 1 - bottom / self.height, box.width, box.y1 - 1 + bottom / self.height)
        )

    def guide(
        self, points: Sequence[tuple[float, float]], *, color: str = style.REST, dot: bool = False
    ) -> None:
        """Draw a thin line (or a dot) that leads the eye and stands for no data of its own."""
        x, y = zip(*points, strict=True)
        if dot:
            self.paper.plot(
                x, y, gid=GUIDE, color=color, marker="o", markersize=6, linestyle="none"
            )
        else:
            self.paper.plot(x, y, gid=GUIDE, color=color, linewidth=0.9)

    def on_paper(self, axes: Axes, x: float, y: float) -> tuple[float, float]:
        """Return the point of the paper where a value of an axes lies."""
        there = axes.transData.transform((x, y))
        point = self.paper.transData.inverted().transform(there)
        return float(point[0]), float(point[1])

    def _draw_header(
        self, title: str, subtitle: str, rows: list[list[tuple[float, KeyEntry]]]
    ) -> None:
        y = _TOP
        self.text(style.MARGIN, y, title, size=style.TITLE_SIZE, valign="top", bold=True)
        y += _height(title, style.TITLE_SIZE)
        if subtitle:
            self.text(style.MARGIN, y, subtitle, color=style.MUTED, valign="top")
            y += _height(subtitle, style.TEXT_SIZE)
        y += 4 + style.TEXT_SIZE * 0.75
        for row in rows:
            for x, entry in row:
                self._draw_key_entry(style.MARGIN + x, y, entry)
            y += style.TEXT_SIZE * 1.5

    def _draw_key_entry(self, x: float, y: float, entry: KeyEntry) -> None:
        self.paper.add_patch(
            Rectangle(
                (x, y - _SWATCH / 2),
                _SWATCH,
                _SWATCH,
                facecolor=entry.color,
                hatch=entry.hatch,
                edgecolor=style.BACKGROUND,
                lw=0,
            )
        )
        self.text(x + _SWATCH + 6, y, entry.name, size=style.SMALL_SIZE)


def embolden(text: Text, color: str) -> None:
    """Make a text bolder by an outline; the fonts for Chinese often come in one weight only."""
    size = float(text.get_fontsize())
    text.set_path_effects([withStroke(linewidth=size * 0.045, foreground=color)])


def _height(text: str, size: float) -> float:
    return (text.count("\n") + 1) * size * _LEADING + 3 if text else 0


def _key_rows(
    lettering: Lettering, key: Sequence[KeyEntry], width: float
) -> list[list[tuple[float, KeyEntry]]]:
    """Return the key's entries with their x, row by row."""
    rows: list[list[tuple[float, KeyEntry]]] = []
    x = width
    for entry in key:
        name = lettering.cut(entry.name, width / 3, size=style.SMALL_SIZE)
        size = _SWATCH + 6 + lettering.width(name, style.SMALL_SIZE)
        if x + size > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, replace(entry, name=name)))
        x += size + 18
    return rows
