"""The compact spelling of a plan: one call a line, read as it streams in and never executed.

    # Show how sales developed.
    load = read_csv_file("sales.csv")
    trend = trend_over_time(load, date="order_date", value="amount")  # by month
    output(trend)

A bare name is a reference to that step's result. What a call cannot say follows it:
`mail = send_email(report).after(load).on_failure("skip")`.
Blank lines and code fences are passed over; the first comment lines are the thought.
"""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from planloom.engine.json_value import JsonValue
from planloom.engine.plan import OnFailure, Plan, Step, id_problem, on_failure_of, unused_steps
from planloom.engine.references import Reference, did_you_mean, parse_template
from planloom.errors import PlanError
from planloom.planning.line_scanner import LineScanner, SourceLine
from planloom.planning.line_values import (
    LineError,
    parse_statement,
    read_step_names,
    read_text,
    read_value,
)

ToolSignatures = Mapping[str, tuple[str, ...]]
"""The parameters of each tool in order, for positional arguments."""

_OUTPUT = "output"


def parse_lines(text: str, tools: ToolSignatures) -> Plan:
    """Return the plan that the lines spell.

    Raises:
        PlanError: a line cannot be read; the message names line, column, text and mend.
    """
    parser = LineParser(tools)
    parser.feed(text)
    return parser.finish()


class LineParser:
    """Reads plan lines from pieces of text as they arrive; each step is given once it is whole."""

    def __init__(self, tools: ToolSignatures):
        self._tools = tools
        self._scanner = LineScanner()
        self._thought: list[str] = []
        self._steps: list[Step] = []
        self._outputs: list[str] | None = None

    def feed(self, chunk: str) -> list[Step]:
        """Take the next piece of text; return the steps whose lines it completed.

        Raises:
            PlanError: a line cannot be read. The steps before it have been returned or are
                part of `finish`.
        """
        return self._read(self._scanner.feed(chunk))

    def finish(self) -> Plan:
        """Return the whole plan, the last line included even without a line end.

        Raises:
            PlanError: the last line is cut off or cannot be read.
        """
        self._read(self._scanner.finish())
        steps = tuple(self._steps)
        named = self._outputs
        outputs = unused_steps(steps) if named is None else tuple(dict.fromkeys(named))
        return Plan(thought="\n".join(self._thought), steps=steps, outputs=outputs)

    def _read(self, lines: Iterable[SourceLine]) -> list[Step]:
        steps: list[Step] = []
        for line in lines:
            step = self._read_line(line)
            if step is not None:
                self._steps.append(step)
                steps.append(step)
        return steps

    def _read_line(self, line: SourceLine) -> Step | None:
        if not line.code.strip():
            if not self._steps:
                self._thought.append(line.comment)
            return None
        try:
            return self._read_statement(parse_statement(line.code), line.comment)
        except LineError as problem:
            raise problem.located(line) from problem
        except PlanError as error:
            raise line.error(str(error), "") from error

    def _read_statement(self, statement: ast.stmt, comment: str) -> Step | None:
        step_id, node = _assignment(statement)
        call, options = _unwrap(node)
        if isinstance(call.func, ast.Name) and call.func.id == _OUTPUT and not step_id:
            self._outputs = [*(self._outputs or []), *read_step_names(call)]
            return None
        tool = _tool_name(call.func)
        return Step(
            id=step_id or self._free_id(tool),
            tool=tool,
            input=self._arguments(tool, call),
            description=comment,
            depends_on=tuple(options.after),
            on_failure=options.on_failure,
        )

    def _arguments(self, tool: str, call: ast.Call) -> dict[str, JsonValue]:
        arguments: dict[str, JsonValue] = {}
        if call.args:
            for name, node in zip(self._positions(tool, call), call.args, strict=True):
                arguments[name] = read_value(node)
        for given in call.keywords:
            if given.arg is None:
                raise LineError(
                    "** is not part of the plan language.", "Name each argument.", given.value
                )
            if given.arg in arguments:
                what = f"'{tool}' gets the argument '{given.arg}' twice."
                raise LineError(what, "Give it once.", given.value)
            arguments[given.arg] = read_value(given.value)
        return arguments

    def _positions(self, tool: str, call: ast.Call) -> tuple[str, ...]:
        parameters = self._tools.get(tool)
        if parameters is None:
            raise LineError(
                f"tool '{tool}' is not registered.{did_you_mean(tool, self._tools)}",
                f"Use one of: {', '.join(sorted(self._tools)) or 'none is registered'}.",
                call,
            )
        if len(call.args) > len(parameters):
            raise LineError(
                f"'{tool}' takes {len(parameters)} arguments, not {len(call.args)}.",
                f"Its arguments are: {', '.join(parameters) or 'none'}.",
                call.args[len(parameters)],
            )
        return parameters[: len(call.args)]

    def _free_id(self, tool: str) -> str:
        taken = {step.id for step in self._steps}
        base = f"{tool}_step" if id_problem(tool) else tool
        candidates = (base, *(f"{base}_{n}" for n in range(2, len(taken) + 3)))
        return next(name for name in candidates if name not in taken)


