"""Finds how a delimited text separates and quotes its fields, and splits it into records."""

from __future__ import annotations

import csv
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from planloom.analysis.loading.moment_text import read_time
from planloom.analysis.loading.number_text import looks_like_number

Quoting = Literal["double", "none", "single", "backslash"]
"""Quotes doubled inside quotes; quotes are plain text; single quotes; quotes behind a backslash."""

DELIMITERS = (",", ";", "\t", "|", "^")
NO_DELIMITER = "\x1f"
"""Stands for no delimiter at all where commas are part of the text: it occurs in no text."""
MAX_FIELD_CHARS = 64 * 1024 * 1024
_SAMPLE_RECORDS = 400
_CONSISTENT = 0.6


@dataclass(frozen=True, slots=True)
class Dialect:
    """How fields are separated and quoted."""

    delimiter: str
    quoting: Quoting = "double"
    skip_space: bool = False
    """A blank after the delimiter belongs to neither field: `a, "b, c"`."""

    @property
    def shown_delimiter(self) -> str:
        """The delimiter; "," for a single column without any."""
        return "," if self.delimiter == NO_DELIMITER else self.delimiter


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of one record."""

    line: int
    """Where it begins, from 1."""
    cells: list[str]
    """Empty for an empty line."""


def read_records(lines: Iterable[str], dialect: Dialect) -> Iterator[Record]:
    """Yield the records of a text whose lines keep their ends."""
    # The limit of the csv module belongs to the process; raising it harms nobody.
    csv.field_size_limit(MAX_FIELD_CHARS)
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar="'" if dialect.quoting == "single" else '"',
        quoting=csv.QUOTE_NONE if dialect.quoting == "none" else csv.QUOTE_MINIMAL,
        doublequote=dialect.quoting != "backslash",
        escapechar="\\" if dialect.quoting == "backslash" else None,
        skipinitialspace=dialect.skip_space,
    )
    line = 1
    for cells in reader:
        yield Record(line, cells)
        line = reader.line_num + 1


def detect_dialect(lines: Sequence[str]) -> Dialect:
    """Return the dialect that gives the first lines of a text the most regular shape.

    Text without a regular delimiter is a table of one column.
    """
    text = "".join(lines)
    best, best_score = Dialect("," if "," not in text else NO_DELIMITER), 0.0
    for dialect in _candidates(text):
        records = [record.cells for record in islice(read_records(lines, dialect), _SAMPLE_RECORDS)]
        score = _regularity([cells for cells in records if cells], dialect.delimiter)
        # More than rounding: an earlier candidate is the more usual one.
        if score > best_score + 1e-6:
            best, best_score = dialect, score
    return best


def is_ragged(lines: Iterable[str], dialect: Dialect) -> bool:
    """Return whether a reading leaves records of different lengths, or swallows lines."""
    return _ragged(lines, dialect) != (0, 0)


def settle_quoting(lines: Sequence[str], dialects: Sequence[Dialect]) -> Dialect:
    """Return the one of two or more readings that leaves the fewest ragged records."""
    return min(dialects, key=lambda dialect: _ragged(lines, dialect))


def quoting_rivals(dialect: Dialect) -> tuple[Dialect, ...]:
    """Return the readings of quotes that a text with stray ones may need, likeliest first."""
    modes: tuple[Quoting, ...] = (dialect.quoting, "double", "none", "backslash")
    return tuple(
        Dialect(dialect.delimiter, mode, dialect.skip_space) for mode in dict.fromkeys(modes)
    )


def _ragged(lines: Iterable[str], dialect: Dialect) -> tuple[int, int]:
    widths: Counter[int] = Counter()
    suspicious = 0
    for record in read_records(lines, dialect):
        if record.cells:
            widths[len(record.cells)] += 1
            if dialect.quoting == "none":
                suspicious += sum(_is_quoted(cell) for cell in record.cells)
            else:
                suspicious += sum(_swallows_lines(cell, dialect) for cell in record.cells)
    usual = max(widths.values(), default=0)
    return widths.total() - usual, suspicious


def _swallows_lines(cell: str, dialect: Dialect) -> bool:
    """Return whether a field looks like records between two stray quotes."""
    breaks = cell.count("\n")
    # Tab-separated texts hardly ever quote, so a line break beside a tab is a record's end.
    return breaks > 20 or (breaks > 0 and dialect.delimiter == "\t" and "\t" in cell)


def _is_quoted(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def _candidates(text: str) -> Iterator[Dialect]:
    for delimiter in DELIMITERS:
        if delimiter not in text:
            continue
        yield Dialect(delimiter)
        if '"' in text:
            if re.search(re.escape(delimiter) + r' +"', text):
                yield Dialect(delimiter, skip_space=True)
            if '\\"' in text:
                yield Dialect(delimiter, "backslash")
            yield Dialect(delimiter, "none")
        if re.search(rf"'[^'\n]*{re.escape(delimiter)}[^'\n]*'", text):
            yield Dialect(delimiter, "single")


def _regularity(records: list[list[str]], delimiter: str) -> float:
    """Return how much a reading looks like a table, from 0 to about 1."""
    widths = Counter(len(cells) for cells in records if len(cells) > 1)
    if not widths:
        return 0.0
    width = max(widths, key=lambda size: (widths[size], size))
    start = next(i for i, cells in enumerate(records) if len(cells) == width)
    region = records[start:]
    consistency = sum(len(cells) == width for cells in region) / len(region)
    if consistency < _CONSISTENT or (len(region) == 1 and len(records) > 1):
        return 0.0
    clean = statistics.fmean(
        _cleanness(cell, delimiter)
        for cells in region[:100]
        if len(cells) == width
        for cell in cells[:50]
    )
    return consistency * (0.5 + 0.5 * clean) * (0.9 + 0.1 * len(region) / len(records))


def _cleanness(cell: str, delimiter: str) -> float:
    """Return how much a field looks like one value, from 0 to 1."""
    if not cell or cell.isalnum() or looks_like_number(cell) or read_time(cell):
        return 1.0
    if cell.count('"') % 2 or _is_quoted(cell):
        return 0.0
    # The delimiter itself inside a field shows that the quotes were understood.
    if any(mark in cell for mark in ";\t|^" if mark != delimiter):
        return 0.0
    return 0.6 if "," in cell and delimiter != "," else 1.0
