"""The work that a runtime runs: a step's attempts with pauses between, its undoing, a question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from planloom.engine.approval import ApprovalRequest
from planloom.engine.json_value import JsonObject
from planloom.engine.protocols import Approver, StepCall, StepOutcome, StepRunner
from planloom.engine.runtime import Runtime
from planloom.errors import BudgetExhaustedError, ModelError


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """How long to wait before another attempt."""

    base_s: float = 0.5
    """Longest wait after the first attempt."""
    factor: float = 2.0
    """Growth with every further attempt."""
    limit_s: float = 30.0
    """No wait is longer."""

    def delay_s(self, attempt: int, chance: float) -> float:
        """Return the wait after an attempt, from 1; `chance` in [0, 1) spreads it over half.

        Calls that failed together do not come back together.

        >>> [Backoff().delay_s(attempt, 0.5) for attempt in (1, 2, 3)]
        [0.375, 0.75, 1.5]
        """
        longest = min(self.limit_s, self.base_s * self.factor ** (attempt - 1))
        return longest * (0.5 + chance / 2)


@dataclass(frozen=True, kw_only=True)
class StepWork:
    """Runs a step to its end; `Work` for a runtime, made anew from a process's own settings."""

    runner: StepRunner
    runtime: Runtime
    backoff: Backoff

    async def __call__(self, argument: JsonObject) -> JsonObject:
        """Take a `StepCall` and give a `StepOutcome`, both as JSON."""
        call = StepCall.from_json(argument)
        attempts = Attempts(self.runtime, self.backoff, name=call.step.tool)
        return await attempts.make(lambda: self.runner.run(call), limit=call.retries + 1)


@dataclass(frozen=True, kw_only=True)
class UndoWork:
    """Undoes a step; it is tried more stubbornly than the step was."""

    runner: StepRunner
    runtime: Runtime
    backoff: Backoff
    limit: int = 5
    """Most attempts."""

    async def __call__(self, argument: JsonObject) -> JsonObject:
        """Take a `StepCall` whose results hold the step's own, and give a `StepOutcome`."""
        call = StepCall.from_json(argument)
        own = call.results[call.step.id]
        attempts = Attempts(self.runtime, self.backoff, name=f"undo:{call.step.tool}")
        return await attempts.make(lambda: self.runner.undo(call, own), limit=self.limit)


@dataclass(frozen=True)
class Attempts:
    """Makes an attempt again while that may help."""

    runtime: Runtime
    backoff: Backoff
    name: str
    """The attempts are recorded as `name#1`, `name#2`, ..."""

    async def make(
        self, attempt: Callable[[], Awaitable[StepOutcome]], *, limit: int
    ) -> JsonObject:
        """Return the JSON of the first good `StepOutcome`, else of the last of `limit`."""

        async def once() -> JsonObject:
            try:
                return (await attempt()).to_json()
            except (BudgetExhaustedError, ModelError) as error:
                kind = "budget" if isinstance(error, BudgetExhaustedError) else "model"
                return StepOutcome(error=str(error), error_kind=kind).to_json()

        number = 1
        while True:
            recorded = await self.runtime.record(f"{self.name}#{number}", once)
            outcome = StepOutcome.from_json(recorded)
            outcome = replace(outcome, attempts=number - 1 + outcome.attempts)
            if outcome.result or not outcome.may_help_to_retry or number >= limit:
                return outcome.to_json()
            chance = await self.runtime.random()
            await self.runtime.sleep(self.backoff.delay_s(number, chance))
            number += 1


@dataclass(frozen=True, kw_only=True)
class AskWork:
    """Asks a person; `Work` for a runtime, which may keep it waiting for days."""

    approver: Approver

    async def __call__(self, argument: JsonObject) -> JsonObject:
        """Take an `ApprovalRequest` and give `{"decision": ...}`, null when nobody can be asked."""
        decision = await self.approver.ask(ApprovalRequest.from_json(argument))
        return {"decision": decision.to_json() if decision else None}
