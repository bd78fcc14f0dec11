"""Looks at every byte of a text file once: what it is made of decides how it can be read."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from planloom.errors import InputError

CHUNK_BYTES = 1 << 20
SAMPLE_BYTES = 1 << 18
MAX_UNPACKED_BYTES = 20 * 1024**3
"""A gzip file that unpacks to more is refused: it would fill the disk."""


@dataclass(kw_only=True)
class ByteScan:
    """Counts over all bytes of a text file, with samples for guessing its encoding."""

    size: int = 0
    nul: int = 0
    quotes: int = 0
    """Double quotes."""
    lf: int = 0
    cr: int = 0
    crlf: int = 0
    cr_crlf: int = 0
    """CR CR LF: a CRLF file that was converted once too often."""
    is_ascii: bool = True
    is_utf8: bool = True
    head: bytes = b""
    """The first `SAMPLE_BYTES`."""
    foreign: bytearray = field(default_factory=bytearray)
    """Lines with bytes outside of ASCII, from the whole file, up to `SAMPLE_BYTES`."""


def scan_bytes(path: Path, progress: Callable[[int], None] | None = None) -> ByteScan:
    """Return the counts of a file; `progress` is told the bytes read so far."""
    scan = ByteScan()
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    tail = b""
    for chunk in read_chunks(path):
        scan.size += len(chunk)
        _count_line_ends(scan, chunk, tail)
        scan.nul += chunk.count(b"\0")
        scan.quotes += chunk.count(b'"')
        scan.is_utf8 = scan.is_utf8 and _decodes(decoder, chunk, final=False)
        if not chunk.isascii():
            scan.is_ascii = False
            _sample_foreign(scan, chunk)
        if len(scan.head) < SAMPLE_BYTES:
            scan.head += chunk[: SAMPLE_BYTES - len(scan.head)]
        tail = chunk[-2:]
        if progress is not None:
            progress(scan.size)
    scan.is_utf8 = scan.is_utf8 and _decodes(decoder, b"", final=True)
    return scan


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces of `CHUNK_BYTES`."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def unpack_gzip(path: Path, target: Path, *, max_bytes: int = MAX_UNPACKED_BYTES) -> None:
    """Write what a gzip file holds to `target`.

    Raises:
        InputError: the file is damaged, or unpacks to more than `max_bytes`.
    """
    written = 0
    try:
        with gzip.open(path) as packed, target.open("wb") as file:
            while chunk := packed.read(CHUNK_BYTES):
                written += len(chunk)
                if written > max_bytes:
                    raise InputError(
                        f"'{path.name}' unpacks to more than {max_bytes:,} bytes, which is not "
                        "read because it could fill the disk. Unpack it and give a part of it."
                    )
                file.write(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"'{path.name}' is a damaged gzip file: {error}. Pack or download it again.",
            zh=f"“{path.name}”是损坏的 gzip 文件：{error}。请重新压缩或下载。",
        ) from error


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool) -> bool:
    # A pure ASCII piece needs no decoding unless a character was cut at its beginning.
    if chunk.isascii() and not final and not decoder.getstate()[0]:
        return True
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _count_line_ends(scan: ByteScan, chunk: bytes, tail: bytes) -> None:
    scan.lf += chunk.count(b"\n")
    cr = chunk.count(b"\r")
    scan.cr += cr
    if cr or tail.endswith(b"\r"):
        seam = tail + chunk[:2]
        scan.crlf += chunk.count(b"\r\n") + (tail.endswith(b"\r") and chunk.startswith(b"\n"))
        # Those across the seam of two pieces are inside neither.
        cut = seam.count(b"\r\r\n") - tail.count(b"\r\r\n") - chunk[:2].count(b"\r\r\n")
        scan.cr_crlf += chunk.count(b"\r\r\n") + cut


def _sample_foreign(scan: ByteScan, chunk: bytes) -> None:
    if len(scan.foreign) >= SAMPLE_BYTES:
        return
    # A piece may begin inside a character; what follows the first line end does not.
    lines = chunk.splitlines(keepends=True)[0 if scan.size == len(chunk) else 1 :]
    for line in lines:
        if not line.isascii():
            scan.foreign += line
            if len(scan.foreign) >= SAMPLE_BYTES // 4:
                break
