"""Trends agree with plain Python: periods, gaps, cut-off ends, changes, series."""

from __future__ import annotations

import random
import statistics
import tempfile
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planloom.analysis.analyses.labels import other_mark
from planloom.analysis.analyses.trend import trend
from planloom.analysis.database import connect
from planloom.analysis.numbers.binding import bind
from planloom.analysis.numbers.checking import unsourced_numbers
from planloom.errors import ToolError

COLUMNS = {"order_date": "DATE", "amount": "DOUBLE"}


def facts(analysis):
    prefix = analysis.facts[0].id.rsplit(".", 1)[0]
    return {fact.id.removeprefix(f"{prefix}."): fact for fact in analysis.facts}


def said(analysis, lang="en"):
    """The findings with their values, as a reader sees them."""
    cited = {fact.id: fact for fact in analysis.facts}
    return [bind(note.text(lang), cited, lang) for note in analysis.findings]


def monthly(values):
    """One row for each month of 2024 that has a value."""
    return [
        (date(2024, month, 1), float(value))
        for month, value in enumerate(values, start=1)
        if value is not None
    ]


def rows_of(analysis, table):
    with connect(table) as connection:
        return connection.execute(analysis.query).fetchall()


def daily(first, last, seed=3):
    """One row a day, about a tenth without an amount."""
    rng = random.Random(seed)
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return [
        (day, None if rng.random() < 0.1 else rng.randrange(100, 9_000) / 4 + number)
        for number, day in enumerate(days)
    ]


def by_month(rows):
    months = defaultdict(list)
    for day, value in rows:
        if value is not None:
            months[f"{day:%Y-%m}"].append(value)
    return months


def test_months_agree_with_plain_python(make_table, check, tmp_path):
    rows = daily(date(2023, 1, 1), date(2025, 3, 17))
    table = make_table(COLUMNS, rows, units={"amount": "$"})
    result = trend(table, date="order_date", value="amount", out=tmp_path)
    check(result, table)
    months = by_month(rows)
    sums = {label: sum(values) for label, values in months.items()}
    assert [row[:3] for row in rows_of(result, table)] == [
        (label, pytest.approx(sums[label]), len(months[label])) for label in sorted(months)
    ]
    whole = {label: value for label, value in sums.items() if label != "2025-03"}
    found = facts(result)
    value = {name: fact.value for name, fact in found.items()}
    assert (value["first_period"], value["last_period"]) == ("2023-01", "2025-02")
    assert value["highest_period"] == max(whole, key=whole.__getitem__)
    assert value["lowest_period"] == min(whole, key=whole.__getitem__)
    first, last = whole["2023-01"], whole["2025-02"]
    assert value["change"] == pytest.approx(last - first)
    assert value["change_pct"] == pytest.approx(100 * (last / first - 1))
    assert value["change_pct_size"] == pytest.approx(abs(100 * (last / first - 1)))
    assert value["latest_pct"] == pytest.approx(100 * (last / whole["2025-01"] - 1))
    assert value["year_on_year_pct"] == pytest.approx(100 * (last / whole["2024-02"] - 1))
    assert value["average"] == pytest.approx(statistics.mean(whole.values()))
    year = sum(whole[label] for label in sorted(whole)[-12:])
    before = sum(whole[label] for label in sorted(whole)[-24:-12])
    assert (value["year_from"], value["year_to"]) == ("2024-03", "2025-02")
    assert value["year"] == pytest.approx(year)
    assert value["year_pct"] == pytest.approx(100 * (year / before - 1))
    assert (value["partial_last_period"], value["last_date"]) == ("2025-03", "2025-03-17")
    assert found["last"].rows == len(months["2025-02"])
    assert (found["last"].unit, found["last_period"].unit) == ("$", "month")
    assert value["no_value"] == sum(amount is None for _, amount in rows)
    changes = [row[3] for row in rows_of(result, table)]
    assert (changes[0], changes[-1]) == (None, None)
    assert changes[1] == pytest.approx(100 * (whole["2023-02"] / first - 1))


@pytest.mark.parametrize(
    ("how", "function"),
    [
        ("mean", statistics.mean),
        ("median", statistics.median),
        ("min", min),
        ("max", max),
        ("count", len),
        ("count_distinct", lambda values: len(set(values))),
    ],
)
def test_other_statistics_agree_with_plain_python(make_table, check, tmp_path, how, function):
    rows = daily(date(2024, 1, 1), date(2024, 9, 30))
    table = make_table(COLUMNS, rows, units={"amount": "$"})
    result = trend(table, date="order_date", value="amount", how=how, out=tmp_path)
    check(result, table)
    months = by_month(rows)
    assert [row[:2] for row in rows_of(result, table)] == [
        (label, pytest.approx(function(months[label]))) for label in sorted(months)
    ]
    assert result.chart is not None
    assert result.chart.unit == ("" if how.startswith("count") else "$")


