"""Reads what a model replied: the calls that it wants, or its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
_UNREADABLE = (
    "The tool was not called, its arguments cannot be read: {error}. You wrote: {text}\n"
    "Write them as one whole JSON object."
)


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
    asked: tuple[Asked, ...] = ()
    problems: tuple[str, ...] = ()
    """For the model: what it meant as a call and cannot be read."""
    thinking: str = ""
    is_cut: bool = False
    """Whether it ended at the output token limit."""

    @property
    def wants_tools(self) -> bool:
        """Whether it asks for calls, readable or not."""
        return bool(self.asked or self.problems)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not self.wants_tools and not self.text.strip()


def read(reply: Reply, specs: Sequence[ToolSpec], *, native: bool) -> Turn:
    """Return what a reply means; calls are also found in its text."""
    thinking, text = split_thinking(reply.text)
    turn = Turn(text, tuple(map(_checked, _with_ids(reply.tool_calls))))
    if not turn.asked:
        turn = (None if native else _from_json(text, specs)) or _from_text(text, specs)
    thought = "\n".join(filter(None, (reply.thinking, thinking)))
    return replace(turn, thinking=thought, is_cut=reply.finish_reason == "length")


def to_message(turn: Turn, *, native: bool, keep_thinking: bool) -> AssistantMessage:
    """Return the turn as it goes into the history.

    Arguments that are no JSON object are left out: servers that read the history would refuse
    every later request. What was wrong with them stands in the result of the call.
    """
    thinking = turn.thinking if keep_thinking else ""
    if not native:
        return AssistantMessage(_as_json(turn), thinking=thinking)
    return AssistantMessage(turn.text, tuple(map(_sendable, turn.asked)), thinking)


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
    # Loaded with the first call: an answer at once needs no repair of JSON.
    from planloom.models.json_repair import parse_json
    from planloom.models.json_text import UnreadableJsonError

    try:
        arguments = parse_json(call.arguments).value if call.arguments.strip() else {}
    except UnreadableJsonError as error:
        return Asked(call, None, _UNREADABLE.format(error=error, text=call.arguments[:300]))
    if not isinstance(arguments, dict):
        said = "they must be a JSON object"
        return Asked(call, None, _UNREADABLE.format(error=said, text=call.arguments[:300]))
    return Asked(call, cast("dict[str, Json]", arguments))


def _from_text(text: str, specs: Sequence[ToolSpec]) -> Turn:
    """Return the calls that are written into a text, else the text."""
    # Loaded with the first text: it knows many ways of writing a call.
    from planloom.models.text_calls import recover_calls

    found = recover_calls(text, specs)
    if not found.calls and not found.problems:
        return Turn(text)
    return Turn(found.text, tuple(map(_checked, found.calls)), found.problems)


def _from_json(text: str, specs: Sequence[ToolSpec]) -> Turn | None:
    """Return the answer, or the thought and the call, of a reply in JSON mode; None for others."""
    from planloom.models.json_repair import parse_json
    from planloom.models.json_text import UnreadableJsonError

    try:
        value = parse_json(text).value
    except UnreadableJsonError:
        return None
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Json]", value)
    action, given = fields.get("action"), fields.get("action_input", {})
    if not isinstance(action, str):
        return Turn(_text_of(fields["answer"])) if "answer" in fields else None
    if action.lower() in _ANSWERS and action not in {spec.name for spec in specs}:
        return Turn(_text_of(given))
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return Turn(str(fields.get("thought", "")), (_checked(ToolCall("call_1", action, arguments)),))


def _text_of(given: Json) -> str:
    if isinstance(given, Mapping) and isinstance(given.get("answer"), str):
        given = given["answer"]
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _as_json(turn: Turn) -> str:
    if not turn.asked:
        return turn.text
    said = [
        {"action": asked.call.name, "action_input": asked.arguments or {}} for asked in turn.asked
    ]
    shown = {"thought": turn.text} | said[0] if len(said) == 1 else said
    return json.dumps(shown, ensure_ascii=False)


def _sendable(asked: Asked) -> ToolCall:
    call = asked.call
    try:
        if isinstance(json.loads(call.arguments), dict):
            return call
    except ValueError:
        pass
    return replace(call, arguments=json.dumps(asked.arguments or {}, ensure_ascii=False))
