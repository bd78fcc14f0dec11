"""Tools that analyse a table: each returns a small table with the facts and findings it states."""

from __future__ import annotations

from typing import Literal

from planloom.analysis.analyses.overview import overview
from planloom.analysis.analyses.ranking import ranking
from planloom.analysis.analyses.share import share
from planloom.analysis.analyses.trend import trend
from planloom.analysis.results import Analysis
from planloom.errors import ToolError
from planloom.tools.context import ToolContext
from planloom.tools.tool import tool
from planloom.values import TableRef

How = Literal["sum", "mean", "median", "min", "max", "count", "count_distinct"]
Grain = Literal["auto", "day", "week", "month", "quarter", "year"]
AnalysisKind = Literal["overview", "trend", "share", "ranking"]

_TIMEOUT_S = 300.0


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("概况", "汇总", "summary"))
def data_overview(
    table: TableRef,
    context: ToolContext,
    measures: list[str] | None = None,
    date: str | None = None,
    categories: list[str] | None = None,
) -> Analysis:
    """Count the rows and sum up the measures of a table.

    Args:
        table: The table.
        measures: Numeric columns to add up and average.
        date: Date column that gives the period covered.
        categories: Columns whose distinct values are counted.
    """
    return overview(
        table, measures=measures or (), date=date, categories=categories or (), out=context.folder
    )


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("趋势", "走势", "按月", "over time"))
def trend_over_time(
    table: TableRef,
    date: str,
    context: ToolContext,
    value: str | None = None,
    how: How = "sum",
    grain: Grain = "auto",
    by: str | None = None,
) -> Analysis:
    """Follow a measure over time, period by period.

    Args:
        table: The table.
        date: Date column.
        value: Numeric column; none counts the rows.
        how: How the values of a period are put together.
        grain: Length of a period; auto chooses one that gives a readable number of points.
        by: Category column with a line of its own for each of its main values.
    """
    return trend(table, date=date, value=value, how=how, grain=grain, by=by, out=context.folder)


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("占比", "构成", "份额", "breakdown"))
def share_of_total(
    table: TableRef,
    category: str,
    context: ToolContext,
    value: str | None = None,
    how: Literal["sum", "count"] = "sum",
    top: int = 7,
) -> Analysis:
    """Split a total into the shares of a category's values.

    Args:
        table: The table.
        category: Column whose values share the total.
        value: Numeric column; none counts the rows.
        how: How the values of a category are put together.
        top: Number of categories shown; the rest is put together and named so.
    """
    return share(table, category=category, value=value, how=how, top=top, out=context.folder)


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("排名", "前十", "最高", "top"))
def rank_categories(
    table: TableRef,
    category: str,
    context: ToolContext,
    value: str | None = None,
    how: How = "sum",
    top: int = 10,
    ascending: bool = False,  # noqa: FBT001, FBT002 - tools are called by keyword
) -> Analysis:
    """Rank the values of a category by a measure.

    Args:
        table: The table.
        category: Column whose values are ranked.
        value: Numeric column; none counts the rows.
        how: How the values of a category are put together.
        top: Number of ranks shown; the rest is put together and named so.
        ascending: Smallest first.
    """
    return ranking(
        table, category=category, value=value, how=how, top=top, ascending=ascending,
        out=context.folder,
    )  # fmt: skip


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("分析", "analyze", "analyse"))
def perform_analysis(
    table: TableRef,
    kind: AnalysisKind,
    context: ToolContext,
    value: str | None = None,
    date: str | None = None,
    category: str | None = None,
    how: How = "sum",
    grain: Grain = "auto",
    top: int = 10,
) -> Analysis:
    """Analyse a table: an overview, a trend over time, shares of a total, or a ranking.

    Args:
        table: The table.
        kind: What to do; a trend needs `date`, shares and rankings need `category`.
        value: Numeric column; none counts the rows.
        date: Date column.
        category: Category column.
        how: How values are put together.
        grain: Length of a period in a trend.
        top: Number of categories shown.
    """
    out = context.folder
    if kind == "overview":
        return overview(table, measures=[value] if value else (), date=date, out=out)
    if kind == "trend":
        column = _needed(date, "date", kind, table)
        return trend(table, date=column, value=value, how=how, grain=grain, by=category, out=out)
    column = _needed(category, "category", kind, table)
    if kind == "share":
        if how not in ("sum", "count"):
            raise ToolError(f"Shares are of a sum or a count, not of '{how}'. Use how='sum'.")
        return share(table, category=column, value=value, how=how, top=top, out=out)
    return ranking(table, category=column, value=value, how=how, top=top, out=out)


def _needed(column: str | None, argument: str, kind: AnalysisKind, table: TableRef) -> str:
    if column is None:
        raise ToolError(
            f"An analysis of kind '{kind}' needs the argument '{argument}'. "
            f"Columns: {', '.join(table.column_names)}."
        )
    return column
