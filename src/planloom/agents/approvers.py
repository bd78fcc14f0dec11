"""Approvers of any shape, as the engine asks them: a slip of theirs never lets a call through."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast

from planloom.agents.abandonable import wait_abandonable
from planloom.engine.approval import ApprovalRequest, Decision
from planloom.engine.protocols import Approver
from planloom.errors import ConfigError

_log = logging.getLogger(__name__)

Word: TypeAlias = Decision | bool | None
"""What an approver says; None when nobody can be asked now."""
AskFunction: TypeAlias = Callable[[ApprovalRequest], Word | Awaitable[Word]]
AnyApprover: TypeAlias = Approver | AskFunction


def as_approver(approver: AnyApprover) -> Approver:
    """Return an approver that the engine can ask.

    It may be an object with a method `ask`, or a function; each may be async or not, takes the
    `ApprovalRequest`, and returns a `Decision`, a bool, or None when nobody can be asked now.
    Functions that are not async run in a thread, one at a time, so that they may wait for input.

    Raises:
        ConfigError: it is neither.
    """
    return _AskedApprover(_function_of(approver))


class _AskedApprover:
    """Asks a function, and denies what it gives no valid answer to."""

    def __init__(self, function: AskFunction):
        self._function = function
        self._is_async = _is_async(function)
        self._one_at_a_time = threading.Lock()

    async def ask(self, request: ApprovalRequest, /) -> Decision | None:
        """Return the decision; a denial that says why where the function failed."""
        try:
            said = await self._said(request)
        except Exception as error:  # noqa: BLE001 -- whatever it is: told of, never taken for a yes
            _log.exception("The approver failed.")
            return _nobody(f"the approver raised {type(error).__name__}: {error}")
        if said is None or isinstance(said, Decision):
            return said
        if isinstance(said, bool):
            return Decision(approved=said)
        return _nobody(f"the approver returned {said!r:.80}, which is no Decision and no bool")

    async def _said(self, request: ApprovalRequest) -> object:
        if self._is_async:
            said: object = self._function(request)
        else:
            said = await self._in_turn(request)
        return await cast("Awaitable[object]", said) if inspect.isawaitable(said) else said

    async def _in_turn(self, request: ApprovalRequest) -> object:
        turn = _Turn(self._one_at_a_time)
        try:
            return await wait_abandonable(lambda: self._function(request) if turn.take() else None)
        finally:
            turn.leave()


class _Turn:
    """A place in the line of those who ask; an asking that is abandoned leaves it."""

    def __init__(self, line: threading.Lock):
        self._line = line
        self._guard = threading.Lock()
        self._is_first = False
        self._has_left = False

    def take(self) -> bool:
        """Wait for the turn; False when the place was left meanwhile."""
        self._line.acquire()
        with self._guard:
            self._is_first = True
            has_left = self._has_left
        if has_left:
            self.leave()
        return not has_left

    def leave(self) -> None:
        """Let the next one ask, from whatever thread."""
        with self._guard:
            if self._is_first:
                self._line.release()
            self._is_first, self._has_left = False, True


def _nobody(why: str) -> Decision:
    return Decision(approved=False, note=f"nobody could be asked: {why}.")


def _function_of(approver: object) -> AskFunction:
    function: object = approver if inspect.isroutine(approver) else getattr(approver, "ask", None)
    if function is None and callable(approver):
        function = approver
    if isinstance(approver, type) or not callable(function) or not _takes_a_request(function):
        raise ConfigError(
            f"approver is {approver!r:.80}, which cannot be asked. Give a function, or an object "
            "with a method `ask`, that takes an ApprovalRequest and returns a Decision or a bool.",
            zh=f"approver 是 {approver!r:.80}，无法用来审批。请给出一个函数，或带有 ask 方法的"
            "对象：接受 ApprovalRequest，返回 Decision 或 bool。",
        )
    return cast("AskFunction", function)


def _takes_a_request(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # some functions written in C tell no signature
        return True
    return True


def _is_async(function: object) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 -- the method of an object, not a test
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
