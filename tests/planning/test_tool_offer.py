"""Which tools a question is offered at first."""

from __future__ import annotations

import json

import pytest

from planloom import tool
from planloom.planning.tool_offer import (
    LIMIT,
    SMALL_LIMIT,
    SMALL_SCHEMA_CHARS,
    offer_tools,
    spare_tools,
)
from planloom.tools.builtin import builtin_registry
from planloom.tools.tool import AnyTool
from planloom.values import TableRef

BUILTIN = tuple(tool for tool in builtin_registry().tools() if tool.toolset != "reports")


def names(tools: tuple[AnyTool, ...]) -> set[str]:
    return {tool.name for tool in tools}


@pytest.mark.parametrize("question", [
    "What is 17 plus 25? Answer with the number only.",
    "What is the top speed of a cheetah, at most?",
    "Who wrote the Iliad?",
    "17 加 25 等于多少？",
    "世界上最高的山是哪座？",
    "哪家银行最大？",
])  # fmt: skip
def test_a_question_of_no_files_is_offered_nothing(question: str):
    offer = offer_tools(BUILTIN, question)
    assert offer.shown == ()
    assert offer.more == BUILTIN


@pytest.mark.parametrize("question", [
    "Which region has the highest total amount?",
    "Draw a chart of the monthly sales",
    "Clean the table, then filter the rows of May and show the trend over time",
    "哪个地区的销售额最高？",
])  # fmt: skip
def test_a_data_file_brings_a_few_tools_for_tables(question: str):
    shown = offer_tools(BUILTIN, question, with_table=True).shown
    assert {"read_csv_file", "rank_categories", "filter_rows"} <= names(shown)
    assert len(shown) <= LIMIT
    assert "list_files" not in names(shown)


def test_small_models_are_offered_fewer_tools_and_none_with_a_long_schema():
    question = "Clean the data and rank the regions"
    options = {"limit": SMALL_LIMIT, "max_schema_chars": SMALL_SCHEMA_CHARS}
    offer = offer_tools(BUILTIN, question, with_table=True, **options)
    assert len(offer.shown) == SMALL_LIMIT
    assert {"read_csv_file", "rank_categories"} <= names(offer.shown)
    assert "clean_data" in names(offer.more)
    schemas = [json.dumps(tool.arguments_schema.for_models) for tool in offer.shown]
    assert max(map(len, schemas)) <= SMALL_SCHEMA_CHARS


def test_cleaning_is_offered_where_it_is_asked_for():
    assert "clean_data" in names(offer_tools(BUILTIN, "Clean it", with_table=True).shown)
    assert "clean_data" not in names(offer_tools(BUILTIN, "Which is best?", with_table=True).shown)


@pytest.mark.parametrize(
    "question", ["List the files here", "What does a.txt say?", "目录里有什么"]
)
def test_words_of_files_bring_the_tools_for_files(question: str):
    shown = names(offer_tools(BUILTIN, question).shown)
    assert {"list_files", "read_file"} <= shown
    assert "rank_categories" not in shown


def test_tools_of_the_user_are_always_offered_while_they_are_few():
    @tool
    def wind_speed(place: str) -> float:
        """Tell the wind.

        Args:
            place: Where.
        """
        return len(place)

    offer = offer_tools((*BUILTIN, wind_speed), "What is 17 plus 25?")
    assert offer.shown == (wind_speed,)


def test_many_tools_of_the_user_are_searched():
    def made(number: int) -> AnyTool:
        @tool(name=f"thing_{number}", keywords=("wind",) if number == 77 else ())
        def thing() -> int:
            """Do something."""
            return number

        return thing

    own = [made(number) for number in range(100)]
    offer = offer_tools(own, "How strong is the wind?")
    assert names(offer.shown) == {"thing_77"}
    assert len(offer.more) == 99


@tool
def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


@tool
def load() -> TableRef:
    """Load what was sold."""
    raise NotImplementedError


ALL = builtin_registry().tools()


def test_a_plain_goal_is_planned_with_the_tools_of_the_user():
    assert spare_tools((*ALL, add), "How much is 1 and 2?") == names(ALL)


@pytest.mark.parametrize("goal", [
    "How many rows does sales.csv have?", "Draw a chart of it", "把结果保存到文件", "分析数据",
])  # fmt: skip
def test_a_goal_of_data_or_files_is_planned_with_all_tools(goal: str):
    assert not spare_tools((*ALL, add), goal)


def test_what_a_goal_names_is_no_spare_tool():
    assert "write_markdown_report" not in spare_tools((*ALL, add), "Write a report on adding")


def test_nothing_is_spared_without_own_tools_or_where_they_give_tables():
    assert not spare_tools(ALL, "How much is 1 and 2?")
    assert not spare_tools((*ALL, load), "What sold best?")
