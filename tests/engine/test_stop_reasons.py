"""What a user is told of a run that ended early."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planloom.engine import stop_reasons
from planloom.engine.approval import ApprovalRequest
from planloom.engine.plan import Plan, Step
from planloom.engine.task import Stop, Task
from planloom.notes import Note

PROBLEMS = ["Step 'a': no such tool.", "Step 'b': no such column.", "Plan: too long."]


def test_the_first_problem_is_shown_and_the_others_are_counted():
    said = stop_reasons.never_passed(3, PROBLEMS)
    assert said.text("en") == (
        "No plan passed its check in 3 tries. Step 'a': no such tool. "
        "(2 more problems: see events.jsonl of the run.)"
    )
    assert said.text("zh") == (
        "计划共尝试 3 次，均未通过检查。Step 'a': no such tool."
        "（另有 2 个问题，见该次运行的 events.jsonl。）"
    )


def test_one_problem_needs_no_count_and_a_long_one_is_cut():
    assert stop_reasons.gave_up(PROBLEMS[:1]).text("en").endswith("no such tool.")
    assert len(stop_reasons.gave_up(["x" * 5000]).text("en")) < 400


@pytest.mark.parametrize(("seconds", "shown"), [(0.499914, "0.5 s"), (3600.0, "3600 s")])
def test_time_limits_are_shown_as_people_set_them(seconds: float, shown: str):
    assert f" {shown}." in stop_reasons.time_limit(seconds, planning=None).text("en")


def test_problems_are_no_templates():
    assert "{more} {{fact}}" in stop_reasons.gave_up(["{more} {{fact}}"]).text("en")


REQUEST = ApprovalRequest(
    key="r1/1.a", tool="mail", effect="send", description="", arguments={"to": "a@b.example"}
)


def stopped(why: str, errors: dict[str, str]) -> Task:
    """A task that was stopped, with the errors of its steps."""
    steps = tuple(Step(id=name, tool="t") for name in errors)
    task = Task(id="r1", goal="g", stop=Stop(kind="time_limit", why=why))
    task.add_plan(Plan(steps=steps, outputs=tuple(errors)))
    for name, error in errors.items():
        task.update_step(replace(task.record(name), state="cancelled", error=error))
    return task


def test_a_call_that_waits_is_named_with_the_ways_to_approve_it():
    said = stop_reasons.waits_for_approval(REQUEST, "a")
    for text in (said.text("en"), said.text("zh")):
        assert 'mail(to="a@b.example")' in text
        assert 'policy=ApprovalPolicy(tools=dict(mail="allow"))' in text
        assert all(way in text for way in ("approver=", "--allow send", "--yes"))


def test_each_reason_is_said_once():
    why = "The run reached its time limit of 1 s."
    errors = {"a": why, "b": f"Not started. {why}", "c": f"Not started. {why}", "d": "Gone."}
    assert stop_reasons.shortfalls(stopped(why, errors)) == (why, "Gone.")


def test_an_effect_that_may_have_happened_is_said_in_place_of_the_bare_reason():
    why = "The run was cancelled."
    may_have = stop_reasons.may_have_happened(why).text("en")
    assert stop_reasons.shortfalls(stopped(why, {"a": may_have})) == (may_have,)


@pytest.mark.parametrize(
    "said",
    [
        stop_reasons.cancelled(),
        stop_reasons.waits_for_approval(REQUEST, "a"),
        stop_reasons.cannot_go_on("full"),
        stop_reasons.bug("KeyError: 'x'"),
        stop_reasons.time_limit(1.5, planning=2),
        stop_reasons.step_failed("a", "no"),
        stop_reasons.too_many_plans(1),
        stop_reasons.no_plan(),
        stop_reasons.no_runnable_plan(PROBLEMS),
        stop_reasons.not_started("x"),
        stop_reasons.may_have_happened("x"),
    ],
)
def test_each_reason_is_whole_in_both_languages(said: Note):
    for lang in ("en", "zh"):
        assert "{" not in said.text(lang)
