"""Names that a result table cannot hold in two languages: marks in its cells, and their words.

A row of rows without a category keeps NULL as its key. The row that stands for the categories
beyond the first few has the mark `⟨other:12⟩` as its key; 12 is how many they are.
"""

from __future__ import annotations

import re

from planloom.notes import Note, Scalar

_OTHER = re.compile(r"⟨other:(\d+)⟩")
MISSING = Note("(missing)", "（缺失）")
"""What the key NULL is called."""


ROWS = Note("Rows", "记录数")
"""Heading of the column that tells how many rows of the analysed table a row rests on."""
COUNT_HEADINGS = (ROWS, Note("Number of rows", "记录数"), Note("Values", "有值记录数"))
"""Headings of columns that tell so."""


def other_mark(categories: int) -> str:
    """Return the key of the row that stands for `categories` further categories.

    >>> other_mark(12)
    '⟨other:12⟩'
    """
    return f"⟨other:{categories}⟩"


def is_other(key: Scalar) -> bool:
    """Tell whether the key of a row is the mark of the grouped rest."""
    return isinstance(key, str) and _OTHER.fullmatch(key) is not None


def label_note(key: Scalar) -> Note:
    """Return what the key of a row is called in a table or a chart.

    >>> label_note("⟨other:12⟩").text("en"), label_note(None).text("zh")
    ('Other (12 categories)', '（缺失）')
    """
    if key is None:
        return MISSING
    match = _OTHER.fullmatch(key) if isinstance(key, str) else None
    if match is None:
        return Note.same(str(key))
    return Note("Other ({n|category|categories})", "其他（{n} 类）", {"n": int(match.group(1))})


def display_name(column: str) -> str:
    """Return a column's name as prose says it: underscores of Latin names become spaces.

    >>> display_name("order_amount"), display_name("金额_含税")
    ('order amount', '金额_含税')
    """
    return column.replace("_", " ").strip() or column if column.isascii() else column


def sentence_case(name: str) -> str:
    """Return `name` with a capital first letter.

    >>> sentence_case("order amount")
    'Order amount'
    """
    return name[:1].upper() + name[1:]
