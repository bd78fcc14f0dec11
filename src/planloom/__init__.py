"""Planloom weaves a goal into a finished deliverable.

>>> from planloom import Agent, report, tool
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planloom.agents.agent import Agent as Agent
    from planloom.agents.agent import Outcome as Outcome
    from planloom.agents.ask import Answer as Answer
    from planloom.agents.report import ReportOutcome as ReportOutcome
    from planloom.agents.report import report as report
    from planloom.engine.approval import ApprovalPolicy as ApprovalPolicy
    from planloom.engine.approval import ApprovalRequest as ApprovalRequest
    from planloom.engine.approval import Decision as Decision
    from planloom.errors import ToolError as ToolError
    from planloom.models.scripted import ScriptedModel as ScriptedModel
    from planloom.tools.context import ToolContext as ToolContext
    from planloom.tools.registry import ToolRegistry as ToolRegistry
    from planloom.tools.tool import Tool as Tool
    from planloom.tools.tool import tool as tool

__version__ = "0.1.0"
__all__ = [
    "Agent", "Answer", "ApprovalPolicy", "ApprovalRequest", "Decision", "Outcome", "ReportOutcome",
    "ScriptedModel", "Tool", "ToolContext", "ToolError", "ToolRegistry", "report", "tool",
]  # fmt: skip

# Loaded when first asked for, so that `import planloom` costs next to nothing.
_HOMES = {
    "Agent": "planloom.agents.agent",
    "Answer": "planloom.agents.ask",
    "ApprovalPolicy": "planloom.engine.approval",
    "ApprovalRequest": "planloom.engine.approval",
    "Decision": "planloom.engine.approval",
    "Outcome": "planloom.agents.agent",
    "ReportOutcome": "planloom.agents.report",
    "ScriptedModel": "planloom.models.scripted",
    "Tool": "planloom.tools.tool",
    "ToolContext": "planloom.tools.context",
    "ToolError": "planloom.errors",
    "ToolRegistry": "planloom.tools.registry",
    "report": "planloom.agents.report",
    "tool": "planloom.tools.tool",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'planloom' has no attribute '{name}'")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
