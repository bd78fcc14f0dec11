"""Finds the columns that tell of persons, so that their cells stay here unless the user agrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from planloom.notes import Note, Scalar
from planloom.planning.goals.intent import ColumnShape, TableShape
from planloom.planning.personal_cells import Cells, personal_kinds

_MEANINGS = frozenset({"email", "phone"})
_JUDGED = 100


def personal_columns(
    table: TableShape, values: Mapping[str, Sequence[Scalar]] | None = None
) -> frozenset[str]:
    """Return the columns that hold names, addresses, phone or identity numbers of persons.

    Told by the name of the column in English or Chinese and by its cells; by its meaning in the
    profile where no cells are known.
    """
    cells = {column.name: _cells(column, values or {}) for column in table.columns}
    found = personal_kinds([Cells(c.name, c.type, cells[c.name]) for c in table.columns])
    by_meaning = {
        column.name
        for column in table.columns
        if column.meaning in _MEANINGS or (column.meaning == "name" and not cells[column.name])
    }
    return frozenset(found) | by_meaning


def _cells(column: ColumnShape, values: Mapping[str, Sequence[Scalar]]) -> list[str]:
    return [str(value) for value, _ in column.top] or [
        str(value) for value in values.get(column.name, ())[:_JUDGED]
    ]


def masked_note(columns: Iterable[str]) -> Note:
    """Say that the cells of these columns are kept from the model."""
    return _told(
        columns,
        "Columns with personal data ({columns}): their values were not sent to the language "
        "model. Names of columns and computed numbers were. To send the values, use "
        "--send-personal-data.",
        "含个人信息的列（{columns_zh}）：其中的取值没有发送给语言模型，只发送了列名和计算出的数字。"
        "如需发送取值，请使用 --send-personal-data。",
    )


def sent_note(columns: Iterable[str]) -> Note:
    """Say that cells of these columns reach the model, as the user allowed."""
    return _told(
        columns,
        "Columns with personal data ({columns}): values of them were sent to the language model, "
        "as --send-personal-data allows.",
        "含个人信息的列（{columns_zh}）：已按 --send-personal-data 的许可，"
        "向语言模型发送其中的取值。",
    )


def _told(columns: Iterable[str], en: str, zh: str) -> Note:
    names = sorted(columns)
    return Note(en, zh, {"columns": ", ".join(names), "columns_zh": "、".join(names)})
