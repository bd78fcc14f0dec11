"""Judges whether equal rows are copies of one record or records that happen to be equal."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from planloom.analysis.database import connect, identifier, scan
from planloom.analysis.meanings import MEASURES, Meaning
from planloom.analysis.profile import ColumnProfile, TableProfile
from planloom.values import TableRef

_NAMING: frozenset[Meaning] = frozenset({"id", "date", "email", "phone", "url"})
_COMMON = 0.3  # where more rows than this are equal, equality is the custom of the table
_RARE = 0.1
_SURPRISING = 20.0
_TELLING = 0.1


def are_copies(table: TableRef, profile: TableProfile) -> bool:
    """Say whether the equal rows of a table are copies, so that counting them is wrong.

    They are in either of two cases; otherwise (survey answers, coarse sensor readings, sales of
    one thing at one price) equal rows are taken for different records:

    1. Without its repeats the table has a key: a column of ids, dates, addresses or, in a table
       with measures, names, each of whose values stands in one row only.
    2. The table has dates, and its equal rows are too many for chance. Columns fall into three
       blocks: times, measures, the rest. Among the pairs of rows that agree in two blocks, at
       least 20 times as many agree in the third as among all pairs, whichever block is the third;
       or no pair but the copies agrees in times and names, where by chance ten times as many would.
    """
    repeats = profile.duplicate_rows
    if not repeats or repeats > _COMMON * profile.rows or len(profile.columns) < 2:
        return False
    with connect(table) as connection:
        return _has_key(connection, table, profile) or (
            repeats <= _RARE * profile.rows and _beyond_chance(connection, table, profile)
        )


def _has_key(connection: duckdb.DuckDBPyConnection, table: TableRef, profile: TableProfile) -> bool:
    rows = profile.rows - profile.duplicate_rows
    measured = any(each.meaning in MEASURES for each in profile.columns)
    for column in profile.columns:
        named = column.meaning in _NAMING or (measured and column.meaning in {"name", "text"})
        # Total rows among the details have no key of their own.
        gaps = column.missing
        if not named or gaps > max(3, 0.05 * rows) or column.distinct + gaps < 0.9 * rows:
            continue
        query = f"SELECT count(DISTINCT {identifier(column.name)}) FROM {scan(table)}"
        distinct = column.distinct
        if not column.distinct_exact:
            distinct = int(connection.execute(query).fetchall()[0][0])
        if distinct + gaps >= rows:
            return True
    return False


def _beyond_chance(
    connection: duckdb.DuckDBPyConnection, table: TableRef, profile: TableProfile
) -> bool:
    blocks = _blocks(profile)
    if "time" not in blocks or len(blocks) < 2:
        return False
    everything = [name for names in blocks.values() for name in names]
    copies = _equal_pairs(connection, table, everything)
    pairs = profile.rows * (profile.rows - 1) / 2
    equal = {kind: _equal_pairs(connection, table, names) for kind, names in blocks.items()}
    if "name" in blocks:
        expected = equal["time"] * equal["name"] / pairs
        both = [*blocks["time"], *blocks["name"]]
        if copies <= 0.1 * expected and _equal_pairs(connection, table, both) == copies:
            return True
    telling = [kind for kind in blocks if equal[kind] <= _TELLING * pairs]
    if "time" not in telling or len(telling) < 2:
        return False
    for kind in telling:
        others = [name for other, names in blocks.items() if other != kind for name in names]
        share = copies / max(_equal_pairs(connection, table, others), 1)
        if share < _SURPRISING * equal[kind] / pairs:
            return False
    return True


def _blocks(profile: TableProfile) -> dict[str, list[str]]:
    blocks: dict[str, list[str]] = {}
    for column in profile.columns:
        if column.distinct > 1:
            blocks.setdefault(_block(column), []).append(column.name)
    return blocks


def _block(column: ColumnProfile) -> str:
    if column.meaning in {"date", "time", "year"}:
        return "time"
    return "measure" if column.meaning in MEASURES else "name"


def _equal_pairs(
    connection: duckdb.DuckDBPyConnection, table: TableRef, names: Sequence[str]
) -> float:
    """Return how many pairs of rows agree in all of the columns."""
    chosen = ", ".join(map(identifier, names))
    query = (
        "SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM "
        f"(SELECT count(*)::DOUBLE AS n FROM {scan(table)} GROUP BY hash({chosen}))"
    )
    return float(connection.execute(query).fetchall()[0][0])
