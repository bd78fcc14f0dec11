"""Keeping the rows that an analysis is asked to look at, as data that can be said and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.operations import did_you_mean
from planloom.errors import ToolError
from planloom.notes import Note, Scalar
from planloom.values import Column, TableRef

Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in"]

SELECTED = "selected"
"""Name of the table of selected rows."""
_ENGLISH: dict[Comparison, str] = {
    "=": "{column} is {value}", "!=": "{column} is not {value} or is empty",
    "<": "{column} is below {value}", "<=": "{column} is at most {value}",
    ">": "{column} is above {value}", ">=": "{column} is at least {value}",
    "in": "{column} is one of {value}", "not in": "{column} is none of {value} or is empty",
}  # fmt: skip
_ENGLISH_DATES: dict[Comparison, str] = {
    "<": "{column} is before {value}", "<=": "{column} is up to {value}",
    ">": "{column} is after {value}", ">=": "{column} is from {value} on",
}  # fmt: skip
_CHINESE: dict[Comparison, str] = {
    "=": "{column}为{value}", "!=": "{column}不为{value}（含空值）",
    "<": "{column}小于{value}", "<=": "{column}不超过{value}",
    ">": "{column}大于{value}", ">=": "{column}不小于{value}",
    "in": "{column}为{value}之一", "not in": "{column}不在{value}之中（含空值）",
}  # fmt: skip
_CHINESE_DATES: dict[Comparison, str] = {
    "<": "{column}早于{value}", "<=": "{column}不晚于{value}",
    ">": "{column}晚于{value}", ">=": "{column}不早于{value}",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Holds for the rows where `column comparison value`.

    A row whose cell is missing is no match for any value: "!=" and "not in" keep it, and every
    other comparison leaves it out.
    """

    column: str
    comparison: Comparison
    value: Scalar | tuple[Scalar, ...]
    """Several values for "in" and "not in"; dates as ISO text."""


@dataclass(frozen=True, kw_only=True)
class Selection(TableRef):
    """The rows for which all conditions hold."""

    conditions: tuple[Condition, ...]
    text: Note
    """The conditions in words."""


def select_rows(table: TableRef, conditions: Sequence[Condition], *, out: Path) -> Selection:
    """Write the rows for which all conditions hold to `out`, in their order.

    Raises:
        ToolError: a column is unknown, a value does not fit its column, or no row is left.
    """
    where = " AND ".join(_sql(table, condition) for condition in conditions) or "true"
    units = {column.name: column.unit for column in table.columns if column.unit}
    with connect(table, writable=out.parent) as connection:
        query = f"SELECT * FROM {identifier(table.name)} WHERE {where}"
        found = write_table(connection, query, out, name=SELECTED, units=units)
    text = _text(table, conditions)
    if not found.rows:
        raise ToolError(
            f"No row of '{table.name}' is left. {text.text('en')} Loosen the conditions."
        )
    return Selection(
        path=found.path, columns=found.columns, rows=found.rows, name=found.name,
        sha256=found.sha256, conditions=tuple(conditions), text=text,
    )  # fmt: skip


def _sql(table: TableRef, condition: Condition) -> str:
    column = _column(table, condition.column)
    name = identifier(column.name)
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    written = [_value_sql(column, value) for value in values]
    if condition.comparison == "in":
        return f"{name} IN ({', '.join(written)})"
    if condition.comparison == "not in":
        return f"({name} IS NULL OR {name} NOT IN ({', '.join(written)}))"
    if len(written) != 1:
        raise ToolError(
            f"'{column.name} {condition.comparison}' takes one value, not {len(written)}. "
            "Use 'in' or 'not in' for several."
        )
    if condition.comparison == "!=":  # a plain <> would drop the rows without a value, too
        return f"{name} IS DISTINCT FROM {written[0]}"
    return f"{name} {condition.comparison} {written[0]}"


def _column(table: TableRef, name: str) -> Column:
    if name in table.column_names:
        return table.column(name)
    raise ToolError(
        f"The table has no column '{name}'. Columns: {', '.join(table.column_names[:30])}."
        + did_you_mean(name, table.column_names)
    )


def _value_sql(column: Column, value: Scalar) -> str:
    """Compare numbers with numbers, moments with moments, and everything else as text."""
    if value is None:
        raise ToolError(f"A condition on '{column.name}' compares with nothing; give a value.")
    if column.type in ("integer", "number"):
        try:
            return literal(float(value))
        except ValueError as error:
            raise ToolError(
                f"'{value}' is no number, but column '{column.name}' holds numbers."
            ) from error
    if column.type in ("date", "datetime"):
        return f"CAST({literal(str(value))} AS TIMESTAMP)"
    if column.type == "boolean":
        return f"CAST({literal(str(value).lower())} AS BOOLEAN)"
    return literal(str(value))


def _text(table: TableRef, conditions: Sequence[Condition]) -> Note:
    english: list[str] = []
    chinese: list[str] = []
    args: dict[str, str | int | float] = {}
    for number, condition in enumerate(conditions, 1):
        is_date = _column(table, condition.column).type in ("date", "datetime")
        values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        named = {f"value{number}_{i}": str(value) for i, value in enumerate(values, 1)}
        args |= {f"column{number}": condition.column, **named}
        for texts, words, dates, joint in (
            (english, _ENGLISH, _ENGLISH_DATES, ", "),
            (chinese, _CHINESE, _CHINESE_DATES, "、"),
        ):
            template = (is_date and dates.get(condition.comparison)) or words[condition.comparison]
            listed = joint.join(f"{{{name}}}" for name in named)
            own = template.replace("{column}", f"{{column{number}}}")
            texts.append(own.replace("{value}", listed))
    return Note(
        "Only rows where " + " and ".join(english) + " are looked at.",
        "仅分析满足以下条件的行：" + "，且".join(chinese) + "。",
        args,
    )
