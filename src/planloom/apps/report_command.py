"""`planloom report`: runs the report agent, shows progress, says where the report is."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from planloom.agents.model_setup import is_model_configured, open_model
from planloom.agents.report import ModelUse, ReportOutcome, make_report
from planloom.agents.spending_limits import limits_of
from planloom.apps.ending import said_goal, tell_bill, tell_comparison
from planloom.apps.exit_codes import BY_STATUS, CANCELLED, FAILED
from planloom.apps.language import language_of
from planloom.apps.model_options import ModelOptions
from planloom.apps.progress import progress
from planloom.apps.terminal import printable
from planloom.notes import Lang, Note


@dataclass(frozen=True, kw_only=True)
class ReportChoices:
    """The options of the command besides those of the model."""

    out: Path | None
    lang: Literal["auto", "en", "zh"]
    formats: str
    """Separated by commas."""
    no_model: bool
    send_personal_data: bool
    json: bool
    quiet: bool


def run(files: Sequence[Path], goal: str, options: ModelOptions, choices: ReportChoices) -> int:
    """Make the report and return the exit code."""
    own = language_of(os.environ)
    settings = options.settings()
    use: ModelUse | None = None
    try:
        with progress(own, json=choices.json, quiet=choices.quiet) as shown:
            if is_model_configured(settings) and not choices.no_model:
                use = ModelUse(
                    setup=open_model(settings, limits_of(settings), announce=shown.say, lang=own),
                    send_personal_data=choices.send_personal_data,
                )
            work = make_report(
                files,
                said_goal(goal),
                out=choices.out,
                lang=choices.lang,
                formats=[name.strip() for name in choices.formats.split(",") if name.strip()],
                sinks=shown.sinks,
                settings=settings,
                today=datetime.now().astimezone().date(),
                lang_without_goal=own,
                model=use,
            )
            outcome = asyncio.run(_closing(work, use))
    except KeyboardInterrupt:
        print(_say(_CANCELLED, own, settings.home / "runs"), file=sys.stderr)
        return CANCELLED
    tell_comparison(outcome.run_folder, own)
    if not choices.json:
        _tell(outcome, own, with_reasons=choices.quiet)
    if use and not choices.quiet:
        tell_bill(use.setup.budget.bill(), own)
    return BY_STATUS.get(outcome.status, FAILED)


async def _closing(
    work: Coroutine[object, object, ReportOutcome], use: ModelUse | None
) -> ReportOutcome:
    try:
        return await work
    finally:
        if use:
            await use.setup.close()


def _tell(outcome: ReportOutcome, lang: Lang, *, with_reasons: bool) -> None:
    for why in outcome.missing if with_reasons else ():  # progress has told them already
        print(printable(why), file=sys.stderr)
    if outcome.folder is None:
        print(_say(_NO_REPORT, lang, outcome.run_folder), file=sys.stderr)
        return
    main = next(
        (path for name in ("report.html", "report.md") if (path := outcome.folder / name).exists()),
        outcome.folder,
    )
    print(main)


def _say(note: Note, lang: Lang, folder: Path) -> str:
    return note.with_args({"folder": str(folder)}).text(lang)


_CANCELLED = Note(
    "Cancelled. What was made, and the record of the run, are in {folder}.",
    "已取消。已生成的内容和运行记录保存在 {folder}。",
)
_NO_REPORT = Note(
    "No report was made. The record of the run is in {folder}.",
    "未能生成报告。运行记录保存在 {folder}。",
)
