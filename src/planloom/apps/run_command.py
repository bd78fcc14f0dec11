"""`planloom run`: reaches a goal with a model, shows progress, prints what came of it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from planloom.agents.goal_planning import GoalRequest, PlanFormat
from planloom.agents.input_files import existing_files
from planloom.agents.model_setup import open_model
from planloom.agents.run_goal import GoalOutcome, run_goal
from planloom.agents.spending_limits import limits_of
from planloom.agents.workplace import Workplace
from planloom.apps.approvals import approver_for, is_attended, policy_of
from planloom.apps.ending import (
    exit_code,
    required_goal,
    tell_bill,
    tell_cancelled,
    tell_comparison,
    tell_end,
    tell_made,
    tell_place,
)
from planloom.apps.language import language_of
from planloom.apps.model_options import ModelOptions
from planloom.apps.plan_display import TerminalReview, preview_notes, preview_text
from planloom.apps.progress import progress
from planloom.apps.terminal import printable
from planloom.engine.run_folder import new_run_id
from planloom.errors import InputError
from planloom.notes import Lang
from planloom.planning.goals.understanding import language_of as language_of_goal
from planloom.tools.builtin import builtin_registry
from planloom.tools.registry import ToolRegistry


@dataclass(frozen=True, kw_only=True)
class RunChoices:
    """The options of the command besides those of the model."""

    out: Path | None
    plan_only: bool
    approve_plan: bool
    plan_format: PlanFormat
    send_personal_data: bool
    yes: bool
    allow: tuple[str, ...]
    lang: Literal["auto", "en", "zh"]
    json: bool
    quiet: bool


def run(goal: str, files: Sequence[Path], options: ModelOptions, choices: RunChoices) -> int:
    """Run the goal and return the exit code."""
    goal = required_goal(goal)
    # One language for a run: a Chinese goal is answered in Chinese, whatever the locale.
    own = "zh" if language_of_goal(goal) == "zh" else language_of(os.environ)
    settings = options.settings()
    if choices.out:
        # Loads what reads tables: only where a folder is named.
        from planloom.agents.deliverables import check_out

        check_out(choices.out.absolute())
    run_id = new_run_id(datetime.now(UTC))
    with progress(own, json=choices.json, quiet=choices.quiet) as shown:
        model = open_model(settings, limits_of(settings), announce=shown.say, lang=own)
        registry = builtin_registry()
        can_ask = is_attended()
        request = GoalRequest(
            goal=goal,
            files=existing_files(files),
            lang=language_of_goal(goal) if choices.lang == "auto" else choices.lang,
            plan_format=choices.plan_format,
            send_personal_data=choices.send_personal_data,
            policy=policy_of(choices.allow, everything=choices.yes),
            approver=approver_for(own, shown),
            plan_only=choices.plan_only,
            waits_for_review=choices.approve_plan and not can_ask,
            review=TerminalReview(lang=own, registry=registry, hold=shown.held)
            if choices.approve_plan
            else None,
            out=_folder(choices, run_id),
            run_id=run_id,
        )
        place = Workplace.of(settings, registry, shown.sinks)
        try:
            outcome = asyncio.run(run_goal(request, model, place))
        except KeyboardInterrupt:
            return tell_cancelled(model.budget.bill(), settings.home / "runs" / run_id, own)
    if request.plan_only or request.waits_for_review:
        return _show_plan(outcome, registry, choices, own)
    try:
        _hand_over(outcome, choices, own)
    except InputError:  # the disk is full, say: what was paid for is in the run's folder
        tell_place(outcome.finished.folder, own)
        tell_bill(outcome.bill, own)
        raise
    return exit_code(outcome.status)


def _show_plan(
    outcome: GoalOutcome, registry: ToolRegistry, choices: RunChoices, lang: Lang
) -> int:
    """Print a plan that was not run, and return the exit code."""
    preview = outcome.preview
    tell_comparison(outcome.finished.folder, lang)
    tell_end(outcome.finished, lang, with_steps=choices.quiet)
    if preview and not choices.json:
        print(preview_text(preview, registry), end="")
    if preview and preview.can_run and (notes := preview_notes(preview, lang)):
        print(notes, file=sys.stderr)
    if not choices.quiet:
        tell_bill(outcome.bill, lang)
    return exit_code(outcome.status)


def _folder(choices: RunChoices, run_id: str) -> Path:
    return (choices.out or Path(f"run-{run_id}")).absolute()


def _hand_over(outcome: GoalOutcome, choices: RunChoices, lang: Lang) -> None:
    paths = outcome.hand_out(_folder(choices, outcome.finished.task.id))
    tell_comparison(outcome.finished.folder, lang)
    tell_end(outcome.finished, lang, with_steps=choices.quiet)
    if choices.json:
        return
    if outcome.answer:
        print(printable(outcome.answer))
        for path in paths:
            tell_made(path, lang)
    else:
        for path in paths:
            print(path)
    if not choices.quiet:
        tell_bill(outcome.bill, lang)
