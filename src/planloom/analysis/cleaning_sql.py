"""Compiles cleaning operations to one SQL pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from planloom.analysis.database import SQL_TYPES, identifier, literal, scan
from planloom.analysis.operations import (
    BlankMarkers,
    Convert,
    DropDuplicates,
    DropEmptyColumns,
    DropEmptyRows,
    DropMissing,
    DropTotalRows,
    DropWhere,
    FillMethod,
    FillMissing,
    Operation,
    Rename,
    TrimText,
    UnifySpelling,
    did_you_mean,
)  # fmt: skip
from planloom.errors import ToolError
from planloom.notes import Note, Scalar
from planloom.values import ColumnType, TableRef

# White space as Unicode knows it, with the marks without width that cells pick up on the web.
BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff"
)
_FILL_WORDS: dict[FillMethod, tuple[str, str]] = {
    "value": ("the value", "固定值"), "mean": ("its mean", "均值"),
    "median": ("its median", "中位数"), "mode": ("its most frequent value", "众数"),
}  # fmt: skip


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


def applied(connection: duckdb.DuckDBPyConnection, stage: Stage, operation: Operation) -> Stage:
    """Return the stage after `operation`.

    Raises:
        ToolError: it names a column that is not there, or cannot be done on the column's values.
    """
    match operation:
        case DropDuplicates():
            after = _drop_duplicates(connection, stage, operation)
        case DropTotalRows():
            after = _drop_total_rows(stage, operation)
        case DropEmptyRows():
            after = _drop_empty_rows(stage)
        case DropEmptyColumns():
            after = _drop_empty_columns(connection, stage)
        case TrimText():
            after = _trim_text(stage, operation)
        case UnifySpelling():
            after = _unify_spelling(stage, operation)
        case BlankMarkers():
            after = _blank_markers(connection, stage, operation)
        case FillMissing():
            after = _fill_missing(connection, stage, operation)
        case DropMissing():
            after = _drop_missing(stage, operation)
        case DropWhere():
            after = _drop_where(connection, stage, operation)
        case Rename():
            after = _rename(stage, operation)
        case Convert():
            after = _convert(connection, stage, operation)
    return after


def _drop_duplicates(
    connection: duckdb.DuckDBPyConnection, stage: Stage, operation: DropDuplicates
) -> Stage:
    chosen = [stage.field(name) for name in operation.columns] or stage.fields
    aliases = ", ".join(each.alias for each in chosen)
    repeats = f"repeats{len(stage.notes)}"
    # Only rows that share a hash are compared in full: that keeps memory small.
    connection.execute(f"""
        CREATE TEMP TABLE {repeats} AS
        WITH hashed AS (SELECT rn, {aliases}, hash({aliases}) AS h FROM ({stage.sql})
                        WHERE gone IS NULL),
        shared AS (SELECT h FROM hashed GROUP BY h HAVING count(*) > 1),
        placed AS (SELECT rn, row_number() OVER (PARTITION BY {aliases} ORDER BY rn) AS place
                   FROM hashed WHERE h IN (FROM shared))
        SELECT rn FROM placed WHERE place > 1""")
    note = Note(
        "Dropped {n|row|rows} that repeated an earlier row in every cell.",
        "删除了 {n} 行与前面某行完全相同的重复行。",
    )
    if operation.columns:
        note = Note(
            "Dropped {n|row|rows} that repeated an earlier row in: {columns}.",
            "删除了 {n} 行在以下列上与前面某行相同的重复行：{columns}。",
            {"columns": listed(operation.columns)},
        )
    found = connection.execute(f"SELECT count(*) FROM {repeats}").fetchall()[0][0]
    test = f"rn IN (SELECT rn FROM {repeats})" if found else "FALSE"
    return _dropping(stage, test, note)


def _drop_total_rows(stage: Stage, operation: DropTotalRows) -> Stage:
    column = stage.field(operation.column)
    labels, rows = operation.labels, operation.rows
    if not labels and not rows:
        raise ToolError("drop_total_rows names neither labels nor rows; give 'labels'.")
    # Lists and not IN: a long IN becomes a join, which may mix the rows.
    cell = trimmed(f"coalesce(CAST({column.alias} AS VARCHAR), '')")
    test = (
        f"list_contains([{', '.join(literal(stripped(each)) for each in labels or ('',))}], {cell})"
    )
    if rows is not None:
        numbers = f"[{', '.join(str(row - 1) for row in rows)}]::BIGINT[]"
        test = f"CASE WHEN {test} THEN list_contains({numbers}, rn) ELSE FALSE END"
    note = Note(
        "Set aside {n|total row|total rows} labelled {labels} in column '{column}', which would "
        "have been counted twice.",
        "剔除了「{column}」列中标为 {labels} 的 {n} 行合计，以免重复计算。",
        {"labels": listed(labels), "column": column.name},
    )
    if not labels:
        note = Note(
            "Set aside {n|total row|total rows} without a label, which would have been counted "
            "twice.",
            "剔除了 {n} 行没有标签的合计，以免重复计算。",
        )
    return _dropping(stage, test, note)


def _drop_empty_rows(stage: Stage) -> Stage:
    note = Note("Dropped {n|row|rows} without any value.", "删除了 {n} 行空行。")
    return _dropping(stage, " AND ".join(_is_blank(each) for each in stage.fields), note)


def _drop_empty_columns(connection: duckdb.DuckDBPyConnection, stage: Stage) -> Stage:
    counts = ", ".join(f"count(*) FILTER (NOT ({_is_blank(each)}))" for each in stage.fields)
    alive = f"FROM ({stage.sql}) WHERE gone IS NULL"
    rows, *filled = connection.execute(f"SELECT count(*), {counts} {alive}").fetchall()[0]
    empty = [each for each, n in zip(stage.fields, filled, strict=True) if rows and not n]
    if len(empty) == len(stage.fields):
        raise ToolError("Every column is empty, so that nothing would be left of the table.")
    note = Note(
        "Dropped {count|column|columns} without any value: {columns}.",
        "删除了 {count} 个空列：{columns}。",
        {"count": len(empty), "columns": listed([each.name for each in empty])},
    )
    if not empty:
        note = Note("No column was without any value.", "没有发现空列。")
    kept = tuple(each for each in stage.fields if each not in empty)
    return _unchanged(replace(stage, fields=kept), note)


def _trim_text(stage: Stage, operation: TrimText) -> Stage:
    chosen = [stage.field(name) for name in operation.columns] or stage.fields
    changes = {
        each.alias: f"nullif({trimmed(each.alias)}, '')" for each in chosen if each.type == "text"
    }
    note = Note("Removed white space around {n|text|texts}.", "去掉了 {n} 个单元格首尾的空白字符。")
    return _mapped(stage, changes, note)


def _unify_spelling(stage: Stage, operation: UnifySpelling) -> Stage:
    column = _text_field(stage, operation.column)
    if not operation.mapping:
        raise ToolError(f"unify_spelling of '{column.name}' has an empty mapping; name spellings.")
    cases = " ".join(
        f"WHEN {literal(spelling)} THEN {literal(kept)}"
        for spelling, kept in operation.mapping.items()
    )
    note = Note(
        "Wrote {n|value|values} of column '{column}' in the spelling used most: {kept}.",
        "将「{column}」列的 {n} 个值统一为规范写法：{kept}。",
        {"column": column.name, "kept": listed(sorted(set(operation.mapping.values())))},
    )
    expression = f"CASE {column.alias} {cases} ELSE {column.alias} END"
    return _mapped(stage, {column.alias: expression}, note)


def _blank_markers(
    connection: duckdb.DuckDBPyConnection, stage: Stage, operation: BlankMarkers
) -> Stage:
    column = stage.field(operation.column)
    if not operation.markers:
        raise ToolError(f"blank_markers of '{column.name}' names no marker.")
    markers = ", ".join(_typed(connection, marker, column) for marker in operation.markers)
    note = Note(
        "Made {n|value|values} of column '{column}' missing that only marked a missing one: "
        "{markers}.",
        "将「{column}」列中 {n} 个仅表示缺失的标记值（{markers}）改为缺失。",
        {"column": column.name, "markers": listed([str(each) for each in operation.markers])},
    )
    expression = (
        f"CASE WHEN list_contains([{markers}], {column.alias}) THEN NULL ELSE {column.alias} END"
    )
    return _mapped(stage, {column.alias: expression}, note)


def _fill_missing(
    connection: duckdb.DuckDBPyConnection, stage: Stage, operation: FillMissing
) -> Stage:
    column = stage.field(operation.column)
    value = operation.value
    if operation.method != "value":
        value = _typical(connection, stage, column, operation.method)
    if value is None:
        raise ToolError(f"fill_missing of '{column.name}' needs a value to fill in: give 'value'.")
    filling = _typed(connection, value, column)
    if column.type == "integer" and not _is_whole(value):
        column = replace(column, type="number")
    en, zh = _FILL_WORDS[operation.method]
    note = Note(
        f"Filled {{n|missing value|missing values}} of column '{{column}}' with {en}, {{value}}.",
        f"用{zh} {{value}} 填补了「{{column}}」列的 {{n}} 个缺失值。",
        {"column": column.name, "value": str(value) if isinstance(value, bool) else value},
    )
    changed = _mapped(stage, {column.alias: f"coalesce({column.alias}, {filling})"}, note)
    return _with_field(changed, column)


def _typical(
    connection: duckdb.DuckDBPyConnection, stage: Stage, column: Field, method: str
) -> Scalar:
    c = column.alias
    alive = f"FROM ({stage.sql}) WHERE gone IS NULL AND {c} IS NOT NULL"
    if method == "mode":
        query = (
            f"SELECT CAST({c} AS VARCHAR) {alive} GROUP BY {c} ORDER BY count(*) DESC, {c} LIMIT 1"
        )
    elif column.type not in {"integer", "number"}:
        raise ToolError(
            f"Column '{column.name}' is of type {column.type} and has no {method}; "
            "fill it with the method 'mode' or 'value'."
        )
    else:
        number = f"CAST({c} AS DOUBLE)"
        summary = f"favg({number})" if method == "mean" else f"median({number})"
        query = f"SELECT {summary} {alive}"
    found = connection.execute(query).fetchall()
    if not found or found[0][0] is None:
        raise ToolError(f"Column '{column.name}' has no values to take a {method} of.")
    return found[0][0]


def _drop_missing(stage: Stage, operation: DropMissing) -> Stage:
    if not operation.columns:
        raise ToolError("drop_missing names no column; give 'columns'.")
    chosen = [stage.field(name) for name in operation.columns]
    note = Note(
        "Dropped {n|row|rows} without a value in: {columns}.",
        "删除了 {n} 行在以下列中缺少值的记录：{columns}。",
        {"columns": listed(operation.columns)},
    )
    return _dropping(stage, " OR ".join(_is_blank(each) for each in chosen), note)


def _drop_where(connection: duckdb.DuckDBPyConnection, stage: Stage, operation: DropWhere) -> Stage:
    column = stage.field(operation.column)
    if operation.comparison == "contains":
        text = literal(str(operation.value))
        test = f"contains(CAST({column.alias} AS VARCHAR), {text})"
    else:
        value = _typed(connection, operation.value, column)
        test = f"{column.alias} {operation.comparison} {value}"
    note = Note(
        "Dropped {n|row|rows} where '{column}' {comparison} {value}.",
        "删除了 {n} 行满足「{column}」{comparison} {value} 的记录。",
        {
            "column": column.name,
            "comparison": operation.comparison,
            "value": str(operation.value),
        },
    )
    return _dropping(stage, test, note)


def _rename(stage: Stage, operation: Rename) -> Stage:
    column = stage.field(operation.column)
    identifier(operation.to)
    # DuckDB takes names that differ only in case for the same.
    taken = {each.name.casefold() for each in stage.fields if each is not column}
    if operation.to.casefold() in taken:
        raise ToolError(
            f"'{column.name}' cannot be renamed to '{operation.to}': a column has that name."
        )
    note = Note(
        "Renamed column '{column}' to '{to}'.",
        "将列「{column}」改名为「{to}」。",
        {"column": column.name, "to": operation.to},
    )
    return _unchanged(_with_field(stage, replace(column, name=operation.to)), note)


def _convert(connection: duckdb.DuckDBPyConnection, stage: Stage, operation: Convert) -> Stage:
    column = stage.field(operation.column)
    c, unit = column.alias, "" if operation.type == "text" else column.unit
    source = trimmed(c) if column.type == "text" else c
    expression = f"TRY_CAST({source} AS {SQL_TYPES[operation.type]})"
    unread = connection.execute(
        f"SELECT CAST({c} AS VARCHAR), count(*) OVER () FROM ({stage.sql}) "
        f"WHERE gone IS NULL AND {c} IS NOT NULL AND {expression} IS NULL LIMIT 3"
    ).fetchall()
    if unread:
        examples = ", ".join(repr(row[0]) for row in unread)
        raise ToolError(
            f"{unread[0][1]} values of column '{column.name}' cannot be read as "
            f"{operation.type}, such as {examples}. Make them missing first (blank_markers)."
        )
    note = Note(
        "Changed the type of column '{column}' from {old} to {new}.",
        "将「{column}」列的类型由 {old} 改为 {new}。",
        {"column": column.name, "old": column.type, "new": operation.type},
    )
    changed = _mapped(stage, {c: expression}, note)
    return _with_field(changed, replace(column, type=operation.type, unit=unit))


def _dropping(stage: Stage, test: str, note: Note) -> Stage:
    k = len(stage.notes)
    gone = f"CASE WHEN gone IS NULL AND ({test}) THEN {k} ELSE gone END AS gone"
    sql = f"SELECT * REPLACE ({gone}), 0 AS n{k} FROM ({stage.sql})"
    return replace(stage, sql=sql, notes=(*stage.notes, note))


def _mapped(stage: Stage, changes: dict[str, str], note: Note) -> Stage:
    """Return the stage after the expressions of `changes` have replaced columns, by alias."""
    if not changes:
        return _unchanged(stage, note)
    replaced = ", ".join(f"{expression} AS {alias}" for alias, expression in changes.items())
    # Compared as text, so that a new type alone is no change and NaN equals itself. A sum of many
    # terms would be deeper than DuckDB allows; a list is not.
    differs = ", ".join(
        f"(CAST({alias} AS VARCHAR) IS DISTINCT FROM CAST({expression} AS VARCHAR))::BIGINT"
        for alias, expression in changes.items()
    )
    k = len(stage.notes)
    counted = f"CASE WHEN gone IS NULL THEN list_sum([{differs}]) ELSE 0 END AS n{k}"
    sql = f"SELECT * REPLACE ({replaced}), {counted} FROM ({stage.sql})"
    return replace(stage, sql=sql, notes=(*stage.notes, note))


def _unchanged(stage: Stage, note: Note) -> Stage:
    sql = f"SELECT *, 0 AS n{len(stage.notes)} FROM ({stage.sql})"
    return replace(stage, sql=sql, notes=(*stage.notes, note))


def _with_field(stage: Stage, changed: Field) -> Stage:
    fields = tuple(changed if each.alias == changed.alias else each for each in stage.fields)
    return replace(stage, fields=fields)


def _text_field(stage: Stage, name: str) -> Field:
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


def _is_blank(column: Field) -> str:
    if column.type == "text":
        return f"({column.alias} IS NULL OR ({trimmed(column.alias)}) = '')"
    return f"{column.alias} IS NULL"


def _typed(connection: duckdb.DuckDBPyConnection, value: Scalar, column: Field) -> str:
    """Return `value` as an SQL expression of the column's type.

    Raises:
        ToolError: it cannot be read as one.
    """
    sql_type = SQL_TYPES[column.type]
    if column.type == "integer" and not _is_whole(value):
        sql_type = "DOUBLE"  # 2.5 must not be rounded to fit
    expression = f"TRY_CAST({literal(value)} AS {sql_type})"
    if connection.execute(f"SELECT {expression} IS NULL").fetchall()[0][0]:
        raise ToolError(
            f"{value!r} does not fit column '{column.name}', whose values are of type "
            f"{column.type}."
        )
    return expression


def _is_whole(value: Scalar) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:8])
    return shown + (", ..." if len(names) > 8 else "")
