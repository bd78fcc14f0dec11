"""Warm worker processes for tools that must be endable at any moment, even inside C code."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from planloom.errors import ToolError
from planloom.tools.codec import JsonValue, decode, encode
from planloom.tools.context import ToolContext
from planloom.tools.result import MAX_REPLY_BYTES, ErrorKind, ToolResult
from planloom.tools.tool import AnyTool

_START_LIMIT_S = 60
"""For starting Python, and for importing the module of a tool: not part of the tool's limit."""


class WorkerLostError(Exception):
    """A worker process ended, or could not begin a call in time."""

    def __init__(self, reason: str, *, started: bool):
        super().__init__(reason)
        self.started = started
        """Whether the tool had begun, so that the call must not be made again."""


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
        try:
            request = _request(tool, arguments, context)
        except ToolError as error:
            return ToolResult.failure("arguments", f"Tool '{tool.name}' was not called: {error}")
        async with self._free:
            while self._idle:
                try:
                    return await self._run(self._idle.pop(), tool, request)
                except WorkerLostError as loss:
                    # One that died while idle never saw the call; the next one may run it.
                    if loss.started:
                        return _crashed(tool, loss)
            try:
                return await self._run(await _Worker.start(), tool, request)
            except WorkerLostError as loss:
                return _crashed(tool, loss)

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
            WorkerLostError: it could not start.
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
            await worker._begun()
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def call(self, request: dict[str, JsonValue], timeout_s: float) -> dict[str, JsonValue]:
        """Send a call and return its reply.

        Raises:
            TimeoutError: the tool ran into its limit; the process must be killed.
            WorkerLostError: the process ended.
        """
        await self._send(request)
        first = await self._begun()
        if "started" not in first:
            return first
        async with asyncio.timeout(timeout_s):
            return await self._receive(started=True)

    async def kill(self) -> None:
        """End the process and everything it started."""
        _kill_group(self._process)
        self._to.close()
        await self._process.wait()

    async def _send(self, message: dict[str, JsonValue]) -> None:
        try:
            self._to.write(json.dumps(message).encode() + b"\n")
            await self._to.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise WorkerLostError(await self._exit(), started=False) from error

    async def _begun(self) -> dict[str, JsonValue]:
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                return await self._receive(started=False)
        except TimeoutError:
            reason = f"it was not ready within {_START_LIMIT_S} s"
            raise WorkerLostError(reason, started=False) from None

    async def _exit(self) -> str:
        return _exit_text(await self._process.wait())

    async def _receive(self, *, started: bool) -> dict[str, JsonValue]:
        line = await self._from.readline()
        if not line.endswith(b"\n"):
            raise WorkerLostError(await self._exit(), started=started)
        return cast("dict[str, JsonValue]", json.loads(line))


def _request(
    tool: AnyTool, arguments: Mapping[str, object], context: ToolContext
) -> dict[str, JsonValue]:
    return {
        "location": tool.location,
        "name": tool.name,
        "arguments": {name: encode(value) for name, value in arguments.items()},
        "context": encode(context),
    }


def _kill_group(process: asyncio.subprocess.Process) -> None:
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            # Also after the worker died by itself: what it started may still run in its group.
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nothing is left of it


def _result(tool: AnyTool, reply: dict[str, JsonValue]) -> ToolResult:
    if "error" in reply:
        failure = ToolResult.failure(cast("ErrorKind", reply["kind"]), str(reply["error"]))
        return replace(failure, raised_at=str(reply.get("raised_at", "")))
    try:
        return ToolResult.success(decode(reply["value"], cast("type[object]", tool.result_type)))
    except ToolError as error:
        return ToolResult.failure("crash", f"Tool '{tool.name}' sent a wrong reply: {error}")


def _crashed(tool: AnyTool, loss: WorkerLostError) -> ToolResult:
    return ToolResult.failure(
        "crash", f"Tool '{tool.name}' gave no result, its process was lost: {loss}."
    )


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
