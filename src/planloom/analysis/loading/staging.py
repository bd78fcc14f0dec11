"""Writes the records of an odd file as a plain CSV that DuckDB reads without any doubt."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from planloom.notes import Note

SCRATCH = "loading.part"
"""Folder below the output folder for files that are needed only while loading."""
SAMPLE_CELLS = 400_000
SAMPLE_ROWS = 2_000
"""Types are planned on so much; cells outside of the sample that do not fit are met on reading."""


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """The records of a table as text, in a file that DuckDB can read; names are decided."""

    path: Path
    delimiter: str
    skip: int
    """Lines before the first record."""
    width: int
    """Fields of each record in the file."""
    names: tuple[str, ...]
    places: tuple[int, ...]
    """The field that each name stands for; others are empty and left out."""
    sample: tuple[tuple[str, ...], ...]
    """Records spread over the table; the cells are text."""
    longest: int
    """Upper bound of the characters of one record; 0 when it was not measured."""
    title: str
    header_row: int | None
    rows_in: int
    """-1 when the records were not counted yet."""
    rejected: Path | None
    """CSV of line, reason and content, without a header."""
    notes: tuple[Note, ...] = ()
    native: bool = False
    """Numbers come from typed cells."""
    units: tuple[str, ...] = ()
    """Unit of each column where the source states it; () for none."""
    ends_in_lf: bool = True
    """Lines end in LF; False for CR LF, which DuckDB only reads when it finds it itself."""
    is_staged: bool = True
    """Written by `StagedRows`: every record has `width` fields. Else ragged ones are rejected."""


@dataclass(kw_only=True)
class StagedRows:
    """Takes kept and rejected records one by one; use as a context manager."""

    folder: Path
    name: str
    """Beginning of the names of the files written."""
    width: int
    kept: int = 0
    rejected: int = 0
    """Records that were rejected."""
    aside: int = 0
    """Lines set aside that are no records: titles, notes, repeated headers."""
    longest: int = 0
    sample: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    filled: set[int] = field(default_factory=set[int])
    """Those of `watched` in which some record holds something."""
    watched: tuple[int, ...] = ()
    """Fields without a name, which are left out when no record fills them."""
    _stride: int = 1

    @property
    def rows_path(self) -> Path:
        """CSV of the kept records."""
        return self.folder / f"{self.name}.rows.csv"

    @property
    def rejected_path(self) -> Path:
        """CSV of what was set aside."""
        return self.folder / f"{self.name}.rejected.csv"

    def __enter__(self) -> StagedRows:
        self._rows_file = self.rows_path.open("w", encoding="utf-8", newline="")
        self._rejected_file = self.rejected_path.open("w", encoding="utf-8", newline="")
        # All are quoted: the writer leaves a lone CR bare, and DuckDB would end a line there.
        self._rows = csv.writer(self._rows_file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        self._rejects = csv.writer(self._rejected_file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._rows_file.close()
        self._rejected_file.close()

    def keep(self, cells: Sequence[str]) -> None:
        """Add a record of `width` fields."""
        self._rows.writerow(cells)
        self.longest = max(self.longest, sum(map(len, cells)))
        for place in self.watched:
            if cells[place].strip():
                self.filled.add(place)
        if self.kept % self._stride == 0:
            self.sample.append(tuple(cells))
            if len(self.sample) > max(100, min(SAMPLE_ROWS, SAMPLE_CELLS // self.width)):
                # Half of the sample goes and half as many are taken from now on.
                self.sample = self.sample[::2]
                self._stride *= 2
        self.kept += 1

    def reject(self, line: int, reason: str, cells: Iterable[str]) -> None:
        """Set a record aside that cannot be taken into the table."""
        self._write_aside(line, reason, cells)
        self.rejected += 1

    def set_aside(self, line: int, reason: str, cells: Iterable[str]) -> None:
        """Keep a line that is no record where the user can find it."""
        self._write_aside(line, reason, cells)
        self.aside += 1

    def _write_aside(self, line: int, reason: str, cells: Iterable[str]) -> None:
        row = list(cells)
        while row and not row[-1].strip():
            row.pop()
        self._rejects.writerow([line, reason, ",".join(row)])