@pytest.mark.parametrize(
    ("grain", "sql_type", "labels"),
    [
        ("day", "DATE", ("2024-12-30", "2025-01-05")),
        ("week", "DATE", ("2025-W01", "2025-W01")),
        ("month", "TIMESTAMP", ("2024-12", "2025-01")),
        ("quarter", "TIMESTAMP", ("2024-Q4", "2025-Q1")),
        ("year", "DATE", ("2024", "2025")),
    ],
)
def test_labels_of_each_grain(make_table, check, tmp_path, grain, sql_type, labels):
    table = make_table({"日期": sql_type}, [("2024-12-30",), ("2025-01-05",)])
    result = trend(table, date="日期", grain=grain, out=tmp_path)
    check(result, table)
    shown = rows_of(result, table)
    assert (shown[0][0], shown[-1][0]) == labels
    assert result.columns[0].unit == grain


def test_a_sum_is_zero_in_a_gap_and_a_mean_is_empty(make_table, check, tmp_path):
    rows = [(date(2024, month, day), 5.0) for month in (1, 2, 5, 6) for day in (1, 28)]
    table = make_table(COLUMNS, rows)
    args = {"date": "order_date", "value": "amount", "grain": "month", "out": tmp_path}
    total = trend(table, **args)
    mean = trend(table, how="mean", **args)
    check(total, table)
    check(mean, table)
    assert [row[1] for row in rows_of(total, table)] == [10, 10, 0, 0, 10, 10]
    assert [row[1] for row in rows_of(mean, table)] == [5, 5, None, None, 5, 5]
    assert facts(total)["gaps"].value == 2
    assert facts(mean)["empty"].value == 2
    assert any("shown as zero" in note.en for note in total.cautions)
    assert any("Left empty" in note.en for note in mean.cautions)


def test_rows_without_a_value_are_not_zero(make_table, check, tmp_path):
    rows = [(date(2024, 1, 1), 5.0), (date(2024, 2, 1), None), (date(2024, 3, 1), 7.0)]
    table = make_table(COLUMNS, rows)
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    assert [row[1] for row in rows_of(result, table)] == [5, None, 7]


def test_no_percentage_of_a_base_that_is_not_positive(make_table, check, tmp_path):
    values = (-5.0, 3.0, 0.0, 4.0)
    rows = [(date(2024, month, 1), value) for month, value in enumerate(values, start=1)]
    table = make_table(COLUMNS, rows)
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    found = facts(result)
    assert (found["change"].value, found["latest"].value) == (9.0, 4.0)
    assert not any(name.endswith("_pct") for name in found)
    assert any("No percentage" in note.en for note in result.cautions)
    assert [row[3] for row in rows_of(result, table)] == [None, None, -100.0, None]


def test_a_fall_is_told_as_a_fall_by_its_size(make_table, check, tmp_path):
    rows = [(date(2024, month, 1), 100.0 - 10 * month) for month in range(1, 9)]
    table = make_table(COLUMNS, rows)
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    assert "fell by {{trend.amount.month.change_pct_size}}" in result.findings[0].text("en")
    assert "降至" in result.findings[0].text("zh")
    assert facts(result)["change_pct"].value < 0 < facts(result)["change_pct_size"].value
    assert (facts(result)["moved"].value, facts(result)["steps"].value) == (7, 7)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(None, 1.0)],
        [(date(2024, 3, 9), None)],
        [(date(2024, 3, 9), 2.0)],
        [(date(2024, 3, 9), 2.0), (date(2024, 3, 9), 3.0)],
        [(date(2024, 3, 9), 2.0), (date(2024, 3, 10), 2.0)],
        [(date(2024, 1, 31), 2.0), (date(2024, 2, 29), 2.0)],
        [(date(9999, 12, 31), 2.0), (date(9998, 1, 1), 2.0)],
    ],
)
def test_little_or_nothing_is_no_error(make_table, check, tmp_path, rows):
    table = make_table({**COLUMNS, "region": "VARCHAR"}, [(*row, "x") for row in rows])
    for how, by in (("sum", None), ("mean", "region")):
        args = {"value": "amount", "how": how, "by": by, "grain": "month"}
        result = trend(table, date="order_date", **args, out=tmp_path)
        check(result, table)
        assert result.chart is None or result.rows > 1


