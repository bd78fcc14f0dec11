import struct
import time

import pytest

from planloom.models.chat_model import ChatRequest, Reply, ResponseSchema, ToolSpec
from planloom.models.estimate import (
    PromptCounter,
    message_tokens,
    reply_tokens,
    request_tokens,
    text_tokens,
    tools_tokens,
)
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
from planloom.models.picture_size import picture_size, picture_tokens

ENGLISH = (
    "The planner writes a plan, which is checked before anything runs. Independent steps run at "
    "the same time, and a failed step blocks only what depends on it. Every number of the report "
    "links to the query that computed it, so a reader can follow it back to the rows of the file."
)
CHINESE = (
    "规划器先写出计划，计划在执行前会经过检查。相互独立的步骤同时运行，失败的步骤只会阻塞依赖它的步骤。"
    "报告中的每个数字都能追溯到计算它的查询语句，读者可以据此找到文件中的原始数据行。"
)
JSON = (
    '{"thought": "Load the table, then sum the amount by month.", "plan": [{"step": "load", '
    '"action": "load_table", "tool": "load_table", "input": {"path": "orders.csv"}}, '
    '{"step": "trend", "tool": "trend_over_time", "input": {"table": "$load", "date": '
    '"order_date", "value": "amount", "limit": 12}}]}'
)
CODE = '''
def settle(self, reservation, actual, *, step="", model=""):
    """Replace a reservation by what the call took."""
    with self._lock:
        self._close(reservation)
        for budget in self._chain():
            budget._spent.add(actual, 1)
            if actual.cost is None and budget.limits.max_cost is not None:
                raise ValueError(f"no price for {model!r}: {actual.prompt_tokens:,} tokens")
'''


@pytest.mark.parametrize(
    ("text", "cl100k"),
    [(ENGLISH, 59), (CHINESE, 102), (JSON, 94), (CODE, 94)],
    ids=["English", "Chinese", "JSON", "code"],
)
def test_estimate_is_within_a_fifth_of_what_a_tokenizer_counts(text: str, cl100k: int):
    assert text_tokens(text) == pytest.approx(cl100k, rel=0.2)
    # Blocks of a long text tell the same.
    assert text_tokens(text * 400) == pytest.approx(cl100k * 400, rel=0.2)


@pytest.mark.parametrize(
    "text", ["a" * 10_000, " " * 10_000, "Qm9vQmFy" * 1_000, "\ud800" * 100, "\0" * 100]
)
def test_odd_text_is_never_taken_for_nothing(text: str):
    assert text_tokens(text) >= len(text) / 8


def test_empty_text_takes_nothing():
    assert text_tokens("") == 0


def test_long_text_is_counted_in_a_few_milliseconds():
    text = (CODE + CHINESE) * 1_500
    started = time.process_time()
    text_tokens(text)
    assert time.process_time() - started < 0.05


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02"


def jpeg(width: int, height: int) -> bytes:
    app0 = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14)
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(10)
    return b"\xff\xd8" + app0 + frame


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(640, 480), (640, 480)),
        (jpeg(800, 600), (800, 600)),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + bytes([99, 0, 0, 49, 0, 0]), (100, 50)),
        (b"\xff\xd8\xff\xe0\0\0", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"", None),
    ],
)
def test_size_of_a_picture_is_read_from_its_first_bytes(data: bytes, size: object):
    assert picture_size(data) == size


def test_larger_picture_takes_more_tokens_up_to_a_bound():
    assert picture_tokens((100, 100)) == 255
    assert picture_tokens((100, 100)) < picture_tokens((1_000, 1_000))
    assert picture_tokens((20_000, 20_000)) == picture_tokens(None) == 1_600
    assert picture_tokens((0, 0)) > 0


def test_pictures_and_sounds_count_by_what_they_are_not_by_their_bytes():
    picture = UserMessage(
        ("What is this?", ImagePart(png(500, 500) + bytes(1_000_000), "image/png"))
    )
    assert 255 < message_tokens(picture) < 400
    wave = b"RIFF" + bytes(24) + struct.pack("<I", 32_000) + bytes(12) + bytes(320_000)
    assert message_tokens(UserMessage((AudioPart(wave, "audio/wav"),))) == pytest.approx(325, abs=3)


TOOL = ToolSpec("count_rows", "Count the rows of a table.", {"type": "object"})


def test_prompt_counts_messages_calls_tools_and_schema():
    call = ToolCall("1", "count_rows", '{"table": "orders"}')
    history = History(
        [SystemMessage("Be brief."), UserMessage("How many?"), AssistantMessage("", (call,))]
    )
    bare = request_tokens(ChatRequest(history=history))
    with_tools = request_tokens(ChatRequest(history=history, tools=(TOOL,)))
    schema = ResponseSchema("answer", {"type": "object", "properties": {"rows": {}}})
    with_schema = request_tokens(ChatRequest(history=history, response_schema=schema))
    assert bare > 15
    assert with_tools == bare + tools_tokens((TOOL,))
    assert with_schema > bare


def test_thinking_counts_as_written_but_not_as_history():
    reply = Reply(text="Five.", thinking=ENGLISH)
    assert reply_tokens(reply) > 50 > message_tokens(reply.to_message())


def test_counter_agrees_with_a_full_count_while_the_history_grows():
    counter = PromptCounter()
    history = History([SystemMessage("Be brief.")])
    tools = (TOOL,)
    for number in range(5):
        history.append(UserMessage(f"Question {number}?"), ToolMessage(str(number), ENGLISH))
        request = ChatRequest(history=history, tools=tools)
        assert counter.count(request) == request_tokens(request)
    assert counter.count(ChatRequest(history=history.fork())) == request_tokens(
        ChatRequest(history=history)
    )


def test_counter_sees_each_message_once():
    class CountedText(str):
        reads = 0

        def encode(self, *args: str) -> bytes:
            CountedText.reads += 1
            return super().encode(*args)

    history = History([UserMessage(CountedText("one")), UserMessage(CountedText("two"))])
    counter = PromptCounter()
    for _ in range(10):
        counter.count(ChatRequest(history=history))
    assert CountedText.reads == 2
