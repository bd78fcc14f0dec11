"""What a goal was understood to ask for, and the shape of the table it is asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from planloom.notes import Lang, Note, Scalar
from planloom.values import ColumnType

How = Literal["sum", "mean", "count", "count_distinct", "max", "min", "median"]
AnalysisKind = Literal["overview", "trend", "share", "ranking"]
Grain = Literal["day", "week", "month", "quarter", "year"]
Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in"]


class ColumnShape(Protocol):
    """What planning needs to know of a column; a column profile of the analysis has it."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> ColumnType: ...
    @property
    def unit(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def missing(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def min(self) -> Scalar: ...
    @property
    def max(self) -> Scalar: ...
    @property
    def top(self) -> Sequence[tuple[Scalar, int]]: ...
    @property
    def is_unique(self) -> bool: ...


class TableShape(Protocol):
    """What planning needs to know of a table; a table profile of the analysis has it."""

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> Sequence[ColumnShape]: ...


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A quantity to compute over rows."""

    column: str | None
    """None when rows are counted."""
    how: How


@dataclass(frozen=True, kw_only=True)
class AnalysisRequest:
    """One analysis that the goal asks for, with every choice made."""

    kind: AnalysisKind
    measure: str | None
    """Column to aggregate; None when rows are counted."""
    how: How
    date: str | None = None
    """Column of the time axis; only for a trend."""
    grain: Grain | None = None
    """Length of a period; only for a trend."""
    category: str | None = None
    """Column whose values are compared; only for share and ranking."""
    by: str | None = None
    """Column that splits a trend into one line for each value."""
    top: int | None = None
    """How many values a ranking shows; None means all."""
    ascending: bool = False
    """The lowest come first."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Rows to keep: those where `column comparison value` holds."""

    column: str
    comparison: Comparison
    value: Scalar | tuple[Scalar, ...]
    """A tuple for "in" and "not in"; dates as ISO text."""


@dataclass(frozen=True, kw_only=True)
class ToolRequest:
    """An analysis by a tool other than the four usual ones."""

    tool: str
    arguments: Mapping[str, bool | int | str | tuple[str, ...] | None]
    """Without the table."""
    table: str = "table"
    """Name of the parameter that takes the table."""


@dataclass(frozen=True, kw_only=True)
class Understanding:
    """How a goal was read: the analyses wanted, and what was taken, assumed or not found."""

    lang: Lang
    """Language of the goal."""
    date: str | None
    """Time column of the trends; the best one of the table when no trend is asked for."""
    measures: tuple[Measure, ...]
    """Every measure that an analysis uses, in order."""
    categories: tuple[str, ...]
    """Every category that an analysis uses, in order."""
    analyses: tuple[AnalysisRequest, ...]
    """In the order of the goal; empty only for a table without columns, or beside `others`."""
    filters: tuple[Filter, ...] = ()
    """All hold at once."""
    others: tuple[ToolRequest, ...] = ()
    """Analyses by further tools; only a model chooses them."""
    understood: tuple[Note, ...] = ()
    """How the goal was read, for the person who wrote it."""
    assumptions: tuple[Note, ...] = ()
    """What the goal left open and was chosen, with the reason."""
    unknown: tuple[Note, ...] = ()
    """What the goal asks for that the data, or Planloom, does not have."""
    is_general: bool = False
    """Nothing in the goal was recognised; the analyses are a general overview."""
