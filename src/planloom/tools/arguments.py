"""Turns what a caller sent into what a function takes, or says what does not fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import cast

from planloom.errors import ArgumentError, ToolError
from planloom.tools.codec import JsonValue, encode
from planloom.tools.context import ToolContext
from planloom.tools.tool import AnyTool
from planloom.tools.validation import problems

_SHOWN_CHARS = 80


def check_arguments(
    tool: AnyTool, arguments: Mapping[str, object], *, pending: Collection[str] = ()
) -> tuple[str, ...]:
    """Return what is wrong with the arguments of a call, one sentence each; empty when all fits.

    Values are JSON or typed (a `TableRef` from an earlier step). `pending` names arguments whose
    values are not known yet, such as references in a plan: they count as given, any value goes.
    """
    found = _schema_problems(tool, arguments, pending)
    if found or pending:
        return found
    try:
        tool.arguments_schema.decode(arguments)
    except ArgumentError as error:
        return tuple(str(error).splitlines())
    return ()


def bind(tool: AnyTool, arguments: Mapping[str, object], context: ToolContext) -> dict[str, object]:
    """Return the keyword arguments for the tool's function, typed as its signature says.

    Raises:
        ArgumentError: the arguments do not fit; every problem is named.
    """
    found = _schema_problems(tool, arguments, ())
    if found:
        raise _refusal(tool, found)
    try:
        typed = tool.arguments_schema.decode(arguments)
    except ArgumentError as error:
        raise _refusal(tool, str(error).splitlines()) from error
    injected = tool.context_parameter
    return typed | {injected: context} if injected else typed


def _refusal(tool: AnyTool, found: Iterable[str]) -> ArgumentError:
    lines = "\n".join(f"- {text}" for text in found)
    return ArgumentError(
        f"Tool '{tool.name}' was not called, its arguments do not fit:\n{lines}\n"
        f"Call it as: {tool.signature_line()}"
    )


def _schema_problems(
    tool: AnyTool, arguments: Mapping[str, object], pending: Collection[str]
) -> tuple[str, ...]:
    unchecked = {*pending, *_typed(arguments)}
    found: list[str] = []
    data: dict[str, JsonValue] = {}
    kinds = {parameter.name: parameter.kind for parameter in tool.inputs}
    for name, value in arguments.items():
        if (kind := kinds.get(name)) and isinstance(value, str) and name not in unchecked:
            unchecked.add(name)
            data[name] = None
            found.append(_no_result(name, kind, value))
            continue
        try:
            data[name] = None if name in unchecked else encode(value)
        except ToolError as error:
            data[name] = None
            unchecked.add(name)
            found.append(f"'{name}': {error}")
    return (*found, *problems(_schema(tool, unchecked), data, naive_times=True))


def _no_result(name: str, kind: str, value: str) -> str:
    given = f'"{value}"' if len(value) <= _SHOWN_CHARS else f'"{value[:_SHOWN_CHARS]}..."'
    return (
        f"'{name}' must be a {kind} that an earlier call gave, passed by its name such as $c1; "
        f"{given} is no such result. Make the call that gives it first."
    )


def _typed(arguments: Mapping[str, object]) -> list[str]:
    """Return the names of arguments that are Python objects; pydantic judges these alone.

    A subclass of the wanted dataclass has more fields than the schema knows, and fits.
    """
    return [name for name, value in arguments.items() if not _has_json_form(value)]


def _has_json_form(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_has_json_form, cast("list[object]", value)))
    if isinstance(value, dict):
        return all(map(_has_json_form, cast("dict[object, object]", value).values()))
    # Bytes have no such form, but pydantic would take them for text.
    return value is None or type(value) in (bool, int, float, str, bytes, bytearray)


def _schema(tool: AnyTool, unchecked: Collection[str]) -> Mapping[str, JsonValue]:
    if not unchecked:
        return tool.parameters
    properties = cast("dict[str, JsonValue]", tool.parameters["properties"])
    opened = {name: True if name in unchecked else node for name, node in properties.items()}
    return {**tool.parameters, "properties": cast("JsonValue", opened)}
