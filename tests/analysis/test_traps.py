from datetime import date
from pathlib import Path

import pytest

from planloom.analysis.database import connect, write_table
from planloom.analysis.profile import profile_table
from planloom.analysis.traps import Trap, find_traps


def traps(folder: Path, query: str, today: date | None = None) -> tuple[Trap, ...]:
    with connect(writable=folder) as connection:
        table = write_table(connection, query, folder / "source.parquet", name="source")
    return find_traps(table, profile_table(table), today=today)


def kinds(folder: Path, query: str, today: date | None = None) -> list[str]:
    return [trap.kind for trap in traps(folder, query, today)]


def with_copies(query: str, copies: int = 12) -> str:
    return f"({query}) UNION ALL (SELECT * FROM ({query}) LIMIT {copies} OFFSET 40)"


ORDERS = """SELECT i AS order_id, DATE '2024-01-01' + (hash(i) % 365)::INTEGER AS day,
    'P' || hash(i + 1) % 20 AS product, (hash(i + 2) % 5 + 1)::INTEGER AS qty
    FROM range(1000) t(i)"""
SALES = """SELECT DATE '2024-01-01' + (hash(i) % 365)::INTEGER AS day,
    'City ' || hash(i + 1) % 6 AS city, 'P' || hash(i + 2) % 5 AS product,
    (hash(i + 3) % 90000)::INTEGER / 100.0 AS amount FROM range(1000) t(i)"""
GRID = """SELECT TIMESTAMP '2024-01-01' + INTERVAL 1 MINUTE * (i // 5) AS time,
    'sensor ' || i % 5 AS sensor, (hash(i) % 100)::INTEGER / 10.0 AS temperature
    FROM range(3000) t(i)"""


@pytest.mark.parametrize("query", [ORDERS, SALES, GRID])
def test_planted_copies_are_found(tmp_path: Path, query: str) -> None:
    found = [trap for trap in traps(tmp_path, with_copies(query)) if trap.kind == "duplicate_rows"]
    assert [trap.rows for trap in found] == [12]


@pytest.mark.parametrize(
    "query",
    [
        # A survey without ids.
        """SELECT ['m', 'f'][1 + (hash(i) % 2)::INT] AS sex, (18 + hash(i + 1) % 60)::INT AS age,
           (hash(i + 2) % 5)::INT AS q1, 3 AS q2 FROM range(600) t(i)""",
        # Coarse readings without a time.
        """SELECT (hash(i) % 30)::INT / 2.0 AS temperature, (hash(i + 1) % 40)::INT AS humidity
           FROM range(500) t(i)""",
        # A café: the day, what was sold, at one price.
        """SELECT DATE '2024-01-01' + (hash(i) % 365)::INT AS day,
           'P' || hash(i + 1) % 20 AS product,
           (hash(i + 1) % 20)::INT * 1.5 + 2 AS price FROM range(1000) t(i)""",
        # Passengers of flights.
        """SELECT DATE '2024-01-01' + (hash(i) % 90)::INT AS flight_date,
           'PL' || hash(i + 1) % 40 AS flight, ['Y', 'C'][1 + (hash(i + 2) % 2)::INT] AS class,
           (hash(i + 1) % 40)::INT * 10.0 + 99 AS fare FROM range(2000) t(i)""",
        # Two columns of categories.
        """SELECT 'Customer ' || hash(i) % 9 AS customer, 'Country ' || hash(i) % 3 AS country
           FROM range(10) t(i)""",
    ],
)
def test_records_that_happen_to_be_equal_are_no_copies(tmp_path: Path, query: str) -> None:
    assert "duplicate_rows" not in kinds(tmp_path, query)


def test_equal_rows_that_are_kept_are_mentioned(tmp_path: Path) -> None:
    query = """SELECT DATE '2024-01-01' + (hash(i) % 365)::INT AS day,
        'P' || hash(i + 1) % 20 AS product, 2.5 AS price FROM range(600) t(i)"""
    assert "equal_rows" in kinds(tmp_path, query)


