"""Calls are ready to run, or the model is told what is wrong with them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import pytest

from planloom.errors import ConfigError
from planloom.models.chat_model import Reply, ToolSpec
from planloom.models.messages import ToolCall
from planloom.planning.checked_calls import CallChecker, CheckedCall, CheckedReply, check_calls

HERE = Path(__file__).parent
TOOLS = tuple(
    ToolSpec(tool["name"], "", tool["parameters"])
    for tool in json.loads((HERE / "tools_for_broken_calls.json").read_text("utf-8"))
)
BROKEN = [
    json.loads(line) for line in (HERE / "broken_tool_calls.jsonl").read_text("utf-8").splitlines()
]
CHECKER = CallChecker(TOOLS)


def checked(name: str, arguments: str, *, is_cut: bool = False) -> CheckedCall:
    return CHECKER.check_call(ToolCall("c1", name, arguments), is_cut=is_cut)


def outcome(reply: CheckedReply) -> object:
    """Return a reply in the words of the list of broken calls."""
    if any(call.arguments is None for call in reply.calls) or reply.problems:
        return "reject"
    made = [{"name": call.call.name, "arguments": call.arguments} for call in reply.calls]
    return made or "no call"


@pytest.mark.parametrize("case", BROKEN, ids=[case["id"] for case in BROKEN])
def test_broken_calls_run_right_or_not_at_all(case: dict[str, object]):
    got = outcome(check_calls(Reply(text=str(case["raw"])), TOOLS))
    accepted = [case["expected"], *(case["also_accepted"] or [])]
    one = got[0] if isinstance(got, list) and len(got) == 1 else got
    assert got in accepted or one in accepted


def test_native_calls_go_before_those_in_the_text():
    call = ToolCall("a", "list_files", "")
    reply = check_calls(Reply(text='search(query="x")', tool_calls=(call,)), TOOLS)
    assert reply.calls == (CheckedCall(call=call, arguments={}),)
    assert (reply.text, reply.is_native) == ('search(query="x")', True)


def test_calls_from_the_text_are_told_apart():
    reply = check_calls(Reply(text='I look.\n<tool_call>{"name": "list_files"}</tool_call>'), TOOLS)
    assert (reply.is_native, reply.text, len(reply.calls)) == (False, "I look.", 1)


def test_the_same_tool_twice_keeps_both_arguments():
    calls = (ToolCall("1", "search", '{"query": "x"}'), ToolCall("2", "search", '{"query": "y"}'))
    reply = check_calls(Reply(tool_calls=calls), TOOLS)
    assert [(c.call.id, c.arguments) for c in reply.calls] == [
        ("1", {"query": "x"}),
        ("2", {"query": "y"}),
    ]


def test_every_id_is_there_once():
    calls = tuple(ToolCall(id_, "list_files", "{}") for id_ in ("a", "a", "", "b"))
    ids = [call.call.id for call in check_calls(Reply(tool_calls=calls), TOOLS).calls]
    assert len(set(ids)) == 4
    assert ids[0] == "a"


def test_a_failing_call_leaves_its_siblings_alone():
    calls = (ToolCall("1", "search", '{"query": '), ToolCall("2", "list_files", ""))
    bad, good = check_calls(Reply(tool_calls=calls), TOOLS).calls
    assert (bad.arguments, bad.error_kind) == (None, "arguments")
    assert good.arguments == {}


ERRORS = {
    "unreadable": ("search", '{"query": "x', ["no JSON", "not closed", "schema"]),
    "missing": ("get_weather", "", ["'city' is missing", "schema"]),
    "unknown argument": (
        "get_weather",
        '{"city": "P", "citi": 1}',
        ["'citi' is not known", "city"],
    ),
    "wrong type": ("get_weather", '{"city": "P", "days": "3"}', ["'days'", "an integer", '"3"']),
    "no whole number": ("get_weather", '{"city": "P", "days": 3.5}', ["'days'", "3.5"]),
    "wrong choice": ("get_weather", '{"city": "P", "units": "C"}', ["'units'", '"c", "f"', '"C"']),
    "list in place of an object": ("search", '["x"]', ["one JSON object"]),
    "null": ("search", "null", ["one JSON object"]),
    "text for a list": ("search", '{"query": "x", "tags": "a"}', ["'tags'", "a list"]),
    "not a number": ("get_weather", '{"city": "P", "days": NaN}', ["NaN"]),
    "twice": ("search", '{"query": "x", "query": "y"}', ['"query" is given twice']),
    "half a character": ("search", '{"query": "\\ud83d"}', ["half a character"]),
    "unknown tool": ("serch", "{}", ["no tool 'serch'", "Did you mean 'search'"]),
}


@pytest.mark.parametrize(("name", "arguments", "said"), ERRORS.values(), ids=ERRORS)
def test_the_error_says_what_to_mend(name: str, arguments: str, said: list[str]):
    call = checked(name, arguments)
    assert call.arguments is None
    for words in said:
        assert words in call.error
    assert call.error_kind == ("unknown_tool" if name == "serch" else "arguments")
    assert len(call.error) < 2_500
    call.error.encode()


SAFE = {
    "integer with a point": ("get_weather", '{"city": "P", "days": 3.0}', {"city": "P", "days": 3}),
    "namespace": ("functions.list_files", "{}", {}),
    "arguments as a text": ("search", '"{\\"query\\": \\"x\\"}"', {"query": "x"}),
    "blank": ("list_files", " \n", {}),
    "empty text in a text": ("search", '{"query": ""}', {"query": ""}),
    "object as a text": (
        "search",
        '{"query": "[1]", "filters": "{\\"safe\\": true}", "tags": "[\\"a\\"]"}',
        {"query": "[1]", "filters": {"safe": True}, "tags": ["a"]},
    ),
}


@pytest.mark.parametrize(("name", "arguments", "value"), SAFE.values(), ids=SAFE)
def test_what_means_the_same_is_normalised(name: str, arguments: str, value: object):
    call = checked(name, arguments)
    assert call.arguments == value
    assert json.dumps(call.arguments) == json.dumps(value)
    assert call.call.name == name.removeprefix("functions.")


def test_mended_arguments_are_valid_json_for_the_history():
    call = checked("run_python", '{"code": "if 1:\n\tx()",}')
    assert json.loads(call.call.arguments) == call.arguments == {"code": "if 1:\n\tx()"}
    assert call.repairs == ("control character in a text", "trailing comma")


@pytest.mark.parametrize(
    "arguments", ['{"path": "a", "content": "half', '{"path": "a", "content": "x"', '{"path": "a"']
)
def test_a_call_cut_off_by_the_token_limit_is_named_so(arguments: str):
    reply = Reply(tool_calls=(ToolCall("1", "write_file", arguments),), finish_reason="length")
    (call,) = check_calls(reply, TOOLS).calls
    assert (call.arguments, call.error_kind) == (None, "cut_off")
    assert "output token limit" in call.error


def test_a_whole_call_runs_although_the_reply_was_cut_off_later():
    text = 'x\n<tool_call>{"name": "list_files", "arguments": {}}</tool_call> and then'
    reply = check_calls(Reply(text=text, finish_reason="length"), TOOLS)
    assert reply.is_cut
    assert [call.arguments for call in reply.calls] == [{}]


def test_a_call_in_the_text_cut_off_by_the_token_limit_does_not_run():
    text = '{"name": "search", "arguments": {"query": "x"'
    (call,) = check_calls(Reply(text=text, finish_reason="length"), TOOLS).calls
    assert (call.arguments, call.error_kind) == (None, "cut_off")


def test_long_schemas_are_outlined():
    properties = {f"p{n}": {"type": "string", "description": "x" * 50} for n in range(100)}
    tool = ToolSpec("big", "", {"type": "object", "properties": properties, "required": ["p1"]})
    call = CallChecker([tool]).check_call(ToolCall("1", "big", "{}"))
    assert "p1: string, p2: string (optional)" in call.error
    assert len(call.error) < 2_500


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "dict", "properties": {"a": {"type": "float"}}}, {"a": 1}, {"a": "1"}),
        (
            {"properties": {"a": {"type": "tuple", "items": {"type": "int"}}}},
            {"a": [1]},
            {"a": [""]},
        ),
        ({"type": "dict", "properties": {"a": {"type": "any"}}}, {"a": [None]}, {"b": 1}),
        ({"properties": {"a": {"type": "String", "default": 5}}}, {"a": 5}, {"a": 6}),
        ({"properties": {"a": {"type": "HashMap"}}}, {"a": {"b": 1}}, {"a": 1}),
        ({"properties": {}}, {}, {"a": 1}),
        ({"type": "object"}, {"a": 1}, None),
        ({}, {"a": 1}, None),
        ({"type": "object", "additionalProperties": True}, {"a": 1}, None),
        ({"properties": {"a": {"type": "integer", "required": True}}}, {"a": 1}, {"a": "x"}),
    ],
)
def test_schemas_of_other_dialects_are_understood(
    schema: dict[str, object], good: object, bad: object
):
    checker = CallChecker([ToolSpec("f", "", schema)])
    assert checker.check_call(ToolCall("1", "f", json.dumps(good))).arguments == good
    if bad is not None:
        assert checker.check_call(ToolCall("1", "f", json.dumps(bad))).error


def test_nested_integers_are_whole():
    schema = {
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
            "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "x": {"type": "number"},
        },
        "$defs": {"row": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    checker = CallChecker([ToolSpec("f", "", schema)])
    call = checker.check_call(ToolCall("1", "f", '{"rows": [{"n": 1.0}], "n": 2.0, "x": 3.0}'))
    assert json.dumps(call.arguments) == '{"rows": [{"n": 1}], "n": 2, "x": 3.0}'


def test_an_invalid_schema_is_the_users_to_mend():
    checker = CallChecker([ToolSpec("f", "", {"properties": {"a": {"minimum": "x"}}})])
    with pytest.raises(ConfigError, match="'f'"):
        checker.check_call(ToolCall("1", "f", "{}"))


def test_a_valid_native_call_costs_little():
    reply = Reply(tool_calls=(ToolCall("1", "get_weather", '{"city": "Paris", "days": 3}'),))
    CHECKER.check(reply)
    started = time.process_time()
    for _ in range(1_000):
        CHECKER.check(reply)
    # About 20 microseconds; the bound leaves room for slow and busy machines.
    assert (time.process_time() - started) / 1_000 < 200e-6


CASES = os.environ.get("PLANLOOM_CASES")


def function_cases() -> Iterator[
    tuple[str, CallChecker, dict[str, ToolSpec], str, dict[str, object]]
]:
    """Yield the calls that public test cases expect, with the functions they choose from."""
    for line in (Path(str(CASES)) / "bfcl.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        tools = {f["name"]: ToolSpec(f["name"], "", f["parameters"]) for f in case["functions"]}
        checker = CallChecker(tools.values())
        for expected in case["expected"]:
            for name, accepted in expected.items() if isinstance(expected, dict) else ():
                required = tools[name].parameters.get("required", [])
                for values in islice(combinations(accepted, required), 60):
                    yield case["id"], checker, tools, name, values


def combinations(
    accepted: dict[str, list[object]], required: object
) -> Iterator[dict[str, object]]:
    """Yield arguments of every combination; an empty text stands for "left out"."""
    choices = {
        name: [v for v in values if not (v == "" and name in required)] or [""]
        for name, values in accepted.items()
    }
    for combined in product(*choices.values()):
        pairs = zip(choices, combined, strict=True)
        yield {name: first_of(value) for name, value in pairs if value != "" or name in required}


def first_of(value: object) -> object:
    """Return an object whose values are lists of accepted values with the first of each."""
    if isinstance(value, dict):
        firsts = {key: item[0] for key, item in value.items() if isinstance(item, list)}
        return {key: first_of(item) for key, item in firsts.items() if item != ""}
    return value


@pytest.mark.skipif(not CASES, reason="PLANLOOM_CASES names no folder of cases")
def test_expected_calls_of_public_cases_fit_their_schemas():
    count = 0
    for case, checker, _, name, values in function_cases():
        call = checker.check_call(ToolCall("1", name, json.dumps(values)))
        assert not call.error, (case, call.error)
        assert call.arguments == values
        count += 1
    assert count > 300


@pytest.mark.skipif(not CASES, reason="PLANLOOM_CASES names no folder of cases")
def test_mutated_calls_of_public_cases_fail_by_name():
    count = 0
    for case, checker, tools, name, values in function_cases():
        for argument, mutated in mutations(tools[name], values):
            call = checker.check_call(ToolCall("1", name, json.dumps(mutated)))
            assert call.arguments is None, (case, argument, mutated)
            assert f"'{argument}" in call.error, (case, argument, call.error)
            count += 1
    assert count > 600


def mutations(tool: ToolSpec, values: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    yield "surplus_argument", {**values, "surplus_argument": 1}
    for name in tool.parameters.get("required", []):
        yield name, {key: value for key, value in values.items() if key != name}
    for name in values:
        node = tool.parameters["properties"][name]
        wrong = 7.5 if node["type"] in ("string", "array", "object", "dict") else {"a": 1}
        if node["type"] != "any":
            yield name, {**values, name: wrong}
