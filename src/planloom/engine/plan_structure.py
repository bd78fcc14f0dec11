"""Whether a plan is a graph that can be run at all, whatever its tools are."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.references import did_you_mean


def structure_problems(plan: Plan, known: Collection[str] = ()) -> tuple[PlanProblem, ...]:
    """Return the errors in a plan's ids, dependencies and outputs; empty when it can be run.

    `known` are the ids of finished steps of earlier plans, which this one may refer to.
    """
    if not plan.steps:
        return (_error("", "it has no steps.", "Write at least one step that calls a tool."),)
    names = [step.id for step in plan.steps]
    return (
        *_duplicates(names),
        *_same_but_for_case(names),
        *(problem for step in plan.steps for problem in _unbound(step, names, known)),
        *_cycles(plan),
        *_unknown_outputs(plan, names),
    )


def _duplicates(names: list[str]) -> Iterator[PlanProblem]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        mend = f"Give each its own id, such as '{name}_2'."
        yield _error(name, f"{names.count(name)} steps have this id.", mend)


def _same_but_for_case(names: list[str]) -> Iterator[PlanProblem]:
    """Yield an error for each id that differs from an earlier one by capitals alone."""
    first: dict[str, str] = {}
    for name in dict.fromkeys(names):
        twin = first.setdefault(name.casefold(), name)
        if twin != name:
            # Steps write into folders of their ids, which some disks do not tell apart.
            what = f"its id differs from '{twin}' by capital letters alone."
            yield _error(name, what, f"Give it another id, such as '{name}_2'.")


def _unbound(step: Step, names: list[str], known: Collection[str]) -> Iterator[PlanProblem]:
    for needed in step.depends_on:
        if needed == step.id:
            yield _error(step.id, "it depends on itself.", "Refer to another step.")
        elif needed not in names and needed not in known:
            others = [name for name in dict.fromkeys((*names, *known)) if name != step.id]
            hint = did_you_mean(needed, others).strip()
            yield _error(
                step.id,
                f"'{needed}' is not a step of the plan.",
                hint
                or f"Use one of: {', '.join(others) or 'there is no other step'}; "
                f'a dollar sign in text is written "$$".',
            )


def _cycles(plan: Plan) -> Iterator[PlanProblem]:
    """Name the steps of one cycle, found by taking away what can run until nothing can."""
    left = {step.id: set(step.depends_on) - {step.id} for step in plan.steps}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    if left:
        circle = _circle(left)
        shown = " -> ".join([*circle, circle[0]])
        mend = "Remove one of these dependencies."
        yield _error(circle[0], f"it waits for itself: {shown}.", mend)


def _circle(needs: dict[str, set[str]]) -> list[str]:
    """Return a cycle of a graph in which every node needs another one of it."""
    path = [next(iter(needs))]
    while True:
        following = min(needs[path[-1]] & needs.keys())
        if following in path:
            return path[path.index(following) :]
        path.append(following)


def _unknown_outputs(plan: Plan, names: list[str]) -> Iterator[PlanProblem]:
    for output in plan.outputs:
        if output not in names:
            hint = did_you_mean(output, names).strip()
            mend = hint or f"Use one of: {', '.join(dict.fromkeys(names))}."
            yield _error("", f"the output '{output}' is not a step of the plan.", mend)


def _error(step: str, what: str, mend: str) -> PlanProblem:
    return PlanProblem(severity="error", step=step, argument="", what=what, mend=mend)
