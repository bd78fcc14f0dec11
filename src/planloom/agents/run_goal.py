"""Reaches any goal: data is read first, a model plans, the engine runs and repairs the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from planloom.agents.data_first import DataFirst, opened_files
from planloom.agents.deliverables import answer_text, hand_out
from planloom.agents.model_setup import ModelSetup
from planloom.agents.running import FinishedRun, RunSetup, RunStage, run_prepared
from planloom.agents.workplace import Workplace
from planloom.budget import Bill
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.artifacts import ArtifactStore
from planloom.engine.execution import RunOptions
from planloom.engine.protocols import Approver, Planner
from planloom.engine.task import RunStatus
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import InputError
from planloom.models.metered import MeteredModel
from planloom.notes import Lang
from planloom.planning.answer_tools import make_answer_tools
from planloom.planning.model_planner import ModelPlanner
from planloom.planning.plan_check import checked_by
from planloom.planning.plan_review import PlanOnly, PlanPreview, PlanRules, Review, ReviewedPlanner
from planloom.planning.react.recorded_toolbox import RecordedToolbox
from planloom.planning.react.solve_tool import make_solve_tool
from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry

PlanFormat = Literal["auto", "lines", "json", "constrained"]
_SHOWN_TOOLS = 26
"""All built-in tools: a plan that is right at once saves more than a shorter prompt."""


@dataclass(frozen=True, kw_only=True)
class GoalRequest:
    """What a user wants, and what they allow."""

    goal: str
    files: tuple[Path, ...] = ()
    """Opened for reading; absolute paths."""
    lang: Lang = "en"
    """Language of texts for the user."""
    readable: tuple[Path, ...] = ()
    """Files and folders that tools may read besides."""
    writable: tuple[Path, ...] = ()
    plan_format: PlanFormat = "auto"
    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    approver: Approver | None = None
    review: Review | None = None
    """Shows each plan of the model to a person before it runs."""
    plan_only: bool = False
    """Whether the first plan of the model is only to be seen; data files are read for it."""
    send_personal_data: bool = False
    """Whether values that look like names, addresses or numbers of persons may go to the model."""
    run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class GoalOutcome:
    """How a goal ended."""

    finished: FinishedRun
    answer: str
    """The outputs that are text; "" when there are none."""
    bill: Bill
    preview: PlanPreview | None = None
    """The plan, where only that was asked for."""

    @property
    def status(self) -> RunStatus:
        """The verdict, from what the steps did."""
        return self.finished.task.status

    @property
    def missing(self) -> tuple[str, ...]:
        """What could not be made, and why."""
        return tuple(missing.why for missing in self.finished.task.missing)

    def hand_out(self, out: Path) -> tuple[Path, ...]:
        """Copy what the run made into a folder; see `deliverables.hand_out`."""
        return hand_out(self.finished.results, ArtifactStore(self.finished.folder), out)


async def run_goal(request: GoalRequest, model: ModelSetup, place: Workplace) -> GoalOutcome:
    """Reach a goal and return how that ended.

    Raises:
        InputError: the goal is empty, or the run's folder cannot be written.
        ConfigError: a limit of money is set, and the price of the model is not known.
        CancelledError: the run was cancelled; its folder holds the record and what was made.
    """
    if not request.goal.strip():
        raise InputError(
            "The goal is empty. Say what is to be done.", zh="目标为空，请说明要做什么。"
        )
    previews: list[PlanOnly] = []

    def prepare(stage: RunStage) -> Planner:
        return _planner(request, model.metered(stage.events), stage, place, previews)

    try:
        finished = await run_prepared(request.goal, prepare, run_setup(request, model, place))
    finally:
        await model.close()
    return GoalOutcome(
        finished=finished,
        answer=answer_text(finished.results),
        bill=model.budget.bill(),
        preview=previews[0].preview if previews else None,
    )


def run_setup(request: GoalRequest, model: ModelSetup, place: Workplace) -> RunSetup:
    """Return what the engine needs for a request."""
    return RunSetup(
        registry=place.registry,
        home=place.home,
        access=ToolAccess(
            lang=request.lang,
            readable=(*request.files, *request.readable),
            writable=request.writable,
        ),
        options=RunOptions(
            policy=request.policy, time_limit_s=model.budget.remaining().max_seconds
        ),
        sinks=place.sinks,
        approver=request.approver,
        run_id=request.run_id,
        bill=model.budget.bill,
    )


def _planner(
    request: GoalRequest,
    model: MeteredModel,
    stage: RunStage,
    place: Workplace,
    previews: list[PlanOnly],
) -> Planner:
    """Return the planner of a run; one that only shows its plan is put into `previews`, too."""
    _register_tools(request, model, stage, place)

    def planner_for(briefing: str) -> Planner:
        planner = _model_planner(request, model, stage.registry, briefing, place.max_output_chars)
        if request.plan_only:
            rules = PlanRules(registry=stage.registry, policy=request.policy)
            previews.append(PlanOnly(planner, rules))
            return previews[-1]
        if request.review:
            check = checked_by(stage.registry, policy=request.policy)
            return ReviewedPlanner(planner, request.review, check)
        return planner

    return DataFirst(
        opened_files(request.files),
        planner_for,
        lang=request.lang,
        send_personal_data=request.send_personal_data,
    )


def _register_tools(
    request: GoalRequest, model: MeteredModel, stage: RunStage, place: Workplace
) -> None:
    """Give the run the tools that work with its model: answers in words, and a sub-agent."""
    inner = [tool.name for tool in stage.registry.tools()]
    tools = stage.run_tools(request.policy, request.approver)

    def toolbox_for(context: ToolContext, given: Mapping[str, object]) -> RecordedToolbox:
        return RecordedToolbox(tools, context.key, names=inner, given=given)

    answers = make_answer_tools(
        model.for_step("write_answer", purpose="answer"),
        goal=request.goal,
        max_output_chars=place.max_output_chars,
    )
    solve = make_solve_tool(
        model.for_step("solve", purpose="react"),
        toolbox_for,
        max_iterations=place.max_iterations,
    )
    for tool in (*answers, solve):
        stage.registry.register(tool)


def _model_planner(
    request: GoalRequest, model: MeteredModel, registry: ToolRegistry, briefing: str, chars: int
) -> Planner:
    planning = model.for_step("planning", purpose="plan")
    return ModelPlanner(
        planning,
        registry,
        briefing=briefing,
        plan_format="json" if request.plan_format == "json" else "lines",
        max_tools=_SHOWN_TOOLS,
        max_output_chars=chars,
    )
