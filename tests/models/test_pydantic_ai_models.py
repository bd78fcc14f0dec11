import asyncio
import importlib.util
from collections.abc import AsyncIterator, Sequence

import pytest

from planloom.errors import ConfigError, ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply, ResponseSchema, ToolSpec
from planloom.models.history import History
from planloom.models.messages import (
    AudioPart,
    ImagePart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from planloom.models.pydantic_ai_models import PydanticAIModel

IS_INSTALLED = importlib.util.find_spec("pydantic_ai") is not None
needs_package = pytest.mark.skipif(not IS_INSTALLED, reason="pydantic-ai is not installed")

if IS_INSTALLED:
    from pydantic_ai import messages as kinds
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RequestUsage

TOOL = ToolSpec(
    "count_rows",
    "Count the rows of a table.",
    {"type": "object", "properties": {"table": {"type": "string"}}},
)


class Recorder:
    """Answers like a provider and keeps what it was sent."""

    def __init__(self, *responses: object):
        self.responses = list(responses)
        self.messages: list[Sequence[object]] = []
        self.infos: list[AgentInfo] = []

    async def __call__(self, messages, info):
        self.messages.append(list(messages))
        self.infos.append(info)
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response


def model_of(recorder: Recorder, **options) -> PydanticAIModel:
    return PydanticAIModel(FunctionModel(recorder, model_name="function"), **options)


def ask(*messages, **options) -> ChatRequest:
    history = History(messages or [SystemMessage("Be brief."), UserMessage("How many rows?")])
    return ChatRequest(history=history, **options)


def part_kinds(messages: Sequence[object]) -> list[list[str]]:
    return [[part.part_kind for part in message.parts] for message in messages]


@pytest.mark.skipif(IS_INSTALLED, reason="pydantic-ai is installed")
def test_missing_package_is_told_with_its_install_command():
    with pytest.raises(ConfigError, match=r'pip install "planloom\[providers\]"') as caught:
        PydanticAIModel("anthropic:claude-sonnet-4-5")
    assert "planloom[providers]" in caught.value.text("zh")


@needs_package
def test_reply_carries_text_thinking_usage_and_reason():
    response = kinds.ModelResponse(
        parts=[kinds.ThinkingPart(content="Let me count."), kinds.TextPart(content="Five.")],
        usage=RequestUsage(
            input_tokens=20,
            output_tokens=9,
            cache_read_tokens=8,
            details={"reasoning_tokens": 4},
        ),
        model_name="provider-model-2026",
        finish_reason="length",
    )
    reply = asyncio.run(model_of(Recorder(response)).reply(ask()))
    assert (reply.text, reply.thinking) == ("Five.", "Let me count.")
    assert reply.finish_reason == "length"
    usage = reply.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (20, 9)
    assert (usage.cached_tokens, usage.thinking_tokens) == (8, 4)


@needs_package
def test_calls_and_results_make_the_round_trip():
    asked = kinds.ModelResponse(
        parts=[
            kinds.ThinkingPart(content="Count.", signature="signed", provider_name="function"),
            kinds.ToolCallPart("count_rows", '{"table": "orders"', tool_call_id="a"),
            kinds.ToolCallPart("count_rows", {"table": "customers"}, tool_call_id="b"),
        ]
    )
    recorder = Recorder(asked, kinds.ModelResponse(parts=[kinds.TextPart(content="Done.")]))
    model = model_of(recorder)
    request = ask(tools=(TOOL,))

    async def two_turns() -> tuple[Reply, Reply]:
        first = await model.reply(request)
        request.history.append(
            first.to_message(), ToolMessage("a", "5"), ToolMessage("b", "7"), UserMessage("Sum?")
        )
        return first, await model.reply(request)

    first, second = asyncio.run(two_turns())
    assert first.tool_calls == (
        ToolCall("a", "count_rows", '{"table": "orders"'),
        ToolCall("b", "count_rows", '{"table": "customers"}'),
    )
    assert first.finish_reason == "tool_calls"
    assert second.text == "Done."
    sent = recorder.messages[1]
    assert part_kinds(sent) == [
        ["system-prompt", "user-prompt"],
        ["thinking", "tool-call", "tool-call"],
        ["tool-return", "tool-return", "user-prompt"],
    ]
    assert sent[1].parts[0].signature == "signed"
    assert [part.tool_name for part in sent[2].parts[:2]] == ["count_rows", "count_rows"]
    assert recorder.infos[0].function_tools[0].parameters_json_schema == TOOL.parameters


@needs_package
def test_history_that_another_model_wrote_is_sent_as_it_reads():
    recorder = Recorder(kinds.ModelResponse(parts=[kinds.TextPart(content="ok")]))
    call = ToolCall("x", "count_rows", "{}")
    said = Reply(text="I count.", tool_calls=(call,), thinking="private").to_message()
    asyncio.run(model_of(recorder).reply(ask(UserMessage("Count."), said, ToolMessage("x", "5"))))
    assert part_kinds(recorder.messages[0]) == [
        ["user-prompt"],
        ["text", "tool-call"],
        ["tool-return"],
    ]


@needs_package
def test_pictures_and_sounds_are_sent():
    recorder = Recorder(kinds.ModelResponse(parts=[kinds.TextPart(content="ok")]))
    content = ("See:", ImagePart(b"png", "image/png"), AudioPart(b"wav", "audio/wav"))
    asyncio.run(model_of(recorder).reply(ask(UserMessage(content))))
    text, image, audio = recorder.messages[0][0].parts[0].content
    assert text == "See:"
    assert (image.data, image.media_type) == (b"png", "image/png")
    assert (audio.data, audio.media_type) == (b"wav", "audio/wav")


@needs_package
def test_options_reach_the_provider():
    recorder = Recorder(kinds.ModelResponse(parts=[kinds.TextPart(content="{}")]))
    schema = ResponseSchema("answer", {"type": "object", "properties": {}})
    model = model_of(recorder, traits=ModelTraits(json_schema=True))
    request = ask(
        tools=(TOOL,),
        tool_choice="none",
        max_tokens=50,
        temperature=0.0,
        response_schema=schema,
    )
    asyncio.run(model.reply(request))
    info = recorder.infos[0]
    settings = dict(info.model_settings or {})
    assert (settings["max_tokens"], settings["temperature"]) == (50, 0.0)
    assert settings["tool_choice"] == "none"
    parameters = info.model_request_parameters
    assert parameters.output_mode == "native"
    assert parameters.output_object.name == "answer"


@needs_package
def test_stream_yields_pieces_and_the_whole_reply_last():
    async def speak(messages, info) -> AsyncIterator[object]:
        for piece in ("Five ", "rows", "."):
            yield piece

    model = PydanticAIModel(FunctionModel(stream_function=speak))

    async def items() -> list[str | Reply]:
        return [item async for item in model.stream(ask())]

    *pieces, reply = asyncio.run(items())
    assert "".join(pieces) == "Five rows."
    assert len(pieces) >= 2
    assert isinstance(reply, Reply)
    assert reply.text == "Five rows."
    assert reply.usage.completion_tokens > 0


@needs_package
def test_streamed_calls_arrive_whole():
    async def call(messages, info) -> AsyncIterator[object]:
        yield {0: DeltaToolCall(name="count_rows", json_args='{"ta', tool_call_id="a")}
        yield {0: DeltaToolCall(json_args='ble": 1}')}

    model = PydanticAIModel(FunctionModel(stream_function=call))

    async def last() -> str | Reply:
        return [item async for item in model.stream(ask(tools=(TOOL,)))][-1]

    reply = asyncio.run(last())
    assert isinstance(reply, Reply)
    assert reply.tool_calls == (ToolCall("a", "count_rows", '{"table": 1}'),)


@needs_package
@pytest.mark.parametrize(("status", "transient"), [(429, True), (503, True), (400, False)])
def test_http_error_becomes_a_model_error(status: int, transient: bool):
    error = ModelHTTPError(status, "m", body={"error": "no"}, headers={"retry-after": "7"})
    with pytest.raises(ModelError) as caught:
        asyncio.run(model_of(Recorder(error)).reply(ask()))
    assert (caught.value.status, caught.value.transient) == (status, transient)
    assert caught.value.retry_after_s == 7


@needs_package
@pytest.mark.parametrize("way", ["reply", "stream"])
def test_silence_ends_in_an_error_worth_another_try(way: str):
    async def hang(messages, info):
        await asyncio.Event().wait()

    async def hang_in_stream(messages, info) -> AsyncIterator[object]:
        await asyncio.Event().wait()
        yield ""

    silent = FunctionModel(hang, stream_function=hang_in_stream)
    model = PydanticAIModel(silent, timeout_s=0.02)

    async def ask_it() -> object:
        if way == "reply":
            return await model.reply(ask())
        return [item async for item in model.stream(ask())]

    with pytest.raises(ModelError, match="gave no reply") as caught:
        asyncio.run(ask_it())
    assert caught.value.transient


@needs_package
def test_refused_key_is_never_quoted():
    error = ModelHTTPError(401, "m", body={"error": "Incorrect key sk-abc123"})
    with pytest.raises(ModelError, match="key was refused") as caught:
        asyncio.run(model_of(Recorder(error)).reply(ask()))
    assert "sk-abc123" not in str(caught.value) + caught.value.text("zh")
    assert not caught.value.transient


@needs_package
@pytest.mark.parametrize("name", ["nope:model", "gpt-5"])
def test_unknown_name_is_told(name: str):
    with pytest.raises(ConfigError, match="cannot be used") as caught:
        PydanticAIModel(name)
    assert name in caught.value.text("zh")


@needs_package
def test_what_the_model_can_do_is_taken_from_its_profile():
    model = PydanticAIModel(
        TestModel(profile={"supports_image_input": True, "context_window": 32_000})
    )
    assert model.traits.images
    assert model.traits.context_tokens == 32_000
    assert model.name == "test"


@needs_package
def test_closing_twice_or_unused_is_harmless():
    async def use() -> None:
        model = PydanticAIModel(TestModel(custom_output_text="Hello"))
        await model.close()
        assert (await model.reply(ask())).text == "Hello"
        await model.close()
        await model.close()

    asyncio.run(use())
