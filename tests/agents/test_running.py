"""One run put together: watchers that fail, full disks, Ctrl-C, secrets."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from pathlib import Path

import pytest

from planloom.agents.agent import Agent, Outcome
from planloom.agents.running import run_sync
from planloom.engine.approval import ApprovalRequest, Decision
from planloom.errors import InputError
from planloom.events import Event
from planloom.tools.tool import tool

got: list[str] = []


@tool
def double(x: int) -> int:
    """Double."""
    return 2 * x


@tool(effect="send")
def log_in(api_key: str, user: str) -> str:
    """Log in."""
    got.append(api_key)
    return user


def agent(home: Path, **options: object) -> Agent:
    return Agent([double, log_in], home=home, builtin_tools=False, **options)  # type: ignore[arg-type]


def _records(outcome: Outcome) -> tuple[dict[str, object], list[str]]:
    task = json.loads((outcome.folder / "task.json").read_text("utf-8"))
    lines = (outcome.folder / "events.jsonl").read_text("utf-8").splitlines()
    return task, [json.loads(line)["kind"] for line in lines]


def test_watcher_that_breaks_does_not_harm_the_record(tmp_path: Path):
    seen: list[Event] = []

    def head(event: Event) -> None:
        if seen:
            raise BrokenPipeError("gone")
        seen.append(event)

    outcome = agent(tmp_path).run_plan("a = double(1)\nb = double(a)", sinks=[head])
    task, kinds = _records(outcome)
    assert outcome.status == task["status"] == "succeeded"
    assert len(seen) == 1
    assert (kinds[0], kinds[-1], kinds.count("tool_call")) == ("run_started", "run_ended", 2)


def test_record_that_cannot_be_written_ends_the_run_plainly(tmp_path: Path):
    def fill(event: Event) -> None:
        record = tmp_path / "runs" / event.run / "task.json"
        record.unlink()
        record.mkdir()  # nothing can be renamed to it any more

    with pytest.raises(InputError, match="PLANLOOM_HOME"):
        agent(tmp_path).run_plan("a = double(1)", sinks=[fill])


class Approver:
    def __init__(self) -> None:
        self.requests: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest, /) -> Decision:
        self.requests.append(request)
        return Decision(approved=True)


def test_secret_reaches_the_tool_and_nobody_else(tmp_path: Path):
    approver = Approver()
    got.clear()
    outcome = agent(tmp_path, approver=approver).run_plan('log_in("sk-SECRET", "me")')
    assert outcome.status == "succeeded"
    assert got == ["sk-SECRET"]
    assert approver.requests[0].arguments == {"api_key": "***", "user": "me"}
    for name in ("events.jsonl", "plan-1.json"):
        text = (outcome.folder / name).read_text("utf-8")
        assert "***" in text
        assert "sk-SECRET" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a thread")
def test_control_c_ends_work_inside_of_a_running_loop():
    ended: list[str] = []

    async def work() -> None:
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def notebook() -> None:
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            run_sync(work())
        assert signal.getsignal(signal.SIGINT) is before

    asyncio.run(notebook())
    assert ended == ["cancelled"]


def test_run_sync_gives_results_and_errors_inside_of_a_running_loop():
    async def value(x: int) -> int:
        if x < 0:
            raise ValueError("negative")
        return x

    async def notebook() -> None:
        assert run_sync(value(3)) == 3
        with pytest.raises(ValueError, match="negative"):
            run_sync(value(-1))

    asyncio.run(notebook())
