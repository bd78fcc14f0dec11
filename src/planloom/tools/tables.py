"""Tools that read, profile, clean and filter tables; tables go in and out as references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planloom.analysis.cleaning import Cleaned, clean_table
from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.results import LoadedFile, LoadedTable
from planloom.analysis.operations import Operation
from planloom.analysis.profile import TableProfile, profile_table
from planloom.analysis.proposals import propose_operations
from planloom.analysis.selection import Condition, Selection, select_rows
from planloom.analysis.text_values import read_text_values
from planloom.analysis.traps import Trap, find_traps
from planloom.errors import ToolError
from planloom.tools.context import ToolContext
from planloom.tools.tool import tool
from planloom.values import TableRef

_TIMEOUT_S = 1800.0
"""Files of some gigabytes take minutes; a run has its own limit."""
_MAX_CATEGORIES = 500


@dataclass(frozen=True, kw_only=True)
class SourceTable(TableRef):
    """A table as it was read from a file, before any cleaning."""

    loaded: LoadedFile
    """How the file was read; it may hold further tables."""
    index: int
    """Which of `loaded.tables` this is, from 0."""

    @property
    def own(self) -> LoadedTable:
        """How this table was read."""
        return self.loaded.tables[self.index]


@dataclass(frozen=True, kw_only=True)
class TableSummary(TableProfile):
    """The profile of a table, what is suspicious in it, and the values of its categories."""

    traps: tuple[Trap, ...]
    values: Mapping[str, tuple[str, ...]]
    """Every value of the text columns with few different ones, by column, in order."""


@dataclass(frozen=True, kw_only=True)
class CleanTable(TableRef):
    """A cleaned table, with what was done to it."""

    cleaned: Cleaned
    operations: tuple[Operation, ...]
    traps: tuple[Trap, ...]
    """What was suspicious in the table before."""


@tool(
    effect="read",
    retries=0,  # a file that cannot be read now cannot be read in a second either
    timeout_s=_TIMEOUT_S,
    isolation="process",
    keywords=("load", "open", "excel", "xlsx", "json", "parquet", "读取", "加载", "表格"),
)
def read_csv_file(path: str, context: ToolContext, sheet: str = "") -> SourceTable:
    """Read a data file as a typed table: CSV and other delimited text, Excel, Parquet, JSON.

    Encoding, delimiter, header, types and faulty lines are found out and said in the result.

    Args:
        path: The data file.
        sheet: Sheet of a workbook; the one with the most rows when empty.
    """
    loaded = load_file(context.input_path(path), out=context.folder)
    index = _sheet_index(loaded, sheet)
    table = loaded.tables[index].table
    return SourceTable(
        path=table.path, columns=table.columns, rows=table.rows, name="source",
        sha256=table.sha256, loaded=loaded, index=index,
    )  # fmt: skip


def _sheet_index(loaded: LoadedFile, sheet: str) -> int:
    titles = [table.title for table in loaded.tables]
    if sheet and sheet not in titles:
        raise ToolError(f"'{loaded.file}' has no sheet '{sheet}'. It has: {', '.join(titles)}.")
    if sheet:
        return titles.index(sheet)
    return max(range(len(titles)), key=lambda index: loaded.tables[index].table.rows)


@tool(
    timeout_s=_TIMEOUT_S,
    isolation="process",
    keywords=("profile", "describe", "statistics", "概况", "描述", "统计"),
)
def get_data_summary(table: TableRef) -> TableSummary:
    """Profile a table: types, meanings, missing and distinct values, ranges, and data traps.

    Args:
        table: The table.
    """
    profile = profile_table(table)
    return TableSummary(
        name=profile.name, rows=profile.rows, columns=profile.columns,
        duplicate_rows=profile.duplicate_rows, keys=profile.keys,
        traps=find_traps(table, profile), values=_category_values(table, profile),
    )  # fmt: skip


def _category_values(table: TableRef, profile: TableProfile) -> dict[str, tuple[str, ...]]:
    found = read_text_values(table, profile)
    return {
        name: tuple(sorted(counts))
        for name, counts in found.items()
        if len(counts) <= _MAX_CATEGORIES
    }


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("清洗", "去重", "fix"))
def clean_data(
    table: TableRef, context: ToolContext, operations: list[Operation] | None = None
) -> CleanTable:
    """Clean a table by operations that are logged with their row counts; the source stays as it is.

    Args:
        table: The table.
        operations: What to do, in order; when left out, only what is surely right is done: blanks
            trimmed, spellings unified, exact duplicates and total rows set aside.
    """
    profile = profile_table(table)
    traps = find_traps(table, profile)
    chosen = propose_operations(table, profile, traps) if operations is None else tuple(operations)
    cleaned = clean_table(table, chosen, out=context.folder / "cleaned.parquet")
    result = cleaned.table
    return CleanTable(
        path=result.path, columns=result.columns, rows=result.rows, name=result.name,
        sha256=result.sha256, cleaned=cleaned, operations=chosen,
        traps=traps,
    )  # fmt: skip


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("筛选", "过滤", "where", "subset"))
def filter_rows(table: TableRef, conditions: list[Condition], context: ToolContext) -> Selection:
    """Keep the rows for which all conditions hold.

    Args:
        table: The table.
        conditions: Each with column, comparison and value.
    """
    return select_rows(table, conditions, out=context.folder / "selected.parquet")
