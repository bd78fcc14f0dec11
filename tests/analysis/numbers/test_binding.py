"""Placeholders become shown values, once."""

from __future__ import annotations

import pytest

from planloom.analysis.numbers.binding import bind
from planloom.errors import UnsourcedNumberError
from planloom.notes import Note, Scalar
from planloom.values import Fact


def fact(id: str, value: Scalar, unit: str = "") -> Fact:  # noqa: A002 -- the field's name
    return Fact(
        id=id, label=Note.same(id), value=value, unit=unit, query="SELECT 1", table="t", rows=1
    )


FACTS = {
    each.id: each
    for each in (
        fact("rows", 1234, "row"),
        fact("one", 1, "row"),
        fact("growth", -4.2, "%"),
        fact("name", "{{rows}}"),
        fact("lag", 3, "days"),
        fact("总额", 1234567.0, "¥"),
        fact("week", "2024-W05", "week"),
    )
}


def test_values_are_shown_in_the_language() -> None:
    assert bind("Total {{总额}}", FACTS, "en") == "Total ¥1.23 million"
    assert bind("总额{{总额}}", FACTS, "zh") == "总额123.5万元"


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("{{week}} is level.", "Week 5 of 2024 is level."),
        ("It rose. {{week}} is level.", "It rose. Week 5 of 2024 is level."),
        ("- **{{week}}** is level.", "- **Week 5 of 2024** is level."),
        ("Highest in {{week}}.", "Highest in week 5 of 2024."),
        ("{{week}}", "week 5 of 2024"),
    ],
)
def test_a_period_that_starts_a_sentence_has_a_capital_letter(text: str, bound: str) -> None:
    assert bind(text, FACTS, "en") == bound


def test_the_noun_fits_the_number() -> None:
    text = "{{rows|row|rows}}, {{one|row|rows}}, {{lag|day|days}}, {{lag}} days"
    assert bind(text, FACTS, "en") == "1,234 rows, 1 row, 3 days, 3 days"


def test_words_of_a_fall_take_the_minus_away() -> None:
    assert bind("Sales fell by {{growth}}.", FACTS, "en") == "Sales fell by 4.2%."
    assert bind("销售额下降{{growth}}。", FACTS, "zh") == "销售额下降4.2%。"
    assert bind("The change was {{growth}}.", FACTS, "en") == "The change was −4.2%."


def test_what_a_fact_shows_is_never_expanded() -> None:
    assert bind("{{name}}", FACTS, "en") == "{{rows}}"


def test_wrap_marks_the_number_up() -> None:
    marked = bind("{{rows|row|rows}}", FACTS, "en", wrap=lambda f, shown: f"<a {f.id}>{shown}</a>")
    assert marked == "<a rows>1,234</a> rows"


def test_an_unknown_fact_is_an_error_with_the_nearest_ids() -> None:
    with pytest.raises(UnsourcedNumberError, match=r"'rwos'.*Nearest: rows"):
        bind("{{rwos}}", FACTS, "en")


@pytest.mark.parametrize("text", ["{{rows|row}}", "{{}}", "{{rows + 1}}", "{{a {b} }}"])
def test_a_malformed_placeholder_is_an_error(text: str) -> None:
    with pytest.raises(UnsourcedNumberError, match="no placeholder"):
        bind(text, FACTS, "en")
