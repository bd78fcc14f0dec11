"""Plans shown to a person: declined, edited, checked again; or shown without being run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from planloom.agents.running import FinishedRun, RunSetup, run_task
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.execution import RunOptions
from planloom.engine.plan import Plan, Step, unused_steps
from planloom.engine.protocols import Planner, TaskView
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import ModelError, PlanError
from planloom.planning.plan_check import checked_by
from planloom.planning.plan_review import (
    MAX_EDITS,
    PlanOnly,
    PlanRules,
    ReviewedPlanner,
    preview_plan,
)
from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import tool

CALLED: list[str] = []


@tool(effect="read", timeout_s=10, retries=1)
def read_rows(path: str) -> int:
    """Read."""
    CALLED.append(path)
    return 3


@tool(timeout_s=5)
def double(number: int) -> int:
    """Double."""
    CALLED.append("double")
    return 2 * number


@tool(effect="send", timeout_s=7)
def send(text: str) -> str:
    """Send."""
    CALLED.append("send")
    return text


REGISTRY = ToolRegistry([read_rows, double, send])
RULES = PlanRules(registry=REGISTRY, policy=ApprovalPolicy())
CHECK = checked_by(REGISTRY)

READ = Step(id="rows", tool="read_rows", input={"path": "a.csv"})
TWICE = Step(id="twice", tool="double", input={"number": "$rows"})
BAD = Step(id="twice", tool="double", input={"numbr": 3})


def plan(*steps: Step) -> Plan:
    return Plan(steps=steps, outputs=unused_steps(steps))


@dataclass
class Planned:
    """Gives one answer after another, then None."""

    answers: list[Plan | Exception | None]
    views: list[TaskView] = field(default_factory=list[TaskView])

    async def plan(self, view: TaskView, /) -> Plan | None:
        self.views.append(view)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer and view.ahead:
            view.ahead(answer.steps[0])
        return answer


@dataclass
class Person:
    """Leaves each plan as the next of `edits` says; `SAME` leaves it as it is."""

    edits: list[Plan | None]
    seen: list[tuple[Plan, TaskView]] = field(default_factory=list[tuple[Plan, TaskView]])

    async def review(self, shown: Plan, view: TaskView) -> Plan | None:
        self.seen.append((shown, view))
        edit = self.edits.pop(0)
        return shown if edit is SAME else edit


SAME = Plan(thought="as it is")


@pytest.fixture(autouse=True)
def nothing_called() -> None:
    CALLED.clear()


@pytest.fixture
def run(tmp_path: Path):
    def run(planner: Planner) -> FinishedRun:
        setup = RunSetup(
            registry=REGISTRY, home=tmp_path, access=ToolAccess(), options=RunOptions()
        )
        return asyncio.run(run_task("goal", planner, setup))

    return run


def view() -> TaskView:
    return TaskView(
        run="r", goal="g", epoch=1, plans=(), records=(), results={}, value=lambda _: None
    )


# -- reviewed


def test_approved_plan_runs_and_nothing_starts_before(run):
    inner, person = Planned([plan(READ, TWICE)]), Person([SAME])
    finished = run(ReviewedPlanner(inner, person.review, CHECK))
    assert finished.results == {"twice": 6}
    assert inner.views[0].ahead is None
    assert person.seen[0][0] == plan(READ, TWICE)


def test_declined_plan_ends_the_run_as_cancelled(run):
    finished = run(ReviewedPlanner(Planned([plan(READ, TWICE)]), Person([None]).review, CHECK))
    assert finished.task.status == "cancelled"
    assert [missing.why for missing in finished.task.missing] == [
        "The plan was declined, so nothing of it was run."
    ]
    assert CALLED == []


def test_plan_that_fails_its_check_goes_to_the_planner_not_to_the_person(run):
    inner, person = Planned([plan(BAD), plan(READ)]), Person([SAME])
    assert run(ReviewedPlanner(inner, person.review, CHECK)).results == {"rows": 3}
    assert "numbr" in inner.views[1].problems[0]
    assert [shown for shown, _ in person.seen] == [plan(READ)]


def test_edited_plan_is_checked_and_its_errors_are_shown(run):
    person = Person([plan(BAD), plan(READ)])
    finished = run(ReviewedPlanner(Planned([plan(READ, TWICE)]), person.review, CHECK))
    assert finished.results == {"rows": 3}
    assert person.seen[0][1].problems == ()
    shown, seen = person.seen[1]
    assert shown == seen.rejected == plan(BAD)
    assert "numbr" in seen.problems[0]


def test_edits_that_are_never_right_end(run):
    person = Person([plan(BAD)] * 99)
    finished = run(ReviewedPlanner(Planned([plan(READ)]), person.review, CHECK))
    assert finished.task.status == "cancelled"
    assert "numbr" in finished.task.missing[0].why
    assert len(person.seen) == MAX_EDITS + 1


def test_every_later_plan_is_shown_too(run):
    first = Plan(steps=(READ,))
    inner, person = Planned([first, plan(TWICE)]), Person([SAME, None])
    finished = run(ReviewedPlanner(inner, person.review, CHECK))
    assert finished.task.status == "cancelled"
    assert CALLED == ["a.csv"]
    assert person.seen[1][1].results.keys() == {"rows"}


# -- shown alone


def test_plan_alone_tells_the_worst_case_and_approvals():
    post = Step(id="post", tool="send", input={"text": "Got $twice."})
    preview = asyncio.run(preview_plan(Planned([plan(READ, TWICE, post)]), view(), RULES))
    assert preview.can_run
    assert preview.worst_seconds == 10 * 2 + 5 + 7
    assert preview.approvals == ("post",)
    assert [problem.severity for problem in preview.problems] == ["info"]
    assert CALLED == []


def test_previewed_plan_is_mended_within_bounds():
    inner = Planned([plan(BAD), PlanError("line 1 cannot be read"), plan(READ)])
    assert asyncio.run(preview_plan(inner, view(), RULES)).plan == plan(READ)
    assert inner.views[1].rejected == plan(BAD)
    assert "line 1" in inner.views[2].problems[0]
    never = Planned([plan(BAD)] * 9)
    preview = asyncio.run(preview_plan(never, view(), RULES))
    assert not preview.can_run
    assert preview.plan == plan(BAD)
    assert len(never.views) == 3


def test_plan_that_waits_for_itself_has_no_worst_case():
    a = Step(id="a", tool="double", input={"number": "$b"})
    b = Step(id="b", tool="double", input={"number": "$a"})
    assert not RULES.preview(Plan(steps=(a, b)), view()).can_run


def test_previews_without_a_plan_say_so():
    preview = asyncio.run(preview_plan(Planned([None]), view(), RULES))
    assert (preview.plan, preview.can_run) == (None, False)
    assert "no plan for this goal" in str(preview.problems[0])
    with pytest.raises(ModelError):
        asyncio.run(preview_plan(Planned([ModelError("down")]), view(), RULES))


def test_plan_alone_runs_nothing(run):
    planner = PlanOnly(Planned([plan(READ, TWICE)]), RULES)
    finished = run(planner)
    assert planner.preview
    assert planner.preview.plan == plan(READ, TWICE)
    assert CALLED == []
    assert finished.task.status == "succeeded"


def test_data_is_read_before_the_plan_is_shown(run):
    inner = Planned([Plan(steps=(READ,)), plan(TWICE)])
    planner = PlanOnly(inner, RULES)
    finished = run(planner)
    assert CALLED == ["a.csv"]
    assert inner.views[1].results.keys() == {"rows"}
    assert planner.preview
    assert planner.preview.plan == plan(TWICE)
    assert finished.task.status == "succeeded"


def test_preparing_that_has_effects_is_shown_not_run(run):
    preparing = Plan(steps=(READ, Step(id="post", tool="send", input={"text": "x"})))
    planner = PlanOnly(Planned([preparing]), RULES)
    run(planner)
    assert planner.preview
    assert planner.preview.plan == preparing
    assert CALLED == []


def test_no_plan_to_show_is_a_failed_run(run):
    planner = PlanOnly(Planned([plan(BAD)] * 9), RULES)
    finished = run(planner)
    assert finished.task.status == "failed"
    assert "numbr" in finished.task.missing[0].why
    assert planner.preview
    assert planner.preview.plan == plan(BAD)
