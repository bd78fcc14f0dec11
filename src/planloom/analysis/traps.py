"""Finds what makes a table's plain sums and counts wrong, and says it in words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import duckdb

from planloom.analysis.cleaning_stage import BLANKS
from planloom.analysis.database import SQL_TYPES, connect, identifier, literal, scan
from planloom.analysis.meanings import split_words
from planloom.analysis.profile import ColumnProfile, TableProfile
from planloom.analysis.repeats import are_copies
from planloom.analysis.spelling import find_spellings
from planloom.analysis.text_values import TextValues, read_text_values
from planloom.analysis.totals import TotalRow, find_total_rows
from planloom.notes import Note
from planloom.values import TableRef

TrapKind = Literal[
    "total_rows", "near_totals", "unconfirmed_totals", "duplicate_rows", "equal_rows", "spelling",
    "sentinel", "future_dates", "constant",
]  # fmt: skip

_LOW_MARKS = (-1, -9, -99, -999, -9999, -99999, -999999)
_HIGH_MARKS = (999, 9999, 99999, 999999, 9999999, 99999999)
_EARLY_MARKS = ("0001-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01")
_LATE_MARKS = ("2099-12-31", "2999-12-31", "9999-12-31", "9999-01-01")
_PLANNED = re.compile(
    r"due|plan|expir|forecast|end|until|target|deadline|valid|next|到期|计划|预计|截止|有效|预测|结束|目标",
    re.IGNORECASE,
)
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Trap:
    """Something in a table that leads to wrong results when it is not seen."""

    kind: TrapKind
    text: Note
    column: str
    """The column it is about; "" when it is about whole rows or several columns."""
    rows: int
    """How many rows it touches."""
    values: tuple[str, ...] = ()
    """Cells that show it: labels, marks, spellings, names of columns."""
    row_numbers: tuple[int, ...] = ()
    """The rows, from 1, when they are few and known."""


def find_traps(
    table: TableRef, profile: TableProfile, *, today: date | None = None
) -> tuple[Trap, ...]:
    """Return the traps of a table, worst first.

    "total_rows" add up and can be dropped, "near_totals" too, whose sums miss a few rows;
    "unconfirmed_totals" are labelled as totals and do not add up; "duplicate_rows" are copies,
    while "equal_rows" may well be different records (`planloom.analysis.repeats` has the rule).
    The rest is only worth a look. Dates are compared with `today` when it is given.
    """
    values = read_text_values(table, profile)
    return (
        *_totals(find_total_rows(table, profile, values)),
        *_repeats(table, profile),
        *_spellings(profile, values),
        *_sentinels(table, profile),
        *_future_dates(table, profile, today),
        *_constants(profile),
    )


def _totals(found: Sequence[TotalRow]) -> Iterator[Trap]:
    groups: dict[tuple[bool, bool, str, bool], list[TotalRow]] = defaultdict(list)
    for each in found:
        groups[each.adds_up, each.is_near, each.column, bool(each.label)].append(each)
    for (adds_up, is_near, column, labelled), rows in groups.items():
        labels = tuple(dict.fromkeys(each.label for each in rows if each.label))
        words = _TOTALS if adds_up else _UNCONFIRMED
        words = _NEAR_TOTAL if is_near else words if labelled else _UNLABELLED
        yield Trap(
            kind=_total_kind(adds_up=adds_up, is_near=is_near),
            text=_note(words, n=len(rows), column=column, labels=quoted(labels)),
            column=column,
            rows=len(rows),
            values=labels,
            row_numbers=tuple(each.row for each in rows),
        )


def _total_kind(*, adds_up: bool, is_near: bool) -> TrapKind:
    if is_near:
        return "near_totals"
    return "total_rows" if adds_up else "unconfirmed_totals"


_TOTALS = Note(
    "{n|row is a total|rows are totals} of other rows (labelled {labels} in column '{column}'); "
    "a sum over all rows would count those rows twice.",
    "{n} 行是其他行的合计（“{column}”列中标为{labels}），与明细一起统计会造成重复计算。",
)
_UNLABELLED = Note(
    "{n|row without a label holds the total|rows without labels hold the totals} of other rows; "
    "a sum over all rows would count those rows twice.",
    "{n} 行没有标签，但数值等于其他行的合计，与明细一起统计会造成重复计算。",
)
_NEAR_TOTAL = Note(
    "{n|row says|rows say} nothing but {labels} (column '{column}') with numbers near "
    "the sum of all other rows; taken as a total of rows that were lost or copied on the way.",
    "{n} 行只标有{labels}（“{column}”列），数值与其他各行之和相近，"
    "视为合计行；差额来自未能读入或重复的行。",
)
_UNCONFIRMED = Note(
    "{n|row is labelled like a total|rows are labelled like totals} ({labels} in column "
    "'{column}'), but the numbers are not the sums of other rows. Nothing was dropped; please "
    "check.",
    "{n} 行看似合计（“{column}”列中标为{labels}），但数值并非其他行之和，已保留，请核实。",
)


def _repeats(table: TableRef, profile: TableProfile) -> Iterator[Trap]:
    n = profile.duplicate_rows
    if not n:
        return
    if are_copies(table, profile):
        text = Note(
            "{n|row repeats|rows repeat} an earlier row in every cell, in a table whose rows are "
            "told apart by their cells: copies of one record.",
            "{n} 行与前面某行的每个单元格都相同，而本表的记录本应各不相同，应为重复录入。",
        )
        yield Trap(kind="duplicate_rows", text=_note(text, n=n), column="", rows=n)
    elif n <= 0.1 * profile.rows:
        text = Note(
            "{n|row equals|rows equal} an earlier row. Nothing points to copying, so each "
            "counts as a record of its own.",
            "{n} 行与前面某行相同，但没有证据表明是重复录入，因此按独立记录计入。",
        )
        yield Trap(kind="equal_rows", text=_note(text, n=n), column="", rows=n)


def _spellings(profile: TableProfile, values: TextValues) -> Iterator[Trap]:
    for column, mapping in find_spellings(values, profile).items():
        spellings = tuple(dict.fromkeys((*mapping.values(), *mapping)))
        text = Note(
            "Column '{column}' writes the same value in different ways: {values}.",
            "“{column}”列中同一取值有多种写法：{values}。",
        )
        yield Trap(
            kind="spelling",
            text=_note(text, column=column, values=quoted(spellings)),
            column=column,
            rows=sum(n for value, n in values[column].items() if value.strip(BLANKS) in mapping),
            values=spellings,
        )


def _sentinels(table: TableRef, profile: TableProfile) -> Iterator[Trap]:
    suspects = [(each, mark) for each in profile.columns for mark in _marks(each)]
    if not suspects:
        return
    with connect(table) as connection:
        for column, mark in suspects:
            n, nearest = _mark_count(connection, table, column, mark)
            if n >= 2 and _stands_apart(column, mark, nearest):
                text = Note(
                    "{n|value|values} of column '{column}' are {mark}, far from all others: "
                    "perhaps a mark for a missing value.",
                    "“{column}”列有 {n} 个值为 {mark}，与其余值相距甚远，可能只是缺失值的标记。",
                )
                yield Trap(
                    kind="sentinel",
                    text=_note(text, n=n, column=column.name, mark=mark),
                    column=column.name,
                    rows=n,
                    values=(mark,),
                )


def _marks(column: ColumnProfile) -> list[str]:
    """Return the marks for a missing value that are the least or the greatest value."""
    if column.type in {"date", "datetime"}:
        low, high = str(column.min)[:10], str(column.max)[:10]
        return [mark for mark in (*_EARLY_MARKS, *_LATE_MARKS) if mark in (low, high)]
    if column.type not in {"integer", "number"} or column.meaning in {"id", "flag", "phone"}:
        return []
    low_marks = [mark for mark in _LOW_MARKS if mark == column.min]
    high_marks = [mark for mark in _HIGH_MARKS if mark == column.max]
    return [str(mark) for mark in (*low_marks, *high_marks)]


def _mark_count(
    connection: duckdb.DuckDBPyConnection, table: TableRef, column: ColumnProfile, mark: str
) -> tuple[int, float | None]:
    """Return how often a mark occurs and the distance from it to the nearest other value.

    Distances of dates are days.
    """
    name, is_date = identifier(column.name), column.type in {"date", "datetime"}
    sql_type = "DATE" if is_date else SQL_TYPES["number"]
    value, at = f"CAST({name} AS {sql_type})", f"CAST({literal(mark)} AS {sql_type})"
    distance = f"datediff('day', {at}, {value})" if is_date else f"{value} - {at}"
    query = (
        f"SELECT count(*) FILTER ({value} = {at}), min(abs({distance})) FILTER ({value} != {at}) "
        f"FROM {scan(table)}"
    )
    n, nearest = connection.execute(query).fetchall()[0]
    return int(n), None if nearest is None else float(nearest)


def _stands_apart(column: ColumnProfile, mark: str, nearest: float | None) -> bool:
    if nearest is None:
        return False
    if column.type in {"date", "datetime"}:
        return nearest > 10 * 365
    value = float(mark)
    if value < 0:
        # -1 beside 0, 1, 2, ... marks; among other negative numbers it would be one of them.
        return nearest >= abs(value)
    return nearest >= value / 2


def _future_dates(table: TableRef, profile: TableProfile, today: date | None) -> Iterator[Trap]:
    if today is None:
        return
    last = today.isoformat()
    for column in profile.columns:
        if column.type not in {"date", "datetime"} or _PLANNED.search(split_words(column.name)):
            continue
        if not str(column.min)[:10] <= last < str(column.max)[:10]:
            continue
        test = f"CAST({identifier(column.name)} AS DATE) > {literal(today)}"
        with connect(table) as connection:
            query = f"SELECT count(*) FROM {scan(table)} WHERE {test}"
            n = int(connection.execute(query).fetchall()[0][0])
        text = Note(
            "In column '{column}', {n|date lies|dates lie} after {today}; the latest is {last}.",
            "“{column}”列有 {n} 个日期晚于 {today}，最晚为 {last}。",
        )
        yield Trap(
            kind="future_dates",
            text=_note(text, n=n, column=column.name, today=last, last=str(column.max)),
            column=column.name,
            rows=n,
            values=(str(column.max),),
        )


def _constants(profile: TableProfile) -> Iterator[Trap]:
    names = tuple(
        each.name
        for each in profile.columns
        if each.distinct == 1 and each.distinct_exact and not each.missing and profile.rows > 2
    )
    if names:
        text = Note(
            "{n|column holds|columns hold} one and the same value in every row: {names}.",
            "{n} 列在所有行中取值都相同：{names}。",
        )
        yield Trap(
            kind="constant",
            text=_note(text, n=len(names), names=quoted(names)),
            column=names[0] if len(names) == 1 else "",
            rows=profile.rows,
            values=names,
        )


def quoted(names: Sequence[str]) -> str:
    """Return names in quotation marks, the first few of many."""
    shown = ", ".join(f"“{name}”" for name in names[:_SHOWN])
    return shown + (", …" if len(names) > _SHOWN else "")


def _note(template: Note, **args: str | int) -> Note:
    return template.with_args(args)