def test_spellings_of_one_value_are_found(tmp_path: Path) -> None:
    query = """SELECT unnest(['Beijing', 'beijing', 'BEIJING ', 'Ｂeijing', 'Beijing', 'Shanghai',
        'Shanghai', 'Beijing', '北京', '北 京']) AS city"""
    spelling = traps(tmp_path, query)[0]
    assert spelling.kind == "spelling"
    assert spelling.rows == 4
    assert set(spelling.values) == {"Beijing", "beijing", "BEIJING", "Ｂeijing", "北京", "北 京"}


@pytest.mark.parametrize(
    "values",
    [
        "'AA', 'Aa', 'aa', 'AA', 'aa', 'Aa'",
        "'mW', 'MW', 'mW', 'MW'",
        "'New York', 'Newark', 'York'",
    ],
)
def test_different_values_are_no_spellings_of_one(tmp_path: Path, values: str) -> None:
    assert kinds(tmp_path, f"SELECT unnest([{values}, {values}]) AS city") == []


@pytest.mark.parametrize(
    ("query", "mark"),
    [
        ("SELECT unnest([34, 51, -999, 28, -999, 44]) AS age", "-999"),
        ("SELECT unnest([3, 5, -1, 2, -1, 4]) AS visits", "-1"),
        ("SELECT unnest([9.5, 14.25, 9999, 21.0, 9999]) AS height", "9999"),
        ("SELECT unnest(['2024-01-02', '2024-03-01', '9999-12-31', '9999-12-31'])::DATE AS day",
         "9999-12-31"),
    ],
)  # fmt: skip
def test_marks_for_missing_values_are_found(tmp_path: Path, query: str, mark: str) -> None:
    assert [trap.values for trap in traps(tmp_path, query)] == [(mark,)]


@pytest.mark.parametrize(
    "values", ["-3, -2, -1, 0, 1, -1, -3", "998, 997, 999, 999, 995", "-1, 0.5, -0.25, -1, 0.75"]
)
def test_ordinary_values_are_no_marks(tmp_path: Path, values: str) -> None:
    assert kinds(tmp_path, f"SELECT unnest([{values}]) AS reading") == []


def test_dates_after_today_are_found_unless_they_are_plans(tmp_path: Path) -> None:
    query = """SELECT unnest(['2024-01-02', '2024-03-01', '2031-01-01'])::DATE AS order_date,
        unnest(['2024-01-02', '2024-03-01', '2031-01-01'])::DATE AS due_date"""
    found = traps(tmp_path, query, date(2024, 6, 1))
    assert [(trap.kind, trap.column, trap.rows) for trap in found] == [
        ("future_dates", "order_date", 1)
    ]
    assert kinds(tmp_path, query) == []


def test_constant_columns_are_found(tmp_path: Path) -> None:
    found = traps(tmp_path, "SELECT i AS id, 'CNY' AS currency FROM range(5) t(i)")
    assert [(trap.kind, trap.values) for trap in found] == [("constant", ("currency",))]


def test_totals_that_add_up_and_others_are_told_apart(tmp_path: Path) -> None:
    query = """SELECT * FROM (VALUES ('A', 1), ('B', 2), ('Subtotal', 3), ('C', 4), ('D', 9),
        ('Grand total', 99)) AS t(product, qty)"""
    found = [(trap.kind, trap.values, trap.row_numbers) for trap in traps(tmp_path, query)]
    assert found == [
        ("total_rows", ("Subtotal",), (3,)), ("unconfirmed_totals", ("Grand total",), (6,)),
    ]  # fmt: skip


def test_every_trap_reads_in_both_languages(tmp_path: Path) -> None:
    query = """SELECT * FROM (VALUES ('A', 1, 'k'), ('a-b', 2, 'k'), ('Total', 3, 'k'),
        ('Sum', 98, 'k'), ('A-B', -999, 'k'), ('A-b', -999, 'k')) AS t(product, qty, unit)"""
    for trap in traps(tmp_path, query):
        assert "{" not in trap.text.text("en") + trap.text.text("zh")


@pytest.mark.parametrize(
    "query", ["SELECT 1 AS a WHERE FALSE", "SELECT NULL AS a FROM range(4)", "SELECT 'Total' AS a"]
)
def test_tables_with_little_in_them_have_no_copies_or_totals_to_drop(
    tmp_path: Path, query: str
) -> None:
    assert not {"total_rows", "duplicate_rows"} & set(kinds(tmp_path, query))
