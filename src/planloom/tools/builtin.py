"""The registry of the tools that come with Planloom."""

from __future__ import annotations

from planloom.tools.registry import ToolRegistry
from planloom.tools.toolsets import Toolset

BUILTIN_TOOLSETS = (
    Toolset(
        name="files",
        module="planloom.tools.files",
        needs=("pydantic",),
        purpose="Reading and writing text files",
        tools=("list_files", "read_file", "search_in_files", "write_file"),
    ),
    Toolset(
        name="tables",
        module="planloom.tools.tables",
        needs=("duckdb", "openpyxl", "python_calamine", "xlrd"),
        purpose="Reading, profiling and cleaning tables",
        tools=("read_csv_file", "get_data_summary", "clean_data", "filter_rows"),
    ),
    Toolset(
        name="analyses",
        module="planloom.tools.analyses",
        needs=("duckdb",),
        purpose="Analysing tables",
        tools=(
            "perform_analysis",
            "data_overview",
            "trend_over_time",
            "share_of_total",
            "rank_categories",
        ),
    ),
    Toolset(
        name="charts",
        module="planloom.tools.charts",
        needs=("matplotlib",),
        purpose="Drawing charts",
        tools=("create_visualization", "draw_chart"),
    ),
    Toolset(
        name="reports",
        module="planloom.tools.reports",
        needs=("jinja2", "markdown_it", "nh3"),
        purpose="Writing reports",
        tools=("write_markdown_report", "write_data_report", "save_report"),
    ),
)


def builtin_registry() -> ToolRegistry:
    """Return a new registry with every toolset of Planloom."""
    return ToolRegistry(toolsets=BUILTIN_TOOLSETS)
