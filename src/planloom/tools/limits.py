"""Runs one function or coroutine under a time limit that really ends the work."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from planloom.interruption import InterruptHooks

GRACE_S = 1.0
"""How long work that was told to end may take to do so before it is left behind."""
_AGAIN_S = 0.05
"""Code that swallows the exception that ends it is interrupted again after this time."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended by itself: with a value or with an exception."""

    value: object = None
    error: BaseException | None = None


class LimitReachedError(Exception):
    """The work ran into its time limit; `ended` says whether it really stopped."""

    def __init__(self, *, ended: bool):
        super().__init__("ended" if ended else "not ended yet")
        self.ended = ended


class _EndCall(BaseException):
    """Raised inside a thread to end it; not an Exception, so that tools do not catch it."""


async def run_coroutine(
    function: Callable[[], Awaitable[object]], timeout_s: float, *, grace_s: float = GRACE_S
) -> Outcome:
    """Await a coroutine for at most `timeout_s` seconds.

    A cancellation from outside is passed on after the coroutine has ended.

    Raises:
        LimitReachedError: it ran into the limit and was cancelled.
    """
    task = asyncio.create_task(_attempt(function))
    try:
        await asyncio.wait({task}, timeout=timeout_s)
    except asyncio.CancelledError:
        await _cancelled(task, grace_s)
        raise
    if task.done():
        return task.result()
    raise LimitReachedError(ended=await _cancelled(task, grace_s))


async def _attempt(function: Callable[[], Awaitable[object]]) -> Outcome:
    try:
        return Outcome(value=await function())
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Outcome(error=error)  # the tool cancelled something of its own
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- handed on as the outcome
        return Outcome(error=error)


async def _cancelled(task: asyncio.Task[Outcome], grace_s: float) -> bool:
    task.cancel()
    await asyncio.wait({task}, timeout=grace_s)
    return task.done()


async def run_in_thread(
    function: Callable[[], object], timeout_s: float, *, name: str, grace_s: float = GRACE_S
) -> Outcome:
    """Run a function in a thread of its own for at most `timeout_s` seconds.

    At the limit, or when cancelled from outside, an exception is raised inside the thread. Python
    code ends at its next instruction; a call into C code ends when it returns, or at once if
    its library registered a way with `interruption.on_interrupt`.

    Raises:
        LimitReachedError: it ran into the limit.
    """
    call = _ThreadCall(function, name)
    try:
        await asyncio.wait({call.outcome}, timeout=timeout_s)
    except asyncio.CancelledError:
        await call.end(grace_s)
        raise
    if call.outcome.done():
        return call.outcome.result()
    raise LimitReachedError(ended=await call.end(grace_s))


class _ThreadCall:
    """One function in one daemon thread: a stuck one must not keep the program from ending."""

    def __init__(self, function: Callable[[], object], name: str):
        self._function = function
        self._loop = asyncio.get_running_loop()
        self.outcome: asyncio.Future[Outcome] = self._loop.create_future()
        self._context = contextvars.copy_context()
        self._hooks = InterruptHooks()
        self._open = False
        """Whether the thread is where an interrupt can reach it."""
        self._over = False
        # Held while an interrupt is sent and when the thread closes itself to interrupts: a
        # thread id is used again after the thread, and must not hit another call. Reentrant,
        # since an interrupt may arrive in the thread right after it took the lock.
        self._closing = threading.RLock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def end(self, grace_s: float) -> bool:
        """Interrupt the thread until it ends, for at most `grace_s`; return whether it ended."""
        deadline = self._loop.time() + grace_s
        while not self.outcome.done() and self._loop.time() < deadline:
            self._interrupt()
            self._hooks.run()
            await asyncio.wait({self.outcome}, timeout=_AGAIN_S)
        return self.outcome.done()

    def _interrupt(self) -> None:
        # Never waits: when the lock is taken, the thread is about to end by itself.
        if not self._closing.acquire(blocking=False):
            return
        try:
            if self._open and not self._over and self._thread.ident is not None:
                # Needed only where a thread runs over its limit.
                import ctypes

                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread.ident), ctypes.py_object(_EndCall)
                )
        finally:
            self._closing.release()

    def _run(self) -> None:
        outcome = Outcome(error=_EndCall())
        while not self._over:
            # An interrupt may arrive at any instruction in here, also after the work was done.
            try:
                if not self._open:
                    self._open = True
                    outcome = self._context.run(self._attempt)
                self._closing.acquire()  # never released: from here on no interrupt may come
                self._over = True
            except _EndCall:
                continue
        self._deliver(outcome)

    def _attempt(self) -> Outcome:
        self._hooks.install()
        try:
            return Outcome(value=self._function())
        except _EndCall:
            raise
        except BaseException as error:  # noqa: BLE001 -- handed on as the outcome
            return Outcome(error=error)

    def _deliver(self, outcome: Outcome) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, outcome)
        except RuntimeError:
            return  # the loop was closed: nobody waits for a call that was left behind

    def _settle(self, outcome: Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)
