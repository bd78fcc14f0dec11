"""Every key and number of a result table has a fact whose query gives it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom.analysis.analyses.overview import overview
from planloom.analysis.analyses.ranking import ranking
from planloom.analysis.analyses.share import share
from planloom.analysis.analyses.trend import trend
from planloom.analysis.cell_facts import cell_facts
from planloom.analysis.database import connect, plain, write_table
from planloom.values import TableRef


@pytest.fixture
def table(tmp_path: Path) -> TableRef:
    query = """
        SELECT DATE '2024-01-01' + CAST(i AS INTEGER) AS day,
            ['it''s "A"', 'B', NULL][1 + i % 3] AS region, 'p' || (i % 40) AS product,
            CAST(i * 7 % 100 AS DOUBLE) AS amount
        FROM range(200) AS r(i)
    """
    with connect(writable=tmp_path) as connection:
        return write_table(
            connection, query, tmp_path / "t.parquet", name="cleaned", units={"amount": "$"}
        )


def test_every_cell_can_be_computed_again(table: TableRef, tmp_path: Path):
    analyses = [
        overview(table, measures=["amount"], out=tmp_path),
        overview(table, categories=["region", "product"], out=tmp_path),
        share(table, category="region", value="amount", out=tmp_path),
        ranking(table, category="product", value="amount", how="mean", out=tmp_path),
        trend(table, date="day", value="amount", out=tmp_path),
        trend(table, date="day", value="amount", by="region", out=tmp_path),
    ]
    ids: list[str] = []
    for analysis in analyses:
        found = cell_facts(analysis, max_rows=50)
        with connect(table) as connection:
            shown = connection.execute(analysis.query).fetchall()
            for (row, column), fact in found.items():
                cells = connection.execute(fact.query).fetchall()
                assert [tuple(map(plain, cell)) for cell in cells] == [
                    (pytest.approx(fact.value) if isinstance(fact.value, float) else fact.value,)
                ]
                position = analysis.column_names.index(column)
                assert plain(shown[row][position]) == pytest.approx(fact.value)
                assert fact.unit == analysis.columns[position].unit
                assert fact.rows > 0
        ids += [fact.id for fact in found.values()]
        assert len({row for row, _ in found}) == analysis.rows
    assert len(set(ids)) == len(ids)


def test_only_the_first_rows_have_facts(table: TableRef, tmp_path: Path):
    found = cell_facts(ranking(table, category="product", out=tmp_path), max_rows=2)
    assert set(found) == {(row, column) for row in (0, 1) for column in ("product", "rows")}


def test_labels_name_the_row_in_both_languages(table: TableRef, tmp_path: Path):
    shares = share(table, category="region", value="amount", out=tmp_path)
    found = cell_facts(shares, max_rows=3)
    missing = next(row for (row, column), fact in found.items() if fact.value is None)
    label = found[missing, "share"].label
    assert (label.text("en"), label.text("zh")) == ("Share: (missing)", "占比：（缺失）")
    ranks = ranking(table, category="product", value="amount", out=tmp_path)
    rest = cell_facts(ranks, max_rows=11)[10, "amount"].label
    assert rest.text("en") == "Amount: Other (30 categories)"
