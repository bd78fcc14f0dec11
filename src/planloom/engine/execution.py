"""Executes a task: plan, run what is ready, settle what ended, plan again; until the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from planloom.engine import stop_reasons
from planloom.engine.approval import ApprovalPolicy, ApprovalRequest, Decision
from planloom.engine.frontier import Frontier
from planloom.engine.json_value import JsonObject
from planloom.engine.plan import Plan, Step
from planloom.engine.planning import Planning, WorkUntil
from planloom.engine.progress import TaskRecorder
from planloom.engine.protocols import (
    Approver,
    PlanCheck,
    Planner,
    StepCall,
    StepOutcome,
    StepRules,
    StepRunner,
)
from planloom.engine.rollback import Rollback
from planloom.engine.runtime import Handle, Runtime
from planloom.engine.step_work import AskWork, Backoff, StepWork
from planloom.engine.task import OPEN_STATES, StepState, Stop, StopKind, Task, weightier
from planloom.errors import PlanloomError, ToolError
from planloom.events import EventStream
from planloom.notes import Lang, Note


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The limits and rules of a run."""

    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    backoff: Backoff = field(default_factory=Backoff)
    max_parallel: int = 8
    """Steps that run at once; those that wait for a person do not count."""
    max_epochs: int = 10
    """Plans that are run."""
    max_plan_tries: int = 3
    """How often a planner may mend one plan that does not pass its check."""
    time_limit_s: float | None = None
    """Of the whole run; what runs then is ended."""
    lang: Lang = "en"
    """Language in which the user is told why the run ended early."""


async def execute(
    task: Task,
    *,
    planner: Planner,
    step_runner: StepRunner,
    runtime: Runtime,
    events: EventStream,
    approver: Approver | None = None,
    check: PlanCheck | None = None,
    options: RunOptions | None = None,
    save: Callable[[Task], None] | None = None,
) -> Task:
    """Execute a task and return it with its verdict in `status`.

    A task that was executed before and is waiting goes on where it stood: nothing that has ended
    is run again. `save` is called whenever the records have changed.

    Raises:
        ValueError: the task has ended already.
        CancelledError: the run was cancelled; the task says so and holds what was made.
        Exception: whatever a step runner or planner raised that is no PlanError: a bug. The task
            is as true as after a cancellation.
    """
    if task.status not in {"queued", "running", "waiting", "paused"}:
        raise ValueError(f"Run '{task.id}' has ended ({task.status}); start a new one.")
    options = options or RunOptions()
    recorder = TaskRecorder(task, events, runtime.now, save)
    planning = Planning(
        task=task,
        planner=planner,
        runner=step_runner,
        runtime=runtime,
        recorder=recorder,
        check=check,
        policy=options.policy,
        lang=options.lang,
        max_epochs=options.max_epochs,
        max_tries=options.max_plan_tries,
    )
    rollback = Rollback(
        task=task,
        runner=step_runner,
        runtime=runtime,
        recorder=recorder,
        backoff=options.backoff,
    )
    execution = _Execution(
        task=task,
        runner=step_runner,
        runtime=runtime,
        recorder=recorder,
        approver=approver,
        options=options,
        next_plan=planning.next_plan,
        undo_effects=rollback.undo_effects,
    )
    await execution.run()
    return task


