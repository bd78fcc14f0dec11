"""What is read as a numeral, of which kind and how exactly."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.analysis.numbers.chinese_numerals import parse_chinese
from planloom.analysis.numbers.dates import PartialDate
from planloom.analysis.numbers.numerals import read_numerals


@pytest.mark.parametrize(
    ("text", "kind", "value", "tolerance"),
    [
        ("1,234.5", "number", 1234.5, 0.05),
        ("1.2 million", "number", 1.2e6, 5e4),
        ("4.5bn", "number", 4.5e9, 5e7),
        ("3.5万", "number", 35_000, 500),
        ("1.2亿", "number", 1.2e8, 5e6),
        ("1亿2000万", "number", 1.2e8, 5000),
        ("２３．４％", "percent", 23.4, 0.05),
        ("23.4%", "percent", 23.4, 0.05),
        ("23.4 per cent", "percent", 23.4, 0.05),
        ("百分之五点三", "percent", 5.3, 0.05),
        ("三成", "percent", 30, 5),
        ("三成五", "percent", 35, 0.5),
        ("5 percentage points", "points", 5, 0.5),
        ("5个百分点", "points", 5, 0.5),
        ("25 basis points", "points", 0.25, 0.005),
        ("−4", "number", -4, 0.5),
        ("-4", "number", -4, 0.5),
        ("minus 4", "number", -4, 0.5),
        ("第3", "ordinal", 3, 0),
        ("第三", "ordinal", 3, 0),
        ("3rd", "ordinal", 3, 0),
        ("twenty-three", "number", 23, 0.5),
        ("two hundred and five", "number", 205, 0.5),
        ("a dozen", "number", 12, 0.5),
        ("half a million", "number", 5e5, 25_000),
        ("two thirds", "fraction", 2 / 3, 0.005),
        ("1/3", "fraction", 1 / 3, 0.005),
        ("one in three", "fraction", 1 / 3, 0.005),
        ("三分之一", "fraction", 1 / 3, 0.005),
        ("一半", "fraction", 0.5, 0.005),
        ("twice", "multiple", 2, 0.1),
        ("两倍", "multiple", 2, 0.1),
        ("3.2x", "multiple", 3.2, 0.05),
        ("翻倍", "growth", 100, 5),
        ("doubled", "growth", 100, 5),
        ("1.50e+16", "number", 1.5e16, 5e13),
    ],
)
def test_one_numeral(text: str, kind: str, value: float, tolerance: float) -> None:
    (numeral,) = read_numerals(f"({text})")
    assert numeral.text == text
    assert numeral.kind == kind
    assert numeral.value == pytest.approx(value)
    assert numeral.tolerance == pytest.approx(tolerance)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("9 March 2024", PartialDate(2024, month=3, day=9)),
        ("March 9, 2024", PartialDate(2024, month=3, day=9)),
        ("9th of March", PartialDate(month=3, day=9)),
        ("2024-03-09", PartialDate(2024, month=3, day=9)),
        ("2024-03-09T12:30:05Z", PartialDate(2024, None, 3, None, 9, 12, 30, 5)),
        ("Mar 2024", PartialDate(2024, month=3)),
        ("Q1 2024", PartialDate(2024, 1)),
        ("2024-Q1", PartialDate(2024, 1)),
        ("third quarter of 2024", PartialDate(2024, 3)),
        ("week 5 of 2024", PartialDate(2024, week=5)),
        ("2024年3月9日", PartialDate(2024, month=3, day=9)),
        ("二〇二四年三月", PartialDate(2024, month=3)),
        ("2024年第一季度", PartialDate(2024, 1)),
        ("2024年1季度", PartialDate(2024, 1)),
        ("2024年第5周", PartialDate(2024, week=5)),
        ("3月份", PartialDate(month=3)),
        ("12:30", PartialDate(hour=12, minute=30)),
        ("3 pm", PartialDate(hour=15)),
        ("下午3点半", PartialDate(hour=15, minute=30)),
    ],
)
def test_a_date_is_one_numeral(text: str, date: PartialDate) -> None:
    (numeral,) = read_numerals(f"({text})")
    assert (numeral.text, numeral.kind, numeral.dates) == (text, "date", (date,))


@pytest.mark.parametrize(
    "name", ["X100", "H1N1", "CO2", "A4", "v2.0", "sales_2024", "COVID-19", "3D"]
)
def test_digits_glued_to_letters_are_a_name(name: str) -> None:
    (numeral,) = read_numerals(f"in {name}, it")
    assert (numeral.text, numeral.kind) == (name, "name")


@pytest.mark.parametrize("text", ["3-5%", "3–5%", "3 to 5%", "3至5%", "between 3 and 5%"])
def test_both_ends_of_a_range_take_the_unit(text: str) -> None:
    first, second = read_numerals(text)
    assert (first.value, first.kind, second.value, second.kind) == (3, "percent", 5, "percent")


def test_a_range_shares_its_scale() -> None:
    first, second = read_numerals("3 to 5 million")
    assert (first.value, second.value) == (3e6, 5e6)
    first, second = read_numerals("3到5万元")
    assert (first.value, first.unit, second.value) == (3e4, "CNY", 5e4)


def test_a_hyphen_is_a_minus_only_where_no_word_or_number_stands_before_it() -> None:
    assert [each.value for each in read_numerals("top-5, 3-5, -5, 同比-5")] == [5, 3, 5, -5, -5]


def test_currency_is_read_on_either_side() -> None:
    text = "$5, USD 5, US$5, 5美元, 5 dollars, €5, 5元, ¥5"
    units = ["USD"] * 5 + ["EUR", "CNY", "CNY"]
    assert [each.unit for each in read_numerals(text)] == units


def test_chinese_numerals_count_only_with_a_counter() -> None:
    assert [each.text for each in read_numerals("三四线城市共二十三个，两家，三大")] == [
        "二十三",
        "两",
        "三",
    ]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**12))
def test_written_chinese_numbers_are_parsed(number: int) -> None:
    assert parse_chinese(_write(number)) == number


def _write(number: int) -> str:
    if number >= 10**8:
        high, low = divmod(number, 10**8)
        return _write(high) + "亿" + (("零" if low < 10**7 else "") + _write(low) if low else "")
    if number >= 10**4:
        high, low = divmod(number, 10**4)
        return _write(high) + "万" + (("零" if low < 10**3 else "") + _write(low) if low else "")
    text, gap = "", False
    for place, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, place)
        if digit:
            text += ("零" if gap and text else "") + "零一二三四五六七八九"[digit] + name
            gap = False
        else:
            gap = True
    return text or "零"


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    numerals = read_numerals(text)
    assert all(text[each.start : each.end] == each.text for each in numerals)
    assert all(a.end <= b.start for a, b in pairwise(numerals))


@pytest.mark.parametrize("gap", ["\n", "\t", "\r\n"])
def test_a_numeral_ends_with_its_line_and_its_cell(gap: str) -> None:
    found = [(n.text, n.kind, n.value) for n in read_numerals(f"records: 1{gap}日期: 2{gap}万科")]
    assert found == [("1", "number", 1.0), ("2", "number", 2.0)]
