from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.analysis.cleaning import Cleaned, clean_table
from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.operations import operations_from_json
from planloom.errors import ToolError
from planloom.values import TableRef, file_sha256


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


def test_no_operation_gives_a_copy(tmp_path: Path) -> None:
    table = make_table(tmp_path, PEOPLE)
    cleaned = clean(table)
    assert (cleaned.table.name, cleaned.table.sha256) == ("cleaned", table.sha256)
    assert rows_of(cleaned.table) == rows_of(table)
    assert (cleaned.log, cleaned.removed) == ((), None)


def test_the_source_is_not_touched(tmp_path: Path) -> None:
    table = make_table(tmp_path, PEOPLE)
    clean(table, "trim_text", "drop_duplicates")
    assert file_sha256(table.path) == table.sha256


@pytest.mark.parametrize(
    ("operation", "left"),
    [
        ({"op": "drop_where", "column": "n", "comparison": ">", "value": 2}, [1, 2, None, 2]),
        ({"op": "drop_where", "column": "n", "comparison": "<", "value": 1.5}, [2, None, 2, 5, 7]),
        ({"op": "drop_where", "column": "name", "comparison": "contains", "value": "o"}, [1, None]),
        ({"op": "drop_missing", "columns": ["amount"]}, [1, 5, 7]),
        ({"op": "drop_missing", "columns": ["name"]}, [1, 2, 2, 5, 7]),
        ({"op": "drop_duplicates", "columns": ["n"]}, [1, 2, None, 5, 7]),
        ({"op": "drop_total_rows", "column": "name", "labels": ["total"]}, [1, 2, None, 2, 5, 7]),
        ({"op": "drop_total_rows", "column": "name", "labels": ["Bob"], "rows": [4]},
         [1, 2, None, 5, 7]),
        ({"op": "blank_markers", "column": "n", "markers": [2, 7.0]},
         [1, None, None, None, 5, None]),
        ({"op": "fill_missing", "column": "n", "method": "median"}, [1, 2, 2, 2, 5, 7]),
        ({"op": "fill_missing", "column": "n", "method": "mode"}, [1, 2, 2, 2, 5, 7]),
        ({"op": "fill_missing", "column": "n", "method": "mean"}, [1, 2, 3.4, 2, 5, 7]),
        ({"op": "fill_missing", "column": "n", "method": "value", "value": -1},
         [1, 2, -1, 2, 5, 7]),
        ({"op": "convert", "column": "n", "type": "text"}, ["1", "2", None, "2", "5", "7"]),
    ],
)  # fmt: skip
def test_one_operation(tmp_path: Path, operation: object, left: list[object]) -> None:
    cleaned = clean(make_table(tmp_path, PEOPLE), operation)
    assert [row[1] for row in rows_of(cleaned.table)] == left
    assert cleaned.table.rows == len(left)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "rename", "column": "amuont", "to": "x"}, "Did you mean 'amount'"),
        ({"op": "rename", "column": "n", "to": "AMOUNT"}, "a column has that name"),
        ({"op": "rename", "column": "n", "to": ""}, "empty"),
        ({"op": "convert", "column": "name", "type": "number"}, "' Ann '"),
        ({"op": "fill_missing", "column": "name", "method": "mean"}, "has no mean"),
        ({"op": "fill_missing", "column": "n", "method": "value"}, "needs a value"),
        ({"op": "fill_missing", "column": "n", "method": "value", "value": "x"}, "does not fit"),
        ({"op": "drop_where", "column": "n", "comparison": ">", "value": "x"}, "does not fit"),
        ({"op": "unify_spelling", "column": "n", "mapping": {"1": "2"}}, "is for text"),
        ({"op": "drop_total_rows", "column": "name", "labels": []}, "labels"),
    ],
)
def test_what_cannot_be_done_is_refused(tmp_path: Path, operation: object, message: str) -> None:
    table = make_table(tmp_path, PEOPLE)
    with pytest.raises(ToolError) as caught:
        clean(table, operation)
    assert message in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["source.parquet"]


def test_a_fraction_filled_in_makes_a_whole_column_a_number(tmp_path: Path) -> None:
    operation = {"op": "fill_missing", "column": "n", "method": "mean"}
    cleaned = clean(make_table(tmp_path, PEOPLE), operation)
    assert cleaned.table.column("n").type == "number"


