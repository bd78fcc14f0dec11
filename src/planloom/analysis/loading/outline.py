"""Works out names and place of a table from its first records, then stages all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from pathlib import Path

from planloom.analysis.loading.dialect import Record
from planloom.analysis.loading.header_names import column_names
from planloom.analysis.loading.layout import (
    Layout,
    Span,
    any_filled,
    filled_cells,
    find_layout,
    normalised,
)
from planloom.analysis.loading.record_sorting import RecordSorter
from planloom.analysis.loading.staging import SCRATCH, RawTable, StagedRows
from planloom.analysis.loading.table_breaks import second_table
from planloom.analysis.loading.wording import shortened
from planloom.notes import Note


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What the first records tell about a table."""

    title: str
    layout: Layout
    head: tuple[Record, ...]
    """The first records, those above the table included."""
    names: tuple[str, ...]
    unnamed: tuple[int, ...]
    """Fields whose header cell is blank."""
    notes: tuple[Note, ...]
    second_line: int | None = None
    """Line where a second table begins, which is not read; None when there is none."""

    @property
    def leaf(self) -> Record | None:
        """The header record that names the columns."""
        return self.head[self.layout.header[-1]] if self.layout.header else None

    @property
    def first_line(self) -> int | None:
        """Line of the first record below the header; None when there is none."""
        start = self.layout.data_start
        return self.head[start].line if start < len(self.head) else None

    @property
    def body(self) -> tuple[Record, ...]:
        """Those of the first records that lie below the header."""
        return self.head[self.layout.data_start :]


def outline_table(
    head: Sequence[Record], *, title: str, spans: Sequence[Span] = (), notes: Sequence[Note] = ()
) -> Outline:
    """Return the outline of a table by its first records; `notes` come before its own."""
    layout = _widened(find_layout([record.cells for record in head], spans), head)
    header = [(i, head[i].cells) for i in layout.header]
    if _has_row_names(header, head, layout):
        header = [(header[0][0], ["", *header[0][1]])]
    names, name_notes = column_names(header, layout.width, spans)
    unnamed = tuple(
        i for i in range(layout.width)
        if header and not any(cells[i].strip() for _, cells in header if i < len(cells))
        and names[i] == f"column_{i + 1}"
    )  # fmt: skip
    return Outline(
        title=title, layout=layout, head=tuple(head), names=names, unnamed=unnamed,
        notes=(*notes, *_layout_notes(layout, head), *name_notes),
    )  # fmt: skip


def with_break(outline: Outline) -> Outline:
    """Return the outline of a text with the line where a second table begins, if any does."""
    rows = [record.cells for record in outline.head]
    leaf = outline.leaf
    names = normalised(leaf.cells) if leaf else [""] * outline.layout.width
    found = second_table(rows, outline.layout.data_start, names)
    return outline if found is None else replace(outline, second_line=outline.head[found].line)


def stage_table(
    outline: Outline,
    records: Iterable[Record],
    *,
    out: Path,
    name: str,
    native: bool = False,
    units: Sequence[str] = (),
) -> RawTable:
    """Write all records of a table where DuckDB can read them, sorted into kept and rejected.

    `records` begin where those of the outline did. `units` are those of the fields.
    """
    layout, leaf, start = outline.layout, outline.leaf, outline.first_line
    with StagedRows(
        folder=out / SCRATCH, name=name, width=layout.width, watched=outline.unnamed
    ) as rows:
        for index, reason in layout.above:
            rows.set_aside(outline.head[index].line, reason, outline.head[index].cells)
        sorter = RecordSorter(
            rows=rows,
            header=normalised(leaf.cells) if leaf else (),
            has_comments=any(reason.startswith("comment") for _, reason in layout.above),
            fill_short=many_are_short(outline.body, layout.width),
            second_line=outline.second_line,
            first_column=0 if native else _longest_first_cell(outline.body, layout.width),
        )
        if start is not None:
            sorter.take(dropwhile(lambda record: record.line < start, records))
    places = tuple(
        i for i in range(layout.width) if i not in outline.unnamed or i in rows.filled
    ) or tuple(range(layout.width))  # fmt: skip
    return RawTable(
        path=rows.rows_path, delimiter=",", skip=0, width=layout.width,
        names=tuple(outline.names[i] for i in places), places=places,
        sample=tuple(rows.sample), longest=rows.longest, title=outline.title,
        header_row=leaf.line if leaf else None, rows_in=rows.kept + rows.rejected,
        rejected=rows.rejected_path if rows.rejected + rows.aside else None,
        notes=(*outline.notes, *_dropped_notes(layout.width - len(places)), *sorter.remarks()),
        native=native, units=tuple(units[i] for i in places) if units else (),
    )  # fmt: skip


