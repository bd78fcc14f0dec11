"""Calls tools from the ReAct loop inside of a run: each call is a step of the engine, on record."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from planloom.engine.approval import ApprovalPolicy, ApprovalRequest, Decision
from planloom.engine.artifacts import ArtifactStore
from planloom.engine.json_value import JsonValue
from planloom.engine.plan import Step
from planloom.engine.protocols import Approver, StepCall, StepOutcome
from planloom.engine.references import escape_dollars
from planloom.engine.runtime import InMemoryRuntime, Runtime
from planloom.engine.step_work import Attempts, Backoff
from planloom.engine.task import StepResult
from planloom.engine.tool_steps import ToolAccess, ToolStepRunner
from planloom.errors import PlanError, ToolError
from planloom.events import EventStream
from planloom.models.chat_model import Json, ToolSpec
from planloom.planning.mask import UNMASKED, Mask
from planloom.planning.react.approval_gate import ApprovalGate
from planloom.planning.react.observations import rendered, spec_of
from planloom.planning.react.toolbox import Observation, unknown_text
from planloom.tools.registry import ToolRegistry
from planloom.tools.runner import ToolRunner

_GIVEN = "<given>"
"""The "tool" of results that were handed in; no tool can have this name."""
_CALL_REFERENCE = re.compile(r"\$\{?(c\d+)\b[^\s]*\Z")
_NAME = re.compile(r"\{?(\w+)")


@dataclass(frozen=True, kw_only=True)
class RunTools:
    """What the tools of a run have in common."""

    registry: ToolRegistry
    runner: ToolRunner
    store: ArtifactStore
    events: EventStream
    access: ToolAccess = field(default_factory=ToolAccess)
    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    approver: Approver | None = None
    """None: what has to be asked for is not done."""
    runtime: Runtime = field(default_factory=InMemoryRuntime)
    backoff: Backoff = field(default_factory=Backoff)
    mask: Mask = UNMASKED
    """What a model sees of personal data; calls get the values again."""


class RecordedToolbox:
    """The `Toolbox` of one ReAct step.

    Every result is kept under `c1`, `c2`, ... and a later call passes it on by reference: "$c1", or
    a part of it, "$c1.rows". What was handed in is known under its own name.
    """

    def __init__(
        self,
        tools: RunTools,
        key: str,
        *,
        names: Sequence[str] | None = None,
        given: Mapping[str, object] | None = None,
    ):
        """Take the step's key, `run/epoch.step`; calls get the keys `run/epoch.step.c1`, ...

        `names` are the tools to offer, by default all; `given` are typed values by name.
        """
        self._tools = tools
        self._key = key
        self._specs: tuple[ToolSpec, ...] = ()
        self._names: set[str] = set()
        self.offer(names if names is not None else [t.name for t in tools.registry.tools()])
        given = given or {}
        self._steps = _Steps(tools, given)
        self._results = {name: StepResult(tool=_GIVEN, value=name) for name in given}
        self._numbers = itertools.count(1)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model is told of them."""
        return self._specs

    def offer(self, names: Iterable[str]) -> None:
        """Add tools, behind those that there are.

        Raises:
            UnknownToolError: one of the names is not registered.
        """
        new = [name for name in dict.fromkeys(names) if name not in self._names]
        self._specs += tuple(spec_of(self._tools.registry.get(name)) for name in new)
        self._names.update(new)

    async def call(self, name: str, arguments: Mapping[str, Json], _call_id: str, /) -> Observation:
        """Make a call as a step, after asking a person where the policy wants that."""
        if name not in self._names:
            return Observation.failure("unknown_tool", unknown_text(name, self._specs))
        try:
            call = self._step_call(name, arguments)
        except (PlanError, ToolError) as error:
            return Observation.failure("arguments", f"Error: {error}")
        refusal = await self._refusal(call)
        if refusal:
            return refusal
        attempts = Attempts(self._tools.runtime, self._tools.backoff, name=call.key)
        made = await attempts.make(lambda: self._steps.run(call), limit=call.retries + 1)
        return await self._observation(call, StepOutcome.from_json(made))

    def _step_call(self, name: str, arguments: Mapping[str, Json]) -> StepCall:
        given = self._tools.mask.restored_value(
            {key: self._input(value) for key, value in arguments.items()}, written=escape_dollars
        )
        step = Step(id=f"c{next(self._numbers)}", tool=name, input=given)
        rules = self._steps.rules(step)
        return StepCall(
            key=f"{self._key}.{step.id}",
            step=step,
            results={name: self._results[name] for name in step.references},
            retries=rules.retries if rules.repeatable else 0,
        )

    def _input(self, value: Json) -> JsonValue:
        """Return an argument in which only what names a result is a reference."""
        if isinstance(value, str):
            return self._input_text(value) if "$" in value else value
        if isinstance(value, Mapping):
            return {key: self._input(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._input(item) for item in value]
        return value

    def _input_text(self, text: str) -> str:
        meant = _CALL_REFERENCE.match(text)
        if meant and meant[1] not in self._results:
            known = ", ".join(f"${name}" for name in self._results) or "none yet"
            raise ToolError(f"There is no result '${meant[1]}'. There are: {known}.")
        return with_references(text, self._results)

    async def _refusal(self, call: StepCall) -> Observation | None:
        """Return why a call may not be made; None when it may."""
        rules = self._steps.rules(call.step)
        gate = ApprovalGate(self._tools.policy, self._tools.approver, self._tell)
        tool = call.step.tool

        async def request() -> ApprovalRequest:
            shown = await asyncio.to_thread(self._steps.shown_arguments, call)
            return ApprovalRequest(
                key=call.key, tool=tool, effect=rules.effect, description="", arguments=shown
            )

        return await gate.refusal(tool, rules.effect, rules.approval, request)

    def _tell(self, asked: ApprovalRequest, decision: Decision | None) -> None:
        if decision:
            self._tools.events.emit("approval", asked=False, key=asked.key, **decision.to_json())
        else:
            self._tools.events.emit("approval", asked=True, **asked.to_json())

    async def _observation(self, call: StepCall, outcome: StepOutcome) -> Observation:
        result = outcome.result
        if result is None:
            error = self._tools.mask.text(outcome.error)
            return Observation.failure(outcome.error_kind, f"Error: {error}")
        self._results[call.step.id] = result
        text = await rendered(await asyncio.to_thread(self._steps.value, result), self._tools.mask)
        return Observation(
            text=f"${call.step.id}: {text}",
            fingerprint=text,
            repeatable=self._steps.rules(call.step).effect not in {"write", "send"},
        )


class _Steps(ToolStepRunner):
    """Runs steps that may also refer to values which no step of the run gave."""

    def __init__(self, tools: RunTools, given: Mapping[str, object]):
        super().__init__(
            tools.registry, tools.runner, tools.store, tools.events, access=tools.access
        )
        self._given = given

    def value(self, result: StepResult, /) -> object:
        if result.tool == _GIVEN:
            return self._given[str(result.value)]
        return super().value(result)


def with_references(text: str, known: Collection[str]) -> str:
    """Return a text for a step's input: dollars before known names refer, all others are dollars.

    >>> with_references("$c1 costs $5, $HOME", {"c1"})
    '$c1 costs $$5, $$HOME'
    """
    head, *rest = text.split("$")
    made = [head]
    for part in rest:
        name = _NAME.match(part)
        made.append(f"${part}" if name and name[1] in known else f"$${part}")
    return "".join(made)
