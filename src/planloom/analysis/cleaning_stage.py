"""The state of a table on its way through cleaning, as SQL, and the ways to change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from planloom.analysis.database import SQL_TYPES, identifier, literal, scan
from planloom.analysis.operations import did_you_mean
from planloom.errors import ToolError
from planloom.notes import Note, Scalar
from planloom.values import ColumnType, TableRef

# White space as Unicode knows it, with the marks without width that cells pick up on the web.
BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff"
)


@dataclass(frozen=True, slots=True)
class Field:
    """A column on its way through the pipeline."""

    alias: str
    """Its name inside the SQL: no name from a file can meet one of ours there."""
    name: str
    type: ColumnType
    unit: str


@dataclass(frozen=True, slots=True)
class Stage:
    """The state of the table after some operations.

    `sql` gives the columns `rn` (row number from 0), `gone` (number of the operation that dropped
    the row, or NULL), `n0`, `n1`, ... (cells that the operation changed in the row) and one column
    for each field. Rows that are gone stay in it, so that one pass counts everything.
    """

    sql: str
    fields: tuple[Field, ...]
    notes: tuple[Note, ...] = ()

    def field(self, name: str) -> Field:
        for each in self.fields:
            if each.name == name:
                return each
        names = [each.name for each in self.fields]
        shown = ", ".join(names[:30]) + (", ..." if len(names) > 30 else "")
        raise ToolError(
            f"The table has no column '{name}'. Columns: {shown}.{did_you_mean(name, names)}"
        )


def first_stage(table: TableRef) -> Stage:
    fields = tuple(
        Field(f"c{i}", column.name, column.type, column.unit)
        for i, column in enumerate(table.columns)
    )
    chosen = ", ".join(f"{identifier(each.name)} AS {each.alias}" for each in fields)
    return Stage(
        f"SELECT file_row_number AS rn, NULL::INTEGER AS gone, {chosen} "
        f"FROM {scan(table, numbered=True)}",
        fields,
    )


def dropping(stage: Stage, test: str, note: Note) -> Stage:
    gone = f"CASE WHEN gone IS NULL AND ({test}) THEN {len(stage.notes)} ELSE gone END"
    return _next(stage, {"gone": gone}, "0", note)


def mapped(
    stage: Stage, changes: dict[str, str], note: Note, *, tests: dict[str, str] | None = None
) -> Stage:
    """Return the stage after the expressions of `changes` have replaced columns, by alias.

    `tests` are true of the cells that change; without it old and new cells are compared.
    """
    if not changes:
        return unchanged(stage, note)
    # Compared as text, so that a new type alone is no change and NaN equals itself. A sum of many
    # terms would be deeper than DuckDB allows; a list is not.
    tests = tests or {
        alias: f"(CAST({alias} AS VARCHAR) IS DISTINCT FROM CAST({expression} AS VARCHAR))"
        for alias, expression in changes.items()
    }
    differs = ", ".join(f"{test}::BIGINT" for test in tests.values())
    changed = f"CASE WHEN gone IS NULL THEN list_sum([{differs}]) ELSE 0 END"
    return _next(stage, changes, changed, note)


def unchanged(stage: Stage, note: Note) -> Stage:
    return _next(stage, {}, "0", note)


def _next(stage: Stage, changes: dict[str, str], changed: str, note: Note) -> Stage:
    """Return the stage after columns of its SQL took the values of `changes`.

    `changed` is the SQL of the number of cells changed in a row.
    """
    k = len(stage.notes)
    names = ["rn", "gone", *(f"n{i}" for i in range(k)), *(each.alias for each in stage.fields)]
    # Not "* REPLACE": DuckDB's time for it grows with the square of the number of columns.
    chosen = ", ".join(f"{changes[name]} AS {name}" if name in changes else name for name in names)
    sql = f"SELECT {chosen}, {changed} AS n{k} FROM ({stage.sql})"
    return replace(stage, sql=sql, notes=(*stage.notes, note))


def with_field(stage: Stage, changed: Field) -> Stage:
    fields = tuple(changed if each.alias == changed.alias else each for each in stage.fields)
    return replace(stage, fields=fields)


def text_field(stage: Stage, name: str) -> Field:
    column = stage.field(name)
    if column.type != "text":
        raise ToolError(f"Column '{name}' is of type {column.type}; this operation is for text.")
    return column


def trimmed(sql: str) -> str:
    """Return the SQL of a text without the white space around it."""
    # DuckDB's trim by a set of characters is ten times as slow as finding that it is needed.
    return f"CASE WHEN {is_loose(sql)} THEN trim({sql}, {literal(BLANKS)}) ELSE {sql} END"


def is_loose(sql: str) -> str:
    """Return the SQL that is true of a text with white space around it."""
    return f"regexp_matches({sql}, {literal(f'^[{BLANKS}]|[{BLANKS}]$')})"


def stripped(text: str) -> str:
    return text.strip(BLANKS)


def is_blank(column: Field) -> str:
    if column.type == "text":
        return f"coalesce(NOT regexp_matches({column.alias}, {literal(f'[^{BLANKS}]')}), TRUE)"
    return f"{column.alias} IS NULL"


def typed(connection: duckdb.DuckDBPyConnection, value: Scalar, column: Field) -> str:
    """Return `value` as an SQL expression of the column's type.

    Raises:
        ToolError: it cannot be read as one.
    """
    sql_type = SQL_TYPES[column.type]
    if column.type == "integer" and not is_whole(value):
        sql_type = "DOUBLE"  # 2.5 must not be rounded to fit
    expression = f"TRY_CAST({literal(value)} AS {sql_type})"
    if connection.execute(f"SELECT {expression} IS NULL").fetchall()[0][0]:
        raise ToolError(
            f"{value!r} does not fit column '{column.name}', whose values are of type "
            f"{column.type}."
        )
    return expression


def is_whole(value: Scalar) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:8])
    return shown + (", ..." if len(names) > 8 else "")
