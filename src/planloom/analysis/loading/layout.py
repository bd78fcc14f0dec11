"""Finds where the table lies in a grid of cells: titles above, header, data, notes below."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from planloom.analysis.loading.cell_kinds import CellKind, cell_kind, name_kind
from planloom.analysis.loading.table_breaks import preamble_end
from planloom.analysis.loading.unit_words import is_units_row

Row = Sequence[str]
SAMPLE_ROWS = 300
"""As many first rows are enough to find the layout."""
_MAX_HEADER_ROWS = 6
_NOTE = re.compile(
    r"\s*([*†‡※#]|\(\d+\)|\[\d+\]|\(?\d+ (rows?|records?)\b|notes?\b|sources?\b|footnote|"
    r"report\b|generated|prepared|exported|printed|created|copyright|©|"
    r"disclaimer|data as of|last updated|end of|"
    r"注|备注|說明|说明|来源|來源|数据来源|制表|填表|审核|打印|导出|生成时间|截至)",
    re.IGNORECASE,
)


_NOTE_MARK = re.compile(
    r"[*†‡※]|\(\d+\)|\[\d+\]|(注|备注|說明|说明|来源|來源|数据来源|制表|填表|审核|打印|导出|生成时间|截至)"
)
_RULING = re.compile(r"[+|:]?([-=_]{3,}|([-=_]+[+|: ]+)+[-=_]+)[+|:]?")


@dataclass(frozen=True, slots=True)
class Span:
    """A block of merged cells; rows and columns from 0, ends included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a table lie; rows are indices into the grid."""

    width: int
    """Columns of the table."""
    header: tuple[int, ...]
    """Rows that name the columns, from the top; empty without a header."""
    data_start: int
    above: tuple[tuple[int, str], ...]
    """Rows above the data that are no header, each with what it is."""


def find_layout(rows: Sequence[Row], spans: Sequence[Span] = ()) -> Layout:
    """Return the layout of a grid, judged by its first `SAMPLE_ROWS` rows.

    Blank cells are "" in `rows`, which may be of different lengths. `spans` are merged blocks.
    """
    rows = rows[:SAMPLE_ROWS]
    skip = preamble_end(rows)
    width = _table_width(rows[skip:])
    first = _first_table_row(rows, width, skip)
    if first is None:
        return Layout(width, (), len(rows), _describe(rows, range(len(rows)), width))
    start = max(_data_start(rows, first, width), _below_spans(spans, first, width, len(rows)))
    band = [i for i in range(first, start) if any_filled(rows[i]) and not is_ruling(rows[i])]
    header = _header_rows(rows, band, width, spans)
    if header and (above := _group_row_above(rows, header[0], width, spans)) is not None:
        header = (above, *header)
    rest = [i for i in range(start) if i not in header]
    return Layout(width, header, start, _describe(rows, rest, width, header[-1:]))


def any_filled(row: Row) -> bool:
    """Return whether a row holds anything but blanks."""
    return any(cell.strip() for cell in row)


def filled_cells(row: Row) -> int:
    """Return how many cells of a row are not blank."""
    return sum(bool(cell.strip()) for cell in row)


def looks_like_note(row: Row, *, width: int, after_gap: bool, first_column: int = 0) -> bool:
    """Return whether a row at the end of a table is a remark, not a record.

    `after_gap`: a blank row or another remark stands before it. `first_column` is the length of
    the longest cell in the first column of a delimited text, where a record has its full number
    of fields even if only the first is filled; 0 for a sheet, where that says nothing.
    """
    texts = [cell.strip() for cell in row if cell.strip()]
    if len(texts) != 1 or width < 2 or not any_filled(row[:2]):
        return False
    text = texts[0]
    if cell_kind(text) != "text":
        return False
    if first_column and len(row) >= width:
        return _is_remark(text, first_column)
    return after_gap or bool(_NOTE.match(text)) or (width > 2 and len(text) > 30)


def _is_remark(text: str, first_column: int) -> bool:
    """Return whether a text could not as well be the first cell of a record."""
    words = len(text.split())
    if _NOTE_MARK.match(text) or text.endswith((":", "：", "。", "!", "！")) or ": " in text:
        return True
    # "ACME Trading Ltd." is a name, while a sentence ends in a word of lower case.
    if "：" in text or (words > 2 and re.search(r" [a-z]+\.$", text)):
        return True
    if _NOTE.match(text) and (words > 3 or re.search(r"\d", text)):
        return True
    return len(text) > max(30, 2 * first_column)


def _table_width(rows: Sequence[Row]) -> int:
    widths = Counter(len(row) for row in rows if any_filled(row))
    if not widths:
        return 0
    many = {size: count for size, count in widths.items() if size > 1} or dict(widths)
    usual = max(many.values())
    if usual * 4 < widths.total():
        return max(widths)
    # Among widths that are equally common the header's, which comes first, is right.
    return next(len(row) for row in rows if any_filled(row) and many.get(len(row)) == usual)


def _first_table_row(rows: Sequence[Row], width: int, skip: int) -> int | None:
    """Return the first row that is filled like the rows of the table."""
    filled = [
        filled_cells(row) for row in rows[skip:]
        if any_filled(row) and not _is_comment(row, width)
    ]  # fmt: skip
    if not filled:
        return None
    need = max(min(2, width), round(statistics.median(filled) * 0.5))
    for index, row in enumerate(rows):
        if index < skip or _is_comment(row, width):
            continue
        if filled_cells(row) >= need or _names_all_but_first(row, rows[index + 1 :], width):
            return index
    return None


def _names_all_but_first(row: Row, below: Sequence[Row], width: int) -> bool:
    """Return whether a row names the second of two columns, the first being a bare index."""
    if not (len(row) == width == 2 and not row[0].strip() and row[1].strip()):
        return False
    # A title above the second column is followed by the names, which are text above values.
    kinds = [[name_kind(cell) for cell in other[:2]] for other in below[:2]]
    return bool(kinds) and (kinds[0] != ["text", "text"] or kinds[0] == kinds[-1])


def _is_comment(row: Row, width: int) -> bool:
    if not row or not row[0].lstrip().startswith(("#", "//")):
        return False
    return filled_cells(row) < max(2, width) or (
        width == 1 and row[0].lstrip()[1:2] in (" ", "#", "/")
    )


def _data_start(rows: Sequence[Row], first: int, width: int) -> int:
    names = normalised(rows[first])
    need = max(1, filled_cells(rows[first]) // 2)
    body = [
        row for row in rows[first + 1 :]
        if filled_cells(row) >= need and normalised(row) != names and not is_ruling(row)
    ]  # fmt: skip
    if not body:
        return first if _has_values(rows[first]) else first + 1
    kinds = _column_kinds(body[len(body) // 2 :], width)
    if any(kind != "text" for kind in kinds):
        limit = min(first + _MAX_HEADER_ROWS, len(rows))
        for index in range(first, limit):
            if filled_cells(rows[index]) < need or is_ruling(rows[index]):
                continue
            if not _continues_header(rows, first, index) or not _is_header(
                rows[index], kinds, body, is_first=index == first
            ):
                return _skip_repeats(rows, first, index)
        return first + 1
    # Where the header comes again, that is no sign of its words being values.
    below = [
        row for row in rows[_skip_repeats(rows, first, first + 1) :]
        if not is_ruling(row) and normalised(row) != names
    ]  # fmt: skip
    start = first + 1 if _could_name(rows[first], below, width) else first
    return _skip_repeats(rows, first, start)


def _continues_header(rows: Sequence[Row], first: int, index: int) -> bool:
    """Return whether a row may belong to the header below the first row of the table.

    When that one already names every column, as different names, a row of text below it is
    taken for a record with odd cells unless it holds units.
    """
    names = normalised(rows[first])
    if index == first or not all(names) or len(set(names)) < len(names):
        return True
    return normalised(rows[index]) == names or is_units_row(rows[index])


def _skip_repeats(rows: Sequence[Row], first: int, start: int) -> int:
    if start > first:
        names = normalised(rows[start - 1])
        while start < len(rows) and (
            normalised(rows[start]) == names or (start == first + 1 and is_ruling(rows[start]))
        ):
            start += 1
    return start


def is_ruling(row: Row) -> bool:
    """Return whether a row only draws a line, as below the header of a Markdown table.

    >>> is_ruling(["----+------"]), is_ruling([":---", "---:"]), is_ruling(["--", "5"])
    (True, True, False)
    """
    texts = [cell.strip() for cell in row if cell.strip()]
    return bool(texts) and all(_RULING.fullmatch(text) for text in texts)


def normalised(row: Row) -> list[str]:
    """Return the cells without outer blanks, for comparing header lines."""
    return [cell.strip() for cell in row]


def _has_values(row: Row) -> bool:
    """Return whether the only row of a table is a record rather than names."""
    kinds = [cell_kind(cell) for cell in row if cell.strip()]
    return any(kind in ("number", "date", "time") for kind in kinds) and not _is_sequence(row)


def _column_kinds(body: Sequence[Row], width: int) -> list[CellKind]:
    return [_column_kind([row[i] for row in body if i < len(row)]) for i in range(width)]


def _column_kind(cells: list[str]) -> CellKind:
    kinds: Counter[CellKind] = Counter(cell_kind(cell) for cell in cells)
    del kinds["missing"]
    if not kinds:
        return "text"
    kind, count = kinds.most_common(1)[0]
    return kind if count >= 0.75 * kinds.total() else "text"


def _is_header(row: Row, kinds: Sequence[CellKind], body: Sequence[Row], *, is_first: bool) -> bool:
    """Return whether a row names columns: its cells are of another kind than those below.

    A further header row has to be clearer about it than the first one.
    """
    names = values = 0
    for column, (cell, kind) in enumerate(zip(row, kinds, strict=False)):
        found = name_kind(cell, [other[column] for other in body if column < len(other)])
        if kind != "text" and found != "missing":
            names += found != kind
            values += found == kind
    if not values:
        return names > 0 or (filled_cells(row) > 0 and _all_text(row) and _is_wordy(row, kinds))
    numbers = [cell for cell in row if cell_kind(cell) == "number"]
    if _is_sequence(numbers) and (names or _are_years(numbers)):
        return True
    return names >= values if is_first else names > values


def _all_text(row: Row) -> bool:
    return all(name_kind(cell) == "text" for cell in row if cell.strip())


def _is_wordy(row: Row, kinds: Sequence[CellKind]) -> bool:
    """Return whether a row of text alone says something above columns of values."""
    typed = [cell for cell, kind in zip(row, kinds, strict=False) if kind != "text"]
    is_wide = filled_cells(row) > 1 or (len(row) == len(kinds) == 2 and not row[0].strip())
    return is_wide and not any(cell.strip() for cell in typed)


def _is_sequence(cells: Sequence[str]) -> bool:
    """Return whether cells count 0, 1, 2... or 2018, 2019, ..., as names of columns do."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    if len(texts) < 3 or not all(text.isdecimal() for text in texts):
        return False
    numbers = [int(text) for text in texts]
    return all(b - a == 1 for a, b in pairwise(numbers))


