import asyncio

import pytest

from planloom.errors import ModelError
from planloom.models.chat_model import ChatRequest, Reply
from planloom.models.history import History
from planloom.models.retry import RetryingModel
from planloom.models.scripted import ScriptedModel

REQUEST = ChatRequest(history=History())


def passing(retry_after_s: float | None = None, status: int = 429) -> ModelError:
    return ModelError(
        "slow down", zh="请慢一点", status=status, transient=True, retry_after_s=retry_after_s
    )


class Waits:
    """Records waits and what was announced before each."""

    def __init__(self):
        self.log: list[object] = []

    async def sleep(self, seconds: float):
        self.log.append(seconds)

    @property
    def seconds(self):
        return [entry for entry in self.log if isinstance(entry, float)]


def retrying(script, waits: Waits, **options) -> RetryingModel:
    return RetryingModel(
        ScriptedModel(script),
        announce=waits.log.append,
        sleep=waits.sleep,
        uniform=lambda low, high: (low + high) / 2,
        **options,
    )


def ask(model) -> str:
    return asyncio.run(model.reply(REQUEST)).text


def test_waits_double_and_each_is_announced_before_it_happens():
    waits = Waits()
    model = retrying([passing(), passing(), passing(status=500), "ok"], waits)
    assert ask(model) == "ok"
    assert waits.seconds == [10.0, 20.0, 40.0]
    first, *_ = waits.log
    assert (first.wait_s, first.attempt, str(first.reason)) == (10.0, 2, "slow down")
    assert first.note.text("en") == (
        "Model 'scripted' will be asked again in 10 s (try 2): slow down"
    )
    assert "请慢一点" in first.note.text("zh")


def test_waits_of_one_call_are_bounded_together():
    waits = Waits()
    with pytest.raises(ModelError, match="slow down"):
        ask(retrying([passing()] * 9, waits, retries=8, max_wait_s=100))
    assert waits.seconds == [10.0, 20.0, 40.0, 30.0]


def test_the_last_try_that_the_bound_allows_is_announced_as_such():
    waits = Waits()
    with pytest.raises(ModelError):
        ask(retrying([passing()] * 9, waits))
    assert waits.seconds == [10.0, 20.0, 40.0, 50.0]
    *before, last = (entry.note for entry in waits.log if not isinstance(entry, float))
    assert "in 50 s (try 5, the last: one call may wait 120 s in all" in last.text("en")
    assert "也是最后一次：单次调用最多共等待 120 秒" in last.text("zh")
    assert not any("the last" in note.text("en") for note in before)


def test_the_last_try_by_number_is_not_blamed_on_the_bound():
    waits = Waits()
    with pytest.raises(ModelError):
        ask(retrying([passing()] * 9, waits, retries=1, max_wait_s=10))
    assert "the last" not in waits.log[0].note.text("en")


def test_a_server_that_may_be_starting_gets_two_more_chances():
    waits = Waits()
    refused = ModelError("refused", may_be_starting=True)
    assert ask(retrying([refused, refused, "ok"], waits)) == "ok"
    assert waits.seconds == [1.0, 1.0]
    with pytest.raises(ModelError, match="refused"):
        ask(retrying([refused] * 3, Waits()))
    with pytest.raises(ModelError, match="refused"):
        ask(retrying([refused, "ok"], waits, retries=0))


def test_provider_is_obeyed_and_never_asked_sooner():
    waits = Waits()
    assert ask(retrying([passing(4.0), "ok"], waits)) == "ok"
    assert 4.0 <= waits.seconds[0] <= 4.4


def test_wait_beyond_the_bound_fails_at_once_and_says_so():
    waits = Waits()
    with pytest.raises(ModelError, match=r"asks to wait 3,600 s.*_MAX_WAIT_S") as caught:
        ask(retrying([passing(3600.0), "ok"], waits))
    assert not waits.log
    assert "3,600 秒" in caught.value.text("zh")


@pytest.mark.parametrize(("retries", "asked"), [(0, 1), (2, 3)])
def test_retries_are_counted(retries: int, asked: int):
    inner = ScriptedModel([passing()] * 5)
    model = RetryingModel(inner, retries=retries, sleep=Waits().sleep)
    with pytest.raises(ModelError):
        ask(model)
    assert len(inner.requests) == asked


def test_lasting_error_is_not_repeated():
    waits = Waits()
    with pytest.raises(ModelError, match="bad key"):
        ask(retrying([ModelError("bad key", status=401), "ok"], waits))
    assert not waits.log


def test_no_base_delay_repeats_at_once():
    waits = Waits()
    assert ask(retrying([passing(), "ok"], waits, base_delay_s=0.0, max_wait_s=0.0)) == "ok"


class BreakingModel(ScriptedModel):
    """Breaks off its first stream after so many pieces."""

    def __init__(self, pieces: int):
        super().__init__(["whole", "whole"])
        self.pieces = pieces
        self.streams = 0

    async def stream(self, request: ChatRequest, /):
        self.streams += 1
        if self.streams == 1:
            for _ in range(self.pieces):
                yield "half"
            raise passing(status=200)
        async for piece in super().stream(request):
            yield piece


async def collect(model) -> list[str | Reply]:
    return [piece async for piece in model.stream(REQUEST)]


def test_stream_is_repeated_while_nothing_of_it_was_passed_on():
    inner = BreakingModel(0)
    pieces = asyncio.run(collect(RetryingModel(inner, sleep=Waits().sleep)))
    assert "".join(p for p in pieces if isinstance(p, str)) == "whole"
    assert inner.streams == 2


def test_stream_that_breaks_later_is_a_passing_error():
    inner = BreakingModel(1)
    with pytest.raises(ModelError) as caught:
        asyncio.run(collect(RetryingModel(inner, sleep=Waits().sleep)))
    assert caught.value.transient
    assert inner.streams == 1


def test_server_that_recovers_is_asked_again(scripted_server):
    from planloom.models.openai_compatible import OpenAICompatibleModel

    scripted_server.refuse(429, Retry_After="2")
    scripted_server.refuse(500)
    scripted_server.say("ok")
    waits = Waits()

    async def main():
        client = OpenAICompatibleModel("m", scripted_server.url, proxies={})
        model = RetryingModel(client, sleep=waits.sleep, uniform=lambda low, _high: low)
        try:
            return await model.reply(REQUEST)
        finally:
            await model.close()

    assert asyncio.run(main()).text == "ok"
    assert waits.seconds == [2.0, 15.0]
