"""The record of a ReAct run: what was thought, done and seen, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from planloom.notes import Note
from planloom.planning.react.toolbox import Observation

StopReason: TypeAlias = Literal[
    "answered", "max_iterations", "no_progress", "output_limit", "empty_reply", "model_error",
    "budget", "cancelled",
]  # fmt: skip
"""Why a run ended.

answered: the model gave its answer of its own accord;
max_iterations, no_progress: it was made to answer;
output_limit, empty_reply: its replies were cut off, or empty, again and again;
model_error, budget: no further reply could be had, or none was affordable;
cancelled: whoever waited for the run broke it off.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One call and what came of it."""

    id: str
    """The call's id in the conversation."""
    tool: str
    arguments: str
    """As the model wrote them."""
    observation: Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One turn of the loop."""

    number: int
    """From 1."""
    thought: str
    """What the model said beside its calls, or its answer."""
    actions: tuple[Action, ...] = ()
    notice: str = ""
    """What the model was told before this turn, such as that its tools are withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactOutcome:
    """How a run of the loop ended."""

    answer: str
    """The model's answer; else the last result that was found, or ""."""
    stop_reason: StopReason
    is_answered: bool
    """Whether the model gave `answer`. A run that is not answered is no success."""
    problem: Note | None = None
    """What went wrong and what to do; None where the model answered of its own accord and
    no refusal stands."""
    iterations: int = 0
    """Turns that were begun."""
    trajectory: tuple[Iteration, ...] = ()

    @property
    def was_refused(self) -> bool:
        """Whether calls were not made since they were not approved, or nobody could be asked.

        As in `standing_refusals`.
        """
        return bool(standing_refusals(self.trajectory))


def standing_refusals(trajectory: Sequence[Iteration]) -> tuple[Action, ...]:
    """Return the calls that were denied, without those whose tool worked in a later iteration."""
    worked: set[str] = set()
    standing: list[Action] = []
    for turn in reversed(trajectory):
        denied = [a for a in turn.actions if a.observation.error_kind == "denied"]
        standing += reversed([a for a in denied if a.tool not in worked])
        worked.update(a.tool for a in turn.actions if a.observation.ok)
    return tuple(reversed(standing))
