"""Puts together remarks that say the same of several columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from planloom.notes import Note

_MAX_NAMES = 8
_MAX_CELLS = 5
_MAX_CHARS = 80


def grouped(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return the notes, those that differ only in `columns`, `example` and the count `n` as one.

    >>> note = Note("Text: {columns}.", "文本：{columns}。", {"columns": "a"})
    >>> other = Note("Text: {columns}.", "文本：{columns}。", {"columns": "b"})
    >>> [found.text("en") for found in grouped([note, other])]
    ['Text: a, b.']
    """
    groups: dict[tuple[object, ...], list[Note]] = {}
    for note in notes:
        apart = sorted(
            (name, value) for name, value in note.args.items()
            if name not in ("columns", "example", "n")
        )  # fmt: skip
        groups.setdefault((note.en, *apart), []).append(note)
    return tuple(_merged(group) for group in groups.values())


def _merged(group: list[Note]) -> Note:
    first = group[0]
    if "columns" not in first.args:
        return first
    names = [str(note.args["columns"]) for note in group]
    shown = ", ".join(names[:_MAX_NAMES])
    if len(names) > _MAX_NAMES:
        shown += f", … (+{len(names) - _MAX_NAMES})"
    counted = {"n": sum(int(note.args["n"]) for note in group)} if "n" in first.args else {}
    return first.with_args({**first.args, **counted, "columns": shown})


def shown_cells(cells: Counter[str]) -> str:
    """Return the most frequent cells, shortened, for showing inside a remark.

    >>> shown_cells(Counter({"NR": 3, "n/a": 1}))
    'NR, n/a'
    """
    shown = [shortened(text) for text, _ in cells.most_common(_MAX_CELLS)]
    return ", ".join([*shown, "…"] if len(cells) > _MAX_CELLS else shown)


def shortened(text: str) -> str:
    """Return a text on one line, cut when it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + "…"
