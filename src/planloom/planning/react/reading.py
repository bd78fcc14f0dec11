"""Reads what a model replied: the calls that it wants, or its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from planloom.models.chat_model import Json, Reply, ResponseSchema, ToolSpec
from planloom.models.messages import AssistantMessage, ToolCall
from planloom.models.thinking import split_thinking

ANSWER_ACTION = "answer"
JSON_MODE = """\
You cannot call tools directly. Instead, reply with one JSON object and nothing else, either
{{"thought": "...", "action": "<name of a tool>", "action_input": {{<its arguments>}}}}
and you will be told the result, or, when you know the answer,
{{"thought": "...", "action": "answer", "action_input": "<the answer>"}}

Tools:
{tools}"""

_ANSWERS = frozenset({ANSWER_ACTION, "final_answer", "finish", "final", "none", ""})
_FENCED = r"\A```(?:json)?\s*(.*?)\s*```\Z"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a model asks for, read and checked."""

    call: ToolCall
    """Its id is unique in the turn."""
    arguments: Mapping[str, Json] | None
    """None when they could not be read or do not fit."""
    error: str = ""
    """Why there are none, for the model."""
    error_kind: str = "arguments"


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply, understood."""

    text: str
    """The answer, or what was said beside the calls; without thinking."""
    asked: tuple[Asked, ...]
    thinking: str
    is_cut: bool
    """Whether it ended at the output token limit."""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not self.asked and not self.text.strip()


def read(reply: Reply, specs: Sequence[ToolSpec], *, native: bool) -> Turn:
    """Return what a reply means; calls are also found in its text."""
    thinking, text = split_thinking(reply.text)
    asked = tuple(map(_checked, _with_ids(reply.tool_calls)))
    if not asked and not native:
        text, asked = _from_json(text, {spec.name for spec in specs})
    is_cut = reply.finish_reason == "length"
    return Turn(text, asked, "\n".join(filter(None, (reply.thinking, thinking))), is_cut)


def to_message(turn: Turn, *, native: bool, keep_thinking: bool) -> AssistantMessage:
    """Return the turn as it goes into the history.

    Arguments that are no JSON object are left out: servers that read the history would refuse
    every later request. What was wrong with them stands in the result of the call.
    """
    thinking = turn.thinking if keep_thinking else ""
    if not native:
        return AssistantMessage(_as_json(turn), thinking=thinking)
    calls = tuple(
        replace(asked.call, arguments="{}") if not _is_object(asked.call.arguments) else asked.call
        for asked in turn.asked
    )
    return AssistantMessage(turn.text, calls, thinking)


def json_mode_text(specs: Sequence[ToolSpec]) -> str:
    """Return how a model without native calls asks for a tool."""
    return JSON_MODE.format(tools="\n".join(map(_spelled, specs)))


def json_mode_schema(specs: Sequence[ToolSpec]) -> ResponseSchema:
    """Return the schema that a reply in JSON mode is held to, where a provider can do that."""
    names: list[Json] = [spec.name for spec in specs]
    return ResponseSchema(
        "action",
        {
            "type": "object",
            "properties": {
                "thought": {"type": "string"},
                "action": {"type": "string", "enum": [*names, ANSWER_ACTION]},
                "action_input": {"type": ["object", "string"]},
            },
            "required": ["thought", "action", "action_input"],
            "additionalProperties": False,
        },
    )


def _spelled(spec: ToolSpec) -> str:
    parameters = json.dumps(spec.parameters, ensure_ascii=False)
    return f"- {spec.name}: {spec.description} Arguments: {parameters}"


def _with_ids(calls: Sequence[ToolCall]) -> list[ToolCall]:
    seen: set[str] = set()
    made: list[ToolCall] = []
    for number, call in enumerate(calls, start=1):
        # Some servers give no id, or the same one twice.
        fit = call if call.id and call.id not in seen else replace(call, id=f"call_{number}")
        while fit.id in seen:
            fit = replace(fit, id=f"{fit.id}_")
        seen.add(fit.id)
        made.append(fit)
    return made


def _checked(call: ToolCall) -> Asked:
    try:
        arguments: object = json.loads(call.arguments or "{}")
    except ValueError as error:
        return Asked(call, None, f"The arguments are not JSON ({error}): {call.arguments[:300]}")
    if not isinstance(arguments, dict):
        return Asked(call, None, f"The arguments must be a JSON object: {call.arguments[:300]}")
    return Asked(call, cast("dict[str, Json]", arguments))


def _from_json(text: str, tools: Collection[str]) -> tuple[str, tuple[Asked, ...]]:
    """Return the answer, or the thought and the call, of a reply in JSON mode."""
    fenced = re.match(_FENCED, text.strip(), re.DOTALL | re.IGNORECASE)
    try:
        value: object = json.loads(fenced[1] if fenced else text)
    except ValueError:
        return text, ()
    if not isinstance(value, dict):
        return text, ()
    fields = cast("dict[str, Json]", value)
    action, given = fields.get("action"), fields.get("action_input", {})
    if not isinstance(action, str):
        return (_text_of(fields["answer"]) if "answer" in fields else text), ()
    if action.lower() in _ANSWERS and action not in tools:
        return _text_of(given), ()
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    call = ToolCall("call_1", action, arguments)
    return str(fields.get("thought", "")), (_checked(call),)


def _text_of(given: Json) -> str:
    if isinstance(given, Mapping) and isinstance(given.get("answer"), str):
        given = given["answer"]
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _as_json(turn: Turn) -> str:
    if not turn.asked:
        return turn.text
    call = turn.asked[0].call
    given: object = json.loads(call.arguments) if _is_object(call.arguments) else call.arguments
    said = {"thought": turn.text, "action": call.name, "action_input": given}
    return json.dumps(said, ensure_ascii=False)


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
