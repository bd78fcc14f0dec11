"""The value types that rooms exchange: tables and pictures by reference, and facts.

All are frozen dataclasses of JSON-safe fields, so that any step's result can be recorded and read
back with `pydantic.TypeAdapter`. Large data never travels in them: a `TableRef` names a file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from planloom.notes import Note, Scalar

ColumnType = Literal["text", "integer", "number", "boolean", "date", "datetime", "time"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str
    type: ColumnType
    unit: str = ""
    """Unit of the values: a currency sign ("$", "¥"), "%", "kg", a count noun; "" when unknown."""


@dataclass(frozen=True, kw_only=True)
class TableRef:
    """A table kept as a Parquet file; the rows stay in the file."""

    path: str
    """Absolute path of the Parquet file."""
    columns: tuple[Column, ...]
    rows: int
    name: str
    """The name SQL knows it by, such as "source" or "cleaned"; a plain identifier."""
    sha256: str
    """Of the Parquet file, in hex."""

    def column(self, name: str) -> Column:
        """Return the column called `name`; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, kw_only=True)
class FileRef:
    """A file of the run."""

    path: str
    """Absolute path."""
    media_type: str
    size: int
    """Bytes."""
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ImageRef(FileRef):
    """A picture of the run."""

    width: int
    """Pixels."""
    height: int
    """Pixels."""
    alt: str
    """What the picture shows, for those who cannot see it."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A computed number or label, and where it came from."""

    id: str
    """Unique in a report; letters, digits, dots, dashes and underscores of any script."""
    label: Note
    """What the value is, such as "Total amount"."""
    value: Scalar
    """Percentages as percent (23.4 with unit "%"), dates as ISO text."""
    unit: str = ""
    """"%", "pp" (percentage points), a currency sign, a noun; for the label of a period "day",
    "week", "month", "quarter" or "year" (values "2024-03-09", "2024-W05", "2024-03", "2024-Q1",
    "2024")."""
    query: str
    """SQL (DuckDB) that gives the value as its only cell."""
    table: str
    """The table that the query reads, such as "cleaned"."""
    rows: int
    """How many rows of that table the value rests on."""


def file_sha256(path: Path | str) -> str:
    """Return the hex sha256 of a file, read in pieces."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
