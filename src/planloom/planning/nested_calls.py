"""Takes calls apart that a model wrote inside of another: each becomes a line of its own."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Collection

_MAX_CALLS = 50


def unnested(code: str, tools: Collection[str], new_id: Callable[[str], str]) -> list[str]:
    """Return the lines that a plan line stands for, inner calls first; itself if it has none.

    Only calls of known tools are taken out; `new_id` gives the id of a call by its tool.

    >>> unnested('c = add(size("x"), 1)', {"add", "size"}, lambda tool: f"{tool}_1")
    ['size_1 = size("x")', 'c = add(size_1, 1)']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statement = ast.parse(code.strip()).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return [code]  # the parser of lines says what is wrong
    outer = getattr(statement, "value", None)
    taking = _Taking(code.strip(), tools, new_id)
    if isinstance(outer, ast.Call):
        taking.take_from(outer)
    return [*taking.lines, taking.rest(statement)] if taking.lines else [code]


class _Taking:
    def __init__(self, code: str, tools: Collection[str], new_id: Callable[[str], str]):
        self._code = code
        self._tools = tools
        self._new_id = new_id
        self._names: dict[ast.AST, str] = {}
        self.lines: list[str] = []

    def take_from(self, call: ast.Call) -> None:
        """Take the calls out of the arguments of a call."""
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            self._take(argument)

    def rest(self, node: ast.AST) -> str:
        """Return the text of a part, with ids in place of what was taken out of it."""
        if node in self._names:
            return self._names[node]
        text = ast.get_source_segment(self._code, node) or ""
        inner = [child for child in ast.walk(node) if child in self._names]
        for child in inner:
            whole = ast.get_source_segment(self._code, child) or ""
            # One at a time: the same call may stand there twice, under two ids.
            text = text.replace(whole, self._names[child], 1)
        return text

    def _take(self, node: ast.AST) -> None:
        is_option = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node, ast.Call) and not is_option:
            self.take_from(node)
            self._take_call(node)
        elif isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Attribute | ast.Subscript):
            for child in ast.iter_child_nodes(node):
                self._take(child)

    def _take_call(self, call: ast.Call) -> None:
        tool = call.func.id if isinstance(call.func, ast.Name) else ""
        if tool in self._tools and len(self.lines) < _MAX_CALLS:
            name = self._new_id(tool)
            self.lines.append(f"{name} = {self.rest(call)}")
            self._names[call] = name
