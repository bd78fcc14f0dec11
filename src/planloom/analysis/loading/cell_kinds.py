"""Tells what a single cell looks like: a number, a date, a time, a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from planloom.analysis.loading.moment_text import read_time, split_moment
from planloom.analysis.loading.number_text import is_missing, looks_like_number

CellKind = Literal["missing", "number", "date", "time", "boolean", "text"]


def cell_kind(text: str) -> CellKind:
    """Return what a cell looks like.

    >>> cell_kind("3-Nov-23"), cell_kind("1,234"), cell_kind("N/A")
    ('date', 'number', 'missing')
    """
    text = text.strip()
    if is_missing(text):
        return "missing"
    if looks_like_number(text):
        return "number"
    if text.lower() in ("true", "false"):
        return "boolean"
    if text[0].isdigit() or text[-1].isdigit():
        if split_moment(text):
            return "date"
        if read_time(text):
            return "time"
    return "text"


def name_kind(cell: str, below: Sequence[str] = ()) -> CellKind:
    """Return what a cell looks like that may be a name: NA, Nr and 无 are words there.

    They stay signs for "no value" when cells `below` use the same sign.
    """
    kind = cell_kind(cell)
    text = cell.strip()
    return "text" if kind == "missing" and text.isalnum() and text not in below else kind
