"""Kinds of sources, adversarial texts, and round trips over any fact."""

from __future__ import annotations

import math
import time
from datetime import date

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planloom.analysis.numbers.checking import unsourced_numbers
from planloom.analysis.numbers.formatting import show_cell, show_fact
from planloom.analysis.numbers.numerals import read_numerals
from planloom.notes import Lang, Note, Scalar
from planloom.values import Fact


def fact(value: Scalar, unit: str = "", *, label: str = "Value", id: str = "f") -> Fact:  # noqa: A002 -- the field's name
    return Fact(
        id=id, label=Note.same(label), value=value, unit=unit, query="SELECT 1", table="t", rows=1
    )


def refused(text: str, *facts: Fact, lang: Lang = "en", **given: list[str]) -> list[str]:
    found = unsourced_numbers(text, facts=facts, lang=lang, **given)
    return [each.numeral.text for each in found]


UNITS = ["", "$", "¥", "€", "CHF", "USD", "%", "pp", "kg", "hours", "order", "x", "°C", "MWh"]
LANGS: tuple[Lang, ...] = ("en", "zh")
NUMBERS = st.one_of(
    st.integers(-(10**13), 10**13),
    st.floats(-1e13, 1e13, allow_nan=False, allow_subnormal=False),
    st.floats(-100, 100, allow_nan=False, allow_subnormal=False),
    st.decimals(-1000, 1000, places=2).map(float),
)


def sentence(shown: str, lang: Lang) -> str:
    return f"The value was {shown}, as stated." if lang == "en" else f"该值为{shown}，如上所述。"


@settings(max_examples=300, deadline=None)
@given(value=NUMBERS, unit=st.sampled_from(UNITS), lang=st.sampled_from(LANGS))
def test_a_shown_fact_is_accepted(value: float, unit: str, lang: Lang) -> None:
    one = fact(value, unit)
    assert refused(sentence(show_fact(one, lang), lang), one, lang=lang) == []


@settings(max_examples=300, deadline=None)
@given(
    value=NUMBERS,
    unit=st.sampled_from(UNITS),
    lang=st.sampled_from(LANGS),
    steps=st.floats(1.01, 1000),
    up=st.booleans(),
)
def test_a_value_changed_by_more_than_the_rounding_is_refused(
    value: float, unit: str, lang: Lang, steps: float, up: bool
) -> None:
    assume(abs(value) < 1e11)  # beyond, floats are too coarse for the tenths of a per cent
    text = sentence(show_fact(fact(value, unit), lang), lang)
    (numeral,) = read_numerals(text)
    assert numeral.value is not None
    change = steps * 2 * numeral.tolerance * (1 if up else -1)
    assume(change and math.isfinite(value + change))
    other = fact(value + change, unit)
    assert refused(text, other, lang=lang) == [numeral.text]


@settings(max_examples=100, deadline=None)
@given(
    value=st.integers(1, 10**6), unit=st.sampled_from(["%", "pp", "$", "order"]),
    other=st.sampled_from(["%", "pp", "$", "order"]), lang=st.sampled_from(LANGS),
)  # fmt: skip
def test_a_number_of_another_kind_is_refused(value: int, unit: str, other: str, lang: Lang) -> None:
    assume(unit not in {other, "order"})
    assert refused(
        sentence(show_fact(fact(value, unit), lang), lang), fact(value, other), lang=lang
    )


@settings(max_examples=150, deadline=None)
@given(
    day=st.dates(date(1600, 1, 1), date(2198, 12, 31)),
    unit=st.sampled_from(["day", "month", "quarter", "year"]),
    lang=st.sampled_from(LANGS),
)
def test_periods_go_round(day: date, unit: str, lang: Lang) -> None:
    labels = {
        "day": day.isoformat(), "month": day.isoformat()[:7], "year": str(day.year),
        "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
    }  # fmt: skip
    one = fact(labels[unit], unit)
    assert refused(sentence(show_fact(one, lang), lang), one, lang=lang) == []
    other = fact(labels[unit].replace(str(day.year), str(day.year + 1)), unit)
    assert refused(sentence(show_fact(one, lang), lang), other, lang=lang)


