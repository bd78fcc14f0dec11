"""Undoes what the steps of a task did to the world, the last one first (a saga)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planloom.engine.plan import Step
from planloom.engine.progress import TaskRecorder
from planloom.engine.protocols import StepCall, StepOutcome, StepRules, StepRunner
from planloom.engine.runtime import Runtime
from planloom.engine.step_work import Backoff, UndoWork
from planloom.engine.task import StepRecord, StepResult, Stop, Task
from planloom.errors import ToolError


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """Compensates the finished steps of one task."""

    task: Task
    runner: StepRunner
    runtime: Runtime
    recorder: TaskRecorder
    backoff: Backoff

    async def undo_effects(self) -> None:
        """Undo every effect that can be undone, and say in the task's `stop` which could not.

        The order is that of the ends, reversed: no step ended before one that it depends on.
        """
        left: list[str] = []
        unsure: list[str] = []
        for key in reversed(self.task.ended_order):
            record = self.task.records[key]
            if not self._has_effects(record):
                continue
            if record.state != "succeeded":
                unsure += [_named(record)] if _may_have_begun(record) else []
            elif not await self._undo(record):
                left.append(f"'{record.step}' ({record.tool})")
        if self.task.stop:
            why = self.task.stop.why + _not_undone(left, unsure)
            self.task.stop = Stop(kind="rollback", why=why)

    def _has_effects(self, record: StepRecord) -> bool:
        rules = self._rules(record)
        pure = rules is None or rules.effect in {"pure", "read"}
        # A step that later plans only took over has no attempt of its own.
        return not pure and not record.taken_over

    def _rules(self, record: StepRecord) -> StepRules | None:
        try:
            return self.runner.rules(self._step(record))
        except ToolError:
            return None

    def _step(self, record: StepRecord) -> Step:
        return self.task.plans[record.epoch - 1].step(record.step)

    async def _undo(self, record: StepRecord) -> bool:
        rules = self._rules(record)
        if record.result is None or rules is None or not rules.can_be_undone:
            return False
        step = self._step(record)
        results = self._results(step, record.epoch) | {step.id: record.result}
        call = StepCall(key=record.key, step=step, results=results)
        work = UndoWork(runner=self.runner, runtime=self.runtime, backoff=self.backoff)
        handle = await self.runtime.start(f"undo/{record.key}", work, call.to_json())
        await self.runtime.wait_first([handle])
        outcome = StepOutcome.from_json(await self.runtime.result(handle))
        if outcome.result:
            self.recorder.change(replace(record, state="compensated"))
        return outcome.result is not None

    def _results(self, step: Step, epoch: int) -> dict[str, StepResult]:
        sources = {name: self.task.source_of(name, epoch) for name in step.references}
        return {name: source.result for name, source in sources.items() if source and source.result}


_NOT_CALLED = frozenset({"arguments", "unknown_tool", "denied"})
"""Failures that come before the tool begins."""


def _may_have_begun(record: StepRecord) -> bool:
    """Whether a step that did not succeed may have changed something before it ended."""
    if record.state in {"failed", "skipped"}:
        return record.attempts > 0 and record.error_kind not in _NOT_CALLED
    return record.state == "unknown" or (record.state == "cancelled" and bool(record.started))


def _named(record: StepRecord) -> str:
    return f"'{record.step}' ({record.tool}, {record.state})"


def _not_undone(left: list[str], unsure: list[str]) -> str:
    said = f" These could not be undone: {', '.join(left)}." if left else ""
    if unsure:
        said += f" These were not undone, and their effects may have happened: {', '.join(unsure)}."
    return said
