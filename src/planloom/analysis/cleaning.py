"""Runs cleaning operations over a table, keeping a log and the rows that were set aside."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from planloom.analysis.cleaning_sql import applied
from planloom.analysis.cleaning_stage import Stage, first_stage
from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.operations import Operation
from planloom.notes import Note
from planloom.values import TableRef


@dataclass(frozen=True, kw_only=True)
class CleaningStep:
    """What one operation did."""

    op: str
    text: Note
    rows_before: int
    rows_after: int
    cells_changed: int


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """A cleaned table and how it came about."""

    table: TableRef
    """Called "cleaned"."""
    log: tuple[CleaningStep, ...]
    """One step for each operation, in order."""
    removed: TableRef | None
    """The rows set aside, called "removed": their row number (from 1) in the table given, the
    operation that dropped them, and their values as they were there. None when none was."""


def clean_table(table: TableRef, operations: Sequence[Operation], *, out: Path) -> Cleaned:
    """Run `operations` over `table` in order and write the result to the Parquet file `out`.

    Rows keep their order; the file of `table` is not touched. Rows that were dropped go to a
    second file beside `out` (`<stem>.removed.parquet`).

    Raises:
        ToolError: an operation names a column that is not there, or cannot be done on its values.
    """
    out = out.resolve()
    if not operations:
        return Cleaned(table=_copy(table, out), log=(), removed=None)
    with connect(table, writable=out.parent) as connection:
        stage = first_stage(table)
        for operation in operations:
            stage = applied(connection, stage, operation)
        log = _log(connection, stage, operations, table.rows)
        cleaned = _write_kept(connection, stage, out)
        dropped = table.rows - log[-1].rows_after
        removed = _write_removed(connection, table, stage, operations, out) if dropped else None
    if cleaned.rows + (removed.rows if removed else 0) != table.rows:
        raise AssertionError(f"{table.rows} rows became {cleaned.rows} kept and {dropped} dropped")
    return Cleaned(table=cleaned, log=log, removed=removed)


def _copy(table: TableRef, out: Path) -> TableRef:
    part = out.with_name(out.name + ".part")
    try:
        shutil.copyfile(table.path, part)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return replace(table, path=str(out), name="cleaned")


def _log(
    connection: duckdb.DuckDBPyConnection,
    stage: Stage,
    operations: Sequence[Operation],
    rows: int,
) -> tuple[CleaningStep, ...]:
    numbers = range(len(operations))
    sums = ", ".join(
        f"count(*) FILTER (gone = {k}), coalesce(sum(n{k}), 0)::BIGINT" for k in numbers
    )
    counts = connection.execute(f"SELECT {sums} FROM ({stage.sql})").fetchall()[0]
    steps: list[CleaningStep] = []
    for k, (operation, note) in enumerate(zip(operations, stage.notes, strict=True)):
        dropped, changed = counts[2 * k], counts[2 * k + 1]
        text = replace(note, args={**note.args, "n": dropped or changed})
        steps.append(
            CleaningStep(
                op=operation.op, text=text, rows_before=rows, rows_after=rows - dropped,
                cells_changed=changed,
            )
        )  # fmt: skip
        rows -= dropped
    return tuple(steps)


def _write_kept(connection: duckdb.DuckDBPyConnection, stage: Stage, out: Path) -> TableRef:
    chosen = ", ".join(f"{each.alias} AS {identifier(each.name)}" for each in stage.fields)
    # The join that looks repeats up may mix the rows; no other operation does.
    order = " ORDER BY rn" if "repeats" in stage.sql else ""
    query = f"SELECT {chosen} FROM ({stage.sql}) WHERE gone IS NULL{order}"
    units = {each.name: each.unit for each in stage.fields}
    return write_table(connection, query, out, name="cleaned", units=units)


def _write_removed(
    connection: duckdb.DuckDBPyConnection,
    table: TableRef,
    stage: Stage,
    operations: Sequence[Operation],
    out: Path,
) -> TableRef:
    first = first_stage(table)
    row, reason = _free("row", table.column_names), _free("operation", table.column_names)
    names = " ".join(f"WHEN {k} THEN {literal(each.op)}" for k, each in enumerate(operations))
    chosen = ", ".join(f"{each.alias} AS {identifier(each.name)}" for each in first.fields)
    query = (
        f"SELECT rn + 1 AS {identifier(row)}, CASE dropped.gone {names} END AS "
        f"{identifier(reason)}, {chosen} FROM ({first.sql}) AS kept "
        f"JOIN (SELECT rn, gone FROM ({stage.sql}) WHERE gone IS NOT NULL) AS dropped USING (rn) "
        "ORDER BY rn"
    )
    path = out.with_name(f"{out.stem}.removed.parquet")
    units = {column.name: column.unit for column in table.columns}
    return write_table(connection, query, path, name="removed", units=units)


def _free(name: str, taken: Sequence[str]) -> str:
    folded = {each.casefold() for each in taken}
    while name in folded:
        name += "_"
    return name
