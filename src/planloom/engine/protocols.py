"""What the engine is handed from outside: who plans, who runs a step, whom to ask."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from planloom.engine.approval import ApprovalRequest, Decision
from planloom.engine.artifacts import head_and_tail
from planloom.engine.json_value import JsonReader, JsonValue
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.task import StepRecord, StepResult, Task, latest_complete
from planloom.errors import PlanloomError
from planloom.tools.tool import Approval, Effect


def no_preview(step_id: str) -> str:
    """Show nothing, in views that are made without a run."""
    raise KeyError(step_id)


@dataclass(frozen=True, kw_only=True)
class TaskView:
    """What a planner sees of a task."""

    run: str
    goal: str
    epoch: int
    """Number of the plan that is asked for, from 1."""
    plans: tuple[Plan, ...]
    """The plans so far."""
    records: tuple[StepRecord, ...]
    """Every step so far, finished or not."""
    results: Mapping[str, StepResult]
    """The results that the new plan may refer to, by step id."""
    value: Callable[[str], object]
    """Gives one of the results as the typed value it was; KeyError when there is none."""
    preview: Callable[[str], str] = no_preview
    """Shows one of the results in bounded text: what it is, its shape and schema, the head and
    tail of a text; KeyError when there is none. Made when asked for."""
    rejected: Plan | None = None
    """The planner's last try, when it did not pass the check."""
    problems: tuple[str, ...] = ()
    """What is to be mended in it, or in the text that was no plan."""
    ahead: Callable[[Step], None] | None = None
    """Takes each step of the plan that is being written, in order, as soon as it is complete: the
    engine may start it before the planner has returned the whole plan, which must hold the step
    unchanged. None where nothing is to start early."""

    @property
    def failures(self) -> tuple[StepRecord, ...]:
        """The steps that failed for good in the latest plan, and in what was started since."""
        since = latest_complete(self.plans)
        return tuple(r for r in self.records if r.state == "failed" and r.epoch >= since)


EndKind = Literal["declined", "plan_only", "unapproved", "planning"]


class PlanningEndedError(PlanloomError):
    """A planner ends the run: a person refused its plan, or wanted no more than to see it, or
    nobody could be asked about it.

    `kind` is that of the `Stop`: with `declined` the run is cancelled, with `plan_only` it has
    succeeded, with `unapproved` it waits, with `planning` there is no plan to run.
    """

    def __init__(self, kind: EndKind, message: str, *, zh: str = ""):
        super().__init__(message, zh=zh)
        self.kind: EndKind = kind


