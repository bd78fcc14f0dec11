"""Finds values of one column that are the same word in different spellings."""

from __future__ import annotations

import re
from collections import defaultdict

import duckdb

from planloom.analysis.cleaning_sql import BLANKS, trimmed
from planloom.analysis.database import connect, identifier, scan
from planloom.analysis.meanings import Meaning
from planloom.analysis.profile import ColumnProfile, TableProfile
from planloom.values import TableRef

_WORDY: frozenset[Meaning] = frozenset({"category", "place", "flag", "name"})
_MAX_DISTINCT = 10_000
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: " "}
_BETWEEN_HAN = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")


def find_spellings(table: TableRef, profile: TableProfile) -> dict[str, dict[str, str]]:
    """Return, by column, a mapping from spellings to the one that is used most.

    Spellings are the same when they differ in case, in white space or in full and half width
    only. Columns of codes and free text are left alone, and so are short values that differ in
    case ("mW" and "MW", genotypes) unless they are yes and no. White space around a value is no
    spelling: trimming takes care of it.
    """
    found: dict[str, dict[str, str]] = {}
    with connect(table) as connection:
        for column in profile.columns:
            if column.type == "text" and column.meaning in _WORDY:
                mapping = _mapping(connection, table, column)
                if mapping:
                    found[column.name] = mapping
    return found


def folded(text: str, *, keep_case: bool = False) -> str:
    """Return what all spellings of a text have in common.

    >>> folded(" New  YORK") == folded("ｎew york ") == "new york"
    True
    """
    narrow = " ".join(text.translate(_NARROW).strip(BLANKS).split())
    narrow = _BETWEEN_HAN.sub("", narrow)
    short = sum(letter.isalpha() for letter in narrow) <= 2
    return narrow if keep_case and short else narrow.casefold()


def _mapping(
    connection: duckdb.DuckDBPyConnection, table: TableRef, column: ColumnProfile
) -> dict[str, str]:
    if column.distinct > _MAX_DISTINCT:
        return {}
    name = identifier(column.name)
    rows = connection.execute(
        f"SELECT {trimmed('v')}, sum(n) FROM (SELECT {name} AS v, count(*) AS n "
        f"FROM {scan(table)} WHERE {name} IS NOT NULL GROUP BY 1) GROUP BY 1"
    ).fetchall()
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, count in rows:
        if text:
            groups[folded(text, keep_case=column.meaning != "flag")].append((text, count))
    mapping: dict[str, str] = {}
    for spellings in groups.values():
        kept = max(spellings, key=_preference)[0]
        mapping |= {text: kept for text, _ in sorted(spellings) if text != kept}
    return mapping


def _preference(spelling: tuple[str, int]) -> tuple[int, bool, str]:
    text, count = spelling
    return count, text == text.title(), text


def texts_to_trim(table: TableRef, profile: TableProfile) -> dict[str, int]:
    """Return, by text column, how many values have white space around them or nothing else."""
    names = [column.name for column in profile.columns if column.type == "text"]
    found: dict[str, int] = {}
    with connect(table) as connection:
        for start in range(0, len(names), 50):
            batch = names[start : start + 50]
            counts = ", ".join(
                f"count_if({trimmed(quoted)} != {quoted} OR {quoted} = '')"
                for quoted in map(identifier, batch)
            )
            row = connection.execute(f"SELECT {counts} FROM {scan(table)}").fetchall()[0]
            found |= {name: n for name, n in zip(batch, row, strict=True) if n}
    return found
