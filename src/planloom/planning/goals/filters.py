"""Which rows and columns a goal keeps or leaves out: values, spans of time, negation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from planloom.notes import Scalar
from planloom.planning.goals.columns import ColumnIndex
from planloom.planning.goals.concepts import concepts_by_words
from planloom.planning.goals.dates import DateRange, months
from planloom.planning.goals.intent import ColumnShape, Comparison, Filter
from planloom.planning.goals.negation import read_negations
from planloom.planning.goals.scanning import Term

_COPULAS = ("为", "是", "=", "：", ":", "等于", "属于", "处于", "is", "are", "was", "were", "be",
            "in", "equal", "equal to")  # fmt: skip


@dataclass(slots=True)
class Scope:
    """What is left of a goal's terms once restrictions are taken out, and the restrictions."""

    terms: list[Term] = field(default_factory=list[Term])
    kept: dict[str, list[Scalar]] = field(default_factory=dict[str, list[Scalar]])
    """Values of each column to keep."""
    dropped: dict[str, list[Scalar]] = field(default_factory=dict[str, list[Scalar]])
    """Values of each column to leave out."""
    ranges: list[DateRange] = field(default_factory=list[DateRange])
    limits: list[Filter] = field(default_factory=list[Filter])
    """Bounds on numbers."""
    loose_limits: list[str] = field(default_factory=list[str])
    """Bounds that name no column."""
    unread_limits: list[str] = field(default_factory=list[str])
    """Bounds that are no number."""
    pass_marks: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Words such as 不及格, and the column of scores they bound."""
    unwanted_kinds: set[str] = field(default_factory=set[str])
    unwanted_columns: set[str] = field(default_factory=set[str])
    missing_values: list[str] = field(default_factory=list[str])
    """Words after "only" or "except" that are no value of the table."""
    unclear: list[str] = field(default_factory=list[str])
    """Words with a negation that may mean to keep rows or to leave them out."""


def take_scope(terms: Sequence[Term], index: ColumnIndex) -> Scope:
    """Separate what restricts the rows from what is asked of them."""
    scope = Scope()
    terms = _take_limits(terms, scope, index)
    negations = read_negations(terms, index)
    scope.unclear += negations.unclear
    negated = negations.negated
    for i, term in enumerate(terms):
        if term.tag == "not" or i in negations.consumed or i in negations.unsure:
            continue
        if term.tag == "range":
            scope.ranges += [term.range] if term.range else []
        elif i in negated:
            _leave_out(term, scope, index)
        elif term.tag == "value" and term.column is not None:
            _keep(term, scope)
        elif not _repeats_filtered_column(terms, i, index):
            scope.terms.append(term)
    _note_missing_values(terms, negated, scope)
    return scope


def _take_limits(terms: Sequence[Term], scope: Scope, index: ColumnIndex) -> list[Term]:
    """Take out bounds such as "age over 60" or 金额100以上, with the column they bound."""
    gone: set[int] = set()
    for i, term in enumerate(terms):
        if term.tag == "bound" and term.data in ("pass", "fail"):
            gone |= _take_pass_mark(terms, i, scope, index)
        if term.tag != "digits":
            continue
        number, unit = _amount(terms, i)
        unit |= _unit_words(terms, i + len(unit))
        before = _near(terms, i, -1)
        after = _near(terms, max({i, *unit}), 1)
        if after is not None and terms[after].tag == "bound":
            comparison, words = terms[after].data, {i, after}
        elif before is not None and terms[before].tag in ("limit", "over"):
            comparison, words = terms[before].data or ">", {i, before}
        else:
            continue
        at = _measure_before(terms, min(words), index)
        gone |= words | unit
        column = column_of(terms[at], index) if at is not None else _of_unit(terms, i, index)
        if column is None:
            scope.loose_limits.append(" ".join(terms[j].text for j in sorted(words)))
            continue
        gone |= set(range(at, min(words))) if at is not None else set()
        scope.limits.append(
            Filter(column=column, comparison=_COMPARISONS[comparison], value=number)
        )
    scope.unread_limits += _unread_limits(terms, gone, index)
    return [term for i, term in enumerate(terms) if i not in gone]


def _unread_limits(terms: Sequence[Term], gone: set[int], index: ColumnIndex) -> list[str]:
    """Return the bounds that are no number: 超过平均值, "below target", 本科以上."""
    found: list[str] = []
    for i, term in enumerate(terms):
        before, after = terms[i - 1] if i else None, terms[i + 1] if i + 1 < len(terms) else None
        if i in gone or term.data not in _COMPARISONS:
            continue
        if term.tag == "limit" and after and (
            after.tag == "how" or after.text.lower() in _YARDSTICKS
            or _names_measure(terms, i + 1, index)
        ):  # fmt: skip
            found.append(_joined(term, after))
        elif term.tag == "bound" and before and before.stop == term.start:
            found.append(_joined(before, term))
    return found


def _joined(left: Term, right: Term) -> str:
    return left.text + (" " if right.start > left.stop else "") + right.text


def _measure_before(terms: Sequence[Term], i: int, index: ColumnIndex) -> int | None:
    """Return the position of the measure that a bound at `i` is about: 数学 of "数学成绩90以上"."""
    for j in range(i - 1, max(i - 5, -1), -1):
        if not _names_measure(terms, j, index):
            continue
        leans = j > 0 and terms[j - 1].stop == terms[j].start and terms[j].tag == "concept"
        return j - 1 if leans and _names_measure(terms, j - 1, index) else j
    return None


def _names_measure(terms: Sequence[Term], j: int, index: ColumnIndex) -> bool:
    name = column_of(terms[j], index)
    return name is not None and index.roles[name] == "measure"


def _take_pass_mark(terms: Sequence[Term], i: int, scope: Scope, index: ColumnIndex) -> set[int]:
    """Take out 数学不及格: a score under the pass mark."""
    at = _measure_before(terms, i, index)
    scores = [n for n in index.columns
              if index.roles[n] == "measure" and "score" in index.families(n)]  # fmt: skip
    named = column_of(terms[at], index) if at is not None else None
    column = named if named in scores else scores[0] if not named and len(scores) == 1 else None
    if column is None:
        scope.loose_limits.append(terms[i].text)
        return {i}
    comparison: Comparison = "<" if terms[i].data == "fail" else ">="
    scope.limits.append(Filter(column=column, comparison=comparison, value=PASS_MARK))
    scope.pass_marks.append((terms[i].text, column))
    return {i} if at is None else set(range(at, i + 1))


def _unit_words(terms: Sequence[Term], i: int) -> set[int]:
    """Return the position of a unit after the number that ends at `i`: 90分以上, "60 years old"."""
    found: set[int] = set()
    for j in range(i + 1, min(i + 4, len(terms))):
        if terms[j].text.lower() not in _UNIT_WORDS:
            break
        found.add(j)
    return found


def _of_unit(terms: Sequence[Term], i: int, index: ColumnIndex) -> str | None:
    """Return the only measure whose unit stands after a number: 60岁以上."""
    unit = terms[i + 1].text.lower() if i + 1 < len(terms) else ""
    around = " ".join(term.text.lower() for term in terms[max(i - 3, 0) : i + 4])
    if any(word in around for word in _AGE_WORDS):
        match = index.resolve(concepts_by_words()["age",])
        return match.column if match and index.roles[match.column] == "measure" else None
    owners = [name for name, column in index.columns.items()
              if column.unit and unit.startswith(column.unit.lower())
              and index.roles[name] == "measure"]  # fmt: skip
    return owners[0] if len(owners) == 1 else None


PASS_MARK = 60
_UNIT_WORDS = ("分", "岁", "周岁", "元", "块", "天", "次", "件", "人", "%", "year", "years", "old",
               "of", "age", "year old", "points", "days")  # fmt: skip
_YARDSTICKS = ("目标", "预期", "标准", "计划", "target", "plan", "expectation", "average", "mean",
               "median", "the")  # fmt: skip
_AGE_WORDS = (
    "岁",
    "year old",
    "years old",
    "years of age",
    "older",
    "younger",
    "aged",
    "over the age",
)
_COMPARISONS: dict[str, Comparison] = {">": ">", "<": "<", ">=": ">=", "<=": "<="}
_LARGE = {"万": 10_000, "亿": 100_000_000, "k": 1_000, "m": 1_000_000, "million": 1_000_000}


def _near(terms: Sequence[Term], i: int, step: int) -> int | None:
    """Return the position of the next telling term, past fillers, signs and units."""
    for j in range(i + step, i + 4 * step, step):
        if not 0 <= j < len(terms):
            return None
        if terms[j].tag not in ("filler", "mark", "counter") and terms[j].tag != "word":
            return j
    return None


def _amount(terms: Sequence[Term], i: int) -> tuple[float, set[int]]:
    """Return a number with its 万 or "k", and the positions of such words."""
    number = float(terms[i].data)
    after = terms[i + 1] if i + 1 < len(terms) else None
    scale = _LARGE.get(after.text.lower(), 0) if after else 0
    number *= scale or 1
    return (int(number) if number.is_integer() else number), ({i + 1} if scale else set())


def _leave_out(term: Term, scope: Scope, index: ColumnIndex) -> None:
    if term.tag == "value" and term.column:
        scope.dropped.setdefault(term.column, []).append(term.value)
    elif term.tag in ("kind", "unsupported"):
        scope.unwanted_kinds.add(term.data)
    elif term.column:
        scope.unwanted_columns.add(term.column)
    elif term.concept and (match := index.resolve(term.concept)):
        scope.unwanted_columns.add(match.column)


def _keep(term: Term, scope: Scope) -> None:
    column = term.column or ""
    values = scope.kept.setdefault(column, [])
    if term.value not in values:
        values.append(term.value)
    if len(values) == 2:
        # Two values of one column are set side by side: the column is what is compared.
        _drop_joint(scope.terms)
        scope.terms.append(replace(term, tag="column", data="compared"))
    elif len(values) > 2:
        _drop_joint(scope.terms)


def _drop_joint(terms: list[Term]) -> None:
    while terms and terms[-1].tag in ("and", "versus", "filler", "mark"):
        terms.pop()


def _repeats_filtered_column(terms: Sequence[Term], i: int, index: ColumnIndex) -> bool:
    """Whether a column word only says what the value beside it is: 华东地区, "category Toys"."""
    column = column_of(terms[i], index)
    if column is None:
        return False
    before = terms[i - 1] if i else None
    follows = bool(before and before.tag == "value" and before.column == column)
    precedes = _is_said_to_be(terms, i, column)
    return follows or (precedes and not (before and before.is_slot))


def _is_said_to_be(terms: Sequence[Term], i: int, column: str) -> bool:
    """Whether a value of the column comes next, at most after "is" or "is not"."""
    for term in terms[i + 1 :]:
        if term.tag == "value":
            return term.column == column
        if term.tag != "not" and term.text.lower() not in _COPULAS:
            return False
    return False


def column_of(term: Term, index: ColumnIndex) -> str | None:
    """Return the column that a term speaks of, if the table has it."""
    if term.tag == "column":
        return term.column
    match = index.resolve(term.concept) if term.tag == "concept" and term.concept else None
    return match.column if match else None


def _note_missing_values(terms: Sequence[Term], negated: set[int], scope: Scope) -> None:
    for i, term in enumerate(terms):
        if _names_stranger(terms, i):
            scope.missing_values.append(term.text)
        if term.tag not in ("only", "not"):
            continue
        after = next((j for j in range(i + 1, len(terms)) if terms[j].tag != "filler"), None)
        if after is None or terms[after].tag not in ("word", "quoted"):
            continue
        # In English a name of something has a capital: "except Boston", but "except weekends".
        is_name = terms[after].tag == "quoted" or not terms[after].text.islower()
        if is_name and (term.tag == "only" or after in negated):
            scope.missing_values.append(terms[after].text)


def _names_stranger(terms: Sequence[Term], i: int) -> bool:
    """Whether an unread word seems to restrict the rows: "in Boston", 深圳的销售额."""
    term, before = terms[i], terms[i - 1] if i else None
    after = terms[i + 1] if i + 1 < len(terms) else None
    if term.tag != "word" or before is None:
        starts = term.tag == "word"
        return starts and not term.text.isascii() and _qualifies(term, after)
    if term.text.isascii():
        return term.text[0].isupper() and before.text.lower() in ("in", "for", "from", "at", "of")
    return before.tag not in ("by", "which") and _qualifies(term, after)


def _qualifies(term: Term, after: Term | None) -> bool:
    is_count = term.text[0] in "一二三四五六七八九十两几"
    return not is_count and 2 <= len(term.text) <= 6 and after is not None and after.text == "的"


def value_filters(scope: Scope) -> tuple[Filter, ...]:
    """Return the filters on values that the scope asks for."""
    filters = list(scope.limits)
    for column, values in scope.kept.items():
        one = len(values) == 1
        filters.append(
            Filter(column=column, comparison="=" if one else "in",
                   value=values[0] if one else tuple(values))
        )  # fmt: skip
    for column, values in scope.dropped.items():
        one = len(values) == 1
        filters.append(
            Filter(column=column, comparison="!=" if one else "not in",
                   value=values[0] if one else tuple(values))
        )  # fmt: skip
    return tuple(filters)


def range_filters(r: DateRange, column: ColumnShape) -> tuple[Filter, ...] | None:
    """Return the filters that keep a span of time, or None when the data has nothing in it."""
    first, end = r.first, r.end
    low, high = _as_date(column.min), _as_date(column.max)
    if r.month and high:
        first, end = _latest_months(r.month, r.length, low, high)
    if first is None and end is None:
        return None
    if (high and first and first > high) or (low and end and end <= low):
        return None
    if column.meaning == "year" and column.type in ("integer", "number"):
        return _year_filters(column.name, first, end)
    bounds: tuple[tuple[Comparison, date | None], ...] = ((">=", first), ("<", end))
    filters = [
        Filter(column=column.name, comparison=comparison, value=day.isoformat())
        for comparison, day in bounds
        if day
    ]
    return tuple(filters)


def _latest_months(
    month: int, length: int, low: date | None, high: date
) -> tuple[date | None, date | None]:
    year = high.year if high.month >= month else high.year - 1
    first, end = months(year, month, length)
    return (None, None) if low and end <= low else (first, end)


def _year_filters(name: str, first: date | None, end: date | None) -> tuple[Filter, ...]:
    last = (end - timedelta(days=1)).year if end else None
    if first and first.year == last:
        return (Filter(column=name, comparison="=", value=last),)
    bounds: tuple[tuple[Comparison, int | None], ...]
    bounds = ((">=", first.year if first else None), ("<=", last))
    return tuple(
        Filter(column=name, comparison=comparison, value=year)
        for comparison, year in bounds
        if year is not None
    )


def _as_date(value: Scalar) -> date | None:
    if isinstance(value, int | float) and 1 <= value <= 9999:
        return date(int(value), 12, 31) if value else None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
