"""Dates with short years, mixed zones and telephone numbers keep what the file says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import duckdb
import pytest

from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.results import LoadedTable

Load = Callable[..., LoadedTable]


@pytest.fixture
def column(tmp_path: Path) -> Load:
    """Load a file whose second column has this name and holds these cells."""

    def load(name: str, cells: list[str], *, small_bytes: int = 4_000_000) -> LoadedTable:
        path = tmp_path / "data.csv"
        lines = [f"k{i};{cell}" for i, cell in enumerate(cells)]
        path.write_text("\n".join([f"key;{name}", *lines]) + "\n", encoding="utf-8")
        return load_file(path, out=tmp_path / "out", small_bytes=small_bytes).tables[0]

    return load


def values(table: LoadedTable) -> list[object]:
    name = table.header[1]
    query = f'SELECT "{name}" FROM read_parquet(?)'
    return [row[0] for row in duckdb.execute(query, [table.table.path]).fetchall()]


def said(table: LoadedTable) -> str:
    assert all(note.text("zh") for note in table.decisions)
    return "\n".join(note.text("en") for note in table.decisions)


@pytest.mark.parametrize("small_bytes", [4_000_000, 1], ids=["careful", "direct"])
@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["01/05/24", "02/13/24"], date(2024, 1, 5)),
        (["05-01-24", "13-02-24"], date(2024, 1, 5)),
        (["1/05/24", "2/13/24"], date(2024, 1, 5)),
        (["24/01/05", "24/02/13", "24/03/27"], date(2024, 1, 5)),
        (["98-01-05", "99-02-13"], date(1998, 1, 5)),
        (["24/01/05", "25/02/03", "26/12/03"], date(2005, 1, 24)),
        (["2024/1/5", "2024/12/25"], date(2024, 1, 5)),
    ],
)
def test_years_of_two_digits_are_of_our_time(
    column: Load, cells: list[str], first: date, small_bytes: int
) -> None:
    table = column("d", cells, small_bytes=small_bytes)
    assert table.table.columns[1].type == "date"
    assert values(table)[0] == first


def test_short_dotted_dates_need_a_name_that_says_date(column: Load) -> None:
    assert values(column("date", ["5.1.24", "13.2.24"])) == [date(2024, 1, 5), date(2024, 2, 13)]
    assert values(column("version", ["1.2.12", "1.3.12"])) == ["1.2.12", "1.3.12"]


@pytest.mark.parametrize("name", ["phone", "Phone No.", "mobile", "客户电话", "fax"])
def test_telephone_numbers_stay_text(column: Load, name: str) -> None:
    table = column(name, ["555 123 456", "555 123 789"])
    assert values(table) == ["555 123 456", "555 123 789"]
    assert "telephone" in said(table)


def test_counts_of_telephones_are_numbers(column: Load) -> None:
    assert values(column("mobile_users", ["1 234 567", "2 345 678"])) == [1234567, 2345678]


_ZONED = ["2024-01-05T10:00:00+01:00", "2024-01-05T10:00:00+01:00"]


def test_times_without_zone_among_several_zones_stay_text(column: Load) -> None:
    cells = [*_ZONED, "2024-01-05T10:00:00Z", "2024-01-05 11:00:00"]
    table = column("t", cells)
    assert values(table) == cells
    assert "several time zones" in said(table)


def test_times_without_zone_beside_one_zone_are_said(column: Load) -> None:
    table = column("t", [*_ZONED, "2024-01-05 11:00:00"])
    # The moments of a table have no zone.
    assert values(table)[2] == datetime(2024, 1, 5, 11)  # noqa: DTZ001 - see above
    assert "same zone" in said(table)
