from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from planloom.analysis.results import Analysis
from planloom.errors import ArgumentError
from planloom.notes import Note
from planloom.tools.arguments import bind, check_arguments
from planloom.tools.context import ToolContext
from planloom.tools.tool import tool
from planloom.values import Column, ImageRef, TableRef

CONTEXT = ToolContext(key="run/1.step", folder=Path("/run/step"))
TABLE = TableRef(
    path="/t.parquet", columns=(Column(name="a", type="text"),), rows=1, name="t", sha256="0"
)
ANALYSIS = Analysis(
    path="/t.parquet", columns=(), rows=1, name="t", sha256="0", kind="trend",
    title=Note.same("t"), headings=(), keys=(), query="", base="cleaned", facts=(), findings=(),
)  # fmt: skip


class Size(Enum):
    SMALL = "s"


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@tool
def order(
    item: str,
    quantity: Annotated[int, Field(ge=1)] = 1,
    size: Size = Size.SMALL,
    day: date | None = None,
    points: tuple[Point, ...] = (),
    price: Decimal = Decimal(0),
    by: Literal["mail", "phone"] = "mail",
) -> str:
    return item


@tool
def total(table: TableRef, also: list[TableRef] | None = None) -> float:
    return 0.0


def test_json_becomes_typed_values() -> None:
    given_values = {
        "item": "tea", "quantity": 2.0, "size": "s", "day": "2024-03-09",
        "points": [{"x": 1}], "price": "1.50",
    }  # fmt: skip
    bound = bind(order, given_values, CONTEXT)
    assert bound == {
        "item": "tea", "quantity": 2, "size": Size.SMALL, "day": date(2024, 3, 9),
        "points": (Point(1),), "price": Decimal("1.50"),
    }  # fmt: skip
    assert type(bound["quantity"]) is int


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("item", 3), ("quantity", "3"), ("quantity", True), ("quantity", 0), ("quantity", 1.5),
        ("quantity", None), ("size", "SMALL"), ("day", "09.03.2024"), ("day", "1704067200"),
        ("points", {"x": 1}), ("points", [{"x": 1, "z": 2}]), ("price", "much"), ("by", "post"),
        ("quantity", float("nan")), ("item", "\ud800"), ("item", b"raw"), ("item", Path("a")),
    ],
)  # fmt: skip
def test_wrong_values_are_named_and_nothing_is_guessed(name: str, value: object) -> None:
    found = check_arguments(order, {"item": "tea", name: value}) or _decoding(name, value)
    assert found
    assert all(text.startswith(f"'{name}") for text in found)


def _decoding(name: str, value: object) -> tuple[str, ...]:
    with pytest.raises(ArgumentError) as raised:
        order.arguments_schema.decode({"item": "tea", name: value})
    return tuple(str(raised.value).splitlines())


def test_message_lists_every_problem_and_the_signature() -> None:
    with pytest.raises(ArgumentError) as raised:
        bind(order, {"quantity": "3", "by": "male", "qty": 1}, CONTEXT)
    said = str(raised.value)
    assert "Tool 'order' was not called" in said
    assert "- 'quantity' must be an integer, got \"3\" (a text)." in said
    assert "- 'item' is missing." in said
    assert 'Did you mean "mail"?' in said
    assert "'qty' is not known." in said
    assert "Call it as: order(item: str, quantity: int = 1," in said


def test_typed_values_pass_as_they_are() -> None:
    bound = bind(total, {"table": TABLE, "also": [TABLE, ANALYSIS]}, CONTEXT)
    assert bound["table"] is TABLE
    assert bound["also"] == [TABLE, ANALYSIS]


def test_an_analysis_is_a_table_and_stays_one() -> None:
    assert bind(total, {"table": ANALYSIS}, CONTEXT)["table"] is ANALYSIS


def test_a_value_of_another_kind_is_refused() -> None:
    image = ImageRef(
        path="/a.png", media_type="image/png", size=1, sha256="0", width=1, height=1, alt="a"
    )
    with pytest.raises(ArgumentError, match=r"'table': .*instance of TableRef.*ImageRef"):
        bind(total, {"table": image}, CONTEXT)


def test_unresolved_reference_in_place_of_a_table_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"a table that an earlier call gave.*\"\$load\" is no"):
        bind(total, {"table": "$load"}, CONTEXT)


def test_pending_arguments_count_as_given() -> None:
    assert check_arguments(total, {"table": "$load"}, pending=["table"]) == ()
    assert check_arguments(total, {"tabel": "$load"}, pending=["tabel"]) == (
        "'tabel' is not known. Did you mean 'table'?",
        "'table' is missing.",
    )


def test_context_is_handed_in_and_cannot_be_sent() -> None:
    @tool
    def save(text: str, context: ToolContext) -> str:
        return text

    assert bind(save, {"text": "a"}, CONTEXT) == {"text": "a", "context": CONTEXT}
    with pytest.raises(ArgumentError, match="'context' is not known"):
        bind(save, {"text": "a", "context": {"key": "forged"}}, CONTEXT)


def test_times_without_zone_are_taken() -> None:
    @tool
    def plan(at: datetime) -> str:
        return at.isoformat()

    bound = bind(plan, {"at": "2024-03-09T08:00"}, CONTEXT)
    assert bound["at"] == datetime(2024, 3, 9, 8)  # noqa: DTZ001


values: Any = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just([])


@tool
def typed(whole: int, text: str, flag: bool, part: float) -> str:
    return f"{whole:d}{text}{flag}{part:f}"


@given(st.fixed_dictionaries(dict.fromkeys(("whole", "text", "flag", "part"), values)))
def test_validation_agrees_with_calling(arguments: dict[str, Any]) -> None:
    if check_arguments(typed, arguments):
        with pytest.raises(ArgumentError):
            bind(typed, arguments, CONTEXT)
    else:
        bound: Any = bind(typed, arguments, CONTEXT)
        assert [type(value) for value in bound.values()] == [int, str, bool, float]
        assert typed(**bound)
