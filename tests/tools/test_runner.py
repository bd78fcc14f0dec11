from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

import pytest

from planloom.analysis.results import Analysis
from planloom.errors import InputError, ToolError
from planloom.interruption import on_interrupt
from planloom.notes import Note
from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry
from planloom.tools.result import ToolResult
from planloom.tools.runner import ToolRunner
from planloom.tools.tool import AnyTool, tool
from planloom.values import TableRef

CONTEXT = ToolContext(key="run/1.step", folder=Path("/run/step"))
LIMIT_S = 0.05


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def call(made: AnyTool, **arguments: object) -> ToolResult:
    async def one() -> ToolResult:
        async with ToolRunner(ToolRegistry([made])) as runner:
            return await runner.call(made.name, arguments, CONTEXT)

    return run(one())


def has_ended(name: str) -> bool:
    """Whether the thread of a tool is gone; it may need a moment after it gave its result."""
    for thread in threading.enumerate():
        if thread.name == f"planloom-{name}":
            thread.join(2)
            return not thread.is_alive()
    return True


def test_sync_and_async_tools_give_their_value() -> None:
    @tool
    def double(n: int) -> int:
        return 2 * n

    @tool
    async def triple(n: int) -> int:
        await asyncio.sleep(0)
        return 3 * n

    assert call(double, n=4).value == 8
    result = call(triple, n=4)
    assert (result.ok, result.value, result.error_kind) == (True, 12, "")
    assert result.seconds > 0


def test_unknown_tool_and_bad_arguments_are_results() -> None:
    ran: list[int] = []

    @tool
    def note(n: int) -> None:
        ran.append(n)

    async def calls() -> list[ToolResult]:
        async with ToolRunner(ToolRegistry([note])) as runner:
            return [
                await runner.call("noet", {"n": 1}, CONTEXT),
                await runner.call("note", {"n": "1"}, CONTEXT),
                await runner.call("note", {}, CONTEXT),
            ]

    results = run(calls())
    assert [r.error_kind for r in results] == ["unknown_tool", "arguments", "arguments"]
    assert "Did you mean 'note'?" in results[0].error
    assert ran == []


@pytest.mark.parametrize("error", [ToolError("No rows left."), InputError("No rows left.")])
def test_errors_for_the_caller_keep_their_message(error: Exception) -> None:
    @tool
    def fail(n: int) -> int:
        raise error

    result = call(fail, n=1)
    assert (result.ok, result.error_kind, result.error) == (False, "tool", "No rows left.")


@pytest.mark.parametrize("error", [ValueError("wrong"), SystemExit(3)])
@pytest.mark.parametrize("is_async", [True, False])
def test_other_exceptions_are_bugs_of_the_tool(error: BaseException, is_async: bool) -> None:
    def fail(n: int) -> int:
        raise error

    async def fail_async(n: int) -> int:
        raise error

    result = call(tool(fail_async) if is_async else tool(fail), n=1)
    assert result.error_kind == "crash"
    assert type(error).__name__ in result.error
    assert "raise error" not in result.error
    assert "test_runner.py" not in result.error
    assert "test_runner.py" in result.raised_at


def test_a_tool_that_cancels_itself_does_not_cancel_the_caller() -> None:
    @tool
    async def quit_early(n: int) -> int:
        raise asyncio.CancelledError

    assert call(quit_early, n=1).error_kind == "cancelled"


def test_result_of_another_type_is_a_bug() -> None:
    @tool
    def count(n: int) -> int:
        return cast("int", str(n))

    result = call(count, n=1)
    assert result.error_kind == "crash"
    assert 'should return int, but returned "1"' in result.error


def test_result_without_json_form_is_a_bug() -> None:
    @tool
    def mean(n: int) -> float:
        return float("nan")

    assert "is nan, which JSON cannot hold" in call(mean, n=1).error


def test_a_returned_analysis_stays_one_where_a_table_is_promised() -> None:
    made = Analysis(
        path="/t", columns=(), rows=1, name="t", sha256="0", kind="trend", title=Note.same("t"),
        headings=(), keys=(), query="", base="cleaned", facts=(), findings=(),
    )  # fmt: skip

    @tool
    def analyse(n: int) -> TableRef:
        return made

    assert call(analyse, n=1).value is made


def test_busy_sync_tool_is_ended_at_its_limit() -> None:
    @tool(timeout_s=LIMIT_S)
    def busy(n: int) -> int:
        while True:
            n += 1

    result = call(busy, n=1)
    assert result.error_kind == "timeout"
    assert "reached its time limit of 0.05 s and was ended" in result.error
    assert has_ended("busy")


def test_sync_tool_that_swallows_everything_once_is_ended_too() -> None:
    @tool(timeout_s=LIMIT_S)
    def stubborn(n: int) -> int:
        for _ in range(2):
            try:
                while True:
                    n += 1
            except BaseException:  # noqa: BLE001, S110 -- what is tried here
                pass
        return n

    result = call(stubborn, n=1)
    assert result.error_kind == "timeout"
    assert has_ended("stubborn")


def test_thread_that_cannot_be_ended_is_said() -> None:
    released = threading.Event()

    @tool(timeout_s=LIMIT_S)
    def stuck(n: int) -> int:
        released.wait(5)  # waits in C code
        return n

    async def one() -> ToolResult:
        async with ToolRunner(ToolRegistry([stuck]), grace_s=0.1) as runner:
            return await runner.call("stuck", {"n": 1}, CONTEXT)

    result = run(one())
    released.set()
    assert result.error_kind == "timeout"
    assert "could not be ended yet" in result.error


