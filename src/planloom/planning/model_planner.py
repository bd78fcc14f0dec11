"""A planner that asks a language model: for a plan, for mends of it, and for what is left to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from planloom.engine.artifacts import head_and_tail
from planloom.engine.plan import Plan, Step, unused_steps
from planloom.engine.protocols import TaskView
from planloom.engine.task import StepRecord, latest_complete
from planloom.errors import ConfigError, ModelError, PlanError, ToolError
from planloom.models.chat_model import ChatModel, ChatRequest, Reply, ResponseSchema
from planloom.models.history import History
from planloom.models.messages import AssistantMessage, SystemMessage, UserMessage
from planloom.notes import Lang
from planloom.planning.personal_mask import UNMASKED, PersonalDataMask
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
from planloom.planning.reply_lines import ReadReply, ReplyReader, merged_steps, read_json
from planloom.planning.tool_text import MAX_TOOLS, ToolChoice, choose_tools, tools_text, with_makers
from planloom.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_MAX_SEARCHES = 2
_KEPT_RUNS = 64
_FOUND = 6
_EMPTY = "(no reply)"
_MIN_PREVIEW_CHARS = 120
_LINE_CHARS = 400
_ALWAYS = (WRITE_ANSWER, FILL_TEXT, GIVE_UP)


@dataclass(kw_only=True)
class _Talk:
    """The conversation about one run, and the plan that is being written in it."""

    history: History
    choice: ToolChoice
    draft: ReadReply = field(default_factory=ReadReply)
    """What has been read of the plan that is not accepted yet."""
    problems: tuple[str, ...] = ()
    """What the planner itself found wrong with its last reply."""
    was_cut: bool = False
    told: dict[str, Step] = field(default_factory=dict[str, Step])
    """Steps that the engine may have started before the plan was whole."""


class ModelPlanner:
    """Makes plans by asking a model; a `Planner`.

    One conversation is kept for each run and only appended to, so that providers can keep its
    beginning. A run that another process began goes on with a new one, made from its records.
    """

    def __init__(
        self,
        model: ChatModel,
        registry: ToolRegistry,
        *,
        briefing: str = "",
        plan_format: PlanFormat = "lines",
        max_tools: int = MAX_TOOLS,
        max_output_chars: int = 10_000,
        max_plan_tokens: int | None = None,
        temperature: float | None = None,
        language: Lang | None = None,
        mask: PersonalDataMask = UNMASKED,
    ):
        """Set up a planner; nothing is asked yet.

        Args:
            model: Writes the plans.
            registry: The tools that plans may use.
            briefing: What a model should know besides the goal: the files, the date.
            plan_format: "lines" are short and start while they are written; "json" is for models
                that have to be held to a schema.
            max_tools: Of more tools only those that fit the goal are shown.
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
        # A quarter of the window in characters is far below it in tokens.
        self._max_output_chars = min(max_output_chars, model.traits.context_tokens // 4)
        self._max_plan_tokens = max_plan_tokens
        self._temperature = temperature
        self._language = language
        self._mask = mask
        self._talks: dict[str, _Talk] = {}

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
        reply, _ = await asyncio.gather(self._read_plan(talk, view), warming)
        self._keep(view.run, talk)
        return _to_plan(reply, talk, view)

    # -- the conversation

    async def _new_talk(self, view: TaskView) -> _Talk:
        # Loading toolsets takes long when it is the first time.
        choice = await asyncio.to_thread(self._choose, view.goal)
        goal = goal_message(view.goal, self._briefing, self._language)
        system = SystemMessage(system_prompt(choice, self._format))
        talk = _Talk(history=History([system, UserMessage(goal)]), choice=choice)
        last = view.rejected or (view.plans[-1] if view.plans else None)
        if last:
            lines = plan_to_lines(last, self._signatures())
            talk.history.append(AssistantMessage(lines))
        elif view.problems:
            talk.history.append(AssistantMessage(_EMPTY))
        return talk

    def _choose(self, goal: str) -> ToolChoice:
        return choose_tools(
            self._registry, f"{goal}\n{self._briefing}", limit=self._max_tools, always=_ALWAYS
        )

    def _load_check(self, choice: ToolChoice) -> None:
        for tool in choice.shown:
            # A tool without a schema is told of when a plan uses it.
            with suppress(ConfigError):
                self._registry.check_arguments(tool.name, {})

    def _keep(self, run: str, talk: _Talk) -> None:
        self._talks[run] = talk
        while len(self._talks) > _KEPT_RUNS:
            del self._talks[next(iter(self._talks))]

    async def _ask(self, talk: _Talk, view: TaskView) -> None:
        """Append what the model is asked now; the goal alone is asked by the first messages."""
        if view.problems:
            if view.rejected:
                talk.draft = _draft_of(view.rejected)
            problems = (*(talk.problems or view.problems), *_failed_early(view, talk))
            has_lines = bool(talk.draft.steps)
            message = mend_message(problems, self._format, cut=talk.was_cut, has_lines=has_lines)
            talk.history.append(UserMessage(message))
        elif view.plans:
            talk.draft, talk.told = ReadReply(), {}
            message = await asyncio.to_thread(self._states, view)
            talk.history.append(UserMessage(message))
        talk.problems, talk.was_cut = (), False

    def _states(self, view: TaskView) -> str:
        number = latest_complete(view.plans) or len(view.plans)
        records = [record for record in view.records if record.epoch >= number]
        shown = [record for record in records if record.step in view.results]
        each = max(self._max_output_chars // max(len(shown), 1), _MIN_PREVIEW_CHARS)
        previews = {record.step: _preview(view, record.step, each, self._mask) for record in shown}
        steps = [(self._line(view, record), record) for record in records]
        after = "failure" if view.failures else "look"
        return states_message(number, steps, previews, self._format, after=after)

    def _line(self, view: TaskView, record: StepRecord) -> str:
        step = view.plans[record.epoch - 1].step(record.step)
        lines = plan_to_lines(Plan(steps=(step,), outputs=(step.id,)), self._signatures())
        return head_and_tail(lines.strip(), _LINE_CHARS)

    # -- the reply

    async def _read_plan(self, talk: _Talk, view: TaskView) -> ReadReply:
        """Return what the model writes; tools that it asks to see are shown in between."""
        for _ in range(_MAX_SEARCHES):
            reply = await self._read_reply(talk, view)
            if not reply.searches or reply.steps:
                return reply
            tools = await asyncio.to_thread(self._found_tools, reply.searches, talk.choice)
            talk.history.append(UserMessage(SEARCH_RESULT.format(tools=tools)))
        return await self._read_reply(talk, view)

    async def _read_reply(self, talk: _Talk, view: TaskView) -> ReadReply:
        def tell(step: Step) -> None:
            if view.ahead and talk.told.get(step.id) != step:
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
        read = reader.finish(cut=talk.was_cut or reader.is_stuck)
        if self._format == "json":
            read = _as_part(read_json(reader.text), talk.draft)
        talk.history.append(AssistantMessage(reader.text.strip() or _EMPTY, (), said.thinking))
        return read

    async def _listen(
        self,
        request: ChatRequest,
        reader: ReplyReader,
        tell: Callable[[Step], None],
        talk: _Talk,
    ) -> Reply:
        """Read the reply while it comes; note in `talk` when it ended too early, and why."""
        if self._format == "json" or not self._model.traits.streaming:
            reply = await self._model.reply(request)
            reader.feed(reply.text)
        else:
            reply = await self._stream(request, reader, tell, talk)
        if reply.finish_reason == "length" and not reader.is_stuck:
            limit = f" of {self._max_plan_tokens}" if self._max_plan_tokens else ""
            talk.was_cut = True
            talk.problems = (f"The reply was cut off at the output token limit{limit}.",)
        return reply

    async def _stream(
        self,
        request: ChatRequest,
        reader: ReplyReader,
        tell: Callable[[Step], None],
        talk: _Talk,
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
                    if reader.is_stuck:
                        break
        except ModelError as error:
            # Lines that have come are as good as ever; only the rest has to be asked for.
            if not (error.transient and reader.has_steps):
                raise
            talk.was_cut = True
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


def _failed_early(view: TaskView, talk: _Talk) -> Iterable[str]:
    """Yield how steps of the draft failed that were started before the plan was whole."""
    drafted = {step.id for step in talk.draft.steps}
    for record in view.failures:
        if record.epoch > latest_complete(view.plans) and record.step in drafted:
            yield f"Step '{record.step}' was started and failed: {record.error[:_LINE_CHARS]}"


def _draft_of(plan: Plan) -> ReadReply:
    named = None if plan.outputs == unused_steps(plan.steps) else plan.outputs
    return ReadReply(thought=plan.thought, steps=list(plan.steps), outputs=named)


def _as_part(reply: ReadReply, before: ReadReply) -> ReadReply:
    """Return a JSON reply with the outputs of the whole plan where it holds only a part of it."""
    if not before.steps:
        return reply
    ids = {step.id for step in (*before.steps, *reply.steps)}
    named = (*(before.outputs or ()), *(reply.outputs or ()))
    return replace(reply, outputs=tuple(name for name in named if name in ids) or None)


def _to_plan(reply: ReadReply, talk: _Talk, view: TaskView) -> Plan | None:
    """Return the plan that a reply makes of the draft before it.

    Raises:
        PlanError: lines of it cannot be read, it was cut off, or there are none.
    """
    before = talk.draft
    new = [_as_told(step, talk) for step in reply.steps]
    steps = merged_steps(before.steps, new, reply.dropped)
    outputs = before.outputs if reply.outputs is None else reply.outputs
    thought = before.thought or reply.thought
    talk.draft = ReadReply(thought=thought, steps=list(steps), outputs=outputs)
    talk.problems = (*talk.problems, *reply.problems)
    if talk.problems:
        raise PlanError("\n".join(talk.problems))
    if reply.is_done and view.failures and not steps:
        return None
    steps = (*steps, *_carried(view, steps, outputs))
    if not steps or (before.steps and not _changes(reply)):
        talk.problems = (_no_plan(reply),)
        raise PlanError(talk.problems[0])
    return Plan(thought=thought, steps=steps, outputs=_outputs(steps, outputs))


def _changes(reply: ReadReply) -> bool:
    return bool(reply.steps or reply.dropped or reply.outputs is not None)


def _no_plan(reply: ReadReply) -> str:
    said = f" It says: {reply.thought[:200]}" if reply.thought else ""
    return (
        f"The reply holds no line of a plan.{said} "
        'Write one call a line and nothing else: a = tool("text").'
    )


def _as_told(step: Step, talk: _Talk) -> Step:
    """Return the step as it was told before where only its comment differs: it may be running."""
    told = talk.told.get(step.id)
    if told and replace(step, description=told.description) == told:
        return told
    return step


def _outputs(steps: tuple[Step, ...], named: tuple[str, ...] | None) -> tuple[str, ...]:
    return unused_steps(steps) if named is None else tuple(dict.fromkeys(named))


def _carried(
    view: TaskView, steps: tuple[Step, ...], outputs: tuple[str, ...] | None
) -> tuple[Step, ...]:
    """Return steps of earlier plans that go on with a new one without being written again.

    Those are finished ones that it names as outputs, and those that waited for a failed step
    which a new line replaces.
    """
    own = {step.id for step in steps}
    earlier = {step.id: step for plan in view.plans for step in plan.steps}
    finished = [earlier[name] for name in outputs or ()
                if name not in own and name in view.results and name in earlier]  # fmt: skip
    carried = {step.id: step for step in finished}
    waiting = [earlier[r.step] for r in _blocked(view) if r.step not in own]
    while ready := [s for s in waiting if _may_go_on(s, view, own | carried.keys())]:
        carried |= {step.id: step for step in ready}
        waiting = [step for step in waiting if step not in ready]
    return tuple(carried.values())


def _blocked(view: TaskView) -> list[StepRecord]:
    number = latest_complete(view.plans)
    return [record for record in view.records
            if record.epoch >= number and record.state == "blocked"]  # fmt: skip


def _may_go_on(step: Step, view: TaskView, there: set[str]) -> bool:
    return all(name in there or name in view.results for name in step.depends_on)


def _preview(view: TaskView, step_id: str, max_chars: int, mask: PersonalDataMask) -> str:
    try:
        return preview_value(view.value(step_id), max_chars, mask)
    except ToolError as error:
        return f"(cannot be shown: {error})"
