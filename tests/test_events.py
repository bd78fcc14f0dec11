"""The event stream: what a watcher does never harms the record."""

from __future__ import annotations

import logging

import pytest

from planloom.events import Event, EventStream


def test_failing_watcher_is_left_out_and_the_others_go_on(caplog: pytest.LogCaptureFixture):
    record: list[Event] = []
    other: list[Event] = []
    calls: list[str] = []

    def broken(event: Event) -> None:
        calls.append(event.kind)
        raise BrokenPipeError("nobody reads")

    stream = EventStream("r1", record.append, outside=[broken, other.append])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            stream.emit("budget")
    assert (len(record), len(other), len(calls)) == (3, 3, 1)
    assert "nobody reads" in caplog.text


def test_error_of_the_record_is_raised():
    def full(_event: Event) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        EventStream("r1", full).emit("budget")
