"""Reaches any goal: data is read first, a model plans, the engine runs and repairs the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from planloom.agents.answers import answer_text
from planloom.agents.goal_planning import REPORT_FOLDER, GoalPlanning, GoalRequest, is_constrained
from planloom.agents.model_setup import ModelSetup
from planloom.agents.running import FinishedRun, RunSetup, RunStage, run_prepared
from planloom.agents.workplace import Workplace
from planloom.budget import Bill
from planloom.engine.artifacts import ArtifactStore
from planloom.engine.execution import RunOptions
from planloom.engine.protocols import Planner
from planloom.engine.run_folder import RunFolder, new_run_id
from planloom.engine.stop_reasons import shortfalls
from planloom.engine.task import RunStatus
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import InputError
from planloom.planning.plan_review import PlanPreview


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
        return shortfalls(self.finished.task)

    def hand_out(self, out: Path) -> tuple[Path, ...]:
        """Copy what the run made into a folder; see `deliverables.hand_out`."""
        # Loads what reads tables and writes reports: not before there is something to hand out.
        from planloom.agents.deliverables import hand_out

        return hand_out(self.finished.results, ArtifactStore(self.finished.folder), out)


async def run_goal(request: GoalRequest, model: ModelSetup, place: Workplace) -> GoalOutcome:
    """Reach a goal and return how that ended.

    Raises:
        InputError: the goal is empty, or the run's folder cannot be written.
        ConfigError: a limit of money is set and the price of the model is not known, or the form
            of plans does not suit the files.
        CancelledError: the run was cancelled; its folder holds the record and what was made.
    """
    if not request.goal.strip():
        raise InputError(
            "The goal is empty. Say what is to be done.", zh="目标为空，请说明要做什么。"
        )
    if is_constrained(request, model.model):
        request = _with_report_folder(request, place.home)
    made: list[GoalPlanning] = []

    def prepare(stage: RunStage) -> Planner:
        made.append(GoalPlanning(request, model.metered(stage.events), stage, place))
        return made[0].planner()

    try:
        finished = await run_prepared(request.goal, prepare, _setup(request, model, place))
    finally:
        await model.close()
    return GoalOutcome(
        finished=finished,
        answer=answer_text(finished.results),
        bill=model.budget.bill(),
        preview=made[0].preview,
    )


def _with_report_folder(request: GoalRequest, home: Path) -> GoalRequest:
    """Return the request with a folder for its report, which tools may write to."""
    run_id = request.run_id or new_run_id()
    out = request.out or RunFolder(home, run_id).path / REPORT_FOLDER
    return replace(request, run_id=run_id, out=out, writable=(*request.writable, out))


def _setup(request: GoalRequest, model: ModelSetup, place: Workplace) -> RunSetup:
    return RunSetup(
        registry=place.registry,
        home=place.home,
        access=ToolAccess(
            lang=request.lang,
            readable=(*request.files, *request.readable),
            writable=request.writable,
        ),
        options=RunOptions(
            policy=request.policy,
            time_limit_s=model.budget.remaining().max_seconds,
            lang=request.lang,
        ),
        sinks=place.sinks,
        approver=request.approver,
        run_id=request.run_id,
        bill=model.budget.bill,
    )
