"""The report playbook, with a view of a task made by hand."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import pytest

from planloom.analysis.database import connect, write_table
from planloom.analysis.profile import profile_table
from planloom.engine.plan import Plan
from planloom.engine.protocols import TaskView
from planloom.engine.task import StepRecord, StepResult
from planloom.planning.plan_check import check_plan
from planloom.planning.playbook import ReportPlaybook, ReportRequest
from planloom.tools.builtin import builtin_registry
from planloom.tools.tables import TableSummary


def request(goal: str = "monthly trend of amount", files: tuple[str, ...] = ("/d/a$1.csv",)):
    return ReportRequest(goal=goal, files=files, out="/out/r", lang="en", today=date(2024, 9, 1))


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> TableSummary:
    folder = tmp_path_factory.mktemp("summary")
    rows = """SELECT DATE '2024-01-01' + CAST(range AS INTEGER) AS day,
        ['North', 'South'][1 + range % 2] AS shop, range * 1.5 AS amount FROM range(200)"""
    with connect(writable=folder) as connection:
        table = write_table(connection, rows, folder / "t.parquet", name="cleaned")
    p = profile_table(table)
    return TableSummary(
        name=p.name, rows=p.rows, columns=p.columns, duplicate_rows=0, keys=p.keys, traps=(),
        values={"shop": ("North", "South")},
    )  # fmt: skip


def view(
    epoch: int,
    summary: TableSummary,
    *,
    done: tuple[str, ...] = (),
    failed: tuple[str, ...] = (),
    plans: tuple[Plan, ...] = (),
) -> TaskView:
    tools = {step.id: step.tool for plan in plans for step in plan.steps}
    records = [
        StepRecord(key=f"r/{epoch - 1}.{name}", epoch=epoch - 1, step=name,
                   tool=tools.get(name, ""), state=state, error="out of luck" * (state == "failed"))
        for names, state in ((done, "succeeded"), (failed, "failed"))
        for name in names
    ]  # fmt: skip
    return TaskView(
        run="r", goal="", epoch=epoch, plans=plans, records=tuple(records),
        results={name: StepResult(tool=tools.get(name, "")) for name in done},
        value=lambda _: summary,
    )  # fmt: skip


def planned(playbook: ReportPlaybook, seen: TaskView) -> Plan | None:
    return asyncio.run(playbook.plan(seen))


READ = ("load1", "clean1", "summary1")


def analysis(summary: TableSummary, goal: str = "monthly trend of amount") -> tuple[Plan, Plan]:
    playbook = ReportPlaybook(request(goal))
    reading = planned(playbook, view(1, summary))
    assert reading
    plan = planned(playbook, view(2, summary, done=READ, plans=(reading,)))
    assert plan
    return reading, plan


def test_first_plan_reads_cleans_and_profiles_each_file(summary: TableSummary):
    plan = planned(ReportPlaybook(request(files=("/d/a$1.csv", "/d/b.csv"))), view(1, summary))
    assert plan
    assert [step.id for step in plan.steps] == [*READ, "load2", "clean2", "summary2"]
    # A dollar sign in a file name is no reference.
    assert plan.steps[0].input["path"] == "/d/a$$1.csv"
    assert plan.outputs == ()


def test_second_plan_passes_the_static_check_and_ends_in_the_saved_report(summary: TableSummary):
    reading, plan = analysis(summary)
    assert plan.outputs == ("save",)
    assert [step.tool for step in plan.steps] == [
        "trend_over_time", "draw_chart", "write_data_report", "save_report"]  # fmt: skip
    known = {step.id: StepResult(tool=step.tool) for step in reading.steps}
    problems = check_plan(plan, builtin_registry(), known=known)
    assert [problem for problem in problems if problem.severity == "error"] == []


def test_filters_of_the_goal_become_a_step_that_the_analyses_use(summary: TableSummary):
    _, plan = analysis(summary, "monthly trend of amount, only North")
    scope, trend = plan.steps[0], plan.steps[1]
    assert (scope.id, scope.tool) == ("scope", "filter_rows")
    assert scope.input["conditions"] == [{"column": "shop", "comparison": "=", "value": "North"}]
    assert trend.input["table"] == "$scope"


def test_goal_text_cannot_become_a_reference(summary: TableSummary):
    _, plan = analysis(summary, "trend of $load1 and $summary1.rows")
    report = plan.step("report")
    assert report.input["goal"] == "trend of $$load1 and $$summary1.rows"


def test_failed_analysis_is_given_up_and_the_rest_is_reported(summary: TableSummary):
    reading, plan = analysis(summary, "monthly trend of amount and share by shop")
    done = (*READ, "trend", "trend_chart", "share")
    seen = view(3, summary, done=done, failed=("share_chart",), plans=(reading, plan))
    salvage = planned(ReportPlaybook(request()), seen)
    assert salvage
    assert salvage.given_up == {"share_chart": "out of luck"}
    assert salvage.step("report").input["findings"] == [
        {"analysis": "$trend", "image": "$trend_chart"},
        {"analysis": "$share"},
    ]
    assert "out of luck" in str(salvage.step("report").input["missing"])


@pytest.mark.parametrize("failed", ["report", "save", "scope"])
def test_nothing_is_salvaged_when_the_report_itself_failed(failed: str, summary: TableSummary):
    reading, plan = analysis(summary)
    seen = view(3, summary, done=(*READ, "trend"), failed=(failed,), plans=(reading, plan))
    assert planned(ReportPlaybook(request()), seen) is None


def test_nothing_is_planned_without_a_readable_file(summary: TableSummary):
    reading, _ = analysis(summary)
    seen = view(2, summary, failed=("load1",), plans=(reading,))
    assert planned(ReportPlaybook(request()), seen) is None


def test_unreadable_second_file_is_said_in_the_report(summary: TableSummary):
    playbook = ReportPlaybook(request(files=("/d/a.csv", "/d/b.csv")))
    reading = planned(playbook, view(1, summary))
    assert reading
    plan = planned(playbook, view(2, summary, done=READ, failed=("load2",), plans=(reading,)))
    assert plan
    assert "out of luck" in str(plan.step("report").input["missing"])
    assert plan.given_up == {"load2": "out of luck"}


def test_finished_report_needs_no_further_plan(summary: TableSummary):
    reading, plan = analysis(summary)
    done = (*READ, *(step.id for step in plan.steps))
    seen = view(3, summary, done=done, plans=(reading, plan))
    assert planned(ReportPlaybook(request()), seen) is None


def test_descriptions_speak_the_language_of_the_report(summary: TableSummary, tmp_path: Path):
    asked = ReportRequest(
        goal="金额走势",
        files=(str(tmp_path / "a.csv"),),
        out="/o",
        lang="zh",
        today=date(2024, 9, 1),
    )
    plan = planned(ReportPlaybook(asked), view(1, summary))
    assert plan
    assert [step.description for step in plan.steps] == [
        "读取 a.csv", "清洗 a.csv", "查看 a.csv 的列"]  # fmt: skip
