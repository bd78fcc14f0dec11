"""Runs that Ctrl-C or a dying server ends: the real command, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")

PLANLOOM = [sys.executable, "-c", "from planloom.apps.cli import main; main()"]
LINES = 'p = read_file("notes.txt")\nw = write_answer("the best shop", [p.text])\n'
ENDED = {"succeeded", "failed", "skipped", "blocked", "cancelled"}


class Server(Protocol):
    """What these tests use of the scripted server; see the root conftest."""

    url: str
    requests: list[object]

    def say(self, text: str) -> None: ...
    def hang(self) -> None: ...
    def pieces(self, *pieces: bytes, then: Callable[[], object]) -> None: ...
    def kill(self) -> None: ...


@dataclass
class Command:
    """A command at work, and what it has told so far."""

    process: subprocess.Popen[str]
    home: Path
    events: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    def wait_for(self, **wanted: object) -> None:
        """Read events until one is as wanted."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if wanted.items() <= self.events[-1].items():
                return
        raise AssertionError(f"{wanted} never came: {self.process.communicate()[1]}")

    def interrupt(self) -> None:
        """Press Ctrl-C: a terminal signals the command with all its children."""
        os.killpg(self.process.pid, signal.SIGINT)

    def terminate(self) -> None:
        """Ask the command to end, as service managers do: its children are not told."""
        self.process.terminate()

    def end(self) -> tuple[int, str]:
        """Return the exit code and what was said on stderr, once no process is left."""
        # Not communicate() for both: it passes over what the lines before were read ahead with.
        assert self.process.stdout
        self.events += map(json.loads, self.process.stdout)
        _, said = self.process.communicate(timeout=60)
        with pytest.raises(ProcessLookupError):
            os.killpg(self.process.pid, 0)
        assert "Traceback" not in said
        return self.process.returncode, said

    @property
    def task(self) -> dict[str, object]:
        """The record on disk, which says the same as the events and leaves nothing open."""
        (path,) = (self.home / "runs").glob("*/task.json")
        task = json.loads(path.read_text(encoding="utf-8"))
        log = (path.parent / "events.jsonl").read_text(encoding="utf-8").splitlines()
        last = json.loads(log[-1])
        assert (last["kind"], last["status"]) == ("run_ended", task["status"])
        assert [json.loads(line) for line in log] == self.events
        told = {e["key"]: e["state"] for e in self.events if e["kind"] == "step_state"}
        assert told == {record["key"]: record["state"] for record in task["records"]}
        assert set(told.values()) <= ENDED
        return task

    def states(self) -> dict[str, str]:
        """Return the states of the steps."""
        records = self.task["records"]
        assert isinstance(records, list)
        return {record["step"]: record["state"] for record in records}


