"""The facade: tools of your own, and plans or planners that use them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planloom.errors import ConfigError
from planloom.notes import Lang

if TYPE_CHECKING:
    from planloom.agents.running import RunSetup
    from planloom.engine.approval import ApprovalPolicy
    from planloom.engine.plan import Plan
    from planloom.engine.protocols import Approver, Planner
    from planloom.engine.task import RunStatus
    from planloom.events import EventSink
    from planloom.tools.registry import ToolRegistry
    from planloom.tools.tool import AnyTool

# The engine is imported when something runs: `from planloom import Agent, tool` stays fast.


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
        readable: Sequence[str | os.PathLike[str]] = (),
        writable: Sequence[str | os.PathLike[str]] = (),
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
            readable: Files and folders that tools may read besides the current folder.
            writable: Folders that tools may write to besides the run's own.
            lang: Language of what tools write for people.
        """
        self._tools = tuple(tools)
        self._planner = planner
        self._builtin_tools = builtin_tools
        self._policy = policy
        self._approver = approver
        self._home = None if home is None else Path(home)
        self._readable = tuple(Path(path).absolute() for path in readable)
        self._writable = tuple(Path(path).absolute() for path in writable)
        self._lang: Lang = lang
        self._registry: ToolRegistry | None = None

    @property
    def registry(self) -> ToolRegistry:
        """The tools that plans of this agent may use."""
        if self._registry is None:
            from planloom.tools.builtin import builtin_registry
            from planloom.tools.registry import ToolRegistry

            registry = builtin_registry() if self._builtin_tools else ToolRegistry()
            for tool in self._tools:
                registry.register(tool)
            self._registry = registry
        return self._registry

    def run(self, goal: str, *, sinks: Sequence[EventSink] = ()) -> Outcome:
        """Let the planner reach a goal, and return how that ended; see `run_async`."""
        from planloom.agents.running import run_sync

        return run_sync(self.run_async(goal, sinks=sinks))

    async def run_async(self, goal: str, *, sinks: Sequence[EventSink] = ()) -> Outcome:
        """Let the planner reach a goal; `sinks` are called with every event as it happens.

        Raises:
            ConfigError: the agent has no planner.
        """
        if self._planner is None:
            raise ConfigError(
                "This agent has no planner, so it cannot turn a goal into a plan. "
                "Give it one with Agent(planner=...), or write the plan and call run_plan()."
            )
        return await self._run(goal, self._planner, sinks)

    def run_plan(self, plan: Plan | str, *, sinks: Sequence[EventSink] = ()) -> Outcome:
        """Run a plan, and return how that ended; see `run_plan_async`."""
        from planloom.agents.running import run_sync

        return run_sync(self.run_plan_async(plan, sinks=sinks))

    async def run_plan_async(self, plan: Plan | str, *, sinks: Sequence[EventSink] = ()) -> Outcome:
        """Run a plan: an object, or its lines such as `n = word_count("a b")`.

        Raises:
            PlanError: a line is no call; the text is never executed as Python.
        """
        from planloom.agents.written_plan import WrittenPlan, read_plan

        written = read_plan(plan, self.registry) if isinstance(plan, str) else plan
        return await self._run(written.thought, WrittenPlan(written), sinks)

    async def _run(self, goal: str, planner: Planner, sinks: Sequence[EventSink]) -> Outcome:
        from planloom.agents.running import run_task

        finished = await run_task(goal, planner, self._setup(sinks))
        task = finished.task
        return Outcome(
            run=task.id,
            status=task.status,
            results=finished.results,
            missing=tuple(missing.why for missing in task.missing),
            folder=finished.folder,
        )

    def _setup(self, sinks: Sequence[EventSink]) -> RunSetup:
        from planloom.agents.running import RunSetup
        from planloom.config import load_settings
        from planloom.engine.approval import ApprovalPolicy
        from planloom.engine.execution import RunOptions
        from planloom.engine.tool_steps import ToolAccess

        settings = load_settings(environment=os.environ, folder=Path.cwd())
        return RunSetup(
            registry=self.registry,
            home=self._home or settings.home,
            access=ToolAccess(lang=self._lang, readable=self._readable, writable=self._writable),
            options=RunOptions(policy=self._policy or ApprovalPolicy()),
            sinks=sinks,
            approver=self._approver,
        )
