"""Compiles cleaning operations to one SQL pipeline."""

from __future__ import annotations

from dataclasses import replace

import duckdb

from planloom.analysis.cleaning_stage import (
    BLANKS,
    Field,
    Stage,
    dropping,
    is_blank,
    is_loose,
    is_whole,
    listed,
    mapped,
    stripped,
    text_field,
    trimmed,
    typed,
    unchanged,
    with_field,
)
from planloom.analysis.database import SQL_TYPES, identifier, literal
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
)  # fmt: skip
from planloom.errors import ToolError
from planloom.notes import Note, Scalar

_FILL_WORDS: dict[FillMethod, tuple[str, str]] = {
    "value": ("the value", "固定值"), "mean": ("its mean", "均值"),
    "median": ("its median", "中位数"), "mode": ("its most frequent value", "众数"),
}  # fmt: skip


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
    return dropping(stage, test, note)


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
        "剔除了“{column}”列中标为{labels}的 {n} 行合计，以免重复计算。",
        {"labels": listed(labels), "column": column.name},
    )
    if not labels:
        note = Note(
            "Set aside {n|total row|total rows} without a label, which would have been counted "
            "twice.",
            "剔除了 {n} 行没有标签的合计，以免重复计算。",
        )
    return dropping(stage, test, note)


def _drop_empty_rows(stage: Stage) -> Stage:
    note = Note("Dropped {n|row|rows} without any value.", "删除了 {n} 行空行。")
    return dropping(stage, " AND ".join(is_blank(each) for each in stage.fields), note)


def _drop_empty_columns(connection: duckdb.DuckDBPyConnection, stage: Stage) -> Stage:
    filled = _filled(connection, stage)
    empty = [each for each in stage.fields if filled.get(each.alias) == 0]
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
    return unchanged(replace(stage, fields=kept), note)


def _filled(connection: duckdb.DuckDBPyConnection, stage: Stage) -> dict[str, int]:
    """Return, by alias, how many rows have a value in a column; nothing when there are no rows."""
    # A number for each row and column, summed: many filtered counts take far longer to plan.
    counts = ", ".join(f"sum((NOT ({is_blank(each)}))::INTEGER)" for each in stage.fields)
    query = f"SELECT count(*), {counts} FROM ({stage.sql}) WHERE gone IS NULL"
    rows, *values = connection.execute(query).fetchall()[0]
    filled = zip(stage.fields, values, strict=True)
    return {each.alias: int(n) for each, n in filled} if rows else {}


def _trim_text(stage: Stage, operation: TrimText) -> Stage:
    chosen = [stage.field(name) for name in operation.columns] or stage.fields
    texts = [each.alias for each in chosen if each.type == "text"]
    dirty = {c: f"({is_loose(c)} OR {c} = '')" for c in texts}
    changes = {
        c: f"CASE WHEN {dirty[c]} THEN nullif(trim({c}, {literal(BLANKS)}), '') ELSE {c} END"
        for c in texts
    }
    note = Note("Removed white space around {n|text|texts}.", "去掉了 {n} 个单元格首尾的空白字符。")
    return mapped(stage, changes, note, tests=dirty)


def _unify_spelling(stage: Stage, operation: UnifySpelling) -> Stage:
    column = text_field(stage, operation.column)
    if not operation.mapping:
        raise ToolError(f"unify_spelling of '{column.name}' has an empty mapping; name spellings.")
    cases = " ".join(
        f"WHEN {literal(spelling)} THEN {literal(kept)}"
        for spelling, kept in operation.mapping.items()
    )
    note = Note(
        "Wrote {n|value|values} of column '{column}' in the spelling used most: {kept}.",
        "将“{column}”列的 {n} 个值统一为规范写法：{kept}。",
        {"column": column.name, "kept": listed(sorted(set(operation.mapping.values())))},
    )
    expression = f"CASE {column.alias} {cases} ELSE {column.alias} END"
    return mapped(stage, {column.alias: expression}, note)


def _blank_markers(
    connection: duckdb.DuckDBPyConnection, stage: Stage, operation: BlankMarkers
) -> Stage:
    column = stage.field(operation.column)
    if not operation.markers:
        raise ToolError(f"blank_markers of '{column.name}' names no marker.")
    markers = ", ".join(typed(connection, marker, column) for marker in operation.markers)
    note = Note(
        "Made {n|value|values} of column '{column}' missing that only marked a missing one: "
        "{markers}.",
        "将“{column}”列中 {n} 个仅表示缺失的标记值（{markers}）改为缺失。",
        {"column": column.name, "markers": listed([str(each) for each in operation.markers])},
    )
    expression = (
        f"CASE WHEN list_contains([{markers}], {column.alias}) THEN NULL ELSE {column.alias} END"
    )
    return mapped(stage, {column.alias: expression}, note)


def _fill_missing(
    connection: duckdb.DuckDBPyConnection, stage: Stage, operation: FillMissing
) -> Stage:
    column = stage.field(operation.column)
    value = operation.value
    if operation.method != "value":
        value = _typical(connection, stage, column, operation.method)
    if value is None:
        raise ToolError(f"fill_missing of '{column.name}' needs a value to fill in: give 'value'.")
    filling = typed(connection, value, column)
    if column.type == "integer" and not is_whole(value):
        column = replace(column, type="number")
    en, zh = _FILL_WORDS[operation.method]
    note = Note(
        f"Filled {{n|missing value|missing values}} of column '{{column}}' with {en}, {{value}}.",
        f"用{zh} {{value}} 填补了“{{column}}”列的 {{n}} 个缺失值。",
        {"column": column.name, "value": str(value) if isinstance(value, bool) else value},
    )
    changed = mapped(stage, {column.alias: f"coalesce({column.alias}, {filling})"}, note)
    return with_field(changed, column)


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
    return dropping(stage, " OR ".join(is_blank(each) for each in chosen), note)


def _drop_where(connection: duckdb.DuckDBPyConnection, stage: Stage, operation: DropWhere) -> Stage:
    column = stage.field(operation.column)
    if operation.comparison == "contains":
        text = literal(str(operation.value))
        test = f"contains(CAST({column.alias} AS VARCHAR), {text})"
    else:
        value = typed(connection, operation.value, column)
        test = f"{column.alias} {operation.comparison} {value}"
    note = Note(
        "Dropped {n|row|rows} where '{column}' {comparison} {value}.",
        "删除了 {n} 行满足“{column}”{comparison} {value} 的记录。",
        {
            "column": column.name,
            "comparison": operation.comparison,
            "value": str(operation.value),
        },
    )
    return dropping(stage, test, note)


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
        "将列“{column}”改名为“{to}”。",
        {"column": column.name, "to": operation.to},
    )
    return unchanged(with_field(stage, replace(column, name=operation.to)), note)


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
        "将“{column}”列的类型由 {old} 改为 {new}。",
        {"column": column.name, "old": column.type, "new": operation.type},
    )
    changed = mapped(stage, {c: expression}, note)
    return with_field(changed, replace(column, type=operation.type, unit=unit))
