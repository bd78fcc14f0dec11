"""Tools that draw a result table as a picture."""

from __future__ import annotations

from planloom.analysis.charts.draw import draw
from planloom.analysis.results import Analysis, ChartKind, ChartSpec
from planloom.notes import Note
from planloom.tools.context import ToolContext
from planloom.tools.tool import tool
from planloom.values import ImageRef, TableRef

_TIMEOUT_S = 120.0


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("图表", "画图", "plot"))
def draw_chart(analysis: Analysis, context: ToolContext) -> ImageRef | None:
    """Draw the chart that suits an analysis; none where a picture would not help.

    Args:
        analysis: The result of an analysis.
    """
    if analysis.chart is None:
        return None
    return draw(analysis, analysis.chart, lang=context.lang, out=context.folder / "chart")


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("图表", "可视化", "chart", "plot"))
def create_visualization(
    table: TableRef,
    chart: ChartKind,
    x: str,
    y: str | list[str],
    context: ToolContext,
    title: str = "",
) -> ImageRef:
    """Draw columns of a small result table as a line, bar, stacked bar or donut chart.

    Args:
        table: A small table, such as the result of an analysis.
        chart: Kind of chart.
        x: Column of the categories or periods.
        y: Numeric column, or several of them.
        title: Says what is shown; made from the columns when empty.
    """
    columns = (y,) if isinstance(y, str) else tuple(y)
    names = ", ".join(columns)
    units = {column.unit for column in table.columns if column.name in columns}
    spec = ChartSpec(
        kind=chart,
        x=x,
        y=columns,
        title=Note.same(title) if title else _title(names, x),
        x_title=Note.same(x),
        y_title=Note.same(names),
        unit=units.pop() if len(units) == 1 else "",
    )
    return draw(table, spec, lang=context.lang, out=context.folder / "chart")


def _title(y: str, x: str) -> Note:
    return Note("{y} by {x}", "各{x}的{y}", {"y": y, "x": x})
