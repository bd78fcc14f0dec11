from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from planloom.errors import ToolError
from planloom.tools.codec import decode, encode, shown
from planloom.values import Column, TableRef

TABLE = TableRef(
    path="/run/t.parquet",
    columns=(Column(name="日期", type="date"), Column(name="额", type="number", unit="¥")),
    rows=3,
    name="source",
    sha256="00",
)


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass(frozen=True)
class Box:
    sides: tuple[int, ...]
    inner: Box | None = None
    label: str = ""


class Person(BaseModel):
    name: str
    born: date


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        (TABLE, TableRef),
        (Box((1, 2), Box(())), Box),
        (date(2024, 3, 9), date),
        (datetime(2024, 3, 9, 8, tzinfo=UTC), datetime),
        (datetime(2024, 3, 9, 8, 0, 0, 5), datetime),  # noqa: DTZ001 -- data may have no zone
        (time(8, 30), time),
        (timedelta(days=-1, seconds=2, microseconds=3), timedelta),
        (Decimal("1.50"), Decimal),
        (Path("a/b"), Path),
        (UUID(int=7), UUID),
        (Colour.RED, Colour),
        (Level.HIGH, Level),
        (Person(name="李", born=date(2000, 1, 1)), Person),
        ({"a": [1, 2.5, None, True]}, dict[str, list[Any]]),
        ((1, "a"), tuple[int, str]),
        ({1, 2}, set[int]),
        (None, None),
    ],
)
def test_typed_values_come_back_as_they_were(value: object, annotation: Any) -> None:
    assert decode(encode(value), annotation) == value


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)


@given(json_values)
def test_json_is_its_own_encoding(value: object) -> None:
    assert encode(value) == value
    assert decode(encode(value), object) == value


boxes = st.recursive(
    st.builds(Box, st.tuples(st.integers())),
    lambda inner: st.builds(Box, st.just(()), inner, st.text(st.characters(codec="utf-8"))),
    max_leaves=5,
)


@given(boxes)
def test_dataclasses_round_trip(box: Box) -> None:
    assert decode(encode(box), Box) == box


@given(st.timedeltas())
def test_durations_round_trip(value: timedelta) -> None:
    assert decode(encode(value), timedelta) == value


@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")]
)
def test_numbers_that_json_lacks_are_refused_with_their_place(number: object) -> None:
    with pytest.raises(ToolError, match=r"value\[\"means\"\]\[1\] is .*Return None"):
        encode({"means": [1.0, number]})


@pytest.mark.parametrize("value", [b"raw", object(), range(3), int, (n for n in "ab"), {"a": b"x"}])
def test_values_without_json_form_are_refused(value: object) -> None:
    with pytest.raises(ToolError, match=r"has no JSON form.*FileRef"):
        encode(value)


def test_keys_must_be_text() -> None:
    with pytest.raises(ToolError, match=r"has the key 2024; JSON has text keys only"):
        encode({2024: 1})


def test_cyclic_values_are_refused() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(ToolError, match="cyclic"):
        encode(cycle)


def test_half_characters_are_refused() -> None:
    with pytest.raises(ToolError, match="lone surrogate"):
        encode(["ok", "\ud800"])


def test_sets_have_one_order() -> None:
    assert encode({"b", "a", "c"}) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("value", "annotation"),
    [("3", int), (True, int), (1, bool), (1, str), (1.5, int), ("yes", bool)],
)
def test_decoding_guesses_nothing(value: Any, annotation: Any) -> None:
    with pytest.raises(ToolError, match="does not fit its type"):
        decode(value, annotation)


def test_an_integer_is_a_number() -> None:
    assert decode(3, float) == 3.0


def test_shown_values_are_bounded() -> None:
    assert shown("a" * 1000) == '"' + "a" * 75 + '..."'
    assert len(shown(list(range(1000)))) == 80
    assert shown({1, 2}) == "{1, 2}"
