"""Tool calls that a model writes as JSON into its text, in the many shapes that are in use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from planloom.models.json_repair import read_json
from planloom.models.json_text import JsonData, UnreadableJsonError
from planloom.models.written_calls import NOTHING, KnownTools, Reading, WrittenCall, as_json

_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "kwargs", "params"),
    *("input", "tool_input", "action_input", "tool_args"),
)
_WRAPPER_KEYS = (
    *("function", "function_call", "function_calls"),
    *("tool_call", "tool_calls", "tool_uses"),
)
_OTHER_KEYS = ("id", "type", "index", "thought", "thoughts", "reasoning")
_CERTAIN_NAME_KEYS = frozenset(_NAME_KEYS) - {"name"}
_CERTAIN_ARGUMENT_KEYS = frozenset(_ARGUMENT_KEYS) - {"args", "params", "input"}
"""Data may have a name and an input; one of these with one of the other kind makes a call."""
_PLAIN_NAME = re.compile(r"[\w.:/-]+")
_BETWEEN = re.compile(r"[\s,;]*")
_CALL_KEY = re.compile(
    rf"[\"'“](?P<quoted>{'|'.join(_ARGUMENT_KEYS)})[\"'”]|\b(?P<bare>{'|'.join(_ARGUMENT_KEYS)})\s*:"
)
_OPENED = re.compile(r"[\[{\s\"'“]*")
_NAME_GIVEN = re.compile(
    rf"\b(?P<key>{'|'.join(_NAME_KEYS)})[\"'”]?\s*[:：]?\s*[\"'“](?P<name>[^\"'”\n]{{1,100}})[\"'”]"
)
_NAME_BEFORE = re.compile(r"\s*`?(?P<name>[\w.-]+)`?\s*[:：]?\s*(?=\{\s*[\"'“}])")
_EXTRA = re.compile(r"(?:\s*[}\]])*")
_OPENING = re.compile(r"[{\[]")


def read_json_calls(text: str, start: int, tools: KnownTools) -> Reading:
    """Return the calls of the JSON values that begin at `start`, one behind another.

    Nothing when the first is no call. JSON that cannot be read is a problem only where it looks
    like a call of a tool.
    """
    calls: list[WrittenCall] = []
    at = start
    while _OPENING.match(text, at):
        try:
            read = read_json(text, at)
            found = calls_of_value(read.value, tools)
        except UnreadableJsonError as error:
            if _looks_like_call(text[start:], tools):
                return Reading((), (_problem(error),), len(text))
            break
        if not found:
            break
        is_closed = "missing bracket" not in read.repairs
        calls += [replace(call, is_closed=is_closed) for call in found]
        # Closing brackets that are left over belong to the value before them.
        at = _past(text, _BETWEEN, _past(text, _EXTRA, read.end))
    return Reading(tuple(calls), (), at) if calls else NOTHING


def read_named_json(text: str, tools: KnownTools) -> Reading:
    """Return the call of a text that is a tool's name and a JSON object: `search {"q": "x"}`."""
    named = _NAME_BEFORE.match(text)
    if named is None or named["name"] not in tools:
        return NOTHING
    try:
        end = read_json(text, named.end()).end
    except UnreadableJsonError:
        end = len(text)  # the check of the arguments says what is wrong
    if text[end:].strip():
        return NOTHING
    return Reading((WrittenCall(tools.name(named["name"]), text[named.end() : end]),), (), end)


def _past(text: str, pattern: re.Pattern[str], at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def calls_of_value(value: JsonData, tools: KnownTools) -> tuple[WrittenCall, ...]:
    """Return the calls that a JSON value spells; none when it is data that is no call."""
    if isinstance(value, list):
        found = [calls_of_value(item, tools) for item in value]
        return tuple(call for calls in found for call in calls) if all(found) else ()
    if not isinstance(value, dict):
        return ()
    for key in _WRAPPER_KEYS:
        if isinstance(value.get(key), dict | list) and (inner := calls_of_value(value[key], tools)):
            return inner
    call = _call_of(value, tools)
    return (call,) if call else ()


def _call_of(value: Mapping[str, JsonData], tools: KnownTools) -> WrittenCall | None:
    for key, name in _names(value):
        arguments = [value[key] for key in _ARGUMENT_KEYS if key in value]
        if name in tools and (arguments or _only(value, key)):
            return WrittenCall(tools.name(name), as_json(arguments[0]) if arguments else "")
        if arguments and _is_call_of_unknown(value, key, name, arguments[0]):
            return WrittenCall(name, as_json(arguments[0]))
    return None


def _names(value: Mapping[str, JsonData]) -> Iterator[tuple[str, str]]:
    for key in _NAME_KEYS:
        name = value.get(key)
        if isinstance(name, str) and name:
            yield key, name


def _only(value: Mapping[str, JsonData], key: str) -> bool:
    return value.keys() <= {key, *_OTHER_KEYS}


def _is_call_of_unknown(
    value: Mapping[str, JsonData], key: str, name: str, arguments: JsonData
) -> bool:
    """Tell a call of a tool that does not exist from data that happens to have a name."""
    return (
        value.keys() <= {key, *_ARGUMENT_KEYS, *_OTHER_KEYS}
        and (key in _CERTAIN_NAME_KEYS or bool(_CERTAIN_ARGUMENT_KEYS & value.keys()))
        and isinstance(arguments, dict | str)
        and bool(_PLAIN_NAME.fullmatch(name))
    )


def _looks_like_call(text: str, tools: KnownTools) -> bool:
    given = _CALL_KEY.search(text)
    if given is None:
        return False
    named = list(_NAME_GIVEN.finditer(text))
    if any(name["name"] in tools for name in named):
        return True
    # Of a tool that there is not: the keys have to leave no doubt, and the name stands first.
    argument = (given["quoted"] or given["bare"]).lower()
    return any(
        _OPENED.fullmatch(text, 0, name.start())
        and (name["key"] in _CERTAIN_NAME_KEYS or argument in _CERTAIN_ARGUMENT_KEYS)
        for name in named
    )


def _problem(error: UnreadableJsonError) -> str:
    return f"A tool call was written as JSON that cannot be read: {error}."
