"""The facade: tools of your own, and models, planners or plans that use them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planloom.agents.agent_options import (
    PathLike,
    check_amount,
    check_keepable,
    check_language,
    check_planner,
    paths_of,
    tools_of,
)
from planloom.notes import Lang

if TYPE_CHECKING:
    from planloom.agents.approvers import AnyApprover
    from planloom.agents.ask import Answer
    from planloom.agents.model_setup import ModelSetup
    from planloom.agents.running import FinishedRun, RunSetup
    from planloom.agents.workplace import Workplace
    from planloom.budget import Bill, Limits
    from planloom.config import Settings
    from planloom.engine.approval import ApprovalPolicy
    from planloom.engine.plan import Plan
    from planloom.engine.protocols import Approver, Planner
    from planloom.engine.task import RunStatus
    from planloom.events import EventSink
    from planloom.models.chat_model import ChatModel
    from planloom.tools.registry import ToolRegistry
    from planloom.tools.tool import AnyTool

_log = logging.getLogger(__name__)

# The engine is imported when something runs: `from planloom import Agent, tool` stays fast.


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended."""

    run: str
    """Id of the run."""
    status: RunStatus
    results: dict[str, object]
    """What the output steps gave, by step."""
    kept: dict[str, object]
    """What else was made, by step, where the run had to end before its outputs."""
    missing: tuple[str, ...]
    """What could not be made, and why."""
    folder: Path
    """Events, plans, records and everything the steps made."""
    answer: str = ""
    """The outputs that are texts or small data, as text."""
    bill: Bill | None = None
    """What models have taken; None for a run without one."""

    @property
    def problem(self) -> str:
        """Why the run is no whole success; "" when it is."""
        return " ".join(self.missing)

    def __repr__(self) -> str:
        return f"Outcome(run={self.run!r}, status={self.status!r}, answer={self.answer!r:.80})"


