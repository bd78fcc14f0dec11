"""Server-sent events: takes the bytes of a stream apart, however they are cut."""

from __future__ import annotations

from collections.abc import Iterator

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Collects the `data` of each event; other fields and comments are passed over.

    Source: WHATWG HTML, section 9.2.6 (lines end with LF, CRLF or CR; an empty line ends an event).
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        """The pieces of a line whose end has not come."""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Take the next bytes; yield the data of each event that they complete.

        >>> reader = EventReader()
        >>> list(reader.feed(b": waiting\\r\\n\\r\\ndata: {1")), list(reader.feed(b"}\\n\\n"))
        ([], [b'{1}'])
        """
        self._rest.append(piece)
        if b"\n" not in piece and b"\r" not in piece:
            return
        lines = b"".join(self._rest).splitlines(keepends=True)
        self._rest.clear()
        # A CR at the very end may be half of a CRLF.
        if not lines[-1].endswith(b"\n"):
            self._rest.append(lines.pop())
        for line in lines:
            yield from self._read_line(line.rstrip(b"\r\n"))

    def finish(self) -> Iterator[bytes]:
        """Say that the stream is over; yield an event that lacked its empty line."""
        yield from self._read_line(b"".join(self._rest).rstrip(b"\r"))
        self._rest.clear()
        yield from self._read_line(b"")

    def _read_line(self, line: bytes) -> Iterator[bytes]:
        if not line:
            if self._data:
                yield b"\n".join(self._data)
                self._data.clear()
            return
        field, _, value = line.partition(b":")
        # Only the first line of a stream can begin with the mark.
        if field.removeprefix(_BYTE_ORDER_MARK) == b"data":
            self._data.append(value.removeprefix(b" "))
