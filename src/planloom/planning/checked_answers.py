"""A planner that gives up answers in words which state numbers that no result gives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from planloom.engine.plan import Plan
from planloom.engine.protocols import Planner, TaskView
from planloom.notes import Lang, Note
from planloom.planning.sourced_numbers import gives_numbers, unsourced_numbers

_WORDED = frozenset({"write_answer", "fill_text"})
"""Tools whose results are a model's words."""
_SHOWN = 8

_NUMBERS = Note(
    "The answer states numbers that no result gives: {numbers}",
    "答案中有结果未给出的数字：{numbers}",
)


class CheckedAnswers:
    """A `Planner` around another: when that one is done, its answers are read.

    One with numbers that have no source is kept and shown, and its step is given up: the run ends
    `partial`.
    """

    def __init__(self, planner: Planner, *, has_files: bool, lang: Lang = "en"):
        """Wrap `planner`; `has_files` says that the goal is about files.

        Without files and without any number in a result, an answer rests on what the model knows,
        and is not read.
        """
        self._planner = planner
        self._has_files = has_files
        self._lang: Lang = lang

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan of the inner planner, at last one that gives up such answers."""
        if _is_checked(view):
            return None
        plan = await self._planner.plan(view)
        if plan is not None or view.problems:
            return plan
        return await asyncio.to_thread(self._given_up, view)

    def _given_up(self, view: TaskView) -> Plan | None:
        """Return the last plan without the answers whose numbers have no source."""
        last = view.plans[-1] if view.plans else None
        if last is None or view.failures or not all(s.id in view.results for s in last.steps):
            return None
        doubts = {step: doubt.text(self._lang) for step, doubt in self._doubtful(last, view)}
        # The same calls count as done.
        return replace(last, given_up={**last.given_up, **doubts}) if doubts else None

    def _doubtful(self, plan: Plan, view: TaskView) -> Iterator[tuple[str, Note]]:
        tools = _tools(view)
        worded = [step for step in plan.outputs if tools.get(step) in _WORDED]
        if not worded:
            return
        results = [view.value(step) for step in view.results if tools.get(step) not in _WORDED]
        for step in worded:
            answer = str(view.value(step))
            doubt = answer_doubt(answer, results, said=view.goal, has_files=self._has_files)
            if doubt:
                yield step, doubt


def answer_doubt(answer: str, seen: Sequence[object], *, said: str, has_files: bool) -> Note | None:
    """Return what a user is told of an answer whose numbers neither results nor `said` give.

    None where all have a source, or where there is nothing to compare with: no files, and no
    number in what was `seen`.
    """
    if not has_files and not gives_numbers(seen):
        return None
    found = unsourced_numbers(answer, seen, [said])
    return numbers_note(found) if found else None


def numbers_note(numbers: tuple[str, ...]) -> Note:
    """Return what a user is told of numbers without a source."""
    more = "; …" if len(numbers) > _SHOWN else ""
    shown = "; ".join(numbers[:_SHOWN]) + more
    return _NUMBERS.with_args({"numbers": shown})


def _tools(view: TaskView) -> Mapping[str, str]:
    """Return the tool of each step that was ever planned."""
    return {step.id: step.tool for plan in view.plans for step in plan.steps}


def _is_checked(view: TaskView) -> bool:
    """Say whether the last plan, or the one that did not pass, only gives up answers."""
    plans = (*view.plans, view.rejected) if view.rejected else view.plans
    if len(plans) < 2:
        return False
    before, last = plans[-2:]
    return last.steps == before.steps and last.given_up != before.given_up
