"""Makes the planner of a goal: data first, then what a model plans, in the form that suits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from planloom.agents.comparison_record import comparison_keeper
from planloom.agents.data_first import DataFirst, opened_files
from planloom.agents.personal_data import mask_of, tell_notice
from planloom.agents.running import RunStage
from planloom.agents.workplace import Workplace
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.protocols import Approver, Planner
from planloom.errors import ConfigError
from planloom.models.chat_model import ChatModel
from planloom.models.metered import MeteredModel
from planloom.notes import Lang
from planloom.planning.answer_tools import make_answer_tools
from planloom.planning.checked_answers import CheckedAnswers
from planloom.planning.masked_planner import MaskedPlanner
from planloom.planning.model_planner import ModelPlanner
from planloom.planning.plan_check import checked_by
from planloom.planning.plan_review import PlanOnly, PlanPreview, PlanRules, Review, ReviewedPlanner
from planloom.planning.playbook import ReportRequest
from planloom.planning.react.recorded_toolbox import RecordedToolbox
from planloom.planning.react.solve_tool import make_solve_tool
from planloom.planning.report_model.planner import ModelReportPlanner, ReportModel
from planloom.tools.context import ToolContext

PlanFormat = Literal["auto", "lines", "json", "constrained"]
REPORT_FOLDER = "report"
"""Of a run whose plans are constrained, inside of its folder, where no other is named."""
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
    waits_for_review: bool = False
    """Whether plans need a person's word and nobody can be asked: the first one of the model is
    to be seen, and the run waits."""
    out: Path | None = None
    """Folder of a report, which the constrained format makes; by default inside of the run's."""
    send_personal_data: bool = False
    """Whether values that look like names, addresses or numbers of persons may go to the model."""
    run_id: str | None = None


class GoalPlanning:
    """The planner of one run, and the plan that was only to be seen."""

    def __init__(
        self, request: GoalRequest, model: MeteredModel, stage: RunStage, place: Workplace
    ):
        self._request = request
        self._model = model
        self._stage = stage
        self._place = place
        self._only: PlanOnly | None = None
        self._mask = mask_of(stage, said=request.goal, sends=request.send_personal_data)

    @property
    def preview(self) -> PlanPreview | None:
        """The plan, where only that was asked for and one was made."""
        return self._only.preview if self._only else None

    def planner(self) -> Planner:
        """Return the planner; the run gets the tools that work with its model.

        Raises:
            ConfigError: the form of plans does not suit the files.
        """
        if is_constrained(self._request, self._model):
            return self._reviewed(self._report_planner())
        self._register_tools()
        planner = DataFirst(
            opened_files(self._request.files),
            lambda briefing: self._reviewed(self._model_planner(briefing)),
            lang=self._request.lang,
            mask=self._mask,
        )
        has_files = bool(self._request.files)
        return CheckedAnswers(planner, has_files=has_files, lang=self._request.lang)

    def _model_planner(self, briefing: str) -> Planner:
        planner = ModelPlanner(
            self._model.for_step("planning", purpose="plan"),
            self._stage.registry,
            briefing=briefing,
            plan_format="json" if self._request.plan_format == "json" else "lines",
            max_tools=_SHOWN_TOOLS,
            has_files=bool(self._request.files),
            max_output_chars=self._place.max_output_chars,
            mask=self._mask,
        )
        return MaskedPlanner(planner, self._mask)

    def _report_planner(self) -> Planner:
        """Return the planner of reports: small models choose well among what fits."""
        request, stage = self._request, self._stage
        report = ReportRequest(
            goal=request.goal,
            files=tuple(str(file.path) for file in opened_files(request.files) if file.is_data),
            out=str(request.out or stage.folder.path / REPORT_FOLDER),
            lang=request.lang,
            today=datetime.now().astimezone().date(),
        )
        by = ReportModel(
            model=self._model.for_step("planning", purpose="report"),
            tools=stage.registry.tools(),
            send_personal_data=request.send_personal_data,
            on_notice=lambda notice: tell_notice(stage.events, stage.run_id, notice.note),
            on_comparison=comparison_keeper(stage),
        )
        return ModelReportPlanner(report, by)

    def _reviewed(self, planner: Planner) -> Planner:
        """Put the person between the planner and the engine, where the request wants that."""
        request, registry = self._request, self._stage.registry
        if request.plan_only or request.waits_for_review:
            rules = PlanRules(registry=registry, policy=request.policy)
            ends_as = "plan_only" if request.plan_only else "unapproved"
            self._only = PlanOnly(planner, rules, ends_as=ends_as)
            return self._only
        if request.review:
            return ReviewedPlanner(
                planner, request.review, checked_by(registry, policy=request.policy)
            )
        return planner

    def _register_tools(self) -> None:
        """Give the run the tools that work with its model: answers in words, and a sub-agent."""
        stage, place = self._stage, self._place
        inner = [tool.name for tool in stage.registry.tools()]
        tools = stage.run_tools(self._request.policy, self._request.approver)
        tools = replace(tools, mask=self._mask)

        def toolbox_for(context: ToolContext, given: Mapping[str, object]) -> RecordedToolbox:
            return RecordedToolbox(tools, context.key, names=inner, given=given)

        answers = make_answer_tools(
            self._model.for_step("write_answer", purpose="answer"),
            goal=self._request.goal,
            max_output_chars=place.max_output_chars,
            mask=self._mask,
        )
        solve = make_solve_tool(
            self._model.for_step("solve", purpose="react"),
            toolbox_for,
            max_iterations=place.max_iterations,
            mask=self._mask,
        )
        for tool in (*answers, solve):
            if tool.name not in inner:  # a tool of the user goes first
                stage.registry.register(tool)


def is_constrained(request: GoalRequest, model: ChatModel) -> bool:
    """Return whether the model fills in forms over the columns of a table, in place of a plan.

    Raises:
        ConfigError: that is asked for, and there is no table.
    """
    has_data = any(file.is_data for file in opened_files(request.files))
    if request.plan_format == "constrained" and not has_data:
        raise ConfigError(
            "--plan-format constrained chooses analyses of a table, and no data file was given. "
            "Name one, or leave the option out.",
            zh="--plan-format constrained 用于选择表格分析，但未提供数据文件。"
            "请指定数据文件，或去掉该选项。",
        )
    return request.plan_format == "constrained" or (
        request.plan_format == "auto" and model.traits.is_small and has_data
    )
