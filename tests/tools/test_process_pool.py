from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry
from planloom.tools.result import ToolResult
from planloom.tools.runner import ToolRunner
from planloom.tools.toolsets import Toolset
from planloom.values import Column, TableRef

SOURCE = """
import asyncio, ctypes, os, subprocess, sys, time
from datetime import date
from pathlib import Path
from planloom.errors import ToolError
from planloom.tools.context import ToolContext
from planloom.tools.tool import tool
from planloom.values import TableRef

@tool(isolation="process")
def double(n: int) -> int:
    print("a print of the tool")
    os.write(1, b"raw bytes\\n")
    return 2 * n

@tool(isolation="process")
async def triple(n: int) -> int:
    await asyncio.sleep(0)
    return 3 * n

@tool(isolation="process")
def describe(table: TableRef, day: date, context: ToolContext) -> dict[str, str]:
    return {"table": table.columns[0].name, "day": day.isoformat(), "key": context.key,
            "folder": type(context.folder).__name__}

@tool(isolation="process")
def same(table: TableRef) -> TableRef:
    return table

@tool(isolation="process", timeout_s=0.1)
def busy(n: int) -> int:
    while True:
        n += 1

@tool(isolation="process", timeout_s=0.1)
def asleep_in_c(n: int) -> int:
    ctypes.CDLL(None).sleep(60)
    return n

@tool(isolation="process", timeout_s=20)
def with_child(file: str) -> int:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(file).write_text(f"{os.getpid()} {child.pid}")
    child.wait()
    return 1

@tool(isolation="process")
def fall(how: str) -> int:
    if how == "exit":
        os._exit(7)
    if how == "segfault":
        ctypes.string_at(0)
    if how == "sys.exit":
        sys.exit(3)
    if how == "refuse":
        raise ToolError("No rows left.")
    if how == "bug":
        raise KeyError("amount")
    if how == "wrong type":
        return "text"
    return int(sys.stdin.read() or 0)

@tool(isolation="process")
def large(n: int) -> str:
    return "x" * n

@tool(isolation="process")
def pid(n: int) -> int:
    return os.getpid()
"""
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="reads /proc to see which processes run"
)
CONTEXT = ToolContext(key="run/1.step", folder=Path("/run/step"))


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToolRegistry]:
    name = "process_tools_for_test"
    (tmp_path / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield ToolRegistry(toolsets=[Toolset(name="test", module=name)])
    sys.modules.pop(name, ModuleType(""))


def run(registry: ToolRegistry, *calls: tuple[str, dict[str, object]]) -> list[ToolResult]:
    """Make the calls one after the other in one worker process."""

    async def all_calls() -> list[ToolResult]:
        async with ToolRunner(registry, processes=1) as runner:
            return [await runner.call(name, arguments, CONTEXT) for name, arguments in calls]

    return asyncio.run(all_calls())


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool], limit_s: float = 10) -> bool:
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_values_go_to_a_worker_and_back(
    registry: ToolRegistry, capfd: pytest.CaptureFixture[str]
) -> None:
    table = TableRef(
        path="/t", columns=(Column(name="额", type="text"),), rows=1, name="t", sha256="0"
    )
    results = run(
        registry,
        ("double", {"n": 4}),
        ("triple", {"n": 4.0}),
        ("describe", {"table": table, "day": "2024-03-09"}),
        ("same", {"table": table}),
        ("double", {"n": "4"}),
    )
    said = {"table": "额", "day": "2024-03-09", "key": "run/1.step", "folder": "PosixPath"}
    assert [result.value for result in results] == [8, 12, said, table, None]
    assert results[-1].error_kind == "arguments"
    output = capfd.readouterr()
    assert output.out == ""
    assert "a print of the tool\nraw bytes\n" in output.err


def test_faults_of_a_tool_in_a_worker_are_results(registry: ToolRegistry) -> None:
    ways = ["refuse", "bug", "wrong type", "sys.exit", "exit", "segfault", "read stdin"]
    results = run(registry, *(("fall", {"how": way}) for way in ways))
    assert [result.error_kind for result in results] == ["tool", *["crash"] * 5, ""]
    errors = [result.error for result in results]
    assert errors[0] == "No rows left."
    assert "KeyError: 'amount'" in errors[1]
    assert 'should return int, but returned "text"' in errors[2]
    assert "SystemExit: 3" in errors[3]
    assert "exit code 7" in errors[4]
    assert "SIGSEGV" in errors[5]
    assert results[6].value == 0  # a tool finds nothing on stdin, and cannot eat the protocol


