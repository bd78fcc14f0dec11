"""What a model may choose from: a table's columns by what they can serve as, and rows to keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date

from planloom.analysis.numbers.numerals import read_numerals
from planloom.notes import Scalar
from planloom.planning.constrained.row_choices import (
    RowChoice,
    lies_in,
    limit_choices,
    span_choices,
    value_choices,
)
from planloom.planning.goals.choices import main_categories, main_date, main_measure
from planloom.planning.goals.columns import MOST_CATEGORIES, ColumnIndex
from planloom.planning.goals.dates import DateRange, find_ranges
from planloom.planning.goals.filters import column_of
from planloom.planning.goals.intent import (
    How,
    Measure,
    TableShape,
)  # fmt: skip
from planloom.planning.goals.scanning import Scanner, Term
from planloom.planning.goals.wording import fold, norms

MOST_COLUMNS = 40
"""A wider table is offered by its most relevant columns only."""
_MOST_OF_A_ROLE = 16
"""Of a wide table; five ways to compute each number keep the list of measures near a hundred."""
_LONGEST_GOAL = 5000
_LARGEST_TOP = 200
_SUM = re.compile(r"\b(?:total|sum)|总[和计]|合计|求和|累计|总(?!体)", re.IGNORECASE)
# "The lowest fares" asks for an order, "the minimum fare" for a minimum; "highest temperature each
# month" has a period, within which one value has to be found.
_PERIOD = r"month|week|day|quarter|year|hour|月|周|日|天|季|年"
_RARE_HOWS: tuple[tuple[How, re.Pattern[str]], ...] = (
    ("median", re.compile(r"\bmedian|中位", re.IGNORECASE)),
    (
        "max",
        re.compile(
            rf"\b(?:max|maxim\w+|largest|biggest|peak)\b|最大|峰值|最高值|单笔|单次|"
            rf"(?:highest|最高)(?=.*(?:{_PERIOD}))|(?:{_PERIOD}).*最高",
            re.IGNORECASE,
        ),
    ),
    (
        "min",
        re.compile(
            rf"\b(?:min|minim\w+|smallest)\b|最小|最低值|"
            rf"(?:lowest|最低)(?=.*(?:{_PERIOD}))|(?:{_PERIOD}).*最低",
            re.IGNORECASE,
        ),
    ),
)
ROWS = "count(*)"


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Everything that a reply may name; columns in the order of the table."""

    dates: tuple[str, ...]
    numbers: tuple[str, ...]
    groups: tuple[str, ...]
    countable: tuple[str, ...]
    """Columns whose different values can be counted."""
    measures: Mapping[str, Measure]
    """By the way they are written: "sum(amount)", "count(*)", "count_distinct(customer)"."""
    tops: tuple[int, ...]
    """Whole numbers of the goal."""
    top: int | None = None
    """The one that plainly cuts a ranking: "top 5", 前三, "the 3 lowest"."""
    rows: tuple[RowChoice, ...] = ()
    splits: tuple[str, ...] = ()
    """Groups that the goal speaks of, so that a trend may have a line for each of their values."""
    one_by_one: tuple[str, ...] = ()
    """Those of them that it takes one by one ("by city", "each city"), not just speaks of."""
    may_ascend: bool = True
    """Whether the goal holds a word such as "lowest"."""
    named: tuple[str, ...] = ()
    """Numbers and groups that the goal speaks of by their own name."""
    left_out: int = 0
    """Columns of the table that are not offered."""
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    """Type of every column of the table, also of those not offered."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is offered."""
        return tuple(dict.fromkeys((*self.dates, *self.numbers, *self.groups, *self.countable)))

    @property
    def additive(self) -> tuple[str, ...]:
        """The measures that a total can be split by."""
        return tuple(k for k, m in self.measures.items() if m.how in ("sum", "count"))


_LOW = re.compile(
    r"\b(?:lowest|least|low|lower|worst|fewest|bottom|smallest|cheapest|shortest|slowest|weakest|"
    r"poorest|minimum|ascending|increasing|under-?perform\w*|lag\w*|last)\b|"
    r"最低|最少|最差|最小|最短|最慢|最弱|最便宜|倒数|垫底|末位|末尾|后[几一二三四五六七八九十\d]|升序|"
    r"从低到高|从小到大|从少到多|由低到高|由小到大|较低|较差|偏低|不足|落后",
    re.IGNORECASE,
)


