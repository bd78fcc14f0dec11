from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from planloom.errors import ConfigError
from planloom.tools.validation import MAX_PROBLEMS, problems

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "quantity": {"type": "integer", "minimum": 1},
        "chart": {"enum": ["line", "bar", "donut"]},
        "items": {"type": "array", "items": {"properties": {"price": {"type": "number"}}}},
        "limit": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
    },
    "required": ["quantity"],
    "additionalProperties": False,
}


def messages(**data: object) -> tuple[str, ...]:
    return problems(ORDER, data)


def test_json_schema_suite_is_judged_right() -> None:
    folder = os.environ.get("PLANLOOM_CASES")
    if not folder:
        pytest.skip("PLANLOOM_CASES names no folder")
    lines = (Path(folder) / "json_schema.jsonl").read_text(encoding="utf-8").strip().split("\n")
    cases = [json.loads(line) for line in lines]
    wrong = [c["id"] for c in cases if (not problems(c["schema"], c["data"])) != c["expected"]]
    assert len(cases) > 500
    assert wrong == []


def test_valid_data_has_no_problems() -> None:
    assert messages(quantity=1.0, chart="bar", items=[{"price": 2}], limit=None) == ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"quantity": "3"}, "'quantity' must be an integer, got \"3\" (a text)."),
        ({"quantity": True}, "'quantity' must be an integer, got true (true or false)."),
        ({"quantity": 1.5}, "'quantity' must be an integer, got 1.5 (a number)."),
        ({"quantity": 0}, "'quantity' must be 1 or more, got 0 (an integer)."),
        ({}, "'quantity' is missing."),
        (
            {"quantity": 1, "items": [{"price": None}]},
            "'items[0].price' must be a number, got null (null).",
        ),
        ({"quantity": 1, "limit": "9"}, "'limit' must be an integer or null, got \"9\" (a text)."),
        ({"quantity": 1, "limit": 2}, "'limit' must be 3 or more, got 2 (an integer)."),
        (
            {"quantity": 1, "chart": "lines"},
            '\'chart\' must be one of "line", "bar", "donut", got "lines" (a text). '
            'Did you mean "line"?',
        ),
        ({"quantity": 1, "quantitty": 2}, "'quantitty' is not known. Did you mean 'quantity'?"),
        (
            {"quantity": 1, "zzz": 2},
            "'zzz' is not known. Known: quantity, chart, items, limit.",
        ),
    ],
)
def test_message_names_argument_value_and_mend(data: dict[str, Any], said: str) -> None:
    assert problems(ORDER, data) == (said,)


def test_long_values_are_cut() -> None:
    (said,) = messages(quantity="x" * 5000)
    assert len(said) < 160


def test_many_problems_are_counted() -> None:
    said = problems({"items": {"type": "integer"}}, ["x"] * 50)
    assert len(said) == MAX_PROBLEMS + 1
    assert said[-1] == "And 30 more."


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_several_forms_are_said(keyword: str) -> None:
    forms = {keyword: [{"required": ["a"]}, {"required": ["b"]}]}
    said = problems(forms, {})
    assert said == ("The value fits none of its forms. 'a' is missing. Or: 'b' is missing.",)


def test_each_broken_keyword_has_words() -> None:
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({"const": 3}, 4, "must be 3"),
        ({"exclusiveMinimum": 3}, 3, "must be above 3"),
        ({"exclusiveMaximum": 3}, 3, "must be below 3"),
        ({"maximum": 3}, 4, "must be 3 or less"),
        ({"minLength": 3}, "a", "must have 3 or more characters"),
        ({"pattern": "^a"}, "b", 'must match the pattern "^a"'),
        ({"format": "date"}, "2024-13-01", 'must be a valid "date"'),
        ({"uniqueItems": True}, [1, 1], "must not hold an item twice"),
        ({"properties": {"a": False}}, {"a": 1}, "'a' is not allowed here"),
        ({"multipleOf": 5}, 6, "must be a multiple of 5"),
    ]
    for schema, data, words in cases:
        (said,) = problems(schema, data)
        assert words in said


def test_times_without_zone_are_refused_only_when_asked() -> None:
    schema: dict[str, Any] = {"format": "date-time"}
    assert problems(schema, "2024-03-09T08:00:00") != ()
    assert problems(schema, "2024-03-09T08:00:00", naive_times=True) == ()
    assert problems(schema, "yesterday", naive_times=True) != ()


def test_invalid_schema_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="JSON Schema is not valid"):
        problems({"type": "nothing"}, 1)


def test_remote_references_are_not_fetched() -> None:
    with pytest.raises(ConfigError, match="JSON Schema is not valid"):
        problems({"$ref": "https://example.org/schema.json"}, 1)


@pytest.mark.parametrize("data", ["\ud800", {"a": object()}])
def test_what_is_not_json_is_said(data: object) -> None:
    (said,) = problems({"type": "string"}, data)
    assert said.startswith("The arguments are not JSON")
