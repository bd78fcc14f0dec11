"""Calls written into a text are found, and nothing else is taken for one."""

from __future__ import annotations

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.models.chat_model import ToolSpec
from planloom.models.text_calls import RecoveredCalls, recover_calls


def spec(name: str, **types: str | list[str]) -> ToolSpec:
    properties = {key: {"type": kind} for key, kind in types.items()}
    return ToolSpec(name, "", {"type": "object", "properties": properties})


TOOLS = (
    spec("get_weather", city="string", days="integer"),
    spec("search", query="string"),
    spec("run", code="string", checks="array"),
    spec("list_files"),
    spec("math.gcd", num1="integer", num2="integer"),
)
PARIS = ("get_weather", {"city": "Paris", "days": 3})
CATS = ("search", {"query": "cats"})
JSON_CALL = '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}'
CATS_CALL = '{"name": "search", "arguments": {"query": "cats"}}'


def recovered(text: str) -> RecoveredCalls:
    ids = count(1)
    return recover_calls(text, TOOLS, new_id=lambda: f"id{next(ids)}")


def calls_in(text: str) -> list[tuple[str, object]]:
    found = recovered(text)
    assert not found.problems
    return [(call.name, json.loads(call.arguments or "{}")) for call in found.calls]


FORMS = {
    "bare JSON": (JSON_CALL, [PARIS]),
    "two bare JSON": (f"{JSON_CALL}\n{CATS_CALL}", [PARIS, CATS]),
    "JSON array": (f"[{JSON_CALL}, {CATS_CALL}]", [PARIS, CATS]),
    "JSON, then prose": (f"{JSON_CALL}\nI wait for the result.", [PARIS]),
    "prose, then JSON on a line": (f"I look it up.\n{JSON_CALL}", [PARIS]),
    "bracket too many": (JSON_CALL + "}", [PARIS]),
    "fence": (f"```json\n{JSON_CALL}\n```", [PARIS]),
    "fence after prose": (f"Let me see.\n\n```json\n{JSON_CALL}\n```\n", [PARIS]),
    "fence left open": (f"```json\n{JSON_CALL}", [PARIS]),
    "two fences": (f"```json\n{JSON_CALL}\n```\n```\n{CATS_CALL}\n```", [PARIS, CATS]),
    "parameters": ('{"name": "search", "parameters": {"query": "cats"}}', [CATS]),
    "no arguments": ('{"name": "list_files"}', [("list_files", {})]),
    "action": ('{"thought": "x", "action": "search", "action_input": {"query": "cats"}}', [CATS]),
    "tool and args": ('{"tool": "search", "args": {"query": "cats"}}', [CATS]),
    "OpenAI wrapper": (
        '{"id": "1", "type": "function", "function": '
        '{"name": "search", "arguments": "{\\"query\\": \\"cats\\"}"}}',
        [CATS],
    ),
    "list of OpenAI": (f'{{"tool_calls": [{{"function": {CATS_CALL}}}]}}', [CATS]),
    "namespace": ('{"name": "functions.search", "arguments": {"query": "cats"}}', [CATS]),
    "unknown tool": (
        '{"name": "serch", "arguments": {"query": "cats"}}',
        [("serch", {"query": "cats"})],
    ),
    "tag": (f"Let me see.\n<tool_call>\n{JSON_CALL}\n</tool_call>", [PARIS]),
    "tags": (
        f"<tool_call>{JSON_CALL}</tool_call>\n<tool_call>{CATS_CALL}</tool_call>",
        [PARIS, CATS],
    ),
    "tag left open": (f"<tool_call>\n{JSON_CALL}", [PARIS]),
    "tag in a fence": (f"```xml\n<tool_call>{JSON_CALL}</tool_call>\n```", [PARIS]),
    "two tags in a fence": (
        f"```\n<tool_call>{JSON_CALL}</tool_call>\n<tool_call>{CATS_CALL}</tool_call>\n```",
        [PARIS, CATS],
    ),
    "tag with a Python call": ('<tool_call>search(query="cats")</tool_call>', [CATS]),
    "tag inside of an argument": (
        '<tool_call>{"name": "search", "arguments": {"query": "</tool_call> and `x`"}}</tool_call>',
        [("search", {"query": "</tool_call> and `x`"})],
    ),
    "tag after thinking": (
        f"<think>{CATS_CALL}?</think><tool_call>{JSON_CALL}</tool_call>",
        [PARIS],
    ),
    "Qwen Coder": (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        [PARIS],
    ),
    "Qwen Coder, text that looks like a number": (
        "<function=search><parameter=query>2024</parameter></function>",
        [("search", {"query": "2024"})],
    ),
    "Qwen Coder, lines kept": (
        "<function=run>\n<parameter=code>\nif 1:\n    x()\n</parameter>\n</function>",
        [("run", {"code": "if 1:\n    x()"})],
    ),
    "Qwen Coder, parameter left open": (
        "<function=get_weather><parameter=city>Paris<parameter=days>3</function>",
        [PARIS],
    ),
    "Llama function": ('<function=search>{"query": "cats"}</function>', [CATS]),
    "invoke": (
        '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        '<parameter name="days">3</parameter>\n</invoke>\n</function_calls>',
        [PARIS],
    ),
    "GLM": (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        [PARIS],
    ),
    "Mistral": (f"[TOOL_CALLS] [{JSON_CALL}, {CATS_CALL}]", [PARIS, CATS]),
    "Mistral with names": (
        '[TOOL_CALLS]search[ARGS]{"query": "cats"}[TOOL_CALLS]list_files{}',
        [CATS, ("list_files", {})],
    ),
    "python tag": (
        '<|python_tag|>{"name": "search", "parameters": {"query": "cats"}}<|eom_id|>',
        [CATS],
    ),
    "python tag with a call": ('<|python_tag|>search.call(query="cats")', [CATS]),
    "Kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
        '<|tool_call_argument_begin|>{"query": "cats"}<|tool_call_end|><|tool_calls_section_end|>',
        [CATS],
    ),
    "DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list_files\n"
        "{}\n<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        [("list_files", {})],
    ),
    "byte order mark": ("\ufeff" + JSON_CALL, [PARIS]),
    "behind a sentence": (f"I look it up: {JSON_CALL}", [PARIS]),
    "behind a Chinese sentence": (f"我来查一下。{JSON_CALL}", [PARIS]),
    "name and JSON": ('search: {"query": "cats"}', [CATS]),
    "name and JSON, escaped text": ('search {"query": "ca\\u0074s"}', [CATS]),
    "several in a wrapper": (
        '{"tool_uses": [{"recipient_name": "functions.search", "parameters": {"query": "cats"}}]}',
        [CATS],
    ),
    "Granite": (f"<|tool_call|>[{CATS_CALL}]<|/tool_call|>", [CATS]),
    "gpt-oss": (
        "<|channel|>commentary to=functions.search <|constrain|>json<|message|>"
        '{"query": "cats"}<|call|>',
        [CATS],
    ),
    "Python call": ('get_weather(city="Paris", days=3)', [PARIS]),
    "Python call by position": ('get_weather("Paris", 3)', [PARIS]),
    "Python calls in a list": (
        '[get_weather(city="Paris", days=3), list_files()]',
        [PARIS, ("list_files", {})],
    ),
    "Python calls on lines": ('search(query="cats")\nlist_files()', [CATS, ("list_files", {})]),
    "Python call in a fence": ('I search.\n```python\nsearch(query="cats")\n```', [CATS]),
    "Python call of a dotted name": (
        "math.gcd(num1=12, num2=-8)",
        [("math.gcd", {"num1": 12, "num2": -8})],
    ),
    "Python call with values": (
        "run(code='x', checks=[True, null, (1, 2.5), {'a': None}])",
        [("run", {"code": "x", "checks": [True, None, [1, 2.5], {"a": None}]})],
    ),
    "Python call of an unknown tool": (
        'get_wether(city="Paris")',
        [("get_wether", {"city": "Paris"})],
    ),
    "ReAct": ('Thought: hm\nAction: search\nAction Input: {"query": "cats"}', [CATS]),
    "ReAct, text as input": ("Action: search\nAction Input: cats", [CATS]),
    "ReAct, fenced input": (
        'Action: search\nAction Input:\n```json\n{"query": "cats"}\n```',
        [CATS],
    ),
    "ReAct, bold": ('**Action:** `search`\n**Action Input:** {"query": "cats"}', [CATS]),
    "ReAct, made-up observation": (
        'Action: search\nAction Input: {"query": "cats"}\nObservation: 3 cats\nFinal Answer: 3',
        [CATS],
    ),
    "ReAct, two actions": (
        'Action: search\nAction Input: {"query": "cats"}\nAction: list_files\nAction Input: {}',
        [CATS, ("list_files", {})],
    ),
    "ReAct in Chinese": ('思考：查一下\n行动：search\n行动输入：{"query": "cats"}', [CATS]),
    "ReAct, example words in the thought": (
        'Thought: animals, for example cats.\nAction: search\nAction Input: {"query": "cats"}',
        [CATS],
    ),
    "ReAct, square brackets": ("Action 1: search[cats]", [CATS]),
    "ReAct, call": ('Action: search(query="cats")', [CATS]),
    "doubled braces": (
        '{{"name": "get_weather", "arguments": {{"city": "Paris", "days": 3}}}}',
        [PARIS],
    ),
    "doubled outer braces": (
        '{{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}}}',
        [PARIS],
    ),
    "doubled braces in a fence": (f"```json\n{{{CATS_CALL}}}\n```", [CATS]),
    "doubled braces in a tag": (f"<tool_call>{{{CATS_CALL}}}</tool_call>", [CATS]),
    "tools tag": (f"<tools>\n{JSON_CALL}\n</tools>", [PARIS]),
    "hyphenated tag": (f"<function-call>{JSON_CALL}</function-call>", [PARIS]),
    "unknown tool behind a sentence": (
        'I add them up: {"name": "add", "arguments": {"a": 1}}',
        [("add", {"a": 1})],
    ),
    "unknown tool, args": ('{"tool": "add", "args": {"a": 1}}', [("add", {"a": 1})]),
    "unknown tool, input": ('{"tool": "add", "input": {"a": 1}}', [("add", {"a": 1})]),
    "unknown tool, function": ('{"function": "add", "args": {"a": 1}}', [("add", {"a": 1})]),
    "unknown tool, action": ('{"action": "add", "action_input": {"a": 1}}', [("add", {"a": 1})]),
    "ReAct, unknown tool": ("Action: browse\nAction Input: {}", [("browse", {})]),
}