@dataclass(kw_only=True)
class _Execution:
    task: Task
    runner: StepRunner
    runtime: Runtime
    recorder: TaskRecorder
    approver: Approver | None
    options: RunOptions
    next_plan: Callable[[WorkUntil], Awaitable[Plan | Stop | None]]
    undo_effects: Callable[[], Awaitable[None]]
    running: dict[str, tuple[Handle, Step]] = field(default_factory=dict[str, tuple[Handle, Step]])
    """Steps at work, by key of the step."""
    asked: dict[str, tuple[Handle, Step]] = field(default_factory=dict[str, tuple[Handle, Step]])
    """Questions that a person has not answered, by key of the step."""
    approved: set[str] = field(default_factory=set[str])
    """Keys of the steps that a person has approved."""
    rounds: dict[str, int] = field(default_factory=dict[str, int])
    """How often a step was started or asked about, by key."""
    frontier: Frontier = field(default_factory=Frontier)
    deadline: Handle | None = None

    async def run(self) -> None:
        self.recorder.begin()
        self._reopen_steps()
        try:
            await self._set_deadline()
            while self._may_go_on() and await self._has_steps():
                await self._work_until()
            if self.task.stop and self.task.stop.kind == "rollback":
                await self.undo_effects()
        except asyncio.CancelledError:
            await self._abandon("cancelled", self._said(stop_reasons.cancelled()))
            raise
        except PlanloomError as error:
            why = stop_reasons.cannot_go_on(error.text(self.options.lang))
            await self._abandon("crash", self._said(why))
            raise
        except Exception as error:
            why = stop_reasons.bug(f"{type(error).__name__}: {error}")
            await self._abandon("crash", self._said(why))
            raise
        finally:
            try:
                self.recorder.end()
            finally:
                # Nothing outlives the run, also when its record could not be written.
                await self._cancel_all()

    async def _work_until(
        self, handles: Sequence[Handle] = (), *, or_when: Callable[[], bool] | None = None
    ) -> Handle | None:
        """Run the steps that can run; see `WorkUntil`. Without handles: until none can."""
        self.frontier = Frontier(self.task.open_steps())
        while True:
            self._sort_out()
            await self._start_ready()
            own = [handle for handle, _ in (*self.running.values(), *self.asked.values())]
            stopped = self.task.stop is not None and handles
            if stopped or (or_when and or_when()) or not (own or handles):
                return None
            awaited = [*handles, *own, *([self.deadline] if self.deadline else [])]
            first = await self.runtime.wait_first(awaited)
            if any(first.key == handle.key for handle in handles):
                return first
            await self._settle(first, is_planning=bool(handles))

    # -- planning

    def _may_go_on(self) -> bool:
        states = {record.state for record in self.task.epoch_records()}
        return self.task.stop is None and "waiting_approval" not in states

    async def _has_steps(self) -> bool:
        return bool(self.task.open_steps()) or await self._plan_next()

    async def _plan_next(self) -> bool:
        answer = await self.next_plan(self._work_until)
        if isinstance(answer, Stop):
            await self._stop(answer.kind, answer.why)
        # After a stop, too, what was started while the plan was written may end.
        return isinstance(answer, Plan) or bool(self.running)

    # -- starting

    def _reopen_steps(self) -> None:
        """Make steps that an earlier process left behind ready again, as far as that is safe."""
        if self.task.stop and self.task.stop.kind == "unapproved":
            self.task.stop = None  # its planner asks again
        for step in self.task.open_steps():
            record = self.task.record(step.id)
            if record.state == "running" and not self._may_repeat(step):
                error = "It was running when the run stopped; its effect may have happened."
                self._record(step, "unknown", error=error)
            elif record.state == "waiting_approval" and record.error:
                self._record(step, "failed")
            elif record.state != "pending":
                self._record(step, "pending")

    def _may_repeat(self, step: Step) -> bool:
        rules = self._rules(step)
        return isinstance(rules, StepRules) and rules.repeatable

    def _sort_out(self) -> None:
        """Find the steps that can start now, and end those that never can."""
        for step in self.frontier.changed():
            if self.task.record(step.id).state == "pending":
                end = self._end_without_needed(step)
                if end:
                    self._record(step, end[0], error=end[1])
                elif self._is_ready(step):
                    self.frontier.add_ready(step)

    async def _start_ready(self) -> None:
        while len(self.running) < self.options.max_parallel and self.task.stop is None:
            step = self.frontier.next_ready()
            if step is None:
                return
            await self._start(step)

    def _is_ready(self, step: Step) -> bool:
        sources = (self.task.source_of(needed) for needed in step.depends_on)
        return all(source and source.state in {"succeeded", "skipped"} for source in sources)

    def _end_without_needed(self, step: Step) -> tuple[StepState, str] | None:
        """Return how a step ends that needs what never came; None while it may come."""
        ends = (self._end_without(name, used=name in step.references) for name in step.depends_on)
        return next((end for end in ends if end), None)

    def _end_without(self, needed: str, *, used: bool) -> tuple[StepState, str] | None:
        source = self.task.source_of(needed)
        if source is None:
            return "blocked", f"It needs '{needed}', which no plan holds."
        if source.state == "blocked":
            return "blocked", source.error
        if source.state in {"failed", "cancelled", "unknown", "compensated"}:
            return "blocked", f"It needs '{needed}' ({source.state}): {source.error}"
        if source.state == "skipped" and used:
            return "skipped", f"It needs '{needed}' (skipped): {source.error}"
        return None

    async def _start(self, step: Step) -> None:
        rules = self._rules(step)
        if isinstance(rules, ToolError):
            await self._fail(step, StepOutcome(error=str(rules), error_kind="unknown_tool"))
            return
        rule = self.options.policy.rule(step.tool, rules.effect, rules.approval)
        if rule == "deny":
            error = f"The policy denies '{step.tool}' (effect '{rules.effect}')."
            await self._fail(step, StepOutcome(error=error, error_kind="denied", attempts=0))
        elif rule == "ask" and self.task.key(step.id) not in self.approved:
            await self._ask(step, rules)
        else:
            await self._run_step(step, rules)

    def _rules(self, step: Step) -> StepRules | ToolError:
        try:
            return self.runner.rules(step)
        except ToolError as error:
            return error

    async def _run_step(self, step: Step, rules: StepRules) -> None:
        # Written before the work begins: a crash must not leave an effect without a trace.
        self._record(step, "running")
        work = StepWork(runner=self.runner, runtime=self.runtime, backoff=self.options.backoff)
        call = self._call(step, rules)
        handle = await self.runtime.start(self._handle_key(step), work, call.to_json())
        self.running[call.key] = (handle, step)

    def _call(self, step: Step, rules: StepRules) -> StepCall:
        sources = {name: self.task.source_of(name) for name in step.references}
        results = {name: s.result for name, s in sources.items() if s and s.result}
        # Sending mail twice is worse than failing: what may not be repeated gets one attempt.
        retries = rules.retries if rules.repeatable else 0
        return StepCall(key=self.task.key(step.id), step=step, results=results, retries=retries)

    def _handle_key(self, step: Step) -> str:
        """Return a key that was never started: the step's own, at first."""
        key = self.task.key(step.id)
        self.rounds[key] = self.rounds.get(key, 0) + 1
        return key if self.rounds[key] == 1 else f"{key}~{self.rounds[key]}"

    async def _ask(self, step: Step, rules: StepRules, failed: StepOutcome | None = None) -> None:
        """Have a person decide about a step, or about another try of one that failed."""
        call = self._call(step, rules)
        request = ApprovalRequest(
            key=call.key,
            tool=step.tool,
            effect=rules.effect,
            description=step.description,
            arguments=self.runner.shown_arguments(call),
            error=failed.error if failed else "",
        )
        asks = self._said(stop_reasons.waits_for_approval(request, step.id))
        self._record(step, "waiting_approval", failed, asks=asks)
        self.recorder.approval(request, None)
        if self.approver:
            number = self.rounds[call.key] = self.rounds.get(call.key, 0) + 1
            work = AskWork(approver=self.approver)
            handle = await self.runtime.start(f"{call.key}?{number}", work, request.to_json())
            self.asked[call.key] = (handle, step)

    # -- settling

    async def _settle(self, handle: Handle, *, is_planning: bool) -> None:
        if self.deadline and handle.key == self.deadline.key:
            plan = self.task.epoch + 1 if is_planning else None
            why = stop_reasons.time_limit(self.options.time_limit_s or 0.0, planning=plan)
            await self._abandon("time_limit", self._said(why))
            return
        for key, (asked, step) in self.asked.items():
            if asked.key == handle.key:
                del self.asked[key]
                await self._settle_question(step, await self.runtime.result(handle))
                return
        key = next(key for key, (running, _) in self.running.items() if running.key == handle.key)
        await self._settle_step(self.running.pop(key)[1], handle)

    async def _settle_step(self, step: Step, handle: Handle) -> None:
        try:
            outcome = StepOutcome.from_json(await self.runtime.result(handle))
        except Exception as error:
            known = isinstance(error, PlanloomError)
            said = str(error) if known else f"{type(error).__name__}: {error}"
            self._record(step, "failed", StepOutcome(error=said, error_kind="crash"))
            raise
        if outcome.result:
            self._record(step, "succeeded", outcome)
        else:
            await self._fail(step, outcome)

    async def _settle_question(self, step: Step, answer: JsonObject) -> None:
        record = self.task.record(step.id)
        if answer["decision"] is None:
            if record.error:  # a failed step that nobody could be asked about
                self._record(step, "failed")
            return
        decision = Decision.from_json(answer["decision"])
        self.recorder.approval(record.key, decision)
        if decision.approved:
            self.approved.add(record.key)
            self._record(step, "pending")
            self.frontier.look_at(step.id)
        elif record.error:
            self._record(step, "failed")
        else:
            by = f" by {decision.by}" if decision.by else ""
            note = f": {decision.note}" if decision.note else "."
            error = f"The call was denied{by}{note}"
            await self._fail(step, StepOutcome(error=error, error_kind="denied", attempts=0))

    async def _fail(self, step: Step, outcome: StepOutcome) -> None:
        """Record a failure and do what the step says is to happen then."""
        rules = self._rules(step)
        # Once the run stops, an answer could change nothing.
        stopped = self.task.stop is not None
        is_final = stopped or outcome.error_kind in {"denied", "budget"}
        may_ask = self.approver is not None and not is_final
        if step.on_failure == "ask" and may_ask and isinstance(rules, StepRules):
            await self._ask(step, rules, outcome)
            return
        self._record(step, "skipped" if step.on_failure == "skip" else "failed", outcome)
        why = self._said(stop_reasons.step_failed(step.id, outcome.error))
        if step.on_failure == "rollback":
            await self._stop("rollback", why)
        elif outcome.error_kind == "budget":
            # Whatever comes next would find the same: no step may spend any more.
            await self._stop("budget", outcome.error)
        elif step.on_failure == "fail":
            await self._stop("step", why)

    def _record(
        self,
        step: Step,
        state: StepState,
        outcome: StepOutcome | None = None,
        *,
        error: str | None = None,
        asks: str = "",
    ) -> None:
        self.recorder.step(step, state, outcome, error=error, asks=asks)
        if state not in OPEN_STATES:
            self.frontier.note_end(step.id)

    # -- stopping

    async def _set_deadline(self) -> None:
        limit = self.options.time_limit_s
        if limit is not None:
            key = f"{self.task.id}/deadline"
            self.deadline = await self.runtime.start(key, self._wait, {"seconds": limit})

    async def _wait(self, argument: JsonObject) -> JsonObject:
        seconds = argument["seconds"]
        assert isinstance(seconds, int | float)  # noqa: S101 -- written three lines above
        await self.runtime.sleep(seconds)
        return {}

    async def _cancel_all(self) -> None:
        handles = [handle for handle, _ in (*self.running.values(), *self.asked.values())]
        await self.runtime.cancel([*handles, *([self.deadline] if self.deadline else [])])

    async def _stop(self, kind: StopKind, why: str) -> None:
        """Start nothing more and call off what waits; what runs may end."""
        self.task.stop = weightier(self.task.stop, Stop(kind=kind, why=why))
        asked = [handle for handle, _ in self.asked.values()]
        self.asked.clear()
        await self.runtime.cancel(asked)
        for step in self.task.open_steps():
            if self.task.record(step.id).state != "running":
                not_started = self._said(stop_reasons.not_started(why))
                self._record(step, "cancelled", error=not_started)

    async def _abandon(self, kind: StopKind, why: str) -> None:
        """End everything that runs, and record how each ended."""
        await self._stop(kind, why)
        ended = await self.runtime.cancel([handle for handle, _ in self.running.values()])
        kept = {handle.key for handle in ended}
        for handle, step in self.running.values():
            if handle.key in kept:
                outcome = StepOutcome.from_json(await self.runtime.result(handle))
                self._record(step, "succeeded" if outcome.result else "failed", outcome)
            else:
                self._record(step, "cancelled", error=self._cancelled_text(step, why))
        self.running.clear()

    def _cancelled_text(self, step: Step, why: str) -> str:
        rules = self._rules(step)
        if isinstance(rules, StepRules) and rules.effect in {"pure", "read"}:
            return why
        return self._said(stop_reasons.may_have_happened(why))

    def _said(self, why: Note) -> str:
        return why.text(self.options.lang)
