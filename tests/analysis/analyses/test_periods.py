"""Calendar arithmetic, the choice of a grain, and the recognition of cut-off periods."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.analysis.analyses.periods import (
    GRAINS,
    Grain,
    Seen,
    choose_grain,
    count_periods,
    incomplete_ends,
    next_start,
)

DAYS = st.dates(date(1990, 1, 1), date(2090, 12, 31))


def start_of(day: date, grain: Grain) -> date:
    match grain:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
        case "year":
            return date(day.year, 1, 1)


@given(day=DAYS, grain=st.sampled_from(GRAINS), steps=st.integers(0, 60))
def test_counting_periods_agrees_with_walking_them(day, grain, steps):
    start = start_of(day, grain)
    for _ in range(steps):
        start = next_start(start, grain)
    assert start == start_of(start, grain)
    assert count_periods(day, max(day, start), grain) == steps + 1


def test_the_end_of_time_has_an_end():
    assert next_start(date(9999, 12, 1), "month") == date.max


def filled(days):
    return {grain: len({start_of(day, grain) for day in days}) for grain in GRAINS}


@pytest.mark.parametrize(
    ("days", "grain"),
    [
        ([date(2024, 1, 1) + timedelta(days=n) for n in range(30)], "day"),
        ([date(2024, 1, 1) + timedelta(days=n) for n in range(100)], "week"),
        ([date(2024, 1, 1) + timedelta(days=n) for n in range(600)], "month"),
        ([date(2015, 1, 1) + timedelta(days=n) for n in range(3000)], "quarter"),
        ([date(2000, 1, 1) + timedelta(days=n) for n in range(9000)], "year"),
        ([date(year, 12, 31) for year in range(2018, 2025)], "year"),
        ([date(2024, month, 1) for month in range(1, 5)], "month"),
        ([date(2024, 1, 1)], "day"),
    ],
)
def test_grain_shows_the_data_in_a_readable_number_of_points(days, grain):
    assert choose_grain(min(days), max(days), filled(days)) == grain


def seen(*bounds: tuple[date, date], grain: Grain = "month") -> list[Seen]:
    return [
        Seen(
            start=start_of(first, grain),
            first=datetime.combine(first, datetime.min.time()),
            last=datetime.combine(last, datetime.min.time()),
        )
        for first, last in bounds
    ]


def month(number: int, first: int, last: int) -> tuple[date, date]:
    return date(2024, number, first), date(2024, number, last)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([month(1, 1, 31), month(2, 1, 29), month(3, 1, 17)], (False, True)),
        ([month(1, 12, 31), month(2, 1, 29), month(3, 1, 31)], (True, False)),
        # Figures dated on the first of the month are whole.
        ([month(1, 1, 1), month(2, 1, 1), month(3, 1, 1)], (False, False)),
        # Weekdays only: months end a day or two early.
        ([month(1, 2, 31), month(2, 1, 29), month(3, 1, 29), month(4, 1, 30)], (True, False)),
        # One outage does not make the last, half month look usual.
        ([month(1, 1, 31), month(2, 1, 8), month(3, 1, 31), month(4, 1, 12)], (False, True)),
        ([month(3, 9, 12)], (False, False)),
        ([], (False, False)),
    ],
)
def test_cut_off_periods_are_recognised(bounds, expected):
    assert incomplete_ends(seen(*bounds), "month") == expected


def test_a_year_that_begins_after_the_holidays_is_whole():
    years = seen(
        (date(2022, 1, 3), date(2022, 12, 31)), (date(2023, 1, 1), date(2023, 9, 30)), grain="year"
    )
    assert incomplete_ends(years, "year") == (False, True)


def test_a_day_that_stops_at_noon_is_cut_off():
    days = [
        Seen(
            start=date(2024, 3, day),
            first=datetime.combine(date(2024, 3, day), datetime.min.time()),
            last=datetime.combine(date(2024, 3, day), datetime.min.time()).replace(hour=hour),
        )
        for day, hour in ((1, 22), (2, 21), (3, 22), (4, 11))
    ]
    assert incomplete_ends(days, "day") == (False, True)
