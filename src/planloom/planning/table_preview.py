"""A table in a few rows of text: columns, row count, first rows, and a summary of each column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import duckdb

from planloom.analysis.database import connect, identifier
from planloom.values import Column, TableRef

_FIRST_ROWS = 5
_SMALL_ROWS = 20
"""A table of at most so many rows is shown whole, as far as it fits."""
_MAX_COLUMNS = 40
_CELL_CHARS = 40


def preview_table(table: TableRef, max_chars: int) -> str:
    """Return what a table holds in about `max_chars` characters, whatever its size.

    Raises:
        InputError: the file of the table is gone or is no Parquet file.
    """
    columns = table.columns[:_MAX_COLUMNS]
    left = len(table.columns) - len(columns)
    named = ", ".join(_column(column) for column in columns) + (f", {left} more" if left else "")
    parts = [f"{table.rows} rows; columns: {named}"]
    with connect(table) as connection:
        parts += _rows(connection, table, columns, max_chars - len(parts[0]))
        if table.rows > _SMALL_ROWS:
            parts.append("summary: " + "; ".join(_summaries(connection, table, columns)))
    return "\n".join(parts)


def _column(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    return f"{column.name} ({column.type}{unit})"


def _rows(
    connection: duckdb.DuckDBPyConnection,
    table: TableRef,
    columns: Sequence[Column],
    max_chars: int,
) -> Iterator[str]:
    """Yield the first rows, a header before them; those that fit."""
    count = table.rows if table.rows <= _SMALL_ROWS else _FIRST_ROWS
    names = ", ".join(identifier(column.name) for column in columns)
    query = f"SELECT {names} FROM {identifier(table.name)} LIMIT {count}"
    yield " ; ".join(column.name for column in columns)
    for row in connection.execute(query).fetchall():
        text = " ; ".join(_cell(value) for value in row)
        max_chars -= len(text) + 1
        if max_chars < 0:
            return
        yield text


def _summaries(
    connection: duckdb.DuckDBPyConnection, table: TableRef, columns: Sequence[Column]
) -> Iterator[str]:
    measures = [_measures(column) for column in columns]
    query = f"SELECT {', '.join(measures)} FROM {identifier(table.name)}"
    found = cast("Sequence[Any]", connection.execute(query).fetchone())
    for number, column in enumerate(columns):
        present, distinct, least, most, mean = found[5 * number : 5 * number + 5]
        missing = table.rows - present
        text = f"{column.name} {_cell(least)} to {_cell(most)}"
        if column.type in {"text", "boolean"}:
            text = f"{column.name} about {distinct} different"
        if mean is not None:
            text += f", mean {mean:.6g}"
        yield f"{text}, {missing} missing" if missing else text


def _measures(column: Column) -> str:
    name = identifier(column.name)
    mean = f"avg({name})" if column.type in {"integer", "number"} else "NULL"
    return f"count({name}), approx_count_distinct({name}), min({name}), max({name}), {mean}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= _CELL_CHARS else text[: _CELL_CHARS - 3] + "..."
