"""Recovers tool calls that a model wrote into its text instead of making them natively.

A call counts where a model means it: between the marks of its own format, as JSON or a Python call
that stands alone, in a code fence, or as ReAct text. Thinking, quotations in backticks or after ">"
and what is given as an example are never calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from planloom.models.call_stream import NewId, new_call_id
from planloom.models.chat_model import ToolSpec
from planloom.models.json_calls import read_json_calls, read_named_json
from planloom.models.marked_calls import (
    MARK,
    SIGNS_OF_MARKS,
    read_marked_calls,
    without_left_over_marks,
)
from planloom.models.messages import ToolCall
from planloom.models.python_calls import read_python_calls
from planloom.models.react_text import read_react_calls
from planloom.models.thinking import split_thinking
from planloom.models.written_calls import NOTHING, KnownTools, Reading, WrittenCall

_MENDING = "Call the tool again, with its arguments as one whole JSON object."
_SIGNS_OF_REACT = ("ction", "CTION", "行动", "动作")
_SIGNS_OF_CALLS = ("{", "(", "[", "<", *_SIGNS_OF_REACT)
"""What a call cannot do without: finding none of them is much faster than any pattern."""
_FENCE = re.compile(
    r"^[ ]{0,3}(?P<marks>`{3,}|~{3,})[^\n`]*\n(?P<body>.*?)(?:^[ ]{0,3}(?P=marks)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_BEFORE_JSON = re.compile(r"(?:^|[.:!?][ \t]|[。：！？])[ \t]*(?=[{\[])", re.MULTILINE)
"""The beginning of a line or of a sentence that is JSON."""
_QUOTED = re.compile(
    r"(?<!`)(?P<ticks>`{1,2})(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)|^[ ]{0,3}>[^\n]*$", re.MULTILINE
)
_EXAMPLE = re.compile(
    r"(?:\b(?:for example|for instance|such as|examples?|samples?|like this|like so|looks? like)\b"
    r"|\bhere(?:'s| is) how\b|\bhow to (?:call|use)\b|\b(?:format|syntax|form) (?:is|would be)\b"
    r"|\byou (?:can|could|may|might|would|should) (?:call|use|write|send|try)\b"
    r"|\be\.g\.|例如|比如|譬如|举例|示例|例子|样例|形如|像这样|用法|格式[为是])"
    r"(?:[\s,，*]*|[^.!?。！？\n]*[:：][\s*]*)\Z",
    re.IGNORECASE,
)
_MAX_TRIES_OF_JSON = 50


@dataclass(frozen=True, slots=True)
class RecoveredCalls:
    """What a text holds besides prose; nothing in most answers."""

    calls: tuple[ToolCall, ...] = ()
    """Unchecked; a name may be that of no tool, arguments may be no JSON."""
    problems: tuple[str, ...] = ()
    """For the model: what it meant as a call and cannot be read."""
    text: str = ""
    """The prose that remains, without thinking."""
    unclosed: frozenset[str] = frozenset()
    """Ids of calls whose closing brackets were missing: half a call, if the reply was cut off."""


def recover_calls(
    text: str, tools: Iterable[ToolSpec], *, new_id: NewId = new_call_id
) -> RecoveredCalls:
    """Return the tool calls that a model's text spells.

    An unknown tool counts where the form leaves no doubt that a call is meant, so that the model
    gets to know; elsewhere it is text.
    """
    _, rest = split_thinking(text.removeprefix("\ufeff"))
    if not any(sign in rest for sign in _SIGNS_OF_CALLS):
        return RecoveredCalls(text=rest)
    finder = _Finder(rest, KnownTools(tools))
    finder.find()
    calls = tuple(ToolCall(new_id(), call.name, call.arguments) for call in finder.calls)
    problems = tuple(f"{problem} {_MENDING}" for problem in dict.fromkeys(finder.problems))
    pairs = zip(calls, finder.calls, strict=True)
    unclosed = frozenset(call.id for call, written in pairs if not written.is_closed)
    return RecoveredCalls(calls, problems, finder.remaining(), unclosed)


class _Finder:
    """Looks for calls in one text."""

    def __init__(self, text: str, tools: KnownTools):
        self._text = text
        self._tools = tools
        self._has_fences = "```" in text or "~~~" in text
        self._has_marks = any(sign in text for sign in SIGNS_OF_MARKS)
        self._taken: list[tuple[int, int]] = []
        self.calls: list[WrittenCall] = []
        self.problems: list[str] = []

    def find(self) -> None:
        """Take the calls of the first form that gives any."""
        for form in (self._json, self._marked_and_fenced, self._alone, self._react, self._lines):
            form()
            if self._taken:
                return

    def find_in_fence(self, *, is_all: bool) -> None:
        """Take the calls of a code fence; ReAct text only where the fence is the whole answer."""
        for form in (self._json, self._marked, self._python_of_known):
            form()
            if self._taken:
                return
        if is_all:
            self._react()

    @cached_property
    def _visible(self) -> str:
        """The text with quotations blanked, of the same length."""
        return _QUOTED.sub(lambda quoted: " " * len(quoted[0]), self._text)

    @cached_property
    def _fences(self) -> list[re.Match[str]]:
        return list(_FENCE.finditer(self._text)) if self._has_fences else []

    def remaining(self) -> str:
        """Return the text without its calls."""
        if not self._taken:
            return self._text
        parts: list[str] = []
        at = 0
        for start, end in self._taken:
            parts.append(self._text[at:start])
            at = end
        parts.append(self._text[at:])
        return without_left_over_marks("".join(parts)).strip()

    def _json(self) -> None:
        start = len(self._text) - len(self._text.lstrip())
        if not MARK.match(self._text, start):
            self._take(read_json_calls(self._text, start, self._tools), start)

    def _marked_and_fenced(self) -> None:
        """Take marked calls and those in code fences, as they come."""
        at = 0
        fence = self._next_fence(0)
        mark = self._next_mark(0)
        while fence or mark:
            if fence and (mark is None or fence.start() < mark.start()):
                self._take(self._in_fence(fence), fence.start())
                at = fence.end()
            elif mark:
                at = self._read_mark(mark)
            mark = self._next_mark(at)
            if fence and fence.start() < at:
                fence = self._next_fence(at)

    def _marked(self) -> None:
        at = 0
        while mark := self._next_mark(at):
            at = self._read_mark(mark)

    def _next_mark(self, at: int) -> re.Match[str] | None:
        return MARK.search(self._visible, at) if self._has_marks else None

    def _next_fence(self, at: int) -> re.Match[str] | None:
        return _FENCE.search(self._text, at) if self._has_fences else None

    def _read_mark(self, mark: re.Match[str]) -> int:
        """Take the call that begins with a mark; return where to go on."""
        if self._is_example(mark.start()):
            return mark.end()
        # Read from the text itself: what is blanked may be part of an argument.
        found = read_marked_calls(self._text, mark, self._tools)
        self._take(found, mark.start())
        return max(found.end, mark.end())

    def _in_fence(self, fence: re.Match[str]) -> Reading:
        if self._is_example(fence.start()):
            return NOTHING
        inner = _Finder(fence["body"], self._tools)
        inner.find_in_fence(is_all=fence[0].strip() == self._text.strip())
        return Reading(tuple(inner.calls), tuple(inner.problems), fence.end())

    def _alone(self) -> None:
        found = read_python_calls(self._text, self._tools)
        self._take(found or read_named_json(self._text, self._tools), 0)

    def _python_of_known(self) -> None:
        self._take(read_python_calls(self._text, self._tools, in_fence=True), 0)

    def _react(self) -> None:
        if any(sign in self._text for sign in _SIGNS_OF_REACT):
            self._take(read_react_calls(self._text, self._tools, self._is_quoted), 0)

    def _lines(self) -> None:
        """Take JSON calls of known tools that begin a line or a sentence of prose."""
        at = 0
        for _ in range(_MAX_TRIES_OF_JSON):
            line = _BEFORE_JSON.search(self._visible, at)
            if line is None:
                return
            at = line.end() + 1
            if self._is_quoted(line.start()):
                continue
            found = read_json_calls(self._text, line.end(), self._tools)
            is_last = not self._text[found.end :].strip()
            if is_last or all(call.name in self._tools for call in found.calls):
                self._take(found, line.start())
                at = max(at, found.end)

    def _is_quoted(self, at: int) -> bool:
        fenced = any(fence.start() <= at < fence.end() for fence in self._fences)
        return fenced or self._is_example(at)

    def _is_example(self, start: int) -> bool:
        """Tell whether the line before, or the beginning of the same line, announces an example."""
        before = self._text[max(0, start - 300) : start].rstrip()
        return bool(_EXAMPLE.search(before.rpartition("\n")[2]))

    def _take(self, found: Reading, start: int) -> None:
        if found:
            self.calls += found.calls
            self.problems += found.problems
            self._taken.append((start, found.end))
