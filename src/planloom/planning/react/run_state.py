"""What one ReAct run knows of itself: where it stands, what it may still do, how it ended."""

from __future__ import annotations

import asyncio
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from planloom.errors import BudgetExhaustedError, PlanloomError
from planloom.models.chat_model import ChatRequest, Json, Reply, ToolSpec
from planloom.notes import Note
from planloom.planning.react.compaction import Exchange, Seen
from planloom.planning.react.conversation import Conversation
from planloom.planning.react.paging import PagedToolbox
from planloom.planning.react.progress import Made, Progress
from planloom.planning.react.reading import Turn, to_message
from planloom.planning.react.toolbox import FIND, Observation
from planloom.planning.react.trajectory import (
    Action,
    Iteration,
    ReactOutcome,
    StopReason,
    standing_refusals,
)

if TYPE_CHECKING:
    from planloom.planning.checked_calls import CallChecker, CheckedCall

WARNING = (
    "Turns with tools that are left: {left}. Get what the answer still needs, several calls at "
    "once where you can."
)
LAST = "No more tools can be called. Answer now, from what is known; say what is missing."
REPEATED = (
    "The last turns brought nothing new: the same calls gave the same results, or failed. Use "
    "what you have. If the goal is reached, answer; if not, do something different."
)
STUCK = "The last turns brought nothing new."
LOOK = (
    "You have not looked yet: no tool has given a result, so nothing is known of the files. Code "
    "in an answer is not run. Call a tool now."
)
EMPTY = "Your reply was empty. Answer, or call a tool."
CUT = (
    "Your reply was cut off at the output token limit, so nothing of it was done. Reply again, "
    "much shorter."
)
BROKEN_OFF = "Broken off before it was done."
CUT_CALL = "Not run: the reply was cut off at the output token limit."

_CHECKERS = 16
_WARN_LEFT = 2
_REPEATS = 2
"""Requests of a run that are made again because a reply was cut off or empty."""

Withdrawal = Literal["no_progress", "empty_reply"]

_MADE_TO_ANSWER: dict[StopReason, Note] = {
    "max_iterations": Note(
        "The limit of {limit|iteration|iterations} was reached before the model was done.",
        "模型尚未完成，已达到 {limit} 轮迭代的上限。",
    ),
    "no_progress": Note(
        "The model repeated itself without getting further and was stopped.",
        "模型反复执行相同的操作而没有进展，已被中止。",
    ),
    "empty_reply": Note("The model sent an empty reply.", "模型返回了空回复。"),
}
_NO_ANSWER = Note(
    " It gave no answer; shown is the last result.", "模型没有给出答案，所示为最后一次得到的结果。"
)
_UNAPPROVED = Note(
    "Not done, since it needs approval and nobody could be asked: {tools}. Allow it with {allow}, "
    "or run where questions can be answered.",
    "以下操作需要批准，但当前无人可询问，因此未执行：{tools}。可用 {allow} 允许，"
    "或在可以应答的终端中运行。",
)
_REFUSED = Note("Not done, since it was not approved. {why}", "以下操作未获批准，未执行。{why}")
_NOT_LOOKED = Note(
    "The model answered without having read any of the files; the answer is not based on them.",
    "模型没有读取任何文件就作答，答案并非依据文件内容。",
)
_CUT_OFF = Note(
    "The model's replies were cut off at its output token limit. Raise the limit of a reply, or "
    "ask for less at once.",
    "模型的回复超出输出 token 上限而被截断。请提高单次回复的上限，或缩小问题范围。",
)

_CANCELLED = Note("The run was cancelled before it was done.", "运行在完成前被取消。")
_RAISED = Note("The model's code raised {said}", "模型代码抛出异常：{said}")
_SAID_CHARS = 300


class Checkers:
    """Checkers of calls by the tools that they know, shared by runs: each compiles schemas."""

    def __init__(self) -> None:
        self._made: OrderedDict[int, tuple[tuple[ToolSpec, ...], CallChecker]] = OrderedDict()

    def of(self, specs: tuple[ToolSpec, ...]) -> CallChecker:
        """Return the checker for these very specs, the same object."""
        from planloom.planning.checked_calls import CallChecker

        known = self._made.get(id(specs))
        if known is None:
            # The specs are kept, so that their id is not given to others.
            known = self._made[id(specs)] = (specs, CallChecker(specs))
            while len(self._made) > _CHECKERS:
                self._made.popitem(last=False)
        return known[1]


