"""The rows of a table grouped by a category: all groups, and the first few with the rest as one."""

from __future__ import annotations

from dataclasses import dataclass

from planloom.analysis.analyses.aggregation import Measure
from planloom.analysis.analyses.labels import other_mark
from planloom.analysis.database import identifier, literal
from planloom.errors import ToolError
from planloom.values import Column


@dataclass(frozen=True, kw_only=True)
class ShownNames:
    """What the columns of the shown rows are called; None leaves a column out."""

    label: str
    value: str
    share: str | None = None
    rows: str | None = None


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """A measure by category; NULL is a category of its own."""

    base: str
    """Name of the analysed table."""
    category: Column
    measure: Measure
    top: int
    """Categories with a row of their own; a single further one gets its own row as well."""
    ascending: bool = False
    """Smallest first."""

    @property
    def _items(self) -> str:
        """One row for each row of the base: the category as text, and what is aggregated."""
        return (
            f"SELECT CAST({identifier(self.category.name)} AS VARCHAR) AS label, "
            f"{self.measure.item} AS item FROM {identifier(self.base)}"
        )

    @property
    def all_groups(self) -> str:
        """SQL for every group: label, value, rows (those with a value), place (from 1).

        Groups without a value come last; equal values stand in the order of their labels.
        """
        order = "ASC" if self.ascending else "DESC"
        return (
            "SELECT label, value, rows, row_number() OVER "
            f"(ORDER BY value {order} NULLS LAST, label NULLS LAST) AS place "
            f"FROM (SELECT label, {self.measure.sql('item')} AS value, count(item) AS rows "
            f"FROM ({self._items}) AS items GROUP BY label) AS groups"
        )

    def __post_init__(self) -> None:
        if self.top < 1:
            raise ToolError(f"top={self.top} leaves nothing to show. Use 1 or more.")

    def shown_count(self, groups: int) -> int:
        """Return how many rows are shown of `groups` groups."""
        return groups if groups <= self.top + 1 else self.top + 1

    def shown(self, groups: int, names: ShownNames) -> str:
        """Return SQL for the shown rows, out of `groups` groups: the first ones and the rest.

        The value of the rest is the measure over all its rows, not a sum of the groups' values.
        """
        rest = groups - self.top
        last = self.top if rest > 1 else groups
        return (
            f"SELECT {', '.join(self._shown_columns(names))} "
            f"FROM (SELECT CASE WHEN place <= {last} THEN ranked.label "
            f"ELSE {literal(other_mark(rest))} END AS key, "
            f"least(place, {last + 1}) AS position, item "
            f"FROM ({self._items}) AS items JOIN ({self.all_groups}) AS ranked "
            "ON items.label IS NOT DISTINCT FROM ranked.label) AS placed "
            "GROUP BY key, position ORDER BY position"
        )

    def _shown_columns(self, names: ShownNames) -> list[str]:
        value = self.measure.sql("item")
        columns = [f"key AS {identifier(names.label)}", f"{value} AS {identifier(names.value)}"]
        if names.share is not None:
            # The window sums what is shown, which is everything: shares add up to 100.
            part = f"CAST({value} AS DOUBLE)"
            columns.append(f"100 * {part} / fsum({part}) OVER () AS {identifier(names.share)}")
        if names.rows is not None:
            columns.append(f"count(item) AS {identifier(names.rows)}")
        return columns
