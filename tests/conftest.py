"""A scripted server of OpenAI's chat completions, for the tests of every room."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("planloom", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("planloom")

Json = object
Write = Callable[[bytes], Awaitable[None]]
Answer = Callable[["SeenPost", Write], Awaitable[None]]
_HEAD = b"HTTP/1.1 %d Scripted\r\nContent-Type: %s\r\n%s"


@dataclass(frozen=True)
class SeenPost:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    connection: int
    """Which connection brought it, from 1."""

    @property
    def json(self) -> dict:
        return json.loads(self.body)


@dataclass
class ScriptedServer:
    """Gives one prepared answer for each POST, in order; runs in a thread of its own.

    Answers are added with `say`, `call`, `refuse`, ...; when none is left it refuses with status
    400. Each answer is whole or streamed, as the request asks.
    """

    requests: list[SeenPost] = field(default_factory=list)
    connections: int = 0
    """How many were opened."""
    broken_off: int = 0
    """How many a client closed before the answer was over."""
    _answers: list[Answer] = field(default_factory=list)
    _ready: threading.Event = field(default_factory=threading.Event)
    _port: int = 0
    _stop: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._port}/v1"

    def say(self, text: str, *, finish: str = "stop", usage: tuple[int, int] | None = (10, 5)):
        """Answer with a text."""
        self.message({"content": text}, finish=finish, usage=usage)

    def call(self, *calls: tuple[str, dict | str], ids: Sequence[str | None] | None = None):
        """Answer with tool calls, given as (name, arguments)."""
        names = ids or [f"call_{index}" for index in range(len(calls))]
        self.message(
            {
                "content": None,
                "tool_calls": [
                    {
                        "id": id_,
                        "type": "function",
                        "function": {
                            "name": name,
                            "arguments": arguments
                            if isinstance(arguments, str)
                            else json.dumps(arguments),
                        },
                    }
                    for id_, (name, arguments) in zip(names, calls, strict=True)
                ],
            },
            finish="tool_calls",
        )

    def message(
        self, message: dict, *, finish: str | None = "stop", usage: tuple[int, int] | None = (10, 5)
    ):
        """Answer with any message."""

        async def answer(post: SeenPost, write: Write):
            told = None
            if usage:
                told = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
            if post.json.get("stream"):
                await _write_events(write, _chunks(message, finish, told))
            else:
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", **message},
                    "finish_reason": finish,
                }
                body = {"id": "x", "model": "scripted-1", "choices": [choice], "usage": told}
                await _write_whole(write, 200, json.dumps(body).encode())

        self._answers.append(answer)

    def refuse(self, status: int, error: Json = None, **headers: str):
        """Answer with an error; underscores in header names stand for hyphens."""
        body = json.dumps(error if error is not None else {"error": {"message": "no"}}).encode()
        self.body(body, status=status, **headers)

    def body(self, body: bytes, *, status: int = 200, kind: str = "application/json", **headers):
        """Answer with any bytes."""

        async def answer(_post: SeenPost, write: Write):
            await _write_whole(write, status, body, kind, headers)

        self._answers.append(answer)

    def pieces(
        self,
        *pieces: bytes,
        kind: str = "text/event-stream",
        cut: bool = False,
        pause_s: float = 0,
        then: Callable[[], Awaitable[None]] | None = None,
    ):
        """Answer with a stream of just these bytes; `cut` closes the connection after them."""

        async def answer(_post: SeenPost, write: Write):
            head = _HEAD % (200, kind.encode(), b"Transfer-Encoding: chunked\r\n\r\n")
            await write(head)
            for piece in pieces:
                if piece:
                    await write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await asyncio.sleep(pause_s)
            if then is not None:
                await then()
            if cut:
                raise ConnectionAbortedError
            await write(b"0\r\n\r\n")

        self._answers.append(answer)

    def flood(self, megabytes: int):
        """Answer with a text of so many megabytes that never becomes JSON."""

        async def answer(_post: SeenPost, write: Write):
            size = megabytes * 1_000_000
            await write(_HEAD % (200, b"application/json", b"Content-Length: %d\r\n\r\n" % size))
            for _ in range(megabytes):
                await write(b" " * 1_000_000)

        self._answers.append(answer)

    def drop(self, *, reset: bool = False):
        """Close the connection instead of answering; `reset` does so without a farewell."""

        async def answer(_post: SeenPost, _write: Write):
            raise ConnectionResetError if reset else ConnectionAbortedError

        self._answers.append(answer)

    def hang(self):
        """Never answer."""

        async def answer(_post: SeenPost, _write: Write):
            await asyncio.Event().wait()

        self._answers.append(answer)

    def kill(self):
        """End the server: open connections break off, new ones are refused."""
        self._stop()

    def _run(self, stop: asyncio.Event, loop: asyncio.AbstractEventLoop):
        async def serve():
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            self._port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await stop.wait()
            server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)

        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.connections += 1
        number = self.connections

        async def write(data: bytes):
            writer.write(data)
            await writer.drain()

        try:
            if (first := await reader.readexactly(1)) == b"\x16":  # TLS, which nobody speaks here
                await write(_HEAD % (400, b"text/plain", b"\r\n"))
                return
            async for post in _posts(reader, number, first):
                self.requests.append(post)
                await self._answer(post, reader, write)
        except ConnectionResetError:
            no_wait = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_wait)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, post: SeenPost, reader: asyncio.StreamReader, write: Write):
        answer = self._answers.pop(0) if self._answers else _nothing_left
        answering = asyncio.ensure_future(answer(post, write))
        # Nothing more is sent before an answer is over: what can be read is the client's leaving.
        leaving = asyncio.ensure_future(_wait_for_end(reader))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.broken_off += 1
                raise ConnectionAbortedError
            answering.result()
        finally:
            answering.cancel()
            leaving.cancel()


async def _wait_for_end(reader: asyncio.StreamReader):
    while not reader.at_eof():  # noqa: ASYNC110 -- nothing tells of the end without reading
        await asyncio.sleep(0.005)


async def _posts(
    reader: asyncio.StreamReader, connection: int, begun: bytes
) -> AsyncIterator[SeenPost]:
    while head := begun + await reader.readuntil(b"\r\n\r\n"):
        begun = b""
        first, *lines = head.decode().strip().split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        yield SeenPost(first.split()[1], headers, body, connection)


async def _nothing_left(_post: SeenPost, write: Write):
    body = json.dumps({"error": {"message": "The script is over."}}).encode()
    await _write_whole(write, 400, body)


async def _write_whole(
    write: Write,
    status: int,
    body: bytes,
    kind: str = "application/json",
    headers: Mapping[str, str] | None = None,
):
    extra = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in (headers or {}).items())
    length = f"Content-Length: {len(body)}\r\n\r\n"
    await write(_HEAD % (status, kind.encode(), (extra + length).encode()) + body)


async def _write_events(write: Write, chunks: Sequence[dict]):
    await write(_HEAD % (200, b"text/event-stream", b"Transfer-Encoding: chunked\r\n\r\n"))
    events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    for event in [*events, b"data: [DONE]\n\n"]:
        await write(b"%x\r\n%s\r\n" % (len(event), event))
    await write(b"0\r\n\r\n")


def _chunks(message: dict, finish: str | None, usage: dict | None) -> list[dict]:
    """Return a message as chunks: the text in pieces of 4 characters, each call at once."""
    text = message.get("content") or ""
    rest = {name: value for name, value in message.items() if name != "content"}
    for index, call in enumerate(rest.get("tool_calls", [])):
        call.setdefault("index", index)
    deltas = [rest, *({"content": text[at : at + 4]} for at in range(0, len(text), 4)), {}]
    chunks: list[dict] = [
        {"model": "scripted-1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks[-1]["choices"][0]["finish_reason"] = finish
    if usage:
        chunks.append({"model": "scripted-1", "choices": [], "usage": usage})
    return chunks


@pytest.fixture
def scripted_server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=server._run, args=(stop, loop), daemon=True)

    def end():
        if thread.is_alive():
            loop.call_soon_threadsafe(stop.set)
            thread.join(10)

    server._stop = end
    thread.start()
    assert server._ready.wait(10)
    yield server
    end()
