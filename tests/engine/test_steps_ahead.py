"""Steps that run while their plan is still being written: overlap, refused plans, true records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from engine_doubles import (
    FakeApprover,
    FakeSteps,
    Run,
    World,
    plan,
    seeded,
    step,
    yes,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planloom.engine.approval import ApprovalPolicy
from planloom.engine.execution import RunOptions
from planloom.engine.json_value import JsonObject
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.protocols import StepCall, StepOutcome, TaskView
from planloom.engine.runtime import InMemoryRuntime
from planloom.engine.task import OPEN_STATES, Task, latest_complete
from planloom.errors import BudgetExhaustedError, ModelError, PlanError

Answer = Plan | Exception | None


@dataclass
class Writing:
    """One reply of a planner: a step is told every `pause_s`, the answer comes one pause later."""

    told: tuple[Step, ...]
    answer: Answer
    pause_s: float = 1.0


@dataclass
class TellingPlanner:
    writings: list[Writing]
    views: list[TaskView] = field(default_factory=list[TaskView])
    tells: bool = True

    async def plan(self, view: TaskView, /) -> Plan | None:
        self.views.append(view)
        if not self.writings:
            return None
        writing = self.writings.pop(0)
        for told in writing.told:
            await asyncio.sleep(writing.pause_s)
            if view.ahead and self.tells:
                view.ahead(told)
        await asyncio.sleep(writing.pause_s)
        if isinstance(writing.answer, Exception):
            raise writing.answer
        return writing.answer


def writing(*steps: Step, **changes: object) -> Writing:
    """A plan that is told whole and then returned; a step every second."""
    return Writing(told=steps, answer=plan(*steps), **changes)  # type: ignore[arg-type]


def world(*writings: Writing, **changes: object) -> World:
    steps = changes.pop("steps", None) or FakeSteps()
    planner = TellingPlanner(list(writings))
    return World(planner=planner, steps=steps, **changes)  # type: ignore[arg-type]


def second(w: World, step_id: str, epoch: int = 1) -> float:
    """When a step started, in seconds of the run."""
    return float(w.task.record(step_id, epoch).started[17:23])


LEVELS = (step("a"), step("b", "a"), step("c", "b"), step("d", "c"))


# -- overlap


def test_three_levels_run_while_the_plan_is_written(run_virtually: Run):
    w = world(writing(*LEVELS, pause_s=1), steps=FakeSteps(seconds=dict.fromkeys("abc", 0.5)))
    task = run_virtually(w.run())
    assert [second(w, name) for name in "abcd"] == [1, 2, 3, 4]
    assert task.ended == "2026-11-30T00:00:05.000Z"  # d needs no longer than the end of the plan
    assert task.status == "succeeded"
    assert list(task.outputs) == ["d"]
    assert task.epoch == 1
    assert task.plans[0].complete


def test_dependants_start_as_their_inputs_come_not_as_they_are_told(run_virtually: Run):
    told = (*LEVELS, *(step(f"x{n}") for n in range(10)))
    w = world(writing(*told, pause_s=0.1), steps=FakeSteps(seconds=dict.fromkeys("abc", 0.3)))
    run_virtually(w.run())
    assert [second(w, name) for name in "abcd"] == pytest.approx([0.1, 0.4, 0.7, 1.0])


def test_same_plan_without_telling_starts_nothing_early(run_virtually: Run):
    w = world(writing(*LEVELS))
    w.planner.tells = False  # type: ignore[attr-defined]
    task = run_virtually(w.run())
    assert second(w, "a") == 5
    assert w.story()[:3] == ["run_started", "plan", "a running"]
    assert task.status == "succeeded"


def test_record_and_result_are_those_of_a_plan_that_came_whole(run_virtually: Run):
    runs = [world(writing(*LEVELS, step("e", tool="write"), step("f", "a"))) for _ in range(2)]
    runs[1].planner.tells = False  # type: ignore[attr-defined]
    early, whole = (run_virtually(w.run()).to_json() for w in runs)
    assert [r["step"] for r in early["records"]] == [r["step"] for r in whole["records"]]  # type: ignore[index,union-attr,call-overload]
    assert early["plans"] == whole["plans"]
    assert runs[0].task.outputs.keys() == runs[1].task.outputs.keys()


def test_no_more_steps_run_at_once_than_allowed_while_writing(run_virtually: Run):
    told = tuple(step(f"s{n}") for n in range(6))
    options = RunOptions(max_parallel=2)
    w = world(
        writing(*told, pause_s=0.1),
        steps=FakeSteps(seconds={s.id: 10 for s in told}),
        options=options,
    )
    run_virtually(w.run())
    assert [round(second(w, s.id)) for s in told] == [0, 0, 10, 10, 20, 20]


@pytest.mark.parametrize("tool", ["write", "send", "exec", "pure_asking", "nonsense"])
def test_what_changes_the_world_or_needs_a_word_waits_for_the_whole_plan(
    run_virtually: Run, tool: str
):
    options = RunOptions(policy=ApprovalPolicy(tools={"pure_asking": "ask"}))
    approver = FakeApprover({"gated": [yes()]}, seconds=0)
    told = (step("gated", tool=tool), step("after", "gated"), step("free", tool="read"))
    w = world(writing(*told), options=options, approver=approver)
    run_virtually(w.run())
    assert second(w, "free") == 3
    assert all(
        record.started == "" or record.started >= "2026-11-30T00:00:04.000Z"
        for record in w.task.records.values()
        if record.step != "free"
    )


def test_step_told_before_one_that_it_needs_starts_after_it(run_virtually: Run):
    w = world(writing(step("b", "a"), step("a"), step("z"), pause_s=2))
    run_virtually(w.run())
    assert (second(w, "a"), second(w, "b")) == (4, 5)


def test_step_that_does_not_pass_the_check_alone_does_not_start(run_virtually: Run):
    def check(the_plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        return tuple(
            PlanProblem(severity="error", step=s.id, argument="", what="is bad.", mend="")
            for s in the_plan.steps
            if s.id.startswith("bad")
        )

    bad, good = step("bad"), step("good")
    w = world(writing(bad, step("c", "bad"), good), writing(good), check=check)
    task = run_virtually(w.run())
    assert w.steps.calls == ["r1/1.good"]
    assert task.status == "succeeded"
    assert task.record("good").taken_over


def test_second_step_of_one_id_does_not_start(run_virtually: Run):
    w = world(writing(step("a"), step("A"), step("a", tool="read")), writing(step("a")))
    run_virtually(w.run())
    assert w.steps.calls == ["r1/1.a"]


# -- plans that do not pass


def mended_after(answer: Answer, run_virtually: Run, **changes: object) -> World:
    """Tell a and b, then answer what is no good plan; the mended plan repeats a and adds c."""
    first = Writing(told=(step("a"), step("b", "a")), answer=answer)
    w = world(first, writing(step("a"), step("c", "a")), **changes)
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    return w


REFUSED = [
    pytest.param(plan(step("a"), step("b", "a"), step("x", "nothing")), id="does not pass"),
    pytest.param(PlanError("line 3 cannot be read"), id="no plan"),
    pytest.param(ModelError("the stream broke off", transient=True), id="cut stream"),
    pytest.param(None, id="nothing after its first steps"),
]


@pytest.mark.parametrize("answer", REFUSED)
def test_refused_plan_keeps_what_was_made(run_virtually: Run, answer: Answer):
    w = mended_after(answer, run_virtually)
    assert w.steps.calls == ["r1/1.a", "r1/1.b", "r1/2.c"]
    assert [(p.complete, p.outputs) for p in w.task.plans] == [(False, ()), (True, ("c",))]
    assert w.task.record("a", 2).taken_over
    assert len(w.planner.views) == 3  # the last one finds nothing left to do
    view = w.planner.views[1]
    assert view.epoch == 2
    assert view.problems
    assert view.results["a"].value == {"step": "a", "from": []}


def test_steps_of_a_refused_plan_go_on_while_it_is_mended(run_virtually: Run):
    w = mended_after(
        PlanError("no"), run_virtually, steps=FakeSteps(seconds={"a": 10, "b": 1, "c": 1})
    )
    # a runs from 1 to 11; the mended plan is there at 6 and waits for it; b never started.
    assert w.steps.calls == ["r1/1.a", "r1/2.c"]
    assert w.task.record("b", 1).state == "cancelled"
    assert w.task.record("b", 1).error.startswith("Not started. The plan that it belongs to")
    assert w.task.record("a", 2).taken_over
    assert second(w, "c", 2) == 11


def test_told_steps_of_a_mended_plan_start_when_those_of_the_refused_have_ended(
    run_virtually: Run,
):
    late = (step("a"), *(step(f"c{n}", "a") for n in range(20)))
    w = world(
        Writing(told=(step("a"),), answer=PlanError("no")),
        writing(*late),
        steps=FakeSteps(seconds={"a": 8}),
    )
    run_virtually(w.run())
    assert second(w, "c0", 2) == 9  # a ended then; the plan is written until 23
    assert w.task.record("a", 2).taken_over


def test_tries_are_bounded_when_each_starts_steps(run_virtually: Run):
    tries = [Writing(told=(step(f"s{n}"),), answer=PlanError(f"no {n}")) for n in range(9)]
    w = world(*tries, options=RunOptions(max_plan_tries=3))
    task = run_virtually(w.run())
    assert len(w.planner.views) == 3
    assert task.status == "partial"
    assert [record.step for record in task.kept] == ["s0", "s1", "s2"]
    assert "No plan passed its check in 3 tries" in task.missing[-1].why
    assert [p.complete for p in task.plans] == [False, False, False]


def test_refused_plans_do_not_use_up_the_number_of_plans(run_virtually: Run):
    w = mended_after(PlanError("no"), run_virtually, options=RunOptions(max_epochs=1))
    assert w.task.record("c").state == "succeeded"


def test_finished_plan_that_is_told_again_ends_the_run(run_virtually: Run):
    w = world(*[writing(step("a"), step("b", "a")) for _ in range(9)])
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert len(w.planner.views) == 2
    assert w.steps.calls == ["r1/1.a", "r1/1.b"]


def test_nothing_starts_early_for_a_plan_over_the_limit(run_virtually: Run):
    w = world(writing(step("a")), writing(step("b")), options=RunOptions(max_epochs=1))
    task = run_virtually(w.run())
    assert w.steps.calls == ["r1/1.a"]
    assert task.status == "partial"


@pytest.mark.parametrize(
    "answer",
    [
        plan(step("a", tool="read"), step("c", "a")),
        plan(step("c")),
    ],
)
def test_plan_that_changes_what_it_told_is_run_as_a_plan_of_its_own(
    run_virtually: Run, answer: Plan
):
    w = world(Writing(told=(step("a"), step("slow"), step("end", "slow")), answer=answer))
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert [p.complete for p in task.plans] == [False, True]
    assert "c" in task.outputs


def test_later_step_that_hides_an_earlier_result_is_not_missed(run_virtually: Run):
    # "b" was told to use the a of plan 1; the whole plan says that it uses the new a.
    new = Step(id="a", tool="pure", input={"n": 1})
    w = world(writing(step("a")), writing(step("b", "a"), new))
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert w.steps.calls == ["r1/1.a", "r1/2.b", "r1/3.a", "r1/3.b"]


def test_failures_of_the_plan_before_stay_in_view(run_virtually: Run):
    w = world(
        writing(step("load"), step("chart", "load")),
        Writing(told=(step("other"),), answer=PlanError("no")),
        writing(step("table", "load")),
        steps=FakeSteps(script={"chart": ["no font"] * 3}),
    )
    run_virtually(w.run())
    assert [r.step for r in w.planner.views[2].failures] == ["chart"]


def test_early_failure_is_told_like_any_other(run_virtually: Run):
    w = world(
        writing(step("a"), step("b", "a"), step("z")),
        writing(step("c")),
        steps=FakeSteps(script={"a": ["no such file"]}, retries=0, seconds={"a": 0.1}),
    )
    task = run_virtually(w.run())
    assert [r.step for r in w.planner.views[1].failures] == ["a"]
    assert task.record("b", 1).state == "blocked"
    assert task.status == "succeeded"


# -- ends


def test_early_step_that_must_not_fail_ends_the_planner(run_virtually: Run):
    w = world(
        writing(step("slow"), step("a", on_failure="fail"), *(step(f"x{n}") for n in range(9))),
        steps=FakeSteps(script={"a": ["disk full"]}, retries=0, seconds={"slow": 5}),
    )
    task = run_virtually(w.run())
    assert w.task.record("slow").state == "succeeded"
    assert task.ended == "2026-11-30T00:00:06.000Z"
    assert task.status == "failed"
    assert task.missing[0].why == "disk full"


def test_cancel_while_writing_is_recorded(run_virtually: Run):
    w = world(
        writing(step("a"), step("slow"), *(step(f"x{n}", "slow") for n in range(99))),
        steps=FakeSteps(seconds={"slow": 1000}),
    )

    async def run() -> Task:
        running = asyncio.ensure_future(w.run())
        await asyncio.sleep(5.5)
        running.cancel()
        await asyncio.wait([running])
        return w.task

    task = run_virtually(run())
    assert task.status == "cancelled"
    assert w.states() == {
        "a": "succeeded", "slow": "cancelled", "x0": "cancelled", "x1": "cancelled",
        "x2": "cancelled",
    }  # fmt: skip
    assert not task.plans[0].complete
    assert json.loads(w.saved[-1])["status"] == "cancelled"
    assert w.story()[-1] == "run_ended"


def test_time_limit_while_writing_ends_planner_and_steps(run_virtually: Run):
    w = world(
        writing(step("a"), step("slow"), *(step(f"x{n}") for n in range(99))),
        steps=FakeSteps(seconds={"slow": 1000}),
        options=RunOptions(time_limit_s=10),
    )
    task = run_virtually(w.run())
    assert task.ended == "2026-11-30T00:00:10.000Z"
    assert task.record("slow").state == "cancelled"
    assert task.record("a").state == "succeeded"
    assert any("time limit of 10 s while" in missing.why for missing in task.missing)


def test_bug_of_a_planner_cancels_what_it_had_started(run_virtually: Run):
    w = world(
        Writing(told=(step("a"), step("slow")), answer=ValueError("boom")),
        steps=FakeSteps(seconds={"slow": 1000}),
    )
    with pytest.raises(ValueError, match="boom"):
        run_virtually(w.run())
    assert w.states() == {"a": "succeeded", "slow": "cancelled"}
    assert w.task.status == "failed"
    assert "ValueError: boom" in w.task.missing[-1].why


@pytest.mark.parametrize(
    ("error", "kind"),
    [(BudgetExhaustedError("0.10 of 0.10 spent"), "budget"), (ModelError("no reply"), "model")],
)
def test_planner_that_can_go_on_no_longer_lets_started_steps_end(
    run_virtually: Run, error: Exception, kind: str
):
    w = world(
        Writing(told=(step("a"), step("slow"), step("end", "slow")), answer=error),
        steps=FakeSteps(seconds={"slow": 20}),
    )
    task = run_virtually(w.run())
    assert w.states() == {"a": "succeeded", "slow": "succeeded", "end": "cancelled"}
    assert [(m.state, m.why) for m in task.missing] == [(kind, str(error))]


# -- records


def test_record_is_saved_before_an_early_step_runs(run_virtually: Run):
    w = world(writing(*LEVELS))
    seen: dict[str, tuple[str, bool]] = {}
    original: Callable[[StepCall], Awaitable[StepOutcome]] = w.steps.run

    async def run(call: StepCall, /) -> StepOutcome:
        saved = Task.from_json(json.loads(w.saved[-1]))
        seen[call.step.id] = (saved.record(call.step.id).state, saved.plans[-1].complete)
        return await original(call)

    w.steps.run = run  # type: ignore[method-assign]
    run_virtually(w.run())
    assert seen == {
        "a": ("running", False), "b": ("running", False), "c": ("running", False),
        "d": ("running", False),
    }  # fmt: skip


def test_run_that_was_killed_while_writing_goes_on_from_its_record(run_virtually: Run):
    w = world(writing(*LEVELS))
    kept: list[str] = []
    original: Callable[[StepCall], Awaitable[StepOutcome]] = w.steps.run

    async def run(call: StepCall, /) -> StepOutcome:
        if call.step.id == "c":
            kept.append(w.saved[-1])
        return await original(call)

    w.steps.run = run  # type: ignore[method-assign]
    run_virtually(w.run())
    task = Task.from_json(json.loads(kept[0]))
    assert not task.plans[0].complete
    later = world(writing(*LEVELS), task=task)
    again = run_virtually(later.run())
    assert again.status == "succeeded"
    assert later.steps.calls == ["r1/1.c", "r1/2.d"]  # a and b are done, c was in the middle


def test_events_tell_the_steps_that_start_early_and_then_the_whole_plan(run_virtually: Run):
    w = world(writing(step("a"), step("b", "a"), step("mail", "b", tool="write")))
    run_virtually(w.run())
    told = [
        (e.data["accepted"], e.data["plan"]["complete"], [s["id"] for s in e.data["plan"]["steps"]])  # type: ignore[index]
        for e in w.events
        if e.kind == "plan"
    ]
    assert told == [
        (True, False, ["a"]), (True, False, ["b"]), (True, True, ["a", "b", "mail"]),
    ]  # fmt: skip
    assert all(e.data["epoch"] == 1 for e in w.events if e.kind == "plan")
    story = w.story()
    assert story.index("plan") < story.index("a running")


class ReplayingRuntime(InMemoryRuntime):
    """Gives the planner's recorded replies, as a durable runtime does after a crash."""

    def __init__(self, replies: dict[str, JsonObject]):
        super().__init__()
        self.replies = replies

    async def record(self, name: str, work: Callable[[], Awaitable[JsonObject]], /) -> JsonObject:
        if name not in self.replies:
            self.replies[name] = await super().record(name, work)
        return self.replies[name]


