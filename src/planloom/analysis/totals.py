"""Finds total and subtotal rows that stand among the detail rows, and checks that they add up."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import duckdb

from planloom.analysis.database import connect, identifier, literal, plain, scan
from planloom.analysis.meanings import is_additive
from planloom.analysis.profile import EXACT_ROWS, ColumnProfile, TableProfile
from planloom.analysis.text_values import MAX_COLUMNS, TextValues
from planloom.notes import Scalar
from planloom.values import TableRef

MAX_CANDIDATES = 5_000
_NEAR = 0.05
_LEAST_NEAR_ROWS = 5  # of very few rows, one may well be as large as the others together
_LEAST_WHOLE_ROWS = 5  # likewise, if nothing but one sum says that a row is a total
_MEASURES = 12  # enough to tell; more would only cost time
_PLAINEST = ("Total", "TOTAL", "total", "Grand Total", "Subtotal", "合计", "总计", "小计")

_EDGE = r"[\s*=\-–—_:：.。()（）\[\]【】]*"
_WORDS = (
    r"(?:(?:grand|overall|sub|sum|net|page|running)[\s_-]*)?totals?|sub-?sums?|sums?|"
    r"(?:本页|本月|本日|本年|本期|本季|全年|全部|年度|月度)?(?:合\s*计|总\s*计|小\s*计|总\s*和|汇\s*总|共\s*计|累\s*计)"
)
_LABEL = re.compile(rf"{_EDGE}(?:{_WORDS}){_EDGE}", re.IGNORECASE)
# "All" is what pandas calls its margins, yet often is a value of its own.
_VAGUE = re.compile(rf"{_EDGE}(?:all|overall|总体|全部|整体|全国){_EDGE}", re.IGNORECASE)
_AFFIXED = re.compile(
    rf"(?P<before>.+?)(?:{_EDGE}(?<![a-z])(?:{_WORDS}){_EDGE})|"
    rf"{_EDGE}(?:{_WORDS})(?![a-z]){_EDGE}(?:for\s+|of\s+)?(?P<after>.+?)",
    re.IGNORECASE,
)
_HINT = "(?i)total|sum|all|总|計|计|和|汇|整体|全部|全国"


@dataclass(frozen=True, slots=True)
class TotalRow:
    """A row that is labelled as a total."""

    row: int
    """From 1."""
    column: str
    """The column of the label; for a row without one, the first column that could hold it."""
    label: str
    """As it stands in the cell; "" for a total row without a label."""
    adds_up: bool
    """Its measures equal the sums of the rows it stands for, or nearly do (`is_near`)."""
    is_near: bool = False
    """It stands at the edge of the table, says nothing but total, and comes close to the sum of
    all other rows: what it lacks are rows that were lost or copied on the way."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    rn: int
    column: str
    label: str
    group: str | None
    """"East" of "East total"."""
    measures: tuple[float | None, ...]
    dimensions: tuple[tuple[str, Scalar], ...]
    """The row's other columns that name a group and hold a value."""

    @property
    def is_plain(self) -> bool:
        """The label says total and nothing else: the row is worth a remark in any case."""
        return self.group is not None or bool(_LABEL.fullmatch(self.label.strip()))

    @property
    def is_doubtful(self) -> bool:
        """The row has no label, or one that may be a name: only its numbers can tell."""
        return not self.is_plain and _VAGUE.fullmatch(self.label.strip()) is None


