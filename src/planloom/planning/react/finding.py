"""Lets a model look for tools that it was not offered, so that most prompts carry only a few."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from planloom.models.chat_model import Json, ToolSpec
from planloom.planning.react.observations import spec_of
from planloom.planning.react.toolbox import FIND, Observation, Toolbox
from planloom.planning.tool_text import named_by, tool_line
from planloom.tools.tool import AnyTool

_FIND_SPEC = ToolSpec(
    FIND,
    "Get more tools. Only for what can neither be answered from what you know nor done with the "
    "tools that you have.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What they have to do, in English."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
_ADDED = "These tools can be called from now on:\n{tools}"
_NOT_FOUND = (
    "No tool fits {query!r}. By name there are: {names}. Look for one of them by its name, or do "
    "without."
)
_NO_MORE = "There are no more tools. Use those that you have, or answer from what you know."
_MAX_ADDED = 4


class OfferableToolbox(Toolbox, Protocol):
    """A `Toolbox` to which tools can be added."""

    def offer(self, names: Iterable[str]) -> None:
        """Add registered tools behind those that there are."""
        ...


class FindingToolbox:
    """A `Toolbox` around another, with a tool that adds further ones to it.

    The search tool stands first and new tools come last, so that what a provider keeps of the
    beginning of the prompt stays of use.
    """

    def __init__(
        self, inner: OfferableToolbox, more: Sequence[AnyTool], *, spells_arguments: bool = False
    ):
        """`more` are the tools that may be found.

        `spells_arguments` is for models that are told their tools in words: a result then holds
        the schema of each tool that was found.
        """
        self._inner = inner
        self._more = {tool.name: tool for tool in more}
        self._spells_arguments = spells_arguments
        self._own: tuple[ToolSpec, ...] = ()
        self._specs: tuple[ToolSpec, ...] = (_FIND_SPEC,)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The search tool and those that are offered; the same tuple until one is added."""
        own = self._inner.specs
        if own is not self._own:
            self._own, self._specs = own, (_FIND_SPEC, *own)
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Json], call_id: str, /) -> Observation:
        """Look for tools, or hand the call on."""
        if name == FIND:
            return self._find(str(arguments.get("query", "")))
        return await self._inner.call(name, arguments, call_id)

    def _find(self, query: str) -> Observation:
        if not self._more:
            return Observation(text=_NO_MORE)
        found = named_by(query, self._more.values())[:_MAX_ADDED]
        if not found:
            return Observation(text=_NOT_FOUND.format(query=query, names=", ".join(self._more)))
        for tool in found:
            del self._more[tool.name]
        self._inner.offer(tool.name for tool in found)
        return Observation(text=_ADDED.format(tools="\n".join(map(self._shown, found))))

    def _shown(self, tool: AnyTool) -> str:
        line = f"- {tool_line(tool, detail=1)}"
        if not self._spells_arguments:
            return line
        return f"{line} Arguments: {json.dumps(spec_of(tool).parameters, ensure_ascii=False)}"
