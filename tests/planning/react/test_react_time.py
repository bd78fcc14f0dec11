"""Runs of the loop that are broken off: by the clock, by their caller, by a bug of the model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from planloom.models.scripted import ScriptedModel
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.trajectory import ReactOutcome


async def hang(**_: object) -> str:
    return str(await asyncio.Event().wait())


def test_time_limit_keeps_what_was_found(tools: Any, asks: Any):
    model = ScriptedModel([asks(("fast", {})), asks(("slow", {}))])
    loop = ReactLoop(model, tools(fast=lambda: "FOUND 42", slow=hang))
    outcome = asyncio.run(loop.run("q", time_limit_s=0.1))
    assert (outcome.stop_reason, outcome.answer) == ("budget", "FOUND 42")
    assert not outcome.is_answered
    assert outcome.problem
    assert "time limit" in outcome.problem.text("en")


def test_of_calls_made_at_once_those_that_are_done_in_time_are_kept(tools: Any, asks: Any):
    model = ScriptedModel([asks(("fast", {}), ("slow", {}))])
    loop = ReactLoop(model, tools(fast=lambda: "FOUND 42", slow=hang))
    outcome = asyncio.run(loop.run("q", time_limit_s=0.1))
    seen = [action.observation for action in outcome.trajectory[0].actions]
    assert [one.ok for one in seen] == [True, False]
    assert outcome.answer == "FOUND 42"


def test_cancelled_run_hands_over_what_it_has_and_stays_cancelled(tools: Any, asks: Any):
    got: list[ReactOutcome] = []
    model = ScriptedModel([asks(("fast", {}), ("slow", {}))])
    loop = ReactLoop(model, tools(fast=lambda: "FOUND 42", slow=hang))

    async def work() -> None:
        async with asyncio.timeout(0.1):
            await loop.run("q", on_broken=got.append)

    with pytest.raises(TimeoutError):
        asyncio.run(work())
    assert [(one.stop_reason, one.answer) for one in got] == [("cancelled", "FOUND 42")]


def test_bug_of_the_model_is_raised_as_itself_after_what_there_is_was_handed_over(
    tools: Any, asks: Any
):
    def broken(_: object) -> str:
        raise KeyError("oops")

    got: list[ReactOutcome] = []
    model = ScriptedModel([asks(("fast", {})), broken])
    loop = ReactLoop(model, tools(fast=lambda: "FOUND 42"))
    with pytest.raises(KeyError, match="oops"):
        asyncio.run(loop.run("q", on_broken=got.append))
    assert [(one.stop_reason, one.answer) for one in got] == [("model_error", "FOUND 42")]
