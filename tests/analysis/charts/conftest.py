from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path

import pytest

from planloom.analysis.charts.draw import draw
from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.results import ChartKind, ChartSpec
from planloom.notes import Lang, Note
from planloom.values import ImageRef, TableRef

Cell = str | int | float | bool | date | datetime | None
Rows = Sequence[Sequence[Cell]]


@pytest.fixture
def table_of(tmp_path: Path) -> Callable[..., TableRef]:
    """Write rows as a table with columns k, y0, y1 ... or the names given."""

    def write(rows: Rows, *, names: Sequence[str] = (), types: Sequence[str] = ()) -> TableRef:
        width = len(rows[0])
        names = names or ["k", *(f"y{number}" for number in range(width - 1))]
        types = types or [_sql_type([row[column] for row in rows]) for column in range(width)]
        values = ", ".join(
            "(" + ", ".join(f"{literal(v)}::{t}" for v, t in zip(row, types, strict=True)) + ")"
            for row in rows
        )
        columns = ", ".join(identifier(name) for name in names)
        with connect(writable=tmp_path) as connection:
            query = f"SELECT * FROM (VALUES {values}) AS t({columns})"
            return write_table(connection, query, tmp_path / "result.parquet", name="result")

    return write


def _sql_type(cells: list[Cell]) -> str:
    kinds = {type(cell) for cell in cells if cell is not None}
    for python, sql in ((str, "VARCHAR"), (datetime, "TIMESTAMP"), (date, "DATE")):
        if python in kinds:
            return sql
    return "BOOLEAN" if kinds == {bool} else "BIGINT" if kinds == {int} else "DOUBLE"


@pytest.fixture
def chart(table_of: Callable[..., TableRef], tmp_path: Path) -> Callable[..., ImageRef]:
    """Draw rows as a chart of a kind."""

    def drawn(
        kind: ChartKind,
        rows: Rows,
        *,
        lang: Lang = "en",
        title: str = "A title",
        unit: str = "",
        names: Sequence[str] = (),
        x_title: str = "Kind",
        horizontal: bool = False,
        first_rows: int = 0,
        incomplete: tuple[str, ...] = (),
        out: str = "chart",
        formats: tuple[str, ...] = ("png",),
    ) -> ImageRef:
        table = table_of(rows, names=names)
        spec = ChartSpec(
            kind=kind,
            x=table.column_names[0],
            y=table.column_names[1:],
            title=Note.same(title),
            x_title=Note.same(x_title),
            y_title=Note("Sales", "销售额"),
            unit=unit,
            horizontal=horizontal,
            rows=first_rows,
            incomplete=incomplete,
        )
        return draw(table, spec, lang=lang, out=tmp_path / out, formats=formats)

    return drawn
