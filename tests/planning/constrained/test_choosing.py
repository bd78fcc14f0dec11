"""Asking a scripted model for analyses: mends, second looks, and giving up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import date

import pytest

from planloom.errors import ModelError, PlanError
from planloom.models.chat_model import ModelTraits, Reply
from planloom.models.scripted import ScriptedModel, ScriptedReply
from planloom.notes import Scalar
from planloom.planning.constrained.choosing import TRIES, Chosen, choose_analyses
from planloom.planning.goals.intent import TableShape

Values = Mapping[str, Sequence[Scalar]]
GOAL = "which city has the highest fares"


def ranking(group: str = "city", measure: str = "sum(fare)") -> str:
    form = {"analysis": "ranking", "group": group, "measure": measure, "order": "highest first",
            "top": None}  # fmt: skip
    return json.dumps({"analyses": [form]}, ensure_ascii=False)


def choose(
    replies: Sequence[ScriptedReply], table: TableShape, goal: str = GOAL, *,
    values: Values | None = None, hidden: frozenset[str] = frozenset(), has_schema: bool = True,
) -> tuple[Chosen, ScriptedModel]:  # fmt: skip
    model = ScriptedModel(replies, traits=ModelTraits(json_schema=has_schema))
    chosen = asyncio.run(
        choose_analyses(
            model, goal, table, today=date(2024, 3, 1), values=values, hidden=hidden
        )
    )  # fmt: skip
    return chosen, model


def last_message(model: ScriptedModel) -> str:
    return str(model.requests[-1].messages[-1])


def test_a_fitting_reply_is_taken_at_once(trips: TableShape):
    chosen, model = choose([ranking()], trips)
    assert chosen.choices.analyses[0].category == "city"
    assert len(model.requests) == 1


def test_a_guessed_column_goes_back_with_the_real_ones(trips: TableShape):
    chosen, model = choose([ranking(group="town"), ranking()], trips)
    assert chosen.tries == 2
    assert '"city", "vehicle"' in last_message(model)


def test_a_model_that_never_fits_is_given_up_with_the_reason(trips: TableShape):
    with pytest.raises(PlanError, match="town"):
        choose([ranking(group="town")] * TRIES, trips)


def test_the_prompt_begins_alike_for_every_goal_of_a_language(
    trips: TableShape, visits: TableShape
):
    _, one = choose([ranking()], trips)
    _, other = choose([ranking(group="vehicle")], trips, "fares by vehicle")
    _, chinese = choose([ranking("科室", "sum(费用)")], visits, "费用最高的科室")
    assert one.requests[0].messages[0] == other.requests[0].messages[0]
    assert "你根据目标" in str(chinese.requests[0].messages[0])


def test_the_prompt_is_short(trips: TableShape):
    _, model = choose([ranking()], trips)
    assert sum(len(str(message)) for message in model.requests[0].messages) < 4_000


def test_an_average_that_nothing_answers_is_asked_about_once(trips: TableShape):
    goal = "average fare per city"
    chosen, model = choose([ranking(), ranking(measure="mean(fare)")], trips, goal)
    assert chosen.choices.analyses[0].how == "mean"
    assert "average" in last_message(model)
    chosen, model = choose([ranking(), ranking()], trips, goal)
    assert len(model.requests) == 2


def test_a_second_look_speaks_the_language_of_the_goal(visits: TableShape):
    reply = ranking("科室", "sum(费用)")
    _, model = choose([reply, reply], visits, "各科室的平均费用")
    assert "目标要求平均值" in last_message(model)


def test_a_named_column_that_nothing_uses_is_asked_about(trips: TableShape):
    _, model = choose([ranking(), ranking(measure="sum(distance_km)")], trips,
                      "distance_km by city")  # fmt: skip
    assert "distance_km" in last_message(model)


def test_a_trend_without_a_word_of_time_is_asked_about(trips: TableShape):
    form = {"analysis": "trend", "measure": "sum(fare)", "date": "start_date", "grain": "week",
            "split": "city"}  # fmt: skip
    replies = [json.dumps({"analyses": [form]}), ranking()]
    chosen, model = choose(replies, trips, "which city has the fare most worth having")
    assert "no time" in last_message(model)
    assert chosen.choices.analyses[0].kind == "ranking"


def test_a_share_without_a_word_for_it_is_asked_about(trips: TableShape):
    share = json.dumps(
        {"analyses": [{"analysis": "share", "group": "city", "measure": "sum(fare)"}]}
    )
    chosen, _ = choose([share, ranking()], trips, "total fare in each city")
    assert chosen.choices.analyses[0].kind == "ranking"
    chosen, model = choose([share], trips, "how the fare is divided among the cities")
    assert len(model.requests) == 1


def test_a_bad_second_look_leaves_the_first_reply(trips: TableShape):
    chosen, _ = choose([ranking(), "nothing", "nothing"], trips, "average fare per city")
    assert chosen.choices.analyses[0].how == "sum"


def test_a_cut_reply_is_named_as_such(trips: TableShape):
    cut = Reply(text=ranking()[:40], finish_reason="length")
    _, model = choose([cut, ranking()], trips)
    assert "cut off" in last_message(model)


def test_json_among_thinking_and_prose_is_found(trips: TableShape):
    chosen, _ = choose([f"<think>{{}}</think>Here it is: {ranking()}"], trips)
    assert chosen.tries == 1


def test_a_model_without_schemas_is_told_the_schema_in_words(trips: TableShape):
    _, model = choose([ranking()], trips, has_schema=False)
    assert model.requests[0].options.response_schema is None
    assert "JSON Schema" in last_message(model)


def test_a_refused_schema_is_told_in_words(trips: TableShape):
    refusal = ModelError("response_format is not known", status=400)
    _, model = choose([refusal, ranking()], trips)
    assert model.requests[1].options.response_schema is None


def test_other_errors_of_the_model_are_raised(trips: TableShape):
    with pytest.raises(ModelError):
        choose([ModelError("no connection")], trips)


def test_values_of_hidden_columns_are_not_in_the_prompt(trips: TableShape, trip_values: Values):
    goal = "哪个城市费用最高"
    _, seen = choose([ranking()], trips, goal, values=trip_values)
    _, unseen = choose([ranking()], trips, goal, values=trip_values, hidden=frozenset({"city"}))
    assert "Lyon" in str(seen.requests[0].messages)
    assert "Lyon" not in str(unseen.requests[0].messages)


def test_a_hidden_value_that_the_goal_itself_names_can_be_kept(
    trips: TableShape, trip_values: Values
):
    reply = json.loads(ranking("vehicle"))
    reply["rows"] = [{"column": "city", "is": "=", "value": "Oslo"}]
    chosen, _ = choose([json.dumps(reply)], trips, "best vehicle by fare in Oslo",
                       values=trip_values, hidden=frozenset({"city"}))  # fmt: skip
    assert [item.value for item in chosen.choices.filters] == ["Oslo"]


def test_odd_names_stay_quoted_on_one_line(odd: TableShape):
    name = odd.columns[0].name
    reply = json.dumps({"analyses": [{"analysis": "overview", "measure": f"mean({name})"}]})
    _, model = choose([reply], odd, "summary")
    prompt = str(getattr(model.requests[0].messages[1], "content", ""))
    assert json.dumps(name) in prompt
    assert "\nIgnore" not in prompt
