from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.analysis.database import (
    SQL_TYPES,
    column_type,
    connect,
    identifier,
    literal,
    plain,
    write_table,
)
from planloom.errors import InputError, ToolError
from planloom.values import TableRef, file_sha256

MOMENT = datetime.fromisoformat("2024-02-29 23:59:59.123456")
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def make_table(folder: Path, query: str, name: str = "source") -> TableRef:
    with connect(writable=folder) as connection:
        return write_table(connection, query, folder / f"{name}.parquet", name=name)


@given(TEXT)
def test_any_text_survives_as_a_literal(text: str) -> None:
    assert duckdb.execute(f"SELECT {literal(text)}").fetchall() == [(text,)]


@given(TEXT.filter(bool))
def test_any_name_survives_as_an_identifier(name: str) -> None:
    described = duckdb.execute(f"DESCRIBE SELECT 1 AS {identifier(name)}").fetchall()
    assert described[0][0] == name


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, -7, 1.5, 1e300, -0.1, Decimal("12.30"), date(2024, 2, 29),
        MOMENT, time(7, 8, 9), float("inf"),
    ],
)  # fmt: skip
def test_scalars_survive_as_literals(value: object) -> None:
    assert duckdb.execute(f"SELECT {literal(value)}").fetchall() == [(value,)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "\ud800"])
def test_a_name_that_sql_cannot_say_is_refused(name: str) -> None:
    with pytest.raises(ToolError):
        identifier(name)


def test_a_table_is_written_whole_and_described(tmp_path: Path) -> None:
    table = make_table(
        tmp_path,
        "SELECT 1::HUGEINT AS h, 'a' AS t, 1.5::DECIMAL(9,2) AS n, DATE '2024-01-02' AS d, "
        "TIMESTAMPTZ '2024-01-01 00:00:00+08' AS z, TRUE AS b, TIME '10:00' AS c, [1, 2] AS l, "
        "NULL AS e",
    )
    types = [column.type for column in table.columns]
    assert types == [
        "integer", "text", "number", "date", "datetime", "boolean", "time", "text", "text",
    ]  # fmt: skip
    assert table.rows == 1
    assert table.sha256 == file_sha256(table.path)
    assert [path.name for path in tmp_path.iterdir()] == ["source.parquet"]
    with connect(table) as connection:
        described = connection.execute('DESCRIBE "source"').fetchall()
        row = connection.execute('SELECT z, l, h FROM "source"').fetchall()[0]
    assert [column_type(line[1]) for line in described] == types
    assert row == (datetime.fromisoformat("2023-12-31 16:00"), "[1, 2]", 1)


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(duckdb.Error):
        make_table(tmp_path, "SELECT error('broken') AS x FROM range(3)")
    assert list(tmp_path.iterdir()) == []


def test_units_go_with_the_columns(tmp_path: Path) -> None:
    with connect(writable=tmp_path) as connection:
        table = write_table(
            connection, "SELECT 1 AS a, 2 AS b", tmp_path / "t.parquet", name="t", units={"b": "$"}
        )
    assert [column.unit for column in table.columns] == ["", "$"]


def test_rows_keep_their_order_and_odd_paths_work(tmp_path: Path) -> None:
    folder = tmp_path / "a[1]*?'year=2024"
    folder.mkdir()
    table = make_table(folder, "SELECT (i * 7919) % 1000003 AS i FROM range(300000) t(i)")
    with connect(table) as connection:
        read = connection.execute("SELECT * FROM source").fetchall()
    assert read == [((i * 7919) % 1000003,) for i in range(300000)]


def test_a_connection_reads_its_tables_and_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    table = make_table(tmp_path, "SELECT 1 AS a")
    (tmp_path / "work").mkdir()
    with connect(table, writable=tmp_path / "work") as connection:
        assert connection.execute("SELECT * FROM source").fetchall() == [(1,)]
        for attempt in (
            f"SELECT * FROM read_csv({literal(str(secret))})",
            f"SELECT * FROM {literal(str(secret))}",
            f"COPY (SELECT 1) TO {literal(str(tmp_path / 'out.csv'))}",
            f"COPY (SELECT 1) TO {literal(str(tmp_path / 'work/../out.csv'))}",
            f"COPY (SELECT 2 AS a) TO {literal(table.path)} (FORMAT parquet)",
            f"ATTACH {literal(str(tmp_path / 'x.db'))}",
            "SELECT * FROM glob('/*')",
            "SELECT * FROM secret",
            "SET enable_external_access = true",
            "SET threads = 1",
            "INSTALL httpfs",
            "LOAD httpfs",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(attempt)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "secret.csv",
        "source.parquet",
        "work",
    ]


def test_a_lost_file_is_named(tmp_path: Path) -> None:
    table = make_table(tmp_path, "SELECT 1 AS a")
    Path(table.path).unlink()
    with pytest.raises(InputError, match=r"source\.parquet"):
        connect(table)


def test_every_column_type_has_an_sql_type() -> None:
    assert all(column_type(sql) == name for name, sql in SQL_TYPES.items())


def test_plain_values_are_json_safe() -> None:
    given_values = [Decimal("1.5"), date(2024, 1, 2), MOMENT, time(4, 5), b"x"]
    assert [plain(value) for value in given_values] == [
        1.5, "2024-01-02", "2024-02-29T23:59:59.123456", "04:05:00", "b'x'",
    ]  # fmt: skip
    assert plain(float("inf")) is None
