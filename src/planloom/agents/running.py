"""Runs one task from goal to verdict: folder, events, tools and engine put together."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TypeVar

from planloom.budget import Bill
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.execution import RunOptions, execute
from planloom.engine.protocols import Approver, Planner
from planloom.engine.run_folder import RunFolder, new_run_id
from planloom.engine.runtime import InMemoryRuntime
from planloom.engine.task import Task
from planloom.engine.tool_steps import ToolAccess, ToolStepRunner
from planloom.events import EventKind, EventSink, EventStream
from planloom.models.http_client import close_connections
from planloom.planning.plan_check import checked_by
from planloom.planning.react.recorded_toolbox import RunTools
from planloom.tools.registry import ToolRegistry
from planloom.tools.runner import ToolRunner

T = TypeVar("T")
_LOOK_S = 0.5


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """What a run needs besides its planner."""

    registry: ToolRegistry
    home: Path
    """The run's folder is `<home>/runs/<run id>/`."""
    access: ToolAccess
    options: RunOptions
    sinks: Sequence[EventSink] = ()
    """Where events go besides events.jsonl; one that raises gets no more of them."""
    approver: Approver | None = None
    run_id: str | None = None
    """None makes a new one."""
    bill: Callable[[], Bill] | None = None
    """What models have cost so far; it is recorded before the end."""


@dataclass(frozen=True, kw_only=True)
class RunStage:
    """What is there when a run begins, for planners and tools that take part in it."""

    run_id: str
    folder: RunFolder
    events: EventStream
    registry: ToolRegistry
    """Tools of this run alone may still be registered."""
    tools: ToolRunner
    access: ToolAccess

    def run_tools(self, policy: ApprovalPolicy, approver: Approver | None) -> RunTools:
        """Return what ReAct loops call the tools of the run through."""
        return RunTools(
            registry=self.registry,
            runner=self.tools,
            store=self.folder.artifacts,
            events=self.events,
            access=self.access,
            policy=policy,
            approver=approver,
        )


Prepare = Callable[[RunStage], Planner]
"""Makes the planner of a run, and registers the tools that only this run has."""


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A task that has its verdict."""

    task: Task
    folder: Path
    results: dict[str, object]
    """The outputs that were made, typed, by step."""
    kept: dict[str, object] = field(default_factory=dict[str, object])
    """What else was made, by step, where the run had to end before its outputs; `Task.kept`."""


async def run_task(goal: str, planner: Planner, setup: RunSetup) -> FinishedRun:
    """Run a task to its verdict; see `run_prepared`."""
    return await run_prepared(goal, lambda _stage: planner, setup)


async def run_prepared(goal: str, prepare: Prepare, setup: RunSetup) -> FinishedRun:
    """Run a task to its verdict, with a planner that is made for the run.

    Raises:
        InputError: the run's folder cannot be written, or its disk is full.
        CancelledError: the run was cancelled; its folder holds the record and what was made.
    """
    run_id = setup.run_id or new_run_id()
    folder = RunFolder(setup.home, run_id)
    with folder.event_log() as log:
        events = _BilledEvents(run_id, log, outside=setup.sinks, bill=setup.bill)
        async with ToolRunner(setup.registry) as tool_runner:
            stage = RunStage(
                run_id=run_id,
                folder=folder,
                events=events,
                registry=setup.registry,
                tools=tool_runner,
                access=setup.access,
            )
            steps = ToolStepRunner(
                setup.registry, tool_runner, folder.artifacts, events, access=setup.access
            )
            task = await execute(
                Task(id=run_id, goal=goal),
                planner=prepare(stage),
                step_runner=steps,
                runtime=InMemoryRuntime(),
                events=events,
                approver=setup.approver,
                check=checked_by(setup.registry, policy=setup.options.policy),
                options=setup.options,
                save=folder.save,
            )
            results = {name: steps.value(result) for name, result in task.outputs.items()}
            kept = {record.step: steps.value(record.result) for record in task.kept
                    if record.result}  # fmt: skip
    return FinishedRun(task=task, folder=folder.path, results=results, kept=kept)


class _BilledEvents(EventStream):
    """An event stream in which the bill comes before the end: readers stop there."""

    def __init__(
        self,
        run: str,
        sink: EventSink,
        *,
        outside: Sequence[EventSink],
        bill: Callable[[], Bill] | None,
    ):
        super().__init__(run, sink, outside=outside)
        self._bill = bill

    def emit(self, kind: EventKind, **data: object) -> None:
        if kind == "run_ended" and self._bill:
            super().emit("budget", state="bill", bill=self._bill().to_json())
        super().emit(kind, **data)


def run_sync(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine from ordinary code, also where an event loop runs already (notebooks)."""
    closing = _closing_connections(work)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(closing)
    return _run_in_thread(closing)


async def _closing_connections(work: Coroutine[object, object, T]) -> T:
    """Do the work, and close what models opened: the loop ends with it, so nobody else can."""
    try:
        return await work
    finally:
        await close_connections()


def _run_in_thread(work: Coroutine[object, object, T]) -> T:
    interrupt = _Interrupt()

    async def cancellable() -> T:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 -- a coroutine of asyncio.run is a task
        interrupt.may_cancel(asyncio.get_running_loop(), task)
        return await work

    with interrupt.listening(), ThreadPoolExecutor(max_workers=1) as thread:
        ended = thread.submit(asyncio.run, cancellable())
        while not ended.done():
            # Not one long wait: Windows does not look at Ctrl-C in the middle of one.
            wait([ended], timeout=_LOOK_S)
    if interrupt.happened:
        raise KeyboardInterrupt
    return ended.result()


class _Interrupt:
    """Hands a Ctrl-C to the task of another thread, whichever of the two comes first.

    The handler that is in place would raise here, or cancel a task of a loop that stands still.
    """

    def __init__(self) -> None:
        self.happened = False
        self._cancel: Callable[[], object] | None = None

    def may_cancel(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[object]) -> None:
        """Name the task; called in its thread."""
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self.happened:
            self._cancel()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Take Ctrl-C over, where Python would deliver it to this thread."""
        before = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or before in {None, signal.SIG_IGN}:
            yield
            return
        signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.happened = True
        if self._cancel:
            with suppress(RuntimeError):  # its loop has just closed by itself
                self._cancel()
