"""A model whose calls are held to a budget, counted by step, and told as events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from planloom.budget import Budget, Limits, Reservation, Spend
from planloom.errors import BudgetExhaustedError, ModelError
from planloom.events import EventStream
from planloom.models.call_record import conversation_record
from planloom.models.chat_model import ChatModel, ChatRequest, ModelTraits, Reply, Usage
from planloom.models.estimate import PromptCounter, reply_tokens, text_tokens
from planloom.models.prices import Price

T = TypeVar("T")

_PROMPT_MARGIN = 1.2
"""Prompts are set aside with this factor: estimates may be a fifth too low."""
_LONGEST_REPLY = 8_192
"""Tokens set aside for a reply whose length the request does not bound."""
_SHORTEST_REPLY = 1_024
"""A reply is not bounded below this to fit what is left."""
_SHARE = 4
"""Such a reply gets a quarter of what is left, so that calls made at once do not shut each other
out."""
_ERROR_CHARS = 300
_LOOKS_AGAIN_S = 0.05
_LONGEST_WAIT_S = 120.0
"""How long a call waits for others to give back what they do not need."""


@dataclass(slots=True)
class _Call:
    """One call under way."""

    request: ChatRequest
    prompt_tokens: int
    """Estimated."""
    reservation: Reservation
    started: float
    pieces: list[str] = field(default_factory=list[str])
    """What was streamed so far."""
    is_settled: bool = False


class MeteredModel:
    """A `ChatModel` that reserves from a budget before each call and settles after it.

    Where what it needs is merely set aside for calls under way, it waits for them: most take less
    than they might have. A call that fails or is interrupted is settled too: with nothing where
    the provider refused it, else with its estimated prompt and what had been streamed. Where time
    is limited, a call that is under way when it runs out is broken off.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        budget: Budget,
        price: Price | None,
        prices: Mapping[str, Price | None] | None = None,
        events: EventStream | None = None,
        step: str = "",
        purpose: str = "",
        record_content: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ):
        """Wrap a model.

        `price` None means that nobody told it. `prices` stand in its place for a fallback chain:
        each model's by the beginning of its name (`prices.find_prices`); the dearest is reserved.
        `record_content` puts prompts and replies into the events, which are otherwise without any
        text of the conversation.
        """
        self._model = model
        self._budget = budget
        self._price = price
        self._prices = dict(prices or {})
        self._all_prices = tuple(self._prices.values()) or (price,)
        self._dearest = _dearest(self._all_prices)
        self._events = events
        self._step = step
        self._purpose = purpose
        self._record_content = record_content
        self._clock = clock
        self._sleep = sleep
        self._counter = PromptCounter()

    def for_step(
        self, step: str, *, purpose: str = "", budget: Budget | None = None
    ) -> MeteredModel:
        """Return the model for another step: all is shared but the step and what it is for.

        `budget` is a child of the run's where the step may only spend a part of it.
        """
        other = MeteredModel(
            self._model,
            budget=budget or self._budget,
            price=self._price,
            prices=self._prices,
            events=self._events,
            step=step,
            purpose=purpose,
            record_content=self._record_content,
            clock=self._clock,
            sleep=self._sleep,
        )
        other._counter = self._counter
        return other

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    @property
    def traits(self) -> ModelTraits:
        """What the wrapped model can do."""
        return self._model.traits

    @property
    def budget(self) -> Budget:
        """What its calls draw from."""
        return self._budget

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had.
            BudgetExhaustedError: the call would go over a limit and was not made, or time ran
                out during it.
            ConfigError: money is limited and the model's price is not known.
        """
        call = await self._begin(request)
        try:
            # Every try is a call of its own, whoever makes it.
            request = self._told_of_tries(call)
            reply = await _before(self._deadline(), self._model.reply(request))
        except BaseException as error:
            self._fail(call, error)
            raise
        self._finish(call, reply)
        return reply

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises the errors of `reply`.
        """
        call = await self._begin(request)
        deadline = self._deadline()
        items = self._model.stream(self._told_of_tries(call))
        try:
            while (item := await _before(deadline, anext(items, None))) is not None:
                if isinstance(item, str):
                    call.pieces.append(item)
                else:
                    # Before it is handed on: who has the reply may never ask for more.
                    self._finish(call, item)
                yield item
        except BaseException as error:
            self._fail(call, error)
            raise
        finally:
            self._fail(call, None)
            if isinstance(items, AsyncGenerator):
                await items.aclose()

    async def close(self) -> None:
        """Close the wrapped model, also for the other steps."""
        await self._model.close()

    async def _begin(self, request: ChatRequest) -> _Call:
        waited_s = 0.0
        while True:
            request_then, prompt, worst = self._worst(request)
            try:
                reservation = self._budget.reserve(worst)
            except BudgetExhaustedError as error:
                if waited_s >= _LONGEST_WAIT_S or not self._budget.may_fit_later(worst):
                    self._tell_exhausted(error)
                    raise
            else:
                return _Call(request_then, prompt, reservation, self._clock())
            # By looking, as those who settle may run in other threads and event loops.
            await self._sleep(_LOOKS_AGAIN_S)
            waited_s += _LOOKS_AGAIN_S

    def _told_of_tries(self, call: _Call) -> ChatRequest:
        """Return the request of a call, with what settles each try that fails."""
        above = call.request.before_retry

        async def before_retry(error: ModelError) -> None:
            self._fail(call, error)
            try:
                following = await self._begin(call.request)
            except BudgetExhaustedError as used_up:
                raise _after(error, used_up) from error
            call.reservation, call.started = following.reservation, following.started
            call.is_settled = False
            if above is not None:
                await above(error)

        return replace(call.request, before_retry=before_retry)

    def _worst(self, request: ChatRequest) -> tuple[ChatRequest, int, Spend]:
        """Return the request as bounded by what is left, its estimated tokens, its worst case."""
        prompt = self._counter.count(request)
        set_aside = int(prompt * _PROMPT_MARGIN)
        limit = self._reply_limit(request, set_aside)
        longest = limit or min(
            _LONGEST_REPLY, max(_SHORTEST_REPLY, self.traits.context_tokens - prompt)
        )
        worst = Spend(
            calls=1,
            prompt_tokens=set_aside,
            completion_tokens=longest,
            cost=self._worst_cost(set_aside, longest),
        )
        if limit != request.max_tokens:
            request = replace(request, max_tokens=limit)
        return request, prompt, worst

    def _reply_limit(self, request: ChatRequest, prompt_tokens: int) -> int | None:
        """Return how long the reply may be; None where neither request nor budget bounds it.

        What is set aside is only then the worst case when the provider is told the bound.
        """
        if request.max_tokens is not None:
            return request.max_tokens
        if not self._budget.limits_spending:
            return None
        left = _tokens_left(self._budget.remaining(), self._dearest, prompt_tokens)
        if left is None:
            return None
        return int(min(_LONGEST_REPLY, max(_SHORTEST_REPLY, left / _SHARE)))

    def _worst_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        costs = [
            price and price.cost(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
            for price in self._all_prices
        ]
        known = [cost for cost in costs if cost is not None]
        return max(known) if len(known) == len(costs) else None

    def _price_of(self, model: str) -> Price | None:
        """Return the price of the model that answered, as the provider names it."""
        # Providers add a date to the name: "gpt-4o" answers as "gpt-4o-2024-08-06".
        fitting = [name for name in self._prices if model.startswith(name)]
        if fitting:
            return self._prices[max(fitting, key=len)]
        return self._dearest

    def _deadline(self) -> float | None:
        """Return the loop's time at which the run's time is used up."""
        left = self._budget.seconds_left()
        return None if left is None else asyncio.get_running_loop().time() + left

    def _finish(self, call: _Call, reply: Reply) -> None:
        usage = reply.usage
        if not usage.prompt_tokens and not usage.completion_tokens:
            usage = Usage(
                prompt_tokens=call.prompt_tokens,
                completion_tokens=reply_tokens(reply),
                estimated=True,
            )
        self._settle(call, usage, reply.model or self.name, reply=reply)

    def _fail(self, call: _Call, error: BaseException | None) -> None:
        """Settle a call that gave no reply; `error` None means that its stream just ended."""
        if call.is_settled:
            return
        refused = isinstance(error, ModelError) and (error.status or 0) >= 400 and not call.pieces
        unsent = isinstance(error, ModelError) and not error.sent and not call.pieces
        usage = Usage(
            prompt_tokens=0 if refused or unsent else call.prompt_tokens,
            completion_tokens=text_tokens("".join(call.pieces)),
            estimated=not (refused or unsent),
        )
        if unsent:
            call.is_settled = True
            self._budget.release(call.reservation)
            spent = Spend(cost=0.0, seconds=self._clock() - call.started)
            self._tell(call, usage, spent, self.name, None, _told(error))
            return
        self._settle(call, usage, self.name, error=_told(error))
        if isinstance(error, BudgetExhaustedError):
            self._tell_exhausted(error)

    def _settle(
        self,
        call: _Call,
        usage: Usage,
        model: str,
        *,
        reply: Reply | None = None,
        error: str | None = None,
    ) -> None:
        call.is_settled = True
        price = self._price_of(model)
        cost = price and price.cost(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
        )
        spent = Spend(
            calls=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            cost=cost,
            seconds=self._clock() - call.started,
            estimated=usage.estimated,
        )
        self._budget.settle(call.reservation, spent, step=self._step, model=model)
        self._tell(call, usage, spent, model, reply, error)

    def _tell(
        self,
        call: _Call,
        usage: Usage,
        spent: Spend,
        model: str,
        reply: Reply | None,
        error: str | None,
    ) -> None:
        if self._events is None:
            return
        self._events.emit(
            "model_call",
            step=self._step,
            model=model,
            purpose=self._purpose,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            thinking_tokens=usage.thinking_tokens,
            estimated=usage.estimated,
            cost=spent.cost,
            seconds=round(spent.seconds, 3),
            finish_reason=reply.finish_reason if reply else None,
            error=error,
            **(conversation_record(call.request, reply) if self._record_content else {}),
        )
        for use in self._budget.new_warnings():
            self._events.emit(
                "budget", state="nearly_used", limit=use.limit, used=use.used, allowed=use.allowed
            )

    def _tell_exhausted(self, error: BudgetExhaustedError) -> None:
        if self._events is not None:
            self._events.emit(
                "budget",
                state="exhausted",
                limit=error.limit,
                step=self._step,
                text=error.text("en"),
                text_zh=error.text("zh"),
            )


def _dearest(prices: Sequence[Price | None]) -> Price | None:
    """Return the price with the highest rates; None where one of them is not known."""
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    return max(known, key=lambda price: (price.rates[-1].output, price.rates[-1].input))


def _tokens_left(left: Limits, price: Price | None, prompt_tokens: int) -> float | None:
    """Return how many tokens of a reply tokens and money still pay for; None if unlimited."""
    bounds: list[float] = []
    if left.max_tokens is not None:
        bounds.append(left.max_tokens - prompt_tokens)
    if left.max_cost is not None and price is not None:
        rate = price.cost(prompt_tokens=prompt_tokens, completion_tokens=1_000_000)
        prompt = price.cost(prompt_tokens=prompt_tokens, completion_tokens=0)
        per_token = (rate - prompt) / 1_000_000
        if per_token > 0:
            bounds.append((left.max_cost - prompt) / per_token)
    return min(bounds, default=None)


async def _before(deadline: float | None, answer: Awaitable[T]) -> T:
    """Await an answer, at most until a time of the loop.

    Raises:
        BudgetExhaustedError: it took longer.
    """
    if deadline is None:
        return await answer
    timeout = asyncio.timeout_at(deadline)
    try:
        async with timeout:
            return await answer
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise BudgetExhaustedError(
            "The time limit was reached during a call of the model, which was broken off. "
            "To go on, raise --max-time.",
            zh="调用模型期间达到了时间上限，该调用已中断。如需继续，请调高 --max-time。",
            limit="max_seconds",
        ) from error


def _after(failure: ModelError, used_up: BudgetExhaustedError) -> BudgetExhaustedError:
    """Return why there is no further try, with why one was needed."""
    return BudgetExhaustedError(
        f"{failure} It was not tried again: {used_up}",
        zh=f"{failure.text('zh')} 未再重试：{used_up.text('zh')}",
        limit=used_up.limit,
    )


def _told(error: BaseException | None) -> str:
    if error is None:
        return "The stream ended without its reply."
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return "interrupted"
    return f"{type(error).__name__}: {error}"[:_ERROR_CHARS]
