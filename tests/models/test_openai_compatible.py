import asyncio
import gc
import json
import socket
import subprocess
import sys
import warnings

import pytest

from planloom.errors import ConfigError, ContextWindowError, ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply, ResponseSchema, ToolSpec
from planloom.models.history import History
from planloom.models.messages import (
    AssistantMessage,
    AudioPart,
    ImagePart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from planloom.models.openai_compatible import OpenAICompatibleModel

KEY = "secret-key-1234567890"
LOOK_UP = ToolSpec("look_up", "Looks a word up.", {"type": "object", "properties": {}})
FORM = ResponseSchema("answer", {"type": "object", "properties": {"n": {"type": "integer"}}})


def model_at(server, **options):
    return OpenAICompatibleModel("m-1", server.url, KEY, proxies={}, **options)


def request(*messages, **options):
    history = History(messages or [SystemMessage("Be brief."), UserMessage("Hello")])
    return ChatRequest(history=history, **options)


def run(model, work):
    async def main():
        try:
            return await work()
        finally:
            await model.close()

    return asyncio.run(main())


def reply_of(model, asked=None) -> Reply:
    return run(model, lambda: model.reply(asked or request()))


async def collect(model, asked=None) -> tuple[list[str], Reply]:
    pieces = [piece async for piece in model.stream(asked or request())]
    assert isinstance(pieces[-1], Reply)
    return pieces[:-1], pieces[-1]


def ask_both_ways(model, *, stream):
    if stream:
        return run(model, lambda: collect(model))[1]
    return reply_of(model)


def error_of(model, *, stream=False) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask_both_ways(model, stream=stream)
    told = str(caught.value) + caught.value.text("zh")
    assert KEY not in told
    assert caught.value.text("zh") != str(caught.value)
    return caught.value


both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@both_ways
def test_text_usage_and_model_are_read(scripted_server, stream):
    scripted_server.say("Good morning.", usage=(12, 3))
    reply = ask_both_ways(model_at(scripted_server), stream=stream)
    assert (reply.text, reply.finish_reason, reply.model) == ("Good morning.", "stop", "scripted-1")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (12, 3)
    assert not reply.usage.estimated


def test_streamed_pieces_make_up_the_text(scripted_server):
    scripted_server.say("One, two, three.")
    pieces, reply = run(
        model := model_at(scripted_server),
        lambda: collect(model),
    )
    assert "".join(pieces) == reply.text == "One, two, three."


def test_key_and_address_are_sent(scripted_server):
    scripted_server.say("ok")
    reply_of(model_at(scripted_server))
    seen = scripted_server.requests[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.json == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
        ],
        "model": "m-1",
    }


def test_every_kind_of_message_is_sent_in_its_form(scripted_server):
    scripted_server.say("ok")
    call = ToolCall("c1", "look_up", '{"word": "爱"}')
    reply_of(
        model_at(scripted_server),
        request(
            UserMessage(("See:", ImagePart(b"png", "image/png"), AudioPart(b"wav", "audio/x-wav"))),
            AssistantMessage("", (call,), thinking="hidden"),
            ToolMessage("c1", "love \ud800"),
            AssistantMessage("Done."),
            tools=(LOOK_UP,),
            tool_choice="required",
            max_tokens=7,
            temperature=0.0,
            response_schema=FORM,
        ),
    )
    body = scripted_server.requests[0].json
    user, asked, result, said = body["messages"]
    assert user["content"] == [
        {"type": "text", "text": "See:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {"type": "input_audio", "input_audio": {"data": "d2F2", "format": "wav"}},
    ]
    assert asked["tool_calls"][0]["function"] == {
        "name": "look_up",
        "arguments": '{"word": "爱"}',
    }
    assert "hidden" not in json.dumps(asked)
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "love ?"}
    assert said == {"role": "assistant", "content": "Done."}
    assert body["tools"][0]["function"]["name"] == "look_up"
    assert (body["tool_choice"], body["max_tokens"], body["temperature"]) == ("required", 7, 0.0)
    assert body["response_format"]["json_schema"]["schema"] == FORM.schema


