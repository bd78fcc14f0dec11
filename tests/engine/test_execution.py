"""The engine's loop: order, failure, retry, replanning, approval, cancellation, honest verdicts."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planloom.engine.approval import ApprovalPolicy, ApprovalRequest, Decision
from planloom.engine.execution import RunOptions, execute
from planloom.engine.plan import Plan, PlanProblem, Step, unused_steps
from planloom.engine.protocols import (
    Approver,
    PlanCheck,
    StepCall,
    StepOutcome,
    StepRules,
    TaskView,
)
from planloom.engine.runtime import InMemoryRuntime
from planloom.engine.task import OPEN_STATES, StepRecord, StepResult, Task
from planloom.errors import PlanError, UnknownToolError
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
            runtime=InMemoryRuntime(now=now, random=self.chance.random),
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


# -- order


def test_ready_steps_run_at_once_and_join_after_both(run_virtually: Run):
    w = world(diamond(), steps=FakeSteps(seconds={"left": 3, "right": 2}))
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert started(task.records, "left") == started(task.records, "right")
    assert w.steps.calls == ["r1/1.load", "r1/1.left", "r1/1.right", "r1/1.join"]
    assert task.ended_order == ["r1/1.load", "r1/1.right", "r1/1.left", "r1/1.join"]
    assert task.record("join").ended == "2026-11-30T00:00:05.000Z"
    assert task.outputs["join"].value == {"step": "join", "from": ["left", "right"]}


def test_events_are_written_in_order_and_intent_before_the_work(run_virtually: Run):
    w = world(plan(step("a"), step("b", "a")))
    seen: list[list[str]] = []
    original = w.steps.run

    async def run(call: StepCall, /) -> StepOutcome:
        seen.append(w.story()[-1:])
        return await original(call)

    w.steps.run = run  # type: ignore[method-assign]
    run_virtually(w.run())
    assert seen == [["a running"], ["b running"]]
    assert w.story() == [
        "run_started", "plan", "a running", "a succeeded", "b running", "b succeeded", "run_ended",
    ]  # fmt: skip
    assert [event.time for event in w.events] == sorted(event.time for event in w.events)


def test_no_more_steps_run_at_once_than_allowed(run_virtually: Run):
    steps = tuple(step(f"s{n}") for n in range(6))
    w = world(plan(*steps), options=RunOptions(max_parallel=2))
    task = run_virtually(w.run())
    assert [task.record(f"s{n}").started[17:19] for n in range(6)] == [
        "00", "00", "01", "01", "02", "02",
    ]  # fmt: skip


def test_two_steps_with_one_tool_keep_their_own_arguments(run_virtually: Run):
    # uipath-langchain-python#452: both calls got the first set of arguments.
    steps = FakeSteps()
    got: dict[str, object] = {}

    async def run(call: StepCall, /) -> StepOutcome:
        got[call.key] = call.step.input["q"]
        return StepOutcome(result=StepResult(tool="pure", value=call.step.input["q"]))

    steps.run = run  # type: ignore[method-assign]
    w = world(
        plan(
            Step(id="x", tool="read_search", input={"q": "x"}),
            Step(id="y", tool="read_search", input={"q": "y"}),
        ),
        steps=steps,
    )
    task = run_virtually(w.run())
    assert got == {"r1/1.x": "x", "r1/1.y": "y"}
    assert {name: result.value for name, result in task.outputs.items()} == {"x": "x", "y": "y"}


# -- failure


def test_failed_step_blocks_its_dependants_and_others_go_on(run_virtually: Run):
    w = world(
        plan(step("a"), step("b", "a"), step("c", "b"), step("d"), step("e", "d")),
        steps=FakeSteps(script={"a": ["no such file"] * 9}),
    )
    task = run_virtually(w.run())
    assert w.states() == {
        "a": "failed", "b": "blocked", "c": "blocked", "d": "succeeded", "e": "succeeded",
    }  # fmt: skip
    assert task.record("c").error == "It needs 'a' (failed): no such file"
    assert task.status == "partial"
    assert [(m.step, m.state) for m in task.missing] == [("a", "failed"), ("c", "blocked")]


def test_run_ends_with_its_last_task_when_one_of_a_batch_failed():
    # crewAI#3871: the batch was done and the process never ended.
    async def run() -> tuple[float, Task]:
        steps = FakeSteps(script={"two": ["bad"]}, retries=0, seconds=dict.fromkeys("123", 0.01))
        w = world(plan(step("one"), step("two"), step("three")), steps=steps)
        steps.seconds = {"one": 0.01, "two": 0.01, "three": 0.01}
        begin = asyncio.get_running_loop().time()
        task = await w.run()
        return asyncio.get_running_loop().time() - begin, task

    seconds, task = asyncio.run(asyncio.wait_for(run(), 5))
    assert seconds < 1
    assert task.status == "partial"
    assert [m.step for m in task.missing] == ["two"]


def test_all_outputs_missing_is_failed(run_virtually: Run):
    w = world(plan(step("a"), step("b", "a")), steps=FakeSteps(script={"b": ["x"] * 3}))
    assert run_virtually(w.run()).status == "failed"


def test_reading_step_is_tried_again_with_growing_spread_pauses(run_virtually: Run):
    w = world(plan(step("a", tool="read")), steps=FakeSteps(script={"a": ["1", "2", GOOD]}))
    task = run_virtually(w.run())
    first = seeded(1)
    pauses = 0.5 * (0.5 + first.random() / 2) + 1.0 * (0.5 + first.random() / 2)
    assert task.record("a").attempts == 3
    ended = datetime.fromisoformat(task.record("a").ended)
    begun = datetime.fromisoformat(task.record("a").started)
    assert (ended - begun).total_seconds() == pytest.approx(3 + pauses, abs=0.002)
    assert w.steps.calls == ["r1/1.a"] * 3


@pytest.mark.parametrize(
    ("tool", "attempts"),
    [("pure", 3), ("read", 3), ("write", 1), ("send", 1), ("exec", 1), ("send_idempotent", 3)],
)
def test_retry_follows_the_effect(run_virtually: Run, tool: str, attempts: int):
    allow = ApprovalPolicy(
        effects=dict.fromkeys(["pure", "read", "write", "send", "exec"], "allow")
    )
    w = world(
        plan(step("a", tool=tool)),
        steps=FakeSteps(script={"a": ["x"] * 9}),
        options=RunOptions(policy=allow),
    )
    task = run_virtually(w.run())
    assert len(w.steps.calls) == attempts
    assert task.record("a").attempts == attempts


def test_skipped_step_takes_along_only_what_uses_it(run_virtually: Run):
    w = world(
        plan(
            step("a", on_failure="skip"),
            step("uses", "a"),
            Step(id="follows", tool="pure", depends_on=("a",)),
            outputs=("follows",),
        ),
        steps=FakeSteps(script={"a": ["x"] * 3}),
    )
    task = run_virtually(w.run())
    assert w.states() == {"a": "skipped", "uses": "skipped", "follows": "succeeded"}
    assert task.status == "succeeded"


def test_step_that_must_not_fail_stops_the_run(run_virtually: Run):
    w = world(
        plan(step("a", on_failure="fail"), step("slow"), step("later", "slow")),
        plan(step("never")),
        steps=FakeSteps(script={"a": ["disk full"]}, retries=0, seconds={"slow": 5}),
    )
    task = run_virtually(w.run())
    assert w.states() == {"a": "failed", "slow": "succeeded", "later": "cancelled"}
    assert task.status == "failed"
    assert len(w.planner.views) == 1


def test_unknown_tool_is_a_failed_step(run_virtually: Run):
    w = world(plan(step("a", tool="nonsense")))
    task = run_virtually(w.run())
    assert task.record("a").error_kind == "unknown_tool"
    assert task.status == "failed"


def test_bug_of_a_step_runner_is_raised_and_recorded(run_virtually: Run):
    w = world(
        plan(step("a"), step("b"), step("c", "a")),
        steps=FakeSteps(script={"a": [RuntimeError("boom")]}, seconds={"b": 9}),
    )
    with pytest.raises(RuntimeError, match="boom"):
        run_virtually(w.run())
    assert w.states() == {"a": "failed", "b": "cancelled", "c": "cancelled"}
    assert w.task.record("a").error == "RuntimeError: boom"
    assert w.task.status == "failed"
    assert w.story()[-1] == "run_ended"
    assert json.loads(w.saved[-1])["status"] == "failed"


# -- planning


def test_planner_sees_results_before_it_chooses_what_comes_next(run_virtually: Run):
    first = Plan(steps=(step("load"), step("profile", "load")))
    second = plan(step("trend", "load"), step("report", "trend", "profile"))
    w = world(first, second)
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert w.planner.views[1].value("profile") == {"step": "profile", "from": ["load"]}
    assert list(task.records) == ["r1/1.load", "r1/1.profile", "r1/2.trend", "r1/2.report"]
    assert w.planner.views[2].epoch == 3


def test_replanning_keeps_finished_steps(run_virtually: Run):
    w = world(
        plan(step("load"), step("chart", "load"), step("report", "chart")),
        plan(step("load"), step("table", "load"), step("report", "table")),
        steps=FakeSteps(script={"chart": ["no font"] * 3}),
    )
    task = run_virtually(w.run())
    assert [view.epoch for view in w.planner.views] == [1, 2, 3]
    assert [record.step for record in w.planner.views[1].failures] == ["chart"]
    assert w.steps.calls.count("r1/1.load") == 1
    assert "r1/2.load" not in w.steps.calls
    assert task.record("load").taken_over
    assert task.record("report").result.value["from"] == ["table"]  # type: ignore[union-attr,index,call-overload]
    assert task.status == "succeeded"


def test_repeated_step_with_other_input_runs_again(run_virtually: Run):
    a = Step(id="a", tool="pure", input={"n": 1})
    again = Step(id="a", tool="pure", input={"n": 2})
    w = world(plan(a, step("b", "a")), plan(again, step("b", "a")))
    run_virtually(w.run())
    assert w.steps.calls == ["r1/1.a", "r1/1.b", "r1/2.a", "r1/2.b"]


def test_plan_with_problems_goes_back_to_its_planner(run_virtually: Run):
    def check(plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        bad = [s.id for s in plan.steps if s.id.startswith("bad")]
        return tuple(
            PlanProblem(severity="error", step=s, argument="x", what="is bad.", mend="Mend it.")
            for s in bad
        )

    good = plan(step("ok"))
    w = world(plan(step("bad")), PlanError("not a plan: }"), good, check=check)
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert w.planner.views[1].problems == ("Step 'bad', argument 'x': is bad. Mend it.",)
    assert w.planner.views[1].rejected == plan(step("bad"))
    assert w.planner.views[2].problems == ("Plan: not a plan: }",)
    assert w.steps.calls == ["r1/1.ok"]


def test_plan_that_is_never_right_fails_the_run_with_its_messages(run_virtually: Run):
    circle = Plan(steps=(step("a", "b"), step("b", "a")), outputs=("b",))
    w = world(*[circle] * 5)
    task = run_virtually(w.run())
    assert task.status == "failed"
    assert len(w.planner.views) == 3
    assert "waits for itself: a -> b -> a" in task.missing[0].why
    assert w.steps.calls == []


def test_planner_that_repeats_a_failing_call_is_told_and_then_stopped(run_virtually: Run):
    stubborn = plan(step("a"))
    w = world(*[stubborn] * 9, steps=FakeSteps(script={"a": ["no such file"] * 99}))
    task = run_virtually(w.run())
    assert task.status == "failed"
    assert task.epoch == 2
    assert "the same call has failed in 2 plans: no such file" in w.planner.views[-1].problems[0]


def test_no_plan_at_all_is_failed_and_says_so(run_virtually: Run):
    task = run_virtually(world(None).run())
    assert task.status == "failed"
    assert "no plan for this goal" in task.missing[0].why


def test_number_of_plans_is_bounded(run_virtually: Run):
    plans = [plan(step(f"s{n}")) for n in range(9)]
    task = run_virtually(world(*plans, options=RunOptions(max_epochs=3)).run())
    assert task.epoch == 3
    assert task.status == "partial"
    assert "limit of 3 plans" in task.missing[0].why


def test_bug_of_a_planner_is_raised_and_recorded(run_virtually: Run):
    w = world(plan(step("a")), ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        run_virtually(w.run())
    assert w.task.status == "partial"
    assert "ValueError: boom" in w.task.missing[0].why


# -- approval


def yes(by: str = "alice") -> Decision:
    return Decision(approved=True, by=by)


def test_sending_waits_for_approval_and_others_do_not(run_virtually: Run):
    approver = FakeApprover({"mail": [yes()]}, seconds=10)
    w = world(plan(step("mail", tool="send"), step("b"), step("c", "b")), approver=approver)
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert w.story()[2:5] == ["mail waiting_approval", "approval", "b running"]
    assert task.record("c").ended < task.record("mail").started
    assert approver.requests[0].tool == "send"


def test_two_approvals_are_asked_at_once(run_virtually: Run):
    approver = FakeApprover({"one": [yes()], "two": [yes()]}, seconds=10)
    w = world(plan(step("one", tool="send"), step("two", tool="exec")), approver=approver)
    run_virtually(w.run())
    assert w.story()[2:6] == [
        "one waiting_approval", "approval", "two waiting_approval", "approval",
    ]  # fmt: skip


def test_denied_step_is_failed_data_for_the_planner(run_virtually: Run):
    approver = FakeApprover({"mail": [Decision(approved=False, by="bob", note="wrong address")]})
    w = world(plan(step("mail", tool="send")), plan(step("file", tool="write")), approver=approver)
    task = run_virtually(w.run())
    assert w.steps.calls == ["r1/2.file"]
    assert w.planner.views[1].failures[0].error == "The call was denied by bob: wrong address"
    assert w.planner.views[1].failures[0].error_kind == "denied"
    assert task.status == "succeeded"


def test_policy_that_denies_asks_nobody(run_virtually: Run):
    approver = FakeApprover({})
    options = RunOptions(policy=ApprovalPolicy(tools={"send": "deny"}))
    w = world(plan(step("mail", tool="send")), approver=approver, options=options)
    task = run_virtually(w.run())
    assert task.record("mail").error_kind == "denied"
    assert approver.requests == []


@pytest.mark.parametrize("approver", [None, FakeApprover({"mail": [None]})])
def test_run_waits_when_nobody_can_be_asked_and_goes_on_later(
    run_virtually: Run, approver: FakeApprover | None
):
    # langgraph#6792: after the approval, earlier steps ran again.
    the_plan = plan(step("a"), step("mail", "a", tool="send"), step("end", "mail"), step("z"))
    w = world(the_plan, approver=approver)
    task = run_virtually(w.run())
    assert task.status == "waiting"
    assert w.states() == {
        "a": "succeeded", "mail": "waiting_approval", "end": "pending", "z": "succeeded",
    }  # fmt: skip
    later = world(
        task=Task.from_json(json.loads(json.dumps(task.to_json()))),
        approver=FakeApprover({"mail": [yes()]}),
    )
    again = run_virtually(later.run())
    assert again.status == "succeeded"
    assert later.steps.calls == ["r1/1.mail", "r1/1.end"]


def test_person_may_order_another_try_of_a_failed_step(run_virtually: Run):
    approver = FakeApprover({"a": [yes(), Decision(approved=False)]})
    w = world(
        plan(step("a", on_failure="ask")),
        steps=FakeSteps(script={"a": ["one", "two"]}, retries=0),
        approver=approver,
    )
    task = run_virtually(w.run())
    assert [request.error for request in approver.requests] == ["one", "two"]
    assert task.record("a").state == "failed"
    assert task.record("a").attempts == 2
    assert task.record("a").error == "two"


# -- ending


def test_cancel_leaves_a_truthful_record(run_virtually: Run):
    approver = FakeApprover({"mail": [yes()]}, seconds=99)
    w = world(
        plan(step("a"), step("slow", "a"), step("mail", tool="send"), step("end", "slow")),
        steps=FakeSteps(seconds={"slow": 50}),
        approver=approver,
    )

    async def run() -> Task:
        running = asyncio.ensure_future(w.run())
        await asyncio.sleep(10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return w.task

    task = run_virtually(run())
    assert task.status == "cancelled"
    assert w.states() == {
        "a": "succeeded", "slow": "cancelled", "mail": "cancelled", "end": "cancelled",
    }  # fmt: skip
    assert w.steps.ended == ["r1/1.a"]
    assert w.story()[-1] == "run_ended"
    assert task.results()["a"].value == {"step": "a", "from": []}
    assert json.loads(w.saved[-1])["status"] == "cancelled"


def test_cancelled_effect_is_said_to_have_perhaps_happened(run_virtually: Run):
    w = world(plan(step("a", tool="write")), steps=FakeSteps(seconds={"a": 50}))

    async def run() -> Task:
        running = asyncio.ensure_future(w.run())
        await asyncio.sleep(10)
        running.cancel()
        await asyncio.wait([running])
        return w.task

    assert "may have happened" in run_virtually(run()).record("a").error


def test_cancel_while_planning_is_recorded(run_virtually: Run):
    w = world()

    async def never(view: TaskView, /) -> Plan | None:
        await asyncio.sleep(1e9)
        return None

    w.planner.plan = never  # type: ignore[method-assign]

    async def run() -> Task:
        running = asyncio.ensure_future(w.run())
        await asyncio.sleep(10)
        running.cancel()
        await asyncio.wait([running])
        return w.task

    assert run_virtually(run()).status == "cancelled"


def test_time_limit_ends_what_runs_and_keeps_what_was_made(run_virtually: Run):
    w = world(
        plan(step("a"), step("slow"), step("end", "slow"), outputs=("a", "end")),
        steps=FakeSteps(seconds={"slow": 1000}),
        options=RunOptions(time_limit_s=60),
    )
    task = run_virtually(w.run())
    assert w.states() == {"a": "succeeded", "slow": "cancelled", "end": "cancelled"}
    assert task.status == "partial"
    assert task.ended == "2026-11-30T00:01:00.000Z"
    assert any("time limit of 60 s" in missing.why for missing in task.missing)


def test_rollback_undoes_effects_last_first_and_lists_what_it_could_not(run_virtually: Run):
    w = world(
        plan(
            step("one", tool="write_undoable"),
            step("two", "one", tool="write_undoable"),
            step("fixed", "two", tool="write"),
            step("ship", "fixed", on_failure="rollback"),
            step("after", "ship"),
        ),
        steps=FakeSteps(script={"ship": ["refused"] * 3}),
    )
    task = run_virtually(w.run())
    assert task.status == "rolled_back"
    assert w.steps.undone == ["r1/1.two", "r1/1.one"]
    assert w.states() == {
        "one": "compensated", "two": "compensated", "fixed": "succeeded", "ship": "failed",
        "after": "cancelled",
    }  # fmt: skip
    assert "could not be undone: 'fixed' (write)" in task.stop.why  # type: ignore[union-attr]


def test_step_left_running_by_a_dead_process_is_repeated_only_if_its_effect_allows(
    run_virtually: Run,
):
    task = Task(id="r1", goal="g", status="running")
    task.add_plan(plan(step("read", tool="read"), step("mail", tool="send"), step("end", "mail")))
    for name in ("read", "mail"):
        record = task.record(name)
        task.update_step(StepRecord(**{**record.__dict__, "state": "running"}))
    w = world(task=task)
    run_virtually(w.run())
    assert w.steps.calls == ["r1/1.read"]
    assert w.states() == {"read": "succeeded", "mail": "unknown", "end": "blocked"}
    assert task.status == "partial"


def test_ended_task_is_not_executed_again(run_virtually: Run):
    w = world(plan(step("a")))
    run_virtually(w.run())
    with pytest.raises(ValueError, match="has ended"):
        run_virtually(w.run())


# -- random graphs


@st.composite
def worlds(draw: st.DrawFn, most: int = 200) -> tuple[Plan, FakeSteps, int]:
    """A random DAG of up to 200 steps, with random durations (many ties) and failures."""
    chance = seeded(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, most))
    steps: list[Step] = []
    for n in range(count):
        before = [s.id for s in steps[-12:]]
        needs = chance.sample(before, min(len(before), chance.choice([0, 1, 1, 2, 3])))
        policy = chance.choice(["replan", "replan", "replan", "skip"])
        steps.append(step(f"s{n}", *needs, on_failure=policy))
    chance.shuffle(steps)
    script: dict[str, list[object]] = {
        s.id: ["x"] * chance.choice([1, 3]) for s in steps if chance.random() < 0.1
    }
    seconds = {s.id: chance.choice([0, 1, 1, 2, 3.5]) for s in steps}
    return plan(*steps), FakeSteps(seconds=seconds, script=script), chance.randint(1, 9)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(worlds())
def test_random_graphs_end_with_every_step_in_a_final_state(
    run_virtually: Run, made: tuple[Plan, FakeSteps, int]
):
    the_plan, steps, parallel = made
    script = {name: list(texts) for name, texts in steps.script.items()}
    runs: list[World] = []
    for _ in range(2):
        fresh = FakeSteps(seconds=steps.seconds, script={n: list(t) for n, t in script.items()})
        w = world(the_plan, steps=fresh, options=RunOptions(max_parallel=parallel))
        w.save = lambda task: None  # type: ignore[method-assign]
        run_virtually(w.run())
        runs.append(w)
    first, second = runs
    assert first.story() == second.story()
    assert first.task.to_json() == second.task.to_json()
    _check_order(first, the_plan)


def _check_order(w: World, the_plan: Plan) -> None:
    states = w.states()
    assert not OPEN_STATES & set(states.values())
    assert len(w.task.ended_order) == len(set(w.task.ended_order)) == len(the_plan.steps)
    done: set[str] = set()
    for event in w.events:
        if event.kind != "step_state":
            continue
        name, state = str(event.data["step"]), event.data["state"]
        if state == "running":
            needs = the_plan.step(name).depends_on
            assert all(need in done for need in needs)
        if state == "succeeded":
            done.add(name)
    for name, state in states.items():
        needed = {states[need] for need in the_plan.step(name).depends_on}
        if state == "succeeded":
            assert needed <= {"succeeded"}
        if state == "blocked":
            assert needed & {"failed", "blocked"}
    json.dumps(w.task.to_json())


# -- which stop stands


def test_later_failure_does_not_cancel_a_rollback(run_virtually: Run):
    w = world(
        plan(
            step("made", tool="write_undoable"),
            step("first", "made", on_failure="rollback"),
            step("second", "made", on_failure="fail"),
        ),
        steps=FakeSteps(
            seconds={"first": 1, "second": 5},
            script={"first": ["refused"], "second": ["no"]},
            retries=0,
        ),
    )
    task = run_virtually(w.run())
    assert task.status == "rolled_back"
    assert w.steps.undone == ["r1/1.made"]
    assert "'first' failed" in task.stop.why  # type: ignore[union-attr]


def test_rollback_outranks_an_earlier_failure_and_a_time_limit(run_virtually: Run):
    w = world(
        plan(
            step("made", tool="write_undoable"),
            step("first", "made", on_failure="fail"),
            step("second", "made", on_failure="rollback"),
            step("slow"),
        ),
        steps=FakeSteps(
            seconds={"second": 5, "slow": 100},
            script={"first": ["no"], "second": ["refused"]},
            retries=0,
        ),
        options=RunOptions(time_limit_s=20),
    )
    task = run_virtually(w.run())
    assert task.status == "rolled_back"
    assert w.steps.undone == ["r1/1.made"]


def test_cancellation_never_claims_a_rollback(run_virtually: Run):
    w = world(
        plan(step("made", tool="write_undoable"), step("bad", on_failure="rollback"), step("slow")),
        steps=FakeSteps(seconds={"slow": 100}, script={"bad": ["refused"]}, retries=0),
    )

    async def run() -> Task:
        running = asyncio.ensure_future(w.run())
        await asyncio.sleep(10)
        running.cancel()
        await asyncio.wait([running])
        return w.task

    task = run_virtually(run())
    assert task.status == "cancelled"
    assert "The rollback was not finished." in task.stop.why  # type: ignore[union-attr]


def test_nobody_is_asked_once_the_run_stops(run_virtually: Run):
    approver = FakeApprover({"late": [Decision(approved=True)]})
    w = world(
        plan(step("bad", on_failure="fail"), step("late", on_failure="ask")),
        steps=FakeSteps(seconds={"late": 5}, script={"bad": ["no"], "late": ["no"]}, retries=0),
        approver=approver,
    )
    run_virtually(w.run())
    assert approver.requests == []
    assert w.states() == {"bad": "failed", "late": "failed"}


def test_rollback_names_effects_that_may_have_happened(run_virtually: Run):
    w = world(
        plan(
            step("mail", tool="write_undoable"),
            step("refused", tool="send"),
            step("read", tool="read", on_failure="skip"),
            step("bad", on_failure="rollback"),
            step("never", "bad", tool="write"),
            step("slow", tool="exec"),
        ),
        steps=FakeSteps(
            seconds={"bad": 5, "slow": 100},
            script={"mail": ["timed out"], "read": ["no"], "bad": ["no"]},
            retries=0,
        ),
        options=RunOptions(
            policy=ApprovalPolicy(effects={"send": "deny", "exec": "allow"}), time_limit_s=50
        ),
    )
    task = run_virtually(w.run())
    assert task.status == "rolled_back"
    why = task.stop.why  # type: ignore[union-attr]
    assert "their effects may have happened" in why
    assert "'mail' (write_undoable, failed)" in why
    assert "'slow' (exec, cancelled)" in why
    assert not any(f"'{name}' (" in why for name in ("refused", "read", "never", "bad"))


def test_time_limit_ends_a_planner(run_virtually: Run):
    w = world(options=RunOptions(time_limit_s=60))
    ended: list[str] = []

    async def never(_view: TaskView) -> Plan | None:
        try:
            await asyncio.sleep(10_000)
        except asyncio.CancelledError:
            ended.append("planner")
            raise
        return None

    w.planner.plan = never  # type: ignore[method-assign]
    task = run_virtually(w.run())
    assert ended == ["planner"]
    assert (task.status, task.ended) == ("failed", "2026-11-30T00:01:00.000Z")
    assert any("time limit of 60 s while plan 1" in missing.why for missing in task.missing)
