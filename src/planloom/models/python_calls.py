"""Tool calls that a model writes as Python calls; read from the syntax tree, never executed."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings

from planloom.models.json_text import JsonData
from planloom.models.written_calls import NOTHING, KnownTools, Reading, WrittenCall

MAX_CHARS = 200_000
"""Longer texts are no calls: Python's parser needs much memory for them."""
_BEGINS_LIKE_CALL = re.compile(r"\s*\[?\s*(?P<name>[A-Za-z_][\w.]*)\(")
_ARGUMENT = re.compile(r"\s*(?:\w+\s*=|[\"'\[{])")
_JSON_NAMES: dict[str, JsonData] = {"true": True, "false": False, "null": None}


class _NoLiteralError(ValueError):
    """An argument is more than a literal."""


def read_python_calls(text: str, tools: KnownTools, *, in_fence: bool = False) -> Reading:
    """Return the calls of a text that is nothing but calls, bare or in a list.

    In a code fence they may be an ordinary program, so all names have to be known.
    """
    begin = _BEGINS_LIKE_CALL.match(text)
    if begin is None or len(text) > MAX_CHARS:
        return NOTHING
    meant = begin["name"] in tools and (
        text.rstrip()[-1:] in (")", "]") or bool(_ARGUMENT.match(text, begin.end()))
    )
    try:
        nodes, in_list = _call_nodes(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Reading((), (_problem(begin["name"], str(error)),), len(text)) if meant else NOTHING
    if not nodes or not all(_is_meant(node, tools, in_list=in_list) for node in nodes):
        return NOTHING
    if in_fence and not all(_name(node) in tools for node in nodes):
        return NOTHING
    return _readings(nodes, tools, len(text))


def _call_nodes(code: str) -> tuple[list[ast.Call], bool]:
    """Return the calls of a code that holds nothing else, and whether they stand in a list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # backslashes in a model's texts are no concern here
        body = ast.parse(code).body
    nodes = [statement.value for statement in body if isinstance(statement, ast.Expr)]
    if len(nodes) != len(body):
        return [], False
    in_list = len(nodes) == 1 and isinstance(nodes[0], ast.List)
    items = nodes[0].elts if nodes and isinstance(nodes[0], ast.List) and in_list else nodes
    flat = [part for item in items for part in _parts(item)]
    calls = [item for item in flat if isinstance(item, ast.Call)]
    return (calls, in_list) if len(calls) == len(flat) else ([], False)


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return the items of `f(a=1), g(b=2)`, which Python takes for a tuple."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _is_meant(node: ast.Call, tools: KnownTools, *, in_list: bool) -> bool:
    """Tell a tool call, perhaps of a misspelled tool, from any other Python call."""
    name = _name(node)
    if not name:
        return False
    named = not node.args and (bool(node.keywords) or in_list)
    return tools.has_near(name) or named


def _name(node: ast.Call) -> str:
    function = node.func
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    return ".".join([function.id, *reversed(parts)]) if isinstance(function, ast.Name) else ""


def _readings(nodes: list[ast.Call], tools: KnownTools, end: int) -> Reading:
    calls: list[WrittenCall] = []
    problems: list[str] = []
    for node in nodes:
        name = _name(node)
        try:
            calls.append(WrittenCall(tools.name(name), _arguments(node, tools.parameters(name))))
        except (_NoLiteralError, RecursionError, UnicodeEncodeError) as error:
            problems.append(_problem(name, str(error)))
    return Reading(tuple(calls), tuple(problems), end)


def _arguments(node: ast.Call, parameters: tuple[str, ...]) -> str:
    values: dict[str, JsonData] = {}
    if len(node.args) > len(parameters) and parameters:
        raise _NoLiteralError(f"it takes {len(parameters)} arguments, not {len(node.args)}")
    if node.args and not parameters:
        return json.dumps([_value(argument) for argument in node.args], ensure_ascii=False)
    for name, argument in zip(parameters, node.args, strict=False):
        values[name] = _value(argument)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in values:
            raise _NoLiteralError(f"'{keyword.arg or '**'}' cannot be given here")
        values[keyword.arg] = _value(keyword.value)
    text = json.dumps(values, ensure_ascii=False)
    text.encode()
    return text


def _value(node: ast.expr) -> JsonData:
    match node:
        case ast.Constant(value=bool() | int() | str() | None as value):
            return value
        case ast.Constant(value=float() as value) if math.isfinite(value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
        case _:
            spelled = ast.unparse(node)
            raise _NoLiteralError(f"{spelled[:60]} is no literal; write the value itself")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise _NoLiteralError("the keys of a dictionary have to be texts")


def _problem(name: str, why: str) -> str:
    return f"The call of {name} cannot be read: {why[:200]}."
