"""Makes the JSON Schemas of other people's functions fit for checking arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from planloom.tools.codec import JsonValue

_TYPES = {
    **dict.fromkeys(("dict", "map", "hashmap", "struct", "record"), "object"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    **dict.fromkeys(("str", "text", "char"), "string"),
    **dict.fromkeys(("tuple", "list", "arraylist", "set"), "array"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("none", "nonetype"), "null"),
}
_KNOWN = frozenset({"object", "number", "integer", "string", "array", "boolean", "null"})
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = ("items", "additionalProperties", "contains", "not", "if", "then", "else")
_OPEN_KEYS = ("additionalProperties", "patternProperties", "unevaluatedProperties", "$ref", *_LISTS)

Schema = dict[str, JsonValue]


def checkable(parameters: Mapping[str, object]) -> Schema:
    """Return the schema of a function's arguments in the words of JSON Schema.

    Type names of programming languages ("dict", "float", "any") are translated, and arguments that
    the schema does not name are forbidden unless it allows them expressly, or names none at all: a
    model that invents one is told.
    """
    schema = _translated(cast("Mapping[str, JsonValue]", parameters))
    if "properties" in schema and not any(key in schema for key in _OPEN_KEYS):
        schema["additionalProperties"] = False
    return schema


def with_defaults_allowed(schema: Schema, arguments: Mapping[str, JsonValue]) -> Schema:
    """Return a schema that takes those of the arguments that are its own defaults, as they are.

    Many schemas state a default that is not of the argument's type, such as "any" for a number.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    opened: dict[str, JsonValue] = {
        name: True
        for name, node in properties.items()
        if isinstance(node, dict)
        and name in arguments
        and "default" in node
        and _same(node["default"], arguments[name])
    }
    return {**schema, "properties": {**properties, **opened}} if opened else schema


def _same(one: JsonValue, other: JsonValue) -> bool:
    return type(one) is type(other) and one == other


def with_whole_numbers(value: JsonValue, schema: JsonValue, root: Schema) -> JsonValue:
    """Return a value with 3.0 as 3 where the schema wants integers; JSON makes no difference."""
    node = _resolved(schema, root)
    if isinstance(value, float) and value.is_integer() and _wants_integer(node, root):
        return int(value)
    if isinstance(value, dict):
        named, other = node.get("properties"), node.get("additionalProperties")
        known = named if isinstance(named, dict) else {}
        return {
            key: with_whole_numbers(part, known.get(key, other), root)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [with_whole_numbers(part, node.get("items"), root) for part in value]
    return value


def takes_only(schema: JsonValue, kind: str, root: Schema) -> bool:
    """Tell whether a value may be of a type ("object", "array") and cannot be a text."""
    types = set(_types(_resolved(schema, root), root))
    return kind in types and "string" not in types


def _translated(node: Mapping[str, JsonValue]) -> Schema:
    made: Schema = dict(node)
    for key, value in node.items():
        if key in _MAPS and isinstance(value, dict):
            made[key] = {name: _translated_any(part) for name, part in value.items()}
        elif key in _LISTS and isinstance(value, list):
            made[key] = [_translated_any(part) for part in value]
        elif key in _SINGLES:
            made[key] = _translated_any(value)
    _translate_type(made)
    if not isinstance(made.get("required", []), list):
        del made["required"]  # draft 3 and some generators put true or false here
    return made


def _translated_any(node: JsonValue) -> JsonValue:
    return _translated(node) if isinstance(node, dict) else node


def _translate_type(node: Schema) -> None:
    given = node.get("type")
    if given is None:
        return
    names = [_type_name(name) for name in (given if isinstance(given, list) else [given])]
    kept = list(dict.fromkeys(name for name in names if name))
    if len(kept) < len(set(names)) or not kept:
        del node["type"]  # "any", or a name that nobody knows: nothing can be said of the type
    else:
        node["type"] = cast("JsonValue", kept) if isinstance(given, list) else kept[0]


def _type_name(name: JsonValue) -> str:
    text = str(name)
    if text in _KNOWN:
        return text
    lowered = text.lower()
    return lowered if lowered in _KNOWN else _TYPES.get(lowered, "")


def _resolved(schema: JsonValue, root: Schema) -> Schema:
    """Return a schema as an object, behind a reference inside of the same document."""
    for _ in range(10):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: JsonValue = root
        for key in reference[2:].split("/"):
            target = target.get(key) if isinstance(target, dict) else None
        schema = target
    return {}


def _types(node: Schema, root: Schema) -> Iterator[str]:
    given = node.get("type")
    yield from (str(name) for name in (given if isinstance(given, list) else [given]) if name)
    for key in ("anyOf", "oneOf"):
        branches = node.get(key)
        for branch in branches if isinstance(branches, list) else ():
            yield from _types(_resolved(branch, root), root)


def _wants_integer(node: Schema, root: Schema) -> bool:
    types = set(_types(node, root))
    return "integer" in types and "number" not in types
