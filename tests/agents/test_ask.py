"""What a question is offered, costs and ends with; with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planloom import Agent, ScriptedModel, tool
from planloom.engine.approval import ApprovalPolicy
from planloom.errors import ConfigError, ModelError
from planloom.models.chat_model import ModelTraits, Reply
from planloom.models.messages import ToolCall
from planloom.planning.react.toolbox import FIND

ARITHMETIC = "What is 17 plus 25? Answer with the number only."


@tool(effect="send")
def send_mail(text: str) -> str:
    """Send a mail.

    Args:
        text: What to send.
    """
    return text


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("is_small", "most"), [(False, 1_500), (True, 900)])
def test_a_question_without_files_costs_few_tokens(is_small: bool, most: int):
    model = ScriptedModel(["42"], traits=ModelTraits(is_small=is_small))
    answer = Agent(model=model).ask(ARITHMETIC)
    assert (answer.text, answer.status) == ("42", "succeeded")
    assert 0 < answer.bill.total.prompt_tokens < most
    assert [spec.name for spec in model.requests[0].options.tools] == [FIND]


def test_a_misspelled_call_fails_the_run_and_is_not_printed_as_its_answer():
    call = '{{"name": "add", "arguments": {"value1": 17, "value2": 25}}}}'
    answer = Agent(model=ScriptedModel([call] * 12)).ask(ARITHMETIC)
    assert (answer.text, answer.status) == ("", "failed")


def test_an_action_that_nobody_could_approve_makes_the_run_partial():
    call = Reply(tool_calls=(ToolCall("1", "send_mail", '{"text": "hi"}'),))
    answer = Agent(tools=[send_mail], model=ScriptedModel([call, "Sent!"])).ask("Mail hi to Ann")
    assert (answer.text, answer.status) == ("Sent!", "partial")
    assert "send_mail" in answer.problem
    assert "--allow send" in answer.problem


def test_an_action_that_is_allowed_is_a_success():
    call = Reply(tool_calls=(ToolCall("1", "send_mail", '{"text": "hi"}'),))
    policy = ApprovalPolicy(effects={"send": "allow"})
    agent = Agent(tools=[send_mail], model=ScriptedModel([call, "Sent!"]), policy=policy)
    assert agent.ask("Mail hi to Ann").status == "succeeded"


def test_an_answer_about_a_file_that_was_never_read_is_partial(orders: Path):
    model = ScriptedModel(["North, surely.", "North."])
    answer = Agent(model=model).ask("Which store sells most?", files=[orders])
    assert (answer.text, answer.status) == ("North.", "partial")
    assert "without having read" in answer.problem


def test_a_file_is_read_and_ranked_with_the_tools_that_are_offered(orders: Path):
    read = ToolCall("1", "read_csv_file", f'{{"path": "{orders}"}}')
    rank = ToolCall(
        "2", "rank_categories", '{"table": "$c1", "category": "store", "value": "amount"}'
    )
    model = ScriptedModel([Reply(tool_calls=(read,)), Reply(tool_calls=(rank,)), "North"])
    answer = Agent(model=model).ask("Which store sells most?", files=[orders])
    assert (answer.status, answer.problem) == ("succeeded", "")
    assert "rank_categories" in answer.evidence.read_text(encoding="utf-8")


@tool
def fast() -> str:
    """Find it."""
    return "FOUND 42"


@tool
async def slow() -> str:
    """Take long."""
    return str(await asyncio.Event().wait())


def calls(*names: str) -> Reply:
    return Reply(tool_calls=tuple(ToolCall(f"c{n}", name, "{}") for n, name in enumerate(names)))


def test_time_limit_gives_what_was_found():
    model = ScriptedModel([calls("fast"), calls("slow")])
    answer = Agent(tools=[fast, slow], max_time_s=0.3, model=model).ask("q")
    assert (answer.status, answer.stop_reason) == ("partial", "budget")
    assert "FOUND 42" in answer.found
    assert "time limit" in answer.problem


def test_cancelled_run_leaves_its_evidence(tmp_path: Path):
    agent = Agent(tools=[fast, slow], model=ScriptedModel([calls("fast", "slow")]))

    async def work() -> None:
        async with asyncio.timeout(1):
            await agent.ask_async("q")

    with pytest.raises(TimeoutError):
        asyncio.run(work())
    (evidence,) = tmp_path.rglob("evidence.json")
    record = json.loads(evidence.read_text(encoding="utf-8"))
    assert record["stop_reason"] == "cancelled"
    assert "FOUND 42" in record["trajectory"][0]["actions"][0]["observation"]


def raising(error: Exception) -> Callable[[object], str]:
    def broken(_: object) -> str:
        raise error

    return broken


def test_a_wrong_setting_is_raised_as_it_is_and_what_was_found_stays_on_record(tmp_path: Path):
    error = ConfigError("Set the price.")
    model = ScriptedModel([calls("fast"), raising(error)])
    with pytest.raises(ConfigError) as raised:
        Agent(tools=[fast], model=model).ask("q")
    assert raised.value is error
    (evidence,) = tmp_path.rglob("evidence.json")
    assert "FOUND 42" in evidence.read_text(encoding="utf-8")


def test_a_bug_of_the_model_ends_with_what_was_found_and_names_the_model():
    model = ScriptedModel([calls("fast"), raising(KeyError("oops"))])
    answer = Agent(tools=[fast], model=model).ask("q")
    assert (answer.status, answer.stop_reason) == ("partial", "model_error")
    assert "FOUND 42" in answer.found
    assert f"'{model.name}' raised KeyError: 'oops'" in answer.problem


@pytest.mark.parametrize(
    ("replies", "limits", "reason"),
    [
        ([calls("fast")], {"max_iterations": 1}, "max_iterations"),
        ([""] * 8, {}, "empty_reply"),
        ([calls("fats")] * 20, {"max_iterations": 9}, "no_progress"),
        (["42"], {"max_calls": 0}, "budget"),
        ([ModelError("Gone.")], {}, "model_error"),
    ],
)
def test_every_ending_has_its_reason(replies: list[Any], limits: dict[str, int], reason: str):
    answer = Agent(tools=[fast], model=ScriptedModel(replies), **limits).ask("q")
    assert (answer.status, answer.stop_reason) == ("failed", reason)
    assert answer.problem


@tool
def weekly_counts() -> list[int]:
    """Give the visitors of each week."""
    return [120, 340, 560, 777, 234]


@pytest.mark.parametrize(
    ("said", "status"),
    [("The total is 2,031.", "succeeded"), ("The total is 9,876.", "partial")],
)
def test_numbers_that_follow_from_a_result_are_no_invention(said: str, status: str):
    call = Reply(tool_calls=(ToolCall("1", "weekly_counts", "{}"),))
    answer = Agent(tools=[weekly_counts], model=ScriptedModel([call, said])).ask("How many in all?")
    assert (answer.text, answer.status) == (said, status)
    assert ("9,876" in answer.problem) == (status == "partial")
