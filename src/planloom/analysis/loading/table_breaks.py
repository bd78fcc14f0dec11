"""Finds where one text holds more than a table: key-value lines above it, a second table below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from planloom.analysis.loading.cell_kinds import CellKind, name_kind

_MAX_PREAMBLE_ROWS = 60
Block = tuple[int, int]
"""First row of a run of filled rows, and the row after its last."""


def preamble_end(rows: Sequence[Sequence[str]]) -> int:
    """Return the row where the table begins below lines of one key and one value; 0 for none.

    A blank row has to stand between, and the table has to begin with names above values.
    """
    blocks = _blocks(rows)
    for above, below in pairwise(blocks):
        lines = [_filled(row) for row in rows[: above[1]]]
        if above[1] > _MAX_PREAMBLE_ROWS or any(len(line) > 2 for line in lines):
            return 0
        pairs = [line for line in lines if len(line) == 2]
        if pairs and not _is_table(pairs) and _begins_table(rows, below):
            return below[0]
    return 0


def second_table(rows: Sequence[Sequence[str]], start: int, names: Sequence[str]) -> int | None:
    """Return the row that names the columns of a second table below the first, or None.

    `start` is the first row below the header, whose cells are `names`. The second table stands
    below a blank row.
    """
    for begin, end in _blocks(rows):
        row = [cell.strip() for cell in rows[begin]]
        if begin <= start or row == list(names) or not _begins_table(rows, (begin, end)):
            continue
        below = rows[begin + 1 : end]
        if len(row) != len(names):
            differs = len(below[0]) == len(row)
        else:
            # A single odd record would not repeat a name, nor change what stands below it.
            first = _kinds([row for row in rows[start:begin] if len(row) == len(names)])
            same_name = any(a == b for a, b in zip(row, names, strict=True))
            differs = all(row) and (same_name or _conflict(first, _kinds(below)))
        if differs:
            return begin
    return None


def _conflict(first: Sequence[set[CellKind]], second: Sequence[set[CellKind]]) -> bool:
    """Return whether some column of the second table holds values of another kind."""
    return any(
        len(a) == len(b) == 1 and a != b and "text" not in b
        for a, b in zip(first, second, strict=False)
    )


def _blocks(rows: Sequence[Sequence[str]]) -> list[Block]:
    blocks: list[Block] = []
    begin: int | None = None
    for index, row in enumerate([*rows, ()]):
        if _filled(row):
            begin = index if begin is None else begin
        elif begin is not None:
            blocks.append((begin, index))
            begin = None
    return blocks


def _filled(row: Sequence[str]) -> list[str]:
    return [text for cell in row if (text := cell.strip())]


def _begins_table(rows: Sequence[Sequence[str]], block: Block) -> bool:
    """Return whether a block is a row of different names with values below."""
    names, below = rows[block[0]], rows[block[0] + 1 : block[1]]
    filled = _filled(names)
    if len(filled) < 2 or len(set(filled)) < len(filled) or not below:
        return False
    if any(name_kind(name) != "text" for name in filled):
        return False
    return len(_filled(below[0])) > 1 and _columns_of_values(below) > 0


def _columns_of_values(rows: Sequence[Sequence[str]]) -> int:
    return sum(len(found) == 1 and "text" not in found for found in _kinds(rows))


def _kinds(rows: Sequence[Sequence[str]]) -> list[set[CellKind]]:
    width = min(map(len, rows), default=0)
    found: list[set[CellKind]] = [{name_kind(row[i]) for row in rows[:5]} for i in range(width)]
    for kinds in found:
        kinds.discard("missing")
    return found


def _is_table(pairs: Sequence[Sequence[str]]) -> bool:
    """Return whether lines of two cells are names with values of one kind below."""
    kinds: list[CellKind] = [name_kind(value) for _, value in pairs]
    same = len(pairs) > 2 and kinds[0] == "text" and len(set(kinds[1:])) == 1
    return same and (kinds[1] != "text" or name_kind(pairs[1][0]) != "text")
