"""Planloom for the peer harness: the ReAct loop over registered tools, with retries.

The harness calls `Adapter(base_url, toolset, ...)` and awaits `run(prompt)`; its module `tools`
holds the same tools for every framework. See docs/performance.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import tools as harness
from planloom.models.openai_compatible import OpenAICompatibleModel
from planloom.models.retry import RetryingModel
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.registry_toolbox import RegistryToolbox
from planloom.tools.registry import ToolRegistry
from planloom.tools.runner import ToolRunner
from planloom.tools.tool import tool


class Adapter:
    """One agent, built once and run many times."""

    is_async = True

    def __init__(
        self,
        base_url: str,
        toolset: Sequence[str],
        max_turns: int = 1000,
        timeout: float = 600,
        **_: object,
    ):
        registry = ToolRegistry([tool(harness.ASYNC[name]) for name in toolset])
        client = OpenAICompatibleModel("gpt-4o-mini", base_url, "x", timeout_s=timeout)
        self._loop = ReactLoop(
            RetryingModel(client, base_delay_s=0.5),
            RegistryToolbox(registry, ToolRunner(registry)),
            max_iterations=max_turns,
            instructions=harness.SYSTEM,
        )

    async def run(self, prompt: str) -> str:
        """Return the final answer."""
        return (await self._loop.run(prompt)).answer
