"""Keeps all runs of a process below a provider's limits of requests and tokens per minute."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic

from planloom.models.chat_model import ChatModel, ChatRequest, Reply
from planloom.models.estimate import PromptCounter
from planloom.models.retry import Announce
from planloom.models.wrapped import WrappedModel
from planloom.notes import Note

_WINDOW_S = 60.5
"""A minute, and what clocks and networks may differ by."""
_ANNOUNCED_S = 1.0
"""Shorter waits are not worth a word."""
_REPLY_TOKENS = 500
"""What a reply is taken to need until it is there, where the request sets no limit."""


@dataclass(slots=True)
class Slot:
    """The right to one call."""

    start: float
    """When the call may begin, by the limiter's clock."""
    tokens: int


class RateLimiter:
    """Gives out slots in the order of asking, so that no minute holds more than the limits.

    Safe to use from several threads and event loops.
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = monotonic,
    ):
        """Set the limits; None means no limit."""
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._slots: deque[Slot] = deque()
        """Those that still count, by their start."""
        self._lock = Lock()

    def reserve(self, tokens: int) -> Slot:
        """Return the next free slot for a call of about so many tokens.

        A call larger than the limit gets a minute of its own.
        """
        with self._lock:
            now = self._clock()
            while self._slots and self._slots[0].start <= now - _WINDOW_S:
                self._slots.popleft()
            start = max(now, self._start_by_requests(), self._start_by_tokens(tokens))
            if self._slots:
                start = max(start, self._slots[-1].start)
            slot = Slot(start, tokens)
            self._slots.append(slot)
            return slot

    def wait_s(self, slot: Slot) -> float:
        """Return how long it is until a slot begins."""
        return max(0.0, slot.start - self._clock())

    def settle(self, slot: Slot, tokens: int) -> None:
        """Correct what a call took, now that it is known."""
        slot.tokens = tokens

    def give_back(self, slot: Slot) -> None:
        """Free a slot whose call will not be made."""
        with self._lock:
            # Another slot may be equal; this very one has to go.
            self._slots = deque(kept for kept in self._slots if kept is not slot)

    def _start_by_requests(self) -> float:
        if self._requests is None or len(self._slots) < self._requests:
            return 0.0
        return self._slots[-self._requests].start + _WINDOW_S

    def _start_by_tokens(self, tokens: int) -> float:
        if self._tokens is None:
            return 0.0
        left = self._tokens - tokens
        for slot in reversed(self._slots):
            left -= slot.tokens
            if left < 0:
                return slot.start + _WINDOW_S
        return 0.0


_shared: dict[tuple[str, str, int | None, int | None], RateLimiter] = {}


def shared_limiter(
    model: str,
    base_url: str,
    *,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
) -> RateLimiter:
    """Return the one limiter of this process for a model at an address, with these limits."""
    key = (model, base_url, requests_per_minute, tokens_per_minute)
    # `setdefault` is atomic: threads that come at once get the same one.
    return _shared.setdefault(
        key,
        RateLimiter(requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitNotice:
    """A call waits for its slot."""

    model: str
    wait_s: float

    @property
    def note(self) -> Note:
        """What happens, in words."""
        return Note(
            "Model '{model}' is asked in {seconds} s, to stay below its limits per minute.",
            "为不超过每分钟的限额，将在 {seconds} 秒后调用模型“{model}”。",
            {"model": self.model, "seconds": f"{self.wait_s:.0f}"},
        )


class RateLimitedModel(WrappedModel):
    """A `ChatModel` that waits for a slot of its limiter before each call."""

    def __init__(
        self,
        model: ChatModel,
        limiter: RateLimiter,
        *,
        announce: Announce | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ):
        """Wrap `model`; share `limiter` with all that ask the same provider for it."""
        super().__init__(model)
        self._limiter = limiter
        self._announce = announce
        self._sleep = sleep
        self._counter = PromptCounter()

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had.
        """
        slot = await self._wait_for_slot(request)
        reply = await self._model.reply(request)
        self._settle(slot, reply)
        return reply

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: the stream could not be opened, or was cut off.
        """
        slot = await self._wait_for_slot(request)
        async for piece in self._model.stream(request):
            if isinstance(piece, Reply):
                self._settle(slot, piece)
            yield piece

    async def _wait_for_slot(self, request: ChatRequest) -> Slot:
        limiter = self._limiter
        slot = limiter.reserve(self._counter.count(request) + (request.max_tokens or _REPLY_TOKENS))
        wait_s = limiter.wait_s(slot)
        if wait_s <= 0:
            return slot
        try:
            if self._announce is not None and wait_s >= _ANNOUNCED_S:
                self._announce(RateLimitNotice(model=self.name, wait_s=wait_s))
            await self._sleep(wait_s)
        except BaseException:
            limiter.give_back(slot)
            raise
        return slot

    def _settle(self, slot: Slot, reply: Reply) -> None:
        self._limiter.settle(slot, reply.usage.prompt_tokens + reply.usage.completion_tokens)
