"""Reads files whose fields have names and types already: Parquet, JSON, JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import duckdb

from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.loading.byte_scan import ByteScan
from planloom.analysis.loading.encoding import Encoding
from planloom.analysis.loading.header_names import unique_names
from planloom.analysis.loading.results import FileFormat, LoadedTable
from planloom.analysis.loading.staging import SCRATCH, RawTable, StagedRows
from planloom.analysis.loading.text_lines import TextFile
from planloom.analysis.loading.typed_table import write_typed
from planloom.errors import InputError
from planloom.notes import Note

MAX_JSON_BYTES = 200_000_000
"""A JSON document is read as a whole, which takes several times its size in memory."""
_MAX_DEPTH = 5
JsonRecord = dict[str, object]


# Parquet


def load_parquet(path: Path, *, out: Path, title: str, name: str) -> LoadedTable:
    """Return the table of a Parquet file; `name` is what messages call the file.

    Raises:
        InputError: the file is damaged.
    """
    source = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    with connect(writable=out, readable=(path,)) as connection:
        try:
            described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            old = [str(row[0]) for row in described]
            names, notes = unique_names(old)
            columns = ", ".join(
                f"{_as_plain(column, str(row[1]))} AS {identifier(new)}"
                for column, new, row in zip(old, names, described, strict=True)
            )
            query = f"SELECT {columns} FROM {source}"
            table = write_table(connection, query, out / "source.parquet", name="source")
        except duckdb.Error as error:
            raise InputError(
                f"'{name}' is a damaged Parquet file: {error}. Write or download it again."
            ) from error
    return LoadedTable(
        table=table, title=title, header=names, rows_in=table.rows, rows_kept=table.rows,
        rows_rejected=0, header_row=None, rejected=None, decisions=notes,
    )  # fmt: skip


def _as_plain(column: str, sql_type: str) -> str:
    """Return SQL for a column in the type that all later steps work with."""
    quoted = identifier(column)
    if sql_type.startswith("DECIMAL") or sql_type == "FLOAT":
        return f"CAST({quoted} AS DOUBLE)"
    if sql_type.endswith(("INT", "INTEGER")) and sql_type != "BIGINT":
        return f"CAST({quoted} AS {'DOUBLE' if 'HUGE' in sql_type else 'BIGINT'})"
    if sql_type.startswith(("STRUCT", "MAP")) or sql_type.endswith("]"):
        return f"CAST(to_json({quoted}) AS VARCHAR)"
    return quoted


# JSON


@dataclass(frozen=True, kw_only=True)
class _Broken:
    """A line that is no JSON record."""

    line: int
    reason: str
    content: str


Item = tuple[int, JsonRecord] | _Broken


def load_json(
    path: Path,
    scan: ByteScan,
    encoding: Encoding,
    *,
    file_format: FileFormat,
    out: Path,
    title: str,
    name: str,
) -> LoadedTable:
    """Return the table of a JSON document or of JSON lines; `name` is what messages call the file.

    Raises:
        InputError: the text is no JSON, too large for one document, or holds no records.
    """
    text = TextFile(path=path, scan=scan, encoding=encoding)
    if file_format == "jsonl":

        def items() -> Iterator[Item]:
            return _json_lines(text)
    else:
        records = [(i, flat(item)) for i, item in enumerate(_records(_document(text, name)), 1)]

        def items() -> Iterator[Item]:
            return iter(records)

    keys = _keys(items())
    if not keys:
        raise InputError(
            f"'{name}' holds no records. Give a list of objects such as "
            '[{"month": "2024-01", "sales": 12}].'
        )
    return write_typed(_stage(items, keys, out, title), out, name="source")


def _json_lines(text: TextFile) -> Iterator[Item]:
    for number, line in enumerate(text.lines(), start=1):
        if not (content := line.strip("\ufeff \t\r\n")):
            continue
        try:
            found = json.loads(content)
        except ValueError as error:
            yield _Broken(line=number, reason=f"no valid JSON: {error}", content=content[:1000])
            continue
        if isinstance(found, dict):
            yield number, flat(cast("JsonRecord", found))
        else:
            yield _Broken(line=number, reason="no JSON object", content=content[:1000])


def _document(text: TextFile, name: str) -> object:
    if text.scan.size > MAX_JSON_BYTES:
        raise InputError(
            f"'{name}' is a JSON document of {text.scan.size:,} bytes; at most "
            f"{MAX_JSON_BYTES:,} are read as one document. Save it as JSON lines, one record a "
            "line, or as CSV."
        )
    try:
        return json.loads("".join(text.lines()).lstrip("\ufeff"))
    except ValueError as error:
        raise InputError(
            f"'{name}' is no valid JSON: {error}. Correct that place or export the file again."
        ) from error


def _records(document: object) -> Iterable[JsonRecord]:
    """Return the records of a JSON document, whichever of the usual shapes it has."""
    if isinstance(document, list):
        return _list_records(cast("list[object]", document))
    if not isinstance(document, dict):
        return [{"value": document}]
    fields = cast("JsonRecord", document)
    columns = fields.get("columns")
    lists = {key: cast("list[object]", v) for key, v in fields.items() if isinstance(v, list)}
    if isinstance(columns, list) and "data" in lists:
        names = [_column_name(column) for column in cast("list[object]", columns)]
        return [_named(names, row) for row in lists["data"]]
    sizes = {len(values) for values in lists.values()}
    has_objects = any(isinstance(item, dict) for values in lists.values() for item in values)
    if len(lists) == len(fields) and len(sizes) == 1 and not has_objects:
        rows = zip(*lists.values(), strict=True)
        return [dict(zip(lists, row, strict=True)) for row in rows]
    of_records = [values for values in lists.values() if _mostly_objects(values)]
    if of_records:
        return _list_records(max(of_records, key=len))
    return _keyed_records(fields)


def _column_name(column: object) -> str:
    """Return the name of a column, which some write as an object such as {"name": "sales"}."""
    if isinstance(column, dict):
        named = cast("JsonRecord", column)
        return str(named.get("name") or named.get("field") or named)
    return str(column)


def _named(names: Sequence[str], row: object) -> JsonRecord:
    if isinstance(row, dict):
        return cast("JsonRecord", row)
    cells: list[object] = cast("list[object]", row) if isinstance(row, list) else [row]
    return dict(zip(names, cells, strict=False))


def _mostly_objects(items: list[object]) -> bool:
    return bool(items) and sum(isinstance(item, dict) for item in items) * 2 > len(items)


def _list_records(items: list[object]) -> Iterable[JsonRecord]:
    if items and all(isinstance(item, list) for item in items):
        rows = cast("list[list[object]]", items)
        if rows[0] and all(isinstance(cell, str) for cell in rows[0]):
            names = [str(cell) for cell in rows[0]]
            return [_named(names, row) for row in rows[1:]]
        width = max(map(len, rows))
        return [_named([f"column_{i}" for i in range(1, width + 1)], row) for row in rows]
    return [
        cast("JsonRecord", item) if isinstance(item, dict) else {"value": item} for item in items
    ]


def _keyed_records(fields: JsonRecord) -> Iterable[JsonRecord]:
    """Return the records of {"a": {...}, "b": {...}}: by column as pandas writes, or by key."""
    inner = {k: cast("JsonRecord", v) for k, v in fields.items() if isinstance(v, dict)}
    nested = [
        value
        for value in inner.values()
        if any(
            isinstance(w, list) and _mostly_objects(cast("list[object]", w)) for w in value.values()
        )
    ]
    if len(nested) == 1:
        return _records(nested[0])
    if len(inner) != len(fields) or not inner:
        return [fields]
    keys = list(next(iter(inner.values())))
    if all(key.isdecimal() for key in keys) and all(list(v) == keys for v in inner.values()):
        return [{name: values[key] for name, values in inner.items()} for key in keys]
    return [{"key": key, **record} for key, record in inner.items()]


def flat(record: JsonRecord, prefix: str = "", depth: int = 0) -> JsonRecord:
    """Return a record whose inner objects are fields of their own.

    >>> flat({"id": 1, "place": {"city": "Bonn", "geo": {"lat": 50.7}}})
    {'id': 1, 'place.city': 'Bonn', 'place.geo.lat': 50.7}
    """
    found: JsonRecord = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and depth < _MAX_DEPTH:
            found |= flat(cast("JsonRecord", value), f"{prefix}{key}.", depth + 1)
        else:
            found[prefix + key] = value
    return found


def _keys(items: Iterable[Item]) -> tuple[str, ...]:
    keys: dict[str, None] = {}
    for item in items:
        if not isinstance(item, _Broken):
            keys |= dict.fromkeys(item[1])
    return tuple(keys)


def _stage(
    items: Callable[[], Iterable[Item]], keys: tuple[str, ...], out: Path, title: str
) -> RawTable:
    names, notes = unique_names(keys)
    with StagedRows(folder=out / SCRATCH, name="source", width=len(keys)) as rows:
        for item in items():
            if isinstance(item, _Broken):
                rows.reject(item.line, item.reason, [item.content])
                continue
            cells = [_json_text(item[1].get(key)) for key in keys]
            if any(cells):
                rows.keep(cells)
            else:
                rows.reject(item[0], "blank record", cells)
    if rows.rejected:
        notes = (*notes, Note(
            "{n|record|records} that could not be read or hold nothing rejected.",
            "{n} 条无法读取或为空的记录已剔除。",
            {"n": rows.rejected},
        ))  # fmt: skip
    return RawTable(
        path=rows.rows_path, delimiter=",", skip=0, width=len(keys), names=names,
        places=tuple(range(len(keys))), sample=tuple(rows.sample), longest=rows.longest,
        title=title, header_row=None, rows_in=rows.kept + rows.rejected,
        rejected=rows.rejected_path if rows.rejected else None, notes=notes, native=True,
    )  # fmt: skip


def _json_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value.encode("utf-8", "replace").decode()
        case float():
            return repr(value) if math.isfinite(value) else ""
        case int():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)
