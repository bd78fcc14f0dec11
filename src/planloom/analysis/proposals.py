"""Chooses the cleaning that is surely right for a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planloom.analysis.cleaning_stage import first_stage, is_blank
from planloom.analysis.database import connect
from planloom.analysis.operations import (
    DropDuplicates,
    DropEmptyColumns,
    DropEmptyRows,
    DropTotalRows,
    Operation,
    TrimText,
    UnifySpelling,
)  # fmt: skip
from planloom.analysis.profile import TableProfile
from planloom.analysis.spelling import find_spellings, texts_to_trim
from planloom.analysis.text_values import read_text_values
from planloom.analysis.traps import Trap, find_traps
from planloom.values import TableRef


def propose_operations(
    table: TableRef, profile: TableProfile, traps: Sequence[Trap] | None = None
) -> tuple[Operation, ...]:
    """Return the operations that no careful analyst would object to, in the order to run them.

    White space around texts, rows and columns without any value, total rows that add up, copies
    of rows, and spellings that differ in case, width or spacing only. Missing values are never
    filled and outliers never dropped. `traps` are those of the table, when known already.
    """
    found = find_traps(table, profile) if traps is None else traps
    return tuple(_operations(table, profile, found))


def _operations(
    table: TableRef, profile: TableProfile, traps: Sequence[Trap]
) -> Iterator[Operation]:
    values = read_text_values(table, profile)
    trim = texts_to_trim(table, profile, values)
    if trim:
        yield TrimText(columns=tuple(trim))
    if _has_empty_rows(table, profile, trim):
        yield DropEmptyRows()
    for trap in traps:
        if trap.kind in ("total_rows", "near_totals"):
            yield DropTotalRows(column=trap.column, labels=trap.values, rows=trap.row_numbers)
    if any(trap.kind == "duplicate_rows" for trap in traps):
        yield DropDuplicates()
    for column, mapping in find_spellings(values, profile).items():
        yield UnifySpelling(column=column, mapping=mapping)
    if _has_empty_columns(profile, trim):
        yield DropEmptyColumns()


def _has_empty_rows(table: TableRef, profile: TableProfile, trim: dict[str, int]) -> bool:
    if not all(each.missing or each.name in trim for each in profile.columns):
        return False
    stage = first_stage(table)
    blank = " AND ".join(map(is_blank, stage.fields))
    with connect(table) as connection:
        query = f"SELECT count(*) FROM ({stage.sql}) WHERE {blank}"
        return bool(connection.execute(query).fetchall()[0][0])


def _has_empty_columns(profile: TableProfile, trim: dict[str, int]) -> bool:
    empty = [
        each.missing + trim.get(each.name, 0) >= profile.rows and each.distinct <= 1
        for each in profile.columns
    ]
    return any(empty) and not all(empty) and profile.rows > 0
