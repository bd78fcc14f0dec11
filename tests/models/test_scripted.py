import asyncio
import re
from pathlib import Path

import pytest

from planloom.errors import ConfigError, ModelError
from planloom.models.chat_model import ChatRequest, Reply, ToolSpec, Usage
from planloom.models.history import History
from planloom.models.messages import ToolCall, UserMessage
from planloom.models.scripted import ScriptedModel


def ask(text: str = "Hello") -> ChatRequest:
    return ChatRequest(history=History([UserMessage(text)]))


def said(model: ScriptedModel, request: ChatRequest | None = None) -> Reply:
    return asyncio.run(model.reply(request or ask()))


def test_replies_come_in_order_whatever_their_form():
    def shout(request: ChatRequest) -> Reply:
        message = request.history.messages[-1]
        assert isinstance(message, UserMessage)
        return Reply(text=str(message.content).upper())

    model = ScriptedModel(["one", Reply(text="two"), ModelError("three"), shout])
    assert said(model).text == "one"
    assert said(model).text == "two"
    with pytest.raises(ModelError, match="three"):
        said(model)
    assert said(model, ask("four")).text == "FOUR"


def test_script_that_has_run_out_says_how_many_calls_it_holds():
    model = ScriptedModel(["only"])
    said(model)
    with pytest.raises(ModelError, match="call 2 was made, and it holds 1") as caught:
        said(model)
    assert "第 2 次" in caught.value.text("zh")
    assert not caught.value.transient


def test_requests_are_kept_as_they_were():
    model = ScriptedModel(["a", "b"])
    history = History([UserMessage("first")])
    tool = ToolSpec("count", "Count.", {"type": "object"})
    said(model, ChatRequest(history=history, tools=(tool,), temperature=0.0))
    history.append(UserMessage("second"))
    said(model, ChatRequest(history=history))
    assert [len(request.messages) for request in model.requests] == [1, 2]
    assert len(model.requests[0].options.history) == 1
    assert model.requests[0].options.tools == (tool,)
    assert model.requests[0].options.temperature == 0.0


def test_stream_yields_pieces_and_the_whole_reply_last():
    model = ScriptedModel(["Hello, world!"], piece_chars=5)

    async def items() -> list[str | Reply]:
        return [item async for item in model.stream(ask())]

    *pieces, reply = asyncio.run(items())
    assert pieces == ["Hello", ", wor", "ld!"]
    assert isinstance(reply, Reply)
    assert reply.text == "Hello, world!"


def test_usage_is_estimated_unless_the_script_gives_it():
    given = Usage(prompt_tokens=7, completion_tokens=3)
    model = ScriptedModel(["Hello there.", Reply(text="Hello", usage=given)])
    estimated = said(model).usage
    assert estimated.estimated
    assert estimated.prompt_tokens > 0
    assert estimated.completion_tokens > 0
    assert said(model).usage == given


def test_reply_with_calls_ends_as_providers_end_it():
    call = ToolCall("1", "count", "{}")
    reply = said(ScriptedModel([Reply(tool_calls=(call,))], name="demo"))
    assert (reply.finish_reason, reply.model) == ("tool_calls", "demo")
    cut = said(ScriptedModel([Reply(tool_calls=(call,), finish_reason="length")]))
    assert cut.finish_reason == "length"


def test_script_is_read_from_a_file(tmp_path: Path):
    script = tmp_path / "demo.jsonl"
    script.write_text(
        "# a demonstration\n\n"
        '{"text": "你好", "thinking": "greet"}\n'
        '{"tool_calls": [{"name": "count", "arguments": {"table": "订单"}}, '
        '{"id": "x", "name": "count", "arguments": "{broken"}]}\n'
        '{"error": "The server is down."}\n',
        encoding="utf-8",
    )
    model = ScriptedModel.from_file(script)
    first, second = said(model), said(model)
    assert (first.text, first.thinking) == ("你好", "greet")
    assert second.tool_calls == (
        ToolCall("call_1", "count", '{"table": "订单"}'),
        ToolCall("x", "count", "{broken"),
    )
    with pytest.raises(ModelError, match="The server is down"):
        said(model)
    assert model.name == "scripted:demo.jsonl"


@pytest.mark.parametrize(
    "line",
    [
        "text",
        '["text"]',
        "{}",
        '{"txt": "a"}',
        '{"text": 5}',
        '{"text": "a", "error": "b"}',
        '{"tool_calls": [{"arguments": {}}]}',
        '{"tool_calls": ["count"]}',
        '{"tool_calls": null}',
        '{"text": "a", "finish_reason": "done"}',
        '{"text": "a", "tool_cals": []}',
    ],
)
def test_line_that_is_no_reply_is_refused_with_its_place(tmp_path: Path, line: str):
    script = tmp_path / "demo.jsonl"
    script.write_text('{"text": "fine"}\n' + line + "\n")
    with pytest.raises(ConfigError, match="line 2") as caught:
        ScriptedModel.from_file(script)
    assert "第 2 行" in caught.value.text("zh")


def test_missing_script_is_told(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"none\.jsonl"):
        ScriptedModel.from_file(tmp_path / "none.jsonl")


def test_example_of_the_documentation_runs():
    page = Path(__file__).parents[2] / "docs" / "models.md"
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (snippet,) = [one for one in snippets if "ScriptedModel(" in one]
    exec(compile(snippet, "models.md", "exec"), {})  # noqa: S102 -- our own page
