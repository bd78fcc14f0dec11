"""The facade: tools of your own, and plans or planners that use them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planloom.agents.running import RunSetup, run_sync, run_task
from planloom.config import load_settings
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.execution import RunOptions
from planloom.engine.plan import Plan
from planloom.engine.protocols import Approver, Planner, TaskView
from planloom.engine.task import RunStatus
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import ConfigError, UnknownToolError
from planloom.events import EventSink
from planloom.notes import Lang
from planloom.planning.plan_lines import parse_lines
from planloom.tools.builtin import builtin_registry
from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import AnyTool


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended."""

    run: str
    """Id of the run."""
    status: RunStatus
    results: dict[str, object]
    """What the output steps gave, by step."""
    missing: tuple[str, ...]
    """What could not be made, and why."""
    folder: Path
    """Events, plans, records and everything the steps made."""


class Agent:
    """Runs plans, or goals through a planner, with a set of tools."""

    def __init__(
        self,
        tools: Sequence[AnyTool] = (),
        *,
        planner: Planner | None = None,
        builtin_tools: bool = True,
        policy: ApprovalPolicy | None = None,
        approver: Approver | None = None,
        home: str | os.PathLike[str] | None = None,
        lang: Lang = "en",
    ):
        """Set up an agent; nothing runs and nothing is read yet.

        Args:
            tools: Functions decorated with `@tool`.
            planner: Turns a goal into plans; without one the agent runs plans that you write.
            builtin_tools: Whether the tools of Planloom can be used too.
            policy: Which effects need a person's word before they happen.
            approver: Asks that person.
            home: Folder for runs; by default the setting `home` (PLANLOOM_HOME, else .planloom).
            lang: Language of what tools write for people.
        """
        self.registry = builtin_registry() if builtin_tools else ToolRegistry()
        for tool in tools:
            self.registry.register(tool)
        self._planner = planner
        self._policy = policy or ApprovalPolicy()
        self._approver = approver
        self._home = Path(home) if home is not None else None
        self._lang: Lang = lang

    def run(self, goal: str, **options: Sequence[EventSink]) -> Outcome:
        """Let the planner reach a goal, and return how that ended; see `run_async`."""
        return run_sync(self.run_async(goal, **options))

    async def run_async(self, goal: str, *, sinks: Sequence[EventSink] = ()) -> Outcome:
        """Let the planner reach a goal.

        Raises:
            ConfigError: the agent has no planner.
        """
        if self._planner is None:
            raise ConfigError(
                "This agent has no planner, so it cannot turn a goal into a plan. "
                "Give it one with Agent(planner=...), or write the plan and call run_plan()."
            )
        return await self._run(goal, self._planner, sinks)

    def run_plan(self, plan: Plan | str, **options: Sequence[EventSink]) -> Outcome:
        """Run a plan, and return how that ended; see `run_plan_async`."""
        return run_sync(self.run_plan_async(plan, **options))

    async def run_plan_async(self, plan: Plan | str, *, sinks: Sequence[EventSink] = ()) -> Outcome:
        """Run a plan: an object, or its lines such as `n = word_count("a b")`.

        Raises:
            PlanError: a line is no call; the text is never executed as Python.
        """
        written = parse_lines(plan, _Signatures(self.registry)) if isinstance(plan, str) else plan
        return await self._run(written.thought, _WrittenPlan(written), sinks)

    async def _run(self, goal: str, planner: Planner, sinks: Sequence[EventSink]) -> Outcome:
        settings = load_settings(environment=os.environ, folder=Path.cwd())
        setup = RunSetup(
            registry=self.registry,
            home=self._home or settings.home,
            access=ToolAccess(lang=self._lang),
            options=RunOptions(policy=self._policy),
            sinks=sinks,
            approver=self._approver,
        )
        finished = await run_task(goal, planner, setup)
        task = finished.task
        return Outcome(
            run=task.id,
            status=task.status,
            results=finished.results,
            missing=tuple(missing.why for missing in task.missing),
            folder=finished.folder,
        )


@dataclass(frozen=True)
class _WrittenPlan:
    """A planner with one plan."""

    written: Plan

    async def plan(self, view: TaskView, /) -> Plan | None:
        return self.written if view.epoch == 1 and not view.problems else None


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
