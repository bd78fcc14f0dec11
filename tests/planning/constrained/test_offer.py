"""What a model may choose from, by goal and table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import pytest

from planloom.notes import Scalar
from planloom.planning.constrained.offer import MOST_COLUMNS, Offer, make_offer
from planloom.planning.goals.intent import TableShape

Values = Mapping[str, Sequence[Scalar]]


def offer(goal: str, table: TableShape, values: Values | None = None) -> Offer:
    return make_offer(goal, table, today=date(2024, 3, 1), values=values)


def rows(found: Offer) -> dict[str, list[object]]:
    return {choice.column: list(choice.values) for choice in found.rows}


def test_columns_are_offered_for_what_their_type_can_serve_as(trips: TableShape):
    found = offer("fares", trips)
    assert found.dates == ("start_date",)
    assert found.numbers == ("distance_km", "fare", "unit_price")
    assert found.groups == ("city", "vehicle")
    assert "trip_id" in found.countable


def test_sums_of_prices_are_not_offered(trips: TableShape):
    measures = offer("fares", trips).measures
    assert "sum(fare)" in measures
    assert "mean(unit_price)" in measures
    assert "sum(unit_price)" not in measures
    assert "sum(unit_price)" in offer("total unit price", trips).measures


@pytest.mark.parametrize(
    ("goal", "tops"),
    [("top 5 cities", (5,)), ("前三名的科室", (3,)), ("cities in 2023", ()), ("compare", ())],
)
def test_only_numbers_of_the_goal_can_cut_a_ranking(
    trips: TableShape, goal: str, tops: tuple[int, ...]
):
    assert offer(goal, trips).tops == tops


@pytest.mark.parametrize(
    ("goal", "top"),
    [
        ("费用前三的科室", 3), ("费用最高的两个科室", 2), ("前三个月的费用", None),
        ("the 2 highest", 2), ("top ten departments", 10), ("费用前十二的科室", None),
        ("2 visits a day", None),
    ],
)  # fmt: skip
def test_a_number_beside_top_is_taken_for_it(visits: TableShape, goal: str, top: int | None):
    assert offer(goal, visits).top == top


def test_values_that_the_goal_names_can_be_kept(trips: TableShape, trip_values: Values):
    assert rows(offer("fares in Oslo by van", trips, trip_values)) == {
        "city": ["Oslo"], "vehicle": ["van"],
    }  # fmt: skip


def test_a_value_inside_of_a_word_is_not_named(trips: TableShape, trip_values: Values):
    assert rows(offer("fares of the caravan", trips, trip_values)) == {}


def test_values_in_another_script_are_offered_since_the_goal_may_translate_them(
    trips: TableShape, trip_values: Values
):
    assert rows(offer("奥斯陆的费用", trips, trip_values))["city"] == ["Lyon", "Oslo", "Porto"]


def test_codes_are_no_words_that_a_goal_may_translate(visits: TableShape):
    assert rows(offer("各院区费用", visits, {"院区": ("1", "2")})) == {}


def test_spans_of_time_are_offered_in_the_words_of_the_goal(trips: TableShape):
    assert rows(offer("fares in Q2 2023", trips)) == {"start_date": ["Q2 2023"]}


def test_a_span_outside_of_the_data_is_not_offered(trips: TableShape):
    assert rows(offer("fares in 1999", trips)) == {}


def test_a_bound_is_offered_for_the_column_that_it_names(trips: TableShape):
    assert rows(offer("trips with a fare above 20", trips)) == {"fare": [20]}


def test_top_n_is_no_bound(trips: TableShape):
    assert rows(offer("top 5 cities by fare", trips)) == {}


def test_a_wide_table_is_offered_by_its_relevant_columns(wide: TableShape):
    found = offer("trend of reading 117 by kind 31", wide)
    assert len(found.columns) <= MOST_COLUMNS
    assert "reading 117" in found.numbers
    assert "kind 31" in found.groups
    assert found.left_out == 200 - len(found.columns)


def test_lowest_first_needs_a_word_for_it(trips: TableShape):
    assert not offer("best cities", trips).may_ascend
    assert offer("cities with the lowest fares", trips).may_ascend
    assert offer("费用最低的城市", trips).may_ascend


@pytest.mark.parametrize(
    ("goal", "groups"),
    [
        ("monthly fare by vehicle", ("vehicle",)),
        ("fare of each city over time", ("city",)),
        ("fare by month and the top 3 vehicles", ()),
    ],
)
def test_groups_taken_one_by_one_are_told_from_those_spoken_of(
    trips: TableShape, goal: str, groups: tuple[str, ...]
):
    assert offer(goal, trips).one_by_one == groups


def test_groups_taken_one_by_one_in_chinese(visits: TableShape):
    assert offer("各科室每月费用", visits).one_by_one == ("科室",)
    assert offer("每月费用，以及费用前三的科室", visits).one_by_one == ()


def test_no_line_for_each_of_a_thousand_orders(trips: TableShape):
    assert offer("number of each trip_id per week", trips).splits == ()
