"""How charts look: sizes, colours, and the settings of matplotlib that they are drawn with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# Lengths are in points, and a point is one CSS pixel when the picture is shown 720 wide; the
# file has two pixels for each, so that it stays sharp on phones and in print.
WIDTH: Final = 720
HEIGHT: Final = 405
DPI: Final = 144
MARGIN: Final = 20

TITLE_SIZE: Final = 21.0
TEXT_SIZE: Final = 15.0
SMALL_SIZE: Final = 14.0

BACKGROUND: Final = "#FFFFFF"
INK: Final = "#1A1E23"
MUTED: Final = "#5C6670"
GRID: Final = "#DDE1E5"
BASELINE: Final = "#3A424B"

ACCENT: Final = "#0F5499"
SOFT: Final = "#7799B8"
NEGATIVE: Final = "#B4512D"
REST: Final = "#A3ABB3"
"""For "other", which is no category of its own."""
SERIES: Final = (
    "#0F5499", "#C96E38", "#1A8D82", "#BF2860", "#76AAF2", "#D6AE2F", "#3B4D3C", "#CAA1CA",
)  # fmt: skip
"""Found by a search for colours that stay apart under protanopia, deuteranopia and tritanopia
(simulated after Machado et al. 2009); a test keeps it so."""

SETTINGS: Final[Mapping[str, object]] = {
    "axes.edgecolor": BASELINE,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "figure.dpi": DPI,
    "figure.facecolor": BACKGROUND,
    "font.size": TEXT_SIZE,
    "hatch.linewidth": 2.0,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "path.simplify": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "planloom",
    "text.color": INK,
    "text.hinting": "no_hinting",
    # Names hold dollar signs, which are no formulas.
    "text.parse_math": False,
}

_REST_NAME = re.compile(
    r"[(（\[]?\s*(?:all\s+)?(?:others?|rest|其他|其它|其余)\s*(?:[)）\]]|[(（\[].*)?", re.IGNORECASE
)


def is_rest(name: str) -> bool:
    """Return whether a category stands for all that is not shown.

    >>> is_rest("Other (7)"), is_rest("其他"), is_rest("Other income")
    (True, True, False)
    """
    return _REST_NAME.fullmatch(name) is not None


def series_color(index: int, name: str = "") -> str:
    """Return the colour of a series, line or slice; the palette starts anew when it is used up."""
    return REST if is_rest(name) else SERIES[index % len(SERIES)]


def series_hatch(index: int) -> str | None:
    """Return the hatching that tells areas apart once the palette has started anew."""
    return None if index < len(SERIES) else "////"


def text_color(color: str) -> str:
    """Return a colour darkened until text in it can be read on the background (WCAG: 4.5 to 1).

    >>> text_color("#0F5499")
    '#0f5499'
    """
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    while contrast_with_white(red, green, blue) < 4.5:
        red, green, blue = (int(part * 0.95) for part in (red, green, blue))
    return f"#{red:02x}{green:02x}{blue:02x}"


def contrast_with_white(red: int, green: int, blue: int) -> float:
    """Return the WCAG contrast ratio between a colour (0..255 each) and white."""
    weights = (0.2126, 0.7152, 0.0722)
    light = sum(
        weight * _linear(part / 255)
        for weight, part in zip(weights, (red, green, blue), strict=True)
    )
    return 1.05 / (light + 0.05)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
