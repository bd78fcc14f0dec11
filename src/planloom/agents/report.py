"""The report agent: data files and a goal in, a verified illustrated report out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from planloom.agents.running import FinishedRun, RunSetup, run_sync, run_task
from planloom.analysis.report.deliverable import FORMATS, check_target
from planloom.config import Settings, load_settings
from planloom.engine.execution import RunOptions
from planloom.engine.run_folder import new_run_id
from planloom.engine.task import RunStatus
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import ConfigError, InputError
from planloom.events import EventSink
from planloom.notes import Lang
from planloom.planning.goals.understanding import language_of
from planloom.planning.playbook import ReportPlaybook, ReportRequest
from planloom.tools.builtin import builtin_registry

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


def report(
    files: PathLike | Sequence[PathLike],
    goal: str = "",
    *,
    out: PathLike | None = None,
    lang: Lang | Literal["auto"] = "auto",
    formats: str | Sequence[str] = FORMATS,
    sinks: Sequence[EventSink] = (),
) -> ReportOutcome:
    """Make a report of data files, and return where it is.

    Args:
        files: One or more data files: CSV, Excel, Parquet, JSON, JSON lines.
        goal: What you want to know, in English or Chinese; empty gives a general overview.
        out: Folder of the report, by default `report-<run id>` in the current folder.
        lang: Language of the report; "auto" takes that of the goal.
        formats: "html", "md" or both ("html,md").
        sinks: Called with every event of the run as it happens.

    Raises:
        InputError: a file is missing, or the folder cannot be written.
        ConfigError: an unknown format, or a setting that cannot be used.
    """
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    chosen = formats.split(",") if isinstance(formats, str) else formats
    settings = load_settings(environment=os.environ, folder=Path.cwd())
    work = make_report(
        [Path(path) for path in paths],
        goal,
        out=None if out is None else Path(out),
        lang=lang,
        formats=chosen,
        sinks=sinks,
        settings=settings,
        today=datetime.now().astimezone().date(),
    )
    return run_sync(work)


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
) -> ReportOutcome:
    """Make a report; see `report`. Without a goal it speaks `lang_without_goal`."""
    run_id = new_run_id(datetime.now(UTC))
    target = (out or Path(f"report-{run_id}")).absolute()
    _check_formats(formats)
    if not files:
        raise InputError("No data file was given.", zh="没有指定数据文件。")
    inputs = tuple(_existing_file(path) for path in files)
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
        options=RunOptions(),
        sinks=sinks,
        run_id=run_id,
    )
    return _outcome(await run_task(goal, ReportPlaybook(request), setup), target)


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


def _existing_file(path: Path) -> Path:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"The name of the file {str(path)!r} is no valid text. Rename it.",
            zh=f"文件名 {str(path)!r} 不是有效的文字，请重命名。",
        ) from error
    if path.is_dir():
        raise InputError(
            f"'{path}' is a folder. Name the data file inside it.",
            zh=f"“{path}”是文件夹，请指定其中的数据文件。",
        )
    if not path.is_file():
        near = _nearest(path)
        raise InputError(
            f"There is no file '{path}'." + (f" Did you mean '{near}'?" if near else ""),
            zh=f"文件“{path}”不存在。" + (f"是否指“{near}”？" if near else ""),
        )
    if not os.access(path, os.R_OK):
        raise InputError(
            f"'{path}' may not be read. Change its permissions.",
            zh=f"没有读取“{path}”的权限，请修改文件权限。",
        )
    return path.resolve()


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return ""
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    found = get_close_matches(path.name, names, n=1)
    return str(path.parent / found[0]) if found else ""
