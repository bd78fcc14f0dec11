"""Reads what a model replied: the calls that it wants, or its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from planloom.models.chat_model import Json, Reply, ResponseSchema, ToolSpec
from planloom.models.messages import AssistantMessage, ToolCall
from planloom.models.thinking import split_thinking

if TYPE_CHECKING:
    # Loaded with the first reply: it knows many ways of writing a call.
    from planloom.planning.checked_calls import CallChecker, CheckedCall, CheckedReply

ANSWER_ACTION = "answer"
JSON_MODE = """\
You cannot call tools directly. Instead, reply with one JSON object and nothing else, either
{{"thought": "...", "action": "<name of a tool>", "action_input": {{<its arguments>}}}}
and you will be told the result, or, when you know the answer,
{{"thought": "...", "action": "answer", "action_input": "<the answer>"}}

Tools:
{tools}"""

_ASKS_FOR_JSON = re.compile(r"(?<![\w.])json(?![A-Za-z0-9_])", re.IGNORECASE | re.ASCII)
"""Not in the name of a file."""
_BEGINS_LIKE_JSON = re.compile(r"\W*[{]|\W*json\s", re.IGNORECASE)
_ANSWERS = frozenset({ANSWER_ACTION, "final_answer", "finish", "final", "none", ""})


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply, understood."""

    text: str
    """The answer, or what was said beside the calls; without thinking."""
    asked: tuple[CheckedCall, ...] = ()
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


def wants_json(text: str) -> bool:
    """Return whether a goal asks for JSON, which then is no misspelled call of a tool.

    >>> wants_json("List the towns as JSON"), wants_json("What is in towns.json?")
    (True, False)
    """
    return bool(_ASKS_FOR_JSON.search(text))


def read(
    reply: Reply,
    checker: CallChecker,
    specs: Sequence[ToolSpec],
    *,
    native: bool,
    json_is_answer: bool = False,
) -> Turn:
    """Return what a reply means; calls are also found in its text.

    `json_is_answer` says that the goal asks for JSON: then it is only a call where it names a tool.
    """
    thinking, text = split_thinking(reply.text)
    thought = "\n".join(filter(None, (reply.thinking, thinking)))
    spoken = None if reply.tool_calls else _json_fields(text)
    if spoken is not None and (answer := _answer_of(spoken, specs, native=native)) is not None:
        return Turn(answer, thinking=thought, is_cut=reply.finish_reason == "length")
    found = checker.check(replace(reply, text=text))
    if json_is_answer and not reply.tool_calls and _is_data(text, found):
        return Turn(text, thinking=thought, is_cut=found.is_cut)
    said = str(spoken.get("thought", "")) if spoken and found.calls else found.text
    # What is whole of a reply that was cut off can be run; the rest is told.
    is_cut = found.is_cut and all(asked.arguments is None for asked in found.calls)
    return Turn(said, found.calls, found.problems, thought, is_cut)


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


def _is_data(text: str, found: CheckedReply) -> bool:
    """Return whether a text is valid JSON that names none of the tools."""
    if not found.calls or any(asked.error_kind != "unknown_tool" for asked in found.calls):
        return False
    from planloom.models.json_repair import parse_json
    from planloom.models.json_text import UnreadableJsonError

    try:
        return set(parse_json(text).repairs) <= {"code fence"}
    except UnreadableJsonError:
        return False


def _json_fields(text: str) -> Mapping[str, Json] | None:
    """Return the one JSON object that a text is; None for other texts."""
    if not _BEGINS_LIKE_JSON.match(text):
        return None
    from planloom.models.json_repair import parse_json
    from planloom.models.json_text import UnreadableJsonError

    try:
        value = parse_json(text).value
    except UnreadableJsonError:
        return None
    return cast("dict[str, Json]", value) if isinstance(value, dict) else None


def _answer_of(
    fields: Mapping[str, Json], specs: Sequence[ToolSpec], *, native: bool
) -> str | None:
    """Return the answer that a JSON reply gives; None when it calls a tool or is something else."""
    action = fields.get("action")
    if action is None:
        return _text_of(fields["answer"]) if "answer" in fields and not native else None
    if native and "action_input" not in fields:
        return None
    is_tool = any(spec.name == action for spec in specs)
    is_answer = isinstance(action, str) and action.lower() in _ANSWERS and not is_tool
    return _text_of(fields.get("action_input", "")) if is_answer else None


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


def _sendable(asked: CheckedCall) -> ToolCall:
    call = asked.call
    try:
        if isinstance(json.loads(call.arguments), dict):
            return call
    except ValueError:
        pass
    return replace(call, arguments=json.dumps(asked.arguments or {}, ensure_ascii=False))
