"""Text of files and tools on its way to a terminal."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Return text whose control characters are shown, so that no cell can steer a terminal.

    Line breaks and tabs stay; marks that turn the direction of writing go too.

    >>> printable("a\\x1b[31mred\\u202e")
    'a\\\\x1b[31mred\\\\u202e'
    """
    return "".join(
        char if char in "\n\t" or not _steers(char) else char.encode("unicode_escape").decode()
        for char in text
    )


def _steers(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in "\u200c\u200d"
