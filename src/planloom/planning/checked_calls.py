"""From what a model replied to calls that are ready to run, or to what the model has to be told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, cast

from planloom.errors import ConfigError
from planloom.models.call_stream import NewId, new_call_id
from planloom.models.chat_model import Reply, ToolSpec
from planloom.models.json_repair import Repair, parse_json
from planloom.models.json_text import JsonData, UnreadableJsonError
from planloom.models.messages import ToolCall
from planloom.models.text_calls import RecoveredCalls, recover_calls
from planloom.models.written_calls import known_name
from planloom.planning.loose_schema import (
    Schema,
    checkable,
    takes_only,
    with_defaults_allowed,
    with_whole_numbers,
)

if TYPE_CHECKING:
    import jsonschema_rs

ErrorKind = Literal["", "arguments", "unknown_tool", "cut_off"]

_PREVIEW_CHARS = 300
_SCHEMA_CHARS = 1_500
_LISTED_TOOLS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCall:
    """A call that a model asks for, read and checked."""

    call: ToolCall
    """Its id is unique in the reply, its name that of the tool; arguments as the model wrote them,
    or mended JSON."""
    arguments: dict[str, JsonData] | None = None
    """Ready to run; None when they cannot be read or do not fit."""
    error: str = ""
    """Why there are none, in words for the model."""
    error_kind: ErrorKind = ""
    repairs: tuple[Repair, ...] = ()
    """What was mended in the JSON of the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedReply:
    """A reply whose calls are checked."""

    calls: tuple[CheckedCall, ...] = ()
    problems: tuple[str, ...] = ()
    """For the model: what it wrote as a call and cannot be read; no id belongs to it."""
    text: str = ""
    """What it said beside the calls, without thinking."""
    is_native: bool = True
    """False when the calls were found in the text."""
    is_cut: bool = False
    """Whether the reply ended at the output token limit."""


def check_calls(reply: Reply, tools: Iterable[ToolSpec]) -> CheckedReply:
    """Return the calls of one reply, checked; a `CallChecker` does the same many times faster."""
    return CallChecker(tools).check(reply)


