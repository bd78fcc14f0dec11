"""The connection to a server of models: one POST, its answer whole or piece by piece."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from planloom.errors import ModelError
from planloom.models.connection_errors import connection_error
from planloom.models.provider_errors import Endpoint
from planloom.models.proxies import proxy_for

if TYPE_CHECKING:  # aiohttp costs 0.2 s to import: only those who ask a model pay for it
    import aiohttp

MOST_BYTES = 50_000_000
"""Longest answer that is read; a server that sends more is broken or hostile."""

_CONNECT_TIMEOUT_S = 30.0
_KEEP_ALIVE_S = 60.0
_OPEN: WeakKeyDictionary[asyncio.AbstractEventLoop, list[aiohttp.ClientSession]] = (
    WeakKeyDictionary()
)
"""The sessions of each event loop; touched only in the thread of the loop."""
_DROPPED = {errno.ECONNRESET, errno.EPIPE}


class HttpClient:
    """Sends requests to one address, over connections that are kept open between them.

    Connections belong to an event loop; in another one, new ones are opened. Proxies come from the
    environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY). Redirects are never followed: they
    would carry the key elsewhere.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        address: str,
        *,
        timeout_s: float,
        proxies: Mapping[str, str] | None = None,
    ):
        """Ask at `address`, the whole one; `timeout_s` is how long a silence may last.

        `proxies` by scheme, as `urllib.request.getproxies` gives them; None takes the environment's
        when the first request is sent.
        """
        self._endpoint = endpoint
        self._address = address
        self._timeout_s = timeout_s
        self._proxies = proxies
        self._proxy: str | None = None
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}

    async def post(self, body: bytes, *, stream: bool) -> HttpAnswer:
        """Send JSON; return the answer once its head is there.

        Raises:
            ModelError: no answer came.
        """
        import aiohttp

        try:
            session = self._sessions.get(asyncio.get_running_loop()) or await self._open_session()
            try:
                return await self._post(session, body, stream=stream)
            except (aiohttp.ClientError, OSError) as error:
                if session.closed or not _was_dropped(error):
                    raise
                # Servers close connections that were idle for long, at times just as one is used.
                return await self._post(session, body, stream=stream)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self.error_of(error) from error

    async def close(self) -> None:
        """Close the connections of this event loop, and of those that are over."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()
        await self._close_leftovers()

    def error_of(self, error: Exception) -> ModelError:
        """Return the error that tells what broke the connection."""
        return connection_error(
            self._endpoint, error, timeout_s=self._timeout_s, connect_s=_connect_s(self._timeout_s)
        )

    async def _post(
        self, session: aiohttp.ClientSession, body: bytes, *, stream: bool
    ) -> HttpAnswer:
        response = await session.post(
            self._address,
            data=body,
            allow_redirects=False,
            timeout=_timeout(self._timeout_s, stream=stream),
            proxy=self._proxy,
        )
        return HttpAnswer(response, self)

    async def _open_session(self) -> aiohttp.ClientSession:
        # Loads the clients of the standard library, which nothing else here needs.
        from urllib.request import getproxies_environment

        import aiohttp

        known = getproxies_environment() if self._proxies is None else self._proxies
        self._proxy = proxy_for(self._address, known)
        session = aiohttp.ClientSession(
            # Limits are the business of `RateLimiter`, which tells of its waits.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_headers(self._endpoint.api_key),
        )
        # Before anything is waited for: calls made at once share it.
        loop = asyncio.get_running_loop()
        self._sessions[loop] = session
        _OPEN.setdefault(loop, []).append(session)
        await self._close_leftovers()
        return session

    async def _close_leftovers(self) -> None:
        """Close the sessions of event loops that ended without `close`."""
        # Copied at once: other threads may open sessions meanwhile.
        for loop in list(self._sessions):
            if loop.is_closed() and (session := self._sessions.pop(loop, None)):
                await session.close()


async def close_connections() -> None:
    """Close every connection that was opened in this event loop, whoever opened it.

    For those who started the loop and are about to end it: nobody can close them afterwards.
    """
    for session in _OPEN.pop(asyncio.get_running_loop(), ()):
        await session.close()


class HttpAnswer:
    """An answer whose head has come; the rest is read once."""

    def __init__(self, response: aiohttp.ClientResponse, client: HttpClient):
        self._response = response
        self._client = client
        self._size = 0
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        """Names in any case."""
        self.media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    async def next_piece(self) -> bytes:
        """Return what came next, as soon as anything has; b"" at the end.

        Raises:
            ModelError: the answer is too long, or the connection broke.
        """
        import aiohttp

        try:
            piece = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise self._client.error_of(error) from error
        self._size += len(piece)
        if self._size > MOST_BYTES:
            raise _too_long()
        return piece

    async def read(self) -> bytes:
        """Return the rest whole.

        Raises:
            ModelError: the answer is too long, or the connection broke.
        """
        pieces: list[bytes] = []
        while piece := await self.next_piece():
            pieces.append(piece)
        return b"".join(pieces)

    async def drain(self, *, grace_s: float = 0.5) -> None:
        """Read to the end of an answer that is over, so that its connection can be used again.

        `grace_s` is how long the server may take to end it; after that the connection is closed.
        """
        try:
            async with asyncio.timeout(grace_s):
                while await self.next_piece():
                    pass
        except (TimeoutError, ModelError):
            self.close()

    def close(self) -> None:
        """Close the connection if the answer was not read to its end."""
        self._response.close()


def _headers(api_key: str | None) -> Mapping[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        # Replies are short; what is not packed can be bounded while it comes.
        "Accept-Encoding": "identity",
        "User-Agent": "planloom",
    }
    return headers | ({"Authorization": f"Bearer {api_key}"} if api_key else {})


def _was_dropped(error: Exception) -> bool:
    import aiohttp

    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return True
    return isinstance(error, OSError) and error.errno in _DROPPED


def _connect_s(timeout_s: float) -> float:
    return min(_CONNECT_TIMEOUT_S, timeout_s)


@cache
def _timeout(timeout_s: float, *, stream: bool) -> aiohttp.ClientTimeout:
    """Return the limits of each phase; a stream may last as long as it goes on."""
    import aiohttp

    return aiohttp.ClientTimeout(
        total=None if stream else timeout_s,
        sock_connect=_connect_s(timeout_s),
        sock_read=timeout_s,
    )


def _too_long() -> ModelError:
    limit = MOST_BYTES // 1_000_000
    return ModelError(
        f"The answer is longer than {limit} MB, which no model writes. Check that "
        "PLANLOOM_BASE_URL is the address of a model.",
        zh=f"收到的回答超过 {limit} MB，不可能是模型的输出。"
        "请检查 PLANLOOM_BASE_URL 是否为模型服务的地址。",
    )