def make_offer(
    goal: str,
    table: TableShape,
    *,
    today: date,
    values: Mapping[str, Sequence[Scalar]] | None = None,
    hidden: Set[str] = frozenset(),
) -> Offer:
    """Return what a model may choose from for `goal` over `table`.

    `values` gives all values of the columns with few; `today` anchors words such as "last month".
    Of the columns in `hidden` only values that the goal itself holds are offered.
    """
    text = goal[:_LONGEST_GOAL]
    index = ColumnIndex(table)
    ranges = find_ranges(fold(text), today)
    terms = Scanner(index, values or {}).scan(text, list(ranges))
    relevance = _relevance(text, index, terms)
    dates = _kept([n for n in index.columns if _is_date(index, n)], relevance)
    numbers = _kept([n for n in index.columns if _is_number(index, n)], relevance)
    groups = _kept([n for n in index.columns if _is_group(index, n, relevance)], relevance)
    countable = _kept([n for n in index.columns if _is_countable(index, n)], relevance)
    offered = {*dates, *numbers, *groups, *countable}
    return Offer(
        dates=dates,
        numbers=numbers,
        groups=groups,
        countable=countable,
        measures=_measures(text, index, numbers, countable),
        tops=_tops(text, ranges),
        top=_plain_top(text, ranges),
        rows=(
            *value_choices(text, index, values or {}, hidden=hidden),
            *span_choices(text, index, dates, ranges),
            *limit_choices(text, index, terms, numbers),
        ),
        splits=tuple(
            name
            for name in groups
            if relevance[name] >= _NAMED and index.columns[name].distinct <= MOST_CATEGORIES
        ),
        one_by_one=_one_by_one(text, terms, index, groups),
        may_ascend=_LOW.search(text) is not None,
        named=_named(terms, index, {*numbers, *groups}),
        left_out=len(index.columns) - len(offered) if len(index.columns) > MOST_COLUMNS else 0,
        types={name: column.type for name, column in index.columns.items()},
    )


# -- columns


def _is_date(index: ColumnIndex, name: str) -> bool:
    return index.roles[name] in ("date", "year")


def _is_number(index: ColumnIndex, name: str) -> bool:
    is_score = index.roles[name] == "category" and index.averages(name)
    return index.columns[name].type in ("integer", "number") and (
        index.roles[name] == "measure" or is_score
    )


def _is_group(index: ColumnIndex, name: str, relevance: Mapping[str, float]) -> bool:
    column, role = index.columns[name], index.roles[name]
    if role in ("category", "id", "text"):
        repeats = column.distinct < index.table.rows or index.table.rows <= MOST_CATEGORIES
        return column.meaning != "empty" and repeats
    # A rating from one to five is a number and may well name groups, when the goal says so.
    few = column.distinct <= MOST_CATEGORIES and column.type == "integer"
    return few and relevance.get(name, 0) >= _NAMED and role == "measure"


def _is_countable(index: ColumnIndex, name: str) -> bool:
    column = index.columns[name]
    return index.roles[name] in ("id", "category", "text") and column.meaning != "empty"


_NAMED = 3.0


def _relevance(goal: str, index: ColumnIndex, terms: Sequence[Term]) -> dict[str, float]:
    """Score the columns: those that the goal names first, then those a report is about."""
    scores: dict[str, float] = dict.fromkeys(index.columns, 0.0)
    for term in terms:
        named = column_of(term, index)
        if named:
            scores[named] += _NAMED
        elif term.tag == "value" and term.column:
            scores[term.column] += 1
    words = set(norms(goal))
    for name in scores:
        scores[name] += 0.5 * len(words.intersection(norms(name[:120])))
    best = (main_date(index), main_measure(index).column, *main_categories(index)[:6])
    for place, name in enumerate(best):
        if name:
            scores[name] += 1.0 - 0.1 * place
    return scores


def _named(terms: Sequence[Term], index: ColumnIndex, among: Set[str]) -> tuple[str, ...]:
    found = (_own_column(term, index) for term in terms)
    roles = ("measure", "category")
    return tuple(
        dict.fromkeys(n for n in found if n is not None and n in among and index.roles[n] in roles)
    )


