"""Finding the numbers of a model's answer that neither its goal nor any result gives."""

from __future__ import annotations

import bisect
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from itertools import accumulate, combinations
from typing import cast

from planloom.analysis.numbers.checking import bounds
from planloom.analysis.numbers.dates import PartialDate
from planloom.analysis.numbers.numeral_patterns import scale_of
from planloom.analysis.numbers.numerals import Numeral, read_numerals
from planloom.analysis.numbers.visible_text import visible_text
from planloom.errors import InputError, ToolError
from planloom.values import FileRef, TableRef

_SMALL = 10
"""Whole numbers up to this are said without a source: "two reasons", "the top 3"."""
_FEW_ROWS = 50
_ROWS = 5_000
_CELLS = 100_000
"""Larger tables give their row count alone."""
_TEXT_CHARS = 400_000
_PARTS = 200_000
_DEPTH = 12
_FIRST = 10
"""Items of a list whose running totals may be told."""
_PAIRS_OF = 100
_TRIPLES_OF = 25
_CHANCE = 0.1
"""A number counts as computed from others where fewer than so many would fit it by accident."""
_CHANCE_BESIDE = 0.3
"""The same for what is computed from numbers that the answer states too."""
_THOUSAND = frozenset({1e3, 1e-3})
_CONVERTED = {
    **dict.fromkeys(("kg", "g", "mg", "t", "km", "m", "mm", "L", "mL", "kWh", "MWh"), _THOUSAND),
    **dict.fromkeys(("MB", "GB", "kW", "MW", "ms"), _THOUSAND),
    "second": frozenset({1e-3, 60.0, 3600.0}),
    "minute": frozenset({60.0, 1 / 60}),
    "hour": frozenset({1 / 60, 1 / 3600, 24.0}),
    "day": frozenset({1 / 24, 7.0}),
}
"""Factors that take a value in this unit to what it may have been before."""
_LINKS = 2
"""A share may be one of a sum that the answer made itself."""
_STAND_IN = re.compile(r"‹[^‹›]*›")
_SCALE_WORDS = (
    (re.compile(r"(?<!\d)(?<!\d )万"), 1e4),
    (re.compile(r"(?<!\d)(?<!\d )亿"), 1e8),
    (re.compile(r"\bthousands?\b", re.IGNORECASE), 1e3),
    (re.compile(r"\bmillions?\b", re.IGNORECASE), 1e6),
)


