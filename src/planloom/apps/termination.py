"""Treats the request to end (SIGTERM) like Ctrl-C, so that its record is truthful too."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class Termination:
    """Whether the process was asked to end."""

    def __init__(self) -> None:
        self.happened = False

    @contextmanager
    def listening(self) -> Generator[None]:
        """Pass SIGTERM on as Ctrl-C, where this thread gets signals and nobody listens yet."""
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGTERM, self._handle)
        try:
            with _interruptible():
                yield
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _handle(self, _number: int, frame: FrameType | None) -> None:
        self.happened = True
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):  # that of the event loop, which ends the work in order
            interrupt(signal.SIGINT, frame)


@contextmanager
def _interruptible() -> Generator[None]:
    """Let event loops install what ends them in order, also where Ctrl-C is ignored.

    It is in a job that a script started with `&`. Ctrl-C itself stays without effect there.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