NO_CALLS = {
    "empty": "",
    "prose with braces": "The city of Paris has 2.1 million people {as of 2020}.",
    "prose with brackets": "[1] The report says (see page 3) that sales rose.",
    "data": '{"name": "Alice", "age": 3}',
    "data with a tool's name": '{"name": "search", "description": "finds pages"}',
    "data with an action and no input": '{"action": "buy", "amount": 3}',
    "list of data": '[{"name": "Alice", "input": 3}]',
    "data in a fence": '```json\n{"name": "Paris", "parameters": [1, 2]}\n```',
    "broken data": '{"name": "Alice", "age": 3,, }',
    "only thinking": f"<think>{JSON_CALL}</think>",
    "thinking that never ends": f"<think>I could say <tool_call>{JSON_CALL}</tool_call>",
    "call in thinking, then an answer": f"<think>{JSON_CALL}</think>It is sunny.",
    "call in backticks": f'To search, for example `search(query="cats")` or `{CATS_CALL}`.',
    "tag in backticks": f"The form is `<tool_call>{JSON_CALL}</tool_call>`.",
    "example in a fence": f"You can call it, for example:\n```json\n{JSON_CALL}\n```",
    "example in a fence, Chinese": f"调用示例：\n\n```json\n{JSON_CALL}\n```",
    "example in tags": f"A call looks like this: <tool_call>{JSON_CALL}</tool_call>",
    "example as ReAct": "For example:\nAction: search\nAction Input: cats",
    "ReAct in a fence": "The format is:\n```\nAction: search\nAction Input: cats\n```\nOk?",
    "explained in a fence": f"Here's how to call it:\n\n```json\n{JSON_CALL}\n```",
    "format explained": f"The format is: {JSON_CALL}",
    "inside of a sentence": f"We might send {CATS_CALL} later.",
    "name, then prose": "search {noun}: the act of looking",
    "blockquote": f"> {JSON_CALL}\n\nwas the last call.",
    "tag in a blockquote": f"> <tool_call>{JSON_CALL}</tool_call>\nwas wrong.",
    "tag as a word": "The <tool_call> tag marks calls.",
    "call inside of a sentence": 'I used search(query="cats") and found nothing.',
    "program": '```python\nresult = search(query="cats")\nprint(result)\n```',
    "program of unknown calls": '```python\nprint("hello")\n```',
    "call of something else": 'print("hello")',
    "name with parenthesis": "search (noun): the act of looking for something",
    "no action": "Thought: done\nAction: None\nFinal Answer: 4",
    "action item": "**Action:** Review the budget (by Friday)",
    "final answer": "Final Answer: 42",
}

