"""Plans that a person wrote, as a planner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planloom.engine.plan import Plan
from planloom.engine.protocols import TaskView
from planloom.errors import PlanError, UnknownToolError
from planloom.planning.plan_lines import parse_lines
from planloom.tools.registry import ToolRegistry


@dataclass(frozen=True)
class WrittenPlan:
    """A planner with one plan."""

    written: Plan

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the plan once."""
        return self.written if view.epoch == 1 and not view.problems else None


def read_plan(text: str, registry: ToolRegistry) -> Plan:
    """Return the plan that lines of calls spell.

    Raises:
        PlanError: a line cannot be read; the message names line, column, text and mend.
    """
    if not text.strip():
        raise PlanError(
            'The plan is empty. Write a call on each line, such as n = word_count("a b").',
            zh='计划为空。请每行写一个调用，例如 n = word_count("a b")。',
        )
    return parse_lines(text, _Signatures(registry))


class _Signatures(Mapping[str, tuple[str, ...]]):
    """The parameters of each tool in order, read when a plan names the tool."""

    def __init__(self, registry: ToolRegistry):
        self._registry = registry

    def __getitem__(self, name: str) -> tuple[str, ...]:
        try:
            tool = self._registry.get(name)
        except UnknownToolError as error:
            raise KeyError(name) from error
        return tuple(parameter.name for parameter in tool.inputs)

    def __iter__(self) -> Iterator[str]:
        return (tool.name for tool in self._registry.tools())

    def __len__(self) -> int:
        return len(self._registry.tools())
