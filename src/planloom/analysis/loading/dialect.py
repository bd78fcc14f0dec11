"""Finds how a delimited text separates and quotes its fields, and splits it into records."""

from __future__ import annotations

import csv
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from planloom.analysis.loading.moment_text import read_time, split_moment
from planloom.analysis.loading.number_text import looks_like_number

Quoting = Literal["double", "none", "single", "backslash"]
"""Quotes doubled inside quotes; quotes are plain text; single quotes; quotes behind a backslash."""

DELIMITERS = (",", ";", "\t", "|", "^")
BLANKS, GAPS = " ", "  "
"""Fields stand apart by blanks, however many, or by two blanks and more."""
NO_DELIMITER = "\x1f"
"""Stands for no delimiter at all where commas are part of the text: it occurs in no text."""
MAX_FIELD_CHARS = 64 * 1024 * 1024
_BLANK_RUNS = {BLANKS: re.compile(r"[ \t]+"), GAPS: re.compile(r"[ \t]{2,}")}
_SAMPLE_RECORDS = 400
_CONSISTENT = 0.6
_SHORT_COUNTS = 0.6
"""How much a record counts that lacks fields at its end, against one of full width."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How fields are separated and quoted."""

    delimiter: str
    quoting: Quoting = "double"
    skip_space: bool = False
    """A blank after the delimiter belongs to neither field: `a, "b, c"`."""
    trim: bool = False
    """All fields are padded with blanks, which are no part of them."""

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
    if dialect.delimiter in _BLANK_RUNS:
        run = _BLANK_RUNS[dialect.delimiter]
        lines = (run.sub("\t", line.strip()) + "\n" if line.strip() else "\n" for line in lines)
        dialect = replace(dialect, delimiter="\t")
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
        yield Record(line, [cell.strip() for cell in cells] if dialect.trim else cells)
        line = reader.line_num + 1


def detect_dialect(lines: Sequence[str]) -> Dialect:
    """Return the dialect that gives the first lines of a text the most regular shape.

    Signs that are seldom a delimiter count only when nothing else fits; text without a regular
    delimiter is a table of one column.
    """
    text = "".join(lines)
    best, best_score = Dialect("," if "," not in text else NO_DELIMITER), 0.0
    for dialect in _candidates(text):
        records = [record.cells for record in islice(read_records(lines, dialect), _SAMPLE_RECORDS)]
        score = _regularity([cells for cells in records if cells], dialect.delimiter)
        # More than rounding: an earlier candidate is the more usual one.
        if score > best_score + 1e-6:
            best, best_score = dialect, score
    if not best_score:
        return _rare_dialect(lines) or best
    return replace(best, trim=True) if _is_padded(lines, best) else best


def is_ragged(lines: Iterable[str], dialect: Dialect) -> bool:
    """Return whether a reading leaves records of different lengths, or swallows lines."""
    return _ragged(lines, dialect) != (0, 0)


def settle_quoting(lines: Sequence[str], dialects: Sequence[Dialect]) -> Dialect:
    """Return the one of two or more readings that leaves the fewest ragged records."""
    return min(dialects, key=lambda dialect: _ragged(lines, dialect))


def quoting_rivals(dialect: Dialect) -> tuple[Dialect, ...]:
    """Return the readings of quotes that a text with stray ones may need, likeliest first."""
    modes: tuple[Quoting, ...] = (dialect.quoting, "double", "none", "backslash")
    return tuple(replace(dialect, quoting=mode) for mode in dict.fromkeys(modes))


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


def _is_padded(lines: Sequence[str], dialect: Dialect) -> bool:
    """Return whether blanks stand around all fields, or fill each column up to one length."""
    if dialect.skip_space or any('"' in line for line in lines):
        return False
    records = [r.cells for r in islice(read_records(lines, dialect), _SAMPLE_RECORDS)]
    width = _usual_width([cells for cells in records if cells])
    full = [cells for cells in records if len(cells) == width and not _is_drawn(cells)]
    later = [cell for cells in full for cell in cells[1:] if cell.strip()]
    if len(later) < 2:
        return False
    if all(cell[0] == " " for cell in later):
        return True
    even = all(len({len(cells[i]) for cells in full}) == 1 for i in range(width - 1))
    before = [cell for cells in full for cell in cells[:-1]]
    return even and sum(cell.endswith(" ") for cell in before) > len(before) / 4


