"""A planner that asks a language model: for a plan, for mends of it, and for what is left to do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, cast

from planloom.engine.artifacts import head_and_tail
from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import TaskView
from planloom.engine.task import StepRecord, latest_complete
from planloom.errors import ConfigError, ModelError, ToolError, UnknownToolError
from planloom.models.chat_model import ChatModel, ChatRequest, Reply, ResponseSchema
from planloom.models.history import History
from planloom.models.messages import AssistantMessage, SystemMessage, UserMessage
from planloom.notes import Lang
from planloom.planning.mask import UNMASKED, Mask
from planloom.planning.plan_draft import (
    Talk,
    as_part,
    brings_lines,
    draft_of,
    failed_early,
    take_in,
    to_plan,
)
from planloom.planning.plan_lines import ToolSignatures, plan_to_lines
from planloom.planning.planner_prompt import (
    FILL_TEXT,
    GIVE_UP,
    WRITE_ANSWER,
    PlanFormat,
    goal_message,
    plan_schema,
    system_prompt,
)
from planloom.planning.previews import preview_value
from planloom.planning.replan_prompt import SEARCH_RESULT, mend_message, states_message
from planloom.planning.reply_lines import (
    MAX_CHARS,
    ReadReply,
    ReplyReader,
    read_json,
)
from planloom.planning.tool_offer import spare_tools
from planloom.planning.tool_text import MAX_TOOLS, ToolChoice, choose_tools, tools_text, with_makers
from planloom.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

MAX_PIECES = 20
"""Replies that one plan may come in, where each is cut off and has brought a line."""
_MAX_SEARCHES = 2
_KEPT_RUNS = 64
_FOUND = 6
_EMPTY = "(no reply)"
_MIN_PREVIEW_CHARS = 120
_LINE_CHARS = 400
_MIN_LINE_CHARS = 80
_KEPT_REPLY_CHARS = 40_000
"""Of a reply in the conversation: two hundred long lines."""
_FAULTY = re.compile(r"Step '(\w+)'")
_LASTING = {"write", "send"}
"""Effects that a second call adds to."""
_ALWAYS = (WRITE_ANSWER, FILL_TEXT, GIVE_UP)


class ModelPlanner:
    """Makes plans by asking a model; a `Planner`.

    One conversation is kept for each run and only appended to, so that providers can keep its
    beginning. A run that another process began goes on with a new one, made from its records.
    """

    def __init__(  # noqa: PLR0913 -- each option is a keyword of its own
        self,
        model: ChatModel,
        registry: ToolRegistry,
        *,
        briefing: str = "",
        plan_format: PlanFormat = "lines",
        max_tools: int = MAX_TOOLS,
        has_files: bool = True,
        max_output_chars: int = 10_000,
        max_plan_tokens: int | None = None,
        temperature: float | None = None,
        language: Lang | None = None,
        mask: Mask = UNMASKED,
    ):
        """Set up a planner; nothing is asked yet.

        Args:
            model: Writes the plans.
            registry: The tools that plans may use.
            briefing: What a model should know besides the goal: the files, the date.
            plan_format: "lines" are short and start while they are written; "json" is for models
                that have to be held to a schema.
            max_tools: Of more tools only those that fit the goal are shown.
            has_files: Whether files belong to the goals. Without, tools of Planloom are told by
                name only where a goal speaks neither of data nor of files; see `spare_tools`.
            max_output_chars: Longest text of all results that one message shows.
            max_plan_tokens: Longest reply; None leaves it to the provider.
            temperature: Of the model; None leaves it to the provider.
            language: Of what plans write for the user; None is that of the goal.
            mask: What the model sees of personal data in results; see `MaskedPlanner`.
        """
        self._model = model
        self._registry = registry
        self._briefing = briefing
        self._format: PlanFormat = plan_format
        self._max_tools = max_tools
        self._has_files = has_files
        # A quarter of the window in characters is far below it in tokens.
        self._max_output_chars = min(max_output_chars, model.traits.context_tokens // 4)
        self._max_plan_tokens = max_plan_tokens
        self._temperature = temperature
        self._language = language
        self._mask = mask
        self._talks: dict[str, Talk] = {}

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan, or None when nothing is left to do or nothing more can be done.

        Raises:
            PlanError: the reply is no plan that can be read; what could be is kept, and the next
                call asks for the rest.
            ModelError, BudgetExhaustedError: the model gave no reply.
        """
        if _is_over(view):
            return None
        talk = self._talks.pop(view.run, None) or await self._new_talk(view)
        # Put back only after a reply: a conversation that was broken off is begun anew.
        await self._ask(talk, view)
        # What the check of the plan will need is loaded while the model is waited for.
        warming = asyncio.to_thread(self._load_check, talk.choice)
        reply, _ = await asyncio.gather(self._read_pieces(talk, view), warming)
        self._keep(view.run, talk)
        return to_plan(reply, talk, view)

    # -- the conversation

    async def _new_talk(self, view: TaskView) -> Talk:
        # Loading toolsets takes long when it is the first time.
        choice = await asyncio.to_thread(self._choose, view.goal)
        goal = goal_message(view.goal, self._briefing, self._language)
        system = SystemMessage(system_prompt(choice, self._format))
        talk = Talk(history=History([system, UserMessage(goal)]), choice=choice)
        last = view.rejected or (view.plans[-1] if view.plans else None)
        if last:
            lines = plan_to_lines(last, self._signatures())
            talk.history.append(AssistantMessage(lines))
        elif view.problems:
            talk.history.append(AssistantMessage(_EMPTY))
        return talk

    def _choose(self, goal: str) -> ToolChoice:
        spare = () if self._has_files else spare_tools(self._registry.tools(), goal)
        return choose_tools(
            self._registry,
            f"{goal}\n{self._briefing}",
            limit=self._max_tools,
            always=_ALWAYS,
            spare=spare,
        )

    def _load_check(self, choice: ToolChoice) -> None:
        for tool in choice.shown:
            # A tool without a schema is told of when a plan uses it.
            with suppress(ConfigError):
                self._registry.check_arguments(tool.name, {})

    def _keep(self, run: str, talk: Talk) -> None:
        self._talks[run] = talk
        while len(self._talks) > _KEPT_RUNS:
            del self._talks[next(iter(self._talks))]

    async def _ask(self, talk: Talk, view: TaskView) -> None:
        """Append what the model is asked now; the goal alone is asked by the first messages."""
        if view.problems:
            if view.rejected:
                talk.draft = draft_of(view.rejected)
            # What the planner itself could not read stands beside the draft, not in it.
            found = () if talk.problems else map(_FAULTY.match, view.problems)
            talk.faulty = frozenset(match[1] for match in found if match)
            problems = (*(talk.problems or view.problems), *failed_early(view, talk))
            has_lines = bool(talk.draft.steps)
            message = mend_message(problems, self._format, cut=talk.was_cut, has_lines=has_lines)
            talk.history.append(UserMessage(message))
        elif view.plans:
            talk.draft, talk.told, talk.faulty = ReadReply(), {}, frozenset()
            message = await asyncio.to_thread(self._states, view)
            talk.history.append(UserMessage(message))
        talk.forget_reply()

    def _states(self, view: TaskView) -> str:
        number = latest_complete(view.plans) or len(view.plans)
        records = [record for record in view.records if record.epoch >= number]
        shown = [record for record in records if record.step in view.results]
        each = self._share(len(shown))
        previews = {record.step: _preview(view, record.step, each, self._mask) for record in shown}
        longest = max(min(self._share(len(records)), _LINE_CHARS), _MIN_LINE_CHARS)
        steps = [(self._line(view, record, longest), record) for record in records]
        return states_message(
            number,
            steps,
            previews,
            self._format,
            after="failure" if view.failures else "look",
            error_chars=self._share(len(records) - len(shown)),
        )

    def _share(self, count: int) -> int:
        return max(self._max_output_chars // max(count, 1), _MIN_PREVIEW_CHARS)

    def _line(self, view: TaskView, record: StepRecord, max_chars: int) -> str:
        step = view.plans[record.epoch - 1].step(record.step)
        lines = plan_to_lines(Plan(steps=(step,), outputs=(step.id,)), self._signatures())
        return head_and_tail(lines.strip(), max_chars)

    # -- the reply

    async def _read_pieces(self, talk: Talk, view: TaskView) -> ReadReply:
        """Return the last piece of what the model writes; those before it are in the draft.

        A reply that was cut off and has brought a line is no mistake: the rest is asked for at
        once, while the steps that have come run.
        """
        reply = await self._read_checked(talk, view)
        for _ in range(MAX_PIECES - 1):
            if not (talk.may_go_on and brings_lines(reply, talk)) or reply.problems:
                break
            take_in(reply, talk)
            message = mend_message(talk.problems, self._format, cut=True)
            talk.forget_reply()
            talk.history.append(UserMessage(message))
            reply = await self._read_checked(talk, view)
        return reply

    async def _read_checked(self, talk: Talk, view: TaskView) -> ReadReply:
        """Return what the model writes, with a problem for each call that is not to be repeated."""
        reply = await self._read_plan(talk, view)
        again = ((step, self._repeated(step, view)) for step in reply.steps)
        reply.problems += [
            f"Step '{step.id}': step '{old}' has made this call, which is not to happen twice. "
            f"Use '{old}'."
            for step, old in again
            if old
        ]
        return reply

    async def _read_plan(self, talk: Talk, view: TaskView) -> ReadReply:
        """Return what the model writes; tools that it asks to see are shown in between."""
        for _ in range(_MAX_SEARCHES):
            reply = await self._read_reply(talk, view)
            if not reply.searches or reply.steps:
                return reply
            tools = await asyncio.to_thread(self._found_tools, reply.searches, talk.choice)
            talk.history.append(UserMessage(SEARCH_RESULT.format(tools=tools)))
        return await self._read_reply(talk, view)

    async def _read_reply(self, talk: Talk, view: TaskView) -> ReadReply:
        def tell(step: Step) -> None:
            if view.ahead and talk.told.get(step.id) != step and not self._repeated(step, view):
                talk.told[step.id] = step
                view.ahead(step)

        request = ChatRequest(
            history=talk.history,
            response_schema=self._schema(),
            max_tokens=self._max_plan_tokens,
            temperature=self._temperature,
        )
        reader = ReplyReader(self._signatures())
        said = await self._listen(request, reader, tell, talk)
        read = reader.finish(cut=talk.was_cut or reader.should_stop)
        if self._format == "json":
            as_json = read_json(reader.text)
            # Lines where JSON was asked for are a plan too.
            read = read if as_json.problems and read.steps else as_part(as_json, talk.draft)
        text = head_and_tail(reader.text.strip(), _KEPT_REPLY_CHARS) or _EMPTY
        talk.history.append(AssistantMessage(text, (), said.thinking))
        return read

    def _repeated(self, step: Step, view: TaskView) -> str:
        """Return the earlier step whose mail or file a step would send or write again, or ""."""
        try:
            effect = self._registry.get(step.tool).effect
        except UnknownToolError:
            return ""
        if effect not in _LASTING:
            return ""
        for record in view.records:
            if record.state in {"succeeded", "running"} and record.step != step.id:
                old = view.plans[record.epoch - 1].step(record.step)
                if (old.tool, old.input) == (step.tool, step.input):
                    return old.id
        return ""

    async def _listen(
        self,
        request: ChatRequest,
        reader: ReplyReader,
        tell: Callable[[Step], None],
        talk: Talk,
    ) -> Reply:
        """Read the reply while it comes; note in `talk` when it ended too early, and why."""
        if self._format == "json" or not self._model.traits.streaming:
            reply = await self._model.reply(request)
            reader.feed(reply.text)
        else:
            reply = await self._stream(request, reader, tell, talk)
        if reader.is_endless:
            talk.was_cut = True
            talk.problems = (f"The reply was stopped after {MAX_CHARS:,} characters.",)
        elif reply.finish_reason == "length" and not reader.should_stop:
            limit = f" of {self._max_plan_tokens}" if self._max_plan_tokens else ""
            talk.was_cut = talk.may_go_on = True
            talk.problems = (f"The reply was cut off at the output token limit{limit}.",)
        return reply

    async def _stream(
        self,
        request: ChatRequest,
        reader: ReplyReader,
        tell: Callable[[Step], None],
        talk: Talk,
    ) -> Reply:
        reply = Reply()
        # A stream that is left early has to be closed, so that its connection is.
        stream = cast("AsyncGenerator[str | Reply]", self._model.stream(request))
        try:
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        reply = piece
                        continue
                    for step in reader.feed(piece):
                        tell(step)
                    if reader.should_stop:
                        break
        except ModelError as error:
            # Lines that have come are as good as ever; only the rest has to be asked for.
            if not (error.transient and reader.has_steps):
                raise
            talk.was_cut = talk.may_go_on = True
            talk.problems = (f"The reply broke off: {error}",)
        return reply

    def _schema(self) -> ResponseSchema | None:
        if self._format == "lines":
            return None
        return plan_schema(tool.name for tool in self._registry.tools())

    def _signatures(self) -> ToolSignatures:
        return {
            tool.name: tuple(parameter.name for parameter in tool.inputs)
            for tool in self._registry.tools()
        }

    def _found_tools(self, searches: Iterable[str], choice: ToolChoice) -> str:
        """Return the tools that a model asked for, by name or by words."""
        tools = self._registry.tools()
        by_name = {tool.name: tool for tool in tools}
        found = [
            tool
            for search in searches
            for tool in (
                [by_name[search]] if search in by_name else self._registry.search(search, _FOUND)
            )
        ]
        new = [tool for tool in with_makers(found, tools) if tool not in choice.shown]
        if not new:
            return "(no other tool fits; use those you know)"
        return tools_text(ToolChoice(shown=tuple(dict.fromkeys(new))))


def _is_over(view: TaskView) -> bool:
    """Whether nothing has to be asked: all is done, or what failed was given up."""
    number = latest_complete(view.plans)
    if view.problems or not number:
        return False
    failures = view.failures
    if failures:
        return all(record.tool == GIVE_UP for record in failures)
    return bool(view.plans[number - 1].outputs)


def _preview(view: TaskView, step_id: str, max_chars: int, mask: Mask) -> str:
    try:
        return preview_value(view.value(step_id), max_chars, mask)
    except ToolError as error:
        return f"(cannot be shown: {error})"
