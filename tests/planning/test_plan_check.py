"""The static check of plans: each problem names step, argument and mend."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import pytest

from planloom.engine.approval import ApprovalPolicy
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.task import StepResult
from planloom.planning.plan_check import PlanLimits, check_plan, checked_by, worst_case_seconds
from planloom.planning.plan_lines import parse_lines
from planloom.planning.type_fit import fits
from planloom.tools.registry import ToolRegistry
from planloom.tools.signature import Reference
from planloom.tools.tool import tool
from planloom.values import FileRef, ImageRef, TableRef


@dataclass(frozen=True)
class Total:
    value: float
    unit: str


@dataclass(frozen=True, kw_only=True)
class Trend(TableRef):
    kind: str


@dataclass(frozen=True)
class Report:
    title: str


@tool(effect="read", timeout_s=10, retries=1)
def load(path: str) -> TableRef:
    """Load."""
    raise NotImplementedError


@tool(timeout_s=5)
def trend(table: TableRef, date: str, grain: Literal["day", "month"] = "month") -> Trend:
    """Trend."""
    raise NotImplementedError


@tool
def draw(trend: Trend, title: str = "") -> ImageRef:
    """Draw."""
    raise NotImplementedError


@tool
def total(table: TableRef) -> Total:
    """Total."""
    raise NotImplementedError


@tool
def write(
    title: str, pictures: list[ImageRef], top: int = 3
) -> Annotated[Report, Reference("report")]:
    """Write."""
    raise NotImplementedError


@tool(effect="send", retries=0)
def mail(to: str, report: Annotated[Report, Reference("report")]) -> None:
    """Mail."""
    raise NotImplementedError


@tool
def anything(value: Any) -> Any:
    """Do anything."""
    return value


REGISTRY = ToolRegistry([load, trend, draw, total, write, mail, anything])
SIGNATURES = {t.name: tuple(p.name for p in t.inputs) for t in REGISTRY.tools()}


def problems(lines: str, **options: Any) -> list[PlanProblem]:
    return list(check_plan(parse_lines(lines, SIGNATURES), REGISTRY, **options))


def errors(lines: str, **options: Any) -> list[str]:
    return [str(p) for p in problems(lines, **options) if p.severity == "error"]


def test_good_plan_has_no_problems():
    assert not problems(
        'data = load("a.csv")\nt = trend(data, "day")\npic = draw(t, "Sales")\nsum = total(data)\n'
        'r = write("Total ${sum.value} for $$5", [pic], top=data.rows)'
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('x = lod(path="a")', "Step 'x': Tool 'lod' is not registered.*Did you mean 'load'"),
        ("x = load()", "Step 'x', argument 'path': 'path' is missing.*Call load"),
        ('x = load("a", pth=1)', "argument 'pth'.*not known"),
        ("x = load(3)", "argument 'path': 'path' must be a text"),
        ('x = trend(data, "d", grain="week")', "argument 'grain'"),
        ('x = trend(pic, "d")', "'table': '.pic' is image, and table is wanted. Use '.data' or"),
        ("x = draw(data)", "argument 'trend': '.data' is table"),
        ('x = draw("$t", title=data)', "argument 'title': '.data' is table, and str is wanted"),
        ('x = write("a", [t])', "argument 'pictures': '.t' is table, and image is wanted"),
        ('x = write("a", pic)', "argument 'pictures': '.pic' is image"),
        ('x = write("a", [pic], top="${sum.value}%")', "Pass '.sum.value' alone"),
        ('x = write("a", [pic], top=sum.unit)', "'.sum.unit' is str, and int is wanted"),
        ('x = write("Table: $data", [pic])', "cannot be written into text"),
        ('x = write("Total: $sum.valeu", [pic])', "has no 'valeu'.*Did you mean 'value'"),
        ('x = trend(data.row, "d")', "has no 'row'.*Did you mean 'rows'"),
        ('x = write(sum.value.x, [pic])', "'.sum.value' is float and has no 'x'"),
        ('x = load(dta)', "'dta' is not a step of the plan. Did you mean 'data'"),
        ("x = anything(x)", "Step 'x': it depends on itself"),
        ("x = anything(y)\ny = anything(x)", "waits for itself: x -> y -> x"),
        ('data = load("b")', "Step 'data': 2 steps have this id"),
        ("output(nothing)", "the output 'nothing' is not a step"),
    ],
)  # fmt: skip
def test_problem_names_step_argument_and_mend(line: str, words: str):
    base = 'data = load("a")\nt = trend(data, "d")\npic = draw(t)\nsum = total(data)\n'
    found = errors(base + line)
    assert len(found) == 1, found
    assert re.search(words, found[0], re.DOTALL), found[0]


def test_effect_that_needs_approval_is_no_error():
    lines = "pic = draw(anything(1))" if False else 'v = anything(1)\nm = mail("a@b.c", v)'
    (problem,) = problems(lines)
    assert (problem.severity, problem.step) == ("info", "m")
    assert "a person will be asked" in problem.what
    (denied,) = errors(lines, policy=ApprovalPolicy(tools={"mail": "deny"}))
    assert "the policy denies" in denied


def test_step_without_use_is_a_warning_unless_it_has_an_effect():
    lines = 'a = load("a")\nb = load("b")\nr = write("t", [])\nm = mail("x", r)\noutput(b)'
    found = [(p.severity, p.step) for p in problems(lines)]
    assert found == [("info", "m"), ("warning", "a"), ("warning", "r")]


def test_results_of_earlier_plans_may_be_used_with_their_types():
    known = {"data": StepResult(tool="load"), "pic": StepResult(tool="draw")}
    assert not errors('t = trend(data, "d")', known=known)
    assert (
        "is image, and table is wanted. Use '$data'."
        in errors('t = trend(pic, "d")', known=known)[0]
    )


def test_number_of_steps_and_worst_time_are_limited():
    lines = 'a = load("a")\nb = load("b")\nt = trend(a, "d")'
    assert "3 steps; at most 2" in errors(lines, limits=PlanLimits(max_steps=2))[0]
    # The longest chain: load with its retry, 20 s, then trend, 5 s.
    assert not errors(lines, limits=PlanLimits(max_seconds=25))
    assert "25 s; at most 24 s" in errors(lines, limits=PlanLimits(max_seconds=24))[0]


def test_empty_plan_is_an_error():
    (problem,) = check_plan(Plan(), REGISTRY)
    assert str(problem) == "Plan: it has no steps. Write at least one step that calls a tool."


def test_every_problem_of_a_plan_is_found_at_once():
    plan = Plan(steps=(Step(id="a", tool="x"), Step(id="b", tool="load", input={"path": 1})))
    assert [p.step for p in check_plan(plan, REGISTRY)] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "wanted", "answer"),
    [
        (Trend, TableRef, True),
        (TableRef, Trend, False),
        (ImageRef, FileRef, True),
        (TableRef, ImageRef, False),
        (TableRef | None, TableRef, True),
        (int, float, True),
        (bool, int, False),
        (str, int | None, False),
        (list[TableRef], list[ImageRef], False),
        (tuple[TableRef, ...], list[TableRef], True),
        (TableRef, list[TableRef], False),
        (Any, ImageRef, True),
        (dict[str, int], TableRef, True),
        (str, Literal["a", "b"], True),
    ],
)
def test_fit_of_types(given: object, wanted: object, answer: bool):
    assert fits(given, wanted) is answer


@dataclass(frozen=True)
class Part:
    images: tuple[ImageRef, ...] = ()


@tool
def bind_parts(parts: list[Part], cover: ImageRef | None = None) -> Report:
    """Bind."""
    raise NotImplementedError


def test_spelled_out_reference_names_step_argument_and_mend():
    picture = {
        "path": "/root/.ssh/id_rsa", "media_type": "image/png", "size": 1, "sha256": "0",
        "width": 1, "height": 1, "alt": "",
    }  # fmt: skip
    steps = (
        Step(id="t", tool="load", input={"path": "a.csv"}),
        Step(id="tr", tool="trend", input={"table": "$t", "date": "day"}),
        Step(id="pic", tool="draw", input={"trend": "$tr"}),
        Step(
            id="book",
            tool="bind_parts",
            input={"parts": [{"images": ["$pic", picture]}], "cover": picture},
        ),
    )
    registry = ToolRegistry([load, trend, draw, bind_parts])
    found = check_plan(Plan(steps=steps, outputs=("book",)), registry)
    assert [(p.severity, p.step, p.argument) for p in found] == [
        ("error", "book", "parts"),
        ("error", "book", "cover"),
    ]
    assert "'parts[0].images[1]' spells out a reference (image)" in found[0].what
    assert "$chart" in found[0].mend
    assert found[1].mend == "Use '$pic'."


# -- a plan that grows


def test_steps_that_were_sound_are_looked_at_again_when_their_sources_change():
    check = checked_by(REGISTRY)
    draw_it = Step(id="pic", tool="draw", input={"trend": "$t"})
    first = Step(id="t", tool="trend", input={"table": "$data", "date": "day"})
    view = SimpleNamespace(results={"data": StepResult(tool="load")})
    assert check(Plan(steps=(first, draw_it)), view) == ()
    other = Step(id="t", tool="total", input={"table": "$data"})
    (problem,) = check(Plan(steps=(other, draw_it)), view)
    assert problem.step == "pic"


def test_equal_looking_arguments_are_told_apart():
    check = checked_by(REGISTRY)
    view = SimpleNamespace(results={"pic": StepResult(tool="draw")})

    def found(top: object) -> tuple[PlanProblem, ...]:
        arguments = {"title": "x", "pictures": ["$pic"], "top": top}
        return check(Plan(steps=(Step(id="r", tool="write", input=arguments),)), view)

    assert found(1) == ()
    assert found(True)[0].argument == "top"


def test_worst_case_is_the_longest_chain_with_its_retries():
    lines = 'data = load("a.csv")\nt = trend(data, "day")\nother = load("b.csv")'
    assert worst_case_seconds(parse_lines(lines, SIGNATURES), REGISTRY) == 10 * 2 + 5