def test_arguments_that_are_no_object_go_back_as_an_empty_one(scripted_server):
    scripted_server.say("ok")
    broken = AssistantMessage("", (ToolCall("c1", "look_up", '{"word": '),))
    reply_of(model_at(scripted_server), request(broken, ToolMessage("c1", "not JSON")))
    calls = scripted_server.requests[0].json["messages"][0]["tool_calls"]
    assert calls[0]["function"]["arguments"] == "{}"


def test_thinking_goes_back_only_to_those_who_want_it(scripted_server):
    scripted_server.say("ok")
    thought = request(UserMessage("Hi"), AssistantMessage("4", thinking="2 + 2"))
    model = model_at(scripted_server, traits=ModelTraits(wants_thinking_back=True))
    reply_of(model, thought)
    assert scripted_server.requests[0].json["messages"][1]["reasoning_content"] == "2 + 2"


def test_next_turn_begins_as_the_one_before_and_uses_its_connection(scripted_server):
    scripted_server.call(("look_up", {}))
    scripted_server.say("Done.")
    scripted_server.say("Again.")
    model = model_at(scripted_server)
    history = History([SystemMessage("Rules"), UserMessage("Go")])
    asked = ChatRequest(history=history, tools=(LOOK_UP,))

    async def converse():
        first = await model.reply(asked)
        history.append(first.to_message(), ToolMessage(first.tool_calls[0].id, "found"))
        _, second = await collect(model, asked)
        history.append(second.to_message(), UserMessage("More"))
        await model.reply(asked)

    run(model, converse)
    first, second, third = (seen.body for seen in scripted_server.requests)
    assert second.startswith(first[: first.index(b'],"model"')])
    assert third.startswith(second[: second.index(b'],"model"')])
    assert scripted_server.connections == 1


def test_model_works_in_one_event_loop_after_another(scripted_server):
    scripted_server.say("one")
    scripted_server.say("two")
    model = model_at(scripted_server)
    assert [reply_of(model).text, reply_of(model).text] == ["one", "two"]


def test_calls_made_at_once_in_a_later_event_loop_share_a_session(scripted_server):
    for _ in range(6):
        scripted_server.say("ok")
    model = model_at(scripted_server)
    with warnings.catch_warnings():
        # The first loop ends without `close`: only its sockets are left to the collector.
        warnings.filterwarnings("ignore", "unclosed (<socket|transport)", ResourceWarning)
        asyncio.run(model.reply(request()))

        async def ask_at_once():
            return await asyncio.gather(*(model.reply(request()) for _ in range(5)))

        replies = run(model, ask_at_once)
        gc.collect()
    assert [reply.text for reply in replies] == ["ok"] * 5


def test_closing_in_a_later_event_loop_closes_what_is_left(scripted_server):
    scripted_server.say("ok")
    model = model_at(scripted_server)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed (<socket|transport)", ResourceWarning)
        asyncio.run(model.reply(request()))
        asyncio.run(model.close())
        asyncio.run(model.close())
        del model
        gc.collect()


def test_closing_during_a_call_ends_it_with_an_error_that_is_told(scripted_server):
    scripted_server.hang()
    model = model_at(scripted_server)

    async def main():
        call = asyncio.create_task(model.reply(request()))
        await until(lambda: scripted_server.requests)
        await model.close()
        with pytest.raises(ModelError, match="broke off"):
            await call

    asyncio.run(main())


@both_ways
def test_tool_calls_get_distinct_ids(scripted_server, stream):
    scripted_server.call(("a", {"x": 1}), ("b", {}), ("c", "{"), ids=["same", "same", None])
    reply = ask_both_ways(model_at(scripted_server), stream=stream)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("a", '{"x": 1}'),
        ("b", "{}"),
        ("c", "{"),
    ]
    assert len({call.id for call in reply.tool_calls}) == 3
    assert reply.finish_reason == "tool_calls"


