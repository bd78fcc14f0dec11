"""Runs tool calls: checks the arguments, keeps the time limit, turns every fault into a result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self, cast

from planloom.errors import ArgumentError, UnknownToolError
from planloom.tools.context import ToolContext
from planloom.tools.limits import GRACE_S, LimitReachedError, Outcome, run_coroutine, run_in_thread
from planloom.tools.outcomes import checked, failed
from planloom.tools.process_pool import ProcessPool
from planloom.tools.registry import ToolRegistry
from planloom.tools.result import ToolResult
from planloom.tools.tool import AnyTool

Bind = Callable[[AnyTool, Mapping[str, object], ToolContext], dict[str, object]]

_SMALL_CHARS = 20_000


class ToolRunner:
    """Calls tools by name; use it as an async context manager, so that its processes end.

    Calls may run at the same time; each has its own arguments, limit and result, and one that
    fails does not disturb the others. How many run at once is the caller's business.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        processes: int | None = None,
        grace_s: float = GRACE_S,
        clock: Callable[[], float] = time.perf_counter,
    ):
        """Take the registry to find tools in.

        `processes` bounds the worker processes for tools with isolation="process"; by default as
        many as there are processors, at most 4. They start when first needed. `grace_s` is how
        long a thread or coroutine may take to end at its limit before it is left behind.
        """
        self._registry = registry
        self._grace_s = grace_s
        self._clock = clock
        self._prepared: dict[str, Bind] = {}
        """How the arguments of a tool are read, once it was used."""
        self._pool = ProcessPool(processes)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the worker processes, also those that are working."""
        await self._pool.close()

    async def call(
        self, name: str, arguments: Mapping[str, object], context: ToolContext
    ) -> ToolResult:
        """Call a tool once and return what came of it.

        Argument values are JSON or typed (a `TableRef` from an earlier step). No fault of a tool
        or of its arguments is raised. A cancellation is, once the work has ended; retries, cache
        and approval are the caller's business.

        Raises:
            ConfigError: the signature of the tool has no schema.
        """
        started = self._clock()
        result = await self._call(name, arguments, context)
        return replace(result, seconds=self._clock() - started)

    async def _call(
        self, name: str, arguments: Mapping[str, object], context: ToolContext
    ) -> ToolResult:
        try:
            tool = await self._find(name)
        except UnknownToolError as error:
            return ToolResult.failure("unknown_tool", str(error))
        try:
            bound = self._prepared[name](tool, arguments, context)
        except ArgumentError as error:
            return ToolResult.failure("arguments", str(error))
        if tool.runs_in == "process":
            return await self._pool.call(tool, arguments, context)
        try:
            outcome = await self._run_here(tool, bound)
        except LimitReachedError as error:
            return ToolResult.failure("timeout", _timeout_text(tool, ended=error.ended))
        if outcome.error is not None:
            return failed(tool, outcome.error, context.lang)
        return ToolResult.success(outcome.value)

    async def _find(self, name: str) -> AnyTool:
        if name not in self._prepared:
            # Importing a toolset and building the first schema take too long for the event loop.
            await asyncio.to_thread(self._prepare, name)
        return self._registry.get(name)

    def _prepare(self, name: str) -> None:
        # Loads jsonschema_rs and pydantic, which a start without a tool call need not pay for.
        from planloom.tools.arguments import bind

        _ = self._registry.get(name).arguments_schema
        self._prepared[name] = bind

    async def _run_here(self, tool: AnyTool, arguments: Mapping[str, object]) -> Outcome:
        # Results are checked in a thread as well: a large one would hold up the event loop.
        if tool.runs_in == "thread":
            return await self._in_thread(tool, lambda: checked(tool, tool.function(**arguments)))
        outcome = await run_coroutine(
            lambda: cast("Awaitable[object]", tool.function(**arguments)),
            tool.timeout_s,
            grace_s=self._grace_s,
        )
        if outcome.error is not None:
            return outcome
        if _is_small(outcome.value):
            return _checked_here(tool, outcome.value)
        return await self._in_thread(tool, lambda: checked(tool, outcome.value))

    async def _in_thread(self, tool: AnyTool, function: Callable[[], object]) -> Outcome:
        name = f"planloom-{tool.name}"
        return await run_in_thread(function, tool.timeout_s, name=name, grace_s=self._grace_s)


def _is_small(value: object) -> bool:
    # Checking these takes microseconds; starting a thread for it takes ten times as long.
    if isinstance(value, str):
        return len(value) <= _SMALL_CHARS
    return value is None or isinstance(value, bool | int | float)


def _checked_here(tool: AnyTool, value: object) -> Outcome:
    try:
        return Outcome(value=checked(tool, value))
    except Exception as error:  # noqa: BLE001 -- as in a thread: handed on as the outcome
        return Outcome(error=error)


def _timeout_text(tool: AnyTool, *, ended: bool) -> str:
    text = f"Tool '{tool.name}' reached its time limit of {tool.timeout_s:g} s and was ended."
    if ended:
        return f"{text} Ask for less at once, or raise the limit with @tool(timeout_s=...)."
    return (
        f"Tool '{tool.name}' reached its time limit of {tool.timeout_s:g} s, but its "
        f"{tool.runs_in} could not be ended yet: it is inside a library call and will stop when "
        'that returns. A tool with isolation="process" can always be ended.'
    )
