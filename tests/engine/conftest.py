"""A clock that jumps, for the engine's tests: coroutines that sleep for hours end at once."""

from __future__ import annotations

import asyncio
import selectors
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

# Tests are imported without their folder on the path; the doubles that they share lie in it.
sys.path.append(str(Path(__file__).parent))


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