def _widened(layout: Layout, records: Sequence[Record]) -> Layout:
    """Count the names of the header, which may be more than the fields of a usual record."""
    if not layout.header:
        return layout
    cells = normalised(records[layout.header[-1]].cells)
    while cells and not cells[-1]:
        cells.pop()
    width = max(layout.width, len(cells))
    return Layout(width, layout.header, layout.data_start, layout.above)


def _has_row_names(
    header: Sequence[tuple[int, Sequence[str]]], records: Sequence[Record], layout: Layout
) -> bool:
    """Return whether the first column holds row names without a name, as R writes tables."""
    if len(header) != 1 or len(header[0][1]) != layout.width - 1 or not all(header[0][1]):
        return False
    body = [r.cells for r in records[layout.data_start :] if len(r.cells) == layout.width]
    first = [cells[0] for cells in body]
    return 1 < len(first) == len(set(first)) and any(cells[-1].strip() for cells in body)


def _longest_first_cell(records: Sequence[Record], width: int) -> int:
    sizes = [
        len(record.cells[0].strip()) for record in records
        if len(record.cells) == width and filled_cells(record.cells) > 1
    ]  # fmt: skip
    return max(sizes, default=1)


def many_are_short(records: Sequence[Record], width: int) -> bool:
    """Return whether leaving out blank cells at the end is the custom of the file."""
    sizes = [len(record.cells) for record in records if len(record.cells) > 1]
    short = [size for size in sizes if size < width]
    if 1 < len(short) == len(sizes):
        return True
    # Few short records show a custom when all of them end at the same field.
    enough = 5 if len(set(short)) == 1 else 20
    return len(short) >= enough and len(short) > len(sizes) * 0.25


def _dropped_notes(count: int) -> tuple[Note, ...]:
    if not count:
        return ()
    return (Note(
        "{n|column|columns} without a name and without any value left out.",
        "{n} 个既无名称也无数据的列已略去。",
        {"n": count},
    ),)  # fmt: skip


_ABOVE = {
    "title above the table": (
        "{n|line|lines} above the header skipped: {text}", "跳过表头上方的 {n} 行：{text}",
    ),
    "comment above the table": (
        "{n|comment line|comment lines} above the table skipped: {text}",
        "跳过表格上方的 {n} 行注释：{text}",
    ),
    "ruling line": ("{n|ruling line|ruling lines} set aside.", "{n} 行分隔线已另存。"),
    "header line repeated": (
        "{n|repeated header line|repeated header lines} set aside.", "重复的 {n} 行表头已另存。",
    ),
}  # fmt: skip


def _layout_notes(layout: Layout, records: Sequence[Record]) -> list[Note]:
    notes: list[Note] = []
    kinds: dict[str, list[str]] = {}
    for index, reason in layout.above:
        text = " ".join(cell.strip() for cell in records[index].cells if cell.strip())
        kinds.setdefault(reason, []).append(text)
    for reason, (english, chinese) in _ABOVE.items():
        if texts := kinds.get(reason):
            arguments = {"n": len(texts), "text": shortened(texts[0])}
            notes.append(Note(english, chinese, arguments))
    if not any(any_filled(record.cells) for record in records[layout.data_start :]):
        notes.append(Note(
            "There is no table body: no records below the header.", "没有表体：表头下方无数据。"
        ))  # fmt: skip
    return notes
