"""Words by which prose claims something about facts: highest, second, rose, the majority, ..."""

from __future__ import annotations

import re
from typing import Literal

ClaimKind = Literal[
    "max",
    "min",
    "second",
    "up",
    "down",
    "majority",
    "average",
    "median",
    "total",
    "first",
    "latest",
]

_SUPERLATIVE = "highest|largest|biggest|greatest|strongest|best"
_SMALLEST = "lowest|smallest|least|weakest|worst|fewest"
_CLAIMS: tuple[tuple[ClaimKind, str], ...] = (
    (
        "second",
        rf"\b(?:second|next)[\s-]+(?:{_SUPERLATIVE}|place)\b|\brunners?[\s-]up\b|"
        r"\b(?:closely\s)?followed\sby\b|\b(?:ranks?|comes?|came)\ssecond\b|其次|第二|居次|紧随其后",
    ),
    ("majority", r"\bmajority\b|\bhalf\b|\bmost\sof\b|一半|半数|过半|大部分|绝大多数|多数|大半"),
    (
        "max",
        rf"(?<!at\s)\b(?:{_SUPERLATIVE}|most|top|leads?|leading|led|peak(?:s|ed|ing)?|maximum|"
        r"record|domina\w*|ranks?\sahead|(?:its|the|a)\s(?:new\s)?high|first\splace|(?:ranks?|comes?|came)\sfirst)\b|"
        r"最高|最多|最大|最好|最强|最佳|第一(?!季)|居首|首位|榜首|领先|峰值|高峰|冠军|最畅销|领跑|主力|主导|龙头|新高",
    ),
    (
        "min",
        rf"(?<!at\s)\b(?:{_SMALLEST}|bottom|minimum|(?:its|the|a)\s(?:new\s)?low|trough(?:ed)?|bottomed|"
        r"(?:ranks?|comes?|came|is|was)\slast|last\splace)\b|"
        r"最低|最少|最小|最差|最弱|末位|垫底|居末|倒数|谷底|低谷|触底|见底|新低",
    ),
    (
        "down",
        r"\b(?:fell|fall(?:s|en|ing)?|declin\w+|decreas\w+|dropp?(?:s|ed|ing)?|shr[aiu]nk\w*|slid\w*|"
        r"slipp?(?:s|ed|ing)?|dipp?(?:s|ed|ing)?|plung\w+|plummet\w*|slump\w*|sank|reduc\w+|lost|"
        r"contract(?:s|ed|ion)|weaken\w*|downward\w*|(?<!broken\s)(?<!break\s)down|negative\sgrowth)\b|"
        r"负增长|下降|减少|下跌|下滑|降低|回落|萎缩|走低|缩减|收缩|降至|降到|降幅|跌",
    ),
    (
        "up",
        r"\b(?:rose|ris(?:es?|en|ing)|gr[eo]w(?:s|n|ing)?|growth|increas\w+|climb\w*|gain(?:s|ed|ing)?|"
        r"surg\w+|jump\w*|soar\w*|improv\w+|expand\w*|expansion|recover\w*|rebound\w*|upward\w*|"
        r"(?<!make\s)(?<!makes\s)(?<!made\s)(?<!making\s)up)\b|"
        r"上升|增长|增加|上涨|提高|提升|攀升|走高|回升|扩大|升至|升到|增幅|涨",
    ),
    (
        "first",
        r"\b(?:first|initial|opening)\s(?:day|week|month|quarter|year|period)\b|首[日周月季年个]",
    ),
    (
        "latest",
        r"\b(?:latest|last|final|most\srecent|closing)\s(?:day|week|month|quarter|year|period)\b|"
        r"最近一?个?[天日周月季年]|最新[一]?[天日周月季年]|末[日周月季年]",
    ),
    ("total", r"\b(?:total\w*|sums?|altogether|in\sall)\b|合计|总计|总额|总金额|总量|总数|共计"),
    ("average", r"\b(?:averag\w*|mean)\b|平均|均值"),
    ("median", r"\bmedians?\b|中位"),
)  # fmt: skip
_ANY = re.compile(
    "|".join(f"(?P<{kind}>{words})" for kind, words in _CLAIMS), re.IGNORECASE
)  # fmt: skip

UNSUPPORTED = re.compile(
    r"\b(?:stead(?:y|ily)|stable|stability|flat|unchanged|constant(?:ly)?|consistent(?:ly)?|"
    r"continuous(?:ly)?|always|every\s(?:day|week|month|quarter|year)|volatile|seasonal\w*|"
    r"doubl\w+|tripl\w+|halv\w+|evenly|equal(?:ly)?|similar(?:ly)?|"
    r"combined|together|overt(?:akes?|aken|ook))\b|"
    r"稳定|稳步|平稳|持平|持续|始终|一直|逐[日周月季年](?:递|上|下|增|减)|每[天周月季年]都|翻番|翻倍|均匀|之和|合起来|反超|"
    r"季节性|波动",
    re.IGNORECASE,
)
"""What no fact of an analysis states."""
NEGATION = re.compile(
    r"\b(?:not|never|no|nor|neither|without|hardly|cannot|\w+n['\u2019]t)\b|没有|并非|并未|不是|未|不|无",
    re.IGNORECASE,
)  # fmt: skip
MORE_THAN = re.compile(
    r"\b(?:ahead\sof|above|(?:more|higher|larger|greater|better)\sthan|exceed(?:s|ed|ing)?|beats?|"
    r"outsells?|outsold|outperform(?:s|ed)?|surpass(?:es|ed))\b(?!\sby)|"
    r"高于|多于|大于|超过|领先于|超出|优于|胜过",
    re.IGNORECASE,
)
LESS_THAN = re.compile(
    r"\b(?:behind|below|(?:less|lower|smaller|fewer|worse)\sthan|trail(?:s|ed|ing)?|lag(?:s|ged)?|"
    r"(?:outsold|beaten|exceeded|surpassed|outperformed)\sby)\b|"
    r"低于|少于|小于|不及|落后于?|不如|逊于",
    re.IGNORECASE,
)
COMPARED_ZH = re.compile(r"比(?P<other>[^，。；]{0,40}?)(?:(?P<more>高|多|大)|(?P<less>低|少|小))")
MONTHS = re.compile(
    r"\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|"
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|"
    r"(?<=\bin\s)May\b|(?<=\bto\s)May\b|(?<=\bof\s)May\b|[春夏秋冬]季|周[一二三四五六日]|星期[一二三四五六日]|"
    r"[上下]半年|[一二三四]季度"
)
"""Periods that are written out."""


def claims_in(text: str) -> list[tuple[ClaimKind, int, int]]:
    """Return the claims of a text with where they begin and end.

    >>> claims_in("It rose to the highest level")
    [('up', 3, 7), ('max', 15, 22)]
    """
    return [
        (kind, match.start(), match.end())
        for match in _ANY.finditer(text)
        for kind, _ in _CLAIMS
        if match[kind] is not None
    ]


def is_claim(text: str) -> bool:
    """Say whether a name would read as a claim."""
    return _ANY.search(text) is not None
