from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.analysis.charts.periods import (
    Grain,
    has_gap,
    period_name,
    read_periods,
    tick_choices,
    tick_labels,
    typical_step,
)
from planloom.notes import Lang


@pytest.mark.parametrize(
    ("values", "grain", "distance"),
    [
        (["2024", "2025"], "year", 1),
        ([2023, 2025], "year", 2),
        (["2023-Q4", "2024-Q1"], "quarter", 1),
        (["2023-12", "2024-01"], "month", 1),
        (["2020-W53", "2021-W01"], "week", 1),
        (["2024-02-28", "2024-03-01"], "day", 2),
        ([date(2024, 2, 1), date(2024, 4, 1)], "month", 2),
        ([date(2024, 1, 1), date(2026, 1, 1)], "year", 2),
        ([date(2024, 1, 1), date(2024, 1, 2)], "day", 1),
        ([datetime.fromisoformat("2024-01-05"), datetime.fromisoformat("2024-01-07")], "day", 2),
        (
            [datetime.fromisoformat("2024-01-05T06"), datetime.fromisoformat("2024-01-05T18")],
            "moment",
            0.5,
        ),
    ],
)
def test_periods_are_read(values: list[object], grain: Grain, distance: float) -> None:
    found = read_periods(values)
    assert found is not None
    assert found[0] == grain
    assert found[1][1] - found[1][0] == pytest.approx(distance)


@pytest.mark.parametrize(
    "values",
    [
        [],
        ["north"],
        ["2024", "north"],
        ["2024-13"],
        ["2024-02-30"],
        [3, 4],
        ["1001", "1002"],
        [True],
    ],
)
def test_other_values_are_no_periods(values: list[object]) -> None:
    assert read_periods(values) is None


@given(
    grain=st.sampled_from(["year", "quarter", "month", "week", "day", "moment"]),
    start=st.integers(1950, 2050),
    span=st.integers(0, 3000),
)
def test_ticks_lie_within_the_axis_and_ascend(grain: Grain, start: int, span: int) -> None:
    units = {"year": 1, "quarter": 4, "month": 12, "week": 52, "day": 365, "moment": 365}
    low = float(start * units[grain])
    choices = list(tick_choices(grain, low, low + span))
    assert choices
    for ticks in choices:
        assert low <= ticks[0]
        assert ticks[-1] <= low + span
        assert ticks == sorted(set(ticks))
        assert len(tick_labels(grain, ticks, "zh")) == len(ticks)


def test_larger_period_stands_where_it_begins() -> None:
    months = [2023 * 12 + 10, 2023 * 12 + 11, 2024 * 12]
    assert tick_labels("month", months, "zh") == ["11月\n2023年", "12月", "1月\n2024年"]
    assert tick_labels("quarter", [2024 * 4 + 2, 2024 * 4 + 4], "en") == ["Q3\n2024", "Q1\n2025"]


def test_ticks_at_new_years_and_month_starts_are_named_by_them() -> None:
    assert tick_labels("month", [2023 * 12, 2024 * 12], "en") == ["2023", "2024"]
    starts = [float(date(2024, month, 1).toordinal()) for month in (3, 4)]
    assert tick_labels("day", starts, "en") == ["Mar\n2024", "Apr"]


@pytest.mark.parametrize(("lang", "name"), [("en", "9 Mar 2024"), ("zh", "2024年3月9日")])
def test_days_are_named_in_full(lang: Lang, name: str) -> None:
    assert period_name("day", date(2024, 3, 9).toordinal(), lang) == name


def test_week_is_named_by_its_iso_year() -> None:
    found = read_periods(["2020-W53"])
    assert found is not None
    assert period_name("week", found[1][0], "en") == "W53 2020"


def test_missing_month_is_a_gap_but_a_long_weekend_is_none() -> None:
    assert has_gap("month", 10, 12, step=1)
    assert not has_gap("month", 10, 13, step=3)
    assert not has_gap("day", 10, 14, step=1)
    assert has_gap("day", 10, 16, step=1)


def test_typical_step_is_the_usual_one() -> None:
    assert typical_step([1, 2, 3, 9]) == 1
    assert typical_step([5]) == 1