def test_one_period_gives_its_level(make_table, check, tmp_path):
    rows = [(date(2024, 3, day), float(day)) for day in range(1, 11)]
    table = make_table(COLUMNS, rows)
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    assert facts(result)["whole"].value == 55.0
    assert len(result.findings) == 1


@pytest.mark.parametrize(
    ("values", "en", "zh"),
    [
        (
            (3, 9, 9, 5),
            "The highest value, 9, is reached in 2 months, first in February 2024; the lowest "
            "month is January 2024 with 3; the average of the 4 months is 6.5.",
            "最高值9出现在2个月，最早为2024年2月；最低的月份是2024年1月（3）；4个月平均为6.5。",
        ),
        (
            (3, 9, 3, 5),
            "The highest month is February 2024 with 9; the lowest value, 3, is reached in 2 "
            "months, first in January 2024; the average of the 4 months is 5.",
            "最高的月份是2024年2月（9）；最低值3出现在2个月，最早为2024年1月；4个月平均为5。",
        ),
        (
            (3, 9, None, 6),
            "The highest month is February 2024 with 9, the lowest January 2024 with 3; the "
            "average of the 3 months with rows is 6.",
            "最高的月份是2024年2月（9），最低的是2024年1月（3）；有记录的3个月平均为6。",
        ),
    ],
    ids=["highest tied", "lowest tied", "gap"],
)
def test_extremes_are_of_periods_with_rows_and_told_with_their_equals(
    make_table, check, tmp_path, values, en, zh
):
    table = make_table(COLUMNS, monthly(values))
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    english, chinese = said(result), said(result, "zh")
    assert (en in english, zh in chinese) == (True, True), (english, chinese)
    for lang, texts in (("en", english), ("zh", chinese)):
        assert unsourced_numbers("\n".join(texts), facts=result.facts, lang=lang) == ()


def test_a_gap_is_compared_with_nothing(make_table, check, tmp_path):
    table = make_table(COLUMNS, monthly((9, 8, 7, 6, 5, 4, 3, None, 2)))
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    assert not any("August" in text or " steps " in text for text in said(result))


@pytest.mark.parametrize("end", [-5, -50])
def test_a_change_of_sign_has_an_amount_and_no_percentage(make_table, check, tmp_path, end):
    table = make_table(COLUMNS, monthly((25, 20, end)))
    result = trend(table, date="order_date", value="amount", grain="month", out=tmp_path)
    check(result, table)
    texts = said(result)
    assert f"fell by {25 - end}, from 25 in January 2024 to" in texts[0]
    assert f"fell by {20 - end}." in texts[1]
    assert not any("%" in text for text in (*texts, *said(result, "zh")))
    assert rows_of(result, table)[-1][3] is None
    assert not any("No percentage" in note.en for note in result.cautions)


def test_a_single_day_is_told_once(make_table, check, tmp_path):
    table = make_table(COLUMNS, [(date(2024, 1, 31), 2.0)])
    result = trend(table, date="order_date", value="amount", out=tmp_path)
    check(result, table)
    assert said(result) == ["On 31 January 2024, the total amount is 2."]
    assert said(result, "zh") == ["2024年1月31日amount合计为2。"]


def test_series_that_are_level_are_told_as_level(make_table, check, tmp_path):
    rows = [(date(2024, month, 1), float(month), name) for month in (1, 2, 3) for name in "abc"] + [
        (date(2024, month, 1), 5.0 - month, name) for month in (1, 2, 3) for name in "de"
    ]
    table = make_table({**COLUMNS, "region": "VARCHAR"}, rows)
    args = {"value": "amount", "by": "region", "grain": "month"}
    result = trend(table, date="order_date", **args, out=tmp_path)
    check(result, table)
    texts = said(result)
    assert any("d and 1 other share first place" in text for text in texts)
    assert any("a and 2 others gained most" in text for text in texts)
    assert any("d and 1 other lost most" in text for text in texts)


