"""Finds the columns that tell of persons, so that their cells stay here unless the user agrees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from planloom.analysis.meanings import split_words
from planloom.notes import Note, Scalar
from planloom.planning.goals.intent import TableShape

_MEANINGS = frozenset({"name", "email", "phone"})
_NAMED = re.compile(
    r"(?<![a-z])(?:ssn|social security|passport|id card|national id|tax id|license plate|iban|"
    r"home address|street|address|birth ?day|date of birth|dob|e-?mail|phone|mobile)(?![a-z])|"
    r"身份证|护照|社保|住址|家庭地址|详细地址|收货地址|生日|出生日期|手机|电话|邮箱|银行卡|车牌|姓名",
    re.IGNORECASE,
)
_CELLS = (
    re.compile(r"[1-9]\d{5}(?:18|19|20)\d\d(?:0\d|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dXx]"),
    re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    re.compile(r"(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}"),
    re.compile(r"\d{3}-\d{2}-\d{4}"),
)
_ENOUGH = 0.5
_JUDGED = 100


def personal_columns(
    table: TableShape, values: Mapping[str, Sequence[Scalar]] | None = None
) -> frozenset[str]:
    """Return the columns that hold names, addresses, phone or identity numbers of persons.

    Told by the meaning of the column, by its name in English or Chinese, or by its cells.
    """
    found: set[str] = set()
    for column in table.columns:
        cells = [str(value) for value, _ in column.top] or [
            str(value) for value in (values or {}).get(column.name, ())[:_JUDGED]
        ]
        named = _NAMED.search(split_words(column.name).lower()) is not None
        if column.meaning in _MEANINGS or named or _look_personal(cells):
            found.add(column.name)
    return frozenset(found)


def _look_personal(cells: Sequence[str]) -> bool:
    hits = sum(any(pattern.fullmatch(cell.strip()) for pattern in _CELLS) for cell in cells)
    return bool(cells) and hits >= _ENOUGH * len(cells)


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
