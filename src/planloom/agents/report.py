"""The report agent: data files and a goal in, a verified illustrated report out."""

from __future__ import annotations

import logging
import os
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from planloom.agents.comparison_record import comparison_keeper
from planloom.agents.input_files import existing_file
from planloom.agents.model_setup import ModelSetup, open_model, own_setup
from planloom.agents.running import FinishedRun, RunSetup, RunStage, run_prepared, run_sync
from planloom.agents.spending_limits import limits_of
from planloom.analysis.report.deliverable import FORMATS, check_target
from planloom.budget import Limits
from planloom.config import Settings, load_settings
from planloom.engine.execution import RunOptions
from planloom.engine.protocols import Planner
from planloom.engine.run_folder import new_run_id
from planloom.engine.task import RunStatus
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import ConfigError, InputError
from planloom.events import EventSink
from planloom.notes import Lang
from planloom.planning.goals.understanding import language_of
from planloom.planning.playbook import ReportPlaybook, ReportRequest
from planloom.tools.builtin import builtin_registry

if TYPE_CHECKING:
    from planloom.models.chat_model import ChatModel
    from planloom.planning.report_model.planner import PersonalDataNotice

_log = logging.getLogger(__name__)

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class ReportOutcome:
    """How the making of a report ended."""

    run: str
    """Id of the run."""
    status: RunStatus
    """"succeeded"; "partial" when some planned part is missing; else no report was made."""
    folder: Path | None
    """Where the report is; None when none was made."""
    missing: tuple[str, ...]
    """What could not be made, and why."""
    run_folder: Path
    """Events, plans, records and everything the steps made."""


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """The model that takes part in a report."""

    setup: ModelSetup
    send_personal_data: bool = False
    """Whether cells of columns with personal data may reach it."""


def report(
    files: PathLike | Sequence[PathLike],
    goal: str = "",
    *,
    out: PathLike | None = None,
    lang: Lang | Literal["auto"] = "auto",
    formats: str | Sequence[str] = FORMATS,
    sinks: Sequence[EventSink] = (),
    model: ChatModel | str | None = None,
    limits: Limits | None = None,
    send_personal_data: bool = False,
) -> ReportOutcome:
    """Make a report of data files, and return where it is.

    Args:
        files: One or more data files: CSV, Excel, Parquet, JSON, JSON lines.
        goal: What you want to know, in English or Chinese; empty gives a general overview.
        out: Folder of the report, by default `report-<run id>` in the current folder.
        lang: Language of the report; "auto" takes that of the goal.
        formats: "html", "md" or both ("html,md").
        sinks: Called with every event of the run as it happens.
        model: A language model, or the name of one, that chooses the analyses and words the
            findings; every number stays computed and checked. None works by rules and templates.
        limits: What the model may spend; once it is used up, rules and templates finish the report,
            and the outcome is "partial".
        send_personal_data: Let cells of columns with personal data (names, mail addresses, phone
            and id numbers) reach the model; by default they stay here.

    Raises:
        InputError: a file is missing, or the folder cannot be written.
        ConfigError: an unknown format, or a setting that cannot be used.
    """
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    chosen = formats.split(",") if isinstance(formats, str) else formats
    options = {"model": model} if isinstance(model, str) else {}
    settings = load_settings(environment=os.environ, folder=Path.cwd(), options=options)
    use = (
        None
        if model is None
        else ModelUse(
            setup=_model_setup(model, limits or limits_of(settings), settings),
            send_personal_data=send_personal_data,
        )
    )
    work = make_report(
        [Path(path) for path in paths],
        goal,
        out=None if out is None else Path(out),
        lang=lang,
        formats=chosen,
        sinks=sinks,
        settings=settings,
        today=datetime.now().astimezone().date(),
        model=use,
    )
    # A model that was handed over belongs to the caller, who may go on using it.
    return run_sync(_closing(work, use) if use and isinstance(model, str) else work)