def test_differing_forms_of_a_message_are_read(scripted_server):
    scripted_server.message(
        {
            "content": [{"type": "text", "text": "Hi "}, {"type": "text", "text": "there"}],
            "reasoning_content": "first",
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}],
        },
        finish="stop",
    )
    scripted_server.message({"content": "", "function_call": {"name": "g", "arguments": "{}"}})
    scripted_server.message({"content": "<think>2 + 2</think>\n\n4", "reasoning": None})
    model = model_at(scripted_server)

    async def ask():
        return [await model.reply(request()) for _ in range(3)]

    parts, legacy, thinking = run(model, ask)
    assert (parts.text, parts.thinking) == ("Hi there", "first")
    assert (parts.tool_calls[0].arguments, parts.finish_reason) == ('{"a": 1}', "tool_calls")
    assert legacy.tool_calls[0].name == "g"
    assert (thinking.text, thinking.thinking) == ("4", "2 + 2")


def test_thinking_is_never_streamed_as_text(scripted_server):
    scripted_server.say("<think>Let me see: 2 + 2.</think>It is 4.")
    pieces, reply = run(model := model_at(scripted_server), lambda: collect(model))
    assert "".join(pieces).strip() == reply.text == "It is 4."
    assert reply.thinking == "Let me see: 2 + 2."


@both_ways
def test_missing_usage_is_estimated(scripted_server, stream):
    scripted_server.say("A reply of some words.", usage=None)
    usage = ask_both_ways(model_at(scripted_server), stream=stream).usage
    assert usage.estimated
    assert usage.prompt_tokens > 3
    assert usage.completion_tokens > 3


@both_ways
def test_length_is_passed_on_as_such(scripted_server, stream):
    scripted_server.say("", finish="length")
    assert ask_both_ways(model_at(scripted_server), stream=stream).finish_reason == "length"


def test_stream_is_read_however_it_is_cut(scripted_server):
    event = 'data: {"choices":[{"delta":{"content":"爱\\ud83d"}}]}\r\n\r\n'.encode()
    other = b': ping\r\n\r\ndata: {"choices":[{"delta":{"content":"\\ude00"},'
    end = b'\r\ndata: "finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n'
    whole = event + other + end
    scripted_server.pieces(*(whole[i : i + 1] for i in range(len(whole))))
    pieces, reply = run(model := model_at(scripted_server), lambda: collect(model))
    assert "".join(pieces) == reply.text == "爱😀"


def test_server_that_does_not_stream_is_read_whole(scripted_server):
    scripted_server.body(b'{"choices":[{"message":{"content":"whole"}}]}')
    pieces, reply = run(model := model_at(scripted_server), lambda: collect(model))
    assert (pieces, reply.text) == (["whole"], "whole")


@pytest.mark.parametrize(
    ("error", "asked", "kept", "gone"),
    [
        ("'stream_options' is not supported", {}, "stream", "stream_options"),
        ("Unsupported parameter: 'max_tokens'", {"max_tokens": 5}, "max_completion_tokens", ""),
        ("temperature: only the default (1) value", {"temperature": 0.1}, "model", "temperature"),
        ("tool_choice 'required' is not supported", {}, "tools", "tool_choice"),
        ("This response_format type is unavailable, unsupported", {}, "response_format", ""),
    ],
)
def test_refused_field_is_left_out_and_remembered(scripted_server, error, asked, kept, gone):
    options = {"tools": (LOOK_UP,), "tool_choice": "required", "response_schema": FORM, **asked}
    scripted_server.refuse(400, {"error": {"message": error}})
    scripted_server.say("ok")
    scripted_server.say("ok")
    model = model_at(scripted_server)
    asked_now = request(**options)

    async def ask_twice():
        await collect(model, asked_now)
        await collect(model, asked_now)

    run(model, ask_twice)
    refused, second, third = (seen.json for seen in scripted_server.requests)
    assert second == third != refused
    assert kept in second
    assert gone not in second