@dataclass(frozen=True, slots=True)
class _Details:
    """Where sums are taken from."""

    connection: duckdb.DuckDBPyConnection
    source: str
    """SQL of the rows, with `file_row_number`."""
    measures: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums of some detail rows."""

    rows: int
    values: tuple[float, ...]


def find_total_rows(
    table: TableRef, profile: TableProfile, values: TextValues
) -> tuple[TotalRow, ...]:
    """Return the rows that are labelled as totals, in order, and whether they add up.

    A label is a cell of a text column that says total and nothing else, or with the name of a
    group of this table ("East total"). A row adds up when at least half of its additive measures
    (and one at least) equal the sum of the detail rows of its group, of the block next to it, or
    of the whole table, with or without rows that repeat others. Names such as "Total Energies"
    are no labels: their rows are taken only when two measures at least are the sums of several
    rows, or all measures those of the whole table (of five rows or more); likewise rows without
    any label, as a sale may well be as large as two others.
    Where most rows of a label do not add up, the others do by chance.
    One row more is taken: the first or last one, if it says nothing but total and lies within 5 %
    of the sum of all others. Exports count lines that a reader has to reject.
    """
    measures = _measures(profile)
    with connect(table) as connection:
        candidates = _candidates(connection, table, profile, values, measures)
        if not candidates or len(candidates) > min(MAX_CANDIDATES, table.rows / 2):
            return ()
        confirmed = _confirmed(connection, table, profile, candidates, measures)
        near = set[int]()
        if not confirmed:
            near = _near_total(connection, table, candidates, measures)
    return tuple(
        TotalRow(each.rn + 1, each.column, each.label, each.rn in confirmed | near, each.rn in near)
        for each in candidates
        if each.is_plain or each.rn in confirmed
    )


def _near_total(
    connection: duckdb.DuckDBPyConnection,
    table: TableRef,
    candidates: Sequence[_Candidate],
    measures: Sequence[str],
) -> set[int]:
    """Return the row number of a total at the edge of the table that nearly adds up."""
    alone = [
        each
        for each in candidates
        if _LABEL.fullmatch(each.label.strip())
        and each.group is None
        and not each.dimensions
        and each.rn in (0, table.rows - 1)
    ]
    if len(alone) != 1 or not measures or table.rows < _LEAST_NEAR_ROWS:
        return set()
    details = _Details(connection, scan(table, numbered=True), measures)
    sums = list(accumulate(_block_sums(details, alone), _plus))[-1]
    compared = [
        abs(stated - value) <= _NEAR * abs(value)
        for stated, value in zip(alone[0].measures, sums.values, strict=True)
        if stated is not None and value
    ]
    return {alone[0].rn} if compared and all(compared) else set()


def _label_columns(profile: TableProfile) -> list[ColumnProfile]:
    odd = {"email", "url", "phone", "empty"}
    return [each for each in profile.columns if each.type == "text" and each.meaning not in odd][
        :MAX_COLUMNS
    ]


def _measures(profile: TableProfile) -> list[str]:
    numeric = [
        each
        for each in profile.columns
        if each.type in {"integer", "number"} and each.meaning in {"measure", "money", "percent"}
    ]
    additive = [each for each in numeric if is_additive(each.name, each.meaning)]
    return [each.name for each in additive or numeric][:_MEASURES]


def _dimensions(profile: TableProfile) -> list[str]:
    kinds = {"category", "place", "flag", "name", "date", "time", "year", "text"}
    return [each.name for each in profile.columns if each.meaning in kinds and not each.is_unique][
        :20
    ]


def _candidates(
    connection: duckdb.DuckDBPyConnection,
    table: TableRef,
    profile: TableProfile,
    values: TextValues,
    measures: Sequence[str],
) -> list[_Candidate]:
    labels = _label_columns(profile)
    blank, describing = _blank_test(profile, measures)
    tests = [test for each in labels if (test := _label_test(each, values, profile.rows))]
    tests += [blank] if blank else []
    if not tests:
        return []
    dimensions = _dimensions(profile)
    names = [*(each.name for each in labels), *measures, *dimensions]
    rows = connection.execute(
        f"SELECT {', '.join(['file_row_number', *map(identifier, names)])} "
        f"FROM {scan(table, numbered=True)} "
        f"WHERE {' OR '.join(f'({test})' for test in tests)} ORDER BY file_row_number "
        f"LIMIT {MAX_CANDIDATES + 1}"
    ).fetchall()
    groups = {
        text.strip().casefold(): text for each in labels for text in values.get(each.name, ())
    }
    a, b = len(labels), len(labels) + len(measures)
    found: list[_Candidate] = []
    for rn, *cells in rows:
        texts = {each.name: cell for each, cell in zip(labels, cells[:a], strict=True) if cell}
        sums = tuple(None if cell is None else float(cell) for cell in cells[a:b])
        sides = tuple(zip(dimensions, map(plain, cells[b:]), strict=True))
        candidate = _candidate(rn, texts, groups, sums, sides)
        if candidate is None and not any(text.strip() for text in texts.values()):
            candidate = _Candidate(rn, describing[0], "", None, sums, ())
        if candidate:
            found.append(candidate)
    return found


def _blank_test(profile: TableProfile, measures: Sequence[str]) -> tuple[str, list[str]]:
    """Return the SQL that is true of rows with measures and nothing that describes them.

    Also the columns that could describe. The SQL is "" where such rows would be too common to
    mean anything.
    """
    describing = [
        each
        for each in profile.columns
        if each.type not in {"integer", "number", "boolean"} and each.meaning != "empty"
    ]
    names = [each.name for each in describing]
    least = min((each.missing for each in describing), default=0)
    if not measures or not 0 < least <= max(3, 0.05 * profile.rows):
        return "", names
    blank = " AND ".join(
        f"nullif(trim(CAST({identifier(name)} AS VARCHAR)), '') IS NULL" for name in names
    )
    filled = " OR ".join(f"{identifier(name)} IS NOT NULL" for name in measures)
    return f"{blank} AND ({filled})", names


def _label_test(column: ColumnProfile, values: TextValues, rows: int) -> str:
    """Return the SQL that is true of a column's possible labels; "" when it holds none.

    Of columns with very many values in very many rows only the plainest labels are looked for: a
    search in each text would take longer than all else.
    """
    name = identifier(column.name)
    if column.name in values:
        labels = [text for text in values[column.name] if _reading(text)]
        return f"{name} IN ({', '.join(map(literal, labels))})" if labels else ""
    if rows <= EXACT_ROWS:
        return f"regexp_matches({name}, {literal(_HINT)})"
    return f"{name} IN ({', '.join(map(literal, _PLAINEST))})"


def _reading(text: str) -> re.Match[str] | None:
    text = text.strip()
    if len(text) > 80:
        return None
    return _LABEL.fullmatch(text) or _VAGUE.fullmatch(text) or _AFFIXED.fullmatch(text)


def _candidate(
    rn: int,
    texts: dict[str, str],
    groups: dict[str, str],
    measures: tuple[float | None, ...],
    dimensions: tuple[tuple[str, Scalar], ...],
) -> _Candidate | None:
    for column, text in texts.items():
        match = _reading(text)
        if match is None:
            continue
        parts = match.groupdict()
        rest = (parts.get("before") or parts.get("after") or "").strip()
        group = groups.get(rest.casefold()) if rest else None
        others = tuple(
            (name, value)
            for name, value in dimensions
            if name != column and value not in (None, "") and not _is_label(value)
        )
        return _Candidate(rn, column, text, group, measures, others)
    return None


def _is_label(value: Scalar) -> bool:
    text = str(value).strip()
    return bool(_LABEL.fullmatch(text) or _VAGUE.fullmatch(text))


def _confirmed(
    connection: duckdb.DuckDBPyConnection,
    table: TableRef,
    profile: TableProfile,
    candidates: Sequence[_Candidate],
    measures: Sequence[str],
) -> set[int]:
    """Return the row numbers (from 0) of the candidates that add up."""
    if not measures:
        return set()
    scanned = scan(table, numbered=True)
    details = [_Details(connection, scanned, measures)]
    if profile.duplicate_rows:
        # Totals may be older than the copies of some rows.
        names = ", ".join(map(identifier, table.column_names))
        place = f"row_number() OVER (PARTITION BY {names} ORDER BY file_row_number)"
        once = f"(SELECT * FROM {scanned} QUALIFY {place} = 1)"
        details.append(_Details(connection, once, measures))
    return max((_best(each, candidates) for each in details), key=len)


def _best(details: _Details, candidates: Sequence[_Candidate]) -> set[int]:
    confirmed = _adding_up(details, candidates)
    if len(confirmed) == len(candidates):
        return confirmed
    # What is no total after all, such as the sales of a firm called Total, is a detail that the
    # true totals count.
    times = Counter((each.column, each.label) for each in candidates)
    likely = [
        each
        for each in candidates
        if each.rn in confirmed or (each.is_plain and times[each.column, each.label] == 1)
    ]
    for totals in (likely, likely[-1:]):
        if 0 < len(totals) < len(candidates):
            confirmed = max(confirmed, _adding_up(details, totals), key=len)
    return confirmed


def _adding_up(details: _Details, totals: Sequence[_Candidate]) -> set[int]:
    whole = list(accumulate(_block_sums(details, totals), _plus))
    groups = _group_sums(details, totals)
    strong: set[int] = set()
    weak: set[int] = set()
    for i, each in enumerate(totals):
        for sums in (*groups.get(each.rn, ()), *_ranges(totals, whole, i)):
            if sums.rows and _is_sum(each, sums, is_whole=sums is whole[-1]):
                (strong if sums.rows > 1 else weak).add(each.rn)
    # The total of a group of one row proves nothing by itself.
    confirmed = strong | weak if strong else set[int]()
    return confirmed - _by_chance(totals, confirmed)


def _by_chance(totals: Sequence[_Candidate], confirmed: set[int]) -> set[int]:
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    for each in totals:
        rows[each.column, each.label].append(each.rn)
    return {
        rn for same in rows.values() for rn in same if 2 * len(confirmed & set(same)) < len(same)
    }


def _ranges(totals: Sequence[_Candidate], whole: Sequence[_Sums], i: int) -> Iterator[_Sums]:
    """Yield the sums of the runs of detail rows that the total at place `i` may stand for.

    `whole[i]` sums all detail rows above that total; the last one sums all there are.
    """
    nothing = _Sums(0, tuple(0.0 for _ in whole[0].values))
    same = [k for k, each in enumerate(totals) if each.label == totals[i].label]
    before = [k for k in same if k < i]
    after = [k for k in same if k > i]
    yield whole[-1]
    yield whole[i]
    yield _minus(whole[i], whole[i - 1] if i else nothing)
    yield _minus(whole[i], whole[before[-1]] if before else nothing)
    yield _minus(whole[i + 1], whole[i])
    yield _minus(whole[after[0]] if after else whole[-1], whole[i])


def _plus(a: _Sums, b: _Sums) -> _Sums:
    return _Sums(a.rows + b.rows, tuple(x + y for x, y in zip(a.values, b.values, strict=True)))


def _minus(a: _Sums, b: _Sums) -> _Sums:
    return _Sums(a.rows - b.rows, tuple(x - y for x, y in zip(a.values, b.values, strict=True)))


def _is_sum(total: _Candidate, sums: _Sums, *, is_whole: bool) -> bool:
    """Say whether the measures of a row equal sums, and by more than chance if it is doubtful."""
    compared, equal = _agreement(total.measures, sums)
    if not total.is_doubtful:
        return 0 < compared <= 2 * equal
    if is_whole and sums.rows >= _LEAST_WHOLE_ROWS:
        return 0 < compared == equal or (equal >= 2 and compared <= 2 * equal)
    return sums.rows > 1 and equal >= 2 and compared <= 2 * equal


def _agreement(measures: Sequence[float | None], sums: _Sums) -> tuple[int, int]:
    """Return how many measures can be compared with their sums, and how many equal them."""
    compared = [
        (stated, value)
        for stated, value in zip(measures, sums.values, strict=True)
        if stated is not None and math.isfinite(stated) and (stated or value)
    ]
    equal = sum(abs(stated - value) <= _tolerance(stated, sums.rows) for stated, value in compared)
    return len(compared), equal


def _tolerance(stated: float, rows: int) -> float:
    """Return how far the sum of `rows` rounded values may lie from the total `stated`.

    Rounding errors of half the last place add up like a random walk.
    """
    digits = len(repr(stated).partition(".")[2]) if not stated.is_integer() else 0
    rounding = 0.5 * 10.0**-digits * (1 + math.sqrt(rows)) if digits <= 6 else 0.0
    return min(rounding, 0.005 * abs(stated)) + 1e-9 * abs(stated)


def _sum_columns(measures: Sequence[str]) -> str:
    return ", ".join(f"coalesce(fsum({x}), 0)" for x in map(_number, measures))


def _number(name: str) -> str:
    quoted = f"CAST({identifier(name)} AS DOUBLE)"
    return f"(CASE WHEN isfinite({quoted}) THEN {quoted} END)"


def _block_sums(details: _Details, totals: Sequence[_Candidate]) -> list[_Sums]:
    """Return the sums of the detail rows above each total (below the one before), then the rest."""
    marks = ", ".join(str(each.rn) for each in totals)
    rows = details.connection.execute(
        f"WITH marks AS (SELECT unnest([{marks}]::BIGINT[]) AS mark), "
        "placed AS (SELECT mark, row_number() OVER (ORDER BY mark) - 1 AS block FROM marks) "
        f"SELECT coalesce(block, {len(totals)}), count(*), {_sum_columns(details.measures)} "
        f"FROM {details.source} ASOF LEFT JOIN placed ON file_row_number <= mark "
        "WHERE file_row_number IS DISTINCT FROM mark GROUP BY 1"
    ).fetchall()
    found = {block: _Sums(count, tuple(values)) for block, count, *values in rows}
    nothing = _Sums(0, tuple(0.0 for _ in details.measures))
    return [found.get(i, nothing) for i in range(len(totals) + 1)]


def _group_sums(details: _Details, totals: Sequence[_Candidate]) -> dict[int, list[_Sums]]:
    """Return, by row number, the sums of the detail rows that share a total's group."""
    wanted: dict[tuple[str, ...], list[tuple[int, tuple[Scalar, ...]]]] = defaultdict(list)
    for each in totals:
        named = ((each.column, each.group),) if each.group else ()
        for key in {(*named, *each.dimensions), named}:
            if key:
                columns, values = zip(*key, strict=True)
                wanted[columns].append((each.rn, values))
    marks = ", ".join(str(each.rn) for each in totals)
    sums: dict[int, list[_Sums]] = defaultdict(list)
    for columns, rows in wanted.items():
        names = ", ".join(map(identifier, columns))
        found = details.connection.execute(
            f"SELECT count(*), {_sum_columns(details.measures)}, {names} "
            f"FROM {details.source} WHERE file_row_number NOT IN ({marks}) "
            f"GROUP BY {names}"
        ).fetchall()
        width = len(details.measures) + 1
        by_key = {tuple(map(plain, row[width:])): _Sums(row[0], row[1:width]) for row in found}
        for rn, values in rows:
            if values in by_key:
                sums[rn].append(by_key[values])
    return sums
