"""What a user is told of a run that ended early."""

from __future__ import annotations

import pytest

from planloom.engine import stop_reasons
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


@pytest.mark.parametrize(
    "said",
    [
        stop_reasons.cancelled(),
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
