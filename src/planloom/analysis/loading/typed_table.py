"""Writes a raw table as a typed Parquet file, checking every cell against the chosen types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.loading.column_plans import NEEDED, ColumnPlan, as_text, plan_columns
from planloom.analysis.loading.column_reading import CellReader, cast_sql, column_sql
from planloom.analysis.loading.results import LoadedTable
from planloom.analysis.loading.staging import RawTable
from planloom.analysis.loading.wording import grouped, shown_cells
from planloom.notes import Note
from planloom.values import Column, TableRef

_MAX_ROUNDS = 3
_MANY_COLUMNS = 1000
_LINE_LIMIT = 2_000_000


def write_typed(raw: RawTable, out: Path, *, name: str) -> LoadedTable:
    """Write the staged records of `raw` as `<name>.parquet` below `out`, typed by their cells."""
    readable = [path for path in (raw.path, raw.rejected) if path is not None]
    with connect(writable=out, readable=readable) as connection:
        table, reader = read_columns(connection, raw, out, name)
        rejected = _write_rejected(connection, raw, out, name)
    notes = [note for plan in reader.plans for note in plan.notes] + reading_notes(reader)
    return LoadedTable(
        table=table, title=raw.title, header=raw.names, rows_in=raw.rows_in,
        rows_kept=table.rows, rows_rejected=raw.rows_in - table.rows, header_row=raw.header_row,
        rejected=rejected, decisions=(*raw.notes, *grouped(notes)),
    )  # fmt: skip


def read_columns(
    connection: duckdb.DuckDBPyConnection, raw: RawTable, out: Path, name: str
) -> tuple[TableRef, CellReader]:
    """Write the records as a typed table and return it with what its cells showed.

    Types come from a sample. While the whole table is read, cells that the sample did not
    foresee are collected; when they refute a type it is chosen again, and the table read anew.
    """
    columns = [[record[place] for record in raw.sample] for place in raw.places]
    reader = CellReader(plan_columns(raw.names, columns, native=raw.native))
    table = _write(connection, raw, reader, out, name)
    for _ in range(_MAX_ROUNDS):
        changed = _replan(raw, columns, reader, table, connection)
        if not changed:
            break
        reader = CellReader([changed.get(i, plan) for i, plan in enumerate(reader.plans)])
        table = _write(connection, raw, reader, out, name)
    return table, reader


def raw_sql(raw: RawTable) -> str:
    """Return the SQL that reads the records of a raw table, all columns as text."""
    fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(raw.width))
    line_end = ", new_line = '\\n'" if raw.ends_in_lf else ""
    rejects = "" if raw.is_staged else ", store_rejects = true"
    longest = max(_LINE_LIMIT, raw.longest * 4 + 16 * raw.width)
    return (
        f"read_csv({literal(str(raw.path))}, auto_detect = false, header = false, "
        f"delim = {literal(raw.delimiter)}, quote = '\"', escape = '\"', skip = {raw.skip}, "
        f"columns = {{{fields}}}, nullstr = ['', '\\N'], max_line_size = {longest}, "
        f"compression = 'none', strict_mode = true"
        # Left to itself, DuckDB may take a line break inside a field for the one of the file.
        f"{line_end}{rejects})"
    )


def _write(
    connection: duckdb.DuckDBPyConnection, raw: RawTable, reader: CellReader, out: Path, name: str
) -> TableRef:
    reader.register(connection)
    by_hand = len(reader.plans) > _MANY_COLUMNS
    fields = [
        (i, f"c{place}", plan)
        for i, (place, plan) in enumerate(zip(raw.places, reader.plans, strict=True))
    ]
    casts = [] if by_hand else [cast for field in fields if (cast := cast_sql(*field))]
    selected = ", ".join(
        f"{column_sql(*field, by_hand=by_hand)} AS {identifier(field[2].name)}" for field in fields
    )
    units = {plan.name: plan.unit for plan in reader.plans if plan.unit}
    units |= {n: unit for n, unit in zip(raw.names, raw.units, strict=False) if unit}
    query = f"SELECT {selected} FROM (SELECT {', '.join(['*', *casts])} FROM {raw_sql(raw)})"
    return write_table(connection, query, out / f"{name}.parquet", name=name, units=units)


def _replan(
    raw: RawTable,
    columns: Sequence[Sequence[str]],
    reader: CellReader,
    table: TableRef,
    connection: duckdb.DuckDBPyConnection,
) -> dict[int, ColumnPlan]:
    """Return new plans for the columns whose cells, all read now, refute the first ones."""
    changed: dict[int, ColumnPlan] = {}
    doubtful = [i for i in range(len(reader.plans)) if reader.unread[i] or i in reader.unfit]
    again = plan_columns(
        raw.names, [[*cells, *reader.odd[i]] for i, cells in enumerate(columns)], native=raw.native
    ) if doubtful else []  # fmt: skip
    for i in doubtful:
        old, new = reader.plans[i], again[i]
        if (new.type, new.number, new.moment) != (old.type, old.number, old.moment):
            changed[i] = new
        elif i in reader.unfit:
            changed[i] = as_text(old.name, _unfit_note(old))
        elif _unread_share(connection, table, reader, i) > 1 - NEEDED:
            changed[i] = as_text(old.name, _mixed_note(old))
    return changed


def _unread_share(
    connection: duckdb.DuckDBPyConnection, table: TableRef, reader: CellReader, index: int
) -> float:
    column = identifier(reader.plans[index].name)
    source = f"read_parquet({literal(table.path)})"
    read = int(connection.execute(f"SELECT count({column}) FROM {source}").fetchall()[0][0])
    unread = reader.unread[index].total()
    return unread / max(1, read + unread)


def _unfit_note(plan: ColumnPlan) -> Note:
    return Note(
        "Kept as text because some cells cannot be of the type that the others suggest: {columns}.",
        "因部分单元格与其余单元格所示类型不符，保留为文本：{columns}。",
        {"columns": plan.name},
    )


def _mixed_note(plan: ColumnPlan) -> Note:
    return Note(
        "Kept as text because more than a tenth of the cells are no {type}: {columns}.",
        "因超过十分之一的单元格不是{type}，保留为文本：{columns}。",
        {"columns": plan.name, "type": plan.type},
    )


def reading_notes(reader: CellReader) -> list[Note]:
    """Return which cells became missing, in words."""
    notes: list[Note] = []
    for plan, missing, unread in zip(reader.plans, reader.missing, reader.unread, strict=True):
        if missing:
            notes.append(Note(
                "{n|cell|cells} with a sign for “no value” ({cells}) became missing: {columns}.",
                "{n} 个单元格为缺失标记（{cells}），按缺失值处理：{columns}。",
                {"columns": plan.name, "n": missing.total(), "cells": shown_cells(missing)},
            ))  # fmt: skip
        if unread:
            notes.append(Note(
                "{n|cell|cells} could not be read ({cells}) and became missing: {columns}.",
                "{n} 个单元格无法识别（{cells}），按缺失值处理：{columns}。",
                {"columns": plan.name, "n": unread.total(), "cells": shown_cells(unread)},
            ))  # fmt: skip
    return notes


def _write_rejected(
    connection: duckdb.DuckDBPyConnection, raw: RawTable, out: Path, name: str
) -> TableRef | None:
    if raw.rejected is None:
        return None
    path = out / f"{name.replace('source', 'rejected')}.parquet"
    query = (
        f"SELECT * FROM read_csv({literal(str(raw.rejected))}, auto_detect = false, "
        "header = false, delim = ',', quote = '\"', escape = '\"', max_line_size = 100000000, "
        "new_line = '\\n', "
        "columns = {'line': 'INTEGER', 'reason': 'VARCHAR', 'content': 'VARCHAR'})"
    )
    table = write_table(connection, query, path, name=path.stem)
    columns = tuple(Column(name=c.name, type=c.type) for c in table.columns)
    return replace(table, columns=columns)
