"""Writes what happens to a task into its records, its event stream and its file, in one order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from planloom.engine.approval import ApprovalRequest, Decision
from planloom.engine.masking import masked
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.protocols import StepOutcome
from planloom.engine.task import OPEN_STATES, StepRecord, StepState, Task
from planloom.events import EventStream


class TaskRecorder:
    """The only one who changes a running task; it is saved before anyone is told."""

    def __init__(
        self,
        task: Task,
        events: EventStream,
        now: Callable[[], datetime],
        save: Callable[[Task], None] | None = None,
    ):
        self._task = task
        self._events = events
        self._now = now
        self._save: Callable[[Task], None] = save or _keep_nothing

    def begin(self) -> None:
        """Record that the run starts, or goes on."""
        self._task.status = "running"
        self._task.started = self._task.started or self._time()
        self._save(self._task)
        self._events.emit("run_started", goal=self._task.goal, epoch=self._task.epoch)

    def end(self) -> None:
        """Record the verdict; whatever is still running by now has no known end."""
        for record in self._task.epoch_records():
            if record.state == "running":
                error = "The run ended before the end of this step was recorded."
                self.change(replace(record, state="unknown", error=error))
        self._task.status = self._task.verdict()
        self._task.ended = self._time()
        self._save(self._task)
        self._events.emit(
            "run_ended",
            status=self._task.status,
            outputs=list(self._task.outputs),
            kept=[record.key for record in self._task.kept],
            missing=[
                {"step": missing.step, "state": missing.state, "why": missing.why}
                for missing in self._task.missing
            ],
        )

    def plan(
        self, epoch: int, plan: Plan | None, problems: tuple[PlanProblem, ...], *, accepted: bool
    ) -> None:
        """Record what a planner proposed, and what the check found.

        Of an incomplete plan it has the steps that have come since the event before: those that
        may start while the rest is written. The whole plan follows, accepted or not.
        """
        self._events.emit(
            "plan",
            epoch=epoch,
            accepted=accepted,
            plan=masked(plan.to_json()) if plan else None,
            problems=[problem.to_json() for problem in problems],
        )

    def add_plan(self, plan: Plan) -> None:
        """Begin the next epoch."""
        self._task.add_plan(Plan(complete=False))
        self.extend_plan(plan)

    def extend_plan(self, plan: Plan) -> None:
        """Put a plan with more steps in place of the latest."""
        known = {record.step for record in self._task.epoch_records()}
        self._task.extend_plan(plan)
        self._save(self._task)
        for record in self._task.epoch_records():
            if record.step not in known and record.state not in OPEN_STATES:
                self._emit_state(record)

    def step(
        self,
        step: Step,
        state: StepState,
        outcome: StepOutcome | None = None,
        *,
        error: str | None = None,
        asks: str = "",
    ) -> None:
        """Record the new state of a step of the latest plan; see `change`."""
        record = self._task.record(step.id)
        error = record.error if error is None else error
        record = replace(record, state=state, error=error, asks=asks)
        if state in {"pending", "running"}:
            record = replace(record, error="", error_kind="", ended="")
        self.change(_with_outcome(record, outcome) if outcome else record)

    def change(self, record: StepRecord) -> None:
        """Put a record in place of the last of its key, stamp it, and tell everyone."""
        if record.state == "running" and not record.started:
            record = replace(record, started=self._time())
        if record.state not in OPEN_STATES and not record.ended:
            record = replace(record, ended=self._time())
        self._task.update_step(record)
        self._save(self._task)
        self._emit_state(record)

    def approval(self, subject: ApprovalRequest | str, decision: Decision | None) -> None:
        """Record that a person is asked (the request), or what they decided (the step's key)."""
        if isinstance(subject, ApprovalRequest):
            self._events.emit("approval", asked=True, **subject.to_json())
        elif decision:
            self._events.emit("approval", asked=False, key=subject, **decision.to_json())

    def _emit_state(self, record: StepRecord) -> None:
        self._events.emit(
            "step_state",
            key=record.key,
            epoch=record.epoch,
            step=record.step,
            tool=record.tool,
            state=record.state,
            attempts=record.attempts,
            error=record.error,
            error_kind=record.error_kind,
            artifacts=list(record.result.artifacts) if record.result else [],
        )

    def _time(self) -> str:
        return self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _with_outcome(record: StepRecord, outcome: StepOutcome) -> StepRecord:
    return replace(
        record,
        attempts=record.attempts + outcome.attempts,
        error=outcome.error,
        error_kind=outcome.error_kind,
        result=outcome.result,
    )


def _keep_nothing(_task: Task) -> None:
    pass
