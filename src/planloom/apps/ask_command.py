"""`planloom ask`: answers a question; the answer alone goes to stdout."""

from __future__ import annotations

import asyncio
import json as json_format
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

from planloom.agents.ask import Answer, QuestionRequest, answer_question
from planloom.agents.input_files import existing_files
from planloom.agents.model_setup import open_model
from planloom.agents.spending_limits import limits_of
from planloom.agents.workplace import Workplace
from planloom.apps.approvals import approver_for, policy_of
from planloom.apps.ending import (
    exit_code,
    required_goal,
    tell_bill,
    tell_cancelled,
    tell_end,
    tell_made,
)
from planloom.apps.language import language_of
from planloom.apps.model_options import ModelOptions
from planloom.apps.progress import progress
from planloom.apps.terminal import printable
from planloom.engine.artifacts import ArtifactStore
from planloom.engine.run_folder import new_run_id
from planloom.notes import Lang, Note
from planloom.planning.goals.understanding import language_of as language_of_goal
from planloom.tools.builtin import builtin_registry

_SHOWN_CHARS = 600


@dataclass(frozen=True, kw_only=True)
class AskChoices:
    """The options of the command besides those of the model."""

    max_iterations: int | None
    show_work: bool
    send_personal_data: bool
    yes: bool
    allow: tuple[str, ...]
    lang: Literal["auto", "en", "zh"]
    json: bool
    quiet: bool


def run(question: str, files: Sequence[Path], options: ModelOptions, choices: AskChoices) -> int:
    """Answer the question and return the exit code."""
    question = required_goal(question)
    # One language for a run: a Chinese goal is answered in Chinese, whatever the locale.
    own = "zh" if language_of_goal(question) == "zh" else language_of(os.environ)
    settings = options.settings(max_iterations=choices.max_iterations)
    run_id = new_run_id(datetime.now(UTC))
    with progress(own, json=choices.json, quiet=choices.quiet) as shown:
        model = open_model(settings, limits_of(settings), announce=shown.say, lang=own)
        request = QuestionRequest(
            question=question,
            files=existing_files(files),
            lang=language_of_goal(question) if choices.lang == "auto" else choices.lang,
            answer_form="" if choices.lang == "auto" else _FORMS[choices.lang],
            policy=policy_of(choices.allow, everything=choices.yes),
            approver=approver_for(own, shown),
            send_personal_data=choices.send_personal_data,
            run_id=run_id,
        )
        place = Workplace.of(settings, builtin_registry(), shown.sinks)
        try:
            answer = asyncio.run(answer_question(request, model, place))
        except KeyboardInterrupt:
            return tell_cancelled(model.budget.bill(), settings.home / "runs" / run_id, own)
    _tell(answer, choices, own)
    return exit_code(answer.status)


_FORMS = {"en": "Answer in English.", "zh": "用中文回答。"}


def _tell(answer: Answer, choices: AskChoices, lang: Lang) -> None:
    if choices.show_work and answer.evidence.is_file():
        _show_work(answer.evidence, lang)
    if answer.text and not choices.json:
        print(printable(answer.text))
    if answer.found:
        found = {"found": answer.found[:_SHOWN_CHARS]}
        print(printable(_FOUND.with_args(found).text(lang)), file=sys.stderr)
    for path in _made(answer.finished.folder):
        tell_made(path, lang)
    tell_end(answer.finished, lang, with_steps=choices.quiet or choices.json)
    if not choices.quiet:
        tell_bill(answer.bill, lang)


def _made(folder: Path) -> list[Path]:
    """Return the files and pictures that calls have made, not the tables that they passed on."""
    kept = ArtifactStore(folder).all()
    return [folder / artifact.path for artifact in kept if artifact.kind in {"file", "image"}]


_FOUND = Note(
    "No answer was given. The last result was: {found}", "未给出答案。最后的结果是：{found}"
)


def _show_work(evidence: Path, lang: Lang) -> None:
    """Print thoughts, calls and results on stderr."""
    record = cast("Mapping[str, object]", json_format.loads(evidence.read_text(encoding="utf-8")))
    for iteration in cast("list[Mapping[str, object]]", record["trajectory"]):
        head = _TURN.with_args({"number": str(iteration["number"])}).text(lang)
        lines = [head, *_indented(str(iteration["thought"]))]
        for action in cast("list[Mapping[str, object]]", iteration["actions"]):
            arguments = json_format.dumps(action["arguments"], ensure_ascii=False)
            lines.append(f"  > {action['tool']} {arguments[:_SHOWN_CHARS]}")
            lines += _indented(str(action["observation"])[:_SHOWN_CHARS])
        print(printable("\n".join(lines)), file=sys.stderr)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


_TURN = Note("Turn {number}", "第 {number} 轮")
