"""A ReAct run as JSON, for the folder of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from planloom.engine.json_value import JsonValue
from planloom.engine.masking import masked
from planloom.planning.react.trajectory import Action, Iteration, ReactOutcome

SCHEMA = 1


def outcome_json(outcome: ReactOutcome) -> dict[str, JsonValue]:
    """Return the record of a run as a JSON object; arguments that are secrets are masked."""
    return {
        "schema": SCHEMA,
        "answer": outcome.answer,
        "stop_reason": outcome.stop_reason,
        "is_answered": outcome.is_answered,
        "problem": outcome.problem.text("en") if outcome.problem else "",
        "iterations": outcome.iterations,
        "trajectory": [_iteration_json(iteration) for iteration in outcome.trajectory],
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
