"""Finding the columns an analysis is asked for, with errors that name the nearest ones."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from planloom.errors import ToolError
from planloom.values import Column, TableRef

_NUMERIC = ("integer", "number")
_DATES = ("date", "datetime")
_SHOWN = 20  # names listed in an error; a table may have thousands of columns


def find_column(table: TableRef, name: str) -> Column:
    """Return the column called `name`.

    Raises:
        ToolError: there is none; the message gives the nearest names.
    """
    try:
        return table.column(name)
    except KeyError:
        raise ToolError(
            f"Table '{table.name}' has no column '{name}'. {_nearest(name, table.column_names)}"
        ) from None


def find_measure(table: TableRef, name: str) -> Column:
    """Return a column to calculate with; it must hold numbers.

    Raises:
        ToolError: there is no such column, or its type is not "integer" or "number".
    """
    return _of_type(table, name, _NUMERIC, "numbers to calculate with")


def find_date(table: TableRef, name: str) -> Column:
    """Return a column of dates or of moments.

    Raises:
        ToolError: there is no such column, or its type is not "date" or "datetime".
    """
    return _of_type(table, name, _DATES, "dates")


def date_columns(table: TableRef) -> tuple[Column, ...]:
    """Return the columns of dates or of moments, in order."""
    return tuple(column for column in table.columns if column.type in _DATES)


def _of_type(table: TableRef, name: str, types: Sequence[str], wanted: str) -> Column:
    column = find_column(table, name)
    if column.type in types:
        return column
    fitting = [other.name for other in table.columns if other.type in types]
    advice = f"Columns that do: {_listed(fitting)}." if fitting else "No column does."
    raise ToolError(f"Column '{name}' is of type {column.type} and holds no {wanted}. {advice}")


def _nearest(name: str, names: Sequence[str]) -> str:
    by_folded = {other.casefold(): other for other in names}
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=3, cutoff=0.5)
    if close:
        return f"Did you mean {_listed([by_folded[each] for each in close])}?"
    return f"Its columns: {_listed(names)}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
