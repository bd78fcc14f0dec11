"""Ends library calls that Python cannot interrupt, when the work around them is ended."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


class InterruptHooks:
    """What has to be told when one piece of work is ended early."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], None]] = []

    def install(self) -> None:
        """Collect the hooks that the current context registers from here on."""
        _current.set(self)

    def add(self, call: Callable[[], None]) -> None:
        """Remember a call to make when the work is ended."""
        self._calls.append(call)

    def run(self) -> None:
        """Make every call; may happen more than once, from another thread than the work's."""
        for call in tuple(self._calls):
            call()


_current: ContextVar[InterruptHooks | None] = ContextVar("planloom_interrupt_hooks", default=None)


def on_interrupt(owner: T, end: Callable[[T], None]) -> None:
    """Let `end(owner)` be called if the work in progress is ended early.

    `end` runs in another thread, perhaps twice, perhaps after `owner` was closed, and must not
    raise. `owner` is held weakly. Outside of work that can be ended, nothing happens.
    """
    hooks = _current.get()
    if hooks is None:
        return
    reference = weakref.ref(owner)

    def call() -> None:
        living = reference()
        if living is not None:
            end(living)

    hooks.add(call)