PROBLEMS = {
    "cut off": ('{"name": "search", "arguments": {"query": "ca', "not closed"),
    "unknown tool, cut off": ('{"name": "add", "arguments": {"a": "1', "not closed"),
    "unknown tool, missing colon": ('{"tool": "add", "args" {"a": 1}}', "colon"),
    "braces doubled in places": (
        '{{"name": "search", "arguments": {"query": {"a": {{"b": 1}}}}}}',
        "doubled",
    ),
    "cut off in a tag": ('<tool_call>{"name": "search", "arguments": {"query": "ca', "not closed"),
    "missing colon": ('{"name": "search", "arguments" {"query": "cats"}}', "colon"),
    "inner quotes": ('{"name": "search", "arguments": {"query": "an "x" y"}}', "Escape"),
    "no JSON in a tag": ("<tool_call>please search cats</tool_call>", "please search cats"),
    "data in a tag": ('<tool_call>{"query": "cats"}</tool_call>', "cannot be read"),
    "Python call with a variable": ("search(query=term)", "term is no literal"),
    "Python call with a sum": ('search(query="a" + "b")', "no literal"),
    "Python call with code": ("search(query=__import__('os').getcwd())", "no literal"),
    "Python call cut off": ('[search(query="cats"), search(query="do)', "cannot be read"),
    "Python call without its end": ('search(query="do', "cannot be read"),
    "too many positions": ('search("a", "b")', "takes 1 arguments"),
    "argument twice": ('search("a", query="b")', "query"),
    "XML cut off": ("<function=search><parameter=query>ca", "cut off"),
    "XML cut off between": ("<function=run><parameter=code>x</parameter>", "cut off"),
    "Kimi cut off": (
        '<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"q',
        "cut off",
    ),
    "deep": ('{"name": "search", "arguments": {"query": ' + "[" * 500, "deep"),
}


