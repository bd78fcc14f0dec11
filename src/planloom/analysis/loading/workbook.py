"""Reads the sheets of a workbook: values with calamine, layout from merged cells and formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import python_calamine as calamine

from planloom.analysis.loading.dialect import Record
from planloom.analysis.loading.layout import SAMPLE_ROWS, Span
from planloom.analysis.loading.number_formats import (
    MAX_BYTES,
    ColumnFormat,
    column_formats,
    read_marks,
)
from planloom.analysis.loading.outline import Outline, outline_table, stage_table
from planloom.analysis.loading.results import FileFormat, LoadedTable
from planloom.analysis.loading.sheet_marks import SheetMarks
from planloom.analysis.loading.typed_cells import (
    CellStyle,
    CellValue,
    cell_text,
    survey_columns,
)
from planloom.analysis.loading.typed_table import write_typed
from planloom.analysis.loading.wording import grouped, shown_cells
from planloom.errors import InputError
from planloom.notes import Note

_UNMARKED = Note(
    "The number formats could not be read from a workbook of this kind or size: percentages stay "
    "fractions (0.07 for 7%), and cells with an error count as blank.",
    "此类或此大小的工作簿无法读取数字格式：百分比保持为小数（7% 记为 0.07），"
    "错误单元格按空白处理。",
)
_REPAIR = "Open it in a spreadsheet program, repair it and save it again."


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet with cells."""

    name: str
    hidden: bool
    cells: calamine.CalamineSheet
    spans: tuple[Span, ...]


def load_workbook(
    path: Path,
    file_format: FileFormat,
    *,
    out: Path,
    name: str,
    max_marked_bytes: int = MAX_BYTES,
) -> tuple[tuple[LoadedTable, ...], tuple[Note, ...]]:
    """Return the tables of all sheets and remarks on the workbook; hidden sheets come last.

    Number formats and other marks of cells are not read from more than `max_marked_bytes`.

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
                "the password and save it again.",
                zh=f"“{name}”有密码保护。请用电子表格软件打开，去掉密码后重新保存。",
            ) from error
        except (calamine.CalamineError, OSError, ValueError) as error:
            raise InputError(
                f"'{name}' is a damaged workbook: {error}. {_REPAIR}",
                zh=f"“{name}”是损坏的工作簿。请用电子表格软件打开修复后重新保存。",
            ) from error
        if not sheets:
            raise InputError(
                f"'{name}' has no sheet with cells in it. Give one with a table.",
                zh=f"“{name}”的工作表都是空的，请提供含有表格的工作簿。",
            )
        marks = read_marks(
            path, file_format, [sheet.name for sheet in sheets], max_bytes=max_marked_bytes
        )
        tables = tuple(
            _load_sheet(sheet, marks.get(sheet.name, SheetMarks()), out, _table_name(place))
            for place, sheet in enumerate(sheets, start=1)
        )
    if any(sheet.name not in marks for sheet in sheets):
        notes = (*notes, _UNMARKED)
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


def _load_sheet(sheet: Sheet, marks: SheetMarks, out: Path, name: str) -> LoadedTable:
    head = list(islice(_records(sheet, (), 0), SAMPLE_ROWS + 1))
    outline = outline_table(head, title=sheet.name, spans=sheet.spans)
    start, width = outline.layout.data_start, outline.layout.width
    formats = column_formats(marks, start)[:width]
    formats += [ColumnFormat()] * (width - len(formats))
    styles, cell_notes = survey_columns(
        ((i, values) for i, values in _rows(sheet) if i >= start),
        formats, outline.names, marks.exact,
    )  # fmt: skip
    outline = replace(outline, notes=(
        *outline.notes, *_format_notes(outline, formats), *grouped(cell_notes),
        *_mark_notes(marks, outline), *_merge_notes(sheet, outline),
    ))  # fmt: skip
    raw = stage_table(
        outline, _records(sheet, styles, start, marks), out=out, name=name,
        native=True, units=[column.unit for column in formats],
    )  # fmt: skip
    return write_typed(raw, out, name=name)


def _rows(sheet: Sheet) -> Iterator[tuple[int, list[CellValue]]]:
    """Yield the rows from the first one of the sheet, from column A, with their place."""
    # Calamine gives the blank rows above the first cell, but not the blank columns before it.
    left: list[CellValue] = [""] * (sheet.cells.start[1] if sheet.cells.start else 0)
    for index, values in enumerate(sheet.cells.iter_rows()):
        yield index, left + values


def _records(
    sheet: Sheet, styles: Sequence[CellStyle], data_start: int, marks: SheetMarks | None = None
) -> Iterator[Record]:
    """Yield the rows as text; blank rows have no cells at all.

    From `data_start` on, cells merged downwards hold their value in each of their rows.
    """
    tall = {(s.top, s.left): s.bottom for s in sheet.spans if s.bottom > s.top >= data_start}
    exact = marks.exact if marks else {}
    carried: dict[int, tuple[int, str]] = {}
    for index, values in _rows(sheet):
        columns = styles if index >= data_start else ()
        cells = [
            cell_text(
                value,
                columns[place] if place < len(columns) else None,
                exact.get((index, place), "") if exact else "",
            )
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
        elif "%" in column.mixed:
            notes.append(Note(
                "Only some of the cells are shown as percentages, so all numbers were left as they "
                "are stored (0.07 for 7%): {columns}.",
                "仅部分单元格以百分比显示，数字均按存储值保留（7% 记为 0.07）：{columns}。",
                {"columns": name},
            ))  # fmt: skip
        elif column.mixed:
            notes.append(Note(
                "The number formats show different units ({units}), so none was taken: {columns}.",
                "数字格式显示的单位不一（{units}），未采用单位：{columns}。",
                {"columns": name, "units": " ".join(column.mixed)},
            ))  # fmt: skip
    return notes


def _mark_notes(marks: SheetMarks, outline: Outline) -> list[Note]:
    """Return what became missing, and what the sheet does not show."""
    names = outline.names
    notes = [
        Note(
            "{n|cell holds|cells hold} an error ({cells}) and became missing: {columns}.",
            "{n} 个单元格为错误值（{cells}），按缺失值处理：{columns}。",
            {"n": found.total(), "cells": shown_cells(found), "columns": names[place]},
        )
        for place, found in sorted(marks.errors.items()) if place < len(names)
    ]  # fmt: skip
    notes += [
        Note(
            "{n|formula has|formulas have} no stored result and became missing; save the workbook "
            "in a spreadsheet program to have them computed: {columns}.",
            "{n} 个公式没有保存计算结果，按缺失值处理；"
            "请用电子表格软件打开并保存后重试：{columns}。",
            {"n": count, "columns": names[place]},
        )
        for place, count in sorted(marks.not_computed.items()) if place < len(names)
    ]  # fmt: skip
    hidden = [names[place] for place in sorted(marks.hidden_columns) if place < len(names)]
    if hidden:
        notes.append(Note(
            "Hidden columns were read too: {columns}.", "隐藏的列也已读取：{columns}。",
            {"columns": ", ".join(hidden)},
        ))  # fmt: skip
    rows = sum(row >= outline.layout.data_start for row in marks.hidden_rows)
    if rows:
        notes.append(Note(
            "{n|hidden or filtered row was|hidden or filtered rows were} read too.",
            "{n} 个隐藏或被筛选掉的行也已读取。", {"n": rows},
        ))  # fmt: skip
    return list(grouped(notes))


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
