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
            yield
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.happened = True
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # Ctrl-C is ignored, as in a job that a script started with &
            raise KeyboardInterrupt
