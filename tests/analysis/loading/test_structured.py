"""JSON of any shape becomes tables without losing a value in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.results import LoadedFile, LoadedTable
from planloom.errors import InputError

Load = Callable[..., LoadedFile]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write content to a file of this name and load it."""

    def write_and_load(content: str | bytes, name: str = "data.json") -> LoadedFile:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_file(path, out=tmp_path / "out")

    return write_and_load


def rows(table: LoadedTable) -> list[tuple[object, ...]]:
    return duckdb.execute("FROM read_parquet(?)", [table.table.path]).fetchall()


def rejected(table: LoadedTable) -> list[tuple[object, ...]]:
    assert table.rejected is not None
    return duckdb.execute("FROM read_parquet(?)", [table.rejected.path]).fetchall()


def said(loaded: LoadedFile) -> str:
    notes = [*loaded.decisions, *(n for table in loaded.tables for n in table.decisions)]
    assert all(note.text("zh") for note in notes)
    return "\n".join(note.text("en") for note in notes)


def test_rows_that_are_too_long_are_rejected_with_a_reason(load: Load) -> None:
    loaded = load('[["id", "name"], [1, "a"], [2, "b", "extra"], [3], [4, "d"]]')
    table = loaded.tables[0]
    assert rows(table) == [(1, "a"), (3, None), (4, "d")]
    assert (table.rows_in, table.rows_rejected, table.header_row) == (4, 1, 1)
    assert rejected(table) == [(3, "3 fields instead of 2", '[2, "b", "extra"]')]
    assert "1 record has fewer cells" in said(loaded)


def test_columns_beyond_the_header_keep_their_values(load: Load) -> None:
    table = load('[["id"], [1, "a"], [2, "b"], [3, "c"]]').tables[0]
    assert (table.header, rows(table)[0]) == (("id", "column_2"), (1, "a"))


@pytest.mark.parametrize(
    "document",
    [
        '[["id", "v", "id"], [1, "a", 2], [3, "b", 4]]',
        '{"columns": ["id", "v", "id"], "data": [[1, "a", 2], [3, "b", 4]]}',
        '[{"id": 1, "v": "a", "id": 2}, {"id": 3, "v": "b", "id": 4}]',
    ],
)
def test_repeated_names_lose_no_column(load: Load, document: str) -> None:
    loaded = load(document)
    assert sorted(loaded.tables[0].header) == ["id", "id_2", "v"]
    assert {1, 2, "a"} == set(rows(loaded.tables[0])[0])
    assert "id_2" in said(loaded)


def test_name_with_a_point_is_not_a_field_of_a_field(load: Load) -> None:
    table = load('[{"a": {"b": 1}}, {"a.b": 2, "a": {"b": 3}}]').tables[0]
    assert table.header == ("a.b", "a.b_2")
    assert rows(table) == [(1, None), (3, 2)]


def test_every_list_of_records_becomes_a_table(load: Load) -> None:
    loaded = load('{"made": "today", "b": [{"y": 9}], "in": {"a": [{"x": 1}, {"x": 2}]}}')
    assert [(t.title, t.table.name, rows(t)) for t in loaded.tables] == [
        ("in.a", "source", [(1,), (2,)]),
        ("b", "source_2", [(9,)]),
    ]
    assert "2 lists of records" in said(loaded)
    assert "Fields beside the records left out: made." in said(loaded)


@pytest.mark.parametrize("document", ['[{"c": null}, {"c": 1}]', '{"c": null}\n{"c": 1}\n'])
def test_record_of_nulls_is_a_record(load: Load, document: str) -> None:
    table = load(document).tables[0]
    assert (rows(table), table.rows_rejected) == ([(None,), (1,)], 0)


def test_numbers_that_are_not_finite_are_counted(load: Load) -> None:
    loaded = load('[{"v": NaN, "w": 1e400}, {"v": 1.5, "w": 2}]')
    assert rows(loaded.tables[0]) == [(None, None), (1.5, 2)]
    assert "2 numbers that are not finite" in said(loaded)


@pytest.mark.parametrize(
    ("document", "header", "first"),
    [
        ('{"r1": {"key": "K", "v": 2}, "r2": {"key": "L", "v": 4}}', ("key_", "key", "v"),
         ("r1", "K", 2)),
        ('{"a": {"5": 1, "9": 2}}', ("index", "a"), (5, 1)),
        ('{"columns": ["a"], "index": ["x", "y"], "data": [[1], [2]]}', ("index", "a"), ("x", 1)),
        ('{"meta": {"columns": [{"name": "a"}, {"name": "b"}]}, "data": [[1, "x"], [2, "y"]]}',
         ("a", "b"), (1, "x")),
    ],
)  # fmt: skip
def test_keys_of_records_are_kept(
    load: Load, document: str, header: tuple[str, ...], first: tuple[object, ...]
) -> None:
    table = load(document).tables[0]
    assert (table.header, rows(table)[0]) == (header, first)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ('["a", "b"]\n[1, 2]\n[3, 4]\n', "d.jsonl"),
        ('["a", "b"]\n[1, 2]\n[3, 4]\n', "d.txt"),
        ('{"a": 1, "b": 2}{"a": 3, "b": 4}', "d.json"),
        ('{"a": 1,\n "b": 2}\n{"a": 3,\n "b": 4}\n', "d.txt"),
        ('[{"a": 1, "b": 2}]\n[{"a": 3,\n "b": 4}]', "d.json"),
        ('\x1e{"a": 1, "b": 2}\n\x1e{"a": 3, "b": 4}\n', "d.jsonl"),
    ],
)
def test_values_after_each_other_are_records(load: Load, document: str, name: str) -> None:
    table = load(document, name).tables[0]
    assert (table.header, rows(table)) == (("a", "b"), [(1, 2), (3, 4)])


@pytest.mark.parametrize(
    ("document", "name"), [("1\n2\n3\n", "d.ndjson"), ("[1, 2, 3]", "d.txt"), ("[1,2,3]", "d.csv")]
)
def test_plain_values_are_one_column(load: Load, document: str, name: str) -> None:
    table = load(document, name).tables[0]
    assert (table.header, rows(table)) == (("value",), [(1,), (2,), (3,)])


@pytest.mark.parametrize(
    ("text", "name"),
    [("{a},{b}\n1,2\n", "d.csv"), ("[a],[b]\n1,2\n", "d.csv"), ("[1],[2]\n3,4\n", "d.csv"),
     ("a,b\n1,2\n", "d.jsonl")],
)  # fmt: skip
def test_brackets_alone_make_no_json(load: Load, text: str, name: str) -> None:
    loaded = load(text, name)
    assert (loaded.format, len(loaded.tables[0].header)) == ("csv", 2)


def test_what_is_no_record_of_its_list_is_rejected(load: Load) -> None:
    table = load('[{"a": 1}, 5, {"a": 2}, {}]').tables[0]
    assert rows(table) == [(1,), (2,)]
    assert rejected(table) == [(2, "no JSON object", "5"), (4, "blank record", "{}")]


def test_endless_nesting_is_refused(load: Load) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        load("[" * 100_000)


def test_every_value_of_a_large_document_arrives(load: Load) -> None:
    records = [{"n": i, "t": f"text {i}"} for i in range(9_000)]
    table = load(json.dumps(records)).tables[0]
    assert rows(table) == [(i, f"text {i}") for i in range(9_000)]