def test_series_are_the_largest_categories_and_the_rest(make_table, check, tmp_path):
    rows = [
        (date(2024, month, day), float(10 * number * month), f"类{number}" if number else None)
        for month in range(1, 7)
        for day in (1, 28)
        for number in range(9)
    ]
    table = make_table({**COLUMNS, "类别": "VARCHAR"}, rows, units={"amount": "¥"})
    args = {"date": "order_date", "value": "amount", "by": "类别", "grain": "month"}
    result = trend(table, **args, out=tmp_path)
    check(result, table)
    series = ("类8", "类7", "类6", "类5", "类4", other_mark(4))
    assert result.column_names == ("period", *series, "rows")
    assert result.chart is not None
    assert result.chart.y == series
    may = rows_of(result, table)[4]
    assert may[:7] == ("2024-05", 800, 700, 600, 500, 400, 2 * 50 * (1 + 2 + 3))
    found = facts(result)
    assert found["largest_label"].value == found["gained_label"].value == "类8"
    assert found["largest_share"].value == pytest.approx(100 * 8 / 36)
    assert (found["gained_from"].value, found["gained_to"].value) == (160, 960)


def test_series_names_that_differ_in_case_only_do_not_clash(make_table, check, tmp_path):
    rows = [
        (date(2024, month, 1), 1.0, name)
        for month in (1, 2, 3)
        for name in ("East", "east", "", "period", None)
    ]
    table = make_table({**COLUMNS, "region": "VARCHAR"}, rows)
    args = {"value": "amount", "by": "region", "grain": "month"}
    result = trend(table, date="order_date", **args, out=tmp_path)
    check(result, table)
    assert [row[1:6] for row in rows_of(result, table)] == [(1, 1, 1, 1, 1)] * 3


def test_two_date_columns_give_two_sets_of_ids(make_table, tmp_path):
    columns = {"ordered": "DATE", "shipped": "DATE"}
    rows = [(date(2024, month, 1), date(2024, month, 2)) for month in range(1, 9)]
    table = make_table(columns, rows)
    one = trend(table, date="ordered", grain="month", out=tmp_path)
    two = trend(table, date="shipped", grain="month", out=tmp_path)
    assert not {fact.id for fact in one.facts} & {fact.id for fact in two.facts}
    assert one.facts[0].id == "trend.rows.on-ordered.month.first_period"


def test_titles_read_well(make_table, tmp_path):
    rows = [(date(2024, month, 1), 1.0) for month in range(1, 9)]
    table = make_table({"日期": "DATE", "金额": "DOUBLE"}, rows)
    result = trend(table, date="日期", value="金额", grain="month", out=tmp_path)
    assert (result.title.text("en"), result.title.text("zh")) == ("Monthly 金额", "每月金额")
    mean = trend(table, date="日期", value="金额", how="mean", grain="quarter", out=tmp_path)
    assert mean.title.text("zh") == "每季度平均金额"


def test_wrong_arguments_are_told(make_table, tmp_path):
    table = make_table(COLUMNS, [(date(1900, 1, 1), 1.0), (date(2024, 1, 1), 2.0)])
    with pytest.raises(ToolError, match=r"of type number and holds no dates.*'order_date'"):
        trend(table, date="amount", out=tmp_path)
    with pytest.raises(ToolError, match="grain='hour' is unknown"):
        trend(table, date="order_date", grain="hour", out=tmp_path)
    with pytest.raises(ToolError, match="Use a coarser grain"):
        trend(table, date="order_date", grain="day", out=tmp_path)
    with pytest.raises(ToolError, match="Did you mean 'order_date'"):
        trend(table, date="orderdate", out=tmp_path)


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(
        st.tuples(
            st.dates(date(2024, 1, 1), date(2024, 12, 31)),
            st.one_of(st.none(), st.integers(-1000, 1000)),
        ),
        min_size=1,
        max_size=30,
    ),
    grain=st.sampled_from(["week", "month", "quarter"]),
)
def test_every_period_is_there_once_and_the_sums_add_up(make_table, check, rows, grain):
    table = make_table({"order_date": "DATE", "amount": "INTEGER"}, rows)
    with tempfile.TemporaryDirectory() as folder:
        result = trend(table, date="order_date", value="amount", grain=grain, out=Path(folder))
        check(result, table)
        shown = rows_of(result, table)
    labels = [row[0] for row in shown]
    days = [day for day, _ in rows]
    assert labels == sorted(set(labels))
    assert len(labels) == periods_between(min(days), max(days), grain)
    assert sum(row[1] or 0 for row in shown) == sum(value or 0 for _, value in rows)
    assert sum(row[2] for row in shown) == sum(value is not None for _, value in rows)


def periods_between(first, last, grain):
    """Count by walking the days."""
    names = {
        "week": lambda day: day.isocalendar()[:2],
        "month": lambda day: day.month,
        "quarter": lambda day: (day.month - 1) // 3,
    }
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return len({names[grain](day) for day in days})