def test_working_tools_are_killed_at_their_limit(registry: ToolRegistry) -> None:
    results = run(
        registry, ("busy", {"n": 1}), ("double", {"n": 1}), ("asleep_in_c", {"n": 1}),
        ("double", {"n": 2}),
    )  # fmt: skip
    assert [result.error_kind for result in results] == ["timeout", "", "timeout", ""]
    assert results[0].seconds < 10
    assert "its process was ended" in results[2].error


def test_worker_stays_warm_between_calls(registry: ToolRegistry) -> None:
    first, second = run(registry, ("pid", {"n": 1}), ("pid", {"n": 1}))
    assert first.value == second.value != os.getpid()
    assert isinstance(first.value, int)
    assert not is_running(first.value)  # ended with the runner


def test_too_large_result_is_refused_and_the_worker_lives(registry: ToolRegistry) -> None:
    large, small = run(registry, ("large", {"n": 33 * 1024**2}), ("large", {"n": 1024**2}))
    assert large.error_kind == "crash"
    assert "Write it to a file" in large.error
    assert small.value == "x" * 1024**2


def test_worker_that_died_idle_is_replaced(registry: ToolRegistry) -> None:
    async def calls() -> ToolResult:
        async with ToolRunner(registry, processes=1) as runner:
            first = await runner.call("pid", {"n": 1}, CONTEXT)
            assert isinstance(first.value, int)
            os.kill(first.value, signal.SIGKILL)
            return await runner.call("double", {"n": 2}, CONTEXT)

    assert asyncio.run(calls()).value == 4


def test_cancellation_kills_the_tool_and_what_it_started(
    registry: ToolRegistry, tmp_path: Path
) -> None:
    note = tmp_path / "pids"

    async def cancel_in_the_middle() -> list[int]:
        async with ToolRunner(registry) as runner:
            work = runner.call("with_child", {"file": str(note)}, CONTEXT)
            working = asyncio.create_task(work)
            while not (note.exists() and note.read_text()):  # noqa: ASYNC110 -- waits for a process
                await asyncio.sleep(0.01)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working
            return [int(pid) for pid in note.read_text().split()]

    worker, child = asyncio.run(cancel_in_the_middle())
    assert wait_until(lambda: not is_running(worker) and not is_running(child))


def test_parallel_calls_share_the_processes(registry: ToolRegistry) -> None:
    async def many() -> list[ToolResult]:
        async with ToolRunner(registry, processes=2) as runner:
            calls = [runner.call("double", {"n": n}, CONTEXT) for n in range(20)]
            return await asyncio.gather(*calls)

    assert [result.value for result in asyncio.run(many())] == [2 * n for n in range(20)]


def test_workers_end_when_their_parent_is_killed(registry: ToolRegistry, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    # The script has no __main__ guard, and runs once although workers import its tools.
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, pathlib, process_tools_for_test as tools\n"
        "from planloom.tools.context import ToolContext\n"
        "from planloom.tools.registry import ToolRegistry\n"
        "from planloom.tools.runner import ToolRunner\n"
        "print('once', flush=True)\n"
        "context = ToolContext(key='k', folder=pathlib.Path('.'))\n"
        "runner = ToolRunner(ToolRegistry([tools.with_child]))\n"
        f"asyncio.run(runner.call('with_child', {{'file': {str(note)!r}}}, context))\n",
        encoding="utf-8",
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert wait_until(lambda: note.exists() and note.read_text() != "")
        worker, child = (int(pid) for pid in note.read_text().split())
        assert is_running(worker)
        parent.kill()
        assert parent.stdout is not None
        assert parent.stdout.read() == "once\n"
    assert wait_until(lambda: not is_running(worker) and not is_running(child))


def test_protocol_is_lines_of_json() -> None:
    """A worker answers on the stream that it was given, whatever its tools print."""
    call = {
        "location": "os.path:basename", "name": "basename", "arguments": {},
        "context": {"key": "k", "folder": "/"},
    }  # fmt: skip
    sent = f"{json.dumps({'path': sys.path})}\n{json.dumps(call)}\n"
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "planloom.tools.process_worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    ) as worker:  # fmt: skip
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(sent)
        worker.stdin.flush()
        assert json.loads(worker.stdout.readline()) == {"ready": True}
        reply = json.loads(worker.stdout.readline())
        assert reply["kind"] == "crash"
        assert "'basename' cannot be loaded" in reply["error"]
        worker.stdin.close()
        assert worker.wait(5) != 0
