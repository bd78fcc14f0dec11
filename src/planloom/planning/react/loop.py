"""The ReAct loop: the model calls tools, sees what comes of it, and at last answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from planloom.errors import BudgetExhaustedError, ModelError
from planloom.models.chat_model import ChatModel, ChatRequest, Json
from planloom.models.messages import AudioPart, ImagePart
from planloom.planning.react.conversation import Conversation, is_too_long, opening, system_text
from planloom.planning.react.once import OnceToolbox
from planloom.planning.react.paging import PagedToolbox
from planloom.planning.react.reading import Turn, json_mode_schema, json_mode_text, read, wants_json
from planloom.planning.react.run_state import BROKEN_OFF, Checkers, RunState
from planloom.planning.react.toolbox import Observation, Toolbox
from planloom.planning.react.trajectory import ReactOutcome

if TYPE_CHECKING:
    from planloom.planning.checked_calls import CheckedCall

MAX_PARALLEL = 64
"""Calls of one turn that are under way at once."""
_REPLY_TOKENS = 4096
"""Room kept for a reply when none is set."""

_log = logging.getLogger(__name__)


class ReactLoop:
    """Runs goals with a model and tools; it keeps nothing between runs, which may overlap."""

    def __init__(
        self,
        model: ChatModel,
        toolbox: Toolbox,
        *,
        max_iterations: int = 10,
        instructions: str = "",
        answer_form: str = "",
        max_output_chars: int = 10_000,
        max_reply_tokens: int | None = None,
        temperature: float | None = None,
    ):
        """Take the model and its tools.

        With a limit of n iterations tools work in n - 1 of them, and in the last one the model
        answers; with 1 it answers at once. `instructions` are added to the system message,
        `answer_form` says how the answer has to be written. A result is shown up to
        `max_output_chars`; the model pages through the rest.
        """
        if max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {max_iterations}.")
        self._model = model
        self._toolbox = toolbox
        self._max_iterations = max_iterations
        self._instructions = instructions
        self._answer_form = answer_form
        self._max_output_chars = max_output_chars
        self._max_reply_tokens = max_reply_tokens
        self._temperature = temperature
        self._checkers = Checkers()

    async def run(
        self,
        goal: str,
        *,
        parts: Sequence[ImagePart | AudioPart] = (),
        pinned: str = "",
        must_look: bool = False,
        time_limit_s: float | None = None,
        on_broken: Callable[[ReactOutcome], None] | None = None,
    ) -> ReactOutcome:
        """Work on a goal until it is answered, or nothing more can be done.

        `parts` are pictures and sounds that belong to the goal; `pinned` is a plan or context
        that stays in view however long the run gets. `must_look` says that the answer lies in what
        only tools can read: without any result the model is asked once to look, and an answer all
        the same has a problem. After `time_limit_s` what is under way is broken off, and what was
        found is the outcome. Failures of tools and models are outcomes. Where the run is cancelled,
        or the model raises what it should not, `on_broken` gets what there is so far before that
        is raised; where it fails itself, that is logged.
        """
        run = self._start(goal, parts, pinned, must_look=must_look)
        run.set_time_limit(time_limit_s)
        try:
            while True:
                with_tools = run.next_iteration()
                turn = await self._reply(run, with_tools=with_tools)
                if turn.is_cut:
                    return run.cut_off(turn)
                if turn.wants_tools and with_tools:
                    await self._act(run, turn)
                elif turn.wants_tools:
                    return run.still_calling(turn)
                elif not turn.is_empty:
                    if not (with_tools and run.has_to_look(turn)):
                        return run.answered(turn)
                elif with_tools:
                    run.withdraw_tools("empty_reply")
                else:
                    return run.silent()
        except (ModelError, BudgetExhaustedError) as error:
            return run.broken_off(error)
        except BaseException as error:
            if on_broken:
                _hand_over(run.interrupted(error), on_broken)
            raise

    def _start(
        self,
        goal: str,
        parts: Sequence[ImagePart | AudioPart],
        pinned: str,
        *,
        must_look: bool,
    ) -> RunState:
        traits = self._model.traits
        reserved = min(self._max_reply_tokens or _REPLY_TOKENS, traits.context_tokens // 4)
        toolbox = PagedToolbox(
            OnceToolbox(self._toolbox), min(self._max_output_chars, traits.context_tokens // 2)
        )
        has_tools = self._max_iterations > 1 and bool(toolbox.specs)
        spelled = json_mode_text(toolbox.specs) if has_tools and not traits.tools else ""
        system = system_text(
            has_tools=has_tools, extras=(spelled, self._instructions, self._answer_form)
        )
        talk = Conversation(
            system,
            opening(goal, pinned=pinned, parts=parts),
            native=traits.tools,
            window_tokens=traits.context_tokens - reserved,
        )
        return RunState(
            talk=talk,
            toolbox=toolbox,
            checkers=self._checkers,
            native=traits.tools,
            keep_thinking=traits.wants_thinking_back,
            max_iterations=self._max_iterations,
            answer_form=self._answer_form,
            must_look=must_look and bool(toolbox.specs),
            json_is_answer=wants_json(f"{goal}\n{self._answer_form}"),
        )

    async def _reply(self, run: RunState, *, with_tools: bool) -> Turn:
        """Return the next reply; one that is cut off or empty is asked for again, but not often."""
        turn = await self._ask(run, with_tools=with_tools)
        while (turn.is_cut or turn.is_empty) and run.may_ask_again(turn):
            turn = await self._ask(run, with_tools=with_tools)
        return turn

    async def _ask(self, run: RunState, *, with_tools: bool) -> Turn:
        specs = run.toolbox.specs if with_tools else ()
        held = specs and not run.native and self._model.traits.json_schema
        request = ChatRequest(
            history=run.talk.history(run.toolbox.keep),
            tools=specs if run.native else (),
            response_schema=json_mode_schema(specs) if held else None,
            max_tokens=self._max_reply_tokens,
            temperature=self._temperature,
        )
        try:
            reply = await run.in_time(self._model.reply, request)
        except ModelError as error:
            if not is_too_long(error):
                raise
            run.talk.shorten(run.toolbox.keep)
            shorter = replace(request, history=run.talk.history(run.toolbox.keep))
            reply = await run.in_time(self._model.reply, shorter)
        run.talk.note_usage(reply.usage)
        return read(
            reply,
            run.checker(),
            run.toolbox.specs,
            native=run.native,
            json_is_answer=run.json_is_answer,
        )

    async def _act(self, run: RunState, turn: Turn) -> None:
        """Make all calls of a turn at once, and add what came of each, in their order.

        Those that are not done in time, or when the run is cancelled, are broken off; what the
        others gave is kept.
        """
        gate = asyncio.Semaphore(MAX_PARALLEL)

        async def one(asked: CheckedCall) -> Observation:
            async with gate:
                return await _call(run.toolbox, asked)

        calls = [asyncio.create_task(one(asked)) for asked in turn.asked]
        try:
            if calls:
                await asyncio.wait(calls, timeout=run.seconds_left())
        finally:
            try:
                await _break_off(calls)
            finally:  # whoever does not wait for their end still gets what was found
                run.take(turn, [_seen(call) for call in calls])


def _hand_over(outcome: ReactOutcome, on_broken: Callable[[ReactOutcome], None]) -> None:
    try:
        on_broken(outcome)
    except Exception as error:  # noqa: BLE001 -- why the run broke matters more, and is raised
        _log.warning("What the broken run had found could not be kept: %r", error)


async def _break_off(calls: Sequence[asyncio.Task[Observation]]) -> None:
    under_way = [call for call in calls if not call.done()]
    for call in under_way:
        call.cancel()
    if under_way:
        await asyncio.wait(under_way)


def _seen(call: asyncio.Task[Observation]) -> Observation:
    if call.done() and not call.cancelled():
        return call.result()
    return Observation.failure("cancelled", BROKEN_OFF)


async def _call(toolbox: Toolbox, asked: CheckedCall) -> Observation:
    if asked.arguments is None:
        return Observation.failure(asked.error_kind, asked.error)
    try:
        arguments = cast("Mapping[str, Json]", asked.arguments)
        return await toolbox.call(asked.call.name, arguments, asked.call.id)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return Observation.failure("cancelled", f"The call of '{asked.call.name}' was cancelled.")
    except Exception as error:  # noqa: BLE001 -- a toolbox may fail in any way; the others go on
        said = f"The call of '{asked.call.name}' failed: {type(error).__name__}: {error}"
        return Observation.failure("crash", said)
