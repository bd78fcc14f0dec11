"""Reads the sheets of a workbook: values with calamine, layout from merged cells and formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path

import python_calamine as calamine

from planloom.analysis.loading.dialect import Record
from planloom.analysis.loading.layout import SAMPLE_ROWS, Span
from planloom.analysis.loading.number_formats import ColumnFormat, read_formats
from planloom.analysis.loading.outline import Outline, outline_table, stage_table
from planloom.analysis.loading.results import FileFormat, LoadedTable
from planloom.analysis.loading.typed_table import write_typed
from planloom.errors import InputError
from planloom.notes import Note

CellValue = int | float | str | bool | time | date | datetime | timedelta
_REPAIR = "Open it in a spreadsheet program, repair it and save it again."


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet with cells."""

    name: str
    hidden: bool
    cells: calamine.CalamineSheet
    spans: tuple[Span, ...]


def load_workbook(
    path: Path, file_format: FileFormat, *, out: Path, name: str
) -> tuple[tuple[LoadedTable, ...], tuple[Note, ...]]:
    """Return the tables of all sheets and remarks on the workbook; hidden sheets come last.

    Raises:
        InputError: the workbook is damaged, protected by a password, or has no cells at all.
    """
    with path.open("rb") as file:
        try:
            book = calamine.CalamineWorkbook.from_filelike(file)
            sheets, notes = _sheets(book)
        except calamine.PasswordError as error:
            raise InputError(
                f"'{name}' is protected by a password. Open it in a spreadsheet program, remove "
                "the password and save it again."
            ) from error
        except (calamine.CalamineError, OSError, ValueError) as error:
            raise InputError(f"'{name}' is a damaged workbook: {error}. {_REPAIR}") from error
        if not sheets:
            raise InputError(f"'{name}' has no sheet with cells in it. Give one with a table.")
        formats = read_formats(path, file_format, [sheet.name for sheet in sheets])
        tables = tuple(
            _load_sheet(sheet, formats.get(sheet.name, ()), out, _table_name(place))
            for place, sheet in enumerate(sheets, start=1)
        )
    return tables, notes


def _table_name(place: int) -> str:
    return "source" if place == 1 else f"source_{place}"


def _sheets(book: calamine.CalamineWorkbook) -> tuple[list[Sheet], tuple[Note, ...]]:
    found: list[Sheet] = []
    empty: list[str] = []
    for place, metadata in enumerate(book.sheets_metadata):
        if metadata.typ != calamine.SheetTypeEnum.WorkSheet:
            continue
        cells = book.get_sheet_by_index(place)
        if cells.height == 0 or cells.width == 0:
            empty.append(metadata.name)
            continue
        ranges = cells.merged_cell_ranges or []
        spans = tuple(Span(top, left, low, right) for (top, left), (low, right) in ranges)
        hidden = metadata.visible != calamine.SheetVisibleEnum.Visible
        found.append(Sheet(name=metadata.name, hidden=hidden, cells=cells, spans=spans))
    found.sort(key=lambda sheet: sheet.hidden)
    return found, _sheet_notes(found, empty)


def _sheet_notes(sheets: Sequence[Sheet], empty: Sequence[str]) -> tuple[Note, ...]:
    notes: list[Note] = []
    if len(sheets) > 1:
        notes.append(Note(
            "The workbook has {n} sheets with cells: {names}.",
            "工作簿含 {n} 个有内容的工作表：{names}。",
            {"n": len(sheets), "names": ", ".join(sheet.name for sheet in sheets)},
        ))  # fmt: skip
    for english, chinese, names in (
        ("Hidden sheets were read too: {names}.", "隐藏的工作表也已读取：{names}。",
         [sheet.name for sheet in sheets if sheet.hidden]),
        ("Sheets without any cell skipped: {names}.", "跳过空白工作表：{names}。", empty),
    ):  # fmt: skip
        if names:
            notes.append(Note(english, chinese, {"names": ", ".join(names)}))
    return tuple(notes)


