"""The different values of a table's text columns with their counts, read in one go."""

from __future__ import annotations

from collections.abc import Mapping

from planloom.analysis.database import connect, identifier, scan
from planloom.analysis.profile import TableProfile
from planloom.values import TableRef

MAX_DISTINCT = 10_000
"""Columns with more different values are left out."""
MAX_COLUMNS = 200
"""Text columns beyond these are left out: no one labels rows so far to the right."""
_BATCH = 50

TextValues = Mapping[str, Mapping[str, int]]
"""By column, each value with the number of its rows."""


def read_text_values(table: TableRef, profile: TableProfile) -> TextValues:
    """Return the values of the text columns that have few enough of them."""
    names = [
        column.name
        for column in profile.columns
        if column.type == "text" and 0 < column.distinct <= MAX_DISTINCT
    ][:MAX_COLUMNS]
    values: dict[str, Mapping[str, int]] = {}
    with connect(table) as connection:
        for start in range(0, len(names), _BATCH):
            batch = names[start : start + _BATCH]
            counted = ", ".join(f"histogram({identifier(name)})" for name in batch)
            row = connection.execute(f"SELECT {counted} FROM {scan(table)}").fetchall()[0]
            values |= {name: found or {} for name, found in zip(batch, row, strict=True)}
    return values
