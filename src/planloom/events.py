"""The event stream of a run: one JSON line for each thing, written as it happens."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TextIO

EventKind = Literal[
    "run_started", "plan", "step_state", "model_call", "tool_call", "artifact", "approval",
    "budget", "run_ended",
]  # fmt: skip
SCHEMA = 1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run."""

    time: str
    """RFC 3339, UTC."""
    run: str
    kind: EventKind
    data: Mapping[str, object]
    """JSON-safe details; the keys depend on `kind`."""

    def to_line(self) -> str:
        """Return the event as one JSON line, without the line end."""
        record = {"schema": SCHEMA, "time": self.time, "run": self.run, "kind": self.kind}
        return json.dumps(record | dict(self.data), ensure_ascii=False)


class EventSink(Protocol):
    """Where events go: a file, a terminal, a test's list."""

    def __call__(self, event: Event, /) -> None: ...


class EventStream:
    """Stamps events with time and run, and hands each to every sink at once."""

    def __init__(
        self,
        run: str,
        *sinks: EventSink,
        outside: Sequence[EventSink] = (),
        now: Callable[[], datetime] | None = None,
    ):
        """Take the sinks of the record, whose errors end the run, and those that only watch.

        One of the `outside` that raises gets no more events, such as a pipe that nobody reads any
        longer; the others, and the run, go on.
        """
        self.run = run
        self._sinks = sinks
        self._outside = list(outside)
        self._now = now or (lambda: datetime.now(UTC))

    def emit(self, kind: EventKind, **data: object) -> None:
        """Record that something happened; `data` must be JSON-safe."""
        time = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = Event(time, self.run, kind, data)
        for sink in self._sinks:
            sink(event)
        for sink in tuple(self._outside):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 -- a watcher may fail in any way
                self._outside.remove(sink)
                _log.warning("Run %s: an event sink failed and is left out: %r", self.run, error)


def line_writer(stream: TextIO) -> EventSink:
    """Return a sink that writes JSON lines and flushes each, so that a crash leaves them."""

    def write(event: Event) -> None:
        stream.write(event.to_line() + "\n")
        stream.flush()

    return write
