"""The package root: what it offers, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import planloom

HEAVY = (
    "duckdb",
    "matplotlib",
    "pydantic",
    "jsonschema_rs",
    "asyncio",
    "rich",
    "typer",
    "openpyxl",
)


def test_offered_names_are_those_listed_and_can_be_had():
    assert planloom.__all__ == [
        "Agent", "Answer", "ApprovalPolicy", "ApprovalRequest", "Decision", "Outcome",
        "ReportOutcome", "ScriptedModel", "Tool", "ToolContext", "ToolError", "ToolRegistry",
        "report", "tool",
    ]  # fmt: skip
    for name in planloom.__all__:
        assert getattr(planloom, name) is not None
        assert name in dir(planloom)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        getattr(planloom, "nothing")  # noqa: B009 - the type checker would see the mistake


def test_importing_prints_nothing_and_loads_nothing_heavy():
    code = (
        "import sys; import planloom; from planloom import Agent, tool; "
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]; "
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
