"""Which way a sentence says that a number goes: "fell by 4%" states −4%, "rose by 4%" +4%."""

from __future__ import annotations

import re
from typing import Literal

Direction = Literal["", "up", "down", "unclear"]
""""unclear": a word for a fall stands in the clause, but not plainly with the number."""

_DOWN_VERBS = (
    "fell|fall|falls|fallen|falling|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|dropp?(?:s|ed|ing)?|"
    "shr[aiu]nk(?:s|ing)?|slid|slipp?(?:s|ed)?|dipp?(?:s|ed)?|plunged?|plummeted|slump(?:s|ed)?|sank|lost|"
    "contract(?:s|ed)|reduced?|cut|tumbled?|eased?|weakened|trail(?:s|ed)?|lag(?:s|ged)?|worsened|missed"
)
_UP_VERBS = (
    "rose|rises?|risen|rising|increas(?:e|es|ed|ing)|grew|grows?|grown|growing|gain(?:s|ed)?|"
    "climb(?:s|ed)?|jump(?:s|ed)?|surg(?:e|es|ed)|soar(?:s|ed)?|improv(?:e|es|ed)|expand(?:s|ed)?|"
    "exceed(?:s|ed)?|outperform(?:s|ed)?|beat|surpass(?:es|ed)?|added|recovered|advanced|rebounded"
)
_DOWN_NOUNS = (
    "decreases?|declines?|drops?|falls?|reductions?|loss(?:es)?|slump|dip|contraction|shortfall|"
    "deficit|shrinkage|setback"
)
_UP_NOUNS = "increases?|growth|rises?|gains?|jump|surge|improvement|expansion|uplift"
_DOWN_ADVERBS = "down|lower|less|fewer|below|under|behind|short\\sof|worse"
_UP_ADVERBS = "up|higher|more|above|over|ahead"

# Atomic, so that a long run of such words cannot be tried in all its divisions.
_FILLER = (
    r"(?>[\s,:(]|\b(?:an?\saverage\sof|a\stotal\sof|as\smuch\sas|on\saverage|more\sthan|less\sthan|"
    r"at\sleast|in\stotal|(?:year|month)[- ](?:on|over)[- ](?:year|month)|by|about|around|roughly|"
    r"came\sto|amount(?:s|ed)\sto|reach(?:es|ed)|stood\sat|some|over|almost|well|just|only|another|further|an?|again|even|still|overall|of|was|is|were|"
    r"\w+ly)\b)"
)
# "cut 12 rows", "dropped 12 rows" speak of things taken out, not of a measure that went down.
_REMOVALS = r"dropp?(?:s|ed|ing)?|cut|lost|reduced?|missed|eased?"
_VERB_BEFORE = re.compile(
    rf"\b(?:(?P<down>{_DOWN_VERBS}|{_DOWN_NOUNS}|down|lower)|"
    rf"(?P<up>{_UP_VERBS}|{_UP_NOUNS}|up|higher))"
    rf"(?P<gap>{_FILLER}*)$",
    re.IGNORECASE,
)
_LOOSELY = (
    r"(?:(?:\w+ly|about|around|some|an?\s(?:average|total)\sof|more\sthan|almost|over|at\sleast)"
    r"\s)?"
)
_BY = re.compile(rf"\bby\s{_LOOSELY}[$€£¥]?$", re.IGNORECASE)
_OF = re.compile(rf"\bof\s{_LOOSELY}[$€£¥]?$", re.IGNORECASE)
_ANY_EN = re.compile(
    rf"\b(?:(?P<down>{_DOWN_VERBS}|{_DOWN_NOUNS}|down|lower)|(?P<up>{_UP_VERBS}|{_UP_NOUNS}|up|higher))\b",
    re.IGNORECASE,
)
_NOUN_EN = re.compile(rf"\b(?:(?P<down>{_DOWN_NOUNS})|(?P<up>{_UP_NOUNS}))\b", re.IGNORECASE)
_LEVEL = re.compile(r"\b(?:to|from|at|share|total|average|mean|median|level)\b", re.IGNORECASE)
_AFTER_EN = re.compile(
    rf"[\s-](?:(?:year|month|week|quarter|day)[- ](?:on|over)[- ](?:year|month|week|quarter|day)\s|"
    r"(?:annual|monthly|weekly|yearly|sharp|slight|further|overall|average|mean|total|relative|net)\s)?"
    rf"(?:(?P<down>{_DOWN_ADVERBS}|{_DOWN_NOUNS})|(?P<up>{_UP_ADVERBS}|{_UP_NOUNS}))\b(?!\s(?:time|one)\b)",
    re.IGNORECASE,
)