def test_library_call_that_can_be_interrupted_is_ended_at_the_limit() -> None:
    class Query:
        def __init__(self) -> None:
            self.stopped = threading.Event()

    @tool(timeout_s=LIMIT_S)
    def ask(n: int) -> int:
        query = Query()
        on_interrupt(query, lambda query: query.stopped.set())
        query.stopped.wait(5)  # waits in C code
        return n

    result = call(ask, n=1)
    assert "and was ended" in result.error
    assert has_ended("ask")


def test_slow_async_tool_is_ended_at_its_limit() -> None:
    ended: list[str] = []

    @tool(timeout_s=LIMIT_S)
    async def slow(n: int) -> int:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned up")
        return n

    assert call(slow, n=1).error_kind == "timeout"
    assert ended == ["cleaned up"]


def test_event_loop_goes_on_while_a_sync_tool_works() -> None:
    @tool(timeout_s=0.3)
    def busy(n: int) -> int:
        while True:
            n += 1

    async def watch() -> int:
        async with ToolRunner(ToolRegistry([busy])) as runner:
            working = asyncio.create_task(runner.call("busy", {"n": 1}, CONTEXT))
            turns = 0
            while not working.done():
                await asyncio.sleep(0.005)
                turns += 1
            return turns

    assert run(watch()) >= 5


@pytest.mark.parametrize("is_async", [True, False])
def test_cancellation_ends_the_work_and_is_passed_on(is_async: bool) -> None:
    started = threading.Event()
    ended = threading.Event()

    def work(n: int) -> int:
        started.set()
        try:
            while True:
                n += 1
        finally:
            ended.set()

    async def work_async(n: int) -> int:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return n

    made = tool(name="work")(work_async if is_async else cast("Any", work))

    async def cancel_in_the_middle() -> None:
        async with ToolRunner(ToolRegistry([made])) as runner:
            working = asyncio.create_task(runner.call("work", {"n": 1}, CONTEXT))
            while not started.is_set():  # noqa: ASYNC110 -- waits for a thread
                await asyncio.sleep(0.005)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working
            assert ended.is_set()

    run(cancel_in_the_middle())


def test_parallel_calls_of_one_tool_keep_their_own_arguments() -> None:
    together = threading.Barrier(20)

    @tool
    def search(q: str) -> str:
        together.wait(5)  # all twenty run at the same time
        return f"found {q}"

    async def many() -> list[ToolResult]:
        async with ToolRunner(ToolRegistry([search])) as runner:
            calls = [runner.call("search", {"q": str(n)}, CONTEXT) for n in range(20)]
            return await asyncio.gather(*calls)

    assert [result.value for result in run(many())] == [f"found {n}" for n in range(20)]


def test_one_failing_call_of_many_disturbs_no_sibling() -> None:
    @tool(timeout_s=0.2)
    def check(n: int) -> int:
        if n == 3:
            raise ValueError(n)
        while n == 5:
            pass
        return n

    async def many() -> list[ToolResult]:
        async with ToolRunner(ToolRegistry([check])) as runner:
            return await asyncio.gather(
                *(runner.call("check", {"n": n}, CONTEXT) for n in range(27))
            )

    results = run(many())
    assert results[3].error_kind == "crash"
    assert results[5].error_kind == "timeout"
    others = [result.value for n, result in enumerate(results) if n not in (3, 5)]
    assert others == [n for n in range(27) if n not in (3, 5)]


def test_tool_sees_its_context_and_context_variables() -> None:
    request: ContextVar[str] = ContextVar("request")

    @tool
    def where(n: int, context: ToolContext) -> str:
        return f"{context.key} {request.get()}"

    async def one() -> ToolResult:
        request.set("r1")
        async with ToolRunner(ToolRegistry([where])) as runner:
            return await runner.call("where", {"n": 1}, CONTEXT)

    assert run(one()).value == "run/1.step r1"


def test_seconds_come_from_the_clock() -> None:
    ticks = iter([10.0, 12.5])

    @tool
    def nothing(n: int) -> None: ...

    async def one() -> ToolResult:
        runner = ToolRunner(ToolRegistry([nothing]), clock=lambda: next(ticks))
        return await runner.call("nothing", {"n": 1}, CONTEXT)

    result = run(one())
    assert (result.ok, result.value, result.seconds) == (True, None, 2.5)


def test_interrupt_that_comes_too_late_hits_nobody() -> None:
    """Calls that end right at their limit: no interrupt may reach another thread."""

    @tool(timeout_s=0.002)
    def brief(n: int) -> int:
        end = time.perf_counter() + 0.002
        while time.perf_counter() < end:
            n += 1
        return n

    async def many() -> set[str]:
        async with ToolRunner(ToolRegistry([brief])) as runner:
            await runner.call("brief", {"n": 0}, CONTEXT)
            results = [await runner.call("brief", {"n": n}, CONTEXT) for n in range(50)]
            return {result.error_kind for result in results}

    assert run(many()) <= {"", "timeout"}


def test_time_out_of_a_connection_is_not_the_limit_of_the_tool() -> None:
    def fail(n: int) -> int:
        raise TimeoutError("slow")

    result = call(tool(fail), n=1)
    assert result.error_kind == "tool"
    assert "slow" in result.error


def test_error_of_a_call_speaks_its_language(tmp_path: Path) -> None:
    def fail() -> int:
        raise ToolError("No such column.", zh="没有这一列。")

    registry = ToolRegistry([tool(fail)])
    context = ToolContext(key="k", folder=tmp_path, lang="zh")
    result = asyncio.run(ToolRunner(registry).call("fail", {}, context))
    assert result.error == "没有这一列。"