async def _closing(work: Coroutine[object, object, ReportOutcome], use: ModelUse) -> ReportOutcome:
    try:
        return await work
    finally:
        await use.setup.close()


async def make_report(
    files: Sequence[Path],
    goal: str,
    *,
    out: Path | None,
    lang: Lang | Literal["auto"],
    formats: Sequence[str],
    sinks: Sequence[EventSink],
    settings: Settings,
    today: date,
    lang_without_goal: Lang = "en",
    model: ModelUse | None = None,
) -> ReportOutcome:
    """Make a report; see `report`. Without a goal it speaks `lang_without_goal`."""
    run_id = new_run_id(datetime.now(UTC))
    target = (out or Path(f"report-{run_id}")).absolute()
    _check_formats(formats)
    if not files:
        raise InputError("No data file was given.", zh="没有指定数据文件。")
    inputs = tuple(existing_file(path) for path in files)
    check_target(target)
    request = ReportRequest(
        goal=goal,
        files=tuple(str(path) for path in inputs),
        out=str(target),
        lang=_report_language(goal, lang, lang_without_goal),
        formats=tuple(formats),
        today=today,
    )
    setup = RunSetup(
        registry=builtin_registry(),
        home=settings.home,
        access=ToolAccess(lang=request.lang, readable=inputs, writable=(target,)),
        options=RunOptions(lang=request.lang),
        sinks=sinks,
        run_id=run_id,
        bill=model.setup.budget.bill if model else None,
    )

    def planner(stage: RunStage) -> Planner:
        if model is None:
            return ReportPlaybook(request)
        return _model_planner(request, model, stage)

    return _outcome(await run_prepared(goal, planner, setup), target)


def _model_planner(request: ReportRequest, use: ModelUse, stage: RunStage) -> Planner:
    """Return the planner that asks a model, and records how its choice differs from the rules'."""
    # Imported where a model takes part: reports without one start faster.
    from planloom.planning.report_model.planner import ModelReportPlanner, ReportModel

    record = _ReportRecord(stage)
    model = ReportModel(
        model=use.setup.metered(stage.events).for_step("planning", purpose="report"),
        tools=stage.registry.tools(),
        send_personal_data=use.send_personal_data,
        on_notice=record.tell_notice,
        on_comparison=comparison_keeper(stage),
    )
    return ModelReportPlanner(request, model)


class _ReportRecord:
    """Puts on record what a report's planner tells: in the run's folder and its event stream."""

    def __init__(self, stage: RunStage):
        self._stage = stage

    def tell_notice(self, notice: PersonalDataNotice) -> None:
        self._stage.events.emit(
            "approval",
            asked=False,
            key=f"{self._stage.run_id}/personal_data",
            decision="sent" if notice.is_sent else "masked",
            columns=list(notice.columns),
            text=notice.note.text("en"),
            text_zh=notice.note.text("zh"),
        )


def _model_setup(model: ChatModel | str, limits: Limits, settings: Settings) -> ModelSetup:
    def announce(text: str) -> None:
        _log.warning("%s", text)

    if isinstance(model, str):
        return open_model(settings, limits, announce=announce)
    return own_setup(model, limits, settings, announce=announce)


def _report_language(goal: str, lang: Lang | Literal["auto"], without_goal: Lang) -> Lang:
    if lang != "auto":
        return lang
    return language_of(goal) if goal.strip() else without_goal


def _outcome(finished: FinishedRun, target: Path) -> ReportOutcome:
    task = finished.task
    return ReportOutcome(
        run=task.id,
        status=task.status,
        folder=target if "save" in finished.results else None,
        missing=tuple(missing.why for missing in task.missing),
        run_folder=finished.folder,
    )


def _check_formats(formats: Sequence[str]) -> None:
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise ConfigError(
            f"Unknown format {', '.join(map(repr, unknown)) or '(none)'}. "
            f"Known: {', '.join(FORMATS)}.",
            zh=f"未知格式 {'、'.join(unknown) or '（空）'}。可用：{'、'.join(FORMATS)}。",
        )
