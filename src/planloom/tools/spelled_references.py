"""Finds references that a caller spelled out in place of naming an earlier step.

A plan may come from a model that read a hostile file. A picture or table that it spells out as an
object names any path of the machine, past every rule on paths; so only values that a tool made
count as references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from planloom.tools.signature import CLASS_MARK, KIND_MARK
from planloom.tools.tool import AnyTool

_CHOICES = ("anyOf", "oneOf", "allOf")

_Schema = Mapping[str, object]


@dataclass(frozen=True)
class SpelledReference:
    """An object that stands where only the result of an earlier step may stand."""

    argument: str
    place: str
    """Where it stands: "sections[0].images[1]"."""
    kind: str
    """What is wanted there: "table", "image", "file", ..."""

    def __str__(self) -> str:
        """Return what is wrong, as one sentence."""
        return (
            f"'{self.place}' spells out a reference ({self.kind}) as an object; "
            "only the result of an earlier step can stand there."
        )


def spelled_references(
    tool: AnyTool, arguments: Mapping[str, object], *, resolved: bool = False
) -> list[SpelledReference]:
    """Return the references that the arguments of a call spell out, at any depth.

    With `resolved`, results of earlier steps stand in the arguments as the typed values they are:
    what a dataclass is wanted for must be one, and a mapping there was made up on the way.
    """
    schema = tool.arguments_schema.marked
    search = _Search(cast("_Schema", schema.get("$defs", {})), resolved)
    properties = cast("_Schema", schema["properties"])
    return [
        SpelledReference(name, place, kind)
        for name, value in arguments.items()
        if name in properties
        for place, kind in dict(search.within(properties[name], value, name)).items()
    ]


@dataclass(frozen=True)
class _Search:
    definitions: _Schema
    resolved: bool

    def within(self, node: object, value: object, place: str) -> Iterator[tuple[str, str]]:
        """Yield place and kind of each spelled-out reference of a value."""
        if not isinstance(node, Mapping):
            return
        schema = self._followed(cast("_Schema", node))
        if isinstance(value, Mapping):
            yield from self._mapping(schema, cast("Mapping[str, object]", value), place)
        elif isinstance(value, list | tuple):
            yield from self._items(schema, cast("Sequence[object]", value), place)
        for choice in self._choices(schema):
            yield from self.within(choice, cast("object", value), place)

    def _followed(self, node: _Schema) -> _Schema:
        while isinstance(name := node.get("$ref"), str):
            beside = {key: value for key, value in node.items() if key != "$ref"}
            target = cast("_Schema", self.definitions[name.removeprefix("#/$defs/")])
            node = {**target, **beside}
        return node

    def _mapping(
        self, schema: _Schema, value: Mapping[str, object], place: str
    ) -> Iterator[tuple[str, str]]:
        if KIND_MARK in schema and (CLASS_MARK in schema or not self.resolved):
            yield place, str(schema[KIND_MARK])
            return
        properties = cast("_Schema", schema.get("properties", {}))
        others = schema.get("additionalProperties")
        for key, item in value.items():
            yield from self.within(properties.get(key, others), item, f"{place}.{key}")
            for part in cast("_Schema", schema.get("patternProperties", {})).values():
                yield from self.within(part, item, f"{place}.{key}")

    def _items(
        self, schema: _Schema, value: Sequence[object], place: str
    ) -> Iterator[tuple[str, str]]:
        first = cast("Sequence[object]", schema.get("prefixItems", ()))
        for index, item in enumerate(value):
            node = first[index] if index < len(first) else schema.get("items")
            yield from self.within(node, item, f"{place}[{index}]")

    def _choices(self, schema: _Schema) -> Iterator[object]:
        for keyword in _CHOICES:
            yield from cast("Sequence[object]", schema.get(keyword, ()))