@settings(max_examples=150, deadline=None)
@given(value=NUMBERS, unit=st.sampled_from(UNITS), lang=st.sampled_from(LANGS))
def test_a_table_cell_is_accepted(value: float, unit: str, lang: Lang) -> None:
    cell = show_cell(value, unit, lang)
    assume(not (abs(value) < 100 and float(cell.strip("−% p").replace(",", "")) != abs(value)))
    row = f"| Name | {cell} |\n|---|---|\n"
    assert refused(row, fact(value, unit), lang=lang) == []


def test_the_nearest_fact_and_the_sentence_are_named() -> None:
    (found,) = unsourced_numbers(
        "All is well. Sales were 105 here. Fine.", facts=[fact(100, id="sales.total")], lang="en"
    )
    assert found.sentence == "Sales were 105 here."
    assert found.nearest == "sales.total = 100"


def test_goal_gives_its_numbers() -> None:
    assert refused("The top 5 of 2023.", allowed=["Show the top 5 stores of 2023"]) == []
    assert refused("前5名", lang="zh", allowed=["列出前五名门店"]) == []
    assert refused("The top 6 of 2023.", allowed=["Show the top 5 stores of 2023"]) == ["6"]


def test_a_label_covers_its_number_only_as_a_whole() -> None:
    labels = ["Store 12", "18-25", "Size 3.5 (EU)"]
    assert refused("Store 12 and 18-25 and Size 3.5 (EU).", labels=labels) == []
    assert refused("Store 123 had 12 visits at 18.", labels=labels) == ["123", "12", "18"]
    assert refused("Store 12% off", labels=labels) == ["12%"]


def test_a_label_that_is_a_bare_number_is_no_count() -> None:
    product = fact("101")
    assert refused("Product 101 sold best.", product) == []
    assert refused("It had 101 orders.", product) == ["101"]


def test_names_need_a_label_and_standards_do_not() -> None:
    assert refused("X100, H1N1 and CO2 in UTF-8", labels=["X100"]) == ["H1N1", "CO2"]


def test_numbers_of_code_blocks_files_links_and_hashes_do_not_count() -> None:
    text = (
        "```sql\nSELECT 5\n```\nSee [the data](https://x.org/7) in `sales_2024.csv`, "
        "C:\\data\\9.xlsx, hash 0123456789abcdef0123."
    )
    assert refused(text) == []


def test_a_number_is_not_hidden_by_markup() -> None:
    assert refused("Sales: `1,234`") == ["1,234"]
    assert refused("<p>1,2<b>34</b> rows</p>") == ["1,234"]
    assert refused("<p>1&#50;3 rows</p>") == ["123"]
    assert refused("**12**34 rows") == ["1234"]
    assert refused("12. orders came") == ["12"]
    assert refused("<p>10<sup>6</sup></p>") == ["10"]
    assert refused("<p><img src='x.png' alt='Total 55'></p>") == ["55"]


def test_lists_may_be_numbered() -> None:
    assert refused("1. One thing\n2. Another\n3. More of it\n") == []


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Sales declined in the spring by 4%.", "en"),
        ("Sales were 4 percent below last year.", "en"),
        ("A year-over-year drop of 4%.", "en"),
        ("Sales went down 4% year on year.", "en"),
        ("Sales are 4% less than before.", "en"),
        ("Sales contracted by roughly 4%.", "en"),
        ("销售额同比下滑4%。", "zh"),
        ("销售额环比减少约4%。", "zh"),
        ("销售额比上月低4%。", "zh"),
        ("销售额回落4%。", "zh"),
        ("销售额跌幅达4%。", "zh"),
    ],
)
def test_words_of_a_fall_need_a_negative_fact(text: str, lang: Lang) -> None:
    assert refused(text, fact(-4.0, "%"), lang=lang) == []
    assert refused(text, fact(4.0, "%"), lang=lang) != []


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Sales rose by 4%.", "en"),
        ("The change was 4%.", "en"),
        ("A gain of 4%.", "en"),
        ("Sales fell to 4%.", "en"),
        ("Sales are 4% above last year.", "en"),
        ("销售额增长4%。", "zh"),
        ("占比降至4%。", "zh"),
        ("占比下降到4%。", "zh"),
        ("增幅为4%。", "zh"),
    ],
)
def test_other_words_need_a_positive_fact(text: str, lang: Lang) -> None:
    assert refused(text, fact(4.0, "%"), lang=lang) == []
    assert refused(text, fact(-4.0, "%"), lang=lang) != []