class Agent:
    """Reaches goals and answers questions with a model, or runs plans, with a set of tools."""

    def __init__(  # noqa: PLR0913 -- each option is a keyword of its own
        self,
        tools: Sequence[AnyTool | Callable[..., object]] = (),
        *,
        model: str | ChatModel | None = None,
        base_url: str | None = None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        max_time_s: float | None = None,
        max_iterations: int | None = None,
        planner: Planner | None = None,
        builtin_tools: bool = True,
        policy: ApprovalPolicy | None = None,
        approver: AnyApprover | None = None,
        home: PathLike | None = None,
        readable: Sequence[PathLike] = (),
        writable: Sequence[PathLike] = (),
        send_personal_data: bool = False,
        lang: Lang = "en",
    ):
        """Set up an agent; nothing runs and nothing is read yet.

        Args:
            tools: Functions, best decorated with `@tool`. One takes the place of a tool of Planloom
                that has the same name.
            model: Name of a language model, or one that you made, such as a `ScriptedModel`, which
                you close; by default that of the settings (PLANLOOM_MODEL), if any. Plans need
                none.
            base_url: Address of an OpenAI-compatible service, for a model that is named.
            max_cost: Most US dollars that the models of one run may cost.
            max_tokens: Most tokens of one run, prompts and completions together.
            max_calls: Most calls of models of one run.
            max_time_s: Longest run, in seconds.
            max_iterations: Most turns of the model in `ask`; by default the setting (10).
            planner: Turns a goal into plans, in place of the model. Of the limits, only
                `max_time_s` holds for it.
            builtin_tools: Whether the tools of Planloom can be used too.
            policy: Which effects need a person's word before they happen.
            approver: Asks that person: a function, or an object with a method `ask`, async or not,
                that takes an `ApprovalRequest` and returns a `Decision`, a bool, or None when
                nobody can be asked now.
            home: Folder for runs; by default the setting `home` (PLANLOOM_HOME, else .planloom).
            readable: Files and folders that tools may read besides the current folder.
            writable: Folders that tools may write to besides the run's own.
            send_personal_data: Whether names, mail addresses, phone, identity and card numbers in
                files and results may go to the model; by default it sees stand-ins for them.
            lang: Language of what tools write for people.

        Raises:
            ConfigError: an option is of the wrong kind.
        """
        _check_numbers(max_cost, max_tokens, max_calls, max_time_s, max_iterations)
        check_language(lang)
        check_planner(planner)
        if model is not None and not isinstance(model, str):
            _check_model(model)
        self._tools = tools_of(tools)
        self._model = model
        self._base_url = base_url
        self._limits = (max_cost, max_tokens, max_calls, max_time_s)
        self._max_iterations = max_iterations
        self._planner = planner
        self._builtin_tools = builtin_tools
        self._policy = policy
        self._approver = None if approver is None else _as_approver(approver)
        self._home = None if home is None else Path(home)
        self._readable = tuple(path.absolute() for path in paths_of("readable", readable))
        self._writable = tuple(path.absolute() for path in paths_of("writable", writable))
        self._send_personal_data = send_personal_data
        self._lang: Lang = lang
        self._registry: ToolRegistry | None = None

    @property
    def registry(self) -> ToolRegistry:
        """The tools that plans of this agent may use."""
        if self._registry is None:
            self._registry = self._new_registry()
        return self._registry

    def _new_registry(self) -> ToolRegistry:
        from planloom.tools.builtin import builtin_registry
        from planloom.tools.registry import ToolRegistry

        registry = builtin_registry() if self._builtin_tools else ToolRegistry()
        for tool in self._tools:
            registry.register(tool, replace=True)
        return registry

    def run(
        self,
        goal: str,
        *,
        files: Sequence[PathLike] = (),
        sinks: Sequence[EventSink] = (),
    ) -> Outcome:
        """Reach a goal, and return how that ended; see `run_async`."""
        from planloom.agents.running import run_sync

        return run_sync(self.run_async(goal, files=files, sinks=sinks))

    async def run_async(
        self,
        goal: str,
        *,
        files: Sequence[PathLike] = (),
        sinks: Sequence[EventSink] = (),
    ) -> Outcome:
        """Let the planner, else the model, reach a goal.

        Data files are read and profiled before the model plans; `sinks` are called with every
        event as it happens.

        Raises:
            ConfigError: the agent has neither planner nor model, or a limit cannot be kept: with a
                planner, only that of time can; without a known price, no `max_cost`.
            InputError: a file is missing.
        """
        if self._planner is not None:
            cost, tokens, calls, _ = self._limits
            check_keepable({"max_cost": cost, "max_tokens": tokens, "max_calls": calls})
            return await self._run(goal, self._planner, sinks)
        await _load("planloom.agents.run_goal", "planloom.models.connect")
        from planloom.agents.goal_planning import GoalRequest
        from planloom.agents.input_files import existing_files
        from planloom.agents.run_goal import run_goal
        from planloom.engine.approval import ApprovalPolicy

        settings = self._settings()
        request = GoalRequest(
            goal=goal,
            files=existing_files(paths_of("files", files)),
            lang=self._lang,
            readable=self._readable,
            writable=self._writable,
            policy=self._policy or ApprovalPolicy(),
            approver=self._approver,
            send_personal_data=self._send_personal_data,
        )
        done = await run_goal(request, self._open_model(settings), self._place(settings, sinks))
        return _outcome(done.finished, answer=done.answer, bill=done.bill)

    def ask(
        self,
        question: str,
        *,
        files: Sequence[PathLike] = (),
        sinks: Sequence[EventSink] = (),
    ) -> Answer:
        """Answer a question, and return the answer with how it came about; see `ask_async`."""
        from planloom.agents.running import run_sync

        return run_sync(self.ask_async(question, files=files, sinks=sinks))

    async def ask_async(
        self,
        question: str,
        *,
        files: Sequence[PathLike] = (),
        sinks: Sequence[EventSink] = (),
    ) -> Answer:
        """Let the model answer a question, calling tools in a loop.

        Raises:
            ConfigError: the agent has no model, or `max_cost` is set and its price is not known.
            InputError: a file is missing.
        """
        await _load("planloom.agents.ask", "planloom.models.connect")
        from planloom.agents.ask import QuestionRequest, answer_question
        from planloom.agents.input_files import existing_files
        from planloom.engine.approval import ApprovalPolicy

        settings = self._settings()
        request = QuestionRequest(
            question=question,
            files=existing_files(paths_of("files", files)),
            lang=self._lang,
            readable=self._readable,
            writable=self._writable,
            policy=self._policy or ApprovalPolicy(),
            approver=self._approver,
            send_personal_data=self._send_personal_data,
        )
        return await answer_question(
            request, self._open_model(settings), self._place(settings, sinks)
        )

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

        return _outcome(await run_task(goal, planner, self._setup(sinks)))

    def _setup(self, sinks: Sequence[EventSink]) -> RunSetup:
        from planloom.agents.running import RunSetup
        from planloom.engine.approval import ApprovalPolicy
        from planloom.engine.execution import RunOptions
        from planloom.engine.tool_steps import ToolAccess

        limits = self._run_limits()
        return RunSetup(
            registry=self.registry,
            home=self._home or self._settings().home,
            access=ToolAccess(lang=self._lang, readable=self._readable, writable=self._writable),
            options=RunOptions(
                policy=self._policy or ApprovalPolicy(),
                time_limit_s=limits.max_seconds,
                lang=self._lang,
            ),
            sinks=sinks,
            approver=self._approver,
        )

    def _settings(self) -> Settings:
        from planloom.config import load_settings

        return load_settings(
            environment=os.environ,
            folder=Path.cwd(),
            options={
                "model": self._model if isinstance(self._model, str) else None,
                "base_url": self._base_url,
                "max_iterations": self._max_iterations,
            },
        )

    def _open_model(self, settings: Settings) -> ModelSetup:
        from planloom.agents.model_setup import open_model, own_setup

        limits = self._run_limits()
        if self._model is None or isinstance(self._model, str):
            return open_model(settings, limits, announce=_warn, lang=self._lang)
        return own_setup(self._model, limits, settings, announce=_warn, lang=self._lang)

    def _run_limits(self) -> Limits:
        from planloom.budget import Limits

        cost, tokens, calls, seconds = self._limits
        return Limits(max_cost=cost, max_tokens=tokens, max_calls=calls, max_seconds=seconds)

    def _place(self, settings: Settings, sinks: Sequence[EventSink]) -> Workplace:
        from dataclasses import replace

        from planloom.agents.workplace import Workplace

        place = Workplace.of(settings, self._new_registry(), sinks)
        return replace(place, home=self._home or place.home)


