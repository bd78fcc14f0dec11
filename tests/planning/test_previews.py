"""Results are shown bounded, and a table's text does not grow with its rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from planloom.planning.previews import MAX_CHARS, as_data, preview_value
from planloom.values import Column, FileRef, ImageRef, TableRef, file_sha256


def make_table(folder: Path, rows: int) -> TableRef:
    path = folder / f"t{rows}.parquet"
    duckdb.sql(
        "SELECT i AS id, ['North', 'South', NULL][1 + i % 3] AS region, i * 1.5 AS amount "
        f"FROM range({rows}) r(i)"
    ).write_parquet(str(path))
    columns = (
        Column(name="id", type="integer"),
        Column(name="region", type="text"),
        Column(name="amount", type="number", unit="$"),
    )
    return TableRef(
        path=str(path), columns=columns, rows=rows, name="sales", sha256=file_sha256(path)
    )


def test_table_is_shown_by_schema_count_first_rows_and_summary(tmp_path: Path) -> None:
    text = preview_value(make_table(tmp_path, 300))
    assert text.splitlines() == [
        "300 rows; columns: id (integer), region (text), amount (number, $)",
        "id ; region ; amount",
        "0 ; North ; 0.0",
        "1 ; South ; 1.5",
        "2 ;  ; 3.0",
        "3 ; North ; 4.5",
        "4 ; South ; 6.0",
        "summary: id 0 to 299, mean 149.5; region about 2 different, 100 missing; "
        "amount 0.0 to 448.5, mean 224.25",
    ]


def test_small_table_is_shown_whole(tmp_path: Path) -> None:
    text = preview_value(make_table(tmp_path, 12))
    assert len(text.splitlines()) == 2 + 12
    assert "summary" not in text


def test_preview_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    sizes = [len(preview_value(make_table(tmp_path, rows))) for rows in (100, 1_000, 10_000)]
    assert max(sizes) - min(sizes) < 60


def test_table_whose_file_is_gone_is_still_described(tmp_path: Path) -> None:
    table = make_table(tmp_path, 50)
    Path(table.path).unlink()
    assert preview_value(table).startswith("50 rows; columns: id (integer)")


@pytest.mark.parametrize(
    "value",
    [
        "x" * 100_000,
        [{"id": number, "text": "word " * 50} for number in range(10_000)],
        {f"key{number}": "v" * 1000 for number in range(5_000)},
        [[[["deep"] * 100] * 100] * 100] * 100,
    ],
)
def test_large_values_are_bounded(value: object) -> None:
    assert len(preview_value(value)) < MAX_CHARS + 60


def test_list_says_how_long_it_is() -> None:
    assert preview_value(list(range(500))).startswith("500 items, the first 10: [0, 1")


def test_small_values_are_shown_as_they_are() -> None:
    assert preview_value("text") == "text"
    assert preview_value(None) == "null"
    assert preview_value({"城市": ["北京", 1, True]}) == '{"城市": ["北京", 1, true]}'


def test_files_are_shown_by_name_and_not_by_path() -> None:
    file = FileRef(path="/secret/place/a.pdf", media_type="application/pdf", size=9, sha256="0")
    image = ImageRef(path="/secret/b.png", media_type="image/png", size=9, sha256="0",
                     width=1, height=1, alt="Sales by month")  # fmt: skip
    text = preview_value([file, image])
    assert text == '["file a.pdf (application/pdf, 9 bytes)", "picture b.png: Sales by month"]'


def test_rows_of_data_are_marked() -> None:
    assert as_data("a = x()\n\r\nb\u2028c = y()") == "| a = x()\n| \n| b\n| c = y()"