# "by region", "each of the regions", 各地区, 按地区
_DISTRIBUTIVE = re.compile(
    r"(?:\b(?:by|per|each|every|across|between|among|all|both|split\w*|lines?|separate\w*|compare|"
    r"comparing)\W+(?:(?:the|each|every|different|of|our|its|their)\s+)*|"
    r"各个?|每个?|每[家位种类款项]|按照?|分|不同|逐)[\s\"“‘'「]*$"
)


def _one_by_one(
    goal: str, terms: Sequence[Term], index: ColumnIndex, groups: Sequence[str]
) -> tuple[str, ...]:
    """Return the groups before which a word such as "each" stands."""
    folded = fold(goal)
    found = {
        column_of(term, index)
        for term in terms
        if _DISTRIBUTIVE.search(folded[max(0, term.start - 30) : term.start])
    }
    return tuple(name for name in groups if name in found)


def _own_column(term: Term, index: ColumnIndex) -> str | None:
    if term.tag == "column" and term.is_exact:
        return term.column
    match = index.resolve(term.concept) if term.tag == "concept" and term.concept else None
    is_measure = match is not None and index.roles[match.column] == "measure"
    return match.column if match and match.is_same and is_measure else None


def _kept(names: Sequence[str], relevance: Mapping[str, float]) -> tuple[str, ...]:
    """Return all names of a usual table, the most relevant ones of a wide table."""
    if len(relevance) <= MOST_COLUMNS:
        return tuple(names)
    best = sorted(names, key=lambda name: -relevance[name])[:_MOST_OF_A_ROLE]
    return tuple(name for name in names if name in best)


def _measures(
    goal: str, index: ColumnIndex, numbers: Sequence[str], countable: Sequence[str]
) -> dict[str, Measure]:
    says_sum = _SUM.search(goal) is not None
    rare: list[How] = [how for how, words in _RARE_HOWS if words.search(goal)]
    found = {ROWS: Measure(column=None, how="count")}
    for column in numbers:
        # The sum of prices, rates or scores mostly means nothing: only a goal may ask for it.
        is_averaged = index.averages(column) and not says_sum
        usual: tuple[How, ...] = ("mean",) if is_averaged else ("sum", "mean")
        for how in (*usual, *rare):
            found[f"{how}({column})"] = Measure(column=column, how=how)
    for column in countable:
        found[f"count_distinct({column})"] = Measure(column=column, how="count_distinct")
    return found


# -- numbers


def _tops(goal: str, ranges: Sequence[DateRange]) -> tuple[int, ...]:
    return tuple(sorted({number for number, _, _ in _whole_numbers(goal, ranges)}))


_CUT_BEFORE = re.compile(
    r"(?:\b(?:top|best|worst|bottom|first|highest|lowest|leading)\s+|[前后]|最[^，。,;；]{1,3}的)\s*$",
    re.IGNORECASE,
)
_CUT_AFTER = re.compile(
    r"^\s*(?:[a-z-]+\s+)?(?:best|worst|highest|lowest|top|largest|smallest|biggest|leading)\b",
    re.IGNORECASE,
)


def _plain_top(goal: str, ranges: Sequence[DateRange]) -> int | None:
    """Return the only number of the goal that stands beside a word such as "top"."""
    found = {
        number
        for number, start, stop in _whole_numbers(goal, ranges)
        if _CUT_BEFORE.search(goal[max(0, start - 16) : start]) or _CUT_AFTER.search(goal[stop:])
    }
    return found.pop() if len(found) == 1 else None


# "前三的品类" has no measure word, so that it is no numeral for who reads numerals of prose.
_CHINESE_CUT = re.compile(
    r"[前后]([一二两三四五六七八九十])(?![一二三四五六七八九十]|个?[月天日周年季])"
)
_CHINESE_DIGITS = {digit: value for value, digit in enumerate("一二三四五六七八九十", 1)} | {
    "两": 2
}


def _whole_numbers(goal: str, ranges: Sequence[DateRange]) -> Iterator[tuple[int, int, int]]:
    """Yield the whole numbers that are no part of a span of time, with where they stand."""
    for match in _CHINESE_CUT.finditer(goal):
        if not lies_in(match.start(), ranges):
            yield _CHINESE_DIGITS[match[1]], match.start(1), match.end(1)
    for n in read_numerals(goal):
        is_whole = n.value is not None and float(n.value).is_integer()
        if is_whole and n.kind in ("number", "ordinal") and not lies_in(n.start, ranges):
            number = int(n.value or 0)
            if 1 <= number <= _LARGEST_TOP:
                yield number, n.start, n.end
