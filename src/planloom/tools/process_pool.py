"""Warm worker processes for tools that must be endable at any moment, even inside C code."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import cast

from planloom.errors import ToolError
from planloom.tools.codec import JsonValue, decode, encode
from planloom.tools.context import ToolContext
from planloom.tools.process_worker import MAX_REPLY_BYTES
from planloom.tools.result import ErrorKind, ToolResult
from planloom.tools.tool import AnyTool

_START_LIMIT_S = 60
"""For starting Python, and for importing the module of a tool: not part of the tool's limit."""
_EXIT_S = 2


class WorkerDiedError(Exception):
    """The process of a worker ended while a call was running in it."""

    def __init__(self, code: int, *, started: bool):
        super().__init__(_exit_text(code))
        self.started = started


class ProcessPool:
    """Keeps worker processes and hands each to one call at a time."""

    def __init__(self, size: int | None = None):
        self._free = asyncio.Semaphore(size or min(4, os.cpu_count() or 1))
        self._idle: list[_Worker] = []
        self._working: set[_Worker] = set()

    async def call(
        self, tool: AnyTool, arguments: Mapping[str, object], context: ToolContext
    ) -> ToolResult:
        """Run a tool with checked arguments in a worker; wait for a free one first."""
        request = cast(
            "dict[str, JsonValue]",
            encode(
                {
                    "location": tool.location,
                    "name": tool.name,
                    "arguments": arguments,
                    "context": context,
                }
            ),
        )
        async with self._free:
            while self._idle:
                try:
                    return await self._run(self._idle.pop(), tool, request)
                except WorkerDiedError as death:
                    # One that died while idle never saw the call; the next one may run it.
                    if death.started:
                        return _crashed(tool, death)
            try:
                return await self._run(await _Worker.start(), tool, request)
            except WorkerDiedError as death:
                return _crashed(tool, death)

    async def close(self) -> None:
        """End all workers, also those that are working."""
        workers = (*self._idle, *self._working)
        self._idle.clear()
        await asyncio.gather(*(worker.kill() for worker in workers))

    async def _run(
        self, worker: _Worker, tool: AnyTool, request: dict[str, JsonValue]
    ) -> ToolResult:
        self._working.add(worker)
        healthy = False
        try:
            reply = await worker.call(request, tool.timeout_s)
            healthy = True
        except TimeoutError:
            return ToolResult.failure(
                "timeout",
                f"Tool '{tool.name}' reached its time limit of {tool.timeout_s:g} s and its "
                "process was ended. Ask for less at once, or raise the limit with "
                "@tool(timeout_s=...).",
            )
        finally:
            self._working.discard(worker)
            if healthy:
                self._idle.append(worker)
            else:
                await worker.kill()
        return _result(tool, reply)


class _Worker:
    """One worker process; lines of JSON go in and out."""

    def __init__(self, process: asyncio.subprocess.Process):
        assert process.stdin is not None  # noqa: S101 -- both were asked for as pipes
        assert process.stdout is not None  # noqa: S101
        self._process = process
        self._to = process.stdin
        self._from = process.stdout

    @classmethod
    async def start(cls) -> _Worker:
        """Start a process and wait until it has imported what every call needs.

        Raises:
            WorkerDiedError: it could not start.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the working folder may hold a user's json.py
            "-m",
            "planloom.tools.process_worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_REPLY_BYTES + 1024,
            start_new_session=True,  # a group of its own: what a tool starts is ended with it
        )
        worker = cls(process)
        try:
            await worker._send({"path": cast("JsonValue", sys.path)})
            async with asyncio.timeout(_START_LIMIT_S):
                await worker._receive(started=False)
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def call(self, request: dict[str, JsonValue], timeout_s: float) -> dict[str, JsonValue]:
        """Send a call and return its reply.

        Raises:
            TimeoutError: the tool ran into its limit; the process must be killed.
            WorkerDiedError: the process ended.
        """
        async with asyncio.timeout(_START_LIMIT_S):
            await self._send(request)
            first = await self._receive(started=False)
        if "started" not in first:
            return first
        async with asyncio.timeout(timeout_s):
            return await self._receive(started=True)

    async def kill(self) -> None:
        """End the process and everything it started."""
        if self._process.returncode is None:
            _kill_group(self._process)
        self._to.close()
        await self._process.wait()

    async def _send(self, message: dict[str, JsonValue]) -> None:
        try:
            self._to.write(json.dumps(message).encode() + b"\n")
            await self._to.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            code = await self._process.wait()
            raise WorkerDiedError(code, started=False) from error

    async def _receive(self, *, started: bool) -> dict[str, JsonValue]:
        line = await self._from.readline()
        if not line.endswith(b"\n"):
            raise WorkerDiedError(await self._process.wait(), started=started)
        return cast("dict[str, JsonValue]", json.loads(line))


def _kill_group(process: asyncio.subprocess.Process) -> None:
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself in the meantime


def _result(tool: AnyTool, reply: dict[str, JsonValue]) -> ToolResult:
    if "error" in reply:
        return ToolResult.failure(cast("ErrorKind", reply["kind"]), str(reply["error"]))
    try:
        return ToolResult.success(decode(reply["value"], cast("type[object]", tool.result_type)))
    except ToolError as error:
        return ToolResult.failure("crash", f"Tool '{tool.name}' sent a wrong reply: {error}")


def _crashed(tool: AnyTool, death: WorkerDiedError) -> ToolResult:
    return ToolResult.failure(
        "crash", f"Tool '{tool.name}' ended the process it ran in: {death}. It gave no result."
    )


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