_DOWN_ZH = (
    "负增长|下降|下跌|下滑|下挫|减少|降低|回落|缩减|萎缩|收缩|缩水|走低|亏损|降幅|跌幅|减幅|缺口|低出|低了|少了|降了|跌了|"
    "低于[^，。；、\\d]{0,8}?|落后|(?<![下])跌|(?<![下升])降|(?<![至不缺减多])少|(?<![最较偏])低|同比降|环比降"
)
_UP_ZH = (
    "增长|上升|上涨|提高|提升|增加|攀升|扩大|走高|回升|增幅|涨幅|升幅|高出|多出|高了|多了|涨了|增了|盈余|超出|"
    "(?<![增])长|(?<![上])涨|(?<!许)多|(?<![最较提])高|(?<!新)增"
)
_GAP_ZH = (
    r"(?:(?:率|幅|幅度|额|量|数|比例)?(?:\s|：|:|（|\(|了|约|大约|近|将近|超过|超|逾|不到|达到|达|高达|就|仅|只|又|均|"
    r"平均|至少|同比|环比|分别)*)"
)
# "降为 4%" gives the new level, "降幅为 4%" the change.
_NOUN_GAP_ZH = r"(?:率|幅|幅度|额|量|数|比例)(?:分别|都|均)?(?:为|是|约为|达|达到|约)\s?"
_BEFORE_ZH = re.compile(rf"(?:(?P<down>{_DOWN_ZH})|(?P<up>{_UP_ZH}))(?:{_NOUN_GAP_ZH}|{_GAP_ZH})$")
_RATE_ZH = re.compile(
    r"(?:(?P<down>降幅|跌幅|减幅|亏损)|(?P<up>增幅|涨幅|升幅))(?:约)?(?:为|是)?\s?$"
)
_AFTER_ZH = re.compile(
    r"\s?的?(?:同比|环比)?(?:(?P<down>降幅|跌幅|减幅|下降|下滑|下跌|减少|亏损|负增长|缺口)|(?P<up>增幅|涨幅|增长|上升|提升))"
)
_ANY_ZH = re.compile(rf"(?P<down>{_DOWN_ZH})|(?P<up>{_UP_ZH})")
_LEVEL_ZH = re.compile("至|到|为|占|达")

# What another line or table cell says is not said of a number.
_BLOCK_END = re.compile(r"[\n\t]")
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)|[。；！？\n\t]")
_CLAUSE_END = re.compile(r"[.;!?](?=\s|$)|[。；！？\n\t]|\d[\d,.%]*")
_CLAUSE_END_ZH = re.compile(r"[，。；！？、\n\t]|[.;!?](?=\s|$)|\d[\d,.%]*")
_DECLINE = re.compile(
    rf"\b(?:{_DOWN_NOUNS}|{_DOWN_VERBS}|below|fewer|less|removed|deleted|gap|distance)\b|"
    r"下降|下跌|下滑|减少|降低|降幅|跌幅|亏损|删除|去除|差距|低于|缺口|损失|回落",
    re.IGNORECASE,
)
# "Growth of −4%" is right; "rose by −4%" is not.
_EITHER_WAY = re.compile("growth|增长|增幅|涨幅|升幅", re.IGNORECASE)
_REACH = 70


def direction(text: str, start: int, end: int, *, is_share: bool) -> Direction:
    """Return the direction that the clause gives to the numeral at `text[start:end]`.

    `is_share` says that it is per cent or percentage points: "dropped 12 rows" is no fall of a
    measure, "dropped 12%" is.

    >>> sentence = "Sales fell by 4% to $12"
    >>> direction(sentence, 14, 16, is_share=True), direction(sentence, 20, 23, is_share=False)
    ('down', '')
    """
    before = _BLOCK_END.split(text[max(0, start - _REACH) : start])[-1]
    return (
        _after(_BLOCK_END.split(text[end : end + _REACH], maxsplit=1)[0])
        or _before_chinese(before)
        or _before_english(before, is_share=is_share)
        or _unclear(before, is_share=is_share)
    )


def speaks_of_decline(label: str) -> bool:
    """Say whether a fact's label names a fall or a removal, so that its value is one without sign.

    >>> speaks_of_decline("Rows removed"), speaks_of_decline("Total amount")
    (True, False)
    """
    return _DECLINE.search(label) is not None


def ends_with_fall(before: str, *, is_share: bool) -> bool:
    """Say whether a text before a number already says that it goes down ("fell by ")."""
    tail = _BLOCK_END.split(before[-_REACH:])[-1]
    return (_before_chinese(tail) or _before_english(tail, is_share=is_share)) == "down"


def _after(text: str) -> Direction:
    return _side(_AFTER_EN.match(text) or _AFTER_ZH.match(text))


def _before_chinese(before: str) -> Direction:
    match = _RATE_ZH.search(before) or _BEFORE_ZH.search(before)
    return _side(match)


def _before_english(before: str, *, is_share: bool) -> Direction:
    match = _VERB_BEFORE.search(before)
    if match is not None:
        has_by = re.search(r"\b(?:by|of)\b", match["gap"]) is not None
        is_removal = re.match(_REMOVALS, match[0], re.IGNORECASE) is not None
        return "" if is_removal and not has_by and not is_share else _side(match)
    if _BY.search(before):
        return _nearest(_ANY_EN, _clause(before, _SENTENCE_END))
    clause = _clause(before, _CLAUSE_END)
    if _OF.search(clause) and not _LEVEL.search(clause[-30:]):
        return _nearest(_NOUN_EN, clause[-45:])
    return ""


def _unclear(before: str, *, is_share: bool) -> Direction:
    """Return "unclear" for a share whose clause tells of a fall without a new level."""
    if not is_share:
        return ""
    english = _clause(before, _CLAUSE_END)
    chinese = _clause(before, _CLAUSE_END_ZH)
    if _nearest(_ANY_EN, english) == "down" and not _LEVEL.search(english):
        return "unclear"
    if _nearest(_ANY_ZH, chinese) == "down" and not _LEVEL_ZH.search(chinese):
        return "unclear"
    return ""


def _clause(before: str, ends: re.Pattern[str]) -> str:
    start = 0
    for match in ends.finditer(before):
        start = match.end()
    return before[start:]


def _nearest(pattern: re.Pattern[str], clause: str) -> Direction:
    last = None
    for match in pattern.finditer(clause):
        last = match
    return _side(last)


def _side(match: re.Match[str] | None) -> Direction:
    if match is None or _EITHER_WAY.match(match[0]):
        return ""
    return "down" if match["down"] else "up"
