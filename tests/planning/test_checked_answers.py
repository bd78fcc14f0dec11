"""Answers of a plan whose numbers have no source make the run partial."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom import Agent, ScriptedModel, tool


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: Any number.
    """
    return 2 * number


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANLOOM_HOME", str(tmp_path / "home"))


def test_an_invented_number_makes_the_run_partial_and_the_answer_is_shown() -> None:
    model = ScriptedModel(['a = double(21)\nb = fill_text("It is 777,888.")\noutput(b)\n'])
    outcome = Agent(tools=[double], model=model).run("double 21")
    assert outcome.status == "partial"
    assert outcome.results["b"] == "It is 777,888."
    assert "numbers that no result gives: 777,888" in str(outcome.missing)
    assert len(model.requests) == 1


def test_an_answer_is_written_once_more_without_its_invented_numbers() -> None:
    plan = 'a = double(21)\nb = write_answer("How much?", [a])\noutput(b)\n'
    model = ScriptedModel([plan, "It is 777,888.", "It is 42."])
    outcome = Agent(tools=[double], model=model).run("double 21")
    assert (outcome.status, outcome.answer) == ("succeeded", "It is 42.")


def test_what_stays_invented_makes_the_run_partial() -> None:
    plan = 'a = double(21)\nb = write_answer("How much?", [a])\noutput(b)\n'
    model = ScriptedModel([plan, "It is 777,888.", "It is 777,889."])
    assert Agent(tools=[double], model=model).run("double 21").status == "partial"


def test_arithmetic_without_tools_is_not_doubted() -> None:
    model = ScriptedModel(['a = fill_text("42")\noutput(a)\n'])
    assert Agent(model=model).run("17 plus 25").status == "succeeded"
