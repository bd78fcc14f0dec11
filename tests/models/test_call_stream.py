"""Streamed parts become whole tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from planloom.models.call_stream import CallStream, new_call_id
from planloom.models.messages import ToolCall


class Part(NamedTuple):
    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | Mapping[str, object] | None = None


def merged(*parts: Part) -> tuple[ToolCall, ...]:
    made = iter(["made1", "made2", "made3"])
    stream = CallStream(new_id=lambda: next(made))
    for part in parts:
        stream.add(**part._asdict())
    return stream.calls()


F = ToolCall("a", "f", '{"x":1}')
STREAMS = {
    "index left out": (
        [Part(None, "a", "f", '{"x"'), Part(arguments=":1}")],
        [F],
    ),
    "index left out, two calls": (
        [Part(None, "a", "f", '{"x":1}'), Part(None, "b", "g", '{"y"'), Part(arguments=":2}")],
        [F, ToolCall("b", "g", '{"y":2}')],
    ),
    "head with a wrong index": (
        [Part(0, "a", "f", '{"x":1}'), Part(0, "b", "g", ""), Part(1, None, None, '{"y":2}')],
        [F, ToolCall("b", "g", '{"y":2}')],
    ),
    "several parts of one index": (
        [Part(0, "a", "f", '{"x"'), Part(0, None, None, ":1"), Part(0, None, None, "}")],
        [F],
    ),
    "id and name repeated": (
        [Part(0, "a", "f", '{"x"'), Part(0, "a", "f", ":1}")],
        [F],
    ),
    "id and name repeated without index": (
        [Part(None, "a", "f", '{"x"'), Part(None, "a", "f", ":1}")],
        [F],
    ),
    "escape cut in two": (
        [Part(0, "a", "f", '{"x":"\\u4e'), Part(0, None, None, '2d"}')],
        [ToolCall("a", "f", '{"x":"\\u4e2d"}')],
    ),
    "no arguments": ([Part(0, "a", "f", "")], [ToolCall("a", "f", "")]),
    "arguments as an object": ([Part(0, "a", "f", {"x": "é"})], [ToolCall("a", "f", '{"x": "é"}')]),
    "name in pieces": (
        [Part(0, "a", "get_"), Part(0, None, "weather"), Part(0, None, None, "{}")],
        [ToolCall("a", "get_weather", "{}")],
    ),
    "name growing": (
        [Part(0, "a", "get_"), Part(0, "a", "get_weather"), Part(0, "a", None, "{}")],
        [ToolCall("a", "get_weather", "{}")],
    ),
    "id after the name": (
        [Part(0, None, "f"), Part(0, "a", None, '{"x":1}')],
        [F],
    ),
    "interleaved": (
        [
            Part(0, "a", "f", '{"x"'),
            Part(1, "b", "g", "{"),
            Part(0, arguments=":1}"),
            Part(1, arguments="}"),
        ],
        [F, ToolCall("b", "g", "{}")],
    ),
    "no ids": (
        [Part(0, None, "f", '{"x":1}'), Part(1, None, "f", '{"x":2}')],
        [ToolCall("made1", "f", '{"x":1}'), ToolCall("made2", "f", '{"x":2}')],
    ),
    "no ids, one index": (
        [Part(0, None, "f", '{"x":1}'), Part(0, None, "f", '{"x":2}')],
        [ToolCall("made1", "f", '{"x":1}'), ToolCall("made2", "f", '{"x":2}')],
    ),
    "no ids, no index": (
        [Part(None, "", "f", '{"x":1}'), Part(None, "", "g", "{}")],
        [ToolCall("made1", "f", '{"x":1}'), ToolCall("made2", "g", "{}")],
    ),
    "one id for two calls": (
        [Part(0, "a", "f", '{"x":1}'), Part(1, "a", "g", "{}")],
        [F, ToolCall("made1", "g", "{}")],
    ),
    "same tool twice": (
        [Part(0, "1", "search", '{"q":"x"}'), Part(1, "2", "search", '{"q":"y"}')],
        [ToolCall("1", "search", '{"q":"x"}'), ToolCall("2", "search", '{"q":"y"}')],
    ),
    "an id for every part": (
        [Part(0, "a", "f", '{"x"'), Part(0, "b", None, ":1}")],
        [F],
    ),
    "arguments sent again at the end": (
        [Part(0, "a", "f", '{"x"'), Part(0, arguments=":1}"), Part(0, "a", "f", '{"x":1}')],
        [F],
    ),
    "space after the arguments": (
        [Part(0, "a", "f", '{"x":1}'), Part(0, None, None, "\n")],
        [ToolCall("a", "f", '{"x":1}\n')],
    ),
    "arguments alone": ([Part(0, None, None, "{}")], [ToolCall("made1", "", "{}")]),
}


@pytest.mark.parametrize(("parts", "calls"), STREAMS.values(), ids=STREAMS)
def test_parts_are_merged(parts: list[Part], calls: list[ToolCall]):
    assert merged(*parts) == tuple(calls)


def test_ids_do_not_change_between_two_looks():
    stream = CallStream()
    stream.add(index=0, name="f", arguments="{")
    first = stream.calls()
    stream.add(index=0, arguments="}")
    assert stream.calls()[0].id == first[0].id
    assert json.loads(stream.calls()[0].arguments) == {}


def test_made_ids_suit_every_provider():
    assert re.fullmatch("[0-9a-z]{9}", new_call_id())


def test_nothing_is_no_call():
    assert not CallStream()
    assert CallStream().calls() == ()


LISTED = [
    json.loads(line)
    for line in Path(__file__).with_name("tool_call_streams.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", LISTED, ids=[case["id"] for case in LISTED])
def test_reported_streams_are_merged(case: dict[str, list[dict[str, object]]]):
    calls = merged(*(Part(**delta) for delta in case["deltas"]))
    got = [
        {"id": call.id, "name": call.name, "arguments": json.loads(call.arguments or "{}")}
        for call in calls
    ]
    assert got == case["expected"]
