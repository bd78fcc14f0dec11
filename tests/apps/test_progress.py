"""What the plain progress lines say of a run."""

from __future__ import annotations

import pytest

from planloom.apps.progress import progress
from planloom.events import Event


def _state(epoch: int, state: str, second: int) -> Event:
    key = f"run/{epoch}.load"
    data = {"key": key, "epoch": epoch, "step": "load", "state": state, "error": ""}
    return Event(f"2026-01-01T00:00:0{second}.000Z", "run", "step_state", data)


def test_a_step_that_goes_on_in_a_later_plan_is_told_once(capsys: pytest.CaptureFixture[str]):
    with progress("en", json=False, quiet=False) as shown:
        for event in (
            _state(1, "running", 1),
            _state(1, "succeeded", 3),
            _state(2, "succeeded", 3),
        ):
            for sink in shown.sinks:
                sink(event)
    assert capsys.readouterr().err == "done: load (2.0 s)\n"
