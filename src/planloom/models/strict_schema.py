"""The dialect of JSON Schema that OpenAI's strict mode takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from planloom.models.chat_model import Json

_MAPS = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NULL: Mapping[str, Json] = {"type": "null"}


def strict_schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema in which objects are closed and name all their properties as required.

    Strict mode knows no optional property: one that may be left out may be null instead, which the
    reader of the reply has to take for "not given".

    >>> strict_schema({"type": "object", "properties": {"n": {"type": "integer"}}})["required"]
    ['n']
    """
    made: dict[str, Json] = {}
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, Mapping):
            made[key] = {name: _strict(part) for name, part in value.items()}
        elif key in _LISTS and isinstance(value, list | tuple):
            made[key] = [_strict(part) for part in value]
        elif key in ("items", "not"):
            made[key] = _strict(value)
        else:
            made[key] = value
    properties = made.get("properties")
    if isinstance(properties, Mapping):
        return made | _all_required(properties, schema.get("required"))
    return made | {"additionalProperties": False} if made.get("type") == "object" else made


def _strict(node: Json) -> Json:
    return strict_schema(node) if isinstance(node, Mapping) else node


def _all_required(properties: Mapping[str, Json], required: Json) -> dict[str, Json]:
    needed = required if isinstance(required, list | tuple) else ()
    return {
        "properties": {
            name: node if name in needed else _nullable(node) for name, node in properties.items()
        },
        "required": cast("list[Json]", list(properties)),
        "additionalProperties": False,
    }


def _nullable(node: Json) -> Json:
    if not isinstance(node, Mapping):
        return node
    types = node.get("type")
    if isinstance(types, str) and "enum" not in node and "const" not in node:
        return node if types == "null" else {**node, "type": [types, "null"]}
    if isinstance(types, list | tuple) and "null" in types:
        return node
    return {"anyOf": [node, _NULL]}
