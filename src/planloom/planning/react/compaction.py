"""Makes a long conversation shorter, without tearing calls and results apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from planloom.models.estimate import message_tokens, text_tokens
from planloom.models.messages import (
    AssistantMessage,
    Content,
    ToolCall,
    ToolMessage,
    UserMessage,
)

KEPT_WHOLE = 2
"""So many of the latest exchanges are shortened only when nothing else helps."""
_DIGEST_LINES = 40
_LINE_CHARS = 160
_CALL_CHARS = 100
_MIN_RESULT_CHARS = 200
_DIGEST = "Earlier turns were left out to save room. What was done in them:\n{lines}"
_STUB = '[left out to save room: {chars:,} characters, beginning "{head}"; read_result(id="{id}")]'

Keep = Callable[[str], str]
"""Keeps a text that is left out; returns the id under which it can be read."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A result as it stands in the conversation."""

    call_id: str
    call: ToolCall
    text: str

    @property
    def shown_call(self) -> str:
        """The call in short."""
        arguments = self.call.arguments
        cut = arguments if len(arguments) <= _CALL_CHARS else arguments[:_CALL_CHARS] + "..."
        return f"{self.call.name}({cut})"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the model said, with the result of each call in it; never torn apart."""

    said: AssistantMessage
    results: tuple[Seen, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """What the user, or the loop in their place, said."""

    content: Content
    pinned: bool = False
    """Never left out: the goal, with the plan and context that go with it."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What is left of exchanges that were dropped, a line for each call."""

    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines with their heading, the latest only when there are many."""
        shown = self.lines[-_DIGEST_LINES:]
        left = len(self.lines) - len(shown)
        more = [f"- ({left} earlier calls)"] if left else []
        return _DIGEST.format(lines="\n".join([*more, *shown]))


Entry = Exchange | Told | Digest


def shortened(entries: Sequence[Entry], target_tokens: int, keep: Keep) -> list[Entry]:
    """Return a conversation of at most `target_tokens`, or the shortest that there is.

    First the oldest results give way to one-line stubs, then whole exchanges to a digest, at last
    the latest results are cut. Each is done once, so that it ends; what is pinned stays.
    """
    made = _with_stubs(list(entries), target_tokens, keep)
    if _tokens(made) > target_tokens:
        made = _with_digest(made)
    if _tokens(made) > target_tokens:
        made = _with_cut_results(made, target_tokens, keep)
    return made


def _with_stubs(entries: list[Entry], target: int, keep: Keep) -> list[Entry]:
    over = _tokens(entries) - target
    for place in _exchanges(entries)[:-KEPT_WHOLE]:
        entry = entries[place]
        if over <= 0:
            break
        if isinstance(entry, Exchange):
            stubs = replace(entry, results=tuple(_stub(seen, keep) for seen in entry.results))
            over -= _entry_tokens(entry) - _entry_tokens(stubs)
            entries[place] = stubs
    return entries


def _stub(seen: Seen, keep: Keep) -> Seen:
    if len(seen.text) <= _MIN_RESULT_CHARS:
        return seen
    head = " ".join(seen.text[:60].split())
    return replace(seen, text=_STUB.format(chars=len(seen.text), head=head, id=keep(seen.text)))


def _with_digest(entries: list[Entry]) -> list[Entry]:
    """Return the pinned entries, a digest of what lies between, and the latest exchanges."""
    kept_from = ([0] * KEPT_WHOLE + _exchanges(entries))[-KEPT_WHOLE]
    pinned = [entry for entry in entries[:kept_from] if isinstance(entry, Told) and entry.pinned]
    lines = tuple(line for entry in entries[:kept_from] for line in _lines(entry))
    digest: list[Entry] = [Digest(lines)] if lines else []
    return [*pinned, *digest, *entries[kept_from:]]


def _lines(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, Digest):
        return entry.lines
    if isinstance(entry, Told):
        return ()
    return tuple(
        _bounded(f"- {seen.shown_call} -> {' '.join(seen.text.split())}") for seen in entry.results
    )


def _bounded(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 3] + "..."


def _with_cut_results(entries: list[Entry], target: int, keep: Keep) -> list[Entry]:
    """Cut all results that are left to equal shares of the room."""
    results = [seen for e in entries if isinstance(e, Exchange) for seen in e.results]
    fixed = _tokens(entries) - sum(text_tokens(seen.text) for seen in results)
    share = max(0, target - fixed) // max(1, len(results))
    return [
        replace(entry, results=tuple(_cut(seen, share, keep) for seen in entry.results))
        if isinstance(entry, Exchange)
        else entry
        for entry in entries
    ]


def _cut(seen: Seen, share_tokens: int, keep: Keep) -> Seen:
    tokens = text_tokens(seen.text)
    if tokens <= share_tokens or len(seen.text) <= _MIN_RESULT_CHARS:
        return seen
    chars = max(_MIN_RESULT_CHARS // 2, len(seen.text) * share_tokens // tokens - 200)
    note = f'[... cut to save room, {len(seen.text):,} characters; read_result(id="{{}}") ...]'
    return replace(seen, text=f"{seen.text[:chars]}\n{note.format(keep(seen.text))}")


def _exchanges(entries: Sequence[Entry]) -> list[int]:
    return [place for place, entry in enumerate(entries) if isinstance(entry, Exchange)]


def _tokens(entries: Sequence[Entry]) -> int:
    return sum(map(_entry_tokens, entries))


def _entry_tokens(entry: Entry) -> int:
    if isinstance(entry, Told):
        return message_tokens(UserMessage(entry.content))
    if isinstance(entry, Digest):
        return message_tokens(UserMessage(entry.text))
    results = (message_tokens(ToolMessage(seen.call_id, seen.text)) for seen in entry.results)
    return message_tokens(entry.said) + sum(results)
