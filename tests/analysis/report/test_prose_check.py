"""What keeps prose from outside out of a report."""

from __future__ import annotations

import pytest

from planloom.analysis.report.prose import LONGEST_TEXT, prose_problems
from planloom.notes import Lang, Note
from planloom.values import Fact


def fact(fact_id: str, value: float | str, unit: str = "") -> Fact:
    return Fact(
        id=fact_id, label=Note("Change", "变化"), value=value, unit=unit, query="", table="t",
        rows=1,
    )  # fmt: skip


FACTS = {
    "trend.change": fact("trend.change", 4.0, "%"),
    "share.top": fact("share.top", "X100"),
    "total": fact("total", 1200.0, "$"),
}


def problems(text: str, lang: Lang = "en", goal: str = "") -> list[str]:
    return list(prose_problems(text, FACTS, lang, names=("X100", "Q1 plan"), goal=goal))


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Sales came to {{total}} and rose by {{trend.change}}.", "en"),
        ("The product {{share.top}} leads.", "en"),
        ("X100 ({{share.top}}) is the product that leads.", "en"),
        ("总额为 {{total}}，增长 {{trend.change}}。", "zh"),
        ("各门店之间相差不大。", "zh"),
    ],
)
def test_prose_over_facts_passes(text: str, lang: Lang):
    assert problems(text, lang) == []


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Sales came to $1,200.", "en"),
        ("Sales doubled in three stores.", "en"),
        ("销售额约为1200元。", "zh"),
        ("增长了百分之四。", "zh"),
    ],
)
def test_written_numbers_are_refused_even_where_they_are_true(text: str, lang: Lang):
    assert "is written out" in " ".join(problems(text, lang))


def test_unknown_facts_are_refused_with_the_nearest():
    assert "Nearest: trend.change" in problems("Up {{trend.chance}}.")[0]


def test_words_against_the_sign_of_a_fact_are_refused():
    assert "does not fit the words" in problems("Sales fell by {{trend.change}}.")[0]


def test_names_and_ranks_without_a_fact_are_refused():
    assert "No fact cited" in problems("X100 is the product that leads.")[0]


@pytest.mark.parametrize(
    ("text", "lang"),
    [("Sales rose due to the campaign.", "en"), ("由于促销，销售额增长。", "zh")],
)
def test_causes_are_refused(text: str, lang: Lang):
    assert "cause" in problems(text, lang)[0]


def test_words_of_the_goal_may_be_taken_up():
    assert problems("Rows with returns due to damage.", goal="returns due to damage") == []


def test_broken_placeholders_addresses_and_long_texts_are_refused():
    assert problems("It is {{total sum}}.")
    assert problems("See https://example.org for more.")
    assert problems("long " * LONGEST_TEXT)
