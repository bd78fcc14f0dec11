"""Finds the lists of records in a JSON document, whichever of the usual shapes it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from planloom.analysis.loading.json_text import JsonRecord

_MAX_DEPTH = 5
# Where documents keep rows that are lists: elsewhere a list of lists is one value, such as a line
# on a map.
_ROWS = frozenset({"data", "rows", "values", "records", "results", "items"})
_DESCRIPTIONS = frozenset({"columns", "fields", "schema"})


@dataclass(frozen=True, kw_only=True)
class RecordList:
    """A list of records, which becomes one table."""

    title: str = ""
    """Names of the fields that lead to it; "" when it is the document itself."""
    items: Sequence[object]
    """Objects, lists of cells, or plain values."""
    names: tuple[str, ...] = ()
    """Of the cells when the items are lists and the document names them elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a document holds."""

    lists: tuple[RecordList, ...]
    """The longest one first."""
    left_out: tuple[str, ...] = ()
    """Fields beside the lists of records, which belong to none of them."""


def find_records(values: Sequence[object]) -> Found:
    """Return the lists of records in the values of a document, of which there is mostly one."""
    if len(values) != 1:
        lists = [cast("list[object]", value) for value in values if isinstance(value, list)]
        if len(lists) == len(values) and all(map(_mostly_objects, lists)):
            return _only([item for items in lists for item in items])
        return _only(values)
    document = values[0]
    if isinstance(document, list):
        return _only(cast("list[object]", document))
    if not isinstance(document, dict):
        return _only([document])
    return _of_object(cast("JsonRecord", document))


def _only(items: Sequence[object]) -> Found:
    return Found(lists=(RecordList(items=items),))


def _of_object(fields: JsonRecord) -> Found:
    lists = {key: cast("list[object]", v) for key, v in fields.items() if isinstance(v, list)}
    if "columns" in lists and "data" in lists and not _mostly_objects(lists["data"]):
        return _split(fields, lists)
    sizes = {len(values) for values in lists.values()}
    has_objects = any(isinstance(item, dict) for values in lists.values() for item in values)
    if lists and len(lists) == len(fields) and len(sizes) == 1 and not has_objects:
        rows = zip(*lists.values(), strict=True)
        return _only([dict(zip(lists, row, strict=True)) for row in rows])
    if not _is_keyed(fields):
        found = _search(fields)
        if found.lists:
            return found
    return _only(_keyed_records(fields))


def _split(fields: JsonRecord, lists: dict[str, list[object]]) -> Found:
    """Return the records of {"columns": [...], "data": [[...], ...]}, as pandas splits a table."""
    names = tuple(map(_column_name, lists["columns"]))
    rows, index = lists["data"], lists.get("index", [])
    if len(index) == len(rows) and index != list(range(len(rows))):
        rows = [
            [label, *cast("list[object]", row)] if isinstance(row, list) else row
            for label, row in zip(index, rows, strict=True)
        ]
        names = ("index", *names)
    left = [key for key, value in fields.items() if key not in {"columns", "data"} and value]
    return Found(
        lists=(RecordList(items=rows, names=names),),
        left_out=tuple(key for key in left if key != "index" or len(index) != len(rows)),
    )


def _column_name(column: object) -> str:
    """Return the name of a column, which some write as an object such as {"name": "sales"}."""
    if isinstance(column, dict):
        named = cast("JsonRecord", column)
        return str(named.get("name") or named.get("field") or named)
    return str(column)


def _mostly_objects(items: list[object]) -> bool:
    return bool(items) and sum(isinstance(item, dict) for item in items) * 2 >= len(items)


def _is_rows(key: str, items: list[object]) -> bool:
    return key in _ROWS and len(items) > 1 and all(isinstance(item, list) for item in items)


def _search(fields: JsonRecord) -> Found:
    """Return the lists of records anywhere in an object, but not inside of other lists."""
    leaves = list(_leaves(fields, "", 0))
    lists = {
        path: cast("list[object]", value)
        for path, value in leaves
        if isinstance(value, list) and _mostly_objects(cast("list[object]", value))
    }
    described = {path: items for path, items in lists.items() if _is_description(path, items)}
    if len(described) < len(lists):
        lists = {path: items for path, items in lists.items() if path not in described}
    rows = {
        path: cast("list[object]", value)
        for path, value in leaves
        if isinstance(value, list)
        and _is_rows(path.rpartition(".")[2], cast("list[object]", value))
    }
    if rows and lists.keys() == described.keys():
        lists = rows
    ordered = sorted(lists.items(), key=lambda found: -len(found[1]))
    left = [path for path, value in leaves if path not in lists and value not in (None, [], {})]
    return Found(
        lists=tuple(
            RecordList(title=path, items=items, names=_names(items, described))
            for path, items in ordered
        ),
        left_out=tuple(left),
    )


def _leaves(fields: JsonRecord, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    for key, value in fields.items():
        if isinstance(value, dict) and depth < _MAX_DEPTH:
            yield from _leaves(cast("JsonRecord", value), f"{prefix}{key}.", depth + 1)
        else:
            yield prefix + key, value


def _is_description(path: str, items: list[object]) -> bool:
    """Return whether a list describes the columns of another one."""
    return path.rpartition(".")[2] in _DESCRIPTIONS and all(
        isinstance(item, dict) and ("name" in item or "field" in item) for item in items
    )


def _names(items: list[object], described: dict[str, list[object]]) -> tuple[str, ...]:
    if not isinstance(items[0], list):
        return ()
    width = len(cast("list[object]", items[0]))
    for columns in described.values():
        if len(columns) == width:
            return tuple(map(_column_name, columns))
    return ()


def _is_keyed(fields: JsonRecord) -> bool:
    """Return whether the fields of an object are records of one kind, each under its key."""
    inner = [cast("JsonRecord", value) for value in fields.values() if isinstance(value, dict)]
    if len(inner) != len(fields) or len(inner) < 2:
        return False
    first = inner[0].keys()
    has_plain = any(not isinstance(value, dict | list) for value in inner[0].values())
    return has_plain and all(
        len(first & record.keys()) * 2 >= max(len(first), len(record)) for record in inner
    )


def _keyed_records(fields: JsonRecord) -> list[object]:
    """Return the records of {"a": {...}, "b": {...}}: by column as pandas writes, or by key."""
    inner = {k: cast("JsonRecord", v) for k, v in fields.items() if isinstance(v, dict)}
    if len(inner) != len(fields) or not inner:
        return [fields]
    keys = list(next(iter(inner.values())))
    if all(key.isdecimal() for key in keys) and all(list(v) == keys for v in inner.values()):
        rows = [{name: values[key] for name, values in inner.items()} for key in keys]
        if keys == [str(i) for i in range(len(keys))]:
            return list(rows)
        return [{_free("index", inner): key, **row} for key, row in zip(keys, rows, strict=True)]
    name = _free("key", {field for record in inner.values() for field in record})
    return [{name: key, **record} for key, record in inner.items()]


def _free(name: str, taken: set[str] | JsonRecord | dict[str, JsonRecord]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
