"""A table in a few rows of text: columns, row count, first rows, and a summary of each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import duckdb

from planloom.analysis.database import connect, identifier
from planloom.planning.mask import UNMASKED, Kind, Mask
from planloom.planning.personal_cells import Cells
from planloom.values import Column, TableRef

_FIRST_ROWS = 5
_SMALL_ROWS = 20
"""A table of at most so many rows is shown whole, as far as it fits."""
_MAX_COLUMNS = 40
_CELL_CHARS = 40
_SAMPLE_ROWS = 200
_MOST_VALUES = 20_000
"""Of one column, that the mask of personal data knows."""


def preview_table(table: TableRef, max_chars: int, mask: Mask | None = None) -> str:
    """Return what a table holds in about `max_chars` characters, whatever its size.

    `mask` puts stand-ins in place of personal data; without one, cells are shown as they are.

    Raises:
        InputError: the file of the table is gone or is no Parquet file.
    """
    columns = table.columns[:_MAX_COLUMNS]
    left = len(table.columns) - len(columns)
    named = ", ".join(_column(column) for column in columns) + (f", {left} more" if left else "")
    parts = [f"{table.rows} rows; columns: {named}"]
    mask = mask or UNMASKED
    personal = mask.table(table)
    with connect(table) as connection:
        room = max_chars - len(parts[0])
        parts.append(" ; ".join(column.name for column in columns))
        for row in _rows(connection, table, columns):
            text = " ; ".join(
                _short(_masked(value, column, personal, mask))
                for column, value in zip(columns, row, strict=True)
            )
            room -= len(text) + 1
            if room < 0:
                break
            parts.append(text)
        if table.rows > _SMALL_ROWS:
            found = _summaries(connection, table, columns, personal)
            parts.append("summary: " + "; ".join(found))
    return "\n".join(parts)


class TableReader:
    """Reads what the mask of personal data wants to know of tables."""

    def samples(self, table: TableRef) -> Sequence[Cells]:
        """Return each column with the values of its first rows."""
        with connect(table) as connection:
            query = f"SELECT * FROM {identifier(table.name)} LIMIT {_SAMPLE_ROWS}"
            rows = connection.execute(query).fetchall()
        return [
            Cells(
                column.name,
                column.type,
                [_plain(row[number]) for row in rows if row[number] is not None],
            )
            for number, column in enumerate(table.columns)
        ]

    def values(self, table: TableRef, columns: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the different values of columns, of each so many at most."""
        with connect(table) as connection:
            return {name: _distinct(connection, table, name) for name in columns}


def _distinct(connection: duckdb.DuckDBPyConnection, table: TableRef, name: str) -> list[str]:
    column = identifier(name)
    query = (
        f"SELECT DISTINCT {column} FROM {identifier(table.name)} "
        f"WHERE {column} IS NOT NULL LIMIT {_MOST_VALUES}"
    )
    return [_plain(row[0]) for row in connection.execute(query).fetchall()]


def _plain(value: object) -> str:
    """Return a value as text; whole numbers, such as those of telephones, without a fraction."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).split())


def _column(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    return f"{column.name} ({column.type}{unit})"


def _rows(
    connection: duckdb.DuckDBPyConnection, table: TableRef, columns: Sequence[Column]
) -> Sequence[Sequence[object]]:
    """Return the first rows; all of a small table."""
    count = table.rows if table.rows <= _SMALL_ROWS else _FIRST_ROWS
    names = ", ".join(identifier(column.name) for column in columns)
    query = f"SELECT {names} FROM {identifier(table.name)} LIMIT {count}"
    return connection.execute(query).fetchall()


def _summaries(
    connection: duckdb.DuckDBPyConnection,
    table: TableRef,
    columns: Sequence[Column],
    personal: Mapping[str, Kind],
) -> Iterator[str]:
    measures = [_measures(column) for column in columns]
    query = f"SELECT {', '.join(measures)} FROM {identifier(table.name)}"
    found = cast("Sequence[Any]", connection.execute(query).fetchone())
    for number, column in enumerate(columns):
        present, distinct, least, most, mean = found[5 * number : 5 * number + 5]
        missing = table.rows - present
        text = f"{column.name} {_short(least)} to {_short(most)}"
        if column.type in {"text", "boolean"} or column.name in personal:
            text = f"{column.name} about {distinct} different"
        if mean is not None and column.name not in personal:
            text += f", mean {mean:.6g}"
        yield f"{text}, {missing} missing" if missing else text


def _measures(column: Column) -> str:
    name = identifier(column.name)
    mean = f"avg({name})" if column.type in {"integer", "number"} else "NULL"
    return f"count({name}), approx_count_distinct({name}), min({name}), max({name}), {mean}"


def _masked(value: object, column: Column, personal: Mapping[str, Kind], mask: Mask) -> object:
    kind = personal.get(column.name)
    if value is None or (kind is None and not isinstance(value, str)):
        return value
    return mask.cell(_plain(value), kind, column.name)


def _short(value: object) -> str:
    if value is None:
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= _CELL_CHARS else text[: _CELL_CHARS - 3] + "..."
