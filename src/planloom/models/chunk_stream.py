"""A reply that a server streams: its events read into pieces of text and a whole reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic

from planloom.errors import ModelError
from planloom.models.chat_model import Json
from planloom.models.connection_errors import timeout_error
from planloom.models.http_client import HttpAnswer
from planloom.models.provider_errors import Endpoint, error_inside_answer, error_of, read_refusal
from planloom.models.reply_reading import ReplyReader, parse_json
from planloom.models.sse import EventReader


class ChunkStream:
    """Reads the chunks of one streamed answer."""

    def __init__(self, answer: HttpAnswer, endpoint: Endpoint, timeout_s: float):
        """Read `answer`; `timeout_s` is how long it may bring nothing but comments."""
        self.reader = ReplyReader()
        """What has been read; the whole reply once `next_text` has returned None."""
        self._answer = answer
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._events = EventReader()
        self._has_begun = False
        self._is_over = False

    async def next_text(self) -> str | None:
        """Return the text of what comes next, possibly empty; None at the end.

        Raises:
            ModelError: the stream was cut off, fell silent, or tells of an error.
        """
        if self._is_over:
            return None
        events, is_end = await self._next_events()
        text = "".join(map(self._read, events))
        if is_end and not self._is_over:
            # Servers that forget [DONE] still say why the reply ended.
            if not self.reader.is_finished:
                raise _cut_off(self._endpoint)
            self._is_over = True
        return text + self.reader.rest() if self._is_over else text

    async def _next_events(self) -> tuple[list[bytes], bool]:
        """Return the next events, and whether the answer ended; comments are no progress."""
        deadline = monotonic() + self._timeout_s
        while True:
            try:
                async with asyncio.timeout(deadline - monotonic()):
                    piece = await self._answer.next_piece()
                    if not self._has_begun and piece.strip():
                        self._has_begun = True
                        if piece.lstrip().startswith((b"{", b"<")):
                            # A server that does not stream, whatever it was asked.
                            self._is_over = True
                            return [piece + await self._answer.read()], True
            except TimeoutError as error:
                raise timeout_error(self._endpoint, self._timeout_s) from error
            if not piece:
                return list(self._events.finish()), True
            if events := list(self._events.feed(piece)):
                return await self._up_to_done(events), False

    async def _up_to_done(self, events: list[bytes]) -> list[bytes]:
        done = next((i for i, data in enumerate(events) if data.strip() == b"[DONE]"), None)
        if done is None:
            return events
        self._is_over = True
        await self._answer.drain()
        return events[:done]

    def _read(self, data: bytes) -> str:
        return self.reader.read(read_answer(self._endpoint, data))


def read_answer(endpoint: Endpoint, body: bytes) -> Mapping[str, Json]:
    """Return the JSON object of an answer, or of an event.

    Raises:
        ModelError: it is none, or tells of an error.
    """
    try:
        answer = parse_json(body)
    except ValueError as error:
        raise _not_json(endpoint, body) from error
    if not isinstance(answer, dict):
        raise _not_json(endpoint, body)
    if refusal := error_inside_answer(endpoint, answer):
        raise error_of(endpoint, refusal)
    return answer


def _not_json(endpoint: Endpoint, body: bytes) -> ModelError:
    refusal = read_refusal(endpoint, 200, {}, body)
    return ModelError(
        f"{endpoint.base_url} answered with something else than a model's reply: "
        f"'{refusal.message}'. Check that PLANLOOM_BASE_URL is the address of the interface "
        "(it usually ends in /v1), not of a web page.",
        zh=f"{endpoint.base_url} 返回的不是模型的回答：“{refusal.message}”。"
        "请检查 PLANLOOM_BASE_URL 是接口地址（通常以 /v1 结尾），而不是网页地址。",
        status=200,
    )


def _cut_off(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"The reply of model '{endpoint.model}' at {endpoint.base_url} was cut off before its end. "
        "Try again; if it stays so, look at the server's log.",
        zh=f"{endpoint.base_url} 上模型“{endpoint.model}”的回答在中途中断。"
        "请重试；若一直如此，请查看服务器日志。",
        status=200,
        transient=True,
    )
