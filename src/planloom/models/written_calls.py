"""A tool call as it stands in a text, and the tools that may be meant."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from planloom.models.chat_model import ToolSpec
from planloom.models.json_repair import parse_json
from planloom.models.json_text import JsonData, UnreadableJsonError

_PREFIXES = ("functions.", "function.", "tools.", "tool.", "default_api.", "multi_tool_use.")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call found in a text."""

    name: str
    arguments: str
    """As written, or as JSON."""
    is_closed: bool = True
    """False when closing brackets were missing, as in a reply that was cut off."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a piece of text gave."""

    calls: tuple[WrittenCall, ...] = ()
    problems: tuple[str, ...] = ()
    end: int = 0
    """Where it ends in the text that was read."""

    def __bool__(self) -> bool:
        return bool(self.calls or self.problems)


NOTHING = Reading()


def known_name(name: str, known: Iterable[str]) -> str:
    """Return a tool's name without the namespace that some models put before it.

    >>> known_name("functions.search", ["search"])
    'search'
    """
    if name in known:
        return name
    for prefix in _PREFIXES:
        if name.startswith(prefix) and (short := name.removeprefix(prefix)) in known:
            return short
    return name


class KnownTools:
    """The tools that a model was told of."""

    def __init__(self, tools: Iterable[ToolSpec]):
        self._properties = {
            tool.name: cast("Mapping[str, JsonData]", tool.parameters.get("properties") or {})
            for tool in tools
        }

    def name(self, name: str) -> str:
        """Return the name of the tool that is meant; the name itself when there is none."""
        return known_name(name.strip(), self._properties)

    def __contains__(self, name: str) -> bool:
        return self.name(name) in self._properties

    def has_near(self, name: str) -> bool:
        """Tell whether a name is, or nearly is, that of a tool."""
        return name in self or bool(get_close_matches(name, self._properties, n=1, cutoff=0.75))

    def parameters(self, name: str) -> tuple[str, ...]:
        """Return a tool's parameters in order; none for an unknown tool."""
        return tuple(self._properties.get(self.name(name), ()))

    def typed(self, tool: str, parameter: str, text: str) -> JsonData:
        """Return what a text means where the form of a call has no types: `3` for "3".

        Texts stay texts where the parameter takes one; what cannot be read stays as it is, and
        fails its check later.
        """
        schema = self._properties.get(self.name(tool), {}).get(parameter)
        if not isinstance(schema, dict) or _takes_text(schema):
            return text
        try:
            return parse_json(text).value
        except UnreadableJsonError:
            return text


def _takes_text(schema: Mapping[str, JsonData]) -> bool:
    types = schema.get("type")
    named = types if isinstance(types, list) else [types]
    if "string" in named or any(isinstance(item, str) for item in _list(schema, "enum")):
        return True
    branches = [*_list(schema, "anyOf"), *_list(schema, "oneOf")]
    if branches:
        return any(isinstance(branch, dict) and _takes_text(branch) for branch in branches)
    return types is None


def _list(schema: Mapping[str, JsonData], key: str) -> list[JsonData]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def as_json(arguments: JsonData) -> str:
    """Return arguments as a text; those that are one already stay as they are."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
