"""Values in prose and in tables; the doctests of the module show the rules."""

from __future__ import annotations

import math

import pytest

from planloom.analysis.numbers.formatting import show, show_cell, show_column
from planloom.notes import Scalar


@pytest.mark.parametrize(
    ("value", "unit", "en", "zh"),
    [
        (0, "", "0", "0"),
        (-0.0, "$", "$0", "0美元"),
        (-0.001, "kg", "−0.001 kg", "−0.001 kg"),
        (1234, "order", "1,234", "1,234"),
        (12345678, "order", "12.3 million", "1234.6万"),
        (999_999.6, "$", "$1 million", "100万美元"),
        (999_960_000, "$", "$1 billion", "10亿美元"),
        (9999.5, "¥", "¥10,000", "1万元"),
        (1.5e12, "€", "€1.5 trillion", "1.5万亿欧元"),
        (12.345, "GBP", "GBP 12.35", "12.35英镑"),
        (0.004, "%", "0.004%", "0.004%"),
        (99.97, "%", "99.97%", "99.97%"),
        (100.0, "%", "100%", "100%"),
        (-1, "pp", "−1 percentage point", "−1个百分点"),
        (1, "day", "1 day", "1天"),
        (2.5, "day", "2.5 days", "2.5天"),
        (21.5, "℃", "21.5 °C", "21.5℃"),
        (2024, "year", "2024", "2024年"),
        (7, "year", "7 years", "7年"),
        ("2024-13", "month", "2024-13", "2024-13"),
        ("2024-03-09 00:00:00", "day", "9 March 2024", "2024年3月9日"),
        (math.nan, "", "–", "–"),
        (math.inf, "$", "–", "–"),
        (False, "", "no", "否"),
        (0.1 + 0.2, "", "0.3", "0.3"),
        (1e-9, "", "1.00e-9", "1.00e-9"),
        (10**40, "order", "1.00e+40", "1.00e+40"),
    ],
)
def test_prose(value: Scalar, unit: str, en: str, zh: str) -> None:
    assert (show(value, unit, "en"), show(value, unit, "zh")) == (en, zh)


def test_a_column_has_as_many_decimals_in_every_number() -> None:
    assert show_column([1.0, 2.125, None, "x"], "kg", "en") == ["1.00", "2.13", "–", "x"]
    assert show_column([0.1 + 0.2, 1], "", "en") == ["0.3", "1.0"]
    assert show_column([12.3, 100.0], "%", "zh") == ["12.3%", "100.0%"]


def test_cells_are_in_full() -> None:
    assert show_cell(123456789, "$", "en") == "123,456,789"
    assert show_cell(-1234.5, "$", "zh") == "−1,234.50"
