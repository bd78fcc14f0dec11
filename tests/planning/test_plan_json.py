"""The JSON spelling of plans: what models write, and what is refused."""

from __future__ import annotations

import pytest

from planloom.errors import PlanError
from planloom.planning.plan_json import parse_plan_json, plan_from_json


def test_steps_actions_and_dependencies_are_read():
    plan = parse_plan_json(
        '{"thought": "first load", "plan": ['
        '{"step": "load", "action": "Read", "tool": "read", "input": {"path": "a.csv"}},'
        '{"step": "sum", "action": "Add", "tool": "add", "input": {"of": ["$load.rows"]},'
        ' "depends_on": ["check"], "on_failure": "skip"}]}'
    )
    assert plan.thought == "first load"
    assert plan.step("load").description == "Read"
    assert plan.step("sum").depends_on == ("check", "load")
    assert plan.step("sum").on_failure == "skip"
    assert plan.outputs == ("sum",)


def test_numbered_steps_get_names_that_references_can_use():
    plan = plan_from_json(
        {
            "plan": [
                {"step": 1, "tool": "read", "input": {"price": "$5"}},
                {"step": "2", "tool": "add", "input": {"of": "$step_1"}, "depends_on": [1]},
                {"tool": "add", "depends_on": ["$step_2"]},
            ]
        }
    )
    assert [step.id for step in plan.steps] == ["step_1", "step_2", "step_3"]
    assert [step.depends_on for step in plan.steps] == [(), ("step_1",), ("step_2",)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I will first load", "not JSON"),
        ("[1]", "the plan must be an object"),
        ('{"thought": "x"}', 'no list "plan"'),
        ('{"plan": [3]}', "item 1 of the plan must be an object"),
        ('{"plan": [{"step": "a"}]}', "'tool' of item 1 of the plan must be text"),
        ('{"plan": [{"step": "a-b", "tool": "t"}]}', "Call it 'a_b'"),
        ('{"plan": [{"step": "a", "tool": "t", "input": "x"}]}', "must be an object"),
        ('{"plan": [{"step": "a", "tool": "t", "on_failure": "cry"}]}', "replan, skip"),
        ('{"plan": [{"step": "a", "tool": "t", "input": {"x": NaN}}]}', "finite"),
        ('{"plan": [{"step": "a", "tool": "t", "input": {"x": "\\ud800"}}]}', "surrogate"),
        ('{"plan": [{"step": [1], "tool": "t"}]}', "cannot be the id"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_not_a_plan_is_said(text: str, words: str):
    with pytest.raises(PlanError) as caught:
        parse_plan_json(text)
    assert words in str(caught.value)
