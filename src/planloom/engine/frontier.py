"""Which steps of a plan to look at next, so that each end costs only what depends on it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from planloom.engine.plan import Step


class Frontier:
    """The steps whose turn may have come, always in the order of the plan."""

    def __init__(self, steps: Sequence[Step] = ()):
        """Take the steps that have not ended; all are to be looked at."""
        self._steps = tuple(steps)
        self._place = {step.id: place for place, step in enumerate(steps)}
        self._dependants: dict[str, list[int]] = {}
        for place, step in enumerate(steps):
            for needed in step.depends_on:
                self._dependants.setdefault(needed, []).append(place)
        self._changed = list(range(len(steps)))
        self._ready: list[int] = []

    def look_at(self, step_id: str) -> None:
        """Look at a step once more."""
        heapq.heappush(self._changed, self._place[step_id])

    def note_end(self, step_id: str) -> None:
        """Look at what depends on a step that has ended."""
        for place in self._dependants.get(step_id, ()):
            heapq.heappush(self._changed, place)

    def changed(self) -> Iterator[Step]:
        """Give each step to look at, also those that come up meanwhile."""
        while self._changed:
            yield self._steps[heapq.heappop(self._changed)]

    def add_ready(self, step: Step) -> None:
        """Keep a step that can start until `next_ready` gives it."""
        if self._place[step.id] not in self._ready:
            heapq.heappush(self._ready, self._place[step.id])

    def next_ready(self) -> Step | None:
        """Take the first step that can start; None when there is none."""
        return self._steps[heapq.heappop(self._ready)] if self._ready else None
