"""`planloom profile`: what a data file holds, and every decision taken in reading it."""

from __future__ import annotations

import json as json_format
import tempfile
from dataclasses import asdict
from pathlib import Path

from planloom.agents.input_files import existing_file
from planloom.analysis.loading.load import load_file
from planloom.analysis.loading.results import LoadedFile, LoadedTable
from planloom.analysis.numbers.formatting import show
from planloom.analysis.profile import ColumnProfile, TableProfile, profile_table
from planloom.analysis.traps import Trap, find_traps
from planloom.apps.terminal import printable
from planloom.notes import Lang, Note


def run(file: Path, *, json: bool, lang: Lang) -> int:
    """Print the profile of a file; InputError where there is none or nothing can be read."""
    existing_file(file)
    with tempfile.TemporaryDirectory(prefix="planloom-profile-") as work:
        loaded = load_file(file, out=Path(work))
        parts = [_Part(table) for table in loaded.tables]
    if json:
        print(json_format.dumps(_as_json(loaded, parts, lang), ensure_ascii=False, indent=1))
    else:
        _print_text(loaded, parts, lang)
    return 0


class _Part:
    """A table of the file with its profile."""

    def __init__(self, loaded: LoadedTable):
        self.loaded = loaded
        self.profile: TableProfile = profile_table(loaded.table)
        self.traps: tuple[Trap, ...] = find_traps(loaded.table, self.profile)


def _as_json(loaded: LoadedFile, parts: list[_Part], lang: Lang) -> dict[str, object]:
    return {
        "schema": 1,
        "file": loaded.file,
        "format": loaded.format,
        "sha256": loaded.sha256,
        "encoding": loaded.encoding,
        "delimiter": loaded.delimiter,
        "decisions": [note.text(lang) for note in loaded.decisions],
        "tables": [_table_json(part, lang) for part in parts],
    }


def _table_json(part: _Part, lang: Lang) -> dict[str, object]:
    loaded = part.loaded
    return {
        "name": loaded.title,
        "rows_in": loaded.rows_in,
        "rows_kept": loaded.rows_kept,
        "rows_rejected": loaded.rows_rejected,
        "header": list(loaded.header),
        "header_row": loaded.header_row,
        "duplicate_rows": part.profile.duplicate_rows,
        "keys": list(part.profile.keys),
        "columns": [asdict(column) for column in part.profile.columns],
        "decisions": [note.text(lang) for note in loaded.decisions],
        "traps": [
            {"kind": trap.kind, "text": trap.text.text(lang), "column": trap.column,
             "rows": trap.rows}
            for trap in part.traps
        ],
    }  # fmt: skip


def _print_text(loaded: LoadedFile, parts: list[_Part], lang: Lang) -> None:
    form = ", ".join(word for word in (loaded.format, loaded.encoding) if word)
    print(printable(f"{loaded.file} ({form})"))
    for note in loaded.decisions:
        print(printable(f"  {note.text(lang)}"))
    for part in parts:
        _print_table(part, lang)


def _print_table(part: _Part, lang: Lang) -> None:
    loaded = part.loaded
    counts = {"kept": loaded.rows_kept, "read": loaded.rows_in, "rejected": loaded.rows_rejected}
    print(printable(f"\n{loaded.title}: {_COUNTS.with_args(counts).text(lang)}"))
    for column in part.profile.columns:
        print(printable(f"  {_column_line(column, lang)}"))
    for note in (*loaded.decisions, *(trap.text for trap in part.traps)):
        print(printable(f"  - {note.text(lang)}"))


_COUNTS = Note(
    "{read|record|records} read, {kept} kept, {rejected} set aside",
    "读取 {read} 条记录，保留 {kept} 条，搁置 {rejected} 条",
)


def _column_line(column: ColumnProfile, lang: Lang) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    counts = {"missing": column.missing, "distinct": column.distinct}
    words = _COLUMN.with_args(counts).text(lang)
    span = ""
    if column.min is not None:
        span = f", {show(column.min, '', lang)} – {show(column.max, '', lang)}"
    return f"{column.name}: {column.type}{unit}, {column.meaning}; {words}{span}"


_COLUMN = Note("{missing} missing, {distinct} distinct", "缺失 {missing}，不同取值 {distinct}")