def unsourced_numbers(
    text: str, values: Iterable[object], said: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the numerals of an answer that have no source, as written, each once.

    `values` are the results that it was made from: numbers, texts, lists, facts, tables (cells of
    small ones). `said` are texts whose numbers may be repeated, such as the goal. A numeral is
    sourced when one of them gives it up to its own rounding, as a per cent of a fraction or in
    another scale; when it is the size, sum, mean or extreme of a list or column; or when sum,
    difference, ratio or change of few of the numbers give it. Small counts, list numbers,
    names and bare years need no source.

    >>> unsourced_numbers("Pens made 1.2万, a third of 36,000: 33.3%.", [{"pen": 12_000}, 36_000])
    ()
    >>> unsourced_numbers("Sales were 777,888, up 37%.", [{"pen": 12_000}], ["How were sales?"])
    ('777,888', '37%')
    """
    visible = visible_text(_STAND_IN.sub(" ", text))
    numerals = [numeral for numeral in read_numerals(visible) if not _needs_none(numeral)]
    if not numerals:
        return ()
    pool = NumberPool(values, said)
    scales = [factor for pattern, factor in _SCALE_WORDS if pattern.search(visible)]
    left = [numeral for numeral in numerals if not pool.gives(numeral, scales)]
    beside = [n.value for n in numerals if n.value is not None and n not in left]
    for _ in range(_LINKS):
        derived = [numeral for numeral in left if pool.derives(numeral, beside)]
        left = [numeral for numeral in left if numeral not in derived]
        beside += [numeral.value for numeral in derived if numeral.value is not None]
    return tuple(dict.fromkeys(numeral.text.strip() for numeral in left))


def gives_numbers(values: Iterable[object]) -> bool:
    """Say whether results hold any number at all."""
    return bool(NumberPool(values).count)


class NumberPool:
    """The numbers and dates that results and texts give."""

    def __init__(self, values: Iterable[object], said: Iterable[str] = ()):
        self._numbers: set[float] = set()
        self._cells: set[float] = set()
        """Of tables with many rows: some cell fits any share, and two of them any number."""
        self._dates: set[PartialDate] = set()
        self._parts = _PARTS
        for value in values:
            self._add(value)
        for text in said:
            self._add_text(text)
        self._sorted = sorted(self._numbers)
        self._sorted_cells = sorted(self._cells - self._numbers)

    @property
    def count(self) -> int:
        """How many different numbers there are."""
        return len(self._sorted)

    def gives(self, numeral: Numeral, scales: Sequence[float] = ()) -> bool:
        """Say whether a number or date stands there; `scales` are those of the text's headings."""
        if numeral.dates and not numeral.is_bare_year:
            return self._has_date(numeral.dates)
        low, high = bounds(numeral)
        # A column "amount (万元)" holds 123 where the text says 123万元, and the other way round.
        factors = {1.0, 1 / scale_of(numeral.text), *scales}
        if numeral.kind in {"percent", "points", "multiple"}:
            factors |= {0.01, 100.0}
        if numeral.unit in _CONVERTED:
            factors |= _CONVERTED[numeral.unit]
        is_share = numeral.kind in {"percent", "points"}
        pools = [self._sorted] if is_share else [self._sorted, self._sorted_cells]
        return any(_between(pool, low * f, high * f) for pool in pools for f in factors)

    def derives(self, numeral: Numeral, stated: Sequence[float]) -> bool:
        """Say whether the number can be computed from those that the answer states, or from all.

        Of many numbers some two fit anything: they count only where accident is unlikely.
        """
        if numeral.value is None:
            return False
        low, high = bounds(numeral)
        is_share = numeral.kind in {"percent", "points"}
        beside = sorted({abs(value) for value in stated})[:_TRIPLES_OF]
        return _computed(beside, low, high, is_share=is_share, chance=_CHANCE_BESIDE) or _computed(
            self._sorted, low, high, is_share=is_share, chance=_CHANCE
        )

    # -- filling it

    def _add(self, value: object, depth: int = _DEPTH) -> None:
        self._parts -= 1
        if depth == 0 or self._parts < 0 or value is None or isinstance(value, bool):
            return
        if isinstance(value, int | float):
            self._add_number(value)
        elif isinstance(value, str):
            self._add_text(value)
        elif isinstance(value, Mapping):
            self._add_mapping(cast("Mapping[object, object]", value), depth)
        elif isinstance(value, list | tuple | set | frozenset):
            self._add_items(list(cast("Sequence[object]", value)), depth)
        else:
            self._add_object(value, depth)

    def _add_object(self, value: object, depth: int) -> None:
        if isinstance(value, TableRef):
            self._add_table(value)
        if is_dataclass(value) and not isinstance(value, type):
            hidden = {"path", "sha256", "size", "query"} if _is_file(value) else {"query"}
            for field in fields(value):
                if field.name not in hidden:
                    self._add(getattr(value, field.name), depth - 1)
        elif not _is_file(value):
            self._add_text(str(value))  # decimals, dates and times of day

    def _add_number(self, value: float) -> None:
        self._numbers.update(map(abs, _floats([value])))

    def _add_text(self, text: str) -> None:
        if (record := _read_json(text)) is not None:
            self._add(record)
            return
        for numeral in read_numerals(text[:_TEXT_CHARS].replace("|", "\t")):
            self._dates.update(numeral.dates)
            if numeral.value is not None:
                self._add_number(numeral.value)
        if _ROWS_OR_CODE.search(text):
            # Cells that touch: "Banana,5,300" holds 5 and 300, not 5,300.
            self._numbers.update(_floats(_DIGITS.findall(text[:_TEXT_CHARS])))
            self._add_rows(text[:_TEXT_CHARS])

    def _add_rows(self, text: str) -> None:
        """Add what columns of a table in text come to."""
        rows = [_CELL_END.split(line.strip("| ")) for line in text.splitlines()[:_ROWS]]
        columns: dict[int, list[object]] = defaultdict(list)
        groups: dict[tuple[int, str], list[float]] = defaultdict(list)
        for row in rows:
            names = [cell for cell in row if not _NUMBER_CELL.fullmatch(cell)]
            for number, cell in enumerate(row):
                for value in _floats([cell] if _NUMBER_CELL.fullmatch(cell) else []):
                    columns[number].append(value)
                    for name in names:
                        groups[number, name].append(value)
        for cells in columns.values():
            self._add_aggregates(cells)
        if len(rows) <= _FEW_ROWS:  # what a reader can add up: the sum of each product
            for members in groups.values():
                self._add_number(_sum(members))

    def _add_mapping(self, value: Mapping[object, object], depth: int) -> None:
        self._add_number(len(value))
        for key, item in value.items():
            self._add(key, depth - 1)
            self._add(item, depth - 1)
        self._add_aggregates(list(value.values()))

    def _add_items(self, items: Sequence[object], depth: int) -> None:
        self._add_number(len(items))
        for item in items:
            self._add(item, depth - 1)
        self._add_aggregates(items)
        if items and all(isinstance(item, Mapping) for item in items):
            rows = cast("Sequence[Mapping[object, object]]", items)
            for key in rows[0]:
                self._add_aggregates([row.get(key) for row in rows])

    def _add_aggregates(self, items: Sequence[object]) -> None:
        numbers = _floats(x for x in items if isinstance(x, int | float))
        if len(numbers) > 1:
            self._add_number(_sum(numbers) / len(numbers))
            self._add_number(_sum(numbers))
            for first in accumulate(numbers[:_FIRST]):  # "the top 3 make 70%"
                self._add_number(first)

    def _add_table(self, table: TableRef) -> None:
        self._add_number(table.rows)
        self._add_number(len(table.columns))
        if table.rows > _ROWS or table.rows * len(table.columns) > _CELLS:
            return
        for cells in _columns(table):
            self._add_number(len(set(cells)))
            numbers = _floats(x for x in cells if isinstance(x, int | float | Decimal))
            if table.rows > _FEW_ROWS:
                self._cells.update(abs(x) for x in numbers)
                self._add_range(numbers)
            else:
                self._numbers.update(abs(x) for x in numbers)
            for cell in set(cells):
                if not isinstance(cell, int | float | Decimal):
                    self._add(cell)
            self._add_aggregates(numbers)

    def _add_range(self, numbers: Sequence[float]) -> None:
        if numbers:
            self._add_number(min(numbers))
            self._add_number(max(numbers))

    def _has_date(self, dates: tuple[PartialDate, ...]) -> bool:
        return any(date.is_part_of(other) for date in dates for other in self._dates)


_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_ROWS_OR_CODE = re.compile(r"""[{\["\t;|=]|[^\s\d],\d|\d,[^\s\d]""")


_CELL_END = re.compile(r"\s*[,;|\t]\s*")
_NUMBER_CELL = re.compile(r"-?\d+(?:\.\d+)?")


def _floats(values: Iterable[float | Decimal | str]) -> list[float]:
    """Return the values that are numbers of ordinary size; no NaN, which has no order."""
    found: list[float] = []
    for value in values:
        try:
            number = float(value)
        except (OverflowError, ValueError):  # beyond floats, or a signalling NaN
            continue
        if math.isfinite(number):
            found.append(number)
    return found


def _sum(numbers: Sequence[float]) -> float:
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf


def _needs_none(numeral: Numeral) -> bool:
    """Say whether a numeral may stand in an answer without a source."""
    if numeral.kind in {"name", "vague", "fraction", "growth"} or numeral.is_bare_year:
        return True
    if numeral.kind == "date":
        # "in March" and "Q1" speak of a calendar; a day is a statement of its own.
        return all(date.day is None for date in numeral.dates)
    value = abs(numeral.value or 0)
    is_written_out = not any(character.isdigit() for character in numeral.text)
    is_count = numeral.kind in {"number", "ordinal"} or (
        numeral.kind == "multiple" and is_written_out
    )
    is_round = numeral.kind in {"percent", "points"} and value in {0, 100}
    return is_round or (is_count and value <= _SMALL and value % 1 == 0)


def _read_json(text: str) -> object:
    """Return the list or object that a text is; None where it is none."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return None


def _between(numbers: Sequence[float], low: float, high: float) -> bool:
    noise = 1e-9 * max(abs(low), abs(high), 1e-300)
    index = bisect.bisect_left(numbers, low - noise)
    return index < len(numbers) and numbers[index] <= high + noise


def _computed(
    numbers: Sequence[float], low: float, high: float, *, is_share: bool, chance: float
) -> bool:
    """Say whether two or three numbers give one in the range, and hardly by accident."""
    if len(numbers) > _PAIRS_OF:
        return False
    made = list(_shares(numbers) if is_share else _made_of(numbers))
    noise = 1e-9 * high
    if not any(low - noise <= one <= high + noise for one in made):
        return False
    # As many as lie around, spread evenly, would fall into the range.
    middle = (low + high) / 2
    around = sum(middle / 2 <= one <= middle * 2 for one in made)
    return (around - 1) * (high - low) / (1.5 * middle) <= chance


def _made_of(numbers: Sequence[float]) -> Iterator[float]:
    """Yield sums, differences, means, ratios and products."""
    for one, other in combinations(numbers, 2):
        yield one + other
        yield abs(other - one)
        yield (one + other) / 2
        if one and other:
            yield other / one
            yield one / other
            yield one * other
    if len(numbers) <= _TRIPLES_OF:
        yield from map(math.fsum, combinations(numbers, 3))


def _shares(numbers: Sequence[float]) -> Iterator[float]:
    """Yield per cents: of one in the other, changes, differences and complements."""
    for number in numbers:
        if number <= 100:
            yield 100 - number
        if number <= 1:
            yield 100 - 100 * number
    for one, other in combinations(numbers, 2):
        yield abs(other - one)
        if one + other <= 100:
            yield one + other
        if one and other:
            yield from (100 * one / other, 100 * other / one)
            yield from (100 * abs(other - one) / one, 100 * abs(other - one) / other)
            yield 100 * one / (one + other)
            yield 100 * other / (one + other)


def _is_file(value: object) -> bool:
    return isinstance(value, FileRef | TableRef)


def _columns(table: TableRef) -> list[list[object]]:
    """Return the cells of a small table, column by column; none where it cannot be read."""
    # Loads DuckDB, which answers without tables need not pay for.
    from planloom.analysis.database import connect, identifier

    try:
        with connect(table) as connection:
            rows = connection.execute(f"SELECT * FROM {identifier(table.name)}").fetchall()
    except (InputError, ToolError):
        return []
    return [list(cells) for cells in zip(*rows, strict=True)]