def test_empty_columns_are_dropped_and_units_kept(tmp_path: Path) -> None:
    query = "SELECT i, NULL AS e, '' AS b, i * 1.5 AS x FROM range(3) t(i)"
    with connect(writable=tmp_path) as connection:
        path = tmp_path / "source.parquet"
        table = write_table(connection, query, path, name="source", units={"x": "$"})
    cleaned = clean(table, "drop_empty_columns")
    assert [(each.name, each.unit) for each in cleaned.table.columns] == [("i", ""), ("x", "$")]


def test_odd_names_and_labels_pass_through(tmp_path: Path) -> None:
    name, text = 'a"; DROP TABLE x --', "'); DROP TABLE x; --"
    query = f'SELECT {literal(text)} AS {identifier(name)}, 1 AS "row", 2 AS "operation"'
    cleaned = clean(
        make_table(tmp_path, query + " UNION ALL SELECT 'b', 3, 4"),
        {"op": "unify_spelling", "column": name, "mapping": {"b": "it's"}},
        {"op": "drop_total_rows", "column": name, "labels": [text]},
    )
    assert rows_of(cleaned.table) == [("it's", 3, 4)]
    assert cleaned.removed is not None
    assert cleaned.removed.column_names == ("row_", "operation_", name, "row", "operation")
    assert rows_of(cleaned.removed) == [(1, "drop_total_rows", text, 1, 2)]


def test_rows_keep_their_order_through_a_big_clean(tmp_path: Path) -> None:
    query = "SELECT (i * 7919) % 200003 AS n, 'x ' AS t FROM range(250000) t(i)"
    cleaned = clean(make_table(tmp_path, query), "trim_text", "drop_duplicates")
    assert rows_of(cleaned.table) == [((i * 7919) % 200003, "x") for i in range(200003)]
    assert cleaned.removed is not None
    assert cleaned.removed.rows == 49_997


@pytest.mark.parametrize("query", ["SELECT 1 AS a, 'x' AS b WHERE FALSE", "SELECT NULL AS a"])
def test_tables_with_little_in_them_can_be_cleaned(tmp_path: Path, query: str) -> None:
    cleaned = clean(make_table(tmp_path, query), "trim_text", "drop_duplicates", "drop_empty_rows")
    assert cleaned.table.rows == 0
    assert all(step.cells_changed == 0 for step in cleaned.log)


def test_two_thousand_columns_are_cleaned(tmp_path: Path) -> None:
    texts = [f"' v{k} ' AS t{k}" for k in range(200)]
    columns = ", ".join([*texts, *(f"{k} AS n{k}" for k in range(1799)), "NULL AS e"])
    table = make_table(tmp_path, f"SELECT {columns} FROM range(3)")
    cleaned = clean(table, "trim_text", "drop_empty_rows", "drop_empty_columns")
    assert rows_of(cleaned.table)[2] == (*(f"v{k}" for k in range(200)), *range(1799))
    assert cleaned.log[0].cells_changed == 600


CELLS = st.sampled_from([None, "", " ", "a", "a ", "A", "b", "Total", "\u3000c"])
STEPS = st.sampled_from(
    [
        "trim_text",
        "drop_empty_rows",
        "drop_duplicates",
        {"op": "drop_total_rows", "column": "x", "labels": ["Total"]},
        {"op": "drop_missing", "columns": ["y"]},
        {"op": "unify_spelling", "column": "x", "mapping": {"A": "a"}},
        {"op": "blank_markers", "column": "y", "markers": ["b"]},
        {"op": "drop_where", "column": "x", "comparison": "=", "value": "b"},
    ]
)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    steps=st.lists(STEPS, min_size=1, max_size=5),
)
def test_no_row_is_lost_whatever_is_done(
    rows: list[tuple[str | None, str | None]], steps: list[object]
) -> None:
    values = ", ".join(f"({i}, {literal(x)}, {literal(y)})" for i, (x, y) in enumerate(rows))
    with TemporaryDirectory() as folder:
        query = f"SELECT * FROM (VALUES {values}) AS t(i, x, y)"
        cleaned = clean(make_table(Path(folder), query), *steps)
        kept = [row[0] for row in rows_of(cleaned.table)]
        removed = [row[2] for row in rows_of(cleaned.removed)] if cleaned.removed else []
    assert kept == sorted(kept)
    assert sorted([*kept, *removed]) == list(range(len(rows)))
    before = len(rows)
    for step in cleaned.log:
        assert (step.rows_before, step.rows_after <= before) == (before, True)
        assert "{" not in step.text.text("en") + step.text.text("zh")
        before = step.rows_after
    assert before == len(kept)
