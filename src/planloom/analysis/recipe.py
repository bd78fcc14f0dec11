"""What has to be done to a source file to get the analysed tables again."""

from __future__ import annotations

from dataclasses import dataclass

from planloom.analysis.operations import Operation
from planloom.analysis.selection import Condition


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """The file that a report rests on."""

    file: str
    """Base name."""
    path: str
    """Absolute path at the time of the run."""
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """From source file to analysed rows."""

    source: SourceFile
    table: int
    """Which table of the file, from 0."""
    operations: tuple[Operation, ...]
    """The cleaning, in order."""
    conditions: tuple[Condition, ...]
    """Rows that the analyses look at; empty means all."""
