"""Doubles that the engine's tests share: scripted planner, steps and approver, and a world."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from planloom.engine.approval import ApprovalRequest, Decision
from planloom.engine.execution import RunOptions, execute
from planloom.engine.plan import Plan, Step, unused_steps
from planloom.engine.protocols import (
    Approver,
    PlanCheck,
    StepCall,
    StepOutcome,
    StepRules,
    TaskView,
)
from planloom.engine.runtime import InMemoryRuntime, Runtime
from planloom.engine.task import StepRecord, StepResult, Task
from planloom.errors import UnknownToolError
from planloom.events import Event, EventStream

Run = Callable[[Coroutine[object, object, Task]], Task]

GOOD = object()


def seeded(seed: int) -> random.Random:
    return random.Random(seed)


@dataclass
class FakeSteps:
    """A step runner that follows a script; tools are named after their effect."""

    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    """How long each step takes; 1 by default."""
    script: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """What the attempts of a step give: GOOD, an error text, or an exception to raise."""
    retries: int = 2
    calls: list[str] = field(default_factory=list[str])
    """Keys, as the attempts began."""
    ended: list[str] = field(default_factory=list[str])
    undone: list[str] = field(default_factory=list[str])

    def rules(self, step: Step, /) -> StepRules:
        effect = step.tool.partition("_")[0]
        if effect not in {"pure", "read", "write", "send", "exec"}:
            raise UnknownToolError(f"Tool '{step.tool}' is not registered.")
        return StepRules(
            effect=effect,  # type: ignore[arg-type]
            repeatable=effect in {"pure", "read"} or step.tool.endswith("_idempotent"),
            retries=self.retries,
            can_be_undone=step.tool.endswith("_undoable"),
        )

    def shown_arguments(self, call: StepCall, /) -> dict[str, object]:
        return dict(call.step.input)

    async def run(self, call: StepCall, /) -> StepOutcome:
        self.calls.append(call.key)
        await asyncio.sleep(self.seconds.get(call.step.id, 1))
        script = self.script.get(call.step.id)
        given = script.pop(0) if script else GOOD
        if isinstance(given, BaseException):
            raise given
        self.ended.append(call.key)
        if given is not GOOD:
            return StepOutcome(error=str(given), error_kind="tool", may_help_to_retry=True)
        inputs = {name: result.value for name, result in call.results.items()}
        value = {"step": call.step.id, "from": sorted(inputs)}
        return StepOutcome(result=StepResult(tool=call.step.tool, value=value))

    async def undo(self, call: StepCall, result: StepResult, /) -> StepOutcome:
        self.undone.append(call.key)
        return StepOutcome(result=StepResult(tool="undo"))

    def value(self, result: StepResult, /) -> object:
        return result.value


@dataclass
class FakePlanner:
    """Gives one plan after another, then None; an exception in the list is raised."""

    plans: list[Plan | Exception | None]
    views: list[TaskView] = field(default_factory=list[TaskView])

    async def plan(self, view: TaskView, /) -> Plan | None:
        self.views.append(view)
        answer = self.plans.pop(0) if self.plans else None
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class FakeApprover:
    answers: dict[str, list[Decision | None]]
    seconds: float = 1
    requests: list[ApprovalRequest] = field(default_factory=list[ApprovalRequest])

    async def ask(self, request: ApprovalRequest, /) -> Decision | None:
        self.requests.append(request)
        await asyncio.sleep(self.seconds)
        return self.answers[request.key.rpartition(".")[2]].pop(0)


@dataclass
class World:
    """Everything an execution is handed, and what it left behind."""

    planner: FakePlanner
    steps: FakeSteps
    approver: Approver | None = None
    check: PlanCheck | None = None
    options: RunOptions = field(default_factory=RunOptions)
    runtime: Runtime | None = None
    task: Task = field(default_factory=lambda: Task(id="r1", goal="g"))
    events: list[Event] = field(default_factory=list[Event])
    saved: list[str] = field(default_factory=list[str])
    chance: random.Random = field(default_factory=lambda: seeded(1))

    async def run(self) -> Task:
        loop = asyncio.get_running_loop()
        start = datetime(2026, 11, 30, tzinfo=UTC)

        def now() -> datetime:
            return start + timedelta(seconds=loop.time())

        return await execute(
            self.task,
            planner=self.planner,
            step_runner=self.steps,  # type: ignore[arg-type]
            runtime=self.runtime or InMemoryRuntime(now=now, random=self.chance.random),
            events=EventStream(self.task.id, self.events.append, now=now),
            approver=self.approver,
            check=self.check,
            options=self.options,
            save=self.save,
        )

    def save(self, task: Task) -> None:
        self.saved.append(json.dumps(task.to_json()))

    def states(self) -> dict[str, str]:
        return {record.step: record.state for record in self.task.epoch_records()}

    def story(self) -> list[str]:
        """Return the events in short: `load running`."""
        return [
            f"{event.data['step']} {event.data['state']}" if event.kind == "step_state"
            else event.kind
            for event in self.events
        ]  # fmt: skip


def step(step_id: str, *needs: str, tool: str = "pure", on_failure: str = "replan") -> Step:
    return Step(
        id=step_id,
        tool=tool,
        input={f"a{n}": f"${need}" for n, need in enumerate(needs)},
        on_failure=on_failure,  # type: ignore[arg-type]
    )


def plan(*steps: Step, outputs: tuple[str, ...] | None = None) -> Plan:
    return Plan(steps=steps, outputs=unused_steps(steps) if outputs is None else outputs)


def diamond(**changes: str) -> Plan:
    return plan(
        step("load"), step("left", "load"), step("right", "load"), step("join", "left", "right")
    )


def world(*plans: Plan | Exception | None, **changes: object) -> World:
    steps = changes.pop("steps", None) or FakeSteps()
    return World(planner=FakePlanner(list(plans)), steps=steps, **changes)  # type: ignore[arg-type]


def started(records: Mapping[str, StepRecord], step_id: str) -> str:
    return next(r.started for r in records.values() if r.step == step_id)


def yes(by: str = "alice") -> Decision:
    return Decision(approved=True, by=by)
