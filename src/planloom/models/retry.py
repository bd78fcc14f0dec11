"""Asks a model again when a later try may succeed, and tells of every wait."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from planloom.errors import ModelError
from planloom.models.chat_model import ChatModel, ChatRequest, Reply
from planloom.models.wrapped import WrappedModel
from planloom.notes import Note


class ModelNotice(Protocol):
    """Something about a model that a user who waits wants to know."""

    @property
    def note(self) -> Note:
        """What happens, in words."""
        ...


Announce = Callable[[ModelNotice], None]

_START_RETRIES, _START_WAIT_S = 2, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryNotice:
    """A model is going to be asked again, after a wait."""

    model: str
    wait_s: float
    attempt: int
    """Which try comes after the wait; the first of all was 1."""
    reason: ModelError
    bound_s: float | None = None
    """Set when the try is the last one since no call may wait for longer, whatever the number of
    retries."""

    @property
    def note(self) -> Note:
        """What happens, in words."""
        last = Note("", "")
        if self.bound_s is not None:
            last = _LAST.with_args({"bound": f"{self.bound_s:g}"})
        return Note(
            "Model '{model}' will be asked again in {seconds} s (try {attempt}{last_en}): "
            "{reason_en}",
            "将在 {seconds} 秒后再次调用模型“{model}”（第 {attempt} 次尝试{last_zh}）：{reason_zh}",
            {
                "last_en": last.text("en"),
                "last_zh": last.text("zh"),
                "model": self.model,
                "seconds": f"{self.wait_s:.3g}" if self.wait_s < 10 else f"{self.wait_s:.0f}",
                "attempt": self.attempt,
                "reason_en": self.reason.text("en"),
                "reason_zh": self.reason.text("zh"),
            },
        )


_LAST = Note(
    ", the last: one call may wait {bound} s in all, see PLANLOOM_RATE_LIMIT_RETRY_MAX_WAIT_S",
    "，也是最后一次：单次调用最多共等待 {bound} 秒，见 PLANLOOM_RATE_LIMIT_RETRY_MAX_WAIT_S",
)


class RetryingModel(WrappedModel):
    """A `ChatModel` that repeats what failed for a passing reason: 429, 5xx, 408, a dropped
    connection, a time-out.

    It waits as long as the provider says (Retry-After), else twice as long each time, with jitter.
    A server of this machine that takes no connection gets two more chances, a second apart: it
    may just be starting.
    A stream is repeated only while nothing of it has been passed on.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        retries: int = 5,
        base_delay_s: float = 10.0,
        max_wait_s: float = 120.0,
        announce: Announce | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
    ):
        """Wrap `model`; `max_wait_s` bounds the waits of one call taken together."""
        super().__init__(model)
        self._retries = retries
        self._base_delay_s = base_delay_s
        self._max_wait_s = max_wait_s
        self._announce = announce
        self._sleep = sleep
        self._uniform = uniform

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had, also not after the retries.
        """
        waited_s = 0.0
        for attempt in range(1, self._retries + 2):
            try:
                return await self._model.reply(request)
            except ModelError as error:
                waited_s += await self._wait_after(error, attempt, waited_s, request)
        raise AssertionError("the last attempt returns or raises")

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: as for `reply`, or the stream broke after its first piece; the error is
                `transient` when asking for a new one may help.
        """
        waited_s = 0.0
        for attempt in range(1, self._retries + 2):
            has_begun = False
            try:
                async for piece in self._model.stream(request):
                    has_begun = True
                    yield piece
            except ModelError as error:
                if has_begun:
                    raise
                waited_s += await self._wait_after(error, attempt, waited_s, request)
            else:
                return

    async def _wait_after(
        self, error: ModelError, attempt: int, waited_s: float, request: ChatRequest
    ) -> float:
        """Wait until the next try may be made; return the seconds waited.

        Raises:
            ModelError: `error`, when no further try is to be made.
            BudgetExhaustedError: no further try can be paid for.
        """
        left_s = self._max_wait_s - waited_s
        if attempt > self._retries or not _may_help(error, attempt):
            raise error
        if error.retry_after_s is not None and error.retry_after_s > left_s:
            raise _too_long_to_wait(error, error.retry_after_s, self._max_wait_s) from error
        wait_s = min(self._delay_s(error, attempt), left_s)
        if wait_s <= 0 < self._base_delay_s and error.retry_after_s is None:
            raise error
        if request.before_retry is not None:
            await request.before_retry(error)
        if self._announce is not None:
            is_bounded = attempt < self._retries and wait_s >= left_s > 0
            self._announce(
                RetryNotice(
                    model=self.name,
                    wait_s=wait_s,
                    attempt=attempt + 1,
                    reason=error,
                    bound_s=self._max_wait_s if is_bounded else None,
                )
            )
        await self._sleep(wait_s)
        return wait_s

    def _delay_s(self, error: ModelError, attempt: int) -> float:
        if error.may_be_starting:
            return _START_WAIT_S
        if error.retry_after_s is not None:
            # Never sooner than asked; a little later, so that many runs do not come back at once.
            return error.retry_after_s * self._uniform(1.0, 1.1)
        return self._base_delay_s * 2 ** (attempt - 1) * self._uniform(0.75, 1.25)


def _may_help(error: ModelError, attempt: int) -> bool:
    return error.transient or (error.may_be_starting and attempt <= _START_RETRIES)


def _too_long_to_wait(error: ModelError, asked_s: float, max_wait_s: float) -> ModelError:
    return ModelError(
        f"{error} The provider asks to wait {asked_s:,.0f} s, longer than the {max_wait_s:g} s "
        "that one call may wait. Try again later, or allow more with "
        "PLANLOOM_RATE_LIMIT_RETRY_MAX_WAIT_S.",
        zh=f"{error.text('zh')} 服务商要求等待 {asked_s:,.0f} 秒，"
        f"超过了单次调用允许的 {max_wait_s:g} 秒。"
        "请稍后再试，或调大 PLANLOOM_RATE_LIMIT_RETRY_MAX_WAIT_S。",
        status=error.status,
        retry_after_s=asked_s,
        sent=error.sent,
    )
