"""Second looks at a model's choices: words of the goal that nothing in them answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planloom.notes import Note
from planloom.planning.constrained.offer import Offer
from planloom.planning.constrained.reading import Choices
from planloom.planning.goals.concepts import concepts_in
from planloom.planning.goals.wording import norms

_AVERAGE = re.compile(r"\b(?:average|averaged|mean|on average|avg)\b|平均|均值|人均", re.IGNORECASE)
_SHARE = re.compile(r"\b(?:shares?|percentages?|proportions?|breakdown)\b|占比|份额|构成|比重",
                    re.IGNORECASE)  # fmt: skip
_TREND = re.compile(
    r"\b(?:trends?|over time|monthly|weekly|daily|quarterly|by (?:month|week|day|quarter|year)|"
    r"per (?:month|week|day|quarter|year)|(?:month|week|day|year) (?:by|to|over) "
    r"(?:month|week|day|year))\b|趋势|走势|逐[日周月季年]|[每按各][日周月季年]|随时间",
    re.IGNORECASE,
)

_TIME = re.compile(
    r"\b(?:trends?|develop\w*|time\w*|months?|monthly|weeks?|weekly|weekdays?|days?|daily|years?|"
    r"yearly|annual\w*|quarter\w*|season\w*|gr[oe]w\w*|chang\w*|evolv\w*|evolution|"
    r"increas\w*|decreas\w*|declin\w*|ris\w+|rose|fall\w*|fell|when|history|historical\w*|"
    r"progress\w*|course|periods?|dates?|recent\w*|lately|since|peak\w*|forecast\w*|"
    r"fluctuat\w*|momentum|going|yoy|mom)\b|"
    r"趋势|走势|变化|变动|增长|增速|增减|下降|上升|波动|[月周日天年季]|时间|历史|发展|近期|最近|何时|"
    r"什么时候|同比|环比|涨|跌|高峰",
    re.IGNORECASE,
)

_PARTS = re.compile(
    r"\b(?:shares?|percent\w*|proportion\w*|parts?|portions?|breakdown|broken|break|divid\w*|"
    r"distribut\w*|split|contribut\w*|account\w*|mak\w+ up|compos\w*|mix|fractions?|weights?|"
    r"ratios?|spread)\b|%|占|比例|比重|份额|构成|组成|分布|贡献|拆分|结构|百分",
    re.IGNORECASE,
)

_NO_MEAN = Note(
    "The goal speaks of an average, and no measure is a mean.",
    "目标要求平均值，但没有用 mean。",
)
_NO_SHARE = Note(
    "The goal speaks of shares, and no analysis is a share.",
    "目标要求占比，但没有选 share。",
)
_NO_TREND = Note(
    "The goal speaks of time, and no analysis is a trend.",
    "目标涉及随时间的变化，但没有选 trend。",
)
NEEDLESS_TREND = Note(
    'The goal speaks of no time: leave "trend" out. "ranking" compares groups.',
    "目标没有涉及时间：不要选 trend。各组的比较用 ranking。",
)
_NEEDLESS_SHARE = Note(
    'The goal speaks of no shares: leave "share" out. "ranking" compares groups.',
    "目标没有要求占比：不要选 share。各组的比较用 ranking。",
)
_ROWS_COUNTED = Note(
    'The goal speaks of how many pieces, and rows are counted. "sum({name})" adds the pieces up.',
    "目标问的是件数，而所选的是记录数。件数合计用 sum({name})。",
)
_UNUSED = Note(
    'The goal names the column "{name}", and no analysis uses it.',
    "目标提到“{name}”列，但没有分析用到它。",
)


def doubts(goal: str, choices: Choices, offer: Offer) -> Iterator[Note]:
    """Yield what a choice seems to have missed, for the model to think over once.

    None is an error: a goal may speak of an average in a name, or of a share in passing.
    """
    plain = _without_names(goal, offer)
    kinds = {request.kind for request in choices.analyses}
    hows = {request.how for request in choices.analyses}
    if choices.others:
        return  # what further tools compute is not known here
    if _AVERAGE.search(plain) and not hows & {"mean", "median"} and offer.numbers:
        yield _NO_MEAN
    if _SHARE.search(plain) and "share" not in kinds and offer.groups:
        yield _NO_SHARE
    if _TREND.search(plain) and "trend" not in kinds and offer.dates:
        yield _NO_TREND
    names_something = bool(offer.named or offer.splits)
    if "trend" in kinds and names_something and not _TIME.search(goal):
        yield NEEDLESS_TREND
    if "share" in kinds and names_something and not _PARTS.search(plain):
        yield _NEEDLESS_SHARE
    if (quantity := _uncounted_quantity(plain, choices, offer)) is not None:
        yield _ROWS_COUNTED.with_args({"name": quantity})
    used = {f.column for f in choices.filters}
    for request in choices.analyses:
        used |= {request.measure or "", request.category or "", request.by or ""}
    for name in offer.named:
        if name not in used:
            yield _UNUSED.with_args({"name": name})


def _without_names(goal: str, offer: Offer) -> str:
    for name in offer.columns:
        goal = goal.replace(name, " ")
    return goal


def _uncounted_quantity(plain: str, choices: Choices, offer: Offer) -> str | None:
    """Return the column of pieces that should have been added up, where rows were counted."""
    if not choices.analyses or any(request.how != "count" for request in choices.analyses):
        return None
    families = {concept.family for concept, _ in concepts_in(norms(plain))}
    roles = {concept.role for concept, _ in concepts_in(norms(plain))}
    grouped = {name for r in choices.analyses for name in (r.category, r.by) if name}
    by_product = any(_is_of(name, "product") for name in grouped)
    # "The fewest items" are pieces too, unless products are compared or orders are spoken of.
    speaks_of_pieces = "quantity" in families or ("product" in families and not by_product)
    if not speaks_of_pieces or "event" in roles:
        return None
    found = (name for name in offer.numbers if f"sum({name})" in offer.measures)
    return next((name for name in found if _is_of(name, "quantity")), None)


def _is_of(name: str, family: str) -> bool:
    return any(concept.family == family for concept, _ in concepts_in(norms(name)))
