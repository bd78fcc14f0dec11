"""Tools in few words: what a planner needs to call them, and only those that a goal needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planloom.planning.tool_text import (
    MAX_CHARS,
    ToolChoice,
    choose_tools,
    tool_line,
    tools_text,
)
from planloom.tools.builtin import builtin_registry
from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import AnyTool, tool
from planloom.values import TableRef


@dataclass(frozen=True)
class Rule:
    column: str
    comparison: Literal["=", "<"]


@dataclass(frozen=True)
class Counted:
    rows: int
    empty: int


@tool
def combine(values: str, top: int = 3, sign: str | None = None) -> str:
    """Combine several values into one. This is a second sentence.

    Args:
        values: comma separated values
        top: how many
        sign: what stands between them
    """
    return values


@tool
def keep(table: TableRef, rules: list[Rule], extra: Rule | None = None) -> Counted:
    """Keep rows."""
    return Counted(rows=table.rows, empty=len(rules))


@tool
def load(path: str) -> TableRef:
    """Open a thing."""
    raise NotImplementedError(path)


@tool
def narrow(table: TableRef) -> TableRef:
    """Sift a table."""
    return table


@tool
def draw(table: TableRef) -> str:
    """Paint a picture of sales."""
    return table.name


def filler(count: int) -> list[AnyTool]:
    def made(number: int) -> AnyTool:
        def function(text: str) -> str:
            return text

        function.__doc__ = "Something else. " + "word " * 60
        return tool(name=f"filler_{number}")(function)

    return [made(number) for number in range(count)]


def test_line_has_signature_first_sentence_and_notes_that_say_more_than_names() -> None:
    assert tool_line(combine) == (
        "combine(values: str, top: int = 3, sign: str = None) -> str  "
        "# Combine several values into one. values: comma separated values; "
        "sign: what stands between them;"
    )
    assert tool_line(combine, detail=0).endswith("-> str")


def test_objects_are_explained_and_optional_ones_left_out() -> None:
    text = tools_text(ToolChoice(shown=(keep,)))
    assert text.splitlines() == [
        "keep(table, rules: list[Rule]) -> Counted  # Keep rows.",
        "Rule = {column: str, comparison: '=' | '<'}",
        "Counted has rows, empty",
    ]


def test_few_tools_are_all_shown() -> None:
    registry = ToolRegistry([combine, keep, load])
    assert choose_tools(registry, "anything").shown == (combine, keep, load)


def test_of_many_tools_those_that_fit_come_with_the_makers_of_their_inputs() -> None:
    registry = ToolRegistry([*filler(40), load, narrow, draw])
    choice = choose_tools(registry, "a picture of sales")
    # A table made out of a table would be no beginning.
    assert choice.shown == (load, draw)
    assert len(choice.others) == 41


def test_spare_tools_are_told_by_name_unless_a_likely_one_needs_them() -> None:
    registry = ToolRegistry([combine, load, draw])
    choice = choose_tools(registry, "anything", spare=["combine", "load"])
    assert set(choice.shown) == {load, draw}
    assert choice.others == (combine,)


def test_named_tools_are_always_shown_and_some_are_when_nothing_fits() -> None:
    registry = ToolRegistry([*filler(40), draw])
    assert draw in choose_tools(registry, "zzz", always=["draw"]).shown
    assert choose_tools(registry, "zzz").shown


def test_text_is_bounded_whatever_is_registered() -> None:
    tools = tuple(filler(400))
    text = tools_text(ToolChoice(shown=tools, others=tools))
    assert len(text) < MAX_CHARS + 150 * 12 + 100
    assert "and 250 more" in text


def test_built_in_tools_take_few_tokens() -> None:
    registry = builtin_registry()
    everything = tools_text(ToolChoice(shown=registry.tools()))
    assert len(everything) < 5_600  # about 1,400 tokens
    assert "conditions: list[Condition]" in everything
    assert "Condition = {column: str, comparison:" in everything
