"""Writing the result table of an analysis, and putting the analysis together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from planloom.analysis.analyses.fact_ids import table_name
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.database import write_table
from planloom.analysis.results import Analysis, ChartSpec
from planloom.notes import Note


@dataclass(frozen=True, kw_only=True)
class ResultTable:
    """The result of an analysis before it is written."""

    kind: str
    base: str
    query: str
    headings: Mapping[str, Note]
    """By column, in the order of the columns."""
    keys: tuple[str, ...]
    units: Mapping[str, str]
    """By column; a column that is left out has none."""
    variant: str = ""
    """Arguments that the ids of facts do not tell but that change the table."""


def assemble(
    connection: duckdb.DuckDBPyConnection,
    result: ResultTable,
    *,
    out: Path,
    title: Note,
    sheet: FactSheet,
    findings: Sequence[Note],
    cautions: Sequence[Note] = (),
    chart: ChartSpec | None = None,
) -> Analysis:
    """Write the result below `out` and return the analysis."""
    name = table_name(result.kind, f"{sheet.prefix}{result.variant}")
    units = {column: unit for column, unit in result.units.items() if unit}
    table = write_table(connection, result.query, out / f"{name}.parquet", name=name, units=units)
    return Analysis(
        path=table.path,
        columns=table.columns,
        rows=table.rows,
        name=table.name,
        sha256=table.sha256,
        kind=result.kind,
        title=title,
        headings=tuple(result.headings[column.name] for column in table.columns),
        keys=result.keys,
        query=result.query,
        base=result.base,
        facts=sheet.facts,
        findings=tuple(findings),
        cautions=tuple(cautions),
        chart=chart,
    )
