"""Gets the next plan of a task: asks the planner, checks, and hands problems back to be mended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from planloom.engine.json_value import JsonObject
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.plan_structure import structure_problems
from planloom.engine.progress import TaskRecorder
from planloom.engine.protocols import PlanCheck, Planner, StepRunner, TaskView, view_of
from planloom.engine.runtime import Handle, Runtime
from planloom.engine.task import StepRecord, Stop, Task
from planloom.errors import PlanError


@dataclass(frozen=True, kw_only=True)
class Planning:
    """Asks for the plans of one task."""

    task: Task
    planner: Planner
    runner: StepRunner
    runtime: Runtime
    recorder: TaskRecorder
    check: PlanCheck | None
    max_epochs: int
    max_tries: int
    """How often the planner may mend one plan."""
    time_limit_s: float | None
    """Of the whole run, for what is said when its deadline ends a planner."""

    async def next_plan(self, deadline: Handle | None = None) -> Plan | Stop | None:
        """Return a plan that passed the check, None when the planner is done, or why to stop.

        A planner that has not answered when `deadline` ends is ended, too.
        """
        view = view_of(self.task, self.runner)
        for attempt in range(1, self.max_tries + 1):
            reply = await self._ask_planner(view, attempt, deadline)
            if reply is None:
                return self._too_late()
            plan, problems = self._read_reply(reply, view)
            if plan is None and not problems:
                return self._nothing(view)
            errors = tuple(str(problem) for problem in problems if problem.severity == "error")
            self.recorder.plan(view.epoch, plan, problems, accepted=not errors)
            if plan and not errors:
                return self._within_limit(plan)
            view = replace(view, rejected=plan, problems=errors)
        why = f"No plan passed its check in {self.max_tries} tries. {' '.join(view.problems)}"
        return Stop(kind="planning", why=why)

    async def _ask_planner(
        self, view: TaskView, attempt: int, deadline: Handle | None
    ) -> JsonObject | None:
        """Return the planner's reply, None when the deadline came first."""
        name = f"plan.{view.epoch}#{attempt}"

        async def ask() -> JsonObject:
            try:
                plan = await self.planner.plan(view)
            except PlanError as error:
                return {"plan": None, "error": str(error)}
            return {"plan": plan.to_json() if plan else None, "error": ""}

        async def work(_argument: JsonObject) -> JsonObject:
            return await self.runtime.record(name, ask)

        asking = await self.runtime.start(f"{self.task.id}/{name}", work, {})
        try:
            # The runtime, not a race of tasks, says which came first.
            first = await self.runtime.wait_first([asking, deadline] if deadline else [asking])
            return await self.runtime.result(asking) if first.key == asking.key else None
        finally:
            await self.runtime.cancel([asking])

    def _read_reply(
        self, reply: JsonObject, view: TaskView
    ) -> tuple[Plan | None, tuple[PlanProblem, ...]]:
        if reply["error"]:
            return None, (_as_problem(str(reply["error"])),)
        if reply["plan"] is None:
            return None, ()
        plan = Plan.from_json(reply["plan"])
        return plan, self._problems(plan, view)

    def _problems(self, plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        structure = structure_problems(plan, view.results)
        # Without a sound graph the full check could not follow the references.
        return structure or (*self._repeated_failures(plan), *self._checked(plan, view))

    def _checked(self, plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        return self.check(plan, view) if self.check else ()

    def _repeated_failures(self, plan: Plan) -> Iterator[PlanProblem]:
        """Yield an error for each call that failed in two plans already: nothing would change."""
        for step in plan.steps:
            failed = [record for record in self.task.records.values()
                      if record.state == "failed" and self._is_call(record, step)]  # fmt: skip
            if len(failed) >= 2:
                what = f"the same call has failed in {len(failed)} plans: {failed[-1].error}"
                mend = "Call it in another way, or reach the goal without it."
                yield PlanProblem(severity="error", step=step.id, argument="", what=what, mend=mend)

    def _is_call(self, record: StepRecord, step: Step) -> bool:
        old = self.task.plans[record.epoch - 1].step(record.step)
        return (old.tool, old.input) == (step.tool, step.input)

    def _nothing(self, view: TaskView) -> Stop | None:
        if view.problems:
            why = f"The planner gave up mending its plan. {' '.join(view.problems)}"
            return Stop(kind="planning", why=why)
        if self.task.plans:
            return None
        why = "The planner has no plan for this goal. Say the goal in other words."
        return Stop(kind="planning", why=why)

    def _too_late(self) -> Stop:
        limit = f" of {self.time_limit_s:g} s" if self.time_limit_s is not None else ""
        why = f"The run reached its time limit{limit} while plan {self.task.epoch + 1} was made."
        return Stop(kind="time_limit", why=why)

    def _within_limit(self, plan: Plan) -> Plan | Stop:
        if self.task.epoch < self.max_epochs:
            return plan
        why = f"The run reached its limit of {self.max_epochs} plans before the planner was done."
        return Stop(kind="epochs", why=why)


def _as_problem(text: str) -> PlanProblem:
    return PlanProblem(severity="error", step="", argument="", what=text, mend="")
