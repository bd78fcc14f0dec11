"""Plans that a person sees before they run: shown alone, or shown, edited and approved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from planloom.engine import stop_reasons
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.plan_structure import structure_problems
from planloom.engine.protocols import PlanCheck, Planner, PlanningEndedError, TaskView
from planloom.errors import PlanError, UnknownToolError
from planloom.notes import Note
from planloom.planning.plan_check import checked_by, worst_case_seconds
from planloom.tools.registry import ToolRegistry

Review = Callable[[Plan, TaskView], Awaitable[Plan | None]]
"""Shows a plan to a person and returns it as they left it; None when they declined it.

After an edit that does not pass the check it is called again: the view then has the edited plan as
`rejected` and what is wrong with it as `problems`.
"""

MAX_EDITS = 5
"""How often a person may mend one edited plan."""


class ReviewedPlanner:
    """A planner whose plans run only after a person has seen them.

    Nothing starts ahead. What the inner planner gets wrong goes back to it before the person is
    troubled; the engine bounds how often.
    """

    def __init__(self, inner: Planner, review: Review, check: PlanCheck):
        self._inner = inner
        self._review = review
        self._check = check

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan as the person left it.

        Raises:
            PlanningEndedError: they declined it.
            Exception: whatever the inner planner raises.
        """
        view = replace(view, ahead=None)
        proposed = await self._inner.plan(view)
        if proposed is None or _errors(proposed, view, self._check):
            return proposed  # the engine finds the same errors, and asks again
        return await self._reviewed(proposed, replace(view, rejected=None, problems=()))

    async def _reviewed(self, proposed: Plan, view: TaskView) -> Plan:
        shown, errors = proposed, tuple[str, ...]()
        for _ in range(MAX_EDITS + 1):
            edited = await self._review(shown, view)
            if edited is None:
                raise PlanningEndedError(
                    "declined",
                    "The plan was declined, so nothing of it was run.",
                    zh="计划未获批准，因此没有执行。",
                )
            errors = _errors(edited, view, self._check)
            if not errors:
                return edited
            shown, view = edited, replace(view, rejected=edited, problems=errors)
        raise PlanningEndedError(
            "declined",
            f"The edited plan had errors {MAX_EDITS + 1} times, so nothing of it was run: "
            f"{errors[0]}",
            zh=f"修改后的计划连续 {MAX_EDITS + 1} 次未通过检查，因此没有执行：{errors[0]}",
        )


@dataclass(frozen=True, kw_only=True)
class PlanPreview:
    """A plan that was not run, and what is known of it."""

    plan: Plan | None
    """None when the planner made none; then `problems` say why."""
    problems: tuple[PlanProblem, ...]
    """What the check found; the plan could run when none is an error."""
    worst_seconds: float = 0.0
    """The longest that running it may take: its longest chain of steps at their time limits."""
    approvals: tuple[str, ...] = ()
    """Ids of the steps before which a person would be asked."""

    @property
    def can_run(self) -> bool:
        """Whether there is a plan that passes its check."""
        return self.plan is not None and not any(p.severity == "error" for p in self.problems)


@dataclass(frozen=True, kw_only=True)
class PlanRules:
    """What plans are checked against."""

    registry: ToolRegistry
    policy: ApprovalPolicy

    def preview(self, plan: Plan, view: TaskView) -> PlanPreview:
        """Return what is known of a plan before it runs."""
        structure = structure_problems(plan, view.results)
        return PlanPreview(
            plan=plan,
            problems=checked_by(self.registry, policy=self.policy)(plan, view),
            # A plan that waits for itself would take for ever.
            worst_seconds=0.0 if structure else worst_case_seconds(plan, self.registry),
            approvals=tuple(step.id for step in plan.steps if self._rule(step) == "ask"),
        )

    def is_reading(self, plan: Plan) -> bool:
        """Whether a plan only prepares another one, and changes nothing in the world."""
        return not plan.outputs and all(
            self._effect(step) in {"pure", "read"} and self._rule(step) == "allow"
            for step in plan.steps
        )

    def _effect(self, step: Step) -> str:
        try:
            return self.registry.get(step.tool).effect
        except UnknownToolError:
            return ""

    def _rule(self, step: Step) -> str:
        try:
            tool = self.registry.get(step.tool)
        except UnknownToolError:
            return ""
        return self.policy.rule(tool.name, tool.effect, tool.approval)


async def preview_plan(
    planner: Planner, view: TaskView, rules: PlanRules, *, max_tries: int = 3
) -> PlanPreview:
    """Return the planner's next plan with what is known of it; nothing is run.

    Errors go back to the planner up to `max_tries` times in all.

    Raises:
        BudgetExhaustedError, ModelError: the planner could not ask its model.
    """
    view = replace(view, ahead=None)
    preview = _no_plan(stop_reasons.no_plan().text("en"))
    for _ in range(max_tries):
        try:
            plan = await planner.plan(view)
        except PlanError as error:
            preview = _no_plan(str(error))
        else:
            if plan is None:
                return preview
            preview = rules.preview(plan, view)
        if preview.can_run:
            return preview
        view = replace(view, rejected=preview.plan, problems=_told(preview.problems))
    return preview


class PlanOnly:
    """A planner that ends the run with the first plan that would make something.

    Where only the plan was wanted, the run has succeeded; where it is `unapproved`, since nobody
    could be asked, the run waits.
    A planner that has to see the data first gets to: its plans without outputs run when all their
    steps only read or compute and need nobody's word. The plan itself is in `preview` afterwards.
    """

    def __init__(
        self,
        inner: Planner,
        rules: PlanRules,
        *,
        max_tries: int = 3,
        ends_as: Literal["plan_only", "unapproved"] = "plan_only",
    ):
        self._inner = inner
        self._rules = rules
        self._ends_as: Literal["plan_only", "unapproved"] = ends_as
        self._max_tries = max_tries
        self.preview: PlanPreview | None = None
        """The plan that was asked for; None before there is one."""

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return a plan that only reads.

        Raises:
            PlanningEndedError: the plan to be shown is there, or none can be had; see `preview`.
        """
        preview = await preview_plan(self._inner, view, self._rules, max_tries=self._max_tries)
        if preview.plan and preview.can_run and self._rules.is_reading(preview.plan):
            return preview.plan
        self.preview = preview
        why = _ENDS[self._ends_as] if preview.can_run else _no_runnable_plan(preview)
        raise PlanningEndedError(
            self._ends_as if preview.can_run else "planning", why.text("en"), zh=why.text("zh")
        )


_ENDS = {
    "plan_only": Note("Only the plan was asked for.", "按要求只制定了计划。"),
    "unapproved": Note(
        "The plan waits for approval, and nobody could be asked here.",
        "计划等待批准，但当前无法询问。",
    ),
}


def _no_runnable_plan(preview: PlanPreview) -> Note:
    errors = (problem for problem in preview.problems if problem.severity == "error")
    return stop_reasons.no_runnable_plan([problem.finding for problem in errors])


def _no_plan(why: str) -> PlanPreview:
    problem = PlanProblem(severity="error", step="", argument="", what=why, mend="")
    return PlanPreview(plan=None, problems=(problem,))


def _told(problems: Sequence[PlanProblem]) -> tuple[str, ...]:
    return tuple(str(problem) for problem in problems if problem.severity == "error")


def _errors(plan: Plan, view: TaskView, check: PlanCheck) -> tuple[str, ...]:
    structure = structure_problems(plan, view.results)
    return _told(structure or check(plan, view))
