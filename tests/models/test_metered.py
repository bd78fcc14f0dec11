import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from planloom.budget import Budget, Limits
from planloom.errors import BudgetExhaustedError, ConfigError, ModelError
from planloom.events import Event, EventStream
from planloom.models.chat_model import ChatModel, ChatRequest, ModelTraits, Reply, Usage
from planloom.models.fallback import FallbackModel
from planloom.models.history import History
from planloom.models.messages import SystemMessage, UserMessage
from planloom.models.metered import MeteredModel
from planloom.models.prices import FREE, Price, set_by_user
from planloom.models.retry import RetryingModel
from planloom.models.scripted import ScriptedModel

PRICE = set_by_user(1.0, 10.0)
USAGE = Usage(prompt_tokens=100, completion_tokens=20, cached_tokens=40, thinking_tokens=5)


def ask(text: str = "How many rows are there?", **options) -> ChatRequest:
    return ChatRequest(history=History([SystemMessage("Be brief."), UserMessage(text)]), **options)


def metered(
    model: ChatModel, *, limits: Limits | None = None, price: Price | None = PRICE, **options
) -> tuple[MeteredModel, Budget, list[Event]]:
    seen: list[Event] = []
    events = EventStream("run-1", seen.append, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    ticks = iter(range(1000))
    budget = Budget(limits, clock=lambda: 0.0)
    wrapped = MeteredModel(
        model, budget=budget, price=price, events=events, clock=lambda: next(ticks), **options
    )
    return wrapped, budget, seen


async def drain(stream: AsyncIterator[str | Reply]) -> list[str | Reply]:
    return [item async for item in stream]


def calls_of(events: list[Event]) -> list[dict[str, object]]:
    return [dict(event.data) for event in events if event.kind == "model_call"]


class BrokenStream:
    """A model whose stream yields two pieces and then does what it is told."""

    name = "broken"
    traits = ModelTraits()

    def __init__(self, error: Exception | None = None):
        self.error = error
        self.closed = False

    async def reply(self, request: ChatRequest, /) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        try:
            yield "one piece "
            yield "and another "
            if self.error:
                raise self.error
        finally:
            self.closed = True

    async def close(self) -> None: ...


def test_call_is_settled_with_real_usage_and_told():
    model, budget, events = metered(
        ScriptedModel([Reply(text="Five.", usage=USAGE, model="m-2026")]),
        step="count",
        purpose="plan",
    )
    reply = asyncio.run(model.reply(ask()))
    assert reply.text == "Five."
    line = budget.bill().lines[0]
    assert (line.step, line.model, line.calls, line.tokens) == ("count", "m-2026", 1, 120)
    assert line.cost == pytest.approx(100e-6 + 200e-6)
    assert calls_of(events) == [
        {
            "step": "count",
            "model": "m-2026",
            "purpose": "plan",
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "cached_tokens": 40,
            "thinking_tokens": 5,
            "estimated": False,
            "cost": pytest.approx(300e-6),
            "seconds": 1,
            "finish_reason": "stop",
            "error": None,
        }
    ]


def test_stream_passes_pieces_on_and_is_settled_before_the_reply_is_handed_on():
    model, budget, events = metered(ScriptedModel([Reply(text="Hello there.", usage=USAGE)]))

    async def first_reply() -> Reply:
        async for item in model.stream(ask()):
            if isinstance(item, Reply):
                assert budget.bill().total.calls == 1
                return item
        raise AssertionError

    assert asyncio.run(first_reply()).text == "Hello there."
    assert budget.bill().total.tokens == 120
    assert len(calls_of(events)) == 1


def test_usage_that_a_provider_does_not_tell_is_estimated():
    class Silent(BrokenStream):
        async def reply(self, request: ChatRequest, /) -> Reply:
            return Reply(text="There are five rows in the table.")

    model, budget, events = metered(Silent())
    asyncio.run(model.reply(ask()))
    total = budget.bill().total
    assert total.prompt_tokens > 5
    assert total.completion_tokens > 5
    assert total.estimated_calls == 1
    assert calls_of(events)[0]["estimated"] is True


def test_call_over_the_budget_is_not_made():
    inner = ScriptedModel(["never said"])
    model, budget, events = metered(inner, limits=Limits(max_tokens=50))
    with pytest.raises(BudgetExhaustedError, match="--max-tokens"):
        asyncio.run(model.reply(ask()))
    assert inner.requests == []
    assert budget.bill().total.calls == 0
    assert [(event.kind, event.data["state"], event.data["limit"]) for event in events] == [
        ("budget", "exhausted", "max_tokens")
    ]


def test_calls_at_once_never_spend_more_than_granted():
    def answer(request: ChatRequest) -> Reply:
        assert request.max_tokens
        tokens = Usage(prompt_tokens=20, completion_tokens=request.max_tokens)
        return Reply(text="word " * 5, usage=tokens, finish_reason="length")

    class Slow(ScriptedModel):
        async def reply(self, request: ChatRequest, /) -> Reply:
            await asyncio.sleep(0)
            return await super().reply(request)

    model, budget, _ = metered(Slow([answer] * 50), limits=Limits(max_cost=0.05))

    async def all_at_once():
        return await asyncio.gather(
            *(model.reply(ask()) for _ in range(50)), return_exceptions=True
        )

    results = asyncio.run(all_at_once())
    refused = [result for result in results if isinstance(result, BudgetExhaustedError)]
    assert 0 < len(refused) < 48
    assert budget.bill().total.cost <= 0.05


def test_call_waits_for_what_calls_under_way_give_back():
    class Slow(ScriptedModel):
        async def reply(self, request: ChatRequest, /) -> Reply:
            await asyncio.sleep(0)
            return await super().reply(request)

    waits: list[float] = []

    async def sleep(seconds: float):
        waits.append(seconds)
        await asyncio.sleep(0)

    small = Reply(text="Yes.", usage=Usage(prompt_tokens=20, completion_tokens=5))
    limits = Limits(max_tokens=1_500)
    model, budget, events = metered(Slow([small] * 10), limits=limits, sleep=sleep)

    async def all_at_once():
        return await asyncio.gather(*(model.reply(ask(max_tokens=1_000)) for _ in range(10)))

    assert len(asyncio.run(all_at_once())) == 10
    assert waits
    assert budget.bill().total.tokens == 250
    assert not [event for event in events if event.kind == "budget"]


def test_call_does_not_wait_forever_for_another():
    waited = 0.0

    async def sleep(seconds: float):
        nonlocal waited
        waited += seconds
        await asyncio.sleep(0)

    model, budget, events = metered(BrokenStream(), limits=Limits(max_tokens=1_500), sleep=sleep)

    async def main():
        endless = asyncio.create_task(model.reply(ask(max_tokens=1_000)))
        await asyncio.sleep(0)
        with pytest.raises(BudgetExhaustedError, match="--max-tokens"):
            await model.reply(ask(max_tokens=1_000))
        endless.cancel()
        await asyncio.gather(endless, return_exceptions=True)

    asyncio.run(main())
    assert waited == pytest.approx(120, abs=0.1)
    assert [event.kind for event in events].count("budget") == 1
    assert budget.bill().total.calls == 1


def test_reply_is_bounded_only_where_a_limit_asks_for_it():
    free = ScriptedModel(["a"])
    asyncio.run(metered(free)[0].reply(ask()))
    limited = ScriptedModel(["a", "b"])
    model, _, _ = metered(limited, limits=Limits(max_tokens=10_000))
    asyncio.run(model.reply(ask()))
    asyncio.run(model.reply(ask(max_tokens=77)))
    assert free.requests[0].options.max_tokens is None
    assert limited.requests[0].options.max_tokens == pytest.approx(2_490, abs=30)
    assert limited.requests[1].options.max_tokens == 77


def test_unknown_price_refuses_where_money_is_limited():
    inner = ScriptedModel(["a"])
    model, _, _ = metered(inner, limits=Limits(max_cost=1.0), price=None)
    with pytest.raises(ConfigError, match="PLANLOOM_PRICE_INPUT"):
        asyncio.run(model.reply(ask()))
    assert inner.requests == []


def test_unknown_price_is_said_where_money_is_not_limited():
    model, budget, events = metered(ScriptedModel(["a"]), price=None)
    asyncio.run(model.reply(ask()))
    assert "price of the calls is not known" in budget.bill().text("en")
    assert calls_of(events)[0]["cost"] is None


def test_refused_call_costs_nothing_but_counts():
    model, budget, events = metered(ScriptedModel([ModelError("Too many.", status=429)]))
    with pytest.raises(ModelError):
        asyncio.run(model.reply(ask()))
    total = budget.bill().total
    assert (total.calls, total.tokens, total.cost) == (1, 0, 0.0)
    assert calls_of(events)[0]["error"] == "ModelError: Too many."


def test_answer_that_cannot_be_read_is_paid_all_the_same():
    model, budget, _ = metered(ScriptedModel([ModelError("No choices.", status=200)]))
    with pytest.raises(ModelError):
        asyncio.run(model.reply(ask()))
    assert budget.bill().total.prompt_tokens > 0


def test_dropped_call_is_settled_with_an_estimate():
    model, budget, _ = metered(BrokenStream(ModelError("Dropped.", transient=True)))
    with pytest.raises(ModelError):
        asyncio.run(drain(model.stream(ask())))
    total = budget.bill().total
    assert total.prompt_tokens > 5
    assert 3 <= total.completion_tokens <= 8
    assert total.estimated_calls == 1


def test_stream_left_early_is_settled_and_closed():
    inner = BrokenStream()
    model, budget, events = metered(inner)

    async def leave():
        stream = model.stream(ask())
        await anext(stream)
        await stream.aclose()

    asyncio.run(leave())
    assert inner.closed
    assert budget.bill().total.completion_tokens >= 2
    assert calls_of(events)[0]["error"] == "interrupted"


def test_stream_without_a_reply_is_told():
    model, budget, events = metered(BrokenStream())
    asyncio.run(drain(model.stream(ask())))
    assert budget.bill().total.calls == 1
    assert calls_of(events)[0]["error"] == "The stream ended without its reply."


def test_cancelled_call_is_settled():
    model, budget, events = metered(BrokenStream(), limits=Limits(max_tokens=5_000))

    async def cancel():
        task = asyncio.create_task(model.reply(ask()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert budget.bill().total.calls == 1
    assert budget.remaining().max_tokens == 5_000 - budget.bill().total.tokens
    assert calls_of(events)[0]["error"] == "interrupted"


@pytest.mark.parametrize("way", ["reply", "stream"])
def test_call_under_way_is_broken_off_when_time_runs_out(way: str):
    class Hanging(BrokenStream):
        async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
            yield "a piece"
            await asyncio.Event().wait()

    model, budget, events = metered(Hanging(), limits=Limits(max_seconds=0.02))
    with pytest.raises(BudgetExhaustedError, match="--max-time"):
        asyncio.run(model.reply(ask()) if way == "reply" else drain(model.stream(ask())))
    assert budget.bill().total.calls == 1
    assert [event.data.get("state") for event in events] == [None, "exhausted"]


def test_limit_nearly_used_is_told_once():
    usage = Usage(prompt_tokens=850, completion_tokens=10)
    model, _, events = metered(
        ScriptedModel(
            [Reply(text="a", usage=usage), Reply(text="b", usage=Usage(prompt_tokens=1))]
        ),
        limits=Limits(max_tokens=1_000),
    )
    asyncio.run(model.reply(ask(max_tokens=50)))
    asyncio.run(model.reply(ask(max_tokens=50)))
    told = [event.data for event in events if event.kind == "budget"]
    assert told == [{"state": "nearly_used", "limit": "max_tokens", "used": 860, "allowed": 1_000}]


def test_steps_share_budget_and_model_but_not_their_line():
    model, budget, events = metered(ScriptedModel(["a", "b"]))
    asyncio.run(model.for_step("one", purpose="react").reply(ask()))
    asyncio.run(model.for_step("two").reply(ask()))
    assert [line.step for line in budget.bill().lines] == ["one", "two"]
    assert [call["purpose"] for call in calls_of(events)] == ["react", ""]


def test_step_with_a_budget_of_its_own_draws_from_the_runs_too():
    model, budget, _ = metered(ScriptedModel(["a"] * 3))
    part = model.for_step("one", budget=budget.child(Limits(max_calls=1)))
    asyncio.run(part.reply(ask()))
    with pytest.raises(BudgetExhaustedError, match="larger share"):
        asyncio.run(part.reply(ask()))
    asyncio.run(model.reply(ask()))
    assert budget.bill().total.calls == 2


def test_fallback_chain_pays_the_price_of_the_model_that_answered():
    prices = {"cheap": set_by_user(1.0, 1.0), "cheap-pro": set_by_user(100.0, 100.0)}
    replies = [Reply(text="a", usage=USAGE, model="cheap-2026-01-01")]
    model, budget, _ = metered(ScriptedModel(replies), price=None, prices=prices)
    asyncio.run(model.reply(ask()))
    assert budget.bill().total.cost == pytest.approx(120e-6)


def test_content_is_recorded_only_when_asked_for():
    model, _, events = metered(ScriptedModel(["the secret answer"]))
    asyncio.run(model.reply(ask("a secret question")))
    assert "secret" not in events[0].to_line()
    model, _, events = metered(ScriptedModel(["the secret answer"]), record_content=True)
    asyncio.run(model.reply(ask("a secret question")))
    assert events[0].to_line().count("secret") == 2


def test_own_server_is_free():
    model, budget, _ = metered(ScriptedModel(["a"]), price=FREE, limits=Limits(max_cost=0.0))
    asyncio.run(model.reply(ask()))
    assert budget.bill().total.cost == 0.0


DOWN = ModelError("down", zh="服务不可用", status=503, transient=True)
SILENT = ModelError("no answer", zh="没有回答", transient=True)
REFUSED = ModelError("nothing listens", may_be_starting=True, sent=False)


async def no_wait(_seconds: float) -> None: ...


@pytest.mark.parametrize("by_stream", [False, True])
def test_each_try_is_a_call_of_its_own(by_stream: bool):
    tries = RetryingModel(ScriptedModel([DOWN, SILENT, "ok"]), sleep=no_wait)
    model, budget, events = metered(tries)
    if by_stream:
        asyncio.run(drain(model.stream(ask())))
    else:
        asyncio.run(model.reply(ask()))
    assert budget.bill().total.calls == 3
    refused, silent, answered = calls_of(events)
    assert refused["prompt_tokens"] == 0
    assert silent["prompt_tokens"] == answered["prompt_tokens"] != 0
    assert budget.remaining() == Limits()


def test_tries_end_at_the_limit_of_calls_and_the_error_says_why():
    script = ScriptedModel([DOWN, DOWN, "ok"])
    model, budget, _ = metered(RetryingModel(script, sleep=no_wait), limits=Limits(max_calls=2))
    with pytest.raises(BudgetExhaustedError, match=r"down It was not tried again: .*max-calls"):
        asyncio.run(model.reply(ask()))
    assert (len(script.requests), budget.bill().total.calls) == (2, 2)


def test_nothing_is_billed_where_nothing_was_sent():
    model, budget, events = metered(RetryingModel(ScriptedModel([REFUSED] * 3), sleep=no_wait))
    with pytest.raises(ModelError, match="nothing listens"):
        asyncio.run(model.reply(ask()))
    total = budget.bill().total
    assert (total.calls, total.tokens, total.cost) == (0, 0, 0.0)
    assert [call["error"] for call in calls_of(events)] == ["ModelError: nothing listens"] * 3


def test_a_script_that_ran_out_costs_nothing():
    model, budget, _ = metered(ScriptedModel([]), limits=Limits(max_calls=1))
    with pytest.raises(ModelError, match="run out"):
        asyncio.run(model.reply(ask()))
    assert budget.remaining().max_calls == 1


def test_a_model_that_takes_over_is_a_call_more():
    chain = FallbackModel([ScriptedModel([DOWN], name="a"), ScriptedModel(["ok"], name="b")])
    model, budget, _ = metered(chain)
    asyncio.run(model.reply(ask()))
    assert [(line.model, line.calls) for line in budget.bill().lines] == [("a", 1), ("b", 1)]
