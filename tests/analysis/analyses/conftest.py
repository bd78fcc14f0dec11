"""Tables made from Python rows, and the checks that every analysis must pass."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from planloom.analysis.database import connect, identifier, literal, plain, write_table
from planloom.analysis.results import Analysis
from planloom.values import TableRef

Cell = str | int | float | bool | date | datetime | Decimal | None
MakeTable = Callable[..., TableRef]
CheckAnalysis = Callable[[Analysis, TableRef], None]

_CITED = re.compile(r"\{\{([\w.\-]+)(?:\|[^{}|]*\|[^{}|]*)?\}\}")
_ARGUMENT = re.compile(r"\{\w+(?:\|[^{}|]*\|[^{}|]*)?\}")


@pytest.fixture
def make_table(tmp_path: Path) -> MakeTable:
    """Return a function (columns with SQL types, rows, units, name) that gives a table.

    Rows are Python tuples, or the SQL that gives them, for many.
    """
    number = itertools.count()

    def make(
        columns: Mapping[str, str],
        rows: Sequence[Sequence[Cell]] | str,
        *,
        units: Mapping[str, str] | None = None,
        name: str = "cleaned",
    ) -> TableRef:
        typed = ", ".join(
            f"CAST(c{position} AS {sql}) AS {identifier(column)}"
            for position, (column, sql) in enumerate(columns.items())
        )
        names = ", ".join(f"c{position}" for position in range(len(columns)))
        given = f"({rows})" if isinstance(rows, str) else f"({_values(rows, len(columns))})"
        query = f"SELECT {typed} FROM {given} AS given({names})"
        with connect(writable=tmp_path) as connection:
            path = tmp_path / f"table{next(number)}.parquet"
            return write_table(connection, query, path, name=name, units=units)

    return make


def _values(rows: Sequence[Sequence[Cell]], width: int) -> str:
    if not rows:
        return f"SELECT {', '.join(['NULL'] * width)} WHERE false"
    return "VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


@pytest.fixture
def check() -> CheckAnalysis:
    """Return the check of everything that holds for any analysis of a table."""
    return check_analysis


def check_analysis(analysis: Analysis, table: TableRef) -> None:
    """Fail unless facts and table can be computed again and the notes cite only facts."""
    with connect(table) as connection, connect(analysis) as own:
        kept = own.execute(f"SELECT * FROM {identifier(analysis.name)}").fetchall()
        again = connection.execute(analysis.query).fetchall()
        assert [nearly(row) for row in again] == [tuple(map(plain, row)) for row in kept]
        for fact in analysis.facts:
            cells = connection.execute(fact.query).fetchall()
            assert [len(row) for row in cells] == [1], fact
            assert nearly(cells[0])[0] == fact.value, fact
            assert fact.table == table.name
            assert 0 <= fact.rows <= table.rows
    ids = [fact.id for fact in analysis.facts]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w.\-]+", each) for each in ids)
    assert all(each.startswith(analysis.kind) for each in ids)
    assert len(analysis.headings) == len(analysis.columns)
    _check_chart(analysis)
    _check_notes(analysis)


def nearly(row: Sequence[object]) -> tuple[object, ...]:
    """Return a row whose floating-point cells may differ in their last bits.

    Groups come in any order, and floating-point addition depends on it.
    """
    return tuple(
        pytest.approx(cell, rel=1e-12) if isinstance(cell, float) else cell
        for cell in map(plain, row)
    )


def _check_chart(analysis: Analysis) -> None:
    if analysis.chart is not None:
        assert {analysis.chart.x, *analysis.chart.y} <= set(analysis.column_names)
        assert analysis.chart.rows <= analysis.rows


def _check_notes(analysis: Analysis) -> None:
    facts = {fact.id: fact for fact in analysis.facts}
    for note in (*analysis.findings, *analysis.cautions):
        for lang, template in (("en", note.en), ("zh", note.zh)):
            cited = _CITED.findall(template)
            assert set(cited) <= set(facts)
            assert all(facts[each].value is not None for each in cited), note
            own_words = _ARGUMENT.sub("", _CITED.sub("", template))
            assert not re.search(r"\d|[<>{}]", own_words), template
            note.text(lang)
        assert set(_CITED.findall(note.zh)) <= set(_CITED.findall(note.en)), note
    for note in (analysis.title, *analysis.headings, *(fact.label for fact in analysis.facts)):
        for lang in ("en", "zh"):
            assert not re.search(r"[<>{}]", note.text(lang).replace("⟨", "").replace("⟩", ""))
