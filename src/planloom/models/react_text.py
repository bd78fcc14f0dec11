"""Tool calls in the text form of ReAct: a line `Action: tool` and a line `Action Input: ...`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from planloom.models.json_repair import parse_json, read_json
from planloom.models.json_text import UnreadableJsonError
from planloom.models.python_calls import read_python_calls
from planloom.models.written_calls import NOTHING, KnownTools, Reading, WrittenCall

_STARS = r"[ \t]*\**"
_ACTION = re.compile(
    rf"^{_STARS}(?:Action|行动|动作){_STARS}\d*{_STARS}[:：]{_STARS}[ \t]*(?P<action>[^\n]+)",
    re.MULTILINE | re.IGNORECASE,
)
_INPUT = re.compile(
    rf"\s*{_STARS}(?:Action[ _]?Input|行动输入|动作输入){_STARS}\d*{_STARS}[:：]{_STARS}",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"^{_STARS}(?:Thought|Action|Observation|Final Answer|思考|行动|动作|观察|最终答案)"
    rf"{_STARS}\d*{_STARS}[:：]",
    re.MULTILINE | re.IGNORECASE,
)
_OBSERVATION = re.compile(
    rf"^{_STARS}(?:Observation|观察){_STARS}\d*{_STARS}[:：]", re.MULTILINE | re.IGNORECASE
)
_SQUARE = re.compile(r"(?P<name>[\w.-]+)\[(?P<input>.*)\]")
_NO_ACTION = frozenset({"none", "n/a", "na", "no action", "final answer", "finish", "无"})


def read_react_calls(text: str, tools: KnownTools, is_quoted: Callable[[int], bool]) -> Reading:
    """Return the calls before the first observation; what stands behind it the model made up.

    `is_quoted` tells of a position whether what stands there is only quoted.
    """
    observed = _OBSERVATION.search(text)
    text = text[: observed.start()] if observed else text
    calls: list[WrittenCall] = []
    problems: list[str] = []
    for action in _ACTION.finditer(text):
        if is_quoted(action.start()):
            continue
        found = _read_action(text, action, tools)
        calls += found.calls
        problems += found.problems
    return Reading(tuple(calls), tuple(problems), len(text)) if calls or problems else NOTHING


def _read_action(text: str, action: re.Match[str], tools: KnownTools) -> Reading:
    written = action["action"].strip().strip("*`\"' ")
    if written.lower().rstrip(".") in _NO_ACTION:
        return NOTHING
    given = _INPUT.match(text, action.end())
    if given:
        following = _NEXT.search(text, given.end())
        end = following.start() if following else len(text)
        return _with_input(written.strip("[]"), text[given.end() : end].strip(), tools)
    if square := _SQUARE.fullmatch(written):
        return _with_input(square["name"], square["input"], tools)
    if "(" in written:
        return read_python_calls(written, tools)
    return Reading((WrittenCall(tools.name(written), ""),)) if written in tools else NOTHING


def _with_input(name: str, given: str, tools: KnownTools) -> Reading:
    parameters = tools.parameters(name)
    arguments = _object_in(given)
    if arguments is None and len(parameters) == 1:
        # The original form: the input is the one argument, as it stands.
        value = tools.typed(name, parameters[0], _unquoted(given))
        arguments = json.dumps({parameters[0]: value}, ensure_ascii=False)
    elif given.lower() in ("none", "n/a", "无"):
        arguments = ""
    return Reading((WrittenCall(tools.name(name), given if arguments is None else arguments),))


def _object_in(given: str) -> str | None:
    """Return the JSON object that an input begins with; None when it is no JSON object."""
    if not given:
        return ""
    start = given.find("{")
    if start < 0 or given[:start].strip(" \n\t`").lower() not in ("", "json"):
        return None
    try:
        return given[start : read_json(given, start).end]
    except UnreadableJsonError:
        return given


def _unquoted(given: str) -> str:
    if given[:1] == given[-1:] == '"' and len(given) > 1:
        try:
            value = parse_json(given).value
        except UnreadableJsonError:
            return given
        return value if isinstance(value, str) else given
    return given