def _check_numbers(
    cost: float | None,
    tokens: int | None,
    calls: int | None,
    time_s: float | None,
    iterations: int | None,
) -> None:
    check_amount("max_cost", cost, whole=False, least=0, example="0.5")
    check_amount("max_tokens", tokens, whole=True, least=0, example="200000")
    check_amount("max_calls", calls, whole=True, least=0, example="20")
    check_amount("max_time_s", time_s, whole=False, least=0, example="600 (ten minutes)")
    check_amount("max_iterations", iterations, whole=True, least=1, example="10")


def _check_model(model: object) -> None:
    from planloom.models.own_model import check_model

    check_model(model)


def _as_approver(approver: AnyApprover) -> Approver:
    from planloom.agents.approvers import as_approver

    return as_approver(approver)


async def _load(*modules: str) -> None:
    """Import modules in a thread: the first time takes seconds, and the loop has other work."""
    import asyncio
    from importlib import import_module

    if not all(module in sys.modules for module in modules):
        await asyncio.to_thread(lambda: [import_module(module) for module in modules])


def _warn(text: str) -> None:
    _log.warning("%s", text)


def _outcome(finished: FinishedRun, *, answer: str = "", bill: Bill | None = None) -> Outcome:
    from planloom.agents.answers import answer_text
    from planloom.engine.stop_reasons import shortfalls

    task = finished.task
    return Outcome(
        run=task.id,
        status=task.status,
        results=finished.results,
        kept=finished.kept,
        missing=shortfalls(task),
        folder=finished.folder,
        answer=answer or answer_text(finished.results),
        bill=bill,
    )
