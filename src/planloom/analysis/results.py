"""What an analysis gives back: a table, the facts it states, findings in words, and its chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planloom.notes import Note
from planloom.values import Fact, TableRef

ChartKind = Literal["line", "bar", "stacked_bar", "donut"]


@dataclass(frozen=True, kw_only=True)
class ChartSpec:
    """What to draw from a small result table."""

    kind: ChartKind
    x: str
    """Column on the category or time axis (the slices of a donut)."""
    y: tuple[str, ...]
    """One numeric column for each line or stack; exactly one for bars and donuts."""
    title: Note
    """Says what is shown; may hold no facts."""
    x_title: Note
    y_title: Note
    unit: str = ""
    """Unit of y; shown in the axis title."""
    horizontal: bool = False
    """Bars lie, so that long names can be read."""
    rows: int = 0
    """Draw only the first rows of the table, as without the row of all the rest; 0: all."""
    incomplete: tuple[Literal["first", "last"], ...] = ()
    """Ends of a time axis whose period is not whole in the data; a line is dashed there."""


@dataclass(frozen=True, kw_only=True)
class Analysis(TableRef):
    """The result table of an analysis, plus what it says.

    It is a table, so that charts and further steps take it where they take a table.
    """

    kind: str
    """"overview", "trend", "share", "ranking", ..."""
    title: Note
    headings: tuple[Note, ...]
    """What each column is called in a report, in the order of `columns`."""
    keys: tuple[str, ...]
    """The columns whose values name a row."""
    query: str
    """SQL over the analysed table that gives this table."""
    base: str
    """Name of the analysed table in `query`, such as "cleaned"."""
    facts: tuple[Fact, ...]
    """Facts that the findings use; ids start with `kind` and name the columns."""
    findings: tuple[Note, ...]
    """What stands out, most telling first; numbers only as `{{fact.id}}`."""
    cautions: tuple[Note, ...] = ()
    """What a reader must know to read the numbers right, such as an incomplete last period."""
    chart: ChartSpec | None = None
    """None when a picture would not help, as for a single row."""
