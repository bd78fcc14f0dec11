"""The record of a ReAct run: what was thought, done and seen, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from planloom.engine.json_value import JsonValue
from planloom.engine.masking import masked
from planloom.notes import Note
from planloom.planning.react.toolbox import Observation

SCHEMA = 1

StopReason: TypeAlias = Literal[
    "answered", "max_iterations", "no_progress", "output_limit", "empty_reply", "model_error",
    "budget",
]  # fmt: skip
"""Why a run ended.

answered: the model gave its answer of its own accord;
max_iterations, no_progress: it was made to answer;
output_limit, empty_reply: its replies were cut off, or empty, again and again;
model_error, budget: no further reply could be had, or none was affordable.
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
    """What went wrong and what to do; None where the model answered of its own accord."""
    iterations: int = 0
    """Turns that were begun."""
    trajectory: tuple[Iteration, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as a JSON object, without secrets."""
        return {
            "schema": SCHEMA,
            "answer": self.answer,
            "stop_reason": self.stop_reason,
            "is_answered": self.is_answered,
            "problem": self.problem.text("en") if self.problem else "",
            "iterations": self.iterations,
            "trajectory": [_iteration_json(iteration) for iteration in self.trajectory],
        }


def _iteration_json(iteration: Iteration) -> dict[str, JsonValue]:
    return {
        "number": iteration.number,
        "notice": iteration.notice,
        "thought": iteration.thought,
        "actions": [_action_json(action) for action in iteration.actions],
    }


def _action_json(action: Action) -> dict[str, JsonValue]:
    seen = action.observation
    return {
        "id": action.id,
        "tool": action.tool,
        "arguments": _without_secrets(action.arguments),
        "observation": seen.text,
        "ok": seen.ok,
        "error_kind": seen.error_kind,
        "seconds": round(seen.seconds, 6),
    }


def _without_secrets(arguments: str) -> JsonValue:
    try:
        value: object = json.loads(arguments)
    except ValueError:
        return arguments
    return masked(cast("Mapping[str, JsonValue]", value)) if isinstance(value, dict) else arguments
