"""The figures that describe a table: for each column its kind, range, spread and common values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from planloom.analysis.database import connect, identifier, literal, plain, scan
from planloom.analysis.meanings import MEASURES, Evidence, Meaning, meaning_of
from planloom.notes import Scalar
from planloom.values import Column, ColumnType, TableRef

EXACT_ROWS = 200_000
"""Up to this many rows (and `EXACT_COLUMNS` columns) every count of distinct values is exact."""
EXACT_COLUMNS = 500
_COUNTED_DISTINCT = 10_000
"""Columns with fewer distinct values get exact counts in tables of any size."""
_KEYS_COUNTED = 2
HASH = '"planloom row hash"'
"""Quoted name of a helper column."""
_TOP = 5
_SAMPLE_CELLS = 500_000
_BATCH = 50  # DuckDB's time for one query grows faster than its number of aggregates
_NUMERIC: frozenset[ColumnType] = frozenset({"integer", "number"})


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """What is known of one column. Every figure is over the values that are not missing."""

    name: str
    type: ColumnType
    unit: str
    meaning: Meaning
    missing: int
    """Rows without a value; NaN counts as none."""
    distinct: int
    distinct_exact: bool
    """False when `distinct` is an estimate (HyperLogLog, a few percent off), as in big tables."""
    is_unique: bool
    """No value is missing or occurs twice; never said of an estimate."""
    min: Scalar
    """Least value; ISO text for dates and times, None for text."""
    max: Scalar
    mean: float | None
    """The mean and what follows are of numbers only; infinities are left out."""
    median: float | None
    std: float | None
    """Of a sample (n - 1 below the line); None for fewer than two values."""
    q1: float | None
    """Quartiles interpolate linearly between values (Hyndman & Fan 1996, type 7)."""
    q3: float | None
    outliers: int | None
    """Values beyond 1.5 times the interquartile range from the quartiles (Tukey's fences)."""
    zeros: int | None
    negatives: int | None
    top: tuple[tuple[Scalar, int], ...]
    """Most frequent values with their counts; empty when more than 10,000 differ, when none
    repeats, and beyond the first `EXACT_COLUMNS` columns."""
    samples: tuple[Scalar, ...]
    """A few different values, from all over the table."""


@dataclass(frozen=True, kw_only=True)
class TableProfile:
    """What is known of a table."""

    name: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    duplicate_rows: int
    """Rows that repeat an earlier row in every cell."""
    keys: tuple[str, ...]
    """Columns that name each row: whole, without repeats, and not mere measurements."""

    def column(self, name: str) -> ColumnProfile:
        """Return the profile of the column called `name`; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def profile_table(table: TableRef) -> TableProfile:
    """Return the figures that describe `table`, read in a few passes over its file."""
    with connect(table) as connection:
        samples = _samples(connection, table)
        first = _ranges(connection, table)
        second = _counts(connection, table, first)
        columns = tuple(
            _column_profile(column, table.rows, first[i], second[i], samples[i])
            for i, column in enumerate(table.columns)
        )
        columns = _with_keys(connection, table, columns)
        keys = tuple(column.name for column in columns if _is_key(column))
        unique = any(column.is_unique for column in columns)
        duplicates = 0 if unique or not columns else duplicate_rows(connection, table)
    return TableProfile(
        name=table.name, rows=table.rows, columns=columns, duplicate_rows=duplicates, keys=keys
    )


@dataclass(frozen=True, slots=True)
class _Ranges:
    """The first pass over a column."""

    present: int
    distinct: int
    low: Scalar
    high: Scalar
    mean: float | None
    std: float | None
    quartiles: tuple[float, float, float] | None
    zeros: int | None
    negatives: int | None


@dataclass(frozen=True, slots=True)
class _Counts:
    """The second pass, which needs the quartiles and distinct counts of the first."""

    frequencies: dict[Scalar, int] | None
    """Of every value; None when there are too many."""
    outliers: int | None


def _is_exact(table: TableRef) -> bool:
    return table.rows <= EXACT_ROWS and len(table.columns) <= EXACT_COLUMNS


def _finite(column: Column) -> str:
    """Return the SQL of a column's value, NULL for what is no number of a numeric column."""
    quoted = identifier(column.name)
    if column.type != "number":
        return quoted
    return f"CASE WHEN isfinite(CAST({quoted} AS DOUBLE)) THEN CAST({quoted} AS DOUBLE) END"


def _in_batches(
    connection: duckdb.DuckDBPyConnection, table: TableRef, expressions: Sequence[Sequence[str]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each column's aggregate expressions, in the order given.

    DuckDB's rows are untyped; the callers put them into dataclasses at once.
    """
    for start in range(0, len(expressions), _BATCH):
        batch = expressions[start : start + _BATCH]
        rows = ", ".join(f"row({', '.join(each)})" for each in batch)
        # The count makes it one row where a batch holds nothing but NULL.
        query = f"SELECT {rows}, count(*) FROM {scan(table)}"
        yield from connection.execute(query).fetchall()[0][:-1]


def _ranges(connection: duckdb.DuckDBPyConnection, table: TableRef) -> list[_Ranges]:
    counter = "count(DISTINCT {0})" if _is_exact(table) else "approx_count_distinct({0})"
    expressions = [_range_expressions(column, counter) for column in table.columns]
    return [_Ranges(*values) for values in _in_batches(connection, table, expressions)]


def _range_expressions(column: Column, counter: str) -> tuple[str, ...]:
    """Return the aggregates that fill a `_Ranges`, in the order of its fields."""
    value = _finite(column)
    bounds = ("NULL", "NULL") if column.type == "text" else (f"min({value})", f"max({value})")
    # An infinity is no figure to compute with, yet it is there; only NaN is missing.
    quoted = identifier(column.name)
    real = f"CASE WHEN NOT isnan(CAST({quoted} AS DOUBLE)) THEN {quoted} END"
    present = f"count({real if column.type == 'number' else quoted})"
    if column.type not in _NUMERIC:
        return (present, counter.format(value), *bounds, *["NULL"] * 5)
    number = f"CAST({value} AS DOUBLE)"
    return (
        present,
        counter.format(value),
        *bounds,
        f"favg({number})",
        f"stddev_samp({number})",
        f"quantile_cont({number}, [0.25, 0.5, 0.75])",
        f"coalesce(sum(({value} = 0)::INTEGER), 0)::BIGINT",
        f"coalesce(sum(({value} < 0)::INTEGER), 0)::BIGINT",
    )


def _counts(
    connection: duckdb.DuckDBPyConnection, table: TableRef, ranges: Sequence[_Ranges]
) -> list[_Counts]:
    expressions = [
        (_frequencies(column, found) if i < EXACT_COLUMNS else "NULL", _outliers(column, found))
        for i, (column, found) in enumerate(zip(table.columns, ranges, strict=True))
    ]
    return [_Counts(*values) for values in _in_batches(connection, table, expressions)]


def _frequencies(column: Column, found: _Ranges) -> str:
    few = 0 < found.distinct <= _COUNTED_DISTINCT
    return f"histogram({_finite(column)})" if few else "NULL"


def _outliers(column: Column, found: _Ranges) -> str:
    if not found.quartiles:
        return "NULL"
    q1, _, q3 = found.quartiles
    reach = 1.5 * (q3 - q1)
    low, high = literal(q1 - reach), literal(q3 + reach)
    beyond = f"({_finite(column)} < {low} OR {_finite(column)} > {high})"
    return f"coalesce(sum({beyond}::INTEGER), 0)::BIGINT"


def _samples(connection: duckdb.DuckDBPyConnection, table: TableRef) -> list[list[Scalar]]:
    """Return values of each column from rows all over the file, missing ones left out."""
    wanted = min(1_000, max(50, _SAMPLE_CELLS // max(len(table.columns), 1)))
    step = max(table.rows // wanted, 1)
    names = ", ".join(identifier(name) for name in table.column_names)
    rows = connection.execute(
        f"SELECT {names} FROM {scan(table, numbered=True)} "
        # Even steps would fall in with the rhythm of ordered data and see one city of six.
        f"WHERE hash(file_row_number) % {step} = 0"
    ).fetchall()
    values = [[plain(row[i]) for row in rows] for i in range(len(table.columns))]
    return [[value for value in column if value is not None] for column in values]


def _column_profile(
    column: Column, rows: int, ranges: _Ranges, counts: _Counts, sample: Sequence[Scalar]
) -> ColumnProfile:
    frequencies = counts.frequencies
    distinct = ranges.distinct if frequencies is None else len(frequencies)
    low, high = plain(ranges.low), plain(ranges.high)
    evidence = Evidence(
        rows=rows, present=ranges.present, distinct=distinct, low=_number(low), high=_number(high),
        sample=sample,
    )  # fmt: skip
    q1, median, q3 = ranges.quartiles or (None, None, None)
    return ColumnProfile(
        name=column.name, type=column.type, unit=column.unit, meaning=meaning_of(column, evidence),
        missing=rows - ranges.present, distinct=distinct,
        distinct_exact=frequencies is not None or ranges.present == 0, is_unique=False,
        min=low, max=high, mean=_number(plain(ranges.mean)), median=_number(plain(median)),
        std=_number(plain(ranges.std)), q1=_number(plain(q1)), q3=_number(plain(q3)),
        outliers=counts.outliers, zeros=ranges.zeros, negatives=ranges.negatives,
        top=_top(frequencies), samples=tuple(dict.fromkeys(sample))[:_TOP],
    )  # fmt: skip


def _number(value: Scalar) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _top(frequencies: dict[Scalar, int] | None) -> tuple[tuple[Scalar, int], ...]:
    if not frequencies or max(frequencies.values()) == 1:
        return ()
    ranked = sorted(frequencies.items(), key=lambda item: (-item[1], str(item[0])))
    return tuple((plain(value), count) for value, count in ranked[:_TOP])


def _with_keys(
    connection: duckdb.DuckDBPyConnection, table: TableRef, columns: Sequence[ColumnProfile]
) -> tuple[ColumnProfile, ...]:
    """Return the columns with `distinct_exact` and `is_unique` filled in.

    In a big table an exact count costs as much as the rest of the profile, so that it is made
    only for the likeliest keys.
    """
    exact = _is_exact(table)
    likely = [column for column in columns if not exact and _may_be_key(column, table.rows)]
    likely.sort(key=lambda column: column.meaning != "id")
    counted = {
        column.name: _distinct(connection, table, column) for column in likely[:_KEYS_COUNTED]
    }
    return tuple(
        _settled(column, table.rows, counted.get(column.name), exact=exact) for column in columns
    )


def _may_be_key(column: ColumnProfile, rows: int) -> bool:
    near = column.distinct >= 0.9 * rows  # the estimate may be a few percent off
    return near and column.missing == 0 and column.meaning not in MEASURES


def _distinct(connection: duckdb.DuckDBPyConnection, table: TableRef, column: ColumnProfile) -> int:
    name, low, high = identifier(column.name), column.min, column.max
    counter = f"count(DISTINCT {name})"
    if isinstance(low, int) and isinstance(high, int) and high - low < 16 * table.rows:
        # One bit for each number of a dense range: a tenth of the time, and small.
        counter = f"bit_count(bitstring_agg({name}, {low}, {high}))"
    query = f"SELECT {counter} FROM {scan(table)}"
    return int(connection.execute(query).fetchall()[0][0])


def _settled(
    column: ColumnProfile, rows: int, counted: int | None, *, exact: bool
) -> ColumnProfile:
    known = exact or counted is not None or column.distinct_exact
    # An estimate may exceed the number of values there are.
    distinct = min(column.distinct if counted is None else counted, rows - column.missing)
    unique = known and rows > 0 and column.missing == 0 and distinct == rows
    return replace(column, distinct=distinct, distinct_exact=known, is_unique=unique)


def _is_key(column: ColumnProfile) -> bool:
    return column.is_unique and column.meaning not in MEASURES


def duplicate_rows(connection: duckdb.DuckDBPyConnection, table: TableRef) -> int:
    """Return how many rows repeat an earlier one in every cell."""
    query = f"SELECT count(*) - count(DISTINCT hash(t)) FROM {scan(table)} AS t"
    same_hash = int(connection.execute(query).fetchall()[0][0])
    if not same_hash:
        return 0
    # Different rows may share a hash, so that equality is settled among those that do.
    query = f"""
        WITH hashed AS (SELECT t.*, hash(t) AS {HASH} FROM {scan(table)} AS t),
        shared AS (SELECT {HASH} FROM hashed GROUP BY ALL HAVING count(*) > 1)
        SELECT count(*) - (SELECT count(*) FROM (
            SELECT DISTINCT * FROM hashed WHERE {HASH} IN (FROM shared)))
        FROM hashed WHERE {HASH} IN (FROM shared)"""
    return int(connection.execute(query).fetchall()[0][0])