@dataclass(kw_only=True)
class RunState:
    """The state of one run; its methods say what happened, and give the outcome when it is over."""

    talk: Conversation
    toolbox: PagedToolbox
    checkers: Checkers
    native: bool
    """Whether the model makes native calls; else it writes JSON."""
    keep_thinking: bool
    max_iterations: int
    answer_form: str
    must_look: bool = False
    """Whether no answer is worth anything before a tool has given a result."""
    json_is_answer: bool = False
    """Whether the goal asks for JSON."""
    number: int = 0
    """Of the present iteration, from 1."""
    _progress: Progress = field(default_factory=Progress)
    _withdrawn: Withdrawal | None = None
    _nudged: bool = False
    _sent_to_look: bool = False
    _repeats: int = _REPEATS
    _notice: str = ""
    _done: list[Iteration] = field(default_factory=list[Iteration])
    _time_limit_s: float | None = None
    _deadline: float | None = None
    """By the clock of the event loop."""

    def set_time_limit(self, seconds: float | None) -> None:
        """Let the run end so many seconds from now; None means no limit."""
        self._time_limit_s = seconds
        if seconds is not None:
            self._deadline = asyncio.get_running_loop().time() + seconds

    def seconds_left(self) -> float | None:
        """Return how much time is left; None where nothing limits it."""
        if self._deadline is None:
            return None
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    async def in_time(
        self, ask: Callable[[ChatRequest], Awaitable[Reply]], request: ChatRequest
    ) -> Reply:
        """Ask for a reply and wait for it, at most until the time limit.

        Raises:
            BudgetExhaustedError: it took longer.
        """
        if self._deadline is None:
            return await ask(request)
        timeout = asyncio.timeout_at(self._deadline)
        try:
            async with timeout:
                await asyncio.sleep(0)  # a limit that is reached already ends it here
                return await ask(request)
        except TimeoutError as error:
            if not timeout.expired():
                raise
            raise _out_of_time(self._time_limit_s or 0.0) from error

    def checker(self) -> CallChecker:
        """Return the checker of the calls of the tools that there are now."""
        return self.checkers.of(self.toolbox.specs)

    def next_iteration(self) -> bool:
        """Begin an iteration; return whether tools may be called in it."""
        self.number += 1
        left = self.max_iterations - self.number
        with_tools = left > 0 and self._withdrawn is None
        if not with_tools:
            stuck = STUCK if self._withdrawn == "no_progress" else ""
            # Alone, the first message already asks for the answer.
            first = self.number == 1
            self._tell("" if first else " ".join(filter(None, (stuck, LAST, self.answer_form))))
        elif self.number > 1 and left == min(_WARN_LEFT, self.max_iterations - 2):
            self._tell(WARNING.format(left=left))
        return with_tools

    def take(self, turn: Turn, seen: Sequence[Observation]) -> None:
        """Add a turn and what came of each of its calls."""
        self._add(turn, [observation.text for observation in seen])
        pairs = list(zip(turn.asked, seen, strict=True))
        actions = tuple(_action(asked, observation) for asked, observation in pairs)
        self._log(turn.text, actions)
        for problem in turn.problems:
            self._tell(problem)
        made = [_made(asked, observation) for asked, observation in pairs]
        made += [_unreadable(problem) for problem in turn.problems]
        advice = self._progress.note(made)
        if advice == "hint":
            self._tell(REPEATED)
        elif advice == "withdraw":
            self.withdraw_tools("no_progress")

    def withdraw_tools(self, why: Withdrawal) -> None:
        """Let the next iteration be the last one, without tools."""
        self._withdrawn = why

    def may_ask_again(self, turn: Turn) -> bool:
        """Prepare to ask again after a reply that was cut off or empty; False when often enough."""
        if not self._repeats or (turn.is_empty and not turn.is_cut and self._nudged):
            return False
        self._repeats -= 1
        if not turn.is_empty:
            self._add(turn, [CUT_CALL] * len(turn.asked))
        self._nudged = self._nudged or not turn.is_cut
        self._tell(CUT if turn.is_cut else EMPTY)
        return True

    def has_to_look(self, turn: Turn) -> bool:
        """Ask once to look before answering; return whether that was done."""
        if self._sent_to_look or not self._lacks_look():
            return False
        self._sent_to_look = True
        self._add(turn, ())
        self._log(turn.text)
        self._tell(LOOK)
        return True

    def answered(self, turn: Turn) -> ReactOutcome:
        """Return the outcome of a run whose model answered."""
        reason = self._forced_by()
        problem = self._problem(reason) if reason != "answered" else self._doubt()
        return self._ended(reason, turn.text.strip(), problem, is_answered=True)

    def _doubt(self) -> Note | None:
        """Return why an answer that the model gave of its own accord is not to be trusted."""
        return _NOT_LOOKED if self._lacks_look() else self._unapproved()

    def _lacks_look(self) -> bool:
        actions = (action for turn in self._done for action in turn.actions)
        looked = any(action.observation.ok and action.tool != FIND for action in actions)
        return self.must_look and not looked

    def still_calling(self, turn: Turn) -> ReactOutcome:
        """Return the outcome when the model calls tools that it no longer has."""
        text = turn.text.strip()
        reason = self._forced_by()
        if reason == "answered":  # a limit of 1: calls although no tool was ever offered
            reason = "max_iterations"
        if text:
            return self._ended(reason, text, self._problem(reason), is_answered=True)
        return self._without_answer(reason)

    def silent(self) -> ReactOutcome:
        """Return the outcome when the model says nothing although it was made to answer."""
        return self._without_answer("empty_reply")

    def cut_off(self, turn: Turn) -> ReactOutcome:
        """Return the outcome when replies end at the output token limit again and again."""
        text = "" if turn.wants_tools else turn.text.strip()
        return self._ended("output_limit", text or self._best(), _CUT_OFF)

    def broken_off(self, error: PlanloomError) -> ReactOutcome:
        """Return the outcome when no further reply can be had."""
        reason = "budget" if isinstance(error, BudgetExhaustedError) else "model_error"
        problem = Note("{en}", "{zh}", {"en": error.text("en"), "zh": error.text("zh")})
        return self._ended(reason, self._best(), problem)

    def interrupted(self, error: BaseException) -> ReactOutcome:
        """Return the outcome so far of a run that was cancelled, or whose model raised a bug."""
        if isinstance(error, asyncio.CancelledError):
            return self._ended("cancelled", self._best(), _CANCELLED)
        said = traceback.format_exception_only(error)[-1].strip()
        problem = _RAISED.with_args({"said": said[:_SAID_CHARS]})
        return self._ended("model_error", self._best(), problem)

    def _forced_by(self) -> StopReason:
        if self._withdrawn:
            return self._withdrawn
        is_last = 1 < self.max_iterations == self.number
        return "max_iterations" if is_last else "answered"

    def _unapproved(self) -> Note | None:
        """Return that calls were refused; the model may claim that they were made."""
        seen = standing_refusals(self._done)
        lacking = {
            a.tool: a.observation.lacks_approval for a in seen if a.observation.lacks_approval
        }
        refused = {a.tool: a.observation.refusal for a in seen if a.observation.refusal}
        notes: list[Note] = []
        if lacking:
            effects = dict.fromkeys(lacking.values())
            allow = " ".join(f"--allow {effect}" for effect in effects)
            args = {"tools": ", ".join(lacking), "allow": allow}
            notes.append(_UNAPPROVED.with_args(args))
        if refused:
            why = " ".join(f"{tool}: {why}" for tool, why in refused.items())
            notes.append(_REFUSED.with_args({"why": why}))
        return _joined(notes) if notes else None

    def _without_answer(self, reason: StopReason) -> ReactOutcome:
        problem = self._problem(reason)
        said = Note(problem.en + _NO_ANSWER.en, problem.zh + _NO_ANSWER.zh, problem.args)
        return self._ended(reason, self._best(), said)

    def _problem(self, reason: StopReason) -> Note:
        note = _MADE_TO_ANSWER[reason]
        return note.with_args({"limit": self.max_iterations})

    def _ended(
        self, reason: StopReason, answer: str, problem: Note | None, *, is_answered: bool = False
    ) -> ReactOutcome:
        if is_answered:
            self._log(answer)
        return ReactOutcome(
            answer=answer,
            stop_reason=reason,
            is_answered=is_answered,
            problem=problem,
            iterations=self.number,
            trajectory=tuple(self._done),
        )

    def _best(self) -> str:
        """Return the last result that a tool gave, else the last thing that the model said."""
        actions = (action for turn in reversed(self._done) for action in reversed(turn.actions))
        found = next((action.observation.text for action in actions if action.observation.ok), "")
        return found or next((turn.thought for turn in reversed(self._done) if turn.thought), "")

    def _add(self, turn: Turn, texts: Sequence[str]) -> None:
        message = to_message(turn, native=self.native, keep_thinking=self.keep_thinking)
        results = tuple(
            Seen(asked.call.id, asked.call, text)
            for asked, text in zip(turn.asked, texts, strict=True)
        )
        self.talk.add(Exchange(message, results))

    def _tell(self, text: str) -> None:
        if text:
            self.talk.say(text)
            self._notice = f"{self._notice} {text}".strip()

    def _log(self, thought: str, actions: tuple[Action, ...] = ()) -> None:
        self._done.append(
            Iteration(number=self.number, thought=thought, actions=actions, notice=self._notice)
        )
        self._notice = ""


def _out_of_time(limit_s: float) -> BudgetExhaustedError:
    return BudgetExhaustedError(
        f"The time limit was reached, {limit_s:.3g} s after the start. To go on, allow more time.",
        zh=f"已达到时间上限（开始后 {limit_s:.3g} 秒）。如需继续，请放宽时间限制。",
        limit="max_seconds",
    )


def _joined(notes: Sequence[Note]) -> Note:
    args = {name: value for note in notes for name, value in note.args.items()}
    return Note(" ".join(n.en for n in notes), "".join(n.zh for n in notes), args)


def _action(asked: CheckedCall, seen: Observation) -> Action:
    call = asked.call
    return Action(id=call.id, tool=call.name, arguments=call.arguments, observation=seen)


def _made(asked: CheckedCall, seen: Observation) -> Made:
    return Made(asked.call.name, cast("Mapping[str, Json] | None", asked.arguments), seen)


def _unreadable(problem: str) -> Made:
    return Made("", None, Observation.failure("arguments", problem))