class Planner(Protocol):
    """Makes the plans of a task."""

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan, or None when nothing is left to do, or nothing can be done.

        Called at the start, and whenever nothing of the last plan can go on: all done, or stuck
        behind failures. So it may look at results before it chooses what comes next.

        Raises:
            PlanError: no plan could be made of what a model said; the planner is asked again and
                sees the message.
            BudgetExhaustedError, ModelError: nothing more can be had of the model; the run ends
                with what it has made. A transient ModelError after steps were told ahead, such as
                a stream that broke off, has the planner asked again.
            PlanningEndedError: the run is to end here.
        """
        ...


PlanCheck = Callable[[Plan, TaskView], tuple[PlanProblem, ...]]
"""The static check of a plan; it runs before anything of the plan does."""


@dataclass(frozen=True, kw_only=True)
class StepRules:
    """What the engine must know of a step before it runs it."""

    effect: Effect
    repeatable: bool
    """Whether a second attempt changes nothing more: a pure, reading or idempotent tool."""
    retries: int = 0
    """Extra attempts that the tool wishes for."""
    approval: Approval = "policy"
    can_be_undone: bool = False


@dataclass(frozen=True, kw_only=True)
class StepCall:
    """One step, ready to run; JSON-safe, so that another process can run it."""

    key: str
    """`run/epoch.step`, the same on every attempt."""
    step: Step
    results: Mapping[str, StepResult]
    """Of the steps that the input refers to."""
    retries: int = 0

    def to_json(self) -> dict[str, JsonValue]:
        """Return the call as a JSON object."""
        return {
            "key": self.key,
            "step": self.step.to_json(),
            "results": {name: result.to_json() for name, result in self.results.items()},
            "retries": self.retries,
        }

    @classmethod
    def from_json(cls, value: object) -> StepCall:
        """Return the call that `to_json` wrote; ValueError when it is none."""
        fields = JsonReader(value, "the call of a step")
        results = fields.parts("results")
        return cls(
            key=fields.text("key"),
            step=Step.from_json(fields.part("step")),
            results={name: StepResult.from_json(item) for name, item in results.items()},
            retries=fields.integer("retries", 0),
        )


@dataclass(frozen=True, kw_only=True)
class StepOutcome:
    """How a step ended: with a result, or with an error that a planner can act on."""

    result: StepResult | None = None
    """None after a failure."""
    error: str = ""
    error_kind: str = ""
    """As in `ToolResult`."""
    may_help_to_retry: bool = False
    """Whether the same call could work a little later."""
    attempts: int = 1
    """Calls that were made; 0 when it failed before the tool was called."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the outcome as a JSON object."""
        return {
            "result": self.result.to_json() if self.result else None,
            "error": self.error,
            "error_kind": self.error_kind,
            "may_help_to_retry": self.may_help_to_retry,
            "attempts": self.attempts,
        }

    @classmethod
    def from_json(cls, value: object) -> StepOutcome:
        """Return the outcome that `to_json` wrote; ValueError when it is none."""
        fields = JsonReader(value, "the outcome of a step")
        result = fields.part("result")
        return cls(
            result=None if result is None else StepResult.from_json(result),
            error=fields.text("error", ""),
            error_kind=fields.text("error_kind", ""),
            may_help_to_retry=fields.value("may_help_to_retry") is True,
            attempts=fields.integer("attempts", 1),
        )


class StepRunner(Protocol):
    """Runs single steps. Failures of a step are outcomes; what it raises is a bug."""

    def rules(self, step: Step, /) -> StepRules:
        """Return the rules of the step's tool.

        Raises:
            ToolError: there is no such tool.
        """
        ...

    def shown_arguments(self, call: StepCall, /) -> dict[str, JsonValue]:
        """Return the arguments as the tool will get them, shortened for people to read."""
        ...

    async def run(self, call: StepCall, /) -> StepOutcome:
        """Make one attempt."""
        ...

    async def undo(self, call: StepCall, result: StepResult, /) -> StepOutcome:
        """Undo what a succeeded call did to the world."""
        ...

    def value(self, result: StepResult, /) -> object:
        """Return a recorded result as the typed value it was."""
        ...


@runtime_checkable
class ResultPreviews(Protocol):
    """What a `StepRunner` may have besides: a look at a result that is cheaper than the value."""

    def preview(self, result: StepResult, /) -> str:
        """Return a recorded result in bounded text."""
        ...


class Approver(Protocol):
    """Asks a person."""

    async def ask(self, request: ApprovalRequest, /) -> Decision | None:
        """Return the decision, or None when nobody can be asked now."""
        ...


def view_of(
    task: Task, runner: StepRunner, *, rejected: Plan | None = None, problems: tuple[str, ...] = ()
) -> TaskView:
    """Return what a planner sees of the task as it stands."""
    results = task.results()

    def preview(step_id: str) -> str:
        result = results[step_id]
        if isinstance(runner, ResultPreviews):
            return runner.preview(result)
        return head_and_tail(json.dumps(result.value, ensure_ascii=False))

    return TaskView(
        run=task.id,
        goal=task.goal,
        epoch=task.epoch + 1,
        plans=tuple(task.plans),
        records=tuple(task.records.values()),
        results=results,
        value=lambda step_id: runner.value(results[step_id]),
        preview=preview,
        rejected=rejected,
        problems=problems,
    )
