"""Calls registered tools from the ReAct loop, in memory: no run folder and no record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from planloom.engine.approval import ApprovalPolicy, ApprovalRequest
from planloom.engine.json_value import JsonValue
from planloom.engine.masking import masked
from planloom.models.chat_model import Json, ToolSpec
from planloom.planning.react.approval_gate import ApprovalGate
from planloom.planning.react.observations import rendered, spec_of
from planloom.planning.react.toolbox import Observation, unknown_text
from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry
from planloom.tools.result import ToolResult
from planloom.tools.runner import ToolRunner
from planloom.tools.tool import AnyTool

if TYPE_CHECKING:
    from planloom.engine.protocols import Approver


class RegistryToolbox:
    """The `Toolbox` for use as a library; runs may share it.

    A table, picture or file that a tool gives is kept as `$c1`, `$c2`, ... and can be passed on
    under that name. A call that has to be approved, as those that send or run code by default, is
    made only where the policy allows it or the approver agrees.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        runner: ToolRunner,
        *,
        names: Sequence[str] | None = None,
        context: ToolContext | None = None,
        policy: ApprovalPolicy | None = None,
        approver: Approver | None = None,
    ):
        """Offer the tools called `names`, by default all; reads their schemas.

        Without an approver, what the policy wants to be asked for is not done.

        Raises:
            UnknownToolError: one of the names is not registered.
        """
        tools = registry.tools() if names is None else [registry.get(name) for name in names]
        self._tools = {tool.name: tool for tool in tools}
        self._specs = tuple(map(spec_of, tools))
        self._runner = runner
        self._gate = ApprovalGate(policy or ApprovalPolicy(), approver)
        self._context = context or _temporary_context()
        self._kept: dict[str, object] = {}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model is told of them."""
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Json], call_id: str, /) -> Observation:
        """Call a tool once."""
        tool = self._tools.get(name)
        if tool is None:
            return Observation.failure("unknown_tool", unknown_text(name, self._specs))
        context = replace(self._context, key=f"{self._context.key}/{call_id}")
        refusal = await self._refusal(tool, arguments, context.key)
        if refusal:
            return refusal
        result = await self._runner.call(name, self._resolved(arguments), context)
        return await self._observation(tool, result)

    async def _refusal(
        self, tool: AnyTool, arguments: Mapping[str, Json], key: str
    ) -> Observation | None:
        async def request() -> ApprovalRequest:
            shown = cast("dict[str, JsonValue]", masked(arguments))
            return ApprovalRequest(
                key=key, tool=tool.name, effect=tool.effect, description="", arguments=shown
            )

        return await self._gate.refusal(tool.name, tool.effect, tool.approval, request)

    def _resolved(self, arguments: Mapping[str, Json]) -> Mapping[str, object]:
        if not self._kept:
            return arguments
        return {
            name: self._kept.get(value[1:], value)
            if isinstance(value, str) and value.startswith("$")
            else value
            for name, value in arguments.items()
        }

    async def _observation(self, tool: AnyTool, result: ToolResult) -> Observation:
        repeatable = tool.effect not in {"write", "send"}
        text = await rendered(result.value) if result.ok else f"Error: {result.error}"
        mark = ""
        if result.ok and tool.result_kind:
            key = f"c{len(self._kept) + 1}"
            self._kept[key] = result.value
            mark, text = text, f"${key}: {text}"
        return Observation(
            text=text,
            ok=result.ok,
            error_kind=result.error_kind,
            seconds=result.seconds,
            fingerprint=mark,
            repeatable=repeatable,
        )


def _temporary_context() -> ToolContext:
    # Loads much of the standard library, which a run with a context of its own does not need.
    import tempfile

    return ToolContext(key="react", folder=Path(tempfile.gettempdir()) / "planloom-react")
