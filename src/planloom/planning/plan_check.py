"""The static check of a plan: what can be known to be wrong before the first tool runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from planloom.engine.approval import ApprovalPolicy
from planloom.engine.json_value import JsonValue
from planloom.engine.plan import Plan, PlanProblem, Step
from planloom.engine.plan_structure import structure_problems
from planloom.engine.protocols import PlanCheck, TaskView
from planloom.engine.references import (
    Reference,
    did_you_mean,
    parse_template,
    references_in,
    resolve,
)
from planloom.engine.task import StepResult
from planloom.errors import UnknownToolError
from planloom.planning.type_fit import (
    UNKNOWN,
    NoPartError,
    fits,
    fits_into_text,
    item_type,
    part_type,
)
from planloom.tools.registry import ToolRegistry
from planloom.tools.signature import type_text
from planloom.tools.tool import AnyTool

_NAME_A_STEP = 'Name the step that makes it, such as "$chart", and add one if there is none.'


@dataclass(frozen=True, kw_only=True)
class PlanLimits:
    """What a plan may cost at most."""

    max_steps: int = 200
    max_seconds: float | None = None
    """Of the plan at its worst: each step takes its time limit on each of its attempts, and steps
    run at once where they do not depend on each other. None: no limit."""


def check_plan(
    plan: Plan,
    registry: ToolRegistry,
    *,
    policy: ApprovalPolicy | None = None,
    known: Mapping[str, StepResult] | None = None,
    limits: PlanLimits | None = None,
) -> tuple[PlanProblem, ...]:
    """Return what is wrong with a plan, in its order; it may run when no problem is an error.

    `known` are results of earlier plans, by step id, which this one may refer to.
    """
    return _check(plan, registry, policy, known or {}, limits, _SoundSteps())


def checked_by(
    registry: ToolRegistry,
    *,
    policy: ApprovalPolicy | None = None,
    limits: PlanLimits | None = None,
) -> PlanCheck:
    """Return the check as the engine takes it."""
    sound = _SoundSteps()

    def check(plan: Plan, view: TaskView) -> tuple[PlanProblem, ...]:
        return _check(plan, registry, policy, view.results, limits, sound)

    return check


def worst_case_seconds(plan: Plan, registry: ToolRegistry) -> float:
    """Return how long a plan takes at worst: its longest chain of steps, each at its time limit.

    The graph of the plan must be sound; steps run at once where they do not depend on each other.
    """
    left = {step.id: step for step in plan.steps}
    ends: dict[str, float] = {}
    while left:
        ready = [s for s in left.values() if not left.keys() & set(s.depends_on)]
        for step in ready:
            begin = max((ends.get(needed, 0.0) for needed in step.depends_on), default=0.0)
            ends[step.id] = begin + _step_seconds(step, registry)
            del left[step.id]
    return max(ends.values(), default=0.0)


def _step_seconds(step: Step, registry: ToolRegistry) -> float:
    try:
        tool = registry.get(step.tool)
    except UnknownToolError:
        return 0.0
    return tool.timeout_s * (tool.retries + 1)


class _SoundSteps:
    """Steps with which nothing was wrong: a plan that grows step by step keeps those it has."""

    def __init__(self) -> None:
        self._sound: set[tuple[str, ...]] = set()

    def problems(self, step: Step, check: _Check) -> list[PlanProblem]:
        """Return what is wrong with a step, looked for once while its sources stay the same."""
        tools = (check.producer(name) or "" for name in step.references)
        # The text of the input and not the input: 1 equals True, and only one of them is a number.
        key = (step.id, step.tool, repr(step.input), *tools)
        if key in self._sound:
            return []
        found = list(check.step(step))
        if not found:
            self._sound.add(key)
        return found


def _check(
    plan: Plan,
    registry: ToolRegistry,
    policy: ApprovalPolicy | None,
    known: Mapping[str, StepResult],
    limits: PlanLimits | None,
    sound: _SoundSteps,
) -> tuple[PlanProblem, ...]:
    structure = structure_problems(plan, known)
    check = _Check(plan, registry, policy or ApprovalPolicy(), known, limits or PlanLimits())
    steps = [problem for step in plan.steps for problem in sound.problems(step, check)]
    # Costs and idle steps mean nothing before the graph is sound.
    return (*structure, *steps, *(() if structure else check.whole()))


class _Check:
    def __init__(
        self,
        plan: Plan,
        registry: ToolRegistry,
        policy: ApprovalPolicy,
        known: Mapping[str, StepResult],
        limits: PlanLimits,
    ):
        self._plan = plan
        self._registry = registry
        self._policy = policy
        self._limits = limits
        # A step of the plan hides an earlier one of the same id.
        self._producers = {name: result.tool for name, result in known.items()}
        self._producers |= {step.id: step.tool for step in plan.steps}

    def producer(self, step_id: str) -> str | None:
        """Return the tool that makes the result of a step; None where no step has that id."""
        return self._producers.get(step_id)

    def step(self, step: Step) -> Iterator[PlanProblem]:
        """Yield what is wrong with one step by itself."""
        try:
            tool = self._registry.get(step.tool)
        except UnknownToolError as error:
            yield _problem("error", step, what=str(error), mend="Use a registered tool.")
            return
        spelled = tuple(self._spelled_references(step, tool))
        yield from spelled
        yield from self._arguments(step, {problem.argument for problem in spelled})
        for parameter in tool.inputs:
            if parameter.name in step.input:
                value = step.input[parameter.name]
                yield from self._references(step, parameter.name, value, parameter.annotation)
        yield from self._approval(step, tool)

    def whole(self) -> Iterator[PlanProblem]:
        """Yield what is wrong with the plan as a whole."""
        yield from self._idle_steps()
        count, most = len(self._plan.steps), self._limits.max_steps
        if count > most:
            what = f"it has {count} steps; at most {most} are allowed."
            yield _problem("error", None, what=what, mend="Merge steps or leave some out.")
        limit = self._limits.max_seconds
        longest = 0.0 if limit is None else worst_case_seconds(self._plan, self._registry)
        if limit is not None and longest > limit:
            what = f"at worst it takes {longest:g} s; at most {limit:g} s are allowed."
            mend = "Leave steps out, or let more of them run side by side."
            yield _problem("error", None, what=what, mend=mend)

    def _spelled_references(self, step: Step, tool: AnyTool) -> Iterator[PlanProblem]:
        # Loads pydantic, which a plan that is only read need not pay for.
        from planloom.tools.spelled_references import spelled_references

        wanted = {parameter.name: parameter.annotation for parameter in tool.inputs}
        for found in spelled_references(tool, step.input):
            # Deeper places have no annotation at hand: the mend names no step for them.
            annotation = wanted[found.argument] if found.place == found.argument else UNKNOWN
            mend = _NAME_A_STEP if annotation is UNKNOWN else self._mend(step, annotation)
            yield _problem("error", step, argument=found.argument, what=str(found), mend=mend)

    def _arguments(self, step: Step, refused: Collection[str]) -> Iterator[PlanProblem]:
        """Yield what does not fit the schema; `refused` names arguments that are wrong already."""
        pending = [
            name
            for name, value in step.input.items()
            if name in refused or any(references_in(value))
        ]
        # The values that are all literal still spell a dollar as "$$".
        given = {
            name: value if name in pending else resolve(value, _no_result)
            for name, value in step.input.items()
        }
        for text in self._registry.check_arguments(step.tool, given, pending=pending):
            signature = self._registry.get(step.tool).signature_line()
            yield _problem(
                "error", step, argument=_argument_of(text), what=text, mend=f"Call {signature}."
            )

    def _references(
        self, step: Step, argument: str, value: JsonValue, wanted: object
    ) -> Iterator[PlanProblem]:
        if isinstance(value, str):
            yield from self._text(step, argument, value, wanted)
        elif isinstance(value, Mapping):
            for item in value.values():
                yield from self._references(step, argument, item, UNKNOWN)
        elif isinstance(value, list):
            for item in value:
                yield from self._references(step, argument, item, item_type(wanted))

    def _text(self, step: Step, argument: str, text: str, wanted: object) -> Iterator[PlanProblem]:
        parts = parse_template(text)
        references = [part for part in parts if isinstance(part, Reference)]
        alone = len(parts) == 1
        for reference in references:
            try:
                given = self._type_of(reference)
            except _UnknownPartError as error:
                yield _problem("error", step, argument=argument, what=error.what, mend=error.mend)
                continue
            if alone and not fits(given, wanted):
                what = f"'{reference}' is {type_text(given)}, and {type_text(wanted)} is wanted."
                mend = self._mend(step, wanted)
                yield _problem("error", step, argument=argument, what=what, mend=mend)
            elif not alone and not fits_into_text(given):
                what = f"'{reference}' is {type_text(given)}, which cannot be written into text."
                mend = f"Refer to a field of it, or pass '{reference}' alone."
                yield _problem("error", step, argument=argument, what=what, mend=mend)
        if references and not alone and not fits(str, wanted):
            what = f"text with references in it is given, and {type_text(wanted)} is wanted."
            mend = f"Pass '{references[0]}' alone."
            yield _problem("error", step, argument=argument, what=what, mend=mend)

    def _type_of(self, reference: Reference) -> object:
        """Return the type that a reference stands for; unknown where its step is unknown."""
        tool = self._producers.get(reference.step)
        if tool is None:
            return UNKNOWN  # the structure check has said so
        try:
            annotation = self._registry.get(tool).result_type
        except UnknownToolError:
            return UNKNOWN
        reached = Reference(reference.step)
        for part in reference.path:
            try:
                annotation = part_type(annotation, part)
            except NoPartError as error:
                raise _UnknownPartError(reached, annotation, part, error.parts) from error
            reached = Reference(reached.step, (*reached.path, part))
        return annotation

    def _mend(self, step: Step, wanted: object) -> str:
        """Name the steps whose results would do."""
        others = (Reference(name) for name in self._producers if name != step.id)
        fitting = [f"'{other}'" for other in others if self._would_fit(other, wanted)]
        return f"Use {' or '.join(fitting[:5])}." if fitting else "Add a step that makes one."

    def _would_fit(self, reference: Reference, wanted: object) -> bool:
        given = self._type_of(reference)
        return given is not UNKNOWN and fits(given, wanted)

    def _approval(self, step: Step, tool: AnyTool) -> Iterator[PlanProblem]:
        rule = self._policy.rule(tool.name, tool.effect, tool.approval)
        effect = f"'{tool.name}' has the effect '{tool.effect}'"
        if rule == "ask":
            what = f"{effect}: a person will be asked before it runs."
            yield _problem("info", step, what=what, mend="")
        elif rule == "deny":
            what = f"{effect}, which the policy denies."
            yield _problem("error", step, what=what, mend="Reach the goal without it.")

    def _idle_steps(self) -> Iterator[PlanProblem]:
        if not self._plan.outputs:
            return
        steps = {step.id: step for step in self._plan.steps}
        used: set[str] = set()
        waiting = list(self._plan.outputs)
        while waiting:
            name = waiting.pop()
            if name in steps and name not in used:
                used.add(name)
                waiting += steps[name].depends_on
        for step in self._plan.steps:
            # A mail is an end in itself.
            if step.id not in used and self._effect(step) in {"pure", "read"}:
                what = "no output depends on it."
                mend = "Leave it out, use its result, or name it as an output."
                yield _problem("warning", step, what=what, mend=mend)

    def _effect(self, step: Step) -> str:
        try:
            return self._registry.get(step.tool).effect
        except UnknownToolError:
            return ""


class _UnknownPartError(Exception):
    def __init__(
        self, reached: Reference, annotation: object, part: str | int, parts: tuple[str, ...]
    ):
        self.what = f"'{reached}' is {type_text(annotation)} and has no '{part}'."
        has = f"It has: {', '.join(parts)}." if parts else f"Use '{reached}' itself."
        self.mend = has + did_you_mean(str(part), parts)
        super().__init__(self.what)


def _no_result(step_id: str) -> object:
    raise KeyError(step_id)


def _argument_of(text: str) -> str:
    """Return the argument that a finding of the argument check begins with: `'xs[0]' must ...`."""
    name = text[1:].partition("'")[0] if text.startswith("'") else ""
    return name.partition("[")[0].partition(".")[0]


def _problem(
    severity: Literal["error", "warning", "info"],
    step: Step | None,
    *,
    argument: str = "",
    what: str,
    mend: str,
) -> PlanProblem:
    step_id = step.id if step else ""
    return PlanProblem(severity=severity, step=step_id, argument=argument, what=what, mend=mend)
