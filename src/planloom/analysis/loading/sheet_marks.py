"""Reads from the parts of an xlsx file what its values alone do not tell: formats, errors, more."""

from __future__ import annotations

import posixpath
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from planloom.analysis.loading.layout import SAMPLE_ROWS

_BUILTIN_PERCENT = {9: "0%", 10: "0.00%"}
_BUILTIN_MONEY = {5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00'}
_EXACT_DIGITS = 15


@dataclass(kw_only=True)
class SheetMarks:
    """What a sheet says beside its values; rows and columns count from 0."""

    codes: dict[int, Counter[str]] = field(default_factory=dict[int, Counter[str]])
    """By column, the number formats of its numbers, each with its count."""
    errors: dict[int, Counter[str]] = field(default_factory=dict[int, Counter[str]])
    """By column, the errors such as "#N/A"."""
    not_computed: Counter[int] = field(default_factory=Counter[int])
    """By column, the formulas whose result was not stored."""
    exact: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """Whole numbers, by row and column, that are too long for a floating-point number."""
    hidden_rows: set[int] = field(default_factory=set[int])
    hidden_columns: set[int] = field(default_factory=set[int])

    head: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """Row, column and format of the numbers in the first rows, where headers stand."""

    def add_code(self, row: int, column: int, code: str) -> None:
        """Count a number that is shown in the format `code`."""
        self.codes.setdefault(column, Counter())[code] += 1
        if row < SAMPLE_ROWS:
            self.head.append((row, column, code))

    def codes_below(self, row: int) -> dict[int, Counter[str]]:
        """Return the formats of the numbers from `row` on, by column."""
        found = {column: Counter(codes) for column, codes in self.codes.items()}
        for above, column, code in self.head:
            if above < row:
                found[column][code] -= 1
        return {column: +codes for column, codes in found.items()}

    def count_error(self, column: int, error: str) -> None:
        """Count an error."""
        self.errors.setdefault(column, Counter())[error] += 1


def read_xlsx_marks(path: Path, sheets: Sequence[str]) -> dict[str, SheetMarks]:
    """Return the marks of each sheet; nothing for those whose parts cannot be read."""
    found: dict[str, SheetMarks] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            codes = _style_codes(archive)
            for name, member in _sheet_members(archive).items():
                if name in sheets:
                    found[name] = _sheet_marks(_events(archive, member), codes)
    except (zipfile.BadZipFile, ET.ParseError, KeyError, ValueError, OSError):
        # Calamine forgives more than this does; values matter more than marks.
        return found
    return found


def _local(name: str) -> str:
    """Return the name of an element without its namespace, of which there are two kinds."""
    return name.rpartition("}")[2]


def _events(archive: zipfile.ZipFile, member: str) -> Iterator[tuple[str, ET.Element]]:
    """Yield the start and the end of each element."""
    with archive.open(member) as part:
        # Expat fetches nothing from elsewhere and stops when entities grow out of proportion.
        yield from ET.iterparse(part, events=("start", "end"))  # noqa: S314 - see above


def _elements(archive: zipfile.ZipFile, member: str) -> Iterator[ET.Element]:
    """Yield each element once it is complete."""
    return (element for event, element in _events(archive, member) if event == "end")


def _style_codes(archive: zipfile.ZipFile) -> list[str]:
    """Return the number format of each cell style."""
    if "xl/styles.xml" not in archive.namelist():
        return []
    codes = _BUILTIN_PERCENT | _BUILTIN_MONEY
    styles: list[int] = []
    for element in _elements(archive, "xl/styles.xml"):
        if _local(element.tag) == "numFmt":
            codes[int(element.get("numFmtId", "0"))] = element.get("formatCode", "")
        elif _local(element.tag) == "cellXfs":
            styles = [int(style.get("numFmtId", "0")) for style in element]
    return [codes.get(style, "General") for style in styles]


def _sheet_members(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the part of the archive that holds each sheet."""
    targets = {
        element.get("Id"): posixpath.normpath(posixpath.join("xl", element.get("Target", "")))
        for element in _elements(archive, "xl/_rels/workbook.xml.rels")
    }
    members: dict[str, str] = {}
    for element in _elements(archive, "xl/workbook.xml"):
        if _local(element.tag) == "sheet":
            links = [value for key, value in element.items() if _local(key) == "id"]
            if links and links[0] in targets:
                members[element.get("name", "")] = targets[links[0]].lstrip("/")
    return members


def _sheet_marks(events: Iterator[tuple[str, ET.Element]], codes: Sequence[str]) -> SheetMarks:
    marks = SheetMarks()
    row = column = -1
    for event, element in events:
        tag = _local(element.tag)
        if event == "start":
            if tag == "row":
                row, column = int(element.get("r", row + 2)) - 1, -1
                if element.get("hidden") in ("1", "true"):
                    marks.hidden_rows.add(row)
        elif tag == "c":
            column = column_index(element.get("r", "")) if element.get("r") else column + 1
            _add_cell(marks, element, row, column, codes)
            element.clear()
        elif tag == "row":
            element.clear()
        elif tag == "col" and element.get("hidden") in ("1", "true"):
            first, last = int(element.get("min", "1")), int(element.get("max", "1"))
            marks.hidden_columns |= set(range(first - 1, min(last, 16_384)))
    return marks


def _add_cell(
    marks: SheetMarks, cell: ET.Element, row: int, column: int, codes: Sequence[str]
) -> None:
    parts = {_local(part.tag): part.text or "" for part in cell}
    text, kind = parts.get("v", ""), cell.get("t", "n")
    if kind == "e":
        marks.count_error(column, text)
    elif "f" in parts and not text and kind == "n":
        # A formula whose result is an empty text says so with the kind "str".
        marks.not_computed[column] += 1
    elif kind == "n" and text:
        style = int(cell.get("s", "0"))
        marks.add_code(row, column, codes[style] if style < len(codes) else "General")
        digits = text.lstrip("-")
        if digits.isdecimal() and len(digits) > _EXACT_DIGITS:
            marks.exact[row, column] = text


def column_index(reference: str) -> int:
    """Return the place of a column by a reference to one of its cells.

    >>> column_index("A1"), column_index("AB12")
    (0, 27)
    """
    index = 0
    for letter in reference:
        if not letter.isalpha():
            break
        index = index * 26 + ord(letter.upper()) - 64
    return index - 1