def _are_years(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"(19|20)\d\d", cell.strip()) for cell in cells)


def _could_name(row: Row, body: Sequence[Row], width: int) -> bool:
    """Return whether the first row of a table of text may hold the names of its columns."""
    names = [cell.strip() for cell in row if cell.strip()]
    if any(cell_kind(name) in ("number", "date", "time") for name in names):
        return len(body) == 0
    evidence = 0
    for index in range(min(width, len(row))):
        below = [other[index].strip() for other in body if index < len(other)]
        shapes = Counter(_shape(cell) for cell in below if cell)
        if not shapes or not row[index].strip():
            continue
        shape, count = shapes.most_common(1)[0]
        if row[index].strip() in below:
            evidence -= 2
        elif "9" in shape and count >= 0.8 * shapes.total():
            evidence += 1 if _shape(row[index].strip()) != shape else -1
    return evidence >= 0


def _shape(text: str) -> str:
    return re.sub(r"[A-Z]", "A", re.sub(r"\d", "9", text))


def _below_spans(spans: Sequence[Span], first: int, width: int, end: int) -> int:
    """Return the first row below the merged blocks that begin in the first row of the header."""
    bottoms = [
        span.bottom + 1 for span in spans
        if span.top == first and span.right - span.left + 1 < width
    ]  # fmt: skip
    return min(max(bottoms, default=0), end)