def _load_sheet(sheet: Sheet, formats: Sequence[ColumnFormat], out: Path, name: str) -> LoadedTable:
    head = list(islice(_records(sheet, (), 0), SAMPLE_ROWS + 1))
    outline = outline_table(head, title=sheet.name, spans=sheet.spans)
    formats = _of_numbers(outline, formats)
    notes = (*outline.notes, *_format_notes(outline, formats), *_merge_notes(sheet, outline))
    outline = Outline(
        title=outline.title, layout=outline.layout, head=outline.head, names=outline.names,
        unnamed=outline.unnamed, notes=notes,
    )  # fmt: skip
    raw = stage_table(
        outline, _records(sheet, formats, outline.layout.data_start), out=out, name=name,
        native=True, units=[column.unit for column in formats],
    )  # fmt: skip
    return write_typed(raw, out, name=name)


def _of_numbers(outline: Outline, formats: Sequence[ColumnFormat]) -> list[ColumnFormat]:
    """Return one format for each field of the table."""
    width = outline.layout.width
    return [formats[i] if i < len(formats) else ColumnFormat() for i in range(width)]


def _records(sheet: Sheet, formats: Sequence[ColumnFormat], data_start: int) -> Iterator[Record]:
    """Yield the rows as text; blank rows have no cells at all.

    From `data_start` on, cells merged downwards hold their value in each of their rows.
    """
    tall = {(s.top, s.left): s.bottom for s in sheet.spans if s.bottom > s.top >= data_start}
    carried: dict[int, tuple[int, str]] = {}
    # Calamine gives the blank rows above the first cell, but not the blank columns before it.
    left = [""] * (sheet.cells.start[1] if sheet.cells.start else 0)
    for index, values in enumerate(sheet.cells.iter_rows()):
        columns = formats[len(left) :] if index >= data_start else ()
        cells = left + [
            cell_text(value, columns[place] if place < len(columns) else None)
            for place, value in enumerate(values)
        ]
        for place, (bottom, text) in list(carried.items()):
            if index <= bottom:
                cells[place] = cells[place] or text
            else:
                del carried[place]
        for place in range(len(cells)) if tall else ():
            if (index, place) in tall and cells[place]:
                carried[place] = (tall[index, place], cells[place])
        yield Record(index + 1, cells if any(cell.strip() for cell in cells) else [])


def cell_text(value: CellValue, column: ColumnFormat | None = None) -> str:
    """Return a typed cell as the text that a plain CSV would hold.

    >>> cell_text(138.0), cell_text(datetime(2024, 3, 5)), cell_text(0.125, ColumnFormat(unit="%"))
    ('138', '2024-03-05', '12.5')
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _number_text(value, column or ColumnFormat())
        case datetime():
            near = (value + timedelta(milliseconds=1)).replace(microsecond=0)
            return near.date().isoformat() if near.time() == time() else near.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case _:
            return value


def _number_text(value: float, column: ColumnFormat) -> str:
    if column.unit == "%":
        # 0.07 * 100 is 7.000000000000001; a spreadsheet keeps 15 digits.
        value = float(f"{value * 100:.14g}")
    if value == int(value) and abs(value) < 1e15:
        return str(int(value)).zfill(column.digits)
    return repr(value)


def _format_notes(outline: Outline, formats: Sequence[ColumnFormat]) -> list[Note]:
    notes: list[Note] = []
    for place, column in enumerate(formats):
        name = outline.names[place]
        if column.unit == "%":
            notes.append(Note(
                "Percentages were written out as percent, as the sheet shows them: {columns}.",
                "百分比按工作表显示的数值（百分数）读取：{columns}。", {"columns": name},
            ))  # fmt: skip
        elif column.unit:
            notes.append(Note(
                "The unit {unit} was taken from the number format: {columns}.",
                "单位 {unit} 取自数字格式：{columns}。", {"columns": name, "unit": column.unit},
            ))  # fmt: skip
        elif column.mixed:
            notes.append(Note(
                "The number formats show different units ({units}), so none was taken: {columns}.",
                "数字格式显示的单位不一（{units}），未采用单位：{columns}。",
                {"columns": name, "units": " ".join(column.mixed)},
            ))  # fmt: skip
    return notes


def _merge_notes(sheet: Sheet, outline: Outline) -> list[Note]:
    start = outline.layout.data_start
    tall = sum(span.bottom > span.top >= start for span in sheet.spans)
    if not tall:
        return []
    return [Note(
        "{n|block|blocks} of cells merged downwards: the value was given to each of the rows.",
        "{n} 处纵向合并的单元格：其值已填入所含各行。",
        {"n": tall},
    )]  # fmt: skip
