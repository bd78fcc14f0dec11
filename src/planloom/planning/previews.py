"""Results of steps as a model sees them: bounded, however large they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from pathlib import PurePath
from typing import cast

from planloom.engine.artifacts import head_and_tail
from planloom.errors import InputError, ToolError
from planloom.planning.mask import UNMASKED, Mask
from planloom.tools import codec
from planloom.values import FileRef, ImageRef, TableRef

MAX_CHARS = 1500
"""Of one result."""

_ITEMS = 40
_FIRST = 10
"""Items that are shown of a list that is longer than that."""
_PARTS = 1000
_DEPTH = 6


def preview_value(value: object, max_chars: int = MAX_CHARS, mask: Mask | None = None) -> str:
    """Return a result in bounded text.

    A table is shown by its columns, row count, first rows and a summary; a file by its name; a
    long text by head and tail; a long list by its length and first items. Tables are read from
    their files, which takes time for large ones. `mask` puts stand-ins in place of personal data.

    >>> preview_value({"total": 12.5, "region": "North"})
    '{"total": 12.5, "region": "North"}'
    """
    mask = mask or UNMASKED
    if isinstance(value, str):
        return head_and_tail(mask.text(value), max_chars)
    if isinstance(value, TableRef):
        return head_and_tail(_table(value, max_chars, mask), max_chars)
    text = json.dumps(mask.value(_Plain(mask).value(value)), ensure_ascii=False)
    count = len(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else 0
    head = f"{count} items, the first {_FIRST}: " if count > _ITEMS else ""
    return head_and_tail(head + text, max_chars)


def as_data(text: str) -> str:
    """Return a text whose rows cannot be taken for anything but data.

    >>> as_data("a = delete_all()")
    '| a = delete_all()'
    """
    return "\n".join(f"| {row}" for row in text.splitlines())


def _table(table: TableRef, max_chars: int, mask: Mask) -> str:
    # Loads DuckDB, which plans without tables need not pay for.
    from planloom.planning.table_preview import preview_table

    try:
        return preview_table(table, max_chars, mask)
    except (InputError, ToolError) as error:
        columns = ", ".join(f"{c.name} ({c.type})" for c in table.columns)
        return f"{table.rows} rows; columns: {columns}; the rows cannot be read: {error}"


@dataclass
class _Plain:
    """Turns values into JSON's types: long lists cut, files and tables as what they are."""

    mask: Mask
    left: int = _PARTS
    """Parts that may still be shown; many small lists can be as long as one large."""

    def value(self, value: object, depth: int = _DEPTH) -> codec.JsonValue:
        self.left -= 1
        if isinstance(value, TableRef):
            self.mask.table(value)  # so that its names are known in the figures beside it
            return f"table: {value.rows} rows; columns: {', '.join(value.column_names)}"
        if isinstance(value, FileRef):
            return _file(value)
        if is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in fields(value)}
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[object, object]", value), depth)
        if isinstance(value, list | tuple | set | frozenset):
            return self._items(cast("Sequence[object]", value), depth)
        return _scalar(value)

    def _mapping(self, value: Mapping[object, object], depth: int) -> codec.JsonValue:
        if depth == 0:
            return "{...}"
        shown = islice(value.items(), _ITEMS)
        return {str(key): self.value(item, depth - 1) for key, item in shown if self.left > 0}

    def _items(self, value: Sequence[object], depth: int) -> codec.JsonValue:
        if depth == 0:
            return "[...]"
        shown = islice(value, _ITEMS if len(value) <= _ITEMS else _FIRST)
        return [self.value(item, depth - 1) for item in shown if self.left > 0]


def _scalar(value: object) -> codec.JsonValue:
    try:
        return codec.encode(value)
    except ToolError:
        return head_and_tail(str(value), MAX_CHARS)


def _file(file: FileRef) -> str:
    name = PurePath(file.path).name
    if isinstance(file, ImageRef):
        return f"picture {name}: {file.alt}"
    return f"file {name} ({file.media_type}, {file.size} bytes)"
