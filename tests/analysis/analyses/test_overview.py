"""What an overview states agrees with a count in plain Python."""

from __future__ import annotations

import statistics
from datetime import date
from pathlib import Path

import pytest

from planloom.analysis.analyses.overview import overview
from planloom.analysis.database import connect
from planloom.errors import ToolError

ROWS = [
    ("华东", 10.5, 3, date(2024, 1, 5)),
    ("华南", -2.25, 1, date(2024, 3, 1)),
    (None, None, 2, None),
    ("华东", 40.0, 7, date(2023, 12, 31)),
]
COLUMNS = {"地区": "VARCHAR", "金额": "DOUBLE", "数量": "INTEGER", "下单日期": "DATE"}


def facts(analysis):
    return {fact.id: fact for fact in analysis.facts}


def rows_of(analysis, table):
    with connect(table) as connection:
        return connection.execute(analysis.query).fetchall()


def test_statistics_agree_with_plain_python(make_table, check, tmp_path):
    table = make_table(COLUMNS, ROWS, units={"金额": "¥"})
    result = overview(
        table, measures=["金额", "数量"], date="下单日期", categories=["地区"], out=tmp_path
    )
    check(result, table)
    found = facts(result)
    amounts = [row[1] for row in ROWS if row[1] is not None]
    assert found["overview.rows"].value == 4
    assert found["overview.金额.total"].value == sum(amounts)
    assert found["overview.金额.total"].unit == "¥"
    assert found["overview.金额.total"].rows == 3
    assert found["overview.金额.mean"].value == pytest.approx(statistics.mean(amounts))
    assert found["overview.金额.median"].value == statistics.median(amounts)
    assert (found["overview.金额.min"].value, found["overview.金额.max"].value) == (-2.25, 40.0)
    assert found["overview.数量.median"].value == statistics.median([3, 1, 2, 7])
    assert found["overview.金额.missing"].value == 1
    assert found["overview.地区.distinct"].value == 2
    first, last = found["overview.下单日期.first"], found["overview.下单日期.last"]
    assert (first.value, last.value, first.unit) == ("2023-12-31", "2024-03-01", "day")
    assert result.column_names == (
        "column", "unit", "values", "missing", "total", "mean", "median", "min", "max",
    )  # fmt: skip
    assert rows_of(result, table)[0] == (
        "金额", "¥", 3, 1, 48.25, pytest.approx(48.25 / 3), 10.5, -2.25, 40.0,
    )  # fmt: skip


def test_period_of_moments_is_told_in_days(make_table, check, tmp_path):
    rows = [("2024-01-01 23:59",), ("2024-02-01 00:01",)]
    table = make_table({"at": "TIMESTAMP"}, rows)
    result = overview(table, date="at", out=tmp_path)
    check(result, table)
    assert facts(result)["overview.at.last"].value == "2024-02-01"


@pytest.mark.parametrize("rows", [[], [(None, None, None, None)]])
def test_table_without_values_gives_only_the_row_count(make_table, check, tmp_path, rows):
    table = make_table(COLUMNS, rows)
    result = overview(table, measures=["金额"], date="下单日期", categories=["地区"], out=tmp_path)
    check(result, table)
    assert [note.text("en") for note in result.findings] == [
        "The data holds {{overview.rows|row|rows}}."
    ]


def test_values_that_are_no_numbers_count_as_missing(make_table, check, tmp_path):
    table = make_table({"amount": "DOUBLE"}, [("1.5",), ("nan",), ("inf",), (None,)])
    result = overview(table, measures=["amount"], out=tmp_path)
    check(result, table)
    assert facts(result)["overview.amount.total"].value == 1.5
    assert facts(result)["overview.amount.missing"].value == 3
    assert rows_of(result, table)[0][1:4] == (1, 3, 1.5)


def test_rates_have_no_total(make_table, check, tmp_path):
    columns = {"discount": "DOUBLE", "unit_price": "DOUBLE"}
    table = make_table(columns, [(5.0, 2.0), (10.0, 3.0)], units={"discount": "%"})
    result = overview(table, measures=["discount", "unit_price"], out=tmp_path)
    check(result, table)
    assert not any(each.endswith("total") for each in facts(result))
    assert [row[4] for row in rows_of(result, table)] == [None, None]


def test_skewed_measure_is_pointed_out(make_table, check, tmp_path):
    table = make_table({"amount": "INTEGER"}, [(value,) for value in (1, 1, 2, 2, 100)])
    result = overview(table, measures=["amount"], out=tmp_path)
    check(result, table)
    assert any("few large values" in note.en for note in result.findings)


def test_without_arguments_every_column_is_described(make_table, check, tmp_path):
    table = make_table(COLUMNS, ROWS)
    result = overview(table, out=tmp_path)
    check(result, table)
    assert rows_of(result, table) == [
        ("地区", 3, 1, 2), ("金额", 3, 1, 3), ("数量", 4, 0, 4), ("下单日期", 3, 1, 3),
    ]  # fmt: skip


def test_decimals_add_up_without_noise(make_table, tmp_path):
    table = make_table({"amount": "DECIMAL(10,2)"}, [("0.10",), ("0.20",)])
    result = overview(table, measures=["amount"], out=tmp_path)
    assert facts(result)["overview.amount.total"].value == 0.3


def test_facts_of_one_column_are_the_same_in_every_overview(make_table, tmp_path):
    table = make_table(COLUMNS, ROWS)
    one = overview(table, measures=["金额"], out=tmp_path / "one")
    both = overview(table, measures=["金额", "数量"], out=tmp_path / "both")
    assert facts(one).items() <= facts(both).items()
    assert one.name != both.name


def test_text_is_no_measure(make_table, tmp_path: Path):
    table = make_table(COLUMNS, ROWS)
    with pytest.raises(ToolError, match=r"'地区' is of type text.*'金额', '数量'"):
        overview(table, measures=["地区"], out=tmp_path)
    with pytest.raises(ToolError, match="no column '金'"):
        overview(table, measures=["金"], out=tmp_path)


def test_a_single_day_is_told_once(make_table, check, tmp_path):
    table = make_table({"day": "DATE", "n": "INTEGER"}, [(date(2024, 1, 31), 1)] * 2)
    result = overview(table, measures=["n"], date="day", out=tmp_path)
    check(result, table)
    assert "runs from" not in result.findings[0].text("en")
