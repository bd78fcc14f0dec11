"""Settling what a model left open, and comparing its reading with that of the rules."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from datetime import date

from planloom.models.scripted import ScriptedModel
from planloom.notes import Scalar
from planloom.planning.constrained.choosing import choose_analyses
from planloom.planning.constrained.comparison import Comparison
from planloom.planning.constrained.settling import understanding_of
from planloom.planning.goals.intent import TableShape, Understanding
from planloom.planning.goals.understanding import understand

Values = Mapping[str, Sequence[Scalar]]
TODAY = date(2024, 3, 1)


def read(
    reply: object, goal: str, table: TableShape, values: Values | None = None
) -> tuple[Understanding, Understanding]:
    """Return the reading of a model that always gives this reply, and that of the rules."""
    model = ScriptedModel([json.dumps(reply)] * 3)
    chosen = asyncio.run(choose_analyses(model, goal, table, today=TODAY, values=values))
    rules = understand(goal, table, today=TODAY, values=values)
    return understanding_of(chosen, table, rules), rules


def trend(grain: str = "auto", split: str | None = None) -> dict[str, object]:
    return {"analysis": "trend", "measure": "sum(fare)", "date": "start_date", "grain": grain,
            "split": split}  # fmt: skip


def test_an_open_grain_suits_the_data_and_is_said(trips: TableShape):
    reading, _ = read({"analyses": [trend()]}, "trend of fare", trips)
    assert reading.analyses[0].grain == "month"
    assert any("month was chosen" in note.text("en") for note in reading.assumptions)


def test_no_line_for_each_value_where_one_value_is_left(trips: TableShape, trip_values: Values):
    reply = {
        "analyses": [trend("month", "city")],
        "rows": [{"column": "city", "is": "=", "value": "Oslo"}],
    }
    reading, _ = read(reply, "monthly fare of the city Oslo", trips, trip_values)
    assert reading.analyses[0].by is None
    assert [item.column for item in reading.filters] == ["city"]


def test_naming_every_value_keeps_all_rows(trips: TableShape, trip_values: Values):
    keep = [{"column": "city", "is": "=", "value": v} for v in trip_values["city"]]
    reply = {"analyses": [trend("month")], "rows": keep}
    reading, _ = read(reply, "monthly fare in Lyon, Oslo and Porto", trips, trip_values)
    assert reading.filters == ()


def ranked(top: int | None = None) -> dict[str, object]:
    return {"analysis": "ranking", "group": "city", "measure": "sum(fare)",
            "order": "highest first", "top": top}  # fmt: skip


def test_a_top_that_the_goal_says_plainly_is_taken(trips: TableShape):
    reading, _ = read({"analyses": [ranked()]}, "the top 2 cities by fare", trips)
    assert reading.analyses[0].top == 2


def test_a_number_that_is_no_top_cuts_nothing(trips: TableShape):
    reading, _ = read({"analyses": [ranked()]}, "rank the city by fare of 2 people", trips)
    assert reading.analyses[0].top is None


def test_a_split_that_belongs_to_another_analysis_is_left_out(trips: TableShape):
    reply = {"analyses": [trend("month", "city"), ranked()]}
    goal = "fare by month, and the city with the highest fare"
    assert read(reply, goal, trips)[0].analyses[0].by is None
    goal = "fare by month for each city, and the city with the highest fare"
    assert read(reply, goal, trips)[0].analyses[0].by == "city"


def test_columns_that_were_not_offered_are_said(wide: TableShape):
    reply = {"analyses": [{"analysis": "overview", "measure": "mean(reading 3)"}]}
    reading, _ = read(reply, "overview of reading 3", wide)
    assert any("were not offered" in note.text("en") for note in reading.assumptions)


def test_one_value_of_all_that_the_goal_names_keeps_every_row(
    trips: TableShape, trip_values: Values
):
    share = {"analysis": "share", "group": "city", "measure": "sum(fare)"}
    keep = [{"column": "city", "is": "=", "value": "Oslo"}]
    goal = "how is fare split between Oslo, Porto and Lyon"
    reading, _ = read({"analyses": [share], "rows": keep}, goal, trips, trip_values)
    assert reading.filters == ()
    goal = "share of fare in Oslo"
    reading, _ = read({"analyses": [share], "rows": keep}, goal, trips, trip_values)
    assert [item.value for item in reading.filters] == ["Oslo"]


def test_an_average_that_the_rules_read_plainly_is_no_sum(trips: TableShape):
    ranking = {
        "analysis": "ranking",
        "group": "city",
        "measure": "sum(fare)",
        "order": "highest first",
        "top": None,
    }
    reading, _ = read({"analyses": [ranking]}, "average fare by city", trips)
    assert [request.how for request in reading.analyses] == ["mean"]
    reading, _ = read({"analyses": [ranking]}, "fare by city", trips)
    assert [request.how for request in reading.analyses] == ["sum"]


def test_a_trend_that_nothing_asks_for_goes_where_the_rest_agrees(trips: TableShape):
    ranking = {
        "analysis": "ranking",
        "group": "city",
        "measure": "sum(fare)",
        "order": "lowest first",
        "top": None,
    }
    both = {"analyses": [trend("month"), ranking]}
    reading, _ = read(both, "which city has the lowest fare", trips)
    assert [request.kind for request in reading.analyses] == ["ranking"]
    reading, _ = read(both, "monthly fare, and which city has the lowest fare", trips)
    assert [request.kind for request in reading.analyses] == ["trend", "ranking"]


def test_what_nobody_can_make_stays_said(trips: TableShape):
    reading, rules = read({"analyses": [trend("month")]}, "forecast the monthly fare", trips)
    assert rules.unknown
    assert set(map(str, reading.unknown)) == set(map(str, rules.unknown))


def test_comparison_tells_what_agrees_and_what_only_one_chose(trips: TableShape):
    share = {"analysis": "share", "group": "city", "measure": "sum(fare)"}
    by_model, by_rules = read(
        {"analyses": [trend("month"), share]}, "monthly trend of fare", trips
    )  # fmt: skip
    record = Comparison(model="m", by_model=by_model, by_rules=by_rules).to_json()
    kinds = {
        key: re.findall(r'"kind": "(\w+)"', json.dumps(record[key]))
        for key in ("agree", "only_model", "only_rules")
    }
    assert kinds == {"agree": ["trend"], "only_model": ["share"], "only_rules": []}


def test_comparison_without_a_usable_answer_says_why(trips: TableShape):
    rules = understand("monthly trend of fare", trips, today=TODAY)
    found = Comparison(model="m", by_model=None, by_rules=rules, why="no connection")
    assert found.to_json()["used"] == "rules"
    assert "no connection" in found.note().text("en")
    assert "no connection" in found.note().text("zh")
