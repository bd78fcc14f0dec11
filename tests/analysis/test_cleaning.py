from pathlib import Path

import pytest

from planloom.analysis.cleaning import Cleaned, clean_table
from planloom.analysis.database import connect, write_table
from planloom.analysis.operations import operations_from_json
from planloom.errors import ToolError
from planloom.values import TableRef


def make_table(folder: Path, query: str) -> TableRef:
    with connect(writable=folder) as connection:
        return write_table(connection, query, folder / "source.parquet", name="source")


def rows_of(table: TableRef) -> list[tuple[object, ...]]:
    with connect(table) as connection:
        return connection.execute(f'SELECT * FROM "{table.name}"').fetchall()


def clean(table: TableRef, *operations: object) -> Cleaned:
    out = Path(table.path).with_name("cleaned.parquet")
    return clean_table(table, operations_from_json(operations), out=out)


PEOPLE = """
    SELECT * FROM (VALUES
        (' Ann ', 1, 10.0), ('Bob', 2, NULL), ('', NULL, NULL), ('Bob', 2, NULL),
        ('Total', 5, 10.0), ('bob', 7, 2.0)) AS t(name, n, amount)"""


def test_all_in_one(tmp_path: Path) -> None:
    table = make_table(tmp_path, PEOPLE)
    cleaned = clean(
        table,
        "trim_text",
        "drop_empty_rows",
        "drop_duplicates",
        {"op": "drop_total_rows", "column": "name", "labels": ["Total"]},
        {"op": "unify_spelling", "column": "name", "mapping": {"bob": "Bob"}},
        {"op": "fill_missing", "column": "amount", "method": "mean"},
        {"op": "rename", "column": "n", "to": "count"},
        {"op": "convert", "column": "count", "type": "text"},
    )
    assert rows_of(cleaned.table) == [("Ann", "1", 10), ("Bob", "2", 6), ("Bob", "7", 2)]
    assert [step.cells_changed for step in cleaned.log] == [2, 0, 0, 0, 1, 1, 0, 0]
    assert [step.rows_after for step in cleaned.log] == [6, 5, 4, 3, 3, 3, 3, 3]
    assert cleaned.removed is not None
    assert rows_of(cleaned.removed) == [
        (3, "drop_empty_rows", "", None, None),
        (4, "drop_duplicates", "Bob", 2, None),
        (5, "drop_total_rows", "Total", 5, 10),
    ]