def _header_rows(
    rows: Sequence[Row], band: list[int], width: int, spans: Sequence[Span]
) -> tuple[int, ...]:
    """Return those rows of the band above the data that name columns, without repeats."""
    kept: list[int] = []
    for index in reversed(band):
        if not kept:
            kept.append(index)
        elif normalised(rows[index]) in [normalised(rows[other]) for other in kept]:
            continue
        elif _is_group_row(rows, index, kept[0], width, spans):
            kept.insert(0, index)
        else:
            break
    return tuple(kept)


def _group_row_above(
    rows: Sequence[Row], leaf: int, width: int, spans: Sequence[Span]
) -> int | None:
    above = leaf - 1
    if above < 0 or not any_filled(rows[above]) or _is_comment(rows[above], width):
        return None
    if normalised(rows[above]) == normalised(rows[leaf]):
        return None
    if filled_cells(rows[above]) == 1 and not _partial_spans(spans, above, width):
        return None
    return above if _is_group_row(rows, above, leaf, width, spans) else None


def _partial_spans(spans: Sequence[Span], row: int, width: int) -> list[Span]:
    return [
        span for span in spans
        if span.top == row and span.right > span.left and span.right - span.left + 1 < width
    ]  # fmt: skip


def _is_group_row(
    rows: Sequence[Row], index: int, leaf: int, width: int, spans: Sequence[Span]
) -> bool:
    """Return whether a row above the names groups them, rather than standing for itself."""
    row, below = rows[index], rows[leaf]
    if _partial_spans(spans, index, width) or filled_cells(row) >= width:
        return True
    if filled_cells(row) < 2 or _is_comment(row, width):
        return False

    def groups(column: int) -> bool:
        under = below[column].strip() if column < len(below) else ""
        to_the_right = row[column + 1].strip() if column + 1 < len(row) else "edge"
        return not under or not to_the_right

    return all(groups(column) for column, cell in enumerate(row) if cell.strip())


def _describe(
    rows: Sequence[Row], indices: Sequence[int], width: int, leaf: Sequence[int] = ()
) -> tuple[tuple[int, str], ...]:
    names = [normalised(rows[index]) for index in leaf]
    found: list[tuple[int, str]] = []
    for index in indices:
        row = rows[index]
        if not any_filled(row):
            continue
        if _is_comment(row, width):
            found.append((index, "comment above the table"))
        elif is_ruling(row):
            found.append((index, "ruling line"))
        elif normalised(row) in names:
            found.append((index, "header line repeated"))
        else:
            found.append((index, "title above the table"))
    return tuple(found)