def test_new_name_of_the_limit_is_learned(scripted_server):
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    scripted_server.refuse(400, {"error": {"message": message, "param": "max_tokens"}})
    scripted_server.say("ok")
    reply_of(model_at(scripted_server, max_reply_tokens=9))
    assert scripted_server.requests[1].json["max_completion_tokens"] == 9
    assert "max_tokens" not in scripted_server.requests[1].json


def test_tools_are_told_in_words_where_the_server_refuses_them(scripted_server):
    scripted_server.refuse(400, {"error": {"message": "m-1 does not support tools"}})
    scripted_server.say('<tool_call>{"name": "look_up", "arguments": {}}</tool_call>')
    model = model_at(scripted_server)
    called = AssistantMessage("", (ToolCall("c", "look_up", "{}"),))
    reply = reply_of(
        model, request(UserMessage("Go"), called, ToolMessage("c", "found"), tools=(LOOK_UP,))
    )
    body = scripted_server.requests[1].json
    assert "tools" not in body
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "system",
    ]
    assert "look_up" in body["messages"][-1]["content"]
    assert "<tool_call>" in reply.text
    assert not model.traits.tools


def test_schema_that_nobody_enforces_is_said_in_the_traits(scripted_server):
    for _ in range(3):
        scripted_server.refuse(400, {"error": "response_format is not supported"})
    scripted_server.say("{}")
    model = model_at(scripted_server)
    reply_of(model, request(response_schema=FORM))
    forms = [seen.json.get("response_format") for seen in scripted_server.requests]
    assert [form and form["type"] for form in forms] == [
        "json_schema",
        "json_schema",
        "json_object",
        None,
    ]
    assert not model.traits.json_schema


@pytest.mark.parametrize(
    ("status", "error", "named", "transient"),
    [
        (401, f"Incorrect API key provided: {KEY}", "PLANLOOM_API_KEY", False),
        (403, "Forbidden", "PLANLOOM_API_KEY", False),
        (404, "model not found", "PLANLOOM_MODEL", False),
        (413, "too big", "fewer or smaller files", False),
        (429, "Rate limit reached", "PLANLOOM_REQUESTS_PER_MINUTE", True),
        (429, "You exceeded your current quota, insufficient_quota", "credit", False),
        (402, "Insufficient Balance", "credit", False),
        (500, "boom", "Try again later", True),
        (503, "overloaded", "Try again later", True),
        (308, "moved", "PLANLOOM_BASE_URL", False),
        (400, "bad image", "Check that the model", False),
    ],
)
@both_ways
def test_refusals_say_what_to_do(scripted_server, stream, status, error, named, transient):
    scripted_server.refuse(status, {"error": {"message": error}})
    told = error_of(model_at(scripted_server), stream=stream)
    assert named in str(told)
    assert f"HTTP {status}" in str(told)
    assert (told.status, told.transient) == (status, transient)
    assert len(scripted_server.requests) == 1


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in...",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "the request exceeds the available context size, try increasing it",
        "Range of input length should be [1, 129024]",
    ],
)
def test_conversation_that_is_too_long_is_named_as_such(scripted_server, message):
    scripted_server.refuse(400, {"error": {"message": message}})
    told = error_of(model_at(scripted_server, max_reply_tokens=5))
    assert isinstance(told, ContextWindowError)
    assert "context window" in str(told)


