import asyncio

import pytest

from planloom.models.chat_model import ChatRequest, Reply, Usage
from planloom.models.history import History
from planloom.models.messages import UserMessage
from planloom.models.rate_limit import RateLimitedModel, RateLimiter, shared_limiter
from planloom.models.scripted import ScriptedModel


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def starts(limiter: RateLimiter, tokens: list[int], clock: Clock) -> list[float]:
    return [round(limiter.reserve(n).start - clock.now, 1) for n in tokens]


def test_no_minute_holds_more_requests_than_the_limit():
    clock = Clock()
    limiter = RateLimiter(requests_per_minute=2, clock=clock)
    found = starts(limiter, [1] * 6, clock)
    assert found == [0, 0, 60.5, 60.5, 121.0, 121.0]


def test_no_minute_holds_more_tokens_than_the_limit():
    clock = Clock()
    limiter = RateLimiter(tokens_per_minute=100, clock=clock)
    assert starts(limiter, [60, 40, 10, 95], clock) == [0, 0, 60.5, 121.0]


def test_call_larger_than_the_limit_gets_a_minute_of_its_own():
    clock = Clock()
    limiter = RateLimiter(tokens_per_minute=100, clock=clock)
    assert starts(limiter, [500, 10], clock) == [0, 60.5]


def test_slots_are_free_again_after_a_minute():
    clock = Clock()
    limiter = RateLimiter(requests_per_minute=1, clock=clock)
    limiter.reserve(1)
    clock.now += 61
    assert limiter.wait_s(limiter.reserve(1)) == 0


def test_what_a_call_took_replaces_the_estimate():
    clock = Clock()
    limiter = RateLimiter(tokens_per_minute=100, clock=clock)
    limiter.settle(limiter.reserve(90), 10)
    assert starts(limiter, [80], clock) == [0]


def limited(limiter: RateLimiter, slept: list[float], notices: list, replies=4):
    async def sleep(seconds: float):
        slept.append(seconds)

    usage = Usage(prompt_tokens=30, completion_tokens=20)
    script = [Reply(text="ok", usage=usage)] * replies
    return RateLimitedModel(ScriptedModel(script), limiter, announce=notices.append, sleep=sleep)


def test_runs_of_a_process_share_the_limit_and_are_told_of_waits():
    limiter = RateLimiter(requests_per_minute=2, clock=Clock())
    slept: list[float] = []
    notices: list = []
    request = ChatRequest(history=History([UserMessage("Hi")]))

    async def main():
        models = [limited(limiter, slept, notices) for _ in range(2)]
        for model in models:
            await model.reply(request)
        return [piece async for piece in models[0].stream(request)]

    assert isinstance(asyncio.run(main())[-1], Reply)
    assert slept == [60.5]
    assert notices[0].wait_s == 60.5
    assert "limits per minute" in notices[0].note.text("en")
    assert "限额" in notices[0].note.text("zh")


def test_call_that_is_cancelled_while_waiting_gives_its_slot_back():
    clock = Clock()
    limiter = RateLimiter(requests_per_minute=1, clock=clock)
    request = ChatRequest(history=History([UserMessage("Hi")]))

    async def main():
        async def forever(_seconds: float):
            await asyncio.Event().wait()

        limiter.reserve(1)
        model = RateLimitedModel(ScriptedModel(["ok"]), limiter, sleep=forever)
        waiting = asyncio.ensure_future(model.reply(request))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert starts(limiter, [1], clock) == [60.5]


def test_same_model_at_the_same_address_has_one_limiter():
    first = shared_limiter("m", "http://a", requests_per_minute=3)
    assert shared_limiter("m", "http://a", requests_per_minute=3) is first
    assert shared_limiter("m", "http://b", requests_per_minute=3) is not first
