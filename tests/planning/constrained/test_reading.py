"""Reading filled-in forms: what fits becomes a request, what does not is explained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date

import pytest

from planloom.analysis.results import Analysis
from planloom.errors import PlanError
from planloom.notes import Scalar
from planloom.planning.constrained.forms import make_forms, response_schema
from planloom.planning.constrained.offer import make_offer
from planloom.planning.constrained.reading import Choices, read_choices
from planloom.planning.goals.intent import AnalysisRequest, Filter, TableShape, ToolRequest
from planloom.tools.tool import AnyTool, tool
from planloom.values import TableRef

Values = Mapping[str, Sequence[Scalar]]


@tool
def correlate(table: TableRef, columns: list[str], method: str = "pearson") -> Analysis:
    """Tell how strongly columns move together.

    Args:
        table: The table.
        columns: Numeric columns to compare.
        method: Which coefficient.
    """
    raise NotImplementedError


@tool
def seasonality(data: TableRef, date: str, value: str | None = None) -> Analysis:
    """Find what repeats every year.

    Args:
        data: The table.
        date: Date column.
        value: Numeric column; none counts the rows.
    """
    raise NotImplementedError


@tool
def not_an_analysis(table: TableRef, column: str) -> str:
    """Do something else.

    Args:
        table: The table.
        column: Column.
    """
    raise NotImplementedError


def read(
    reply: object, table: TableShape, goal: str = "", values: Values | None = None,
    tools: Sequence[AnyTool] = (),
) -> Choices:  # fmt: skip
    offer = make_offer(goal, table, today=date(2024, 3, 1), values=values)
    return read_choices(reply, make_forms(offer, tools), offer)


def one(**form: object) -> dict[str, object]:
    return {"analyses": [form]}


def ranking(**changes: object) -> dict[str, object]:
    form: dict[str, object] = {
        "analysis": "ranking", "group": "city", "measure": "sum(fare)",
        "order": "highest first", "top": None,
    }  # fmt: skip
    return one(**(form | changes))


def problems(reply: object, table: TableShape, goal: str = "") -> str:
    with pytest.raises(PlanError) as caught:
        read(reply, table, goal)
    return str(caught.value)


def test_a_ranking_is_read(trips: TableShape):
    reply = ranking(top=5, order="lowest first")
    assert read(reply, trips, "the 5 lowest").analyses == (
        AnalysisRequest(
            kind="ranking", measure="fare", how="sum", category="city", top=5, ascending=True
        ),
    )


def test_a_trend_in_chinese_is_read(visits: TableShape):
    reply = one(analysis="trend", measure="sum(费用)", date="就诊日期", grain="month", split="院区")
    assert read(reply, visits, "各院区每月费用").analyses == (
        AnalysisRequest(
            kind="trend", measure="费用", how="sum", date="就诊日期", grain="month", by="院区"
        ),
    )


def test_a_column_of_the_wrong_type_is_refused_with_those_that_fit(trips: TableShape):
    text = problems(ranking(measure="sum(city)"), trips)
    assert '"city" is a text column' in text
    assert '"sum(fare)"' in text


def test_an_unknown_column_is_refused_with_the_real_ones_and_the_nearest(trips: TableShape):
    text = problems(ranking(group="citty"), trips)
    assert 'cannot be "citty"; choose from "city", "vehicle"' in text
    assert 'Did you mean "city"?' in text


def test_an_unknown_chinese_column_is_refused_with_the_real_ones(visits: TableShape):
    reply = one(analysis="share", group="部门", measure="sum(费用)")
    assert 'choose from "科室", "院区"' in problems(reply, visits)


def test_a_top_that_the_goal_does_not_hold_is_refused(trips: TableShape):
    assert "cannot be 7" in problems(ranking(top=7), trips, "top 5 cities")


def test_a_share_of_an_average_is_refused(trips: TableShape):
    assert "mean(fare)" in problems(
        one(analysis="share", group="city", measure="mean(fare)"), trips
    )


@pytest.mark.parametrize(
    "reply", [None, [], {}, {"analyses": []}, {"analyses": "trend"}, {"analyses": [3]}]
)
def test_replies_of_another_form_are_refused(reply: object, trips: TableShape):
    assert "analys" in problems(reply, trips)


def test_true_is_no_number(trips: TableShape):
    assert "cannot be true" in problems(ranking(top=True), trips, "top 1 city")


def test_rows_are_read_with_the_values_of_the_data(trips: TableShape, trip_values: Values):
    reply = ranking() | {
        "rows": [
            {"column": "vehicle", "is": "=", "value": "van"},
            {"column": "vehicle", "is": "=", "value": "car"},
            {"column": "start_date", "is": "within", "value": "2023"},
        ]
    }
    assert read(reply, trips, "van and car in 2023", trip_values).filters == (
        Filter(column="vehicle", comparison="in", value=("van", "car")),
        Filter(column="start_date", comparison=">=", value="2023-01-01"),
        Filter(column="start_date", comparison="<", value="2024-01-01"),
    )


def test_rows_that_the_goal_gives_no_reason_for_are_refused(trips: TableShape, trip_values: Values):
    reply = ranking() | {"rows": [{"column": "city", "is": "=", "value": "Paris"}]}
    with pytest.raises(PlanError, match="no choice of rows"):
        read(reply, trips, "fares in Oslo", trip_values)


def test_a_new_analysis_tool_joins_with_columns_of_its_types(trips: TableShape):
    reply = one(analysis="correlate", columns=["fare", "distance_km"])
    tools = (correlate, not_an_analysis)
    assert read(reply, trips, tools=tools).others == (
        ToolRequest(tool="correlate", arguments={"columns": ("fare", "distance_km")}),
    )
    with pytest.raises(PlanError, match='"city" is a text column'):
        read(one(analysis="correlate", columns=["fare", "city"]), trips, tools=tools)


def test_a_tool_names_its_own_table_parameter(trips: TableShape):
    reply = one(analysis="seasonality", date="start_date", value=None)
    assert read(reply, trips, tools=(seasonality,)).others[0].table == "data"


def test_a_tool_without_fitting_columns_is_not_offered(odd: TableShape):
    offer = make_offer("x", odd, today=date(2024, 3, 1))
    names = [form.analysis for form in make_forms(offer, (seasonality, not_an_analysis))]
    assert names == ["overview", "share", "ranking"]


def test_names_of_any_text_are_offered_whole(odd: TableShape):
    offer = make_offer("x", odd, today=date(2024, 3, 1))
    name = odd.columns[0].name
    reply = one(analysis="overview", measure=f"sum({name})")
    assert read_choices(reply, make_forms(offer), offer).analyses[0].measure == name


def test_the_schema_holds_no_references_and_stays_small(wide: TableShape):
    offer = make_offer("trend of reading 3", wide, today=date(2024, 3, 1))
    schema = response_schema(make_forms(offer), offer)
    text = json.dumps(schema)
    for keyword in ("$ref", "$defs", "pattern", "oneOf"):
        assert f'"{keyword}":' not in text
    assert len(text) < 12_000
