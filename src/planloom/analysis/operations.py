"""The cleaning operations as data, in and out of JSON."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, cast

from planloom.errors import ToolError
from planloom.notes import Scalar
from planloom.values import ColumnType

Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "contains"]
FillMethod = Literal["value", "mean", "median", "mode"]


@dataclass(frozen=True, kw_only=True)
class DropDuplicates:
    """Keep the first of rows that are equal."""

    op: Literal["drop_duplicates"] = "drop_duplicates"
    columns: tuple[str, ...] = ()
    """Rows equal in these columns are duplicates; all columns when empty."""


@dataclass(frozen=True, kw_only=True)
class DropTotalRows:
    """Drop total and subtotal rows that stand among the detail rows."""

    op: Literal["drop_total_rows"] = "drop_total_rows"
    column: str
    """The text column that holds the labels."""
    labels: tuple[str, ...]
    """The labels as they stand in the cells, such as "Total" or "合计"."""
    rows: tuple[int, ...] | None = None
    """Only these rows, counted from 1 in the table that cleaning starts from; None for all."""


@dataclass(frozen=True, kw_only=True)
class DropEmptyRows:
    """Drop rows without any value; blank text counts as none."""

    op: Literal["drop_empty_rows"] = "drop_empty_rows"


@dataclass(frozen=True, kw_only=True)
class DropEmptyColumns:
    """Drop columns without any value; blank text counts as none."""

    op: Literal["drop_empty_columns"] = "drop_empty_columns"


@dataclass(frozen=True, kw_only=True)
class TrimText:
    """Remove white space around texts; a text of nothing else becomes missing."""

    op: Literal["trim_text"] = "trim_text"
    columns: tuple[str, ...] = ()
    """Text columns; all of them when empty."""


@dataclass(frozen=True, kw_only=True)
class UnifySpelling:
    """Write different spellings of one value alike."""

    op: Literal["unify_spelling"] = "unify_spelling"
    column: str
    mapping: Mapping[str, str]
    """From each spelling to the one to keep."""


@dataclass(frozen=True, kw_only=True)
class BlankMarkers:
    """Make values that only mark a missing one (such as -999 or "N/A") missing."""

    op: Literal["blank_markers"] = "blank_markers"
    column: str
    markers: tuple[str | int | float, ...]


@dataclass(frozen=True, kw_only=True)
class FillMissing:
    """Fill missing values of a column."""

    op: Literal["fill_missing"] = "fill_missing"
    column: str
    method: FillMethod
    """"mean", "median", "mode" (most frequent value; the least of several) or "value"."""
    value: Scalar = None
    """What to fill in, for the method "value"."""


@dataclass(frozen=True, kw_only=True)
class DropMissing:
    """Drop rows that lack a value in one of the columns."""

    op: Literal["drop_missing"] = "drop_missing"
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DropWhere:
    """Drop rows whose value compares so; rows without a value stay."""

    op: Literal["drop_where"] = "drop_where"
    column: str
    comparison: Comparison
    value: str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class Rename:
    """Give a column another name."""

    op: Literal["rename"] = "rename"
    column: str
    to: str


@dataclass(frozen=True, kw_only=True)
class Convert:
    """Change the type of a column; refused when a value cannot be read as that type."""

    op: Literal["convert"] = "convert"
    column: str
    type: ColumnType


Operation = (
    DropDuplicates | DropTotalRows | DropEmptyRows | DropEmptyColumns | TrimText | UnifySpelling
    | BlankMarkers | FillMissing | DropMissing | DropWhere | Rename | Convert
)  # fmt: skip
_KINDS: dict[str, type[Operation]] = {
    "drop_duplicates": DropDuplicates, "drop_total_rows": DropTotalRows,
    "drop_empty_rows": DropEmptyRows, "drop_empty_columns": DropEmptyColumns,
    "trim_text": TrimText, "unify_spelling": UnifySpelling, "blank_markers": BlankMarkers,
    "fill_missing": FillMissing, "drop_missing": DropMissing, "drop_where": DropWhere,
    "rename": Rename, "convert": Convert,
}  # fmt: skip


def operations_from_json(records: Sequence[object]) -> tuple[Operation, ...]:
    """Return the operations that JSON objects such as `{"op": "trim_text"}` describe.

    Raises:
        ToolError: an operation or an argument is unknown, missing or of the wrong type; the
            message names the place and what is allowed.
    """
    return tuple(_operation(i, record) for i, record in enumerate(records))


def operations_to_json(operations: Iterable[Operation]) -> list[dict[str, object]]:
    """Return the operations as JSON objects that `operations_from_json` reads back."""
    from pydantic import TypeAdapter  # heavy, and needed at the JSON edge only

    adapter = TypeAdapter[Operation](Operation)
    return [
        adapter.dump_python(operation, mode="json", exclude_none=True) for operation in operations
    ]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest known name, or nothing."""
    lowered = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), lowered, n=1, cutoff=0.5)
    return f" Did you mean '{lowered[near[0]]}'?" if near else ""


def _operation(index: int, record: object) -> Operation:
    from pydantic import TypeAdapter, ValidationError  # as above

    place = f"operations[{index}]"
    if isinstance(record, str):  # models write "trim_text" for {"op": "trim_text"}
        record = {"op": record}
    if not isinstance(record, Mapping):
        raise ToolError(f'{place} is {record!r}; write an object such as {{"op": "trim_text"}}.')
    given = cast("Mapping[str, object]", record)
    kind = _kind(place, given)
    allowed = [each.name for each in fields(kind)]
    for name in given:
        if name not in allowed:
            raise ToolError(
                f"{place} ({given['op']}) has no argument '{name}'. It takes: "
                f"{', '.join(allowed[1:]) or 'none'}.{did_you_mean(name, allowed)}"
            )
    try:
        return TypeAdapter[Operation](kind).validate_python(given)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()
        )
        raise ToolError(f"{place} ({given['op']}) does not fit: {problems}.") from error


def _kind(place: str, record: Mapping[str, object]) -> type[Operation]:
    op = record.get("op")
    if not isinstance(op, str) or op not in _KINDS:
        hint = did_you_mean(op, _KINDS) if isinstance(op, str) else ""
        raise ToolError(
            f"{place} has the unknown op {op!r}. Known: {', '.join(sorted(_KINDS))}.{hint}"
        )
    return _KINDS[op]