def test_nothing_starts_early_on_a_replay(run_virtually: Run):
    runtime = ReplayingRuntime({})
    first = world(writing(*LEVELS), runtime=runtime)
    run_virtually(first.run())
    replies = {name: reply for name, reply in runtime.replies.items() if name.startswith("plan.")}
    again = world(runtime=ReplayingRuntime(dict(replies)))
    task = run_virtually(again.run())
    assert again.planner.views == []
    assert again.story()[:3] == ["run_started", "plan", "a running"]
    assert task.outputs == first.task.outputs


def test_told_step_starts_without_waiting_for_a_timer():
    class CountingLoop(asyncio.SelectorEventLoop):
        timers = 0

        def call_at(self, *args: object, **kwargs: object) -> asyncio.TimerHandle:  # type: ignore[override]
            self.timers += 1
            return super().call_at(*args, **kwargs)  # type: ignore[arg-type]

    async def run() -> None:
        started = asyncio.Event()
        w = world()

        async def write(view: TaskView, /) -> Plan | None:
            if view.epoch > 1:
                return None
            assert view.ahead
            view.ahead(step("a"))
            await started.wait()  # would hang for ever if the step waited for the plan
            return plan(step("a"))

        async def work(call: StepCall, /) -> StepOutcome:
            started.set()
            return await FakeSteps(seconds={"a": 0}).run(call)

        w.planner.plan = write  # type: ignore[method-assign]
        w.steps.run = work  # type: ignore[method-assign]
        await w.run()

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(run())
        assert runner.get_loop().timers == 0  # type: ignore[attr-defined]


