"""Planloom for the peer harness: a plan in streamed lines, run by the recording engine.

The harness's scripted server has to answer a planner with plan lines such as
`t1 = lookup("item-1")`. Modes: "planloom" ends with a final model call, "planloom_nofinal" names
the output. See docs/performance.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import tools as harness
from planloom.agents.agent import Agent
from planloom.models.openai_compatible import OpenAICompatibleModel
from planloom.planning.answer_tools import make_answer_tools
from planloom.planning.model_planner import ModelPlanner
from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import tool


class Adapter:
    """One agent with its planner, run folder and record."""

    is_async = True

    def __init__(self, base_url: str, toolset: Sequence[str], mode: str = "planloom", **_: object):
        self._mode = mode
        self._tools = tuple(tool(effect="read", retries=0)(harness.ASYNC[name]) for name in toolset)
        self._model = OpenAICompatibleModel("gpt-4o-mini", base_url=base_url, api_key="x")
        self._home = tempfile.mkdtemp()

    async def run(self, prompt: str) -> str:
        """Return the answer; the harness looks for its first words."""
        tools = (*self._tools, *make_answer_tools(self._model, goal=prompt))
        planner = ModelPlanner(self._model, ToolRegistry(tools))
        agent = Agent(tools, planner=planner, builtin_tools=False, home=self._home)
        outcome = await agent.run_async(prompt)
        if outcome.status != "succeeded":
            return f"{outcome.status}: {outcome.missing}"
        text = str(list(outcome.results.values())[-1])
        return text if self._mode == "planloom" else f"Final answer: the task is complete {text}"
