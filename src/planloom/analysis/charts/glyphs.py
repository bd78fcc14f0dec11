"""Tells which characters a set of font files cannot draw."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from matplotlib.ft2font import FaceFlags, FT2Font


def missing_glyphs(text: str, paths: Sequence[str]) -> set[str]:
    """Return the characters of `text` that no font of `paths` can draw.

    White space is never counted.
    """
    letters = {letter for letter in text if not letter.isspace()}
    for path in paths:
        if letters:
            letters = {letter for letter in letters if not has_glyph(path, letter)}
    return letters


def has_glyph(path: str, letter: str) -> bool:
    """Return whether the font file has a glyph of its own for a character."""
    return bool(_opened(path).get_char_index(ord(letter)))


def is_usable(path: str) -> bool:
    """Return whether a font file can be read and drawn at any size."""
    try:
        # Fonts made of pictures (colour emoji) come in one size only.
        return FaceFlags.SCALABLE in _opened(path).face_flags
    except (OSError, RuntimeError):
        return False


def fonts_for(letters: set[str], paths: Iterable[str]) -> list[str]:
    """Return those of `paths`, tried in order, that together draw as many `letters` as possible."""
    chosen: list[str] = []
    for path in paths:
        if not letters:
            break
        if not is_usable(path):
            continue
        rest = missing_glyphs("".join(letters), [path])
        if len(rest) < len(letters):
            chosen.append(path)
            letters = rest
    return chosen


def is_cjk(letter: str) -> bool:
    """Return whether a character is written in a full square, as Chinese ones are; no emoji.

    >>> is_cjk("万"), is_cjk("，"), is_cjk("k")
    (True, True, False)
    """
    square = unicodedata.east_asian_width(letter) in ("W", "F")
    return square and unicodedata.category(letter) != "So"


@lru_cache(maxsize=64)
def _opened(path: str) -> FT2Font:
    return FT2Font(path)