# -- random plans


@st.composite
def told_plans(draw: st.DrawFn) -> tuple[Writing, FakeSteps, int]:
    """A random plan told in any order, some of it with effects, some failing, with odd answers."""
    chance = seeded(draw(st.integers(0, 2**32)))
    steps: list[Step] = []
    for n in range(chance.randint(1, 25)):
        needs = chance.sample(
            [s.id for s in steps[-6:]], min(len(steps[-6:]), chance.randint(0, 2))
        )
        tool = chance.choice(["pure", "pure", "read", "write"])
        policy = chance.choice(["replan", "replan", "skip"])
        steps.append(step(f"s{n}", *needs, tool=tool, on_failure=policy))
    chance.shuffle(steps)
    whole = plan(*steps)
    answer = chance.choice([whole, whole, PlanError("no"), plan(*steps[: len(steps) // 2 + 1])])
    script: dict[str, list[object]] = {s.id: ["x"] * 9 for s in steps if chance.random() < 0.1}
    seconds = {s.id: chance.choice([0, 0.1, 1, 5]) for s in steps}
    pause = chance.choice([0, 0.01, 0.5])
    told = Writing(told=tuple(steps), answer=answer, pause_s=pause)
    return told, FakeSteps(seconds=seconds, script=script), chance.randint(1, 5)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(told_plans())
def test_random_told_plans_end_as_if_they_had_come_whole(
    run_virtually: Run, made: tuple[Writing, FakeSteps, int]
):
    told, steps, parallel = made
    whole = writing(*told.told)
    ends: list[dict[str, str]] = []
    for tells in (True, False):
        script = {name: list(texts) for name, texts in steps.script.items()}
        w = world(
            Writing(told=told.told, answer=told.answer, pause_s=told.pause_s),
            whole,
            steps=FakeSteps(seconds=steps.seconds, script=script),
            options=RunOptions(max_parallel=parallel),
        )
        w.save = lambda _task: None  # type: ignore[method-assign]
        w.planner.tells = tells  # type: ignore[attr-defined]
        task = run_virtually(w.run())
        assert not OPEN_STATES & {record.state for record in task.records.values()}
        assert len(set(task.ended_order)) == len(task.ended_order) == len(task.records)
        # What changes the world never starts for a plan that did not come whole.
        assert all(
            record.tool != "write" or task.plans[record.epoch - 1].complete
            for record in task.records.values()
        )
        succeeded = [key for key in w.steps.ended if task.records[key].state == "succeeded"]
        names = [key.rpartition(".")[2] for key in succeeded]
        if not steps.script:
            assert len(names) == len(set(names))  # nothing is done twice
        number = latest_complete(task.plans)
        ends.append({r.step: r.state for r in task.records.values() if r.epoch == number})
    # A failed step is tried in each plan that holds it, and a refused plan is one more of them;
    # half a plan may use what was told of the other half.
    if not steps.script and (told.answer == whole.answer or isinstance(told.answer, PlanError)):
        assert ends[0] == ends[1]
