"""Tool values in words for a model: short, with the shape of what is too large to show."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import cast

from planloom.errors import ToolError
from planloom.models.chat_model import Json
from planloom.planning.mask import UNMASKED, Mask
from planloom.planning.react.once import OfferedTool
from planloom.tools import codec
from planloom.tools.tool import AnyTool
from planloom.values import FileRef, ImageRef, TableRef


def spec_of(tool: AnyTool) -> OfferedTool:
    """Return a tool as a model is told of it; the first use of a tool builds its schema."""
    # Two names of one thing: what JSON is, with lists that may and may not be altered.
    parameters = cast("Mapping[str, Json]", tool.arguments_schema.for_models)
    return OfferedTool(tool.name, tool.description, parameters, tool.effect, tool.idempotent)


async def rendered(value: object, mask: Mask = UNMASKED) -> str:
    """Return a tool's value as text: text as it is, tables by shape and first rows, else JSON.

    `mask` puts stand-ins in place of personal data.
    """
    if isinstance(value, str):
        return mask.text(value)
    if value is None:
        return "done"
    if isinstance(value, TableRef):
        # Loads DuckDB and reads a file.
        return await asyncio.to_thread(_table_text, value, mask)
    if mask.sends:
        return _json_text(value, mask)
    return await asyncio.to_thread(_json_text, value, mask)


def _json_text(value: object, mask: Mask) -> str:
    try:
        plain = codec.encode(_described(value, mask))
        return json.dumps(mask.value(plain), ensure_ascii=False)
    except ToolError as error:
        return f"(the result cannot be shown: {error})"


def _table_text(table: TableRef, mask: Mask) -> str:
    from planloom.planning.previews import preview_value

    return f"a table of {preview_value(table, mask=mask)}"


def _described(value: object, mask: Mask) -> object:
    """Return a value with words in place of tables, pictures and files."""
    if isinstance(value, TableRef):
        mask.table(value)  # so that its names are known in the figures beside it
        return f"a table of {value.rows:,} rows; columns: {', '.join(value.column_names)}"
    if isinstance(value, ImageRef):
        return f"a picture of {value.width} x {value.height} pixels: {value.alt}"
    if isinstance(value, FileRef):
        return f"a file of {value.size:,} bytes ({value.media_type})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _described(getattr(value, f.name), mask) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {key: _described(item, mask) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [_described(item, mask) for item in cast("Sequence[object]", value)]
    return value
