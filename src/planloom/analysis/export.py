"""Writes tables for spreadsheet programs."""

from __future__ import annotations

from pathlib import Path

from planloom.analysis.database import connect, identifier, literal, scan
from planloom.values import Column, TableRef

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet program may run a text that starts so. Source: OWASP, "CSV Injection"."""
_BOM = b"\xef\xbb\xbf"  # without it Excel reads Chinese as another encoding


def export_csv(table: TableRef, path: Path) -> Path:
    """Write a table as CSV (UTF-8 with BOM, comma, header row) and return the resolved path.

    Texts and column names that a spreadsheet program would run as a formula get an apostrophe
    before them; numbers stay numbers. The file appears when it is whole.
    """
    path = path.resolve()
    body, part = (path.with_name(f"{path.name}.{end}") for end in ("body", "part"))
    columns = ", ".join(_exported(column) for column in table.columns)
    try:
        with connect(table, writable=path.parent) as connection:
            connection.execute(
                f"COPY (SELECT {columns} FROM {scan(table)}) TO {literal(str(body))} "
                "(FORMAT csv, HEADER true)"
            )
        with part.open("wb") as target, body.open("rb") as source:
            target.write(_BOM)
            while piece := source.read(1 << 20):
                target.write(piece)
        part.replace(path)
    finally:
        body.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
    return path


def is_formula(text: str) -> bool:
    """Say whether a spreadsheet program may run a text.

    >>> is_formula("=1+1"), is_formula("Total"), is_formula("-5%")
    (True, False, True)
    """
    return text.startswith(FORMULA_STARTS)


def _exported(column: Column) -> str:
    name = identifier(column.name)
    shown = identifier("'" + column.name) if is_formula(column.name) else name
    if column.type != "text":
        return f"{name} AS {shown}"
    starts = ", ".join(map(literal, FORMULA_STARTS))
    return f"CASE WHEN left({name}, 1) IN ({starts}) THEN '''' || {name} ELSE {name} END AS {shown}"
