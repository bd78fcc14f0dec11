"""Gives the lines of a text file, decoded piece by piece, whatever its line ends and oddities."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from planloom.analysis.loading.byte_scan import CHUNK_BYTES, ByteScan, read_chunks
from planloom.analysis.loading.encoding import Encoding, codec_of


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """A text file whose bytes were counted and whose encoding is known."""

    path: Path
    scan: ByteScan
    encoding: Encoding

    @property
    def is_wide(self) -> bool:
        """Every character takes two or four bytes, so that zero bytes are nothing odd."""
        return self.encoding.name.startswith(("utf-16", "utf-32"))

    @property
    def has_nul(self) -> bool:
        """NUL bytes stand in the text, as after a broken copy."""
        return self.scan.nul > 0 and not self.is_wide

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends (LF, CR LF or CR); NUL characters are left out."""
        codec = codec_of(self.encoding)
        with io.TextIOWrapper(
            self.path.open("rb"), encoding=codec, errors=self.encoding.errors, newline=""
        ) as file:
            lines: Iterator[str] = file
            if self.has_nul:
                lines = (line.replace("\0", "") for line in lines)
            yield from _without_torn_ends(lines) if self.scan.cr_crlf else lines

    def first_lines(self, count: int, *, max_chars: int = 1 << 20) -> list[str]:
        """Return the first lines, fewer when they are very long."""
        found: list[str] = []
        chars = 0
        for line in islice(self.lines(), count):
            found.append(line)
            chars += len(line)
            if chars > max_chars:
                break
        return found

    def write_utf8(self, target: Path, progress: Callable[[int], None] | None = None) -> None:
        """Write the text as UTF-8 without a mark and without NUL bytes."""
        decoder = codecs.getincrementaldecoder(codec_of(self.encoding))(self.encoding.errors)
        done = 0
        with target.open("wb") as file:
            for chunk in read_chunks(self.path):
                file.write(decoder.decode(chunk).replace("\0", "").encode("utf-8", "replace"))
                done += min(len(chunk), CHUNK_BYTES)
                if progress is not None:
                    progress(done)
            file.write(decoder.decode(b"", final=True).encode("utf-8", "replace"))


def _without_torn_ends(lines: Iterator[str]) -> Iterator[str]:
    """Join the ends of lines that end in CR CR LF, which would look like blank lines."""
    was_torn = False
    for line in lines:
        if was_torn and line in ("\r", "\r\n"):
            was_torn = line == "\r"
            continue
        was_torn = line.endswith("\r")
        yield line
