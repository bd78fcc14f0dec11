"""Sets text: the fonts it is drawn with, its width, and how long names are wrapped and cut."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager

from planloom.analysis.charts import fonts, glyphs, style
from planloom.errors import ToolError

_DEJAVU = "DejaVu Sans"
# Their Latin letters are typewriter-like; DejaVu's are better beside their Chinese.
_POOR_LATIN = ("SimHei", "Droid Sans Fallback", "WenQuanYi Zen Hei")
_UNDRAWABLE = "…"
# Chinese typesetting: these open no line, and those close none.
_NOT_FIRST = frozenset("，。、；：？！）》」』】〕…％%,.;:?!)]}·")
_NOT_LAST = frozenset("（《「『【〔([{")
_BREAK_AFTER = frozenset(" -/_|&+·")


@dataclass(frozen=True, slots=True)
class Typeface:
    """The fonts of a picture, in the order in which a character is looked for."""

    families: tuple[str, ...]
    """Names under which matplotlib knows them."""
    paths: tuple[str, ...]
    """Their files."""

    def families_for(self, text: str) -> list[str]:
        """Return the fonts for one text: first the one that can draw all of it.

        A word put together from two fonts looks broken; worse, an accented letter that the first
        font lacks would be drawn as a bare letter with the accent beside it.
        """
        order = range(len(self.paths))
        whole = next(
            (index for index in order if not glyphs.missing_glyphs(text, [self.paths[index]])), 0
        )
        return [self.families[index] for index in sorted(order, key=lambda i: (i != whole, i))]


def typeface_for(text: str, *, chinese: Iterable[fonts.FontChoice] | None = None) -> Typeface:
    """Return the fonts to draw `text` with; not every character need have one.

    `chinese` are the fonts for Chinese to choose from, in place of those found here.

    Raises:
        ToolError: the text is Chinese and no font for it was found.
    """
    dejavu = str(fontManager.findfont(FontProperties(family=[_DEJAVU])))
    faces: list[tuple[str, str]] = [(_DEJAVU, dejavu)]
    font = _working_font(fonts.cjk_fonts() if chinese is None else chinese)
    if font is not None:
        place = 1 if font.family in _POOR_LATIN else 0
        faces.insert(place, (_registered(font.path), font.path))
    missing = glyphs.missing_glyphs(text, [path for _, path in faces])
    squares = dict.fromkeys(each for each in text if each in missing and glyphs.is_cjk(each))
    if squares and font is None:
        raise ToolError(
            f"No font here can draw '{''.join(squares)[:8]}', which the chart's text holds. "
            f"Install one: {fonts.INSTALL_LINE}",
            zh=f"没有字体能显示图中的文字“{''.join(squares)[:8]}”。安装方法：{fonts.INSTALL_LINE}",
        )
    if missing:
        more = glyphs.fonts_for(missing, fonts.system_font_files())
        faces += [(_registered(path), path) for path in more]
    return Typeface(tuple(name for name, _ in faces), tuple(path for _, path in faces))


def _working_font(choices: Iterable[fonts.FontChoice]) -> fonts.FontChoice | None:
    """Return the first font whose file can really be read and draws Chinese."""
    for font in choices:
        if glyphs.is_usable(font.path) and not glyphs.missing_glyphs("中文万亿图表", [font.path]):
            return font
    return None


def _registered(path: str) -> str:
    """Make a font file known to matplotlib, once, under a name that no other font answers to."""
    name = f"Planloom {Path(path).name}"
    if any(entry.name == name for entry in fontManager.ttflist):
        return name
    if not any(entry.fname == path for entry in fontManager.ttflist):
        fontManager.addfont(path)
    faces = [entry for entry in fontManager.ttflist if entry.fname == path]
    # A collection holds the same characters in Japanese, Korean and Chinese shapes.
    chosen = next((face for face in faces if face.name.endswith((" SC", " CN"))), faces[0])
    fontManager.ttflist.append(replace(chosen, name=name, style="normal", weight=400))
    return name


@dataclass(frozen=True)
class Lettering:
    """Measures text in one typeface; all lengths are in points."""

    typeface: Typeface
    _widths: dict[tuple[str, float], float] = field(
        default_factory=dict[tuple[str, float], float], repr=False
    )
    _canvas: FigureCanvasAgg = field(
        default_factory=lambda: FigureCanvasAgg(Figure(figsize=(1, 1), dpi=style.DPI)), repr=False
    )

    def drawable(self, text: str) -> str:
        """Return the text on one line, without what the fonts cannot draw; "" when that is all.

        Pictures such as emoji, control characters and accents without a glyph are left out; a run
        of letters in an unknown script becomes "…".
        """
        text = " ".join(unicodedata.normalize("NFC", text).split())
        missing = glyphs.missing_glyphs(text, self.typeface.paths)
        kept: list[str] = []
        for letter in text:
            if letter not in missing:
                kept.append(letter)
            elif letter.isalnum() and kept[-1:] != [_UNDRAWABLE]:
                kept.append(_UNDRAWABLE)
        left = " ".join("".join(kept).split())
        return "" if not left.strip(f"{_UNDRAWABLE} ()（）-_.,") else left

    def width(self, text: str, size: float) -> float:
        """Return how wide a text is drawn; of several lines, the widest."""
        key = (text, size)
        if key not in self._widths:
            self._widths[key] = max(self._line_width(line, size) for line in text.split("\n"))
        return self._widths[key]

    def _line_width(self, line: str, size: float) -> float:
        properties = FontProperties(family=self.typeface.families_for(line), size=size)
        renderer = self._canvas.get_renderer()
        pixels, _, _ = renderer.get_text_width_height_descent(line, properties, ismath=False)
        return pixels * 72 / style.DPI

    def wrap(self, text: str, width: float, *, size: float, lines: int) -> str:
        """Return the text in at most `lines` lines of `width`, cut with "…" where it is longer."""
        done: list[str] = []
        rest = text
        while rest and len(done) < lines - 1:
            cut = self._line_end(rest, width, size)
            done.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip()
        if rest:
            done.append(self.cut(rest, width, size=size))
        return "\n".join(done)

    def cut(self, text: str, width: float, *, size: float) -> str:
        """Return the text, or as much of it as fits `width` together with "…"."""
        if self.width(text, size) <= width:
            return text
        return text[: self._fitting(text, width, size, tail="…")].rstrip() + "…"

    def fits(self, text: str, width: float, *, size: float, lines: int) -> bool:
        """Return whether the text can be wrapped into `lines` lines without breaking a word."""
        for _ in range(lines):
            if self.width(text, size) <= width:
                return True
            cut = self._line_end(text, width, size)
            if not _may_break(text, cut):
                return False
            text = text[cut:].lstrip()
        return not text

    def _line_end(self, text: str, width: float, size: float) -> int:
        """Return the length of the first line: up to the last good break that fits."""
        if self.width(text, size) <= width:
            return len(text)
        most = max(1, self._fitting(text, width, size))
        return next((cut for cut in range(most, 0, -1) if _may_break(text, cut)), most)

    def _fitting(self, text: str, width: float, size: float, *, tail: str = "") -> int:
        """Return how many characters fit, found by halving: widths grow with length."""
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.width(text[:middle].rstrip() + tail, size) <= width:
                low = middle
            else:
                high = middle - 1
        return low


def _may_break(text: str, cut: int) -> bool:
    """Return whether a line may end before `text[cut]`."""
    if cut >= len(text):
        return True
    before, after = text[cut - 1], text[cut]
    if after in _NOT_FIRST or before in _NOT_LAST:
        return False
    return before in _BREAK_AFTER or after == " " or glyphs.is_cjk(before) or glyphs.is_cjk(after)


def spread(wanted: Sequence[float], sizes: Sequence[float], low: float, high: float) -> list[float]:
    """Return places near `wanted` at which labels of these sizes do not overlap.

    Places are the labels' middles and keep the order of `wanted`; all labels lie within
    [low, high] when there is room. The sum of squared moves is the least possible.

    >>> spread([10, 12], [8, 8], 0, 100)
    [7.0, 15.0]
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    offsets = {
        index: sum(sizes[other] for other in order[:rank]) + sizes[index] / 2
        for rank, index in enumerate(order)
    }
    # Less its offset, each place must only be no smaller than the one before: isotonic regression.
    starts = _isotonic([wanted[index] - offsets[index] for index in order])
    places = [0.0] * len(wanted)
    for index, start in zip(order, starts, strict=True):
        places[index] = max(low, min(high - sum(sizes), start)) + offsets[index]
    return places


def _isotonic(values: Sequence[float]) -> list[float]:
    """Return the nearest non-decreasing values (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            total, count = total + blocks[-1][0], count + blocks[-1][1]
            blocks.pop()
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
