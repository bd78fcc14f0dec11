"""Asks the next model of a chain when one fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from planloom.errors import ContextWindowError, ModelError
from planloom.models.chat_model import ChatModel, ChatRequest, ModelTraits, Reply
from planloom.models.retry import Announce
from planloom.notes import Note

_REST_S = 300.0
"""How long a model that failed is passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackNotice:
    """Another model takes over."""

    failed: str
    next: str
    reason: ModelError

    @property
    def note(self) -> Note:
        """What happens, in words."""
        return Note(
            "Model '{failed}' failed; '{next}' takes over: {reason_en}",
            "模型“{failed}”调用失败，改用“{next}”：{reason_zh}",
            {
                "failed": self.failed,
                "next": self.next,
                "reason_en": self.reason.text("en"),
                "reason_zh": self.reason.text("zh"),
            },
        )


class FallbackModel:
    """A `ChatModel` made of several: the first that works is asked.

    One that failed is passed over for a while. What one provider refuses is tried with the next:
    they differ in what they take, and say with the same status that a key, credit or a model is
    missing. A stream of which a piece has been passed on is never continued by another model.
    """

    def __init__(
        self,
        models: Sequence[ChatModel],
        *,
        announce: Announce | None = None,
        rest_s: float = _REST_S,
        clock: Callable[[], float] = monotonic,
    ):
        """Chain `models`, the preferred one first; at least one."""
        self._models = tuple(models)
        self._announce = announce
        self._rest_s = rest_s
        self._clock = clock
        self._rests_until: dict[int, float] = {}

    @property
    def name(self) -> str:
        """The name of the model that would be asked now."""
        return self._models[self._order()[0]].name

    @property
    def traits(self) -> ModelTraits:
        """What all of them can do, as any may be asked; small when the present one is."""
        traits = [model.traits for model in self._models]
        return replace(
            self._models[self._order()[0]].traits,
            context_tokens=min(one.context_tokens for one in traits),
            tools=all(one.tools for one in traits),
            json_schema=all(one.json_schema for one in traits),
            images=all(one.images for one in traits),
            audio=all(one.audio for one in traits),
        )

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: the last model's.
        """
        order = self._order()
        for index, following in zip(order, [*order[1:], None], strict=True):
            try:
                reply = await self._models[index].reply(request)
            except ModelError as error:
                await self._pass_over(index, following, error, request)
            else:
                self._rests_until.pop(index, None)
                return reply
        raise AssertionError("the last model returns or raises")

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: as for `reply`, or the stream broke after its first piece.
        """
        order = self._order()
        for index, following in zip(order, [*order[1:], None], strict=True):
            has_begun = False
            try:
                async for piece in self._models[index].stream(request):
                    has_begun = True
                    yield piece
            except ModelError as error:
                if has_begun:
                    raise
                await self._pass_over(index, following, error, request)
            else:
                self._rests_until.pop(index, None)
                return

    async def close(self) -> None:
        """Close all models."""
        for model in self._models:
            await model.close()

    def _order(self) -> list[int]:
        """Return the models in the order of asking: those that rest come last."""
        now = self._clock()
        rests = {index for index, until in self._rests_until.items() if until > now}
        return sorted(range(len(self._models)), key=lambda index: index in rests)

    async def _pass_over(
        self, index: int, following: int | None, error: ModelError, request: ChatRequest
    ) -> None:
        """Let a failed model rest and tell who is next; raise `error` when nobody is."""
        if following is not None and request.before_retry is not None:
            await request.before_retry(error)
        # A conversation that is too long says nothing about the model's health.
        if not isinstance(error, ContextWindowError):
            self._rests_until[index] = self._clock() + self._rest_s
        if following is None:
            raise error
        if self._announce is not None:
            self._announce(
                FallbackNotice(
                    failed=self._models[index].name,
                    next=self._models[following].name,
                    reason=error,
                )
            )
