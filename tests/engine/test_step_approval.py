"""Steps that wait for a person: asked at once, denied, taken up in a later process."""

from __future__ import annotations

import json

import pytest
from engine_doubles import FakeApprover, FakeSteps, Run, plan, step, world, yes

from planloom.engine.approval import ApprovalPolicy, Decision
from planloom.engine.execution import RunOptions
from planloom.engine.plan import Step
from planloom.engine.stop_reasons import shortfalls
from planloom.engine.task import Task


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


def test_run_that_waits_names_the_call_and_how_to_approve_it(run_virtually: Run):
    mail = Step(id="mail", tool="send", input={"to": "a@b.example"})
    w = world(plan(mail, step("end", "mail")))
    task = run_virtually(w.run())
    assert task.status == "waiting"
    (said,) = shortfalls(Task.from_json(json.loads(json.dumps(task.to_json()))))
    assert 'send(to="a@b.example")' in said
    assert "approver=" in said


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
