"""Facts for the cells of a result table, so that each number in a shown table has its source."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from planloom.analysis.analyses.fact_ids import segment
from planloom.analysis.analyses.labels import COUNT_HEADINGS, label_note
from planloom.analysis.database import connect, identifier, literal, plain
from planloom.analysis.results import Analysis
from planloom.notes import Note, Scalar
from planloom.values import Fact

_NUMERIC = ("integer", "number")


def cell_facts(analysis: Analysis, *, max_rows: int) -> dict[tuple[int, str], Fact]:
    """Return a fact for each key and each number in the first `max_rows` rows, by (row, column).

    Rows count from 0, in the order of the table. A cell without a value has a fact as well (its
    value is None), so that the renderer can say "(missing)" for a key. `Fact.rows` is what the
    row's column of counts says, and 0 where there is none.

    Raises:
        ValueError: the keys do not tell the rows apart.
    """
    with connect(analysis) as connection:
        rows = _first_rows(connection, analysis, max_rows)
    wanted = [
        (position, column)
        for position, column in enumerate(analysis.columns)
        if column.name in analysis.keys or column.type in _NUMERIC
    ]
    return {
        (number, column.name): _fact(analysis, number, row, position)
        for number, row in enumerate(rows)
        for position, column in wanted
    }


def _first_rows(
    connection: duckdb.DuckDBPyConnection, analysis: Analysis, max_rows: int
) -> list[tuple[Scalar, ...]]:
    name, keys = identifier(analysis.name), ", ".join(map(identifier, analysis.keys))
    doubled = connection.execute(
        f"SELECT {keys} FROM {name} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
    ).fetchall()
    if doubled:
        raise ValueError(f"The keys {analysis.keys} of '{analysis.name}' name two rows: {doubled}.")
    found = connection.execute(f"SELECT * FROM {name} LIMIT {int(max_rows)}").fetchall()
    return [tuple(plain(value) for value in row) for row in found]


def _fact(analysis: Analysis, number: int, row: Sequence[Scalar], position: int) -> Fact:
    column = analysis.columns[position]
    cells = dict(zip(analysis.column_names, row, strict=True))
    where = " AND ".join(
        f"{identifier(key)} IS NOT DISTINCT FROM {literal(cells[key])}" for key in analysis.keys
    )
    return Fact(
        id=f"{analysis.name}.{number + 1}.{segment(column.name)}",
        label=_label(analysis.headings[position], cells[analysis.keys[0]]),
        value=row[position],
        unit=column.unit,
        query=f"SELECT {identifier(column.name)} FROM ({analysis.query}) AS result WHERE {where}",
        table=analysis.base,
        rows=_rows(analysis, row),
    )


def _label(heading: Note, key: Scalar) -> Note:
    """Return "Amount (North)": the heading of the column and the key of the row."""
    named = label_note(key)
    en, zh = (text.replace("{text}", "{key}") for text in (named.en, named.zh))
    args = {("key" if name == "text" else name): value for name, value in named.args.items()}
    return Note(f"{heading.en}: {en}", f"{heading.zh}：{zh}", {**heading.args, **args})


def _rows(analysis: Analysis, row: Sequence[Scalar]) -> int:
    for heading, value in zip(analysis.headings, row, strict=True):
        if heading in COUNT_HEADINGS and isinstance(value, int | float):
            return int(value)
    return 0
