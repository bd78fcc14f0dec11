"""What may stand in a plan line: literals, lists, dictionaries and references, read from its syntax
tree into JSON values; nothing is executed.
"""

from __future__ import annotations

import ast
import math
import warnings

from planloom.engine.json_value import JsonValue
from planloom.engine.references import Reference, escape_dollars
from planloom.errors import PlanError
from planloom.planning.line_scanner import SourceLine

# Far above any real plan; keeps a hostile line from exhausting the parser.
MAX_LINE_CHARS = 200_000

_JSON_NAMES: dict[str, JsonValue] = {"true": True, "false": False, "null": None}


class LineError(PlanError):
    """Something in a line cannot be read; where it stands is added by `located`."""

    def __init__(self, what: str, mend: str, node: ast.expr | ast.stmt | None = None):
        super().__init__(f"{what} {mend}".rstrip())
        self.what = what
        self.mend = mend
        self.row = node.lineno if node else 1
        self.byte = node.col_offset if node else 0

    def located(self, line: SourceLine) -> PlanError:
        """Return the error with line and column."""
        rows = line.code.split("\n")
        before = rows[min(self.row, len(rows)) - 1].encode()[: self.byte].decode(errors="ignore")
        indent = len(rows[0]) - len(rows[0].lstrip()) if self.row == 1 else 0
        column = len(before) + indent + 1
        return line.error(self.what, self.mend, row=self.row, column=column)


def parse_statement(code: str) -> ast.stmt:
    """Return the syntax tree of one line.

    Raises:
        LineError: it is not one statement of Python's syntax.
    """
    mend = 'Write one call a line: step = tool(other_step, name="value"); prose goes behind a #.'
    if len(code) > MAX_LINE_CHARS:
        raise LineError(f"the line is longer than {MAX_LINE_CHARS} characters.", mend)
    try:
        # A backslash in a Windows path is no concern of ours: Python's own reading stands.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = ast.parse(code.strip()).body
    except SyntaxError as error:
        problem = LineError(f"this cannot be read ({error.msg}).", mend)
        problem.row, problem.byte = error.lineno or 1, max((error.offset or 1) - 1, 0)
        raise problem from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise LineError(f"this cannot be read ({error}).", mend) from error
    if len(statements) != 1:
        raise LineError("there is more than one statement in the line.", mend, statements[1])
    return statements[0]


def read_value(node: ast.expr) -> JsonValue:
    """Return the JSON value that an expression spells.

    Raises:
        LineError: it is more than a literal, a list, a dictionary or a reference.
    """
    match node:
        case ast.Constant():
            return _constant(node)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant()):
            return _signed(node)
        case ast.List() | ast.Tuple():
            return [read_value(item) for item in node.elts]
        case ast.Dict():
            return _dictionary(node)
        case ast.JoinedStr():
            return "".join(_template_part(part) for part in node.values)
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return str(_reference(node))
        case ast.Call():
            raise LineError(
                "a call stands inside of another.",
                "Give it a line of its own and use its name here.",
                node,
            )
        case _:
            raise _not_a_value(node)


def read_step_names(call: ast.Call) -> list[str]:
    """Return the bare names among the arguments of `output(...)` or `.after(...)`.

    Raises:
        LineError: an argument is anything else.
    """
    nodes = [
        item
        for node in call.args
        for item in (node.elts if isinstance(node, ast.List | ast.Tuple) else [node])
    ]
    nodes += [keyword.value for keyword in call.keywords]
    return [_step_name(node) for node in nodes]


def read_text(node: ast.expr) -> str:
    """Return a literal text; LineError when it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise LineError("a text in quotes is wanted here.", 'Write it as "text".', node)


def _constant(node: ast.Constant) -> JsonValue:
    value = node.value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _not_a_value(node)


def _signed(node: ast.UnaryOp) -> JsonValue:
    assert isinstance(node.operand, ast.Constant)  # noqa: S101 - the caller's pattern says so
    value = node.operand.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return -value if isinstance(node.op, ast.USub) else value
    raise _not_a_value(node)


def _dictionary(node: ast.Dict) -> JsonValue:
    pairs = zip(node.keys, node.values, strict=True)
    return {_key(key, node): read_value(value) for key, value in pairs}


def _key(key: ast.expr | None, node: ast.Dict) -> str:
    if key is None:
        raise LineError("** is not part of the plan language.", "Write out the keys.", node)
    return read_text(key)


def _template_part(node: ast.expr) -> str:
    """Return a part of an f-string in the spelling of plans: `{load.rows}` is `${load.rows}`."""
    match node:
        case ast.Constant(value=str(text)):
            return escape_dollars(text)
        case ast.FormattedValue(conversion=-1, format_spec=None, value=value):
            return "${" + str(_reference(value))[1:] + "}"
        case _:
            raise LineError(
                "a format inside of a string is not part of the plan language.",
                "Write only the name between the braces: {sum.value}.",
                node,
            )


def _reference(node: ast.expr) -> Reference:
    match node:
        case ast.Name(id=step):
            return Reference(step)
        case ast.Attribute(value=value, attr=part):
            reference = _reference(value)
            return Reference(reference.step, (*reference.path, part))
        case ast.Subscript(value=value, slice=index):
            reference = _reference(value)
            return Reference(reference.step, (*reference.path, _index(index)))
        case _:
            raise _not_a_value(node)


def _index(node: ast.expr) -> str | int:
    index = read_value(node) if isinstance(node, ast.Constant | ast.UnaryOp) else None
    if isinstance(index, int) and not isinstance(index, bool):
        return index
    if isinstance(index, str) and not set(index) & set("\\]") and not {'"', "'"} <= set(index):
        return index
    raise LineError("between [ ] stands a position or a key.", 'As in x[0] or x["key"].', node)


def _step_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    raise LineError("the name of a step is wanted here.", "Write it without quotes.", node)


def _not_a_value(node: ast.expr) -> LineError:
    return LineError(
        f"{_described(node)} is not part of the plan language.",
        "Use texts, numbers, True, False, None, lists, dictionaries and names of steps; "
        "let a tool compute.",
        node,
    )


def _described(node: ast.expr) -> str:
    try:
        text = ast.unparse(node)
    except (ValueError, RecursionError):
        text = type(node).__name__
    return f"'{text if len(text) <= 60 else text[:57] + '...'}'"