def _is_drawn(cells: list[str]) -> bool:
    return not "".join(cells).strip("-=+:_ ")


def _rare_dialect(lines: Sequence[str]) -> Dialect | None:
    """Return how a text is separated by a sign that elsewhere is mostly part of the text."""
    filled = [line for line in lines[:_SAMPLE_RECORDS] if line.strip("-=+:_ \t\r\n")]
    if len(filled) < 3:
        return None
    whole = sum(looks_like_number(line) or bool(split_moment(line)) for line in filled)
    for delimiter in ("~", "，", GAPS, ":", BLANKS):
        if delimiter not in filled[0].strip() or (whole * 2 > len(filled) and delimiter != "，"):
            continue
        dialect = Dialect(delimiter, "double" if delimiter in "~，" else "none")
        records = [record.cells for record in read_records(filled, dialect)]
        if _is_beyond_doubt(records, delimiter):
            return dialect
    return None


def _is_beyond_doubt(records: list[list[str]], delimiter: str) -> bool:
    """Return whether a rare delimiter gives a table: regular, and with columns of values."""
    width = len(records[0])
    full = [cells for cells in records if len(cells) == width]
    if width < 2 or len(full) < 0.95 * len(records):
        return False
    columns = list(zip(*full[1:], strict=True))
    typed = sum(sum(map(_is_value, cells)) >= 0.8 * len(cells) for cells in columns)
    if delimiter in ("~", GAPS):
        return typed > 0 or width > 2
    if len(full) < len(records) or typed < max(width - 1, 2):
        return False
    # Numbers such as 555 123 4567 are one value; those with a fraction are several.
    return not any(map(_is_value, records[0])) or (
        typed == width and delimiter == BLANKS and any("." in cell for cell in full[0])
    )


def _is_value(cell: str) -> bool:
    return looks_like_number(cell) or bool(read_time(cell)) or bool(split_moment(cell))


def _regularity(records: list[list[str]], delimiter: str) -> float:
    """Return how much a reading looks like a table, from 0 to about 1."""
    width = _usual_width(records)
    if width < 2:
        return 0.0
    start = next(i for i, cells in enumerate(records) if len(cells) == width)
    region = records[start:]
    full = [cells for cells in region if len(cells) == width]
    # Below a header of full width, records may leave out their last cells.
    short = sum(1 < len(cells) < width for cells in region) if start == 0 else 0
    consistency = (len(full) + _SHORT_COUNTS * short) / len(region)
    if consistency < _CONSISTENT or (len(region) == 1 and len(records) > 1):
        return 0.0
    if start and (len(full[0]) == 2 or consistency < 1) and _is_prose(full, delimiter):
        return 0.0
    clean = statistics.fmean(
        _cleanness(cell, delimiter) for cells in full[:100] for cell in cells[:50]
    )
    return consistency * (0.5 + 0.5 * clean) * (0.9 + 0.1 * len(region) / len(records))


def _usual_width(records: list[list[str]]) -> int:
    """Return the number of fields of the table; 1 or less when there is no delimiter."""
    widths = Counter(len(cells) for cells in records if len(cells) > 1)
    if not widths:
        return 0
    first = len(records[0])
    # A header is as wide as the table even if most records leave out their last cells.
    longer = sum(count for size, count in widths.items() if size > first)
    if widths[first] > 1 and longer <= 0.02 * len(records):
        return first
    return max(widths, key=lambda size: (widths[size], size))


def _is_prose(records: list[list[str]], delimiter: str) -> bool:
    """Return whether a sign that the first line lacks is punctuation inside of sentences."""
    later = [cell for cells in records for cell in cells[1:] if cell]
    spaced = sum(cell[0] == " " for cell in later)
    typed = sum(looks_like_number(cell) for cell in later)
    return delimiter in ",;" and spaced > 0.7 * len(later) and typed < 0.3 * len(later)


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
