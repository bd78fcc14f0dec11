"""How the engine asks for plans: results seen, problems handed back, bounded tries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_doubles import FakeSteps, Run, plan, step, world

from planloom.engine.execution import RunOptions
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.protocols import StepCall, StepOutcome, TaskView
from planloom.engine.task import StepResult
from planloom.errors import PlanError


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


def test_steps_that_are_done_are_not_repeated_in_whatever_order_they_are_written(
    run_virtually: Run,
):
    made = (step("a"), step("b", "a"), step("mail", "b", tool="write"))
    w = world(plan(*made), plan(*reversed(made), step("end", "mail")))
    task = run_virtually(w.run())
    assert w.steps.calls == ["r1/1.a", "r1/1.b", "r1/1.mail", "r1/2.end"]
    assert task.status == "succeeded"


def test_step_is_repeated_when_the_result_that_it_used_is_another_now(run_virtually: Run):
    changed = Step(id="a", tool="read", input={"n": 2})
    w = world(plan(step("a"), step("b", "a")), plan(changed), plan(step("b", "a")))

    async def run(call: StepCall, /) -> StepOutcome:
        w.steps.calls.append(call.key)
        return StepOutcome(result=StepResult(tool=call.step.tool, value=call.key))

    w.steps.run = run  # type: ignore[method-assign]
    run_virtually(w.run())
    assert w.steps.calls == ["r1/1.a", "r1/1.b", "r1/2.a", "r1/3.b"]


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


def test_advice_to_the_planner_is_not_told_to_the_user(run_virtually: Run):
    def check(_plan: Plan, _view: TaskView) -> tuple[PlanProblem, ...]:
        return (PlanProblem(
            severity="error", step="a", argument="", what="no such tool.", mend="Call b()."
        ),)  # fmt: skip

    w = world(*[plan(step("a"))] * 9, check=check)
    task = run_virtually(w.run())
    assert w.planner.views[1].problems == ("Step 'a': no such tool. Call b().",)
    assert task.missing[-1].why.endswith("Step 'a': no such tool.")


def test_planner_that_repeats_a_failing_call_is_told_and_then_stopped(run_virtually: Run):
    stubborn = plan(step("a"))
    w = world(*[stubborn] * 9, steps=FakeSteps(script={"a": ["no such file"] * 99}))
    task = run_virtually(w.run())
    assert task.status == "failed"
    assert task.epoch == 2
    assert "the same call has failed in 2 plans: no such file" in w.planner.views[-1].problems[0]


def test_same_call_twice_in_one_plan_has_failed_in_one_plan(run_virtually: Run):
    twins = plan(Step(id="a", tool="read"), Step(id="b", tool="read"))
    w = world(twins, twins, steps=FakeSteps(script={name: ["busy"] for name in "ab"}, retries=0))
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert task.epoch == 2


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


def test_number_of_plans_is_bounded_also_where_a_planner_calls_them_incomplete(run_virtually: Run):
    plans = [replace(plan(step(f"a{n}")), complete=False) for n in range(9)]
    w = world(*plans, options=RunOptions(max_epochs=2))
    task = run_virtually(w.run())
    assert [p.complete for p in task.plans] == [True, True]
    assert task.stop
    assert task.stop.kind == "epochs"


def test_planner_that_says_its_finished_plan_again_is_done(run_virtually: Run):
    the_plan = plan(step("a"), step("mail", "a", tool="write"))
    w = world(*[the_plan] * 9)
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert len(w.planner.views) == 2
    assert w.steps.calls == ["r1/1.a", "r1/1.mail"]


def test_plan_that_failed_and_is_said_again_is_no_finished_one(run_virtually: Run):
    w = world(*[plan(step("a", on_failure="skip"))] * 2, None)
    w.steps.script = {"a": ["no"] * 3}
    task = run_virtually(w.run())
    assert len(task.plans) == 2
    assert task.status == "succeeded"


def test_planner_is_not_asked_for_a_plan_that_could_not_run(run_virtually: Run):
    plans = [plan(Step(id=f"s{n}", tool="read", input={"n": n})) for n in range(9)]
    failing = FakeSteps(script={f"s{n}": ["no such file"] for n in range(9)}, retries=0)
    w = world(*plans, steps=failing, options=RunOptions(max_epochs=3))
    task = run_virtually(w.run())
    assert task.epoch == 3
    assert len(w.planner.views) == 3
    assert any("limit of 3 plans" in missing.why for missing in task.missing)


def test_bug_of_a_planner_is_raised_and_recorded(run_virtually: Run):
    w = world(plan(step("a")), ValueError("boom"))
    with pytest.raises(ValueError, match="boom"):
        run_virtually(w.run())
    assert w.task.status == "partial"
    assert "ValueError: boom" in w.task.missing[0].why
