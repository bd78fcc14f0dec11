"""What loading a file gives: typed tables, and every decision taken on the way, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planloom.notes import Note
from planloom.values import TableRef

FileFormat = Literal["csv", "xlsx", "xlsb", "xls", "ods", "parquet", "json", "jsonl"]
"""How the content is laid out; "csv" stands for every kind of delimited text."""


@dataclass(frozen=True, kw_only=True)
class LoadedTable:
    """One table of a file."""

    table: TableRef
    """The typed rows; called "source", further tables of the file "source_2", ..."""
    title: str
    """Name of the sheet, else the file name without its endings."""
    header: tuple[str, ...]
    """Column names as used: blank and repeated ones already have a name of their own."""
    rows_in: int
    """Data records of the file, those that were rejected included."""
    rows_kept: int
    """Rows of `table`."""
    rows_rejected: int
    """`rows_in` - `rows_kept`: records that could not be taken into the table."""
    header_row: int | None
    """Line (of text) or row (of a sheet) that holds the names, from 1; None without a header."""
    rejected: TableRef | None
    """All that was set aside: columns `line` INTEGER, `reason` TEXT, `content` TEXT.

    Besides the rejected records it holds titles, notes and repeated header lines, which are no
    records and are not counted in `rows_in`.
    """
    decisions: tuple[Note, ...]


@dataclass(frozen=True, kw_only=True)
class LoadedFile:
    """A data file that was read."""

    file: str
    """Base name."""
    path: str
    """Absolute path."""
    sha256: str
    """Of the file as it is on disk, in hex."""
    size: int
    """Bytes on disk."""
    format: FileFormat
    encoding: str
    """Python's name of the text encoding, in lower case; "" for binary formats."""
    delimiter: str
    """Between the fields of a "csv"; "" for other formats."""
    tables: tuple[LoadedTable, ...]
    """At least one; hidden sheets come last."""
    decisions: tuple[Note, ...]
    """Those about the whole file; each table has its own."""
