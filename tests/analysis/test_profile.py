import json
import statistics
from collections import Counter
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pytest

from planloom.analysis.database import connect, identifier, write_table
from planloom.analysis.profile import profile_table
from planloom.values import TableRef


def make_table(folder: Path, query: str) -> TableRef:
    with connect(writable=folder) as connection:
        return write_table(connection, query, folder / "source.parquet", name="source")


NUMBERS = """
    SELECT i AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE (i * 7919 % 1000) / 4.0 - 50 END AS amount,
        i % 5 - 2 AS step, ['x', 'y', 'z'][1 + i % 3] AS kind,
        DATE '2024-01-01' + (i * 37 % 300)::INTEGER AS day
    FROM range(1, 501) t(i)"""
AMOUNTS = [(i * 7919 % 1000) / 4.0 - 50 for i in range(1, 501) if i % 7]


def test_figures_of_a_measure_agree_with_an_independent_computation(tmp_path: Path) -> None:
    amount = profile_table(make_table(tmp_path, NUMBERS)).column("amount")
    q1, median, q3 = statistics.quantiles(AMOUNTS, n=4, method="inclusive")
    reach = 1.5 * (q3 - q1)
    assert amount.missing == 500 - len(AMOUNTS)
    assert amount.distinct == len(set(AMOUNTS))
    assert (amount.min, amount.max) == (min(AMOUNTS), max(AMOUNTS))
    assert amount.mean == pytest.approx(statistics.fmean(AMOUNTS), rel=1e-12)
    assert amount.std == pytest.approx(statistics.stdev(AMOUNTS), rel=1e-12)
    assert (amount.q1, amount.median, amount.q3) == (q1, median, q3)
    assert amount.outliers == sum(x < q1 - reach or x > q3 + reach for x in AMOUNTS)
    assert amount.negatives == sum(x < 0 for x in AMOUNTS)
    assert amount.zeros == AMOUNTS.count(0)


def test_outliers_lie_beyond_the_fences(tmp_path: Path) -> None:
    query = "SELECT unnest([1, 2, 2, 3, 3, 3, 4, 4, 5, 100, -80]) AS n"
    assert profile_table(make_table(tmp_path, query)).columns[0].outliers == 2


def test_frequent_values_come_with_their_counts(tmp_path: Path) -> None:
    profile = profile_table(make_table(tmp_path, NUMBERS))
    kinds = Counter("xyz"[i % 3] for i in range(1, 501))
    expected = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    assert list(profile.column("kind").top) == expected
    assert profile.column("id").top == ()


def test_dates_are_shown_as_iso_text(tmp_path: Path) -> None:
    day = profile_table(make_table(tmp_path, NUMBERS)).column("day")
    days = [date(2024, 1, 1).toordinal() + i * 37 % 300 for i in range(1, 501)]
    assert day.min == date.fromordinal(min(days)).isoformat()
    assert day.max == date.fromordinal(max(days)).isoformat()
    assert day.distinct == len(set(days))
    assert day.mean is None


def test_keys_are_unique_columns_that_are_no_measures(tmp_path: Path) -> None:
    profile = profile_table(make_table(tmp_path, NUMBERS))
    assert profile.keys == ("id",)
    assert [each.name for each in profile.columns if each.is_unique] == ["id"]


def test_a_profile_is_json_safe(tmp_path: Path) -> None:
    query = (
        "SELECT TIME '10:00' AS t, TIMESTAMP '2024-01-01 10:00' AS ts, 1.5::DECIMAL(9,2) AS n, "
        "TRUE AS b, 'inf'::DOUBLE AS x, NULL AS e"
    )
    profile = profile_table(make_table(tmp_path, query))
    assert json.loads(json.dumps(asdict(profile), allow_nan=False))["rows"] == 1


def test_nan_is_missing_and_infinities_do_not_spoil_the_figures(tmp_path: Path) -> None:
    query = "SELECT unnest(['nan', 'inf', '1', '3', NULL])::DOUBLE AS x"
    column = profile_table(make_table(tmp_path, query)).columns[0]
    assert (column.missing, column.mean, column.max) == (2, 2, 3)


def test_huge_numbers_do_not_stop_the_profile(tmp_path: Path) -> None:
    query = "SELECT unnest([1e308, -1e308, 1.7e308]) AS x"
    column = profile_table(make_table(tmp_path, query)).columns[0]
    assert column.max == 1.7e308
    assert column.std is None


def test_duplicate_rows_are_counted_beyond_the_first(tmp_path: Path) -> None:
    query = "SELECT unnest([1, 1, 1, 2, NULL, NULL]) AS a, unnest(['x','x','x','x','y','y']) AS b"
    assert profile_table(make_table(tmp_path, query)).duplicate_rows == 3


@pytest.mark.parametrize(
    ("query", "rows", "meanings"),
    [
        ("SELECT 1 AS a, 'x' AS b WHERE FALSE", 0, ["empty", "empty"]),
        ("SELECT NULL::INTEGER AS a, NULL::VARCHAR AS b FROM range(3)", 3, ["empty", "empty"]),
        ("SELECT 7 AS a", 1, ["measure"]),
    ],
)
def test_tables_with_little_in_them(
    tmp_path: Path, query: str, rows: int, meanings: list[str]
) -> None:
    profile = profile_table(make_table(tmp_path, query))
    assert profile.rows == rows
    assert [each.meaning for each in profile.columns] == meanings
    assert all(each.zeros in (0, None) for each in profile.columns)


def test_two_thousand_columns_are_profiled(tmp_path: Path) -> None:
    columns = ", ".join(f"i + {k} AS c{k}" for k in range(2000))
    profile = profile_table(make_table(tmp_path, f"SELECT {columns} FROM range(4) t(i)"))
    assert len(profile.columns) == 2000
    assert profile.columns[1999].mean == 2000.5


def test_big_tables_say_which_counts_are_estimates(tmp_path: Path) -> None:
    query = (
        "SELECT i AS id, i % 50 AS few, hash(i) % 100000 / 7.0 AS x, 'k' || i AS code "
        "FROM range(250000) t(i)"
    )
    profile = profile_table(make_table(tmp_path, query))
    assert (profile.column("id").distinct, profile.column("id").is_unique) == (250_000, True)
    assert (profile.column("few").distinct, profile.column("few").distinct_exact) == (50, True)
    assert not profile.column("x").distinct_exact
    assert profile.column("x").distinct == pytest.approx(91_800, rel=0.1)
    assert profile.keys == ("id", "code")


def test_names_cannot_break_out_of_the_sql(tmp_path: Path) -> None:
    name = 'a"), (SELECT 1) --\n\'"'
    profile = profile_table(make_table(tmp_path, f"SELECT 1 AS {identifier(name)}"))
    assert profile.columns[0].name == name
    assert profile.columns[0].max == 1
