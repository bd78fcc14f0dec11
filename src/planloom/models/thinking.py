"""Separates what a model thought aloud from what it says, where both come in one text.

Models mark thinking with tags: <think>, <thinking>, <thought>, <reasoning> or [THINK]. Tags inside
code fences or backticks are quoted and mean nothing.
"""

from __future__ import annotations

import re

_NAMES = ("think", "thinking", "thought", "reasoning")
_ANY_NAME = "|".join(_NAMES)
_TAG = rf"(?P<open><(?:{_ANY_NAME})>|\[think\])|(?P<close></(?:{_ANY_NAME})>|\[/think\])"
_ANY_TAG = re.compile(_TAG, re.IGNORECASE)
_TOKEN = re.compile(rf"{_TAG}|(?P<ticks>`+)|(?P<line_end>\n)", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^`\n]*)(?:\n|\Z)")
_MAYBE_FENCE = re.compile(r" {0,3}(?:`+[^`\n]*|~+[^\n]*)?\Z")
_SPELLINGS = (
    *(f"<{slash}{name}>" for name in _NAMES for slash in ("", "/")),
    *("[think]", "[/think]"),
)
_LONGEST = max(map(len, _SPELLINGS))


def split_thinking(text: str) -> tuple[str, str]:
    """Return the thinking in a model's text, and the text without it.

    A tag that is never closed makes all that follows thinking; a closing tag that was never opened,
    as some servers send, all that goes before it.

    >>> split_thinking("<think>2 + 2</think>It is 4.")
    ('2 + 2', 'It is 4.')
    """
    lowered = text.lower()
    if not any(tag in lowered for tag in _SPELLINGS):  # many times faster than the pattern
        return "", text
    reader = ThinkingFilter()
    reader.feed(text)
    reader.finish()
    return reader.thinking, reader.text


class ThinkingFilter:
    """Lets through what may be shown of a text that comes in pieces.

    Half a tag is held back until it is whole. Text before a closing tag that was never opened has
    been let through by then; `text` and `thinking` are right in the end all the same.
    """

    def __init__(self) -> None:
        self._waiting = ""
        """What came and is not decided yet."""
        self._at = 0
        """How much of it has been read."""
        self._starts_line = True
        self._fence = ""
        """The marks that opened the code fence we are in."""
        self._depth = 0
        """How many opening tags wait for their closing one."""
        self._inside: list[str] = []
        """The thinking that has not ended."""
        self._shown: list[str] = []
        """What the piece that is being read lets through."""
        self._said: list[str] = []
        self._thought: list[str] = []

    @property
    def thinking(self) -> str:
        """The thinking so far, without the space around it."""
        thought = (*self._thought, "".join(self._inside))
        return "\n".join(part.strip() for part in thought if part.strip())

    @property
    def text(self) -> str:
        """The rest so far; without the space around it where there was thinking."""
        rest = "".join(self._said)
        return rest.strip() if self._thought or self._depth else rest

    def feed(self, piece: str) -> str:
        """Take the next piece; return what may be shown now, possibly nothing."""
        self._waiting += piece
        return self._read(final=False)

    def finish(self) -> str:
        """Say that the text is over; return what was held back and is to be shown."""
        shown = self._read(final=True)
        while self._depth and self._retreat():
            shown += self._read(final=True)
        return shown

    def _read(self, *, final: bool) -> str:
        self._shown.clear()
        while self._at < len(self._waiting) and self._read_next(final=final):
            pass
        self._waiting = self._waiting[self._at :]
        self._at = 0
        return "".join(self._shown)

    def _read_next(self, *, final: bool) -> bool:
        """Read up to the next mark; False when more has to come first."""
        if self._starts_line:
            if not final and _MAYBE_FENCE.match(self._waiting, self._at):
                return False
            if fence := _FENCE.match(self._waiting, self._at):
                self._read_fence(fence)
                return True
        if self._fence:
            end = self._waiting.find("\n", self._at) + 1
            self._pass(end or len(self._waiting))
            return True
        return self._read_token(_TOKEN.search(self._waiting, self._at), final=final)

    def _read_fence(self, line: re.Match[str]) -> None:
        if not self._fence:
            self._fence = line["marks"]
        elif line["marks"].startswith(self._fence) and not line["info"].strip():
            self._fence = ""
        self._pass(line.end())

    def _read_token(self, token: re.Match[str] | None, *, final: bool) -> bool:
        if token is None:
            end = len(self._waiting) if final else self._before_half_tag()
            self._pass(end)
            return False
        self._pass(token.start())
        if token["ticks"]:
            return self._read_ticks(token, final=final)
        if token["line_end"]:
            self._pass(token.end())
        else:
            self._read_tag(token)
        return True

    def _read_ticks(self, ticks: re.Match[str], *, final: bool) -> bool:
        """Pass over a code span, which ends with as many backticks on the same line."""
        line_end = self._waiting.find("\n", ticks.end())
        end = len(self._waiting) if line_end < 0 else line_end
        closing = re.compile(rf"(?<!`){ticks[0]}(?!`)").search(self._waiting, ticks.end(), end)
        undecided = closing is None or closing.end() == len(self._waiting)
        if undecided and line_end < 0 and not final:
            return False
        self._pass(closing.end() if closing else ticks.end())
        return True

    def _read_tag(self, tag: re.Match[str]) -> None:
        if tag["open"]:
            self._depth += 1
            if self._depth == 1:
                self._at = tag.end()
            else:
                self._pass(tag.end())
        elif self._depth > 1:
            self._depth -= 1
            self._pass(tag.end())
        else:
            self._end_thinking()
            self._at = tag.end()
        self._starts_line = True

    def _end_thinking(self) -> None:
        if self._depth:
            self._thought.append("".join(self._inside))
            self._inside.clear()
        else:  # never opened: all that was said has been thinking
            self._thought.append("".join(self._said))
            self._said.clear()
            self._shown.clear()
        self._depth = 0

    def _pass(self, end: int) -> None:
        """Move on to `end`; what lies before it is thought or said."""
        part = self._waiting[self._at : end]
        if not part:
            return
        self._at = end
        self._starts_line = part.endswith("\n")
        if self._depth:
            self._inside.append(part)
        else:
            self._said.append(part)
            self._shown.append(part)

    def _retreat(self) -> bool:
        """End thinking that never ended by itself at its first closing tag; False without one.

        That tag did not count because of an opening tag that the thinking only mentioned, or of a
        code fence that it left open.
        """
        inside = "".join(self._inside)
        closing = next((tag for tag in _ANY_TAG.finditer(inside) if tag["close"]), None)
        if closing is None:
            return False
        self._thought.append(inside[: closing.start()])
        self._inside.clear()
        self._waiting = inside[closing.end() :]
        self._depth = 0
        self._fence = ""
        self._starts_line = True
        return True

    def _before_half_tag(self) -> int:
        """Return where a tag may have begun that is not whole yet; else the end."""
        start = max(self._at, len(self._waiting) - _LONGEST)
        for index in range(start, len(self._waiting)):
            tail = self._waiting[index:].lower()
            if tail[0] in "<[" and any(tag.startswith(tail) for tag in _SPELLINGS):
                return index
        return len(self._waiting)
