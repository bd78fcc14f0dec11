"""A ReAct sub-agent as a tool: the steps of a plan that need judgement."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from planloom.engine.artifacts import head_and_tail, write_atomically
from planloom.errors import ToolError
from planloom.models.chat_model import ChatModel, Json, ToolSpec
from planloom.planning.mask import UNMASKED, Mask
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.observations import rendered
from planloom.planning.react.record import outcome_json
from planloom.planning.react.toolbox import Observation, Toolbox
from planloom.planning.react.trajectory import ReactOutcome
from planloom.tools.context import ToolContext
from planloom.tools.tool import AnyTool, Effect, tool

TRAJECTORY_FILE = "trajectory.json"
MATERIAL = "Given to you; tools take it by name:\n{items}"
_SHOWN_CHARS = 4000
"""Of each value that was handed in; tools get it whole."""

ToolboxFactory = Callable[[ToolContext, Mapping[str, object]], Toolbox]
"""Makes the tools of one call from its context and from the values that were handed in, by name."""


def make_solve_tool(
    model: ChatModel,
    toolbox_for: ToolboxFactory,
    *,
    name: str = "solve",
    max_iterations: int = 8,
    timeout_s: float = 600,
    effect: Effect = "write",
    instructions: str = "",
    mask: Mask = UNMASKED,
) -> AnyTool:
    """Return a tool that lets a sub-agent work on one task of a plan.

    It has an iteration limit of its own, and never itself among its tools. `effect` has to be the
    strongest one of its tools: with it the engine decides whether a broken-off call may be made
    again. The trajectory of a call lies in the folder of its step. `mask` is that of its tools.
    """

    @tool(
        name=name,
        effect=effect,
        timeout_s=timeout_s,
        retries=0,
        idempotent=False,
        isolation="async",
        toolset="planning",
        keywords=("judge", "decide", "research", "判断", "研究"),
    )
    async def solve(task: str, context: ToolContext, material: list[object] | None = None) -> str:
        """Let an agent work on a task that needs judgement or several tries, and give its answer.

        Args:
            task: What to find out or decide, in full words, with the form of the answer.
            material: Results of earlier steps that it needs.
        """
        given = {f"m{number}": value for number, value in enumerate(material or [], start=1)}
        toolbox = _Without(toolbox_for(context, given), name)
        loop = ReactLoop(model, toolbox, max_iterations=max_iterations, instructions=instructions)
        outcome = await loop.run(mask.text(task), pinned=await _material_text(given, mask))
        outcome = replace(outcome, answer=mask.restored(outcome.answer))
        await asyncio.to_thread(_store, outcome, context)
        if not outcome.is_answered or outcome.was_refused:
            raise _failure(outcome, context)
        return outcome.answer

    return solve


class _Without:
    """A toolbox that lacks one tool."""

    def __init__(self, inner: Toolbox, name: str):
        self._inner = inner
        self._name = name
        self._known = inner.specs
        self._specs = self._filtered()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        if self._inner.specs is not self._known:
            self._known = self._inner.specs
            self._specs = self._filtered()
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Json], call_id: str, /) -> Observation:
        if name == self._name:
            return Observation.failure("unknown_tool", f"'{name}' cannot be called from within.")
        return await self._inner.call(name, arguments, call_id)

    def _filtered(self) -> tuple[ToolSpec, ...]:
        return tuple(spec for spec in self._known if spec.name != self._name)


async def _material_text(given: Mapping[str, object], mask: Mask) -> str:
    if not given:
        return ""
    items = [
        f"${name}: {head_and_tail(await rendered(value, mask), _SHOWN_CHARS)}"
        for name, value in given.items()
    ]
    return MATERIAL.format(items="\n".join(items))


def _store(outcome: ReactOutcome, context: ToolContext) -> None:
    text = json.dumps(outcome_json(outcome), ensure_ascii=False, indent=1)
    write_atomically(context.folder / TRAJECTORY_FILE, text.encode("utf-8", "replace"))


def _failure(outcome: ReactOutcome, context: ToolContext) -> ToolError:
    why = outcome.problem.text(context.lang) if outcome.problem else outcome.stop_reason
    return ToolError(f"{why}\n{outcome.answer[:1000]}".strip())
