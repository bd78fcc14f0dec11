"""Turns planned columns into SQL, and reads by hand the cells that SQL alone cannot be sure of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime, time

import duckdb
from duckdb.func import NATIVE, SPECIAL

from planloom.analysis.database import SQL_TYPES, literal
from planloom.analysis.loading.column_plans import MAX_DIGITS, ColumnPlan
from planloom.analysis.loading.moment_text import (
    MomentStyle,
    MomentText,
    read_moment,
    read_time,
)
from planloom.analysis.loading.number_text import is_missing, read_number
from planloom.values import ColumnType

_MAX_INTEGER = 2**63 - 1
_MAX_ODD = 500
_REST = "…"
Cell = int | float | bool | date | datetime | time | None


class CellReader:
    """Reads the cells that the SQL of a column hands over, and remembers what it met.

    The SQL takes only cells in their plainest form. Everything else comes here, so that one
    implementation decides what a cell means, and nothing becomes NULL without being counted.
    """

    def __init__(self, plans: Sequence[ColumnPlan]):
        self.plans = plans
        self.missing: list[Counter[str]] = [Counter() for _ in plans]
        """Signs for "no value" met in each column."""
        self.unread: list[Counter[str]] = [Counter() for _ in plans]
        """Cells of each column that became NULL though they hold something."""
        self.odd: list[dict[str, None]] = [{} for _ in plans]
        """Cells that the plan of the column did not foresee."""
        self.unfit: set[int] = set()
        """Columns whose type is refuted by a cell, such as integers with a fraction."""

    def register(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make `read_<type>(column, cell)` known to SQL, in place of those of another reader."""
        for kind in _READERS:
            name = f"read_{kind}"
            with suppress(duckdb.InvalidInputException):  # not there yet
                connection.remove_function(name)
            # The overload for Arrow functions is not fully typed; this one is plain Python.
            connection.create_function(  # pyright: ignore[reportUnknownMemberType]
                name, self.read, ["INTEGER", "VARCHAR"], SQL_TYPES[kind],
                type=NATIVE, null_handling=SPECIAL, side_effects=True,
            )  # fmt: skip

    def read(self, index: int, text: str | None) -> Cell:
        """Return the value of a cell, or None."""
        if text is None or not (text := text.strip()):
            return None
        plan = self.plans[index]
        value = _READERS[plan.type](text, plan)
        if value is None:
            self._count(index, text)
        elif not _fits(text, value, plan.type):
            self.unfit.add(index)
            self._remember(index, text)
            return None
        return _narrowed(value, plan.type)

    def _count(self, index: int, text: str) -> None:
        if is_missing(text):
            self.missing[index][text] += 1
            return
        self._remember(index, text)
        unread = self.unread[index]
        unread[text] += 1
        # Counters of distinct cells must not grow with the file.
        if len(unread) > _MAX_ODD:
            for cell, count in unread.most_common()[_MAX_ODD // 2 :]:
                del unread[cell]
                unread[_REST] += count

    def _remember(self, index: int, text: str) -> None:
        if len(self.odd[index]) < _MAX_ODD:
            self.odd[index][text] = None


def _as_boolean(text: str, _plan: ColumnPlan) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _as_number(text: str, plan: ColumnPlan) -> int | float | None:
    return read_number(text, plan.number)


def _as_moment(text: str, plan: ColumnPlan) -> datetime | None:
    return read_moment(text, plan.moment)


_READERS: dict[ColumnType, Callable[[str, ColumnPlan], Cell]] = {
    "boolean": _as_boolean, "integer": _as_number, "number": _as_number,
    "date": _as_moment, "datetime": _as_moment, "time": lambda text, _plan: read_time(text),
}  # fmt: skip


def _fits(text: str, value: Cell, kind: ColumnType) -> bool:
    if kind == "integer":
        leading_zero = text.isdecimal() and len(text) > 1 and text[0] == "0"
        too_long = text.isdecimal() and len(text) > MAX_DIGITS
        return isinstance(value, int) and abs(value) <= _MAX_INTEGER and not leading_zero | too_long
    if kind == "date":
        return isinstance(value, datetime) and value.time() == time()
    return True


def _narrowed(value: Cell, kind: ColumnType) -> Cell:
    if kind == "date" and isinstance(value, datetime):
        return value.date()
    return float(value) if kind == "number" and isinstance(value, int) else value


# SQL

_CAST = "<cast>"
_CAST_TYPES: dict[ColumnType, str] = {"integer": "BIGINT", "number": "DOUBLE"}


def column_sql(index: int, cell: str, plan: ColumnPlan, *, by_hand: bool = False) -> str:
    """Return the SQL that reads the text column `cell` by the plan with this index.

    `by_hand` leaves every cell to the `CellReader`: slower for rows, but short, which counts when
    thousands of columns have to be planned.
    """
    if plan.type == "text":
        return f"CASE WHEN trim({cell}) <> '' THEN {cell} END"
    slow = f"read_{plan.type}({index}, {cell})"
    if by_hand:
        return slow
    fast = _FAST[plan.type](cell, plan)
    if plan.type in _CAST_TYPES:
        # The cast comes from the inner query: DuckDB would work it out at each mention.
        fast = fast.replace(_CAST, f"v{index}")
    return f"CASE WHEN {cell} IS NULL THEN NULL ELSE coalesce({fast}, {slow}) END"


def cast_sql(index: int, cell: str, plan: ColumnPlan) -> str:
    """Return the SQL of the column `v<index>` that `column_sql` reads; "" when it needs none."""
    kind = _CAST_TYPES.get(plan.type)
    return f"TRY_CAST({cell} AS {kind}) AS v{index}" if kind else ""


def _fast_integer(cell: str, plan: ColumnPlan) -> str:
    # Only the form that the number itself would be written in: a cast alone also takes
    # '007', '1.5' (as 2), '0x1F' and '1_000'.
    limit = f"1{'0' * MAX_DIGITS}"
    plain = f"CASE WHEN {_CAST}::VARCHAR = {cell} AND {_CAST} < {limit} THEN {_CAST} END"
    return f"{plain}, {_styled(cell, plan, 'BIGINT')}" if _is_styled(plan) else plain


def _fast_number(cell: str, plan: ColumnPlan) -> str:
    styled = _styled(cell, plan, "DOUBLE")
    if plan.number.decimal == "," or plan.number.unit_required:
        return styled
    # 'nan', 'inf' and '1_000' are words to us, not numbers.
    plain = f"CASE WHEN isfinite({_CAST}) AND NOT contains({cell}, '_') THEN {_CAST} END"
    return f"{plain}, {styled}" if _is_styled(plan) else plain


def _is_styled(plan: ColumnPlan) -> bool:
    return bool(plan.number.unit or plan.number.thousands)


def _styled(cell: str, plan: ColumnPlan, sql_type: str) -> str:
    """Return SQL for numbers with marks and a unit, after their form was checked."""
    style = plan.number
    mark, point = re.escape(style.thousands), re.escape(style.decimal)
    digits = rf"(\d+|\d{{1,3}}({mark}\d{{3}})+)" if mark else r"\d+"
    unit = "|".join(map(re.escape, _spellings(style.unit)))
    before = rf"(({unit}) ?)?" if unit and not style.unit_required else ""
    after = rf" ?({unit})" if style.unit_required else rf"( ?({unit}))?" if unit else ""
    fraction = "" if sql_type == "BIGINT" else rf"({point}\d+)?"
    pattern = f"[+-]?{before}{digits}{fraction}{after}"
    noise = "".join(sorted({style.thousands, *" ", *"".join(_spellings(style.unit))} - {""}))
    bare = f"translate({cell}, {literal(noise.replace(style.decimal, ''))}, '')"
    if style.decimal == ",":
        bare = f"replace({bare}, ',', '.')"
    return (
        f"CASE WHEN regexp_full_match({cell}, {literal(pattern)}) "
        f"THEN TRY_CAST({bare} AS {sql_type}) END"
    )


def _spellings(unit: str) -> tuple[str, ...]:
    # RE2 and translate() take the sign as it stands; other spellings are read by hand.
    return {"": (), "¥": ("¥", "￥")}.get(unit, (unit,))


def _fast_boolean(cell: str, _plan: ColumnPlan) -> str:
    return f"CASE lower({cell}) WHEN 'true' THEN true WHEN 'false' THEN false END"


def _fast_date(cell: str, plan: ColumnPlan) -> str:
    # The cast takes 01/05/24 for a day of the year 1, so the year must have its four digits.
    iso = f"length({cell}) BETWEEN 8 AND 10 AND ({cell} LIKE '____-%' OR {cell} LIKE '____/%')"
    value = f"TRY_CAST({cell} AS DATE)"
    parts = [f"CASE WHEN {iso} AND {value} >= DATE '1000-01-01' THEN {value} END"]
    if formats := strptime_formats(plan):
        value = f"TRY_STRPTIME({cell}, {formats})"
        whole = f"{value} = date_trunc('day', {value}) AND {value} >= DATE '1000-01-01'"
        parts.append(f"CASE WHEN {whole} THEN CAST({value} AS DATE) END")
    return ", ".join(parts)


def _fast_datetime(cell: str, plan: ColumnPlan) -> str:
    if plan.moment.to_utc:
        return "NULL"
    # A cast drops the zone of a longer text without a word, so only these lengths may pass.
    iso = " OR ".join(
        f"{cell} LIKE '____-__-__{mark}__:__{seconds}'" for mark in " T" for seconds in ("", ":__")
    )
    parts = [f"CASE WHEN {iso} THEN TRY_CAST({cell} AS TIMESTAMP) END"]
    if formats := strptime_formats(plan):
        value = f"TRY_STRPTIME({cell}, {formats})"
        parts.append(f"CASE WHEN {value} >= DATE '1000-01-01' THEN {value} END")
    return ", ".join(parts)


def _fast_time(cell: str, _plan: ColumnPlan) -> str:
    return (
        f"CASE WHEN {cell} LIKE '__:__:__' OR {cell} LIKE '__:__' THEN TRY_CAST({cell} AS TIME) END"
    )


_FAST: dict[ColumnType, Callable[[str, ColumnPlan], str]] = {
    "integer": _fast_integer, "number": _fast_number, "boolean": _fast_boolean,
    "date": _fast_date, "datetime": _fast_datetime, "time": _fast_time,
}  # fmt: skip


def strptime_formats(plan: ColumnPlan) -> str:
    """Return the SQL list of formats for the ways of writing that the plan has seen, or ""."""
    formats: dict[str, None] = {}
    for parts in plan.shapes:
        for day in _day_formats(parts, plan.moment):
            clocks = (" %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p")
            formats |= dict.fromkeys([day] if parts.clock is None else [day + c for c in clocks])
    return f"[{', '.join(map(literal, formats))}]" if formats else ""


def _day_formats(parts: MomentText, style: MomentStyle) -> list[str]:
    year = "%y" if parts.short_year else "%Y"
    mark = parts.mark
    match parts.shape:
        case "numeric":
            if style.year_first and parts.short_year:
                return [f"%y{mark}%m{mark}%d"]
            order = f"%d{mark}%m" if style.day_first else f"%m{mark}%d"
            return [f"{order}{mark}{year}"]
        case "ymd" if mark != "-" or parts.clock is not None:
            return [f"%Y{mark}%m{mark}%d"]
        case "ymd_zh":
            return ["%Y年%m月%d日"]
        case "ym":
            return ["%Y-%m", "%Y/%m"]
        case "compact":
            return ["%Y%m%d"]
        case "day_name":
            return [f"%d-%b-{year}", f"%d %b {year}"]
        case _:
            return []
