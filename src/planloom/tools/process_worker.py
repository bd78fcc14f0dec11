"""The program of a worker process: reads calls as JSON lines, runs them, writes replies.

Started by `process_pool` with `python -m planloom.tools.process_worker`. Tools are imported by
name and nothing is pickled, so a user's script needs no `__main__` guard.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import io
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import BinaryIO, cast

from planloom.errors import ArgumentError
from planloom.tools.arguments import bind
from planloom.tools.codec import JsonValue, decode, encode
from planloom.tools.context import ToolContext
from planloom.tools.outcomes import checked, failed
from planloom.tools.result import MAX_REPLY_BYTES, ErrorKind
from planloom.tools.tool import AnyTool, Tool

Message = dict[str, JsonValue]


def main() -> None:
    """Serve calls until the input ends."""
    requests, replies = _take_streams()
    calls: queue.SimpleQueue[Message] = queue.SimpleQueue()
    sys.path[:] = cast("list[str]", json.loads(requests.readline())["path"])
    threading.Thread(target=_read, args=(requests, calls), daemon=True).start()
    _send(replies, {"ready": True})
    while True:
        _send(replies, _serve(calls.get(), replies))


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take the protocol's streams away from tools: prints go to stderr, reads find nothing."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # A killed worker takes what it buffered with it, so every line goes out at once.
    sys.stdout = io.TextIOWrapper(
        os.fdopen(1, "wb", closefd=False),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    return requests, replies


def _read(requests: BinaryIO, calls: queue.SimpleQueue[Message]) -> None:
    for line in requests:
        calls.put(cast("Message", json.loads(line)))
    _end_group()


def _end_group() -> None:
    """End at once, with all that tools started: the parent is gone."""
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _serve(request: Message, replies: BinaryIO) -> Message:
    try:
        tool = _tool(str(request["location"]), str(request["name"]))
        context = decode(request["context"], ToolContext)
        arguments = bind(tool, cast("dict[str, object]", request["arguments"]), context)
    except ArgumentError as error:
        return _failure("arguments", str(error))
    except Exception as error:  # noqa: BLE001 -- importing a tool's module may raise anything
        return _failure("crash", f"Tool '{request['name']}' cannot be loaded: {error!r}")
    _send(replies, {"started": True})
    try:
        value = encode(checked(tool, _run(lambda: tool.function(**arguments))))
    except BaseException as error:  # noqa: BLE001 -- also sys.exit() is a fault of the tool
        result = failed(tool, error, context.lang)
        return _failure(result.error_kind, result.error) | {"raised_at": result.raised_at}
    return {"value": value}


@functools.cache
def _tool(location: str, name: str) -> AnyTool:
    module, _, path = location.partition(":")
    found: object = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    function = found.function if isinstance(found, Tool) else found
    return Tool(name=name, function=cast("Callable[..., object]", function))


def _run(function: Callable[[], object]) -> object:
    value = function()
    if not inspect.isawaitable(value):
        return value

    async def awaited(work: Awaitable[object]) -> object:
        return await work

    return asyncio.run(awaited(cast("Awaitable[object]", value)))


def _failure(kind: ErrorKind, error: str) -> Message:
    return {"kind": kind, "error": error}


def _send(replies: BinaryIO, message: Message) -> None:
    line = json.dumps(message).encode() + b"\n"
    if len(line) > MAX_REPLY_BYTES:
        text = (
            f"The result takes {len(line):,} bytes, more than {MAX_REPLY_BYTES:,}. Write it to a "
            "file and return a FileRef or a TableRef."
        )
        line = json.dumps(_failure("crash", text)).encode() + b"\n"
    replies.write(line)
    replies.flush()


if __name__ == "__main__":
    main()
