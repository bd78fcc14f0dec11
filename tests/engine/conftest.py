"""A clock that jumps: coroutines that sleep for hours end at once, in the right order."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import TypeVar

import pytest

T = TypeVar("T")


class JumpingSelector(selectors.DefaultSelector):
    """Does not wait for time to pass, but sets the clock forward."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self.now += timeout
            return super().select(0)
        # None means that only another thread can wake the loop.
        return super().select(timeout)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


@pytest.fixture
def run_virtually() -> Callable[[Coroutine[object, object, T]], T]:
    """Run a coroutine on a loop whose time jumps; nothing sleeps for real."""

    def run(work: Coroutine[object, object, T]) -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(work)

    return run
