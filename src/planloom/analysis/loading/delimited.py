"""Reads delimited text: small or odd files record by record, large plain ones through DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from planloom.analysis.loading.byte_scan import ByteScan
from planloom.analysis.loading.dialect import (
    BLANKS,
    GAPS,
    Dialect,
    detect_dialect,
    is_ragged,
    quoting_rivals,
    read_records,
    settle_quoting,
)
from planloom.analysis.loading.direct_reading import write_direct
from planloom.analysis.loading.encoding import Encoding
from planloom.analysis.loading.outline import outline_table, stage_table, with_break
from planloom.analysis.loading.results import LoadedTable
from planloom.analysis.loading.text_lines import TextFile
from planloom.analysis.loading.typed_table import write_typed
from planloom.errors import InputError
from planloom.notes import Note

SMALL_BYTES = 4_000_000
"""Files up to this size are always read record by record: it is exact, and fast enough."""
_HEAD_LINES = 1000
_DELIMITER_NAMES = {
    ",": ("a comma", "逗号"), ";": ("a semicolon", "分号"), "\t": ("a tab", "制表符"),
    "|": ("a vertical bar", "竖线"), "^": ("a caret", "脱字符 ^"), "~": ("a tilde", "波浪号"),
    ":": ("a colon", "冒号"), "，": ("a full-width comma", "全角逗号"), BLANKS: ("blanks", "空格"),
    GAPS: ("two or more blanks", "两个以上的空格"),
}  # fmt: skip


def load_delimited(
    path: Path,
    scan: ByteScan,
    encoding: Encoding,
    *,
    out: Path,
    title: str,
    name: str,
    small_bytes: int = SMALL_BYTES,
) -> tuple[LoadedTable, str]:
    """Return the table of a text file and its delimiter; `name` is what messages call the file.

    Raises:
        InputError: the file holds nothing but blanks.
    """
    text = TextFile(path=path, scan=scan, encoding=encoding)
    head = text.first_lines(_HEAD_LINES)
    if not any(line.strip("\ufeff \t\r\n,;|") for line in head):
        raise InputError(
            f"'{name}' holds nothing but blanks. Give a file with a table in it.",
            zh=f"“{name}”中只有空白，请提供含有表格的文件。",
        )
    dialect = detect_dialect(head)
    if scan.quotes:
        dialect = _settle_quotes(text, head, dialect)
    outline = with_break(outline_table(list(read_records(head, dialect)), title=title))
    notes = (*_dialect_notes(text, dialect, outline.names), *outline.notes)
    outline = replace(outline, notes=notes)
    table = None
    if scan.size > small_bytes:
        table = write_direct(text, dialect, outline, out)
    if table is None:
        records = read_records(text.lines(), dialect)
        table = write_typed(
            stage_table(outline, records, out=out, name="source"), out, name="source"
        )
    return table, dialect.shown_delimiter


def _settle_quotes(text: TextFile, head: list[str], dialect: Dialect) -> Dialect:
    lines = list(text.lines()) if text.scan.size <= SMALL_BYTES else head
    if not is_ragged(lines, dialect):
        return dialect
    return settle_quoting(lines, quoting_rivals(dialect))


def _dialect_notes(text: TextFile, dialect: Dialect, names: Sequence[str]) -> list[Note]:
    notes: list[Note] = []
    if len(names) > 1:
        english, chinese = _DELIMITER_NAMES[dialect.shown_delimiter]
        notes.append(Note(f"Fields are separated by {english}.", f"字段以{chinese}分隔。"))
    else:
        notes.append(Note("The text has a single column.", "文本只有一列。"))
    if dialect.trim:
        notes.append(Note("Blanks around the fields were removed.", "已去除字段两端的空格。"))
    if dialect.quoting == "none" and text.scan.quotes:
        notes.append(Note(
            "Quote marks were read as plain text.", "引号按普通文字处理。"
        ))  # fmt: skip
    elif dialect.quoting == "single":
        notes.append(Note("Fields are enclosed in single quotes.", "字段以单引号括起。"))
    elif dialect.quoting == "backslash":
        notes.append(Note(
            "A backslash stands before quote marks inside fields.",
            "字段内的引号以反斜杠转义。",
        ))  # fmt: skip
    return notes + _line_end_notes(text)


def _line_end_notes(text: TextFile) -> list[Note]:
    notes: list[Note] = []
    scan = text.scan
    if text.has_nul:
        notes.append(Note(
            "{n|NUL byte|NUL bytes} removed.", "已去除 {n} 个 NUL 字节。", {"n": scan.nul}
        ))  # fmt: skip
    if scan.cr_crlf:
        notes.append(Note(
            "Lines end in CR CR LF; each was taken as one line end.",
            "行尾为 CR CR LF，均按一个换行处理。",
        ))  # fmt: skip
    elif scan.cr > scan.crlf and not scan.lf:
        notes.append(Note("Lines end in CR, as on old Macs.", "行尾为 CR（旧版 Mac 格式）。"))
    return notes