@contextmanager
def command(folder: Path, server: Server, *arguments: str) -> Iterator[Command]:
    (folder / "notes.txt").write_text("Shop A sold 360, shop B 860.\n", encoding="utf-8")
    environment = {
        **os.environ, "PLANLOOM_HOME": str(folder / "home"), "PLANLOOM_MODEL": "some-model",
        "PLANLOOM_BASE_URL": server.url, "PLANLOOM_RATE_LIMIT_RETRY_MAX": "0", "LC_ALL": "C",
    }  # fmt: skip
    process = subprocess.Popen(
        [*PLANLOOM, *arguments, "--json"], cwd=folder, env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        yield Command(process, folder / "home")
    finally:
        process.kill()
        process.communicate()


def streamed(text: str) -> bytes:
    return (
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n".encode()
    )


async def for_ever() -> None:
    await asyncio.Event().wait()


def wait_for_request(server: Server, number: int) -> None:
    """Wait until the command has asked that often."""

    async def wait() -> None:
        async with asyncio.timeout(60):
            while len(server.requests) < number:  # noqa: ASYNC110 -- the server has another thread
                await asyncio.sleep(0.01)

    asyncio.run(wait())


@pytest.mark.parametrize("name", ["run", "ask"])
def test_ctrl_c_during_a_model_call(name: str, tmp_path: Path, scripted_server: Server):
    scripted_server.hang()
    with command(tmp_path, scripted_server, name, "best shop?") as at_work:
        wait_for_request(scripted_server, 1)
        at_work.interrupt()
        code, said = at_work.end()
    assert code == 130
    assert at_work.task["status"] == "cancelled"
    assert str(next((tmp_path / "home" / "runs").iterdir())) in said
    assert set(at_work.states().values()) <= {"cancelled"}


@pytest.mark.parametrize("ctrl_c", [signal.SIG_DFL, signal.SIG_IGN])
def test_sigterm_is_like_ctrl_c_with_its_own_exit_code(
    ctrl_c: signal.Handlers, tmp_path: Path, scripted_server: Server
):
    scripted_server.pieces(streamed(LINES), then=for_ever)
    scripted_server.hang()
    before = signal.signal(signal.SIGINT, ctrl_c)  # children inherit what is ignored
    try:
        with command(tmp_path, scripted_server, "run", "best shop?", "notes.txt") as at_work:
            at_work.wait_for(step="w", state="running")
            at_work.terminate()
            code, said = at_work.end()
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 143
    assert at_work.task["status"] == "cancelled"
    assert at_work.states() == {"p": "succeeded", "w": "cancelled"}
    assert "Cancelled." in said
    assert "Model use: " in said


def test_ctrl_c_while_a_plan_is_written_and_its_first_steps_run(
    tmp_path: Path, scripted_server: Server
):
    scripted_server.pieces(streamed(LINES), then=for_ever)
    scripted_server.hang()  # the answer that step w writes
    with command(tmp_path, scripted_server, "run", "best shop?", "notes.txt") as at_work:
        at_work.wait_for(step="w", state="running")
        wait_for_request(scripted_server, 2)
        at_work.interrupt()
        code, said = at_work.end()
    assert code == 130
    assert at_work.task["status"] == "cancelled"
    assert at_work.states() == {"p": "succeeded", "w": "cancelled"}
    assert "Cancelled." in said


def test_a_server_killed_while_it_writes_the_plan(tmp_path: Path, scripted_server: Server):
    scripted_server.pieces(streamed(LINES.splitlines(keepends=True)[0]), then=for_ever)
    with command(tmp_path, scripted_server, "run", "best shop?", "notes.txt") as at_work:
        at_work.wait_for(step="p", state="succeeded")
        scripted_server.kill()
        code, said = at_work.end()
    assert code == 3
    assert at_work.task["status"] == "partial"
    assert at_work.states() == {"p": "succeeded"}
    assert "Is the server running there?" in said
    assert "Kept: p (read_file)" in said


def test_a_server_killed_while_it_writes_the_answer(tmp_path: Path, scripted_server: Server):
    scripted_server.say(LINES)
    scripted_server.pieces(streamed("Shop"), then=for_ever)
    with command(tmp_path, scripted_server, "run", "best shop?", "notes.txt") as at_work:
        at_work.wait_for(step="w", state="running")
        wait_for_request(scripted_server, 2)
        scripted_server.kill()
        code, _ = at_work.end()
    assert code == 3
    assert at_work.task["status"] == "partial"
    assert at_work.states() == {"p": "succeeded", "w": "failed"}


def test_ctrl_c_while_a_tool_works_in_a_process_of_its_own(tmp_path: Path, scripted_server: Server):
    rows = "\n".join(f"2024-01-{n % 28 + 1:02d},{n}" for n in range(200_000))
    (tmp_path / "big.csv").write_text(f"day,amount\n{rows}\n", encoding="utf-8")
    with command(tmp_path, scripted_server, "run", "total?", "big.csv") as at_work:
        at_work.wait_for(step="source", state="running")
        at_work.interrupt()
        code, _ = at_work.end()
    assert code == 130
    assert at_work.states()["source"] in {"succeeded", "cancelled"}
    assert at_work.task["status"] == "cancelled"
