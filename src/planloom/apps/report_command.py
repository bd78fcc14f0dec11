"""`planloom report`: runs the report agent, shows progress, says where the report is."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from planloom.agents.report import ReportOutcome, make_report
from planloom.apps.exit_codes import BY_STATUS, CANCELLED, FAILED
from planloom.apps.language import language_of
from planloom.apps.progress import progress
from planloom.apps.terminal import printable
from planloom.config import load_settings
from planloom.notes import Lang, Note


def run(
    files: Sequence[Path],
    goal: str,
    *,
    out: Path | None,
    lang: Literal["auto", "en", "zh"],
    formats: str,
    json: bool,
    quiet: bool,
) -> int:
    """Make the report and return the exit code."""
    own = language_of(os.environ)
    settings = load_settings(environment=os.environ, folder=Path.cwd())
    try:
        with progress(own, json=json, quiet=quiet) as shown:
            outcome = asyncio.run(
                make_report(
                    files,
                    goal.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
                    out=out,
                    lang=lang,
                    formats=[name.strip() for name in formats.split(",") if name.strip()],
                    sinks=shown.sinks,
                    settings=settings,
                    today=datetime.now().astimezone().date(),
                    lang_without_goal=own,
                )
            )
    except KeyboardInterrupt:
        print(_say(_CANCELLED, own, settings.home / "runs"), file=sys.stderr)
        return CANCELLED
    if not json:
        _tell(outcome, own, with_reasons=quiet)
    return BY_STATUS.get(outcome.status, FAILED)


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
    return Note(note.en, note.zh, {"folder": str(folder)}).text(lang)


_CANCELLED = Note(
    "Cancelled. What was made, and the record of the run, are in {folder}.",
    "已取消。已生成的内容和运行记录保存在 {folder}。",
)
_NO_REPORT = Note(
    "No report was made. The record of the run is in {folder}.",
    "未能生成报告。运行记录保存在 {folder}。",
)