@both_ways
def test_retry_after_is_read_in_all_its_forms(scripted_server, stream):
    scripted_server.refuse(429, Retry_After="7")
    scripted_server.refuse(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT")
    scripted_server.refuse(429, retry_after_ms="1500")
    model = model_at(scripted_server)
    waits = [error_of(model, stream=stream).retry_after_s for _ in range(3)]
    assert waits == [7.0, None, 1.5]


@pytest.mark.parametrize("said", ["0", "-5", "nan", "soon", "Mon, 32 Foo 9999999 99:99:99 GMT"])
def test_retry_after_that_asks_for_no_wait_is_as_if_unsaid(scripted_server, said):
    scripted_server.refuse(429, Retry_After=said)
    assert error_of(model_at(scripted_server)).retry_after_s is None


@both_ways
@pytest.mark.parametrize(
    ("body", "kind", "named"),
    [
        (b"<html><title>Sign in</title></html>", "text/html", "'Sign in'"),
        (b"upstream gone", "application/json", "'upstream gone'"),
        (b'{"choices":[]}', "application/json", "without any choice"),
        (b'{"error":{"message":"overloaded"}}', "application/json", "overloaded"),
        (b'{"object":"error","message":"odd","code":400}', "application/json", "odd"),
        (b"[1]", "application/json", "something else than a model's reply"),
        (b'{"detail":"gone"}', "application/json", "gone"),
        (b'{"code":1113,"msg":"\xe6\xac\xa0\xe8\xb4\xb9"}', "application/json", "no credit left"),
        (
            b'{"base_resp":{"status_code":1004,"status_msg":"login fail"}}',
            "application/json",
            "refused the API key",
        ),
    ],
)
def test_answer_that_is_no_reply_is_an_error(scripted_server, stream, body, kind, named):
    if stream and body[:1] not in (b"{", b"<"):
        body = b"data: " + body + b"\n\n"
    scripted_server.body(body, kind=kind)
    assert named in str(error_of(model_at(scripted_server), stream=stream))


def test_answer_without_anything_is_a_passing_error(scripted_server):
    scripted_server.body(b"")
    told = error_of(model_at(scripted_server))
    assert told.transient
    assert "without any choice" in str(told)


EVENTS = (
    b'data: {"choices":[{"delta":{"content":"Good"}}]}\n\n'
    b'data: {"choices":[{"delta":{"content":" day"},"finish_reason":"stop"}]}\n\n'
)


@both_ways
@pytest.mark.parametrize(
    "body",
    [
        EVENTS + b"data: [DONE]\n\n",
        EVENTS + b"data: [DONE]",
        (EVENTS + b"data: [DONE]\n\n").replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + EVENTS,
        b": waiting\n\n" + EVENTS,
    ],
    ids=["plain", "open end", "CR", "byte order mark", "comment"],
)
def test_events_are_read_whether_asked_for_or_not(scripted_server, stream, body):
    scripted_server.body(body, kind="text/event-stream")
    assert ask_both_ways(model_at(scripted_server), stream=stream).text == "Good day"


def test_events_that_nobody_asked_for_can_be_cut_off_too(scripted_server):
    scripted_server.body(b'data: {"choices":[{"delta":{"content":"Go"}}]}\n\n')
    assert "cut off" in str(error_of(model_at(scripted_server)))


@both_ways
def test_one_choice_is_read_where_servers_send_several(scripted_server, stream):
    chunks = [(0, "a"), (1, "x"), (0, "b"), (1, "y")]
    body = b"".join(
        b'data: {"choices":[{"index":%d,"delta":{"content":"%s"}}]}\n\n' % (index, text.encode())
        for index, text in chunks
    )
    scripted_server.body(body + b"data: [DONE]\n\n", kind="text/event-stream")
    assert ask_both_ways(model_at(scripted_server), stream=stream).text == "ab"


@both_ways
def test_absurd_usage_is_estimated_instead(scripted_server, stream):
    usage = b'{"prompt_tokens":-Infinity,"completion_tokens":NaN}'
    scripted_server.body(b'{"choices":[{"message":{"content":"hi"}}],"usage":%s}' % usage)
    assert ask_both_ways(model_at(scripted_server), stream=stream).usage.estimated


def test_error_inside_a_stream_ends_it(scripted_server):
    scripted_server.pieces(
        b'data: {"choices":[{"delta":{"content":"Good"}}]}\n\n',
        b'data: {"error":{"message":"Rate limit reached","type":"rate_limit_error"}}\n\n',
    )
    told = error_of(model_at(scripted_server), stream=True)
    assert (told.status, told.transient) == (429, True)


@pytest.mark.parametrize("cut", [True, False], ids=["connection lost", "ended too early"])
def test_stream_that_is_cut_off_is_a_passing_error(scripted_server, cut):
    scripted_server.pieces(b'data: {"choices":[{"delta":{"content":"Go"}}]}\n\n', cut=cut)
    told = error_of(model_at(scripted_server), stream=True)
    assert told.transient
    assert "Try again" in str(told)


def test_stream_without_done_but_with_its_reason_is_whole(scripted_server):
    scripted_server.pieces(
        b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    )
    assert ask_both_ways(model_at(scripted_server), stream=True).text == "Hi"


def test_stream_that_breaks_after_its_reason_is_whole(scripted_server):
    scripted_server.pieces(EVENTS, cut=True)
    assert ask_both_ways(model_at(scripted_server), stream=True).text == "Good day"


def test_stream_that_falls_silent_after_its_reason_is_whole(scripted_server):
    scripted_server.pieces(EVENTS, then=asyncio.Event().wait)
    model = model_at(scripted_server, timeout_s=0.1)
    assert ask_both_ways(model, stream=True).text == "Good day"


@both_ways
def test_dropped_connection_is_tried_once_more_at_once(scripted_server, stream):
    scripted_server.drop()
    scripted_server.say("ok")
    assert ask_both_ways(model_at(scripted_server), stream=stream).text == "ok"


@both_ways
def test_connection_that_is_reset_is_tried_once_more_at_once(scripted_server, stream):
    scripted_server.drop(reset=True)
    scripted_server.say("ok")
    assert ask_both_ways(model_at(scripted_server), stream=stream).text == "ok"


@both_ways
def test_connection_that_is_dropped_again_is_a_passing_error(scripted_server, stream):
    scripted_server.drop()
    scripted_server.drop()
    told = error_of(model_at(scripted_server), stream=stream)
    assert told.transient
    assert "broke off" in str(told)


@both_ways
def test_silence_ends_with_the_name_of_the_setting(scripted_server, stream):
    scripted_server.hang()
    told = error_of(model_at(scripted_server, timeout_s=0.1), stream=stream)
    assert told.transient
    assert "within 0.1 s" in str(told)
    assert "PLANLOOM_LLM_TIMEOUT_S" in str(told)


def test_comments_alone_do_not_keep_a_stream_alive(scripted_server):
    scripted_server.pieces(*[b": waiting\n\n"] * 50, pause_s=0.02)
    told = error_of(model_at(scripted_server, timeout_s=0.2), stream=True)
    assert "PLANLOOM_LLM_TIMEOUT_S" in str(told)


@both_ways
def test_endless_answer_is_bounded(scripted_server, stream):
    scripted_server.flood(60)
    assert "longer than 50 MB" in str(error_of(model_at(scripted_server), stream=stream))


def test_large_answer_is_read(scripted_server):
    scripted_server.say("x" * 3_000_000)
    assert len(reply_of(model_at(scripted_server)).text) == 3_000_000


async def until(has_happened):
    """Wait for the server, which runs in a thread of its own."""
    for _ in range(1000):
        if has_happened():
            return
        await asyncio.sleep(0.005)


@both_ways
def test_cancelling_closes_the_connection(scripted_server, stream):
    scripted_server.hang()
    model = model_at(scripted_server)

    async def cancel():
        work = asyncio.ensure_future(collect(model) if stream else model.reply(request()))
        await until(lambda: scripted_server.requests)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await until(lambda: scripted_server.broken_off)

    run(model, cancel)
    assert scripted_server.broken_off == 1


def test_leaving_a_stream_closes_the_connection(scripted_server):
    scripted_server.pieces(
        b'data: {"choices":[{"delta":{"content":"Go"}}]}\n\n', then=asyncio.Event().wait
    )
    model = model_at(scripted_server)

    async def leave():
        stream = model.stream(request())
        assert await anext(stream) == "Go"
        await stream.aclose()
        await until(lambda: scripted_server.broken_off)

    run(model, leave)
    assert scripted_server.broken_off == 1


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test_server_that_is_not_there_is_told_with_its_address():
    url = f"http://user:pw@127.0.0.1:{closed_port()}/v1"
    told = error_of(OpenAICompatibleModel("m", url, proxies={}))
    assert "Is the server running there?" in str(told)
    assert "user:pw" not in str(told)
    assert not told.transient


def test_unknown_host_is_told():
    told = error_of(OpenAICompatibleModel("m", "http://no-such-host.invalid/v1", KEY, proxies={}))
    assert "is not found" in str(told)


def test_server_without_tls_is_told(scripted_server):
    url = scripted_server.url.replace("http:", "https:")
    told = error_of(OpenAICompatibleModel("m", url, KEY, proxies={}))
    assert "secure connection" in str(told)


def test_proxy_is_used_unless_the_host_is_excepted(scripted_server):
    scripted_server.say("by proxy")
    proxy = scripted_server.url.removesuffix("/v1")
    model = OpenAICompatibleModel("m", "http://model.test/v1", KEY, proxies={"http": proxy})
    assert reply_of(model).text == "by proxy"
    assert scripted_server.requests[0].path == "http://model.test/v1/chat/completions"


def test_proxy_that_is_not_there_is_told():
    proxy = f"http://127.0.0.1:{closed_port()}"
    model = OpenAICompatibleModel("m", "http://model.test/v1", KEY, proxies={"http": proxy})
    assert "The proxy" in str(error_of(model))


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434/v1",
        "ftp://host/v1",
        "",
        "http://",
        "http://[::1",
        "http://h:x",
        "http://h:0",
    ],
)
def test_address_that_cannot_be_asked_is_refused(url):
    with pytest.raises(ConfigError, match="no http or https address") as caught:
        OpenAICompatibleModel("m", url)
    assert caught.value.text("zh") != str(caught.value)


