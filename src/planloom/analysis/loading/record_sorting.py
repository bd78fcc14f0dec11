"""Sorts the records of a delimited text into rows of the table, rejected ones and remarks."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from planloom.analysis.loading.dialect import Record
from planloom.analysis.loading.layout import (
    any_filled,
    filled_cells,
    is_ruling,
    looks_like_note,
    normalised,
)
from planloom.analysis.loading.staging import StagedRows
from planloom.analysis.loading.wording import shortened
from planloom.notes import Note

# So many records that may be notes are held back; a table may end in more blank lines than that,
# but a gap inside of it must not fill the memory.
_MAX_HELD = 10_000


@dataclass(kw_only=True)
class RecordSorter:
    """Sends each record below the header to where it belongs."""

    rows: StagedRows
    header: Sequence[str]
    """Cells of the last header line; () without one."""
    has_comments: bool = False
    """Lines that begin with # stand above the table, so those inside it are comments too."""
    fill_short: bool = False
    """Short records lack their last cells only because these are blank."""
    second_line: int | None = None
    """Line where a second table begins, whose records are all rejected; None for none."""
    first_column: int = 0
    """Length of the longest cell seen in the first column; 0 leaves it out of the question."""
    blank_lines: int = 0
    blank_rows: int = 0
    trimmed: int = 0
    """Records with more fields than the header, all blank."""
    filled: int = 0
    """Short records that were filled up."""
    repeated: int = 0
    beyond: int = 0
    """Lines of a second table."""
    ragged: Counter[int] = field(default_factory=Counter[int])
    """Rejected records by their number of fields."""
    notes: list[str] = field(default_factory=list[str])
    """Remarks below the table."""
    _held: deque[Record] = field(default_factory=deque[Record])

    def take(self, records: Iterable[Record]) -> None:
        """Sort all records."""
        for record in records:
            if self._may_end_the_table(record.cells):
                self._held.append(record)
                if len(self._held) > _MAX_HELD:
                    self._sort(self._held.popleft())
                continue
            while self._held:
                self._sort(self._held.popleft())
            self._sort(record)
        self._finish()

    def _may_end_the_table(self, cells: list[str]) -> bool:
        return len(cells) <= 1 or not any_filled(cells[1:]) or filled_cells(cells) <= 1

    def _finish(self) -> None:
        """Decide on the records at the end that are blank or hold a single cell."""
        after_gap = False
        while self._held:
            record = self._held.popleft()
            blank_to_the_end = not any(any_filled(held.cells) for held in self._held)
            if not any_filled(record.cells):
                after_gap = True
                if self.rows.width == 1 or not blank_to_the_end or not record.cells:
                    self._sort(record, ends=self._ends_in_notes())
                else:
                    self.rows.set_aside(record.line, "blank row below the table", record.cells)
                    self.blank_lines += 1
            elif self._is_note(record.cells, after_gap=after_gap):
                after_gap = True
                self.rows.set_aside(record.line, "note below the table", record.cells)
                self.notes.append(" ".join(cell.strip() for cell in record.cells if cell.strip()))
            else:
                after_gap = False
                self._sort(record)

    def _is_note(self, cells: list[str], *, after_gap: bool) -> bool:
        return looks_like_note(
            cells, width=self.rows.width, after_gap=after_gap, first_column=self.first_column
        )

    def _ends_in_notes(self) -> bool:
        return all(
            not any_filled(held.cells) or self._is_note(held.cells, after_gap=True)
            for held in self._held
        )

    def _sort(self, record: Record, *, ends: bool = False) -> None:
        cells, width = record.cells, self.rows.width
        is_beyond = self.second_line is not None and record.line >= self.second_line
        if is_beyond and any_filled(cells):
            self.beyond += 1
            put = self.rows.set_aside if record.line == self.second_line else self.rows.reject
            put(record.line, "part of a second table", cells)
        elif not cells or (not any_filled(cells) and (ends or len(cells) == 1)):
            self.blank_lines += 1
        elif self.has_comments and cells[0].startswith("#") and len(cells) < max(2, width):
            self.rows.set_aside(record.line, "comment inside the table", cells)
        elif self.header and normalised(cells) == list(self.header):
            self.repeated += 1
            self.rows.set_aside(record.line, "header line repeated", cells)
        elif is_ruling(cells):
            self.rows.set_aside(record.line, "ruling line", cells)
        elif not any_filled(cells):
            self.blank_rows += 1
            self.rows.reject(record.line, "blank row", cells)
        else:
            self._fit(record)

    def _fit(self, record: Record) -> None:
        cells, width = record.cells, self.rows.width
        if len(cells) > width and not any_filled(cells[width:]):
            self.trimmed += 1
            cells = cells[:width]
        elif len(cells) < width and self.fill_short:
            self.filled += 1
            cells = cells + [""] * (width - len(cells))
        if len(cells) == width:
            self.rows.keep(cells)
            return
        self.ragged[len(cells)] += 1
        self.rows.reject(record.line, ragged_reason(len(cells), width), cells)

    def remarks(self) -> list[Note]:
        """Return what was decided, in words."""
        notes = [note for count, note in self._counted() if count]
        if self.notes:
            notes.append(Note(
                "{n|remark|remarks} below the data set aside: {text}",
                "表格下方的 {n} 条说明已另存：{text}",
                {"n": len(self.notes), "text": shortened(self.notes[0])},
            ))  # fmt: skip
        return notes

    def _counted(self) -> list[tuple[int, Note]]:
        return [
            *((n, ragged_note(n, fields, self.rows.width)) for fields, n in self.ragged.items()),
            (self.blank_rows, Note(
                "{n|record|records} without any value rejected.", "{n} 条空记录已剔除。",
                {"n": self.blank_rows},
            )),
            (self.blank_lines, Note(
                "{n|blank line|blank lines} skipped.", "跳过 {n} 个空行。",
                {"n": self.blank_lines},
            )),
            (self.repeated, Note(
                "{n|header line|header lines} repeated among the data set aside.",
                "数据中重复的 {n} 行表头已另存。", {"n": self.repeated},
            )),
            (self.beyond, Note(
                "A second table begins at line {line}; only the first was read, and "
                "{n|line|lines} of the second set aside. Save it as a file of its own to use it.",
                "第 {line} 行起是另一张表；只读取了第一张，第二张的 {n} 行已剔除。"
                "如需使用，请另存为单独的文件。",
                {"n": self.beyond, "line": str(self.second_line)},
            )),
            (self.trimmed, Note(
                "Blank fields at the end of {n|record|records} dropped.",
                "去掉了 {n} 条记录末尾多余的空字段。", {"n": self.trimmed},
            )),
            (self.filled, Note(
                "{n|record|records} shorter than the header filled up with missing values, "
                "since many records leave out their last fields.",
                "许多记录省略了末尾字段，已为 {n} 条记录补上缺失值。", {"n": self.filled},
            )),
        ]  # fmt: skip


def ragged_reason(fields: int, width: int) -> str:
    """Return why a record is rejected that has another number of fields than the table.

    >>> ragged_reason(1, 3)
    '1 field instead of 3'
    """
    return f"{fields} {'field' if fields == 1 else 'fields'} instead of {width}"


def ragged_note(count: int, fields: int, width: int) -> Note:
    """Return the remark that `count` records have another number of fields than the table."""
    return Note(
        "{n|record|records} with {fields|field|fields} instead of {width} rejected.",
        "{n} 条记录有 {fields} 个字段而非 {width} 个，已剔除。",
        {"n": count, "fields": fields, "width": width},
    )
