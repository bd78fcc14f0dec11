from collections.abc import Sequence
from pathlib import Path

from planloom.analysis.cleaning import clean_table
from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.operations import (
    DropDuplicates,
    DropEmptyColumns,
    DropEmptyRows,
    DropTotalRows,
    Operation,
    TrimText,
    UnifySpelling,
)
from planloom.analysis.profile import profile_table
from planloom.analysis.proposals import propose_operations
from planloom.values import TableRef

Row = Sequence[str | float | None]


def make_table(folder: Path, names: Sequence[str], rows: Sequence[Row]) -> TableRef:
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    columns = ", ".join(map(identifier, names))
    query = f"SELECT * FROM (VALUES {values}) AS t({columns})"
    with connect(writable=folder) as connection:
        return write_table(connection, query, folder / "source.parquet", name="source")


def proposed(folder: Path, names: Sequence[str], rows: Sequence[Row]) -> tuple[Operation, ...]:
    table = make_table(folder, names, rows)
    return propose_operations(table, profile_table(table))


DIRTY: list[Row] = [
    ("A-01", " East ", 10, None), ("A-02", "west", 20, None), ("A-02", "west", 20, None),
    ("A-03", "WEST", 30, None), ("A-04", "west", 30, None), (None, "", None, None),
    ("A-05", "East", 1, None), ("合计", None, 91, None),
]  # fmt: skip


def test_dirt_is_cleaned_in_the_right_order(tmp_path: Path) -> None:
    operations = proposed(tmp_path, ["order_id", "region", "qty", "note"], DIRTY)
    assert operations == (
        TrimText(columns=("region",)),
        DropEmptyRows(),
        DropTotalRows(column="order_id", labels=("合计",), rows=(8,)),
        DropDuplicates(),
        UnifySpelling(column="region", mapping={"WEST": "west"}),
        DropEmptyColumns(),
    )


def test_what_is_proposed_can_be_run(tmp_path: Path) -> None:
    table = make_table(tmp_path, ["order_id", "region", "qty", "note"], DIRTY)
    operations = propose_operations(table, profile_table(table))
    cleaned = clean_table(table, operations, out=tmp_path / "cleaned.parquet")
    with connect(cleaned.table) as connection:
        rows = connection.execute("SELECT * FROM cleaned").fetchall()
    assert rows == [
        ("A-01", "East", 10), ("A-02", "west", 20), ("A-03", "west", 30), ("A-04", "west", 30),
        ("A-05", "East", 1),
    ]  # fmt: skip
    assert propose_operations(cleaned.table, profile_table(cleaned.table)) == ()


def test_missing_values_and_outliers_are_left_alone(tmp_path: Path) -> None:
    rows = [(f"A-{i:02}", None if i % 3 else "x y", 10.0 * (i % 4)) for i in range(20)]
    rows.append(("A-99", "z", 1e9))
    assert proposed(tmp_path, ["order_id", "note", "amount"], rows) == ()