@pytest.mark.parametrize(("text", "calls"), FORMS.values(), ids=FORMS)
def test_every_form_is_read(text: str, calls: list[object]):
    assert calls_in(text) == calls


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_not_meant_as_a_call_is_none(text: str):
    found = recovered(text)
    assert (found.calls, found.problems) == ((), ())


@pytest.mark.parametrize(("text", "reason"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_call_that_cannot_be_read_is_a_problem(text: str, reason: str):
    found = recovered(text)
    assert found.calls == ()
    assert any(reason in problem for problem in found.problems)
    assert all(len(problem) < 600 for problem in found.problems)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"Let me see.\n<tool_call>{JSON_CALL}</tool_call>\nDone.", "Let me see.\nDone."),
        (f"<think>hm</think>I look.\n```json\n{JSON_CALL}\n```", "I look."),
        (f"{JSON_CALL}\nI wait.", "I wait."),
        ("<think>hm</think> No call.", "No call."),
    ],
)
def test_the_prose_remains(text: str, rest: str):
    assert recovered(text).text == rest


def test_a_call_without_its_closing_brackets_is_told_apart():
    found = recovered(f"[{CATS_CALL}, {JSON_CALL[:-1]}")
    assert found.unclosed == {"id1", "id2"}
    assert recovered(CATS_CALL).unclosed == frozenset()


def test_each_call_has_an_id_of_its_own():
    calls = recovered(f"[{JSON_CALL}, {JSON_CALL}]").calls
    assert [call.id for call in calls] == ["id1", "id2"]


@given(
    st.text(
        alphabet="{}[]<>/`\"'=():,\n abfunctiontool_callparameternameargumentssearch|", max_size=80
    )
)
def test_any_text_is_read_without_a_crash(text: str):
    found = recovered(text)
    assert all(call.name for call in found.calls)


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>",
        "<function=search>",
        "```\n",
        "[TOOL_CALLS]",
        "[\n",
        '{"name": "search"\n',
        "`",
        "Action: x\n",
        "<tool_call>{",
        "<function=search><parameter=query>",
        "<|tool_call_begin|>",
        "> ",
        "search(",
    ],
)
def test_hostile_repetition_takes_little_time(piece: str):
    recovered(piece * 2_000)