def test_a_ratio_may_be_told_in_per_cent_but_a_count_may_not() -> None:
    assert refused("It is 45.1%.", fact(0.451)) == []
    assert refused("It is 45.1%.", fact(45.1)) == ["45.1%"]
    assert refused("It is 100%.", fact(1, "order")) == ["100%"]


def test_ordinary_words_are_no_numbers() -> None:
    text = "一般来说，一些统一的三明治，万一十分千万别，一方面，第一，一直，百度，四川"
    assert refused(text, lang="zh") == []
    assert refused("No one knows; once again, the first half. One of them. Third-party.") == []


def test_a_large_report_is_checked_within_a_second() -> None:
    facts = [fact(index * 1.37 + 0.5, "$", id=f"f{index}") for index in range(5000)]
    lines = [
        f"In this region the amount came to {show_fact(facts[index], 'en')} for the whole year.\n"
        for index in range(3100)
    ]
    text = "".join(lines)
    start = time.process_time()
    assert unsourced_numbers(text, facts=facts, lang="en") == ()
    assert len(text) > 180_000
    # Three times the wanted second, so that a busy machine does not fail the set.
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    "text",
    [
        "1" * 20_000, "一二三" * 5_000, "`" * 20_000, "[" * 20_000, "A-" * 10_000, "a/" * 10_000,
        "fell" + " " * 50_000 + "5", "fell " + "nearly " * 5_000 + "5%", "1e9999 " + "1." * 5_000,
        "3" + "万" * 3_000, "two" + " hundred" * 2_000, "|" + "-" * 20_000, "<a " * 5_000,
    ],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_odd_long_texts_are_read_without_hanging(text: str) -> None:
    start = time.process_time()
    refused(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("sentence", "vague"),
    [
        ("销售额增加了十几万元。", "十几万"),
        ("损失三十几万元", "三十几万"),
        ("成本为几十万元。", "几十万"),
        ("收入达数百万美元", "数百万"),
        ("共有数十家门店", "数十"),
        ("订单数百笔", "数百"),
        ("几千万的规模", "几千万"),
        ("约20几家", "20几"),
        ("占百分之十几", "百分之十几"),
        ("高出几十个百分点", "几十"),
    ],
)
def test_sizes_without_a_number_are_unsourced_unless_allowed(sentence: str, vague: str) -> None:
    facts = [fact(153_000.0, "¥"), fact(10), fact(10.0, "%")]
    found = unsourced_numbers(sentence, facts=facts, lang="zh")
    assert [each.numeral.text for each in found] == [vague]
    assert unsourced_numbers(sentence, facts=facts, allowed=[sentence], lang="zh") == ()


@pytest.mark.parametrize(
    ("sentence", "lang"),
    [
        ("几个门店、数个地区和若干产品，几乎都在增长；数据与参数百分比无误。", "zh"),
        ("订单数十个", "zh"),
        ("Several stores, dozens of products and hundreds of orders.", "en"),
    ],
)
def test_words_for_some_are_no_numbers(sentence: str, lang: Lang) -> None:
    assert unsourced_numbers(sentence, facts=[fact(10)], lang=lang) == ()
