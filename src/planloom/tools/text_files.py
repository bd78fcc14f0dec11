"""Reads text files a page at a time, whatever their encoding and size."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planloom.analysis.loading.byte_scan import scan_bytes
from planloom.analysis.loading.encoding import codec_of, detect_encoding, wide_without_mark
from planloom.errors import ToolError

MAX_PAGE_CHARS = 8_000
"""A page is never longer: it is meant for a model to read."""
_PIECE_CHARS = 65_536
_HEAD_BYTES = 8_192
_TABLE_TOOL = "Read its table with read_csv_file."
_OTHER_TOOL = "It holds no plain text; a tool made for that kind of file is needed."
# Files that are no text, by their first bytes, each with what to do instead.
_NO_TEXT = (
    (b"PAR1", "a Parquet file", _TABLE_TOOL),
    (b"PK\x03\x04", "an Office document or ZIP archive", f"If it is a workbook: {_TABLE_TOOL}"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", f"If it is a workbook: {_TABLE_TOOL}"),
    (b"\x1f\x8b", "a gzip archive", f"If a table is inside: {_TABLE_TOOL}"),
    (b"%PDF", "a PDF document", _OTHER_TOOL),
    (b"\x89PNG", "a picture", _OTHER_TOOL),
    (b"\xff\xd8\xff", "a picture", _OTHER_TOOL),
    (b"GIF8", "a picture", _OTHER_TOOL),
    (b"SQLite format 3\0", "an SQLite database", _OTHER_TOOL),
)


@dataclass(frozen=True, kw_only=True)
class FilePage:
    """A piece of a text file."""

    path: str
    encoding: str
    """As it was found out."""
    first_line: int
    """Number of the first line of `text`, from 1."""
    text: str
    """At most `MAX_PAGE_CHARS` characters; line ends are "\\n"."""
    next_line: int | None
    """Where the next page begins; None when the file ends here."""
    next_char: int = 0
    """Characters of the next line that this page holds already: long lines are cut."""


def open_text(path: Path, shown: str) -> tuple[io.TextIOWrapper, str]:
    """Return a text file open for reading, and the name of its encoding.

    Raises:
        ToolError: it is no text; names what it is and the tool that reads it.
    """
    refuse_binary(path, shown)
    encoding = detect_encoding(path, scan_bytes(path))
    file = path.open(encoding=codec_of(encoding), errors="replace")
    return file, encoding.name


def refuse_binary(path: Path, shown: str) -> None:
    """Raise a ToolError when a file is no text."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    for magic, what, mend in _NO_TEXT:
        if head.startswith(magic):
            raise ToolError(f"'{shown}' is {what}, not a text file. {mend}")
    if _is_binary(head):
        raise ToolError(f"'{shown}' holds binary data, not text. {_OTHER_TOOL}")


def _is_binary(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or wide_without_mark(head):
        return False
    controls = sum(head.count(byte) for byte in range(32) if byte not in (9, 10, 11, 12, 13, 27))
    return 0 in head or controls > len(head) * 0.05


def read_page(path: Path, shown: str, *, start_line: int, start_char: int, lines: int) -> FilePage:
    """Return the piece that begins at character `start_char` of line `start_line`.

    Raises:
        ToolError: the file is no text, or ends before that place.
    """
    file, encoding = open_text(path, shown)
    with file:
        _skip_to(file, shown, start_line, start_char)
        text, line, char = _take(file, start_line, start_char, lines)
        ended = not file.read(1)
    return FilePage(
        path=shown,
        encoding=encoding,
        first_line=start_line,
        text=text,
        next_line=None if ended else line,
        next_char=0 if ended else char,
    )


def _skip_to(file: io.TextIOWrapper, shown: str, line: int, char: int) -> None:
    for number in range(1, line):
        if not _skip_line(file) and number < line - 1:
            raise ToolError(f"'{shown}' has {number - 1} lines; line {line} is behind its end.")
    left = char
    while left > 0:
        piece = file.readline(min(left, _PIECE_CHARS))
        if not piece or piece.endswith("\n"):
            raise ToolError(f"Line {line} of '{shown}' has fewer than {char} characters.")
        left -= len(piece)


def _skip_line(file: io.TextIOWrapper) -> bool:
    """Move behind the next line end; return whether there was a line."""
    # In pieces: a line may be larger than the memory.
    piece = file.readline(_PIECE_CHARS)
    found = bool(piece)
    while piece and not piece.endswith("\n"):
        piece = file.readline(_PIECE_CHARS)
    return found


def _take(file: io.TextIOWrapper, line: int, char: int, lines: int) -> tuple[str, int, int]:
    """Return a page's text, with line and character where the next one begins."""
    parts: list[str] = []
    room, last = MAX_PAGE_CHARS, line + lines
    while room > 0 and line < last:
        piece = file.readline(room)
        if not piece:
            break
        parts.append(piece)
        room -= len(piece)
        line, char = (line + 1, 0) if piece.endswith("\n") else (line, char + len(piece))
    return "".join(parts), line, char


def numbered_lines(file: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line; very long lines come in pieces of one number."""
    number = 1
    while piece := file.readline(_PIECE_CHARS):
        yield number, piece.rstrip("\n")
        number += piece.endswith("\n")
