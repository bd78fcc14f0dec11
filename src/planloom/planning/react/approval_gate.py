"""Asks whether a call of the loop may be made, and says what a model is told when it may not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from planloom.engine.approval import ApprovalPolicy, ApprovalRequest, Decision
from planloom.planning.react.toolbox import Observation
from planloom.tools.tool import Approval, Effect

if TYPE_CHECKING:
    from planloom.engine.protocols import Approver

_ERROR_CHARS = 300
_SAY_SO = "Do without it, and say in your answer that it was not done."

MakeRequest = Callable[[], Awaitable[ApprovalRequest]]
"""Makes what a person is shown; only where one is asked."""
Tell = Callable[[ApprovalRequest, Decision | None], None]
"""Is told that a person is asked, with None, and what was decided."""


@dataclass(frozen=True)
class ApprovalGate:
    """The rules for calls, and the person who is asked where they want it."""

    policy: ApprovalPolicy
    approver: Approver | None = None
    """None: what has to be asked for is not done."""
    tell: Tell | None = None

    async def refusal(
        self, tool: str, effect: Effect, approval: Approval, request: MakeRequest
    ) -> Observation | None:
        """Return why a call may not be made; None when it may."""
        rule = self.policy.rule(tool, effect, approval)
        if rule == "allow":
            return None
        if rule == "deny":
            return _refused(
                tool, f"The policy denies '{tool}' (effect '{effect}').", "Do without it."
            )
        try:
            decision = await self._decision(request)
        except Exception as error:  # noqa: BLE001 -- an approver may fail in any way: not approved
            said = f"{type(error).__name__}: {error}"[:_ERROR_CHARS]
            return _refused(tool, f"The approval could not be asked for: {said}.", _SAY_SO)
        if decision is None:
            said = (
                f"Not done: '{tool}' needs the approval of a person, and nobody can be asked now."
            )
            seen = Observation.failure("denied", f"{said} {_SAY_SO}")
            return replace(seen, lacks_approval=effect)
        if decision.approved:
            return None
        by = f" by {decision.by}" if decision.by else ""
        note = f": {decision.note}" if decision.note else "."
        return _refused(tool, f"The call was denied{by}{note}")

    async def _decision(self, request: MakeRequest) -> Decision | None:
        asked = await request()
        if self.tell:
            self.tell(asked, None)
        answer = await self.approver.ask(asked) if self.approver else None
        decision = cast("object", answer)  # an approver without types may return anything
        if decision is None:
            return None
        if not isinstance(decision, Decision):
            raise TypeError(f"The approver returned {decision!r}; it has to be a Decision or None.")
        if self.tell:
            self.tell(asked, decision)
        return decision


def _refused(tool: str, why: str, advice: str = "") -> Observation:
    said = f"'{tool}' was not called. {why} {advice}".strip()
    return replace(Observation.failure("denied", said), refusal=why)