class CallChecker:
    """Checks the calls of replies against the tools that a model was told of.

    Any functions with a JSON Schema will do; the type names of other schema dialects are known.
    """

    def __init__(self, tools: Iterable[ToolSpec], *, new_id: NewId = new_call_id):
        self._tools = {tool.name: tool for tool in tools}
        self._schemas: dict[str, _ArgumentsCheck] = {}
        self._new_id = new_id

    def check(self, reply: Reply) -> CheckedReply:
        """Return the native calls of a reply, or else those found in its text."""
        is_cut = reply.finish_reason == "length"
        found = RecoveredCalls(calls=reply.tool_calls, text=reply.text)
        if not reply.tool_calls:
            found = recover_calls(reply.text, self._tools.values(), new_id=self._new_id)
        calls = self._with_unique_ids(found.calls)
        return CheckedReply(
            calls=tuple(
                _cut_off(call)
                if is_cut and call.id in found.unclosed
                else self.check_call(call, is_cut=is_cut)
                for call in calls
            ),
            problems=found.problems,
            text=found.text,
            is_native=bool(reply.tool_calls) or not found.calls,
            is_cut=is_cut,
        )

    def check_call(self, call: ToolCall, *, is_cut: bool = False) -> CheckedCall:
        """Return one call, checked; `is_cut` says that the reply ended at the token limit."""
        name = known_name(call.name, self._tools)
        if name not in self._tools:
            return CheckedCall(call=call, error=self._unknown(name), error_kind="unknown_tool")
        if name != call.name:
            call = replace(call, name=name)
        try:
            value, repairs = _read_arguments(call.arguments)
        except UnreadableJsonError as error:
            return _cut_off(call) if is_cut else self._unreadable(call, error)
        if is_cut and "missing bracket" in repairs:
            return _cut_off(call)
        if not isinstance(value, dict):
            return self._misfit(call, ("The arguments must be one JSON object.",))
        if repairs:
            call = replace(call, arguments=json.dumps(value, ensure_ascii=False))
        arguments, problems = self._schema(name).check(value)
        if problems:
            return replace(self._misfit(call, problems), repairs=repairs)
        return CheckedCall(call=call, arguments=arguments, repairs=repairs)

    def _with_unique_ids(self, calls: Iterable[ToolCall]) -> list[ToolCall]:
        seen: set[str] = set()
        unique: list[ToolCall] = []
        for call in calls:
            while not call.id or call.id in seen:
                call = replace(call, id=self._new_id())  # noqa: PLW2901 -- the call with its new id
            seen.add(call.id)
            unique.append(call)
        return unique

    def _schema(self, name: str) -> _ArgumentsCheck:
        if name not in self._schemas:
            self._schemas[name] = _ArgumentsCheck(name, self._tools[name].parameters)
        return self._schemas[name]

    def _unknown(self, name: str) -> str:
        names = list(self._tools)
        near = get_close_matches(name.lower(), names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        more = f" and {len(names) - _LISTED_TOOLS} more" if len(names) > _LISTED_TOOLS else ""
        listed = ", ".join(names[:_LISTED_TOOLS]) or "none"
        return f"There is no tool '{name[:100]}'. There are: {listed}{more}.{hint}"

    def _unreadable(self, call: ToolCall, error: UnreadableJsonError) -> CheckedCall:
        text = (
            f"Tool '{call.name}' was not called, its arguments are no JSON: {error}.\n"
            f"You sent: {_preview(call.arguments)}\n{self._usage(call.name)}"
        )
        return CheckedCall(call=call, error=text, error_kind="arguments")

    def _misfit(self, call: ToolCall, problems: tuple[str, ...]) -> CheckedCall:
        listed = "\n".join(f"- {problem}" for problem in problems)
        text = (
            f"Tool '{call.name}' was not called, its arguments do not fit:\n{listed}\n"
            f"You sent: {_preview(call.arguments)}\n{self._usage(call.name)}"
        )
        return CheckedCall(call=call, error=text, error_kind="arguments")

    def _usage(self, name: str) -> str:
        return self._schema(name).usage


class _ArgumentsCheck:
    """The check of one tool's arguments, compiled once."""

    def __init__(self, name: str, parameters: Mapping[str, object]):
        self._name = name
        self._schema = checkable(parameters)
        self._validator = _compiled(name, self._schema)

    @property
    def usage(self) -> str:
        """How the tool wants its arguments, bounded."""
        text = json.dumps(self._schema, ensure_ascii=False)
        if len(text) <= _SCHEMA_CHARS:
            return f"Send its arguments as one JSON object with this schema: {text}"
        return f"Send its arguments as one JSON object: {_outline(self._schema)}"

    def check(self, arguments: dict[str, JsonData]) -> tuple[dict[str, JsonData], tuple[str, ...]]:
        """Return the arguments, normalised where that is safe, and what is wrong with them."""
        if not self._validator.is_valid(arguments):
            arguments = self._decoded(arguments)
            if found := self._problems(arguments):
                return arguments, found
        if _has_whole_float(arguments):
            whole = with_whole_numbers(arguments, self._schema, self._schema)
            arguments = cast("dict[str, JsonData]", whole)
        return arguments, ()

    def _problems(self, arguments: dict[str, JsonData]) -> tuple[str, ...]:
        # The words are only needed, and their module only loaded, when something is wrong.
        from planloom.tools.validation import problems

        schema = with_defaults_allowed(self._schema, arguments)
        return problems(schema, arguments, naive_times=True)

    def _decoded(self, arguments: dict[str, JsonData]) -> dict[str, JsonData]:
        """Return arguments with objects and lists that were sent as JSON texts in their place."""
        properties = self._schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        return {
            name: _decoded(value, known.get(name), self._schema)
            for name, value in arguments.items()
        }


def _compiled(name: str, schema: Schema) -> jsonschema_rs.Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(json.dumps(schema), validate_formats=True, offline=True)
    except ValueError as error:
        raise ConfigError(
            f"The schema of the arguments of tool '{name}' is not valid: {str(error)[:400]}"
        ) from error


def _read_arguments(text: str) -> tuple[JsonData, tuple[Repair, ...]]:
    """Return the value of a call's arguments, also when they are JSON inside of a JSON text."""
    if not text.strip():
        return {}, ()
    read = parse_json(text)
    value, repairs = read.value, read.repairs
    if isinstance(value, str) and value.strip():
        inner = parse_json(value)
        value, repairs = inner.value, (*repairs, *inner.repairs)
    return value, repairs


def _decoded(value: JsonData, schema: JsonData, root: Schema) -> JsonData:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        inner = parse_json(value).value
    except UnreadableJsonError:
        return value
    kind = "object" if isinstance(inner, dict) else "array"
    return inner if takes_only(schema, kind, root) else value


def _has_whole_float(value: JsonData) -> bool:
    if isinstance(value, dict):
        return any(map(_has_whole_float, value.values()))
    if isinstance(value, list):
        return any(map(_has_whole_float, value))
    return isinstance(value, float) and value.is_integer()


def _cut_off(call: ToolCall) -> CheckedCall:
    text = (
        f"Tool '{call.name}' was not called: your reply reached the output token limit in the "
        "middle of its arguments. Send less at once, such as a long text in several parts."
    )
    return CheckedCall(call=call, error=text, error_kind="cut_off")


def _outline(schema: Schema) -> str:
    """Return names and types of arguments, for schemas too long to be shown."""
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) else []
    known = properties if isinstance(properties, dict) else {}
    parts = [
        f"{name}: {node.get('type', 'any') if isinstance(node, dict) else 'any'}"
        f"{'' if name in needed else ' (optional)'}"
        for name, node in known.items()
    ]
    text = ", ".join(parts)
    return text if len(text) <= _SCHEMA_CHARS else text[:_SCHEMA_CHARS] + "..."


def _preview(text: str) -> str:
    cut = text if len(text) <= _PREVIEW_CHARS else text[:_PREVIEW_CHARS] + "..."
    more = f" ({len(text)} characters)" if len(text) > _PREVIEW_CHARS else ""
    return cut.encode("utf-8", "backslashreplace").decode() + more
