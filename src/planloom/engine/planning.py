"""Gets the next plan of a task: asks the planner, checks, and hands problems back to be mended.

While a planner writes, the run goes on: steps that it tells ahead are started, and end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from planloom.engine import stop_reasons
from planloom.engine.ahead import EarlyPlan, ToldSteps
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.json_value import JsonObject, one_of
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.plan_structure import structure_problems
from planloom.engine.progress import TaskRecorder
from planloom.engine.protocols import (
    PlanCheck,
    Planner,
    PlanningEndedError,
    StepRunner,
    TaskView,
    view_of,
)
from planloom.engine.runtime import Handle, Runtime
from planloom.engine.task import StepRecord, Stop, StopKind, Task
from planloom.errors import BudgetExhaustedError, ModelError, PlanError
from planloom.notes import Lang, Note


class WorkUntil(Protocol):
    """Lets the run go on."""

    async def __call__(
        self, handles: Sequence[Handle] = (), *, or_when: Callable[[], bool] | None = None
    ) -> Handle | None:
        """Run the steps that can run until one of `handles` ends, and return that one.

        None: `or_when` came true, the run is to stop, or nothing is left to wait for.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Planning:
    """Asks for the plans of one task."""

    task: Task
    planner: Planner
    runner: StepRunner
    runtime: Runtime
    recorder: TaskRecorder
    check: PlanCheck | None
    policy: ApprovalPolicy
    lang: Lang
    max_epochs: int
    max_tries: int
    """How often the planner may mend one plan."""

    async def next_plan(self, work_until: WorkUntil) -> Plan | Stop | None:
        """Begin the next epoch with a plan that passed the check, and return it.

        None when the planner is done or the run was stopped meanwhile, a `Stop` when no plan can
        be had. Each try whose steps were started ahead has an epoch of its own.
        """
        view = view_of(self.task, self.runner)
        if view.failures and (stop := self.over_limit()):
            return stop  # what the planner would say could not be run any more
        errors: list[PlanProblem] = []
        for attempt in range(1, self.max_tries + 1):
            writing = _Writing(self, view, attempt, work_until)
            reply = await writing.reply()
            if reply is None:
                return None
            if reply["stop"]:
                return _stop(reply)
            plan, problems = await writing.read(reply)
            if self.task.stop:
                return None
            if plan is None and not problems:
                return self._nothing(view)
            errors = [problem for problem in problems if problem.severity == "error"]
            if plan and self.task.has_finished(plan):
                return writing.end(plan)
            if plan and not errors:
                return await writing.begin(plan, problems)
            writing.refuse(plan, problems)
            told = tuple(str(problem) for problem in errors)
            view = view_of(self.task, self.runner, rejected=plan, problems=told)
        # How to mend the plan is for its planner, and that has had its tries.
        found = [problem.finding for problem in errors]
        return self._stop("planning", stop_reasons.never_passed(self.max_tries, found))

    def problems(self, plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        """Return what the checks of a plan find in the task as it stands."""
        structure = structure_problems(plan, view.results)
        # Without a sound graph the full check could not follow the references.
        return structure or (*self._repeated_failures(plan, view), *self._checked(plan, view))

    def over_limit(self) -> Stop | None:
        """Return why no further plan may be run; those that never came whole do not count."""
        if sum(plan.complete for plan in self.task.plans) < self.max_epochs:
            return None
        return self._stop("epochs", stop_reasons.too_many_plans(self.max_epochs))

    def _checked(self, plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        return self.check(plan, view) if self.check else ()

    def _repeated_failures(self, plan: Plan, view: TaskView) -> Iterator[PlanProblem]:
        """Yield an error for each call that failed in two plans already: nothing would change."""
        # What was started ahead of this very plan is no plan before it.
        failures = [
            record
            for record in self.task.records.values()
            if record.state == "failed" and record.epoch < view.epoch
        ]
        for step in plan.steps:
            failed = [record for record in failures if self._is_call(record, step)]
            plans = {record.epoch for record in failed}
            if len(plans) >= 2:
                what = f"the same call has failed in {len(plans)} plans: {failed[-1].error}"
                mend = "Call it in another way, or reach the goal without it."
                yield PlanProblem(severity="error", step=step.id, argument="", what=what, mend=mend)

    def _is_call(self, record: StepRecord, step: Step) -> bool:
        old = self.task.plans[record.epoch - 1].step(record.step)
        return (old.tool, old.input) == (step.tool, step.input)

    def _nothing(self, view: TaskView) -> Stop | None:
        if view.problems:
            return self._stop("planning", stop_reasons.gave_up(view.problems))
        if self.task.plans:
            return None
        return self._stop("planning", stop_reasons.no_plan())

    def _stop(self, kind: StopKind, why: Note) -> Stop:
        return Stop(kind=kind, why=why.text(self.lang))


class _Writing:
    """One try of a planner, and the steps that start meanwhile."""

    def __init__(self, planning: Planning, view: TaskView, attempt: int, work_until: WorkUntil):
        self._planning = planning
        self._task = planning.task
        self._view = view
        self._name = f"plan.{view.epoch}#{attempt}"
        self._work_until = work_until
        self._told = ToldSteps()
        self._early = EarlyPlan(runner=planning.runner, policy=planning.policy)
        self._is_open = False
        """Whether the epoch of this plan has begun."""
        self._is_held_up = False
        """Whether steps were told while those of a refused plan were still running."""

    async def reply(self) -> JsonObject | None:
        """Return the planner's reply, None when the run stopped first."""
        runtime = self._planning.runtime
        asking = await runtime.start(f"{self._task.id}/{self._name}", self._ask, {})
        listening = await self._listen()
        try:
            while True:
                # The runtime, not a race of tasks, says which came first.
                first = await self._work_until([asking, listening], or_when=self._can_open)
                if self._task.stop:
                    return None
                if first and first.key == asking.key:
                    return await runtime.result(asking)
                self._early.add(self._told.take())
                self._extend()
                if first:
                    listening = await self._listen()
        finally:
            self._told.close()
            await runtime.cancel([asking, listening])

    async def read(self, reply: JsonObject) -> tuple[Plan | None, tuple[PlanProblem, ...]]:
        """Return the plan of a reply with what the checks find; None where it has no plan."""
        if reply["error"]:
            return None, (_as_problem(str(reply["error"])),)
        if reply["plan"] is None:
            # A planner that told steps was not done.
            unfinished = "The plan broke off after its first steps. Write it whole."
            return None, (_as_problem(unfinished),) if self._is_open else ()
        if not self._is_open:
            # Steps of a refused plan go on while it is mended; the next one may use their results.
            await self._work_until()
        # What a planner returns is whole: only the engine marks parts, which do not count as plans.
        plan = replace(Plan.from_json(reply["plan"]), complete=True)
        return plan, self._problems(plan)

    async def begin(self, plan: Plan, problems: tuple[PlanProblem, ...]) -> Plan | Stop | None:
        """Run a plan that passed, from here on as a whole; None when the run stopped before."""
        over = self._planning.over_limit()
        recorder = self._planning.recorder
        if self._is_open and not self._early.is_kept_by(plan):
            self._close("The plan came out otherwise.")
            await self._work_until()
            if self._task.stop:
                return None
        recorder.plan(self._epoch, plan, problems, accepted=True)
        if over:
            return over
        if self._is_open:
            recorder.extend_plan(plan)
        else:
            recorder.add_plan(plan)
        return plan

    def refuse(self, plan: Plan | None, problems: tuple[PlanProblem, ...]) -> None:
        """Record a plan that did not pass; what was started for it goes on."""
        self._planning.recorder.plan(self._epoch, plan, problems, accepted=False)
        if self._is_open:
            self._close("The plan that it belongs to did not pass its check.")

    def end(self, plan: Plan) -> None:
        """Leave it at what is there: the plan only says again what was done."""
        if self._is_open and self._early.is_kept_by(plan):
            self._planning.recorder.extend_plan(plan)
        elif self._is_open:
            self._close("The plan came out otherwise.")

    @property
    def _epoch(self) -> int:
        return self._task.epoch + (0 if self._is_open else 1)

    async def _ask(self, _argument: JsonObject) -> JsonObject:
        return await self._planning.runtime.record(self._name, self._ask_once)

    async def _ask_once(self) -> JsonObject:
        view, lang = replace(self._view, ahead=self._told.tell), self._planning.lang
        try:
            plan = await self._planning.planner.plan(view)
        except PlanError as error:
            return _no_plan(str(error))
        except BudgetExhaustedError as error:
            return _no_plan(error.text(lang), stop="budget")
        except PlanningEndedError as error:
            return _no_plan(error.text(lang), stop=error.kind)
        except ModelError as error:
            # Steps were told: a stream broke off, which nobody below could begin again.
            broke_off = error.transient and self._told.count > 0
            return _no_plan(error.text(lang), stop="" if broke_off else "model")
        return {"plan": plan.to_json() if plan else None, "error": "", "stop": ""}

    async def _listen(self) -> Handle:
        key = f"{self._task.id}/{self._name}/told-{self._told.count}"
        return await self._planning.runtime.start(key, self._told.wait, {})

    def _can_open(self) -> bool:
        return self._is_held_up and not self._task.open_steps()

    def _extend(self) -> None:
        """Begin the epoch with the told steps that may start, or add them to it."""
        self._is_held_up = not self._is_open and bool(self._task.open_steps())
        if self._is_held_up or self._planning.over_limit():
            return
        news = self._early.allow(self._task.results(), self._problems)
        if not news:
            return
        recorder = self._planning.recorder
        recorder.plan(self._epoch, Plan(steps=tuple(news), complete=False), (), accepted=True)
        if self._is_open:
            recorder.extend_plan(self._early.plan)
        else:
            recorder.add_plan(self._early.plan)
        self._is_open = True

    def _problems(self, plan: Plan) -> tuple[PlanProblem, ...]:
        # More results may be there than when the planner was asked.
        view = replace(self._view, results=self._task.results())
        return self._planning.problems(plan, view)

    def _close(self, why: str) -> None:
        """End the epoch where it stands: what runs may end, nothing more of it starts."""
        for step in self._task.open_steps():
            if self._task.record(step.id).state == "pending":
                self._planning.recorder.step(step, "cancelled", error=f"Not started. {why}")
        self._is_open = False


def _no_plan(error: str, *, stop: StopKind | Literal[""] = "") -> JsonObject:
    return {"plan": None, "error": error, "stop": stop}


def _stop(reply: JsonObject) -> Stop:
    kind: StopKind = one_of(str(reply["stop"]), get_args(StopKind), "a kind of stop")
    return Stop(kind=kind, why=str(reply["error"]))


def _as_problem(text: str) -> PlanProblem:
    return PlanProblem(severity="error", step="", argument="", what=text, mend="")
