"""How runs end early: cancellation, time limits, rollbacks, and which reason stands."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from engine_doubles import FakeApprover, FakeSteps, Run, plan, step, world, yes

from planloom.engine.approval import ApprovalPolicy, Decision
from planloom.engine.execution import RunOptions
from planloom.engine.plan import Plan
from planloom.engine.protocols import PlanningEndedError, TaskView
from planloom.engine.task import StepRecord, StepResult, Stop, Task
from planloom.errors import BudgetExhaustedError, ModelError


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


# -- nothing more may be spent, nothing more can be had


SPENT = BudgetExhaustedError("0.10 of 0.10 dollars spent.", zh="预算 0.10 美元已用完。")


def test_planner_without_budget_ends_the_run_with_what_was_made(run_virtually: Run):
    w = world(plan(step("a"), step("bad"), outputs=("a", "bad")), SPENT)
    w.steps.script = {"bad": ["no"] * 3}
    task = run_virtually(w.run())
    assert task.status == "partial"
    assert task.stop == Stop(kind="budget", why="0.10 of 0.10 dollars spent.")
    assert [m.step for m in task.missing] == ["bad", ""]


def test_reason_is_told_in_the_language_of_the_run(run_virtually: Run):
    task = run_virtually(world(SPENT, options=RunOptions(lang="zh")).run())
    assert task.status == "failed"
    assert task.missing[0].why == "预算 0.10 美元已用完。"


LIMITS = [SPENT, ModelError("The server is down.")]
NO_PLAN = PlanningEndedError("planning", "No plan that can be run was made.")


@pytest.mark.parametrize("ended", [*LIMITS, NO_PLAN])
def test_what_steps_made_makes_a_run_partial_without_an_output(
    run_virtually: Run, ended: Exception
):
    w = world(plan(step("a"), step("bad", "a")), ended)
    w.steps.script = {"bad": ["no"] * 3}
    task = run_virtually(w.run())
    assert task.outputs == {}
    assert task.status == "partial"
    assert [record.step for record in task.kept] == ["a"]
    assert w.events[-1].data["kept"] == ["r1/1.a"]


@pytest.mark.parametrize("ended", LIMITS)
def test_nothing_made_is_a_failure(run_virtually: Run, ended: Exception):
    w = world(plan(step("bad")), ended, steps=FakeSteps(script={"bad": ["no"] * 3}))
    assert run_virtually(w.run()).status == "failed"


@pytest.mark.parametrize(
    ("ended", "status"), [(LIMITS[0], "partial"), (LIMITS[1], "failed"), (NO_PLAN, "failed")]
)
def test_what_was_only_prepared_counts_where_a_limit_ended_the_run(
    run_virtually: Run, ended: Exception, status: str
):
    table = StepResult(tool="pure", artifacts=("1.a",))
    task = Task(id="r1", goal="g")
    task.add_plan(Plan(steps=(step("a"), step("b"))))
    for name, result in (("a", table), ("b", StepResult(tool="pure", value=1))):
        task.update_step(replace(task.record(name), state="succeeded", result=result))
    assert run_virtually(world(ended, task=task).run()).status == status
    assert [record.step for record in task.kept] == (["a"] if status == "partial" else [])


def test_steps_of_a_plan_that_never_came_whole_are_kept(run_virtually: Run):
    task = Task(id="r1", goal="g")
    task.add_plan(Plan(steps=(step("a"),), complete=False))
    result = StepResult(tool="pure", value=1)
    task.update_step(replace(task.record("a"), state="succeeded", result=result))
    assert run_virtually(world(ModelError("Gone."), task=task).run()).status == "partial"


def test_a_failed_step_is_no_limit(run_virtually: Run):
    w = world(plan(step("a"), step("bad", "a", on_failure="fail")))
    w.steps.script = {"bad": ["no"] * 3}
    assert run_virtually(w.run()).status == "failed"


def test_planner_without_a_model_ends_the_run(run_virtually: Run):
    task = run_virtually(world(ModelError("The server is down.", transient=True)).run())
    assert task.status == "failed"
    assert task.stop == Stop(kind="model", why="The server is down.")


def test_step_without_budget_lets_others_end_and_starts_nothing_more(run_virtually: Run):
    w = world(
        plan(step("a"), step("slow"), step("next", "a"), step("late", "slow")),
        plan(step("never")),
        steps=FakeSteps(
            script={"a": [BudgetExhaustedError("No tokens left.")]}, seconds={"slow": 9}
        ),
    )
    task = run_virtually(w.run())
    assert w.states() == {
        "a": "failed", "slow": "succeeded", "next": "cancelled", "late": "cancelled",
    }  # fmt: skip
    assert task.record("a").error_kind == "budget"
    assert task.record("a").attempts == 1
    assert task.stop == Stop(kind="budget", why="No tokens left.")
    assert len(w.planner.views) == 1


@pytest.mark.parametrize("policy", ["skip", "ask", "fail", "replan"])
def test_budget_stops_the_run_whatever_the_step_says(run_virtually: Run, policy: str):
    approver = FakeApprover({})
    w = world(
        plan(step("a", on_failure=policy)),
        plan(step("never")),
        steps=FakeSteps(script={"a": [BudgetExhaustedError("No tokens left.")]}),
        approver=approver,
    )
    assert run_virtually(w.run()).stop == Stop(kind="budget", why="No tokens left.")
    assert approver.requests == []


def test_rollback_comes_before_the_budget(run_virtually: Run):
    w = world(
        plan(
            step("made", tool="write_undoable"),
            step("a", "made", on_failure="rollback"),
            step("b", "made"),
        ),
        steps=FakeSteps(
            script={"a": ["no"] * 3, "b": [BudgetExhaustedError("No tokens left.")]}, retries=0,
            seconds={"a": 3},
        ),
    )  # fmt: skip
    task = run_virtually(w.run())
    assert task.status == "rolled_back"
    assert w.steps.undone == ["r1/1.made"]


def test_step_without_a_model_is_a_failure_to_plan_around(run_virtually: Run):
    w = world(
        plan(step("a")),
        plan(step("b")),
        steps=FakeSteps(script={"a": [ModelError("No usable reply.")]}),
    )
    task = run_virtually(w.run())
    assert w.planner.views[1].failures[0].error_kind == "model"
    assert w.steps.calls == ["r1/1.a", "r1/2.b"]
    assert task.status == "succeeded"


def test_declined_plan_ends_the_run_as_cancelled(run_virtually: Run):
    task = run_virtually(world(PlanningEndedError("declined", "The plan was declined.")).run())
    assert task.status == "cancelled"
    assert task.missing[0].why == "The plan was declined."


def test_plan_that_nobody_could_approve_waits_and_is_asked_for_again(run_virtually: Run):
    w = world(PlanningEndedError("unapproved", "Nobody could be asked."), plan(step("a")))
    task = run_virtually(w.run())
    assert (task.status, w.events[-1].data["status"]) == ("waiting", "waiting")
    assert task.missing[0].why == "Nobody could be asked."
    assert run_virtually(w.run()).status == "succeeded"


def test_reasons_of_the_engine_are_told_in_chinese(run_virtually: Run):
    w = world(
        plan(step("a"), step("slow", "a", tool="write")),
        steps=FakeSteps(seconds={"slow": 99}),
        options=RunOptions(time_limit_s=60, lang="zh"),
    )
    task = run_virtually(w.run())
    assert task.missing[-1].why == "运行已达到 60 秒的时限。"
    assert "其作用可能已经发生" in task.record("slow").error


def test_run_that_was_to_show_its_plan_has_succeeded(run_virtually: Run):
    ended = PlanningEndedError("plan_only", "Only the plan was wanted.")
    w = world(Plan(steps=(step("load"),)), ended)
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert task.missing == ()


def test_stops_are_read_back_from_the_record(run_virtually: Run):
    task = run_virtually(world(SPENT).run())
    assert Task.from_json(json.loads(json.dumps(task.to_json()))).stop == task.stop