def plan_to_lines(plan: Plan, tools: ToolSignatures) -> str:
    """Return a plan in the compact spelling; the first arguments of a tool become positional."""
    lines = [f"# {line}".rstrip() for line in plan.thought.splitlines()]
    lines += [_step_line(step, tools.get(step.tool, ())) for step in plan.steps]
    if plan.outputs != unused_steps(plan.steps):
        lines.append(f"{_OUTPUT}({', '.join(plan.outputs)})")
    return "\n".join(lines) + "\n"


@dataclass
class _Options:
    """What follows a call: `.after(load).on_failure("skip")`."""

    after: list[str] = field(default_factory=list[str])
    on_failure: OnFailure = "replan"


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    """Return the id that a line gives its step, or "", and the call."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=node):
            return name, node
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as node):
            return name, node
        case ast.Expr(value=node):
            return "", node
        case _:
            raise LineError("this is not a step.", "Write step = tool(...).", statement)


def _unwrap(node: ast.expr) -> tuple[ast.Call, _Options]:
    """Return the call of the tool and what follows it."""
    options = _Options()
    while isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call)):
            return node, options
        _take_option(node, node.func.attr, options)
        node = node.func.value
    raise LineError("this is not the call of a tool.", "Write step = tool(...).", node)


def _take_option(call: ast.Call, name: str, options: _Options) -> None:
    if name == "after":
        options.after = [*read_step_names(call), *options.after]
    elif name == "on_failure" and len(call.args) == 1:
        try:
            options.on_failure = on_failure_of(read_text(call.args[0]))
        except ValueError as error:
            raise LineError(f"{error}.", "", call.args[0]) from error
    else:
        raise LineError(
            f"'.{name}(...)' cannot follow a call.",
            'What can follow is .after(step, ...) and .on_failure("skip").',
            call,
        )


def _tool_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    raise LineError("this is not the name of a tool.", "Write step = tool(...).", node)


def _step_line(step: Step, parameters: tuple[str, ...]) -> str:
    arguments = ", ".join(_arguments(step.input, parameters))
    line = f"{step.id} = {step.tool}({arguments})"
    if step.waits_for:
        line += f".after({', '.join(step.waits_for)})"
    if step.on_failure != "replan":
        line += f'.on_failure("{step.on_failure}")'
    description = " ".join(step.description.split())
    return f"{line}  # {description}" if description else line


def _arguments(values: Mapping[str, JsonValue], parameters: tuple[str, ...]) -> list[str]:
    positional: list[str] = []
    for name in parameters:
        if name not in values:
            break
        positional.append(name)
    return [_written(values[name]) for name in positional] + [
        f"{name}={_written(value)}" for name, value in values.items() if name not in positional
    ]


def _written(value: JsonValue) -> str:
    """Return a value as Python spells it; a string that is one reference becomes its name."""
    if isinstance(value, str):
        return _written_text(value)
    if isinstance(value, Mapping):
        pairs = (f"{_quoted(key)}: {_written(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, bool | int | float) or value is None:
        return repr(value)
    return "[" + ", ".join(_written(item) for item in value) + "]"


def _written_text(text: str) -> str:
    parts = parse_template(text) if text.startswith("$") else ()
    if len(parts) == 1 and isinstance(parts[0], Reference) and str(parts[0]) == text:
        return _reference_code(parts[0])
    return _quoted(text)


def _reference_code(reference: Reference) -> str:
    parts = [
        f".{part}" if isinstance(part, str) and part.isidentifier() and not keyword.iskeyword(part)
        else f"[{json.dumps(part, ensure_ascii=False)}]"
        for part in reference.path
    ]  # fmt: skip
    return reference.step + "".join(parts)


def _quoted(text: str) -> str:
    # JSON's escapes are Python's too, except that JSON may leave DEL and line separators bare.
    return json.dumps(text, ensure_ascii=False)
