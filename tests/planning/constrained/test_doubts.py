"""What a model is asked to think over once: rows counted where the goal speaks of pieces."""

from __future__ import annotations

import asyncio
import json
from datetime import date

import pytest

from planloom.models.scripted import ScriptedModel
from planloom.planning.constrained.choosing import choose_analyses
from planloom.planning.goals.intent import TableShape


def asked_again(goal: str, table: TableShape, group: str, measure: str = "count(*)") -> str:
    """Return what a model that keeps to its choice is told; "" when it is not asked again."""
    choice = {
        "analysis": "ranking", "group": group, "measure": measure, "order": "highest first",
        "top": None,
    }  # fmt: skip
    model = ScriptedModel([json.dumps({"analyses": [choice]}, ensure_ascii=False)] * 3)
    asyncio.run(choose_analyses(model, goal, table, today=date(2024, 3, 1)))
    return "".join(str(request.messages[-1]) for request in model.requests[1:])


@pytest.mark.parametrize(
    "goal", ["Which city sold the most items?", "units sold by city", "Quantity in each city"]
)
def test_counting_rows_is_doubted_where_the_goal_speaks_of_pieces(
    goal: str, sold_trips: TableShape
):
    assert "sum(qty)" in asked_again(goal, sold_trips, "city")


@pytest.mark.parametrize("goal", ["哪个院区的件数最多？", "各院区的销量", "各院区销售数量对比"])
def test_counting_rows_is_doubted_in_chinese(goal: str, sold_visits: TableShape):
    assert "sum(购买数量)" in asked_again(goal, sold_visits, "院区")


@pytest.mark.parametrize("goal", ["Which city has the most orders?", "number of orders by city"])
def test_orders_are_rows(goal: str, sold_trips: TableShape):
    assert asked_again(goal, sold_trips, "city") == ""


@pytest.mark.parametrize("goal", ["各院区的人次", "各院区的订单数量"])
def test_visits_and_orders_are_rows_in_chinese(goal: str, sold_visits: TableShape):
    assert "件数合计" not in asked_again(goal, sold_visits, "院区")


def test_nothing_is_doubted_without_a_column_of_pieces(trips: TableShape):
    assert "sum(" not in asked_again("Which city sold the most items?", trips, "city")


def test_pieces_that_are_added_up_are_not_doubted(sold_trips: TableShape):
    goal = "Which city sold the most items?"
    assert "pieces" not in asked_again(goal, sold_trips, "city", "sum(qty)")
