import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.analysis.charts.scales import short_value, starts_at_zero, tick_texts, value_axis
from planloom.notes import Lang

SIZES = st.floats(-1e12, 1e12).map(lambda value: round(value, 3))
LANGS = st.sampled_from(["en", "zh"])


@given(SIZES, SIZES, LANGS, st.sampled_from(["", "$", "%"]), st.booleans())
def test_axis_covers_its_values_with_few_distinct_ticks(
    a: float, b: float, lang: Lang, unit: str, from_zero: bool
) -> None:
    low, high = sorted((a, b))
    if high - low < 1e-9 * max(abs(low), abs(high)):
        low = high  # a range of float noise only
    axis = value_axis(low, high, unit=unit, lang=lang, from_zero=from_zero)
    slack = 1e-6 * (axis.high - axis.low)
    assert axis.low - slack <= low <= high <= axis.high + slack
    assert 2 <= len(axis.ticks) <= 8
    if not from_zero or low == high:
        return
    assert axis.low <= 0 <= axis.high
    assert len(set(axis.labels)) == len(axis.labels)


@pytest.mark.parametrize(
    ("ticks", "unit", "lang", "labels"),
    [
        ([0, 2500, 5000], "$", "en", ("0", "$2,500", "$5,000")),
        ([0, 5000, 10000], "$", "en", ("0", "$5K", "$10K")),
        ([-2e6, 0, 2e6], "¥", "zh", ("−¥200万", "0", "¥200万")),
        ([8000, 10000, 12000], "¥", "zh", ("¥8,000", "¥10,000", "¥12,000")),
        ([0, 1e8, 2e8], "", "zh", ("0", "1亿", "2亿")),
        ([0, 2.5, 5], "%", "en", ("0.0%", "2.5%", "5.0%")),
        ([0, 0.0002], "", "en", ("0", "0.0002")),
        ([0, 10], "kg", "en", ("0", "10")),
    ],
)
def test_ticks_share_one_scale(
    ticks: list[float], unit: str, lang: Lang, labels: tuple[str, ...]
) -> None:
    assert tick_texts(ticks, unit=unit, lang=lang) == labels


@pytest.mark.parametrize(
    ("value", "unit", "lang", "shown"),
    [
        (0, "$", "en", "$0"),
        (-80, "$", "en", "−$80"),
        (45.5, "$", "en", "$45.50"),
        (999_960, "", "en", "1M"),
        (99_999_600, "", "zh", "1亿"),
        (12_345, "¥", "zh", "¥1.23万"),
        (1.5e16, "", "en", "15,000T"),
        (0.000123, "", "en", "0.000123"),
        (1.9e-60, "", "en", "1.9e−60"),
        (123.4, "%", "en", "123%"),
        (0.04, "%", "en", "0.04%"),
        (5, "元", "zh", "5"),
    ],
)
def test_values_are_short(value: float, unit: str, lang: Lang, shown: str) -> None:
    assert short_value(value, unit=unit, lang=lang) == shown


@given(st.floats(-1e15, 1e15), LANGS)
def test_short_value_is_within_half_a_per_cent(value: float, lang: Lang) -> None:
    text = short_value(value, unit="", lang=lang).replace(",", "").replace("−", "-")
    words = {"万亿": 1e12, "亿": 1e8, "万": 1e4, "T": 1e12, "B": 1e9, "M": 1e6, "K": 1e3}
    size = next((size for word, size in words.items() if text.endswith(word)), 1.0)
    number = float(text.rstrip("万亿TBMK"))
    assert number * size == pytest.approx(value, rel=0.006, abs=1e-7)


def test_zero_is_shown_unless_values_lie_far_from_it() -> None:
    assert starts_at_zero(10, 100)
    assert starts_at_zero(5, 5)
    assert starts_at_zero(-3, 4)
    assert not starts_at_zero(95, 100)
    assert not starts_at_zero(-100, -95)
