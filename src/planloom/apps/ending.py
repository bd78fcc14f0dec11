"""What the command line says when a run with a model has ended."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from planloom.agents.comparison_record import COMPARISON_FILE
from planloom.agents.running import FinishedRun
from planloom.apps.exit_codes import BY_STATUS, CANCELLED, FAILED
from planloom.apps.terminal import printable
from planloom.budget import Bill
from planloom.engine.artifacts import ArtifactStore
from planloom.engine.task import RunStatus
from planloom.errors import UsageError
from planloom.notes import Lang, Note

_MOST_KEPT = 10


def said_goal(text: str) -> str:
    """Return what a user typed as valid text, whatever bytes the shell passed on."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def required_goal(text: str) -> str:
    """Return what a user typed as valid text.

    Raises:
        UsageError: nothing was typed.
    """
    goal = said_goal(text)
    if not goal.strip():
        raise UsageError(
            'The goal or question is empty. Write it in quotes: planloom ask "..." FILE',
            zh='目标或问题为空。请写在引号中，例如：planloom ask "……" 文件',
        )
    return goal


def exit_code(status: RunStatus) -> int:
    """Return the code that scripts rely on."""
    return BY_STATUS.get(status, FAILED)


def tell_cancelled(bill: Bill, folder: Path, lang: Lang) -> int:
    """Say on stderr where the record of a cancelled run is, and what it has cost."""
    _say(_CANCELLED, lang, folder=str(folder))
    tell_bill(bill, lang)
    return CANCELLED


def tell_place(folder: Path, lang: Lang) -> None:
    """Say on stderr where the record of a run is."""
    _say(_ENDS["waiting"], lang, folder=str(folder))


def tell_bill(bill: Bill, lang: Lang) -> None:
    """Print the bill on stderr."""
    print(bill.text(lang), file=sys.stderr)


def tell_made(path: Path, lang: Lang) -> None:
    """Say on stderr where a file is that a run made."""
    _say(_MADE, lang, path=str(path))


def tell_comparison(folder: Path, lang: Lang) -> None:
    """Say on stderr where a model read a goal otherwise than the rules, or gave no reading."""
    path = folder / COMPARISON_FILE
    if not path.is_file():
        return
    record = cast("Mapping[str, object]", json.loads(path.read_text(encoding="utf-8")))
    if record["used"] == "rules" or record["only_model"] or record["only_rules"]:
        print(printable(str(record["text_zh" if lang == "zh" else "text"])), file=sys.stderr)


def tell_end(finished: FinishedRun, lang: Lang, *, with_steps: bool) -> None:
    """Say on stderr why a run is no whole success, and where its record is.

    Errors of steps are told only `with_steps`: where progress is shown, it has told them.
    """
    task = finished.task
    if task.status == "succeeded":
        return
    # What was given up although its step succeeded, no progress has told.
    fine = {record.step for record in task.epoch_records() if record.state == "succeeded"}
    for missing in task.missing:
        if with_steps or not missing.step or missing.step in fine:
            print(printable(missing.why), file=sys.stderr)
    if task.status == "waiting":
        effects = [record for record in task.epoch_records() if record.state == "waiting_approval"]
        tools = ", ".join(dict.fromkeys(record.tool for record in effects))
        _say(_WAITING if tools else _PLAN_WAITS, lang, tools=tools)
    for line in _kept_lines(finished):
        _say(_KEPT, lang, what=line)
    _say(_ENDS.get(task.status, _ENDS["failed"]), lang, folder=str(finished.folder))


def _say(note: Note, lang: Lang, **args: str) -> None:
    print(printable(note.with_args(args).text(lang)), file=sys.stderr)


def _kept_lines(finished: FinishedRun) -> Iterator[str]:
    """Yield what was made besides the outputs when the run had to end, and where that is."""
    store, kept = ArtifactStore(finished.folder), finished.task.kept
    for record in kept[:_MOST_KEPT]:
        ids = record.result.artifacts if record.result else ()
        paths = [finished.folder / store.get(artifact).path for artifact in ids]
        where = ", ".join(map(str, paths or [finished.folder / "task.json"]))
        yield f"{record.step} ({record.tool}): {where}"
    if len(kept) > _MOST_KEPT:
        yield f"... {len(kept) - _MOST_KEPT:,} ...: {finished.folder / 'task.json'}"


_MADE = Note("Made: {path}", "已生成：{path}")
_KEPT = Note("Kept: {what}", "已保留：{what}")
_CANCELLED = Note(
    "Cancelled. What was made, and the record of the run, are in {folder}.",
    "已取消。已生成的内容和运行记录保存在 {folder}。",
)
_WAITING = Note(
    "Waiting for approval: {tools}. Nobody could be asked here. Run it at a terminal, or allow "
    "the effect beforehand, with --allow EFFECT or --yes.",
    "等待批准：{tools}。当前无法询问。请在终端中运行，或用 --allow 作用 或 --yes 事先允许。",
)
_PLAN_WAITS = Note(
    "Run the command at a terminal to approve the plan, or without --approve-plan to run what "
    "the model plans.",
    "请在终端中运行该命令以批准计划；若无需批准，请去掉 --approve-plan。",
)
_ENDS: dict[RunStatus, Note] = {
    "partial": Note(
        "Only a part was reached. The record of the run is in {folder}.",
        "仅完成了一部分。运行记录保存在 {folder}。",
    ),
    "waiting": Note("The record of the run is in {folder}.", "运行记录保存在 {folder}。"),
    "failed": Note(
        "The goal was not reached. The record of the run is in {folder}.",
        "未能达成目标。运行记录保存在 {folder}。",
    ),
}
