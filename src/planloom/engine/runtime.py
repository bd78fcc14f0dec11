"""Where the engine's work happens: what is started, waited for and recorded, and in which order.

The engine decides nothing by a race of its own. It starts work under keys, asks which of it ended
first, and gets time and chance from here. A durable runtime records each answer and gives the same
ones again after a crash, so the engine takes the same way; the one here keeps all in memory.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, cast

from planloom.engine.json_value import JsonObject

Work = Callable[[JsonObject], Awaitable[JsonObject]]
"""Takes and gives a JSON object and depends on nothing else but what a process sets up at its
start: after a crash, another process may be handed the same object."""


class Handle(Protocol):
    """Work that was started."""

    @property
    def key(self) -> str:
        """The key it was started under."""
        ...


class Runtime(Protocol):
    """Starts, awaits and records the work of runs."""

    def now(self) -> datetime:
        """Return the time, in UTC, for records; nothing is decided by it."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Wait; a durable wait goes on while the process is down."""
        ...

    async def random(self) -> float:
        """Return a number in [0, 1)."""
        ...

    async def record(self, name: str, work: Callable[[], Awaitable[JsonObject]], /) -> JsonObject:
        """Do the work once and return what it gave; a replay returns what was recorded.

        `name` is unique in the work that calls it.
        """
        ...

    async def start(self, key: str, work: Work, argument: JsonObject, /) -> Handle:
        """Start work that runs on its own. The same key is never started twice."""
        ...

    async def wait_first(self, handles: Sequence[Handle], /) -> Handle:
        """Return the handle whose end was recorded first; ties go by key."""
        ...

    async def result(self, handle: Handle, /) -> JsonObject:
        """Return what ended work gave, or raise what it raised."""
        ...

    async def cancel(self, handles: Sequence[Handle], /) -> list[Handle]:
        """End the work and wait for its end; return the handles that had a result all the same."""
        ...


@dataclass(eq=False)
class _Job:
    key: str
    task: asyncio.Future[JsonObject] = field(init=False)
    ended_at: float = 0.0
    """Seconds of the event loop's clock."""

    async def run(self, work: Work, argument: JsonObject) -> JsonObject:
        try:
            return await work(argument)
        finally:
            self.ended_at = asyncio.get_running_loop().time()


class InMemoryRuntime:
    """Runs everything on the current event loop and forgets it with the process."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random.random,
    ):
        self._now = now
        self._sleep = sleep
        self._random = random

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return self._now()

    async def sleep(self, seconds: float, /) -> None:
        """Wait for a time."""
        await self._sleep(seconds)

    async def random(self) -> float:
        """Return a number in [0, 1)."""
        return self._random()

    async def record(self, _name: str, work: Callable[[], Awaitable[JsonObject]], /) -> JsonObject:
        """Do the work; what it gives passes through JSON, as it would through a database."""
        return cast("JsonObject", json.loads(json.dumps(await work(), ensure_ascii=False)))

    async def start(self, key: str, work: Work, argument: JsonObject, /) -> Handle:
        """Start work as an asyncio task."""
        job = _Job(key)
        job.task = asyncio.ensure_future(job.run(work, argument))
        return job

    async def wait_first(self, handles: Sequence[Handle], /) -> Handle:
        """Return the handle that ended first; of those that ended at one time, the first key."""
        jobs = [_job(handle) for handle in handles]
        await asyncio.wait([job.task for job in jobs], return_when=asyncio.FIRST_COMPLETED)
        # Not the set that asyncio gives, which has no order.
        ended = [job for job in jobs if job.task.done()]
        return min(ended, key=lambda job: (job.ended_at, job.key))

    async def result(self, handle: Handle, /) -> JsonObject:
        """Return what ended work gave, or raise what it raised."""
        task = _job(handle).task
        if task.cancelled():
            # A CancelledError here would look as if the engine itself were cancelled.
            raise RuntimeError(f"The work '{handle.key}' cancelled itself.")
        return task.result()

    async def cancel(self, handles: Sequence[Handle], /) -> list[Handle]:
        """Cancel the asyncio tasks and wait for them."""
        jobs = [_job(handle) for handle in handles]
        for job in jobs:
            job.task.cancel()
        await asyncio.gather(*(job.task for job in jobs), return_exceptions=True)
        return [job for job in jobs if not job.task.cancelled() and not job.task.exception()]


def _job(handle: Handle) -> _Job:
    assert isinstance(handle, _Job)  # noqa: S101 - a handle goes back to the runtime that made it
    return handle
