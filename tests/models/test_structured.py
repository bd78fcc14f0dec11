"""Replies of a given form are asked for until they fit, or the failure is told."""

from __future__ import annotations

import asyncio
import json

import pytest

from planloom.errors import ModelError, PlanError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply, ResponseSchema
from planloom.models.history import History
from planloom.models.json_text import JsonData
from planloom.models.messages import AssistantMessage, ToolCall, UserMessage
from planloom.models.scripted import ScriptedModel, ScriptedReply
from planloom.models.strict_schema import strict_schema
from planloom.models.structured import ASK_SHORTER, reply_structured

SCHEMA = ResponseSchema(
    "choice",
    {
        "type": "object",
        "properties": {"column": {"type": "string"}, "top": {"type": "integer"}},
        "required": ["column"],
        "additionalProperties": False,
    },
)
GOOD = '{"column": "sales", "top": 3}'
VALUE = {"column": "sales", "top": 3}


def plain(value: JsonData) -> JsonData:
    return value


def ask(*replies: ScriptedReply, json_schema: bool = False, read=plain, **options: int):
    model = ScriptedModel(replies, traits=ModelTraits(json_schema=json_schema))
    request = ChatRequest(history=History([UserMessage("Which column?")]))
    try:
        return model, asyncio.run(reply_structured(model, request, SCHEMA, read=read, **options))
    except ModelError as error:
        assert len(request.history) == 1
        return model, error


def last_words(model: ScriptedModel) -> str:
    message = model.requests[-1].messages[-1]
    assert isinstance(message, UserMessage)
    return str(message.content)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here it is:\n\n{GOOD}\n\nAnything else?",
        f"Here it is: {GOOD}.",
        f"<think>{{}} or what?</think>{GOOD}",
        "{'column': 'sales', 'top': 3,}",
        "The column [sales] it is:\n```\n" + GOOD + "\n```",
    ],
)
def test_a_good_reply_is_read_at_once(text: str):
    model, value = ask(text)
    assert value == VALUE
    assert len(model.requests) == 1


def test_the_provider_holds_the_reply_to_the_schema_where_it_can():
    model, _ = ask(GOOD, json_schema=True)
    assert model.requests[0].options.response_schema == SCHEMA
    assert len(model.requests[0].messages) == 1


def test_others_are_told_in_words():
    model, _ = ask(GOOD)
    assert model.requests[0].options.response_schema is None
    assert json.dumps(SCHEMA.schema) in last_words(model)


def test_a_provider_that_refuses_the_schema_is_told_in_words():
    refusal = ModelError("Unknown field response_format", status=400)
    model, value = ask(refusal, "{}", GOOD, json_schema=True)
    assert value == VALUE
    assert [r.options.response_schema for r in model.requests] == [SCHEMA, None, None]
    assert json.dumps(SCHEMA.schema) in str(model.requests[1].messages[-1])


@pytest.mark.parametrize("status", [401, 429, 500, None])
def test_other_failures_pass_through(status: int | None):
    failure = ModelError("no", status=status)
    _, error = ask(failure, GOOD, json_schema=True)
    assert error is failure


def test_the_model_is_told_what_is_wrong_and_more_firmly_the_second_time():
    model, value = ask('{"column": 3, "extra": 1}', '{"column": "a", "top": "x"}', GOOD)
    assert value == VALUE
    first, second = (str(r.messages[-1].content) for r in model.requests[1:])
    assert "'column': 3 is not of type" in first
    assert "extra" in first
    assert "'top'" in second
    assert "must begin with { and end with }" in second
    assert model.requests[1].messages[-2] == AssistantMessage('{"column": 3, "extra": 1}')


def test_a_reader_may_refuse_a_value():
    def read(value: JsonData) -> str:
        assert isinstance(value, dict)
        if value["column"] == "bad":
            raise PlanError("There is no column 'bad'.")
        if value["column"] == "worse":
            raise ValueError("There is no column 'worse'.")
        return str(value["column"])

    model, value = ask('{"column": "bad"}', '{"column": "worse"}', GOOD, read=read)
    assert value == "sales"
    assert "no column 'bad'" in model.requests[1].messages[-1].content
    assert "no column 'worse'" in model.requests[2].messages[-1].content


def test_the_failure_says_what_was_wanted_and_what_came():
    model, error = ask("I will not.", "No.", "Never " + "x" * 9_000)
    assert isinstance(error, ModelError)
    assert len(model.requests) == 3
    for words in ("'choice'", '"column"', "Never xxx", "no JSON value"):
        assert words in str(error)
    assert len(str(error)) < 1_500
    assert "choice" in error.text("zh")


def test_long_wrong_replies_do_not_fill_the_prompt():
    model, _ = ask("x" * 100_000, GOOD)
    assert len(str(model.requests[1].messages)) < 6_000


def test_a_cut_reply_is_asked_for_once_more_and_shorter():
    cut = Reply(text='{"column": "sales", "top": 3', finish_reason="length")
    model, value = ask(cut, GOOD)
    assert value == VALUE
    assert last_words(model) == ASK_SHORTER


def test_a_reply_cut_twice_names_the_token_limit():
    cut = Reply(text='{"column": "sa', finish_reason="length")
    model, error = ask(cut, cut, GOOD, max_tries=5)
    assert "output token limit" in str(error)
    assert "上限" in error.text("zh")
    assert len(model.requests) == 2


def test_a_whole_value_counts_although_the_reply_was_cut_behind_it():
    _, value = ask(Reply(text=f"{GOOD}\nThis was chosen bec", finish_reason="length"))
    assert value == VALUE


@pytest.mark.parametrize("text", ['{"column": "a"}, "top": 3}', 'So: {"column": "a"}, "top": 3}'])
def test_a_value_that_was_closed_too_early_is_not_taken_for_the_whole(text: str):
    model, _ = ask(text, GOOD)
    assert len(model.requests) == 2


def test_a_model_whose_provider_ignores_the_schema_is_told_it():
    model, value = ask("Certainly!", GOOD, json_schema=True)
    assert value == VALUE
    assert json.dumps(SCHEMA.schema) in last_words(model)


def test_a_tool_call_in_place_of_text_is_refused():
    model, value = ask(Reply(tool_calls=(ToolCall("1", "f", "{}"),)), GOOD)
    assert value == VALUE
    assert "calls a tool" in last_words(model)


def test_a_filtered_reply_is_not_asked_for_again():
    model, error = ask(Reply(text="", finish_reason="content_filter"), GOOD)
    assert "content filter" in str(error)
    assert len(model.requests) == 1


def test_strict_schemas_close_objects_and_require_everything():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "array", "items": {"properties": {"c": {"$ref": "#/$defs/d"}}}},
            "e": {"enum": ["x"]},
        },
        "required": ["a"],
        "$defs": {"d": {"type": "object", "properties": {}}},
    }
    made = strict_schema(schema)
    assert made["required"] == ["a", "b", "e"]
    assert made["additionalProperties"] is False
    assert made["properties"]["a"] == {"type": "string"}
    assert made["properties"]["b"]["type"] == ["array", "null"]
    inner = made["properties"]["b"]["items"]
    assert inner["required"] == ["c"]
    assert inner["properties"]["c"] == {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]}
    assert made["properties"]["e"] == {"anyOf": [{"enum": ["x"]}, {"type": "null"}]}
    assert made["$defs"]["d"]["additionalProperties"] is False
    assert "required" in schema
    assert schema["required"] == ["a"]
