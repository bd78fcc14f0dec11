"""DuckDB reads large plain text itself, and gives what the careful way gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from planloom.analysis.loading.byte_scan import scan_bytes
from planloom.analysis.loading.dialect import detect_dialect, read_records
from planloom.analysis.loading.direct_reading import write_direct
from planloom.analysis.loading.encoding import detect_encoding
from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.outline import outline_table
from planloom.analysis.loading.results import LoadedTable
from planloom.analysis.loading.staging import SCRATCH
from planloom.analysis.loading.text_lines import TextFile

_LINES = [f'{i},2024-01-{i % 28 + 1:02},"town, {i}",{i / 4}' for i in range(1, 500)]
_PLAIN = "\n".join(["id,day,place,value", *_LINES]) + "\n"


def direct(text: str | bytes, folder: Path) -> LoadedTable | None:
    path = folder / "data.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    scan = scan_bytes(path)
    file = TextFile(path=path, scan=scan, encoding=detect_encoding(path, scan))
    head = file.first_lines(100)
    dialect = detect_dialect(head)
    outline = outline_table(list(read_records(head, dialect)), title="data")
    (folder / "out" / SCRATCH).mkdir(parents=True)
    return write_direct(file, dialect, outline, folder / "out")


def rows(table: LoadedTable) -> list[tuple[object, ...]]:
    return duckdb.execute("FROM read_parquet(?)", [table.table.path]).fetchall()


@pytest.mark.parametrize(
    "text",
    [
        _PLAIN,
        "Title\n\n" + _PLAIN,
        _PLAIN.replace("\n", "\r\n"),
        _PLAIN.replace("\n250,2024", "\n250,x\n250,2024"),
        _PLAIN.replace("town, 300", "Zürich").encode("latin-1"),
        _PLAIN.replace('"', "").replace("town, ", "town ").replace("\n250", "\n\n250"),
    ],
    ids=["plain", "title", "crlf", "ragged", "latin-1", "blank line"],
)
def test_both_ways_give_the_same(text: str | bytes, tmp_path: Path) -> None:
    found = direct(text, tmp_path)
    assert found is not None
    careful = load_file(tmp_path / "data.csv", out=tmp_path / "careful").tables[0]
    assert rows(found) == rows(careful)
    assert (found.rejected is None) == (careful.rejected is None)
    if found.rejected and careful.rejected:
        both = [t.rejected.path for t in (found, careful) if t.rejected]
        assert duckdb.execute("FROM read_parquet(?)", both[:1]).fetchall() == (
            duckdb.execute("FROM read_parquet(?)", both[1:]).fetchall()
        )
    same = replace(found, table=careful.table, rejected=careful.rejected, decisions=())
    assert same == replace(careful, decisions=())
    said = [note.text("en") for note in careful.decisions]
    assert all(note.text("en") in said for note in found.decisions)


@pytest.mark.parametrize(
    "text",
    [
        _PLAIN + "\nSource: us\n",
        _PLAIN.replace("\n250,2024", "\n,,,\n250,2024"),
        _PLAIN.replace('"town, 300"', '"town\n300"'),
        _PLAIN.replace("\n250,2024", "\nid,day,place,value\n250,2024"),
        _PLAIN.replace('"town, 300"', '"town" 300'),
        _PLAIN.replace("\n", "\r"),
    ],
    ids=["note", "blank row", "line break", "header again", "odd quotes", "cr"],
)
def test_doubtful_text_is_left_to_the_careful_way(text: str, tmp_path: Path) -> None:
    assert direct(text, tmp_path) is None
