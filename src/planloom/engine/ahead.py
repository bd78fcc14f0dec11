"""Steps of a plan that is still being written: which of them may start already.

A planner tells each step as soon as its line is complete (`TaskView.ahead`). A told step is let in
when nothing that may still be written can make it wrong or unwanted by the user: it passes the
static check with the steps that it needs, these are let in too, and it changes nothing in the
world (`pure` or `read`) and needs nobody's word. The others wait for the whole plan and its check.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from planloom.engine.approval import ApprovalPolicy
from planloom.engine.json_value import JsonObject
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.protocols import StepRunner
from planloom.errors import ToolError

Problems = Callable[[Plan], Iterable[PlanProblem]]
"""The static check of a plan, in the task as it stands."""


class ToldSteps:
    """The steps that a planner has told, until someone takes them; wakes who waits for one."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque()
        self._came = asyncio.Event()
        self._closed = False
        self.count = 0
        """How many were told."""

    def tell(self, step: Step) -> None:
        """Take a step; `TaskView.ahead`. What a planner tells after its end means nothing."""
        if not self._closed:
            self._steps.append(step)
            self.count += 1
            self._came.set()

    async def wait(self, _argument: JsonObject) -> JsonObject:
        """Wait for a step; `Work` for a runtime.

        It gives none of them: a runtime that replays its records starts nothing early.
        """
        await self._came.wait()
        return {}

    def take(self) -> list[Step]:
        """Return the steps that have come since the last time."""
        taken = list(self._steps)
        self._steps.clear()
        self._came.clear()
        return taken

    def close(self) -> None:
        """Take no more."""
        self._closed = True


@dataclass(kw_only=True)
class EarlyPlan:
    """The part of one plan that may run while the rest is written."""

    runner: StepRunner
    policy: ApprovalPolicy
    told: dict[str, Step] = field(default_factory=dict[str, Step])
    """By id; of two with one id the first."""
    allowed: dict[str, Step] = field(default_factory=dict[str, Step])
    """Those that may start, in an order in which each follows what it needs."""

    @property
    def plan(self) -> Plan:
        """The plan so far, for the records."""
        return Plan(steps=tuple(self.allowed.values()), complete=False)

    def add(self, told: Iterable[Step]) -> None:
        """Take steps in the order in which they were told."""
        names = {name.casefold() for name in self.told}
        for step in told:
            if step.id.casefold() not in names:  # else the whole plan will not pass
                names.add(step.id.casefold())
                self.told[step.id] = step

    def allow(self, known: Mapping[str, object], problems: Problems) -> list[Step]:
        """Let in what may start by now, and return it.

        `known` has the ids of results of earlier plans, which steps may use.
        """
        news: list[Step] = []
        changed = True
        # Again after each that was let in: a step may be told before one that it needs.
        while changed:
            changed = False
            for step in self.told.values():
                if step.id not in self.allowed and self._may_start(step, known, problems):
                    self.allowed[step.id] = step
                    news.append(step)
                    changed = True
        return news

    def is_kept_by(self, whole: Plan) -> bool:
        """Whether the whole plan holds the steps that may have started, and means the same."""
        steps = {step.id: step for step in whole.steps}
        kept = all(steps.get(name) == step for name, step in self.allowed.items())
        # A later step hides the earlier result that a started one has used.
        return kept and not (self._used() & (steps.keys() - self.allowed.keys()))

    def _may_start(self, step: Step, known: Mapping[str, object], problems: Problems) -> bool:
        return (
            all(self._is_there(name, known) for name in step.depends_on)
            and step.id not in self._used()
            and self._is_harmless(step)
            and self._passes(step, problems)
        )

    def _is_there(self, name: str, known: Mapping[str, object]) -> bool:
        return name in self.allowed or (name in known and name not in self.told)

    def _is_harmless(self, step: Step) -> bool:
        try:
            rules = self.runner.rules(step)
        except ToolError:
            return False
        rule = self.policy.rule(step.tool, rules.effect, rules.approval)
        return rules.effect in {"pure", "read"} and rule == "allow"

    def _passes(self, step: Step, problems: Problems) -> bool:
        found = problems(Plan(steps=(*self._needed(step), step), complete=False))
        return not any(p.severity == "error" and p.step in {step.id, ""} for p in found)

    def _needed(self, step: Step) -> list[Step]:
        """Return what a step needs of this plan, directly or not."""
        found: dict[str, Step] = {}
        waiting = list(step.depends_on)
        while waiting:
            name = waiting.pop()
            if name in self.allowed and name not in found:
                found[name] = self.allowed[name]
                waiting += found[name].depends_on
        return list(found.values())

    def _used(self) -> set[str]:
        return {name for step in self.allowed.values() for name in step.depends_on}
