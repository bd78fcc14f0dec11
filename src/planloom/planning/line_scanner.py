"""Cuts streamed text into logical lines: brackets balanced, strings closed, comments apart."""

from __future__ import annotations

from dataclasses import dataclass

from planloom.errors import PlanError

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One logical line of a plan; it may span several lines of text."""

    number: int
    """Of its first line of text, from 1."""
    code: str
    """Without comments; columns are those of the text."""
    comment: str
    """The text behind its #, stripped; several are joined by a blank."""

    def error(self, what: str, mend: str, *, row: int = 1, column: int = 1) -> PlanError:
        """Return the error for something in this line, at a row of it and a column, from 1."""
        rows = self.code.splitlines() or [""]
        text = rows[min(row, len(rows)) - 1].strip()
        place = f"Line {self.number + row - 1}, column {column}"
        return PlanError(f"{place}: {what} {mend} The line reads: {_short(text)}")


class LineScanner:
    """Takes text in pieces of any size and gives each logical line once it is whole."""

    def __init__(self) -> None:
        self._waiting = ""
        self._row = 1
        self._start_row = 1
        self._code: list[str] = []
        self._comment: list[list[str]] = []
        self._in_comment = False
        self._quote = ""
        self._escaped = False
        self._open: list[tuple[str, int]] = []

    def feed(self, chunk: str) -> list[SourceLine]:
        """Take the next piece; return the lines that it completed.

        Raises:
            PlanError: a line ended inside of a string.
        """
        return self._scan(chunk, final=False)

    def finish(self) -> list[SourceLine]:
        """Return the last line, which needs no line end.

        Raises:
            PlanError: a bracket or a string is still open.
        """
        lines = self._scan("\n", final=True)
        if self._quote:
            raise self._line().error("a string is not closed.", "Close it with its quote.")
        if self._open:
            bracket, row = self._open[-1]
            raise self._line().error(
                f"the bracket '{bracket}' is never closed.",
                f"Close it with '{_CLOSERS[bracket]}'.",
                row=row - self._start_row + 1,
            )
        return lines

    def _scan(self, chunk: str, *, final: bool) -> list[SourceLine]:
        text = self._waiting + chunk
        lines: list[SourceLine] = []
        at = 0
        # Three quotes in a row are another string than one: look ahead, or wait for more text.
        while at < len(text) and (final or len(text) - at > 2 or text[at] not in "\"'\\"):
            at += self._take(text, at)
            if text[at - 1] == "\n":
                lines += self._end_of_row()
        self._waiting = text[at:]
        return lines

    def _take(self, text: str, at: int) -> int:
        """Move over the next character, or over a whole quote; return the length."""
        char = text[at]
        if self._in_comment:
            self._comment[-1].append(char)
            length = 1
        elif self._quote:
            length = self._inside_string(text, at)
        else:
            length = self._outside_string(text, at)
        if not self._in_comment or char == "\n":
            self._code.append(text[at : at + length])
        return length

    def _inside_string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
        elif text[at] == "\\":
            self._escaped = True
        elif text.startswith(self._quote, at):
            length = len(self._quote)
            self._quote = ""
            return length
        elif text[at] == "\n" and len(self._quote) == 1:
            raise self._line().error(
                "a string is not closed.",
                f"Close it with {self._quote} on the same line; write \\n for a line end.",
                row=self._row - self._start_row + 1,
            )
        return 1

    def _outside_string(self, text: str, at: int) -> int:
        char = text[at]
        if char == "#":
            self._in_comment = True
            self._comment.append([])
        elif char in "\"'":
            self._quote = char * 3 if text.startswith(char * 3, at) else char
            return len(self._quote)
        elif char in _CLOSERS:
            self._open.append((char, self._row))
        elif self._open and char in _CLOSERS.values():
            self._open.pop()
        return 1

    def _end_of_row(self) -> list[SourceLine]:
        self._in_comment = False
        self._row += 1
        if self._open or self._quote:
            return []
        line = self._line()
        self._start_row = self._row
        self._code, self._comment = [], []
        blank = not line.code.strip() and not line.comment
        return [] if blank or line.code.strip().startswith(_FENCES) else [line]

    def _line(self) -> SourceLine:
        code = "".join(self._code).rstrip()
        comments = ("".join(part).strip() for part in self._comment)
        comment = " ".join(part for part in comments if part)
        return SourceLine(self._start_row, code.removeprefix("\ufeff"), comment)


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."
