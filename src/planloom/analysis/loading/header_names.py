"""Makes column names from header rows: joined, filled where blank, unique."""

from __future__ import annotations

from collections.abc import Sequence

from planloom.analysis.loading.layout import Row, Span
from planloom.notes import Note


def column_names(
    header: Sequence[tuple[int, Row]], width: int, spans: Sequence[Span] = ()
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Return the names of `width` columns and what had to be decided.

    `header` holds the header rows from the top, each with its place in the grid; the last one
    names columns, those above group them. Names are unique also when case is ignored, as SQL
    demands.
    """
    if not header:
        names = tuple(f"column_{i}" for i in range(1, width + 1))
        return names, (_no_header(width),)
    rows = [_filled_row(index, row, width, spans, is_leaf=False) for index, row in header[:-1]]
    rows.append(_filled_row(header[-1][0], header[-1][1], width, spans, is_leaf=True))
    joined = [_joined([row[column] for row in rows]) for column in range(width)]
    names, notes = unique_names(joined)
    if len(header) > 1:
        notes = (_many_rows(len(header)), *notes)
    return names, notes


def _filled_row(
    index: int, row: Row, width: int, spans: Sequence[Span], *, is_leaf: bool
) -> list[str]:
    cells = [" ".join(cell.split()) for cell in row[:width]]
    cells += [""] * (width - len(cells))
    covered = [span for span in spans if span.top <= index <= span.bottom]
    for span in covered:
        if span.top == index and cells[span.left : span.left + 1]:
            for column in range(span.left, min(span.right + 1, width)):
                cells[column] = cells[span.left]
    if not is_leaf and not covered:
        # Without merged cells a group name stands above its first column only.
        for column in range(1, width):
            cells[column] = cells[column] or cells[column - 1]
    return cells


def _joined(parts: list[str]) -> str:
    return " ".join(dict.fromkeys(part for part in parts if part))


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Return the names with blank ones filled and repeated ones told apart, and remarks on both.

    >>> unique_names(["id", "", "ID"])[0]
    ('id', 'column_2', 'ID_2')
    """
    taken = {name.casefold() for name in names if name}
    used: set[str] = set()
    result: list[str] = []
    blank: list[str] = []
    renamed: list[str] = []
    for place, name in enumerate(names, start=1):
        free = name or _free_name(f"column_{place}", taken)
        if free.casefold() in used:
            free = _free_name(free, taken | used, start=2)
            renamed.append(free)
        elif not name:
            blank.append(free)
        used.add(free.casefold())
        result.append(free)
    return tuple(result), _naming_notes(blank, renamed)


def _free_name(name: str, taken: set[str], start: int = 1) -> str:
    if start == 1 and name.casefold() not in taken:
        return name
    number = max(start, 2)
    while f"{name}_{number}".casefold() in taken:
        number += 1
    return f"{name}_{number}"


def _naming_notes(blank: list[str], renamed: list[str]) -> tuple[Note, ...]:
    notes: list[Note] = []
    if blank:
        notes.append(Note(
            "Columns without a name were called {columns}.", "没有名称的列命名为 {columns}。",
            {"columns": _listed(blank)},
        ))  # fmt: skip
    if renamed:
        notes.append(Note(
            "Repeated column names were told apart: {columns}.", "重名的列已改名区分：{columns}。",
            {"columns": _listed(renamed)},
        ))  # fmt: skip
    return tuple(notes)


def _listed(names: list[str]) -> str:
    rest = len(names) - 8
    return ", ".join(names[:8]) + (f", … (+{rest})" if rest > 0 else "")


def _no_header(width: int) -> Note:
    if width == 1:
        return Note(
            "The first line holds data, so the column was called column_1.",
            "首行即为数据，该列命名为 column_1。",
        )
    return Note(
        "The first line holds data, so the columns were called column_1 to column_{n}.",
        "首行即为数据，各列命名为 column_1 至 column_{n}。",
        {"n": str(width)},
    )


def _many_rows(count: int) -> Note:
    return Note(
        "The header has {n|row|rows}; their texts were joined to column names.",
        "表头共 {n} 行，已合并为列名。",
        {"n": count},
    )
