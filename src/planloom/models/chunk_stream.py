"""The body of an answer, streamed or whole: its events or its JSON read into a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from planloom.errors import ModelError
from planloom.models.chat_model import Json
from planloom.models.connection_errors import timeout_error
from planloom.models.http_client import HttpAnswer
from planloom.models.provider_errors import Endpoint, error_inside_answer, error_of, read_refusal
from planloom.models.reply_reading import ReplyReader, parse_json
from planloom.models.sse import EventReader

_BLANK = b" \t\r\n\xef\xbb\xbf"
"""What may stand before an answer: space, and the byte order mark."""
_EVENT_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_GRACE_S = 5.0
"""How long a stream that has said why it ends may take to tell its usage and to end."""


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
        """Return the next events, and whether the answer ended."""
        limit_s = min(_GRACE_S, self._timeout_s) if self.reader.is_finished else self._timeout_s
        try:
            async with asyncio.timeout(limit_s):
                events, is_end = await self._wait_for_events()
        except (TimeoutError, ModelError) as error:
            if self.reader.is_finished:  # all was said but, perhaps, the usage
                return [], True
            if isinstance(error, ModelError):
                raise
            raise timeout_error(self._endpoint, self._timeout_s) from error
        return await self._up_to_done(events), is_end

    async def _wait_for_events(self) -> tuple[list[bytes], bool]:
        """Read on until there are events: comments are no progress."""
        while piece := await self._answer.next_piece():
            if not self._has_begun and (start := piece.lstrip(_BLANK)):
                self._has_begun = True
                if start.startswith((b"{", b"<")):
                    # A server that does not stream, whatever it was asked.
                    self._is_over = True
                    return [piece + await self._answer.read()], True
            if events := list(self._events.feed(piece)):
                return events, False
        return list(self._events.finish()), True

    async def _up_to_done(self, events: list[bytes]) -> list[bytes]:
        done = next((i for i, data in enumerate(events) if _is_done(data)), None)
        if done is None:
            return events
        self._is_over = True
        await self._answer.drain()
        return events[:done]

    def _read(self, data: bytes) -> str:
        return self.reader.read(read_answer(self._endpoint, data))


def read_whole(endpoint: Endpoint, body: bytes) -> ReplyReader:
    """Read an answer that is there whole: JSON, or the events of a server that always streams.

    Raises:
        ModelError: it is neither, tells of an error, or was cut off.
    """
    reader = ReplyReader()
    start = body.lstrip(_BLANK)
    if not start:
        return reader
    if not start.startswith(_EVENT_STARTS):
        reader.read(read_answer(endpoint, body))
        return reader
    events = EventReader()
    for data in (*events.feed(body), *events.finish()):
        if _is_done(data):
            return reader
        reader.read(read_answer(endpoint, data))
    if not reader.is_finished:
        raise _cut_off(endpoint)
    return reader


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


def _is_done(data: bytes) -> bool:
    return data.strip() == b"[DONE]"


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
