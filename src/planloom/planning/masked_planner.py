"""A planner whose model sees stand-ins for personal data in the steps that it wrote before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import Planner, TaskView
from planloom.engine.references import escape_dollars
from planloom.engine.task import StepRecord
from planloom.planning.mask import Mask


class MaskedPlanner:
    """A `Planner` around another: that one reads and writes stand-ins, the engine gets values."""

    def __init__(self, planner: Planner, mask: Mask):
        self._planner = planner
        self._mask = mask

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan of the inner planner, with values in place of stand-ins."""
        if self._mask.sends:
            return await self._planner.plan(view)
        plan = await self._planner.plan(
            replace(
                view,
                plans=tuple(self._hidden(plan) for plan in view.plans),
                rejected=view.rejected and self._hidden(view.rejected),
                records=tuple(map(self._hidden_record, view.records)),
                problems=tuple(map(self._mask.text, view.problems)),
                ahead=view.ahead and self._restoring(view.ahead),
            )
        )
        return plan and replace(
            plan,
            thought=self._mask.restored(plan.thought),
            steps=tuple(map(self._restored, plan.steps)),
        )

    def _restoring(self, ahead: Callable[[Step], None]) -> Callable[[Step], None]:
        return lambda step: ahead(self._restored(step))

    def _restored(self, step: Step) -> Step:
        return replace(
            step,
            input=self._mask.restored_value(step.input, written=escape_dollars),
            description=self._mask.restored(step.description),
        )

    def _hidden(self, plan: Plan) -> Plan:
        steps = tuple(replace(s, input=self._mask.arguments(s.input)) for s in plan.steps)
        return replace(plan, steps=steps)

    def _hidden_record(self, record: StepRecord) -> StepRecord:
        return replace(record, error=self._mask.text(record.error)) if record.error else record
