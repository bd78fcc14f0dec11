"""Keeps long results out of a conversation: it gets head and tail, and tools to read the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from planloom.models.chat_model import Json, ToolSpec
from planloom.planning.react.toolbox import Observation, Toolbox

READ = "read_result"
SEARCH = "search_result"
_MAX_HITS = 20
_AROUND_CHARS = 120
_LEFT_OUT = (
    '\n[... {left:,} of {all:,} characters left out; read on with read_result(id="{id}", '
    'start={start}), or find a text with search_result(id="{id}", text="...") ...]\n'
)
_ID: dict[str, Json] = {"type": "string", "description": 'Id of the result, such as "r1".'}
_SPECS = (
    ToolSpec(
        READ,
        "Read a part of a long result that was shown only in part.",
        {
            "type": "object",
            "properties": {
                "id": _ID,
                "start": {"type": "integer", "minimum": 0, "description": "First character."},
                "chars": {"type": "integer", "minimum": 1, "description": "How many."},
            },
            "required": ["id"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        SEARCH,
        "Find a text in a long result; returns each place with what stands around it.",
        {
            "type": "object",
            "properties": {"id": _ID, "text": {"type": "string", "minLength": 1}},
            "required": ["id", "text"],
            "additionalProperties": False,
        },
    ),
)


class PagedToolbox:
    """A `Toolbox` around another that shows no more than `max_chars` of any result.

    The two paging tools are offered once there is something to page: most runs never need them,
    and would pay for their description in every prompt.
    """

    def __init__(self, inner: Toolbox, max_chars: int):
        self._inner = inner
        self._max_chars = max(200, max_chars)
        self._kept: dict[str, str] = {}
        self._offered: tuple[ToolSpec, ...] = ()
        """The last specs with the paging tools, kept so that they stay the same object."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools of the inner toolbox, and the paging tools when they are of use."""
        own = self._inner.specs
        if not self._kept:
            return own
        if self._offered[: len(own)] != own:
            names = {spec.name for spec in own}
            self._offered = (*own, *(spec for spec in _SPECS if spec.name not in names))
        return self._offered

    async def call(self, name: str, arguments: Mapping[str, Json], call_id: str, /) -> Observation:
        """Answer a paging call, or hand the call on and bound what comes back."""
        if self._kept and name in {READ, SEARCH}:
            return self._page(name, arguments)
        seen = await self._inner.call(name, arguments, call_id)
        if len(seen.text) <= self._max_chars:
            return seen
        return replace(
            seen, text=self._shown(seen.text), fingerprint=seen.fingerprint or str(hash(seen.text))
        )

    def keep(self, text: str) -> str:
        """Keep a text for the paging tools; return its id."""
        key = f"r{len(self._kept) + 1}"
        self._kept[key] = text
        return key

    def _shown(self, text: str) -> str:
        head = self._max_chars * 2 // 3
        tail = self._max_chars // 6
        note = _LEFT_OUT.format(
            left=len(text) - head - tail, all=len(text), id=self.keep(text), start=head
        )
        return f"{text[:head]}{note}{text[-tail:]}"

    def _page(self, name: str, arguments: Mapping[str, Json]) -> Observation:
        key = str(arguments.get("id", ""))
        text = self._kept.get(key)
        if text is None:
            known = ", ".join(self._kept)
            return Observation.failure("tool", f"There is no result '{key}'. There are: {known}.")
        if name == SEARCH:
            return Observation(text=self._found(text, str(arguments.get("text", ""))))
        start, chars = arguments.get("start", 0), arguments.get("chars", self._max_chars)
        if not isinstance(start, int) or not isinstance(chars, int):
            return Observation.failure("arguments", "'start' and 'chars' must be whole numbers.")
        return self._read(key, text, max(0, start), max(1, chars))

    def _read(self, key: str, text: str, start: int, chars: int) -> Observation:
        if start >= len(text):
            said = f"'{key}' has {len(text):,} characters; 'start' must be below that, got {start}."
            return Observation.failure("tool", said)
        end = min(len(text), start + min(chars, self._max_chars))
        more = f"go on with start={end}" if end < len(text) else "the end"
        place = f"[characters {start:,} to {end:,} of {len(text):,}; {more}]"
        return Observation(text=f"{text[start:end]}\n{place}")

    def _found(self, text: str, wanted: str) -> str:
        places = list(_places(text, wanted))
        if not places:
            return f"The text {wanted!r} does not occur in it."
        shown: list[str] = []
        room = self._max_chars
        for place in places[:_MAX_HITS]:
            around = text[max(0, place - _AROUND_CHARS) : place + len(wanted) + _AROUND_CHARS]
            room -= len(around)
            if shown and room < 0:
                break
            shown.append(f"at {place}: {around[: self._max_chars]}")
        left = len(places) - len(shown)
        return "\n".join([*shown, f"[{left} more places]"] if left else shown)


def _places(text: str, wanted: str) -> Iterator[int]:
    # Letters whose lower case is longer would shift the positions.
    lower, sought = text.lower(), wanted.lower()
    if len(lower) != len(text):
        lower, sought = text, wanted
    place = lower.find(sought) if sought else -1
    while place >= 0:
        yield place
        place = lower.find(sought, place + len(sought))
