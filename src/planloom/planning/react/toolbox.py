"""What the ReAct loop calls tools through, and what it sees of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from planloom.models.chat_model import Json, ToolSpec

FIND = "find_tools"
"""The tool that looks for tools: its results say nothing of the goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came of one call, in words for a model."""

    text: str
    ok: bool = True
    error_kind: str = ""
    """As in `ToolResult`; "" after a success."""
    seconds: float = 0.0
    """Wall time of the call."""
    fingerprint: str = ""
    """What two results are compared by; "" means by the text."""
    lacks_approval: str = ""
    """The effect that has to be allowed, of a call that was not made since nobody could be asked
    for their approval."""
    refusal: str = ""
    """Why a call was not made that a person or the policy was against, for the user."""
    repeatable: bool = True
    """Whether the same call can sensibly be made again, as one that reads a changing state; not
    so for one that writes or sends."""

    @classmethod
    def failure(cls, kind: str, text: str) -> Observation:
        """Return what a model sees of a call that failed."""
        return cls(text=text, ok=False, error_kind=kind)


class Toolbox(Protocol):
    """The tools of one run of the loop."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model is told of them; the same tuple until one is added."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Json], call_id: str, /) -> Observation:
        """Make one call; several may be under way. Failures are observations.

        A cancellation is passed on once the work has ended.
        """
        ...


def unknown_text(name: str, specs: Iterable[ToolSpec]) -> str:
    """Return what a model is told that calls a tool which there is not."""
    names = [spec.name for spec in specs]
    near = get_close_matches(name.lower(), names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"There is no tool '{name}'. There are: {', '.join(names) or 'none'}.{hint}"
