"""Finding tools that were not offered at first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from planloom import tool
from planloom.models.chat_model import ModelTraits, ToolSpec
from planloom.models.messages import ToolMessage
from planloom.planning.react.finding import FindingToolbox
from planloom.planning.react.observations import spec_of
from planloom.planning.react.toolbox import FIND, Observation
from planloom.tools.tool import AnyTool


@tool(keywords=("sum",))
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One.
        b: Another.
    """
    return a + b


@tool
def send_mail(text: str) -> str:
    """Send a mail.

    Args:
        text: What to send.
    """
    return text


class Box:
    """Offers nothing at first."""

    def __init__(self, tools: Sequence[AnyTool]):
        self._tools = {tool.name: tool for tool in tools}
        self.specs: tuple[ToolSpec, ...] = ()

    def offer(self, names: Iterable[str]) -> None:
        self.specs += tuple(spec_of(self._tools[name]) for name in names)

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str, /) -> Observation:
        return Observation(text=str(self._tools[name].function(**arguments)))


@pytest.fixture
def box() -> FindingToolbox:
    return FindingToolbox(Box([add, send_mail]), [add, send_mail])


def test_found_tools_are_added_behind_and_can_be_called(play: Any, asks: Any, box: Any) -> None:
    replies = [asks((FIND, {"query": "add up"})), asks(("add", {"a": 17, "b": 25})), "42"]
    run = play(replies, box)
    offered = [[spec.name for spec in request.options.tools] for request in run.model.requests]
    assert offered == [[FIND], [FIND, "add"], [FIND, "add"]]
    assert ToolMessage("c1", "42") in run.model.requests[2].messages
    assert run.outcome.answer == "42"


def test_history_is_only_appended_to_when_tools_are_added(play: Any, asks: Any, box: Any) -> None:
    run = play([asks((FIND, {"query": "sum"})), "42"], box)
    first, second = (request.messages for request in run.model.requests)
    assert second[: len(first)] == first


def test_without_a_fitting_tool_the_names_are_told(play: Any, asks: Any, box: Any) -> None:
    run = play([asks((FIND, {"query": "weather"})), "No."], box)
    assert "add, send_mail" in str(run.model.requests[1].messages[-1])


def test_when_all_are_found_there_are_no_more(play: Any, asks: Any, box: Any) -> None:
    found = asks((FIND, {"query": "add"}), (FIND, {"query": "send mail"}))
    run = play([found, asks((FIND, {"query": "more"})), "Done."], box)
    assert "no more tools" in str(run.model.requests[2].messages[-1])


def test_finding_tools_is_no_look_at_the_files(play: Any, asks: Any, box: Any) -> None:
    run = play([asks((FIND, {"query": "add"})), "7", "7"], box, must_look=True)
    assert "without having read" in run.outcome.problem.text("en")


def test_the_specs_stay_the_same_object_until_a_tool_is_added(box: FindingToolbox) -> None:
    assert box.specs is box.specs


def test_models_without_native_calls_are_told_the_arguments(play: Any) -> None:
    box = FindingToolbox(Box([add]), [add], spells_arguments=True)
    replies = [
        '{"thought": "", "action": "find_tools", "action_input": {"query": "sum"}}',
        '{"thought": "", "action": "add", "action_input": {"a": 1, "b": 2}}',
        '{"thought": "", "action": "answer", "action_input": "3"}',
    ]
    run = play(replies, box, traits=ModelTraits(tools=False))
    assert '"required": ["a", "b"]' in run.told(2)
    assert run.outcome.answer == "3"