def test_key_never_shows(scripted_server):
    assert KEY not in repr(model_at(scripted_server))


def test_query_of_the_address_is_kept(scripted_server):
    scripted_server.say("ok")
    url = scripted_server.url + "/chat/completions/?api-version=1"
    reply_of(OpenAICompatibleModel("m", url, KEY, proxies={}))
    assert scripted_server.requests[0].path == "/v1/chat/completions?api-version=1"


@pytest.mark.parametrize("wanted", [True, False])
def test_thinking_is_sent_or_kept_as_the_provider_insists(scripted_server, wanted):
    scripted_server.refuse(400, {"error": {"message": "Bad field: reasoning_content"}})
    scripted_server.say("ok")
    model = model_at(scripted_server, traits=ModelTraits(wants_thinking_back=not wanted))
    reply_of(model, request(UserMessage("Hi"), AssistantMessage("4", thinking="2 + 2")))
    sent = scripted_server.requests[1].json["messages"][1]
    assert ("reasoning_content" in sent) is wanted


def test_import_does_not_load_the_http_library():
    code = "import sys, planloom.models.connect; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_killed_server_is_told_and_then_named_as_gone(scripted_server):
    scripted_server.pieces(b'data: {"choices":[{"delta":{"content":"Go"}}]}\n\n', cut=True)
    model = model_at(scripted_server)
    assert error_of(model, stream=True).transient
    scripted_server.kill()
    assert "Is the server running there?" in str(error_of(model, stream=True))
