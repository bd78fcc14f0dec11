"""The one door to DuckDB: locked connections over tables, quoting, and writing tables."""

from __future__ import annotations

import contextlib
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import duckdb

from planloom.errors import InputError, ToolError
from planloom.interruption import on_interrupt
from planloom.notes import Scalar
from planloom.values import Column, ColumnType, TableRef, file_sha256

# A query may come from a model and its labels from a file, so nothing is loaded on demand
# and no Python variable of ours can be read by its name.
_CLOSED = {
    "allow_community_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
_TYPES: dict[str, ColumnType] = {
    "VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date", "TIME": "time",
    "TIMESTAMP": "datetime", "DOUBLE": "number", "FLOAT": "number",
    "TINYINT": "integer", "SMALLINT": "integer", "INTEGER": "integer", "BIGINT": "integer",
    "UTINYINT": "integer", "USMALLINT": "integer", "UINTEGER": "integer", "UBIGINT": "integer",
}  # fmt: skip
# Parquet keeps no 128-bit integers (DuckDB would write doubles), and one kind of moment, in UTC,
# is enough for every reader.
_CASTS = {
    "HUGEINT": "BIGINT", "UHUGEINT": "UBIGINT", "TIME WITH TIME ZONE": "TIME",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP", "TIMESTAMP_NS": "TIMESTAMP", "TIME_NS": "TIME",
}  # fmt: skip
_WIDE = 200
_DECIMAL = re.compile(r"DECIMAL\(\d+,\d+\)")
SQL_TYPES: Mapping[ColumnType, str] = {
    "text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN",
    "date": "DATE", "datetime": "TIMESTAMP", "time": "TIME",
}  # fmt: skip
"""The DuckDB type that stands for each column type."""


def connect(
    *tables: TableRef,
    writable: Path | None = None,
    readable: Sequence[Path] = (),
    threads: int = 2,
) -> duckdb.DuckDBPyConnection:
    """Return a connection in which each table is a view under its name; close it after use.

    It can read the files of `tables` and `readable`, write below `writable`, and do nothing else
    outside of memory: no other files, no network, no extensions, no change of settings. Rows keep
    the order of the files; times are UTC.

    Raises:
        InputError: the file of a table is gone or is no Parquet file.
    """
    spill = Path(tempfile.gettempdir()) / f"planloom-spill-{os.getpid()}"
    connection = duckdb.connect(
        ":memory:", config={**_CLOSED, "threads": threads, "temp_directory": str(spill)}
    )
    on_interrupt(connection, _interrupt)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        if any(len(table.columns) > _WIDE for table in tables):
            # Its time grows with the square of the number of expressions.
            connection.execute("SET disabled_optimizers = 'common_subexpressions'")
        files = [*(table.path for table in tables), *(str(path.resolve()) for path in readable)]
        _open_paths(connection, files, writable)
        for table in tables:
            connection.execute(
                f"CREATE VIEW {identifier(table.name)} AS SELECT * FROM {scan(table)}"
            )
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        connection.close()
        names = ", ".join(f"'{table.name}' ({table.path})" for table in tables)
        raise InputError(
            f"The file of a table cannot be read: {error}. Tables asked for: {names}. "
            "Load the data again."
        ) from error
    return connection


def _interrupt(connection: duckdb.DuckDBPyConnection) -> None:
    """Stop the running query: a tool at its time limit must not leave it behind."""
    with contextlib.suppress(duckdb.ConnectionException):  # closed in the meantime
        connection.interrupt()


def _open_paths(
    connection: duckdb.DuckDBPyConnection, files: Sequence[str], writable: Path | None
) -> None:
    paths = ", ".join(map(literal, files))
    connection.execute(f"SET allowed_paths = [{paths}]")
    if writable is not None:
        folder = literal(str(writable.resolve()))
        connection.execute(f"SET allowed_directories = [{folder}]")


def scan(table: TableRef, *, numbered: bool = False) -> str:
    """Return the SQL that reads a table's file; `numbered` adds `file_row_number`, from 0.

    Parts of the path such as `year=2024` add no columns.
    """
    option = ", file_row_number = true" if numbered else ""
    return f"read_parquet({literal(table.path)}, hive_partitioning = false{option})"


def identifier(name: str) -> str:
    """Return `name` as a quoted SQL identifier.

    >>> identifier('say "hi"')
    '"say ""hi\"""'

    Raises:
        ToolError: the name is empty or is no valid Unicode, so that no SQL can say it.
    """
    if not name:
        raise ToolError("A column or table name is empty; name one of the table's columns.")
    return '"' + _valid(name).replace('"', '""') + '"'


def literal(value: Scalar | date | datetime | time | Decimal) -> str:
    """Return a Python value as an SQL literal; dates and times carry their type.

    >>> literal("it's")
    "'it''s'"
    """
    match value:
        case None | bool() | int() | Decimal():
            return "NULL" if value is None else str(value)
        case float():
            return f"'{value!r}'::DOUBLE"
        case str():
            return "'" + _valid(value).replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case _:
            return f"{'TIME' if isinstance(value, time) else 'DATE'} '{value.isoformat()}'"


def _valid(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{text!r} holds half of a surrogate pair, which is no character; remove it."
        ) from error
    return text


def column_type(sql_type: str) -> ColumnType:
    """Return the column type that a DuckDB type is shown as; "text" for lists and other kinds.

    >>> column_type("DECIMAL(18,2)")
    'number'
    """
    if _DECIMAL.fullmatch(sql_type):
        return "number"
    return _TYPES.get(_CASTS.get(sql_type, sql_type), "text")


def plain(value: object) -> Scalar:
    """Return a value that DuckDB gave as a JSON-safe one.

    Dates and times become ISO text; NaN and infinities become None, since JSON has no word for
    them.

    >>> plain(Decimal("1.50")), plain(date(2024, 3, 9)), plain(float("nan"))
    (1.5, '2024-03-09', None)
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return float(value)
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)


def write_table(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    path: Path,
    *,
    name: str,
    units: Mapping[str, str] | None = None,
) -> TableRef:
    """Write the rows of `query` to a Parquet file and return the table, called `name`.

    `path` must lie below the `writable` folder of the connection. The file appears when it is
    whole. Types without a `ColumnType` of their own (lists, structs, UUIDs) are written as text.
    `units` are those of the columns, by name.
    """
    path = path.resolve()
    described = connection.execute(f"DESCRIBE {query}").fetchall()
    types: dict[str, str] = {str(row[0]): str(row[1]) for row in described}
    casts = {column: cast for column, sql in types.items() if (cast := _written_as(sql)) != sql}
    chosen = ", ".join(
        f"CAST({identifier(column)} AS {casts[column]}) AS {identifier(column)}"
        if column in casts
        else identifier(column)
        for column in types
    )
    part = path.with_name(path.name + ".part")
    try:
        written = connection.execute(
            f"COPY (SELECT {chosen} FROM ({query})) TO {literal(str(part))} (FORMAT parquet)"
        ).fetchall()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    columns = tuple(
        Column(
            name=column,
            type=column_type(casts.get(column, sql)),
            unit=(units or {}).get(column, ""),
        )
        for column, sql in types.items()
    )
    return TableRef(
        path=str(path), columns=columns, rows=int(written[0][0]), name=name,
        sha256=file_sha256(path),
    )  # fmt: skip


def _written_as(sql_type: str) -> str:
    cast = _CASTS.get(sql_type, sql_type)
    return cast if cast in _TYPES or _DECIMAL.fullmatch(cast) else "VARCHAR"
