"""Lets DuckDB read a large delimited text itself, when that can be proved to be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import duckdb

from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.loading.byte_scan import scan_bytes
from planloom.analysis.loading.column_reading import CellReader
from planloom.analysis.loading.dialect import (
    DELIMITERS,
    NO_DELIMITER,
    Dialect,
    Record,
    read_records,
)
from planloom.analysis.loading.encoding import Encoding
from planloom.analysis.loading.layout import filled_cells
from planloom.analysis.loading.outline import Outline, many_are_short
from planloom.analysis.loading.record_sorting import ragged_note, ragged_reason
from planloom.analysis.loading.results import LoadedTable
from planloom.analysis.loading.staging import SAMPLE_CELLS, SAMPLE_ROWS, SCRATCH, RawTable
from planloom.analysis.loading.text_lines import TextFile
from planloom.analysis.loading.typed_table import read_columns, reading_notes
from planloom.analysis.loading.wording import grouped
from planloom.notes import Note
from planloom.values import TableRef

_BLOCKS = 24
_BLOCK_BYTES = 1 << 16
_HEAD_SHARE = 4
_MAX_REJECTED = 0.05
"""When more of the lines are rejected, leaving out cells may be the custom of the file."""


def write_direct(
    text: TextFile, dialect: Dialect, outline: Outline, out: Path
) -> LoadedTable | None:
    """Return the typed table, or None when only reading record by record is sure to be right.

    DuckDB's reading is taken when the text is plain (one kind of line end, usual quotes, no
    remarks below the table), and each line is one record that was either kept or rejected.
    """
    text = _as_utf8(text, out)
    if not _is_plain(text, dialect, outline):
        return None
    raw = _raw(text, dialect, outline)
    with connect(writable=out, readable=(text.path,)) as connection:
        try:
            table, reader = read_columns(connection, raw, out, "source")
        except duckdb.Error:
            # Not even DuckDB's way of rejecting lines copes; the careful way will.
            return None
        rejects = _rejects(connection)
        lines = text.scan.lf + _has_open_end(text) - raw.skip
        missing = lines - table.rows - len(rejects)
        if (
            len(rejects) > _MAX_REJECTED * lines
            or not _is_proved(text, raw, reader, rejects, missing)
            or _has_blank_rows(connection, table)
            or _has_header_rows(connection, table, outline)
        ):
            return None
        rejected = _write_rejects(connection, outline, rejects, out)
    notes = [note for plan in reader.plans for note in plan.notes] + reading_notes(reader)
    return LoadedTable(
        table=table, title=raw.title, header=raw.names, rows_in=table.rows + len(rejects),
        rows_kept=table.rows, rows_rejected=len(rejects), header_row=raw.header_row,
        rejected=rejected,
        decisions=(*raw.notes, *_reject_notes(rejects, missing, outline), *grouped(notes)),
    )  # fmt: skip


def _as_utf8(text: TextFile, out: Path) -> TextFile:
    if text.encoding.name == "utf-8" and text.encoding.errors == "strict" and not text.has_nul:
        return text
    target = out / SCRATCH / "source.utf8.csv"
    text.write_utf8(target)
    return TextFile(path=target, scan=scan_bytes(target), encoding=Encoding(name="utf-8"))


def _is_plain(text: TextFile, dialect: Dialect, outline: Outline) -> bool:
    scan = text.scan
    one_line_end = scan.cr == scan.crlf and scan.crlf in (0, scan.lf) and not scan.cr_crlf
    usual_quotes = dialect.quoting == "double" or not scan.quotes
    return (
        one_line_end
        and usual_quotes
        and not (dialect.skip_space or dialect.trim)
        and dialect.delimiter in (*DELIMITERS, NO_DELIMITER)
        and not outline.unnamed
        and outline.second_line is None
        and outline.first_line is not None
        and not many_are_short(outline.body, outline.layout.width)
        and not any(reason.startswith("comment") for _, reason in outline.layout.above)
        and _is_regular(outline.body, outline.layout.width)
        and _is_regular(_tail(text, dialect, outline), outline.layout.width)
    )


def _is_regular(records: Sequence[Record], width: int) -> bool:
    """Return whether records look like rows of the table, not like remarks or blank rows."""
    need = min(2, width)
    return all(not record.cells or filled_cells(record.cells) >= need for record in records)


def _tail(text: TextFile, dialect: Dialect, outline: Outline) -> list[Record]:
    start = max(0, text.scan.size - _BLOCK_BYTES)
    records = list(_block(text.path, start, dialect))
    above = outline.first_line or 1
    return records if start else [record for record in records if record.line >= above]


def _block(path: Path, start: int, dialect: Dialect) -> Iterator[Record]:
    """Yield the records of a block of a UTF-8 text, from its first whole line."""
    with path.open("rb") as file:
        file.seek(start)
        lines = file.read(_BLOCK_BYTES).decode("utf-8", "replace").splitlines(keepends=True)
    whole = lines[1:] if start else lines
    yield from read_records(whole, dialect)


def _raw(text: TextFile, dialect: Dialect, outline: Outline) -> RawTable:
    width = outline.layout.width
    most = max(100, min(SAMPLE_ROWS, SAMPLE_CELLS // width))
    sample = [tuple(r.cells) for r in outline.body[: most // _HEAD_SHARE] if len(r.cells) == width]
    for number in range(1, _BLOCKS):
        start = text.scan.size * number // _BLOCKS
        # A block that begins inside quotes gives odd records; those of another width are left out.
        records = [r for r in _block(text.path, start, dialect) if len(r.cells) == width]
        sample += [tuple(r.cells) for r in records[:-1][: most // _BLOCKS]]
    return RawTable(
        path=text.path, delimiter=dialect.delimiter, skip=(outline.first_line or 1) - 1,
        width=width, names=outline.names, places=tuple(range(width)), sample=tuple(sample),
        longest=0, title=outline.title,
        header_row=outline.leaf.line if outline.leaf else None,
        rows_in=0, rejected=None, notes=outline.notes, is_staged=False,
        ends_in_lf=not text.scan.crlf,
    )  # fmt: skip


def _has_open_end(text: TextFile) -> int:
    with text.path.open("rb") as file:
        file.seek(-1, 2)
        return int(file.read(1) != b"\n")


Reject = tuple[int, str, str, int]
"""Line, kind of error, content, number of fields."""


def _rejects(connection: duckdb.DuckDBPyConnection) -> list[Reject]:
    rows = connection.execute(
        "SELECT line, any_value(error_type::VARCHAR), any_value(csv_line), "
        "min(TRY_CAST(regexp_extract(error_message, 'Found: (\\d+)', 1) AS INTEGER)) "
        "FROM reject_errors GROUP BY line ORDER BY line"
    ).fetchall()  # one error for each missing field: the first tells how many there are
    return [
        (int(line), str(kind), str(content).strip("\r\n"), int(fields or 0))
        for line, kind, content, fields in rows
    ]


def _is_proved(
    text: TextFile, raw: RawTable, reader: CellReader, rejects: Sequence[Reject], missing: int
) -> bool:
    if any(kind not in ("MISSING COLUMNS", "TOO MANY COLUMNS") for _, kind, _, _ in rejects):
        return False
    # Too many fields may be blank ones, and header lines may come again: both are mended elsewhere.
    names = {plan.name for plan in reader.plans}
    if any(kind == "TOO MANY COLUMNS" for _, kind, _, _ in rejects) or any(
        plan.name in unread for plan, unread in zip(reader.plans, reader.unread, strict=True)
    ):
        return False
    if any(content.split(raw.delimiter)[0] in names for _, _, content, _ in rejects):
        return False
    # Blank lines are no records; inside quotes they would be part of one.
    return missing == 0 or (
        missing > 0
        and not text.scan.quotes
        and len(reader.plans) > 1
        and missing == _count_blank_lines(text.path, raw.skip)
    )


def _count_blank_lines(path: Path, skip: int) -> int:
    with path.open("rb") as file:
        return sum(line in (b"\n", b"\r\n") for line in islice(file, skip, None))


def _has_blank_rows(connection: duckdb.DuckDBPyConnection, table: TableRef) -> bool:
    source = f"read_parquet({literal(table.path)})"
    for column in table.columns:
        name = identifier(column.name)
        sql = f"SELECT 1 FROM {source} WHERE {name} IS NULL LIMIT 1"
        if not connection.execute(sql).fetchall():
            return False
    blank = " AND ".join(f"{identifier(column.name)} IS NULL" for column in table.columns)
    return bool(connection.execute(f"SELECT 1 FROM {source} WHERE {blank} LIMIT 1").fetchall())


def _has_header_rows(
    connection: duckdb.DuckDBPyConnection, table: TableRef, outline: Outline
) -> bool:
    """Return whether the header stands again among the rows of a table of text."""
    if outline.leaf is None:
        return False
    cells = dict(zip(outline.names, outline.leaf.cells, strict=False))
    same = [
        f"{identifier(column.name)} = {literal(cells[column.name])}"
        for column in table.columns
        if column.type == "text" and cells.get(column.name, "").strip()
    ]  # in columns of another type the reader has met the name and not read it
    if not same:
        return False
    query = f"SELECT 1 FROM read_parquet({literal(table.path)}) WHERE {' AND '.join(same)} LIMIT 1"
    return bool(connection.execute(query).fetchall())


def _write_rejects(
    connection: duckdb.DuckDBPyConnection, outline: Outline, rejects: Sequence[Reject], out: Path
) -> TableRef | None:
    width = outline.layout.width
    rows = [
        (outline.head[index].line, reason, ",".join(outline.head[index].cells))
        for index, reason in outline.layout.above
    ] + [(line, ragged_reason(fields, width), content) for line, _, content, fields in rejects]
    if not rows:
        return None
    connection.execute("CREATE TEMP TABLE rejects (line INTEGER, reason VARCHAR, content VARCHAR)")
    connection.executemany("INSERT INTO rejects VALUES (?, ?, ?)", rows)
    return write_table(connection, "FROM rejects", out / "rejected.parquet", name="rejected")


def _reject_notes(rejects: Sequence[Reject], missing: int, outline: Outline) -> list[Note]:
    counts: dict[int, int] = {}
    for _, _, _, fields in rejects:
        counts[fields] = counts.get(fields, 0) + 1
    notes = [ragged_note(n, fields, outline.layout.width) for fields, n in counts.items()]
    if missing:
        notes.append(Note(
            "{n|blank line|blank lines} skipped.", "跳过 {n} 个空行。", {"n": missing}
        ))  # fmt: skip
    return notes
