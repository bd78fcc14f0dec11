"""A toolbox of plain functions, and replies in the words of the tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from planloom.models.chat_model import ModelTraits, Reply, ToolSpec
from planloom.models.messages import ToolCall
from planloom.models.scripted import ScriptedModel, ScriptedReply
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.toolbox import Observation
from planloom.planning.react.trajectory import ReactOutcome

Answer = Callable[..., object]


class FunctionToolbox:
    """Tools that are functions of their arguments; what they give is the text of the result."""

    def __init__(self, **functions: Answer):
        self._functions = functions
        self.calls: list[tuple[str, Mapping[str, Any], str]] = []
        self._specs = tuple(
            ToolSpec(name, f"Does {name}.", {"type": "object"}) for name in functions
        )

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str, /) -> Observation:
        self.calls.append((name, arguments, call_id))
        if name not in self._functions:
            return Observation.failure("unknown_tool", f"There is no tool '{name}'.")
        value = self._functions[name](**arguments)
        if isinstance(value, Awaitable):
            value = await value
        return value if isinstance(value, Observation) else Observation(text=str(value))


def _asks(*calls: tuple[str, dict[str, object]] | ToolCall, text: str = "", **more: Any) -> Reply:
    """Return a reply that asks for calls; ids are c1, c2, ..."""
    made = tuple(
        call if isinstance(call, ToolCall) else ToolCall(f"c{number}", call[0], json.dumps(call[1]))
        for number, call in enumerate(calls, start=1)
    )
    return Reply(text=text, tool_calls=made, **more)


class Run:
    """One run of the loop with a scripted model, for a test to look at."""

    def __init__(
        self,
        replies: Sequence[ScriptedReply],
        toolbox: Any,
        *,
        traits: ModelTraits | None = None,
        goal: str = "What is x?",
        pinned: str = "",
        must_look: bool = False,
        **options: Any,
    ):
        self.model = ScriptedModel(replies, traits=traits)
        self.toolbox = toolbox
        loop = ReactLoop(self.model, toolbox, **options)
        self.outcome: ReactOutcome = asyncio.run(loop.run(goal, pinned=pinned, must_look=must_look))

    @property
    def had_tools(self) -> list[bool]:
        return [bool(request.options.tools) for request in self.model.requests]

    def told(self, number: int) -> str:
        """Return the last message of a request, from 1."""
        return str(getattr(self.model.requests[number - 1].messages[-1], "content", ""))


@pytest.fixture
def asks() -> Callable[..., Reply]:
    """Make a reply that asks for calls, each a (name, arguments) pair or a `ToolCall`."""
    return _asks


@pytest.fixture
def play() -> type[Run]:
    """Run the loop: `play([replies], tools(name=function), max_iterations=...)`."""
    return Run


@pytest.fixture
def tools() -> type[FunctionToolbox]:
    """Make a toolbox: `tools(look=function)`."""
    return FunctionToolbox


@pytest.fixture
def fresh(tools: type[FunctionToolbox]) -> FunctionToolbox:
    """A toolbox whose `look` gives something new every time."""
    seen = iter(range(1000))
    return tools(look=lambda **_: f"thing {next(seen)}")
