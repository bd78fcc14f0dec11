"""Plans as graphs: ids, dependencies, outputs; and plans as JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.engine.plan import Plan, Step, id_problem, unused_steps
from planloom.engine.plan_structure import structure_problems
from planloom.errors import PlanError


def step(step_id: str, *needs: str) -> Step:
    return Step(id=step_id, tool="t", depends_on=needs)


def found(*steps: Step, outputs: tuple[str, ...] = (), known: tuple[str, ...] = ()) -> list[str]:
    return [str(p) for p in structure_problems(Plan(steps=steps, outputs=outputs), known)]


def test_sound_plan_has_no_problems():
    assert not found(step("b", "a"), step("a", "old"), outputs=("b",), known=("old",))


def test_longer_circle_is_named_without_what_hangs_on_it():
    problems = found(step("x", "a"), step("a", "b"), step("b", "c"), step("c", "a"))
    assert len(problems) == 1
    assert "waits for itself" in problems[0]
    assert "x" not in problems[0].partition("itself:")[2].split()[0]


def test_unbound_reference_in_text_tells_how_to_write_a_dollar():
    problems = found(Step(id="a", tool="t", input={"price": "in $amount"}))
    assert problems == [
        "Step 'a': 'amount' is not a step of the plan. Use one of: there is no other step; "
        'a dollar sign in text is written "$$".'
    ]


def test_steps_to_choose_from_are_named_once():
    problems = found(step("a"), step("b", "a", "nowhere"), known=("a", "old"))
    assert "Use one of: a, old;" in problems[0]


@pytest.mark.parametrize(
    ("step_id", "mended"),
    [("load-data", "'load_data'"), ("1st", "'step_1st'"), ("class", "'step_class'"),
     ("output", "'output_step'"), ("", "'step'"), ("a b", "'a_b'"), ("ﬁle", "'file'")],
)  # fmt: skip
def test_bad_id_is_refused_with_a_good_one(step_id: str, mended: str):
    assert id_problem(step_id).endswith(f"{mended}.")
    with pytest.raises(PlanError):
        Step(id=step_id, tool="t")


def test_ids_may_be_chinese():
    assert Step(id="加载", tool="t", input={"x": "$数据"}).depends_on == ("数据",)


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, b"x", "\ud800", object()])
def test_input_that_is_not_json_is_refused(value: object):
    with pytest.raises(PlanError, match="The input of step 'a' is not JSON"):
        Step(id="a", tool="t", input={"x": value})  # type: ignore[dict-item]


def test_newer_plan_is_not_misread():
    with pytest.raises(PlanError, match="Update Planloom"):
        Plan.from_json({"schema": 2, "steps": []})


@given(st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=3)), max_size=10))
def test_plan_without_problems_can_be_run_in_some_order(edges: list[tuple[int, list[int]]]):
    steps = tuple(step(f"s{n}", *(f"s{need}" for need in needs)) for n, needs in edges)
    left = {s.id: set(s.depends_on) for s in steps}
    sound = len(left) == len(steps) > 0
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    names = {s.id for s in steps}
    sound = sound and not left and all(set(s.depends_on) <= names for s in steps)
    assert (not structure_problems(Plan(steps=steps))) == sound
    assert set(unused_steps(steps)) <= names


def test_ids_that_differ_by_capitals_alone_are_refused():
    steps = tuple(Step(id=name, tool="t") for name in ("load", "Load", "other"))
    (problem,) = structure_problems(Plan(steps=steps))
    assert problem.severity == "error"
    assert problem.step == "Load"
    assert "differs from 'load' by capital letters alone" in problem.what
