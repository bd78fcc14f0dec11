"""Reading numbers spelled in English, such as "twenty-three", "two thirds" or "twice"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_SMALL = {
    word: value
    for value, word in enumerate(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen"
        ).split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        (
            "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ).split(),
        2,
    )
}
_PARTS = {"half": 2, "quarter": 4, "third": 3} | {
    word: value for word, value in _ORDINALS.items() if value > 3
}
_MULTIPLES = {"twice": 2, "thrice": 3, "double": 2, "triple": 3, "twofold": 2, "threefold": 3}
_MULTIPLES |= {"fourfold": 4, "fivefold": 5, "tenfold": 10}
_GROWTH = {"doubled": 100, "doubling": 100, "doubles": 100, "tripled": 200, "tripling": 200}
_GROWTH |= {"quadrupled": 300, "halved": -50, "halving": -50, "halves": -50}

_WORD = "|".join((*_SMALL, *_TENS))
_NUMBER = rf"(?:(?:{_WORD}|an?(?=\s(?:hundred|thousand|million|billion|trillion)\b))\b)(?:[\s-](?:and[\s-])?(?:{_WORD}|{'|'.join(_SCALES)})\b)*"
_PART = "|".join(rf"{part}s?" for part in _PARTS if part != "half") + "|half|halves"
# Ordinals that rank; "a third party" and "per second" count nothing.
_RANKED = r"(?:-|\s)(?:largest|smallest|biggest|highest|lowest|best|worst|most|least|place|position|rank|strongest|weakest|busiest|top)"

_PATTERN = re.compile(
    rf"\b(?:"
    rf"(?P<one_in>(?P<in_top>{_WORD}|\d+)\s(?:in|out\sof)\s(?P<in_bottom>{_WORD}))"
    rf"|(?P<mixed>(?P<whole>{_WORD})\sand\s(?:a\shalf|(?P<qtop>a|three)\squarters?))"
    rf"|(?P<scaled>(?P<spart>half|quarter)\s(?:of\s)?an?\s(?P<scale>thousand|million|billion|trillion|dozen))"
    rf"|(?P<slash>(?<![\d./])[1-4]/[2-5](?![\d/.]\d?))"
    rf"|(?P<part>(?P<top>an?|one|two|three|four|five|six|seven|eight|nine)[\s-](?P<bottom>{_PART})"
    rf"(?![\s-](?:party|parties|person|largest|smallest|biggest|highest|lowest|best|place|quarter|of\sthe\syear|to)))"
    rf"|(?P<half>(?<!first\s)(?<!second\s)(?<!latter\s)(?<!other\s)(?<!first-)half)(?=\s(?:of|the|that|its|their|as|a)\b|[\s,.;:)]|$)(?!-|\s(?:year|hour)\b)"
    rf"|(?P<growth>{'|'.join(_GROWTH)})(?![\s-]quote)"
    rf"|(?P<multiple>twice|thrice|\w+fold|(?:double|triple)(?=\s(?:the|that|those|its|their|what|as)\b))"
    rf"|(?P<dozen>(?:a|one|two|three|half\sa)\sdozen)"
    rf"|(?P<ordinal>{'|'.join(_ORDINALS)})(?=(?P<ranked>{_RANKED}\b)?)"
    rf"|(?P<number>{_NUMBER})"
    rf")(?![A-Za-z])",
    re.IGNORECASE,
)
# "one" is a number only before something that is counted; else it is a pronoun.
_COUNTED_ONE = re.compile(
    r"\s(?:rows?|columns?|records?|orders?|values?|duplicates?|customers?|products?|regions?|months?|"
    r"weeks?|days?|years?|quarters?|percent|per\scent|percentage|units?|items?|lines?|files?|sheets?|"
    r"stores?|categor(?:y|ies)|groups?|charts?|outliers?|cells?)\b(?!\s(?:of|after|by|at|is|stands|per))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EnglishWord:
    """A spelled number found in a text."""

    start: int
    end: int
    kind: Literal["number", "fraction", "ordinal", "multiple", "growth"]
    value: float
    step: float
    """Worth of the last digit, as far as words show one."""


def read_english(text: str) -> Iterator[EnglishWord]:
    """Yield the spelled numbers of a text.

    >>> [(word.kind, round(word.value, 2)) for word in read_english("twenty-three, two thirds, twice")]
    [('number', 23), ('fraction', 0.67), ('multiple', 2)]
    """
    for match in _PATTERN.finditer(text):
        word = _read(text, match)
        if word is not None:
            yield word


def _read(text: str, match: re.Match[str]) -> EnglishWord | None:
    def found(
        kind: Literal["number", "fraction", "ordinal", "multiple", "growth"],
        value: float,
        step: float,
    ) -> EnglishWord:
        return EnglishWord(match.start(), match.end(), kind, value, step)

    if match["one_in"]:
        return found("fraction", _small(match["in_top"]) / _small(match["in_bottom"]), 0.01)
    if match["mixed"]:
        part = 0.5 if match["qtop"] is None else 0.75 if match["qtop"].lower() == "three" else 0.25
        return found("number", _small(match["whole"]) + part, 0.1)
    if match["scaled"]:
        share = 0.5 if match["spart"].lower() == "half" else 0.25
        scale = match["scale"].lower()
        value = share * (12 if scale == "dozen" else _SCALES[scale])
        return found("number", value, value / 10 if scale != "dozen" else 1)
    if match["slash"]:
        return found("fraction", int(match["slash"][0]) / int(match["slash"][2]), 0.01)
    if match["part"]:
        bottom = match["bottom"].lower()
        below = 2 if bottom.startswith("hal") else _PARTS[bottom.removesuffix("s")]
        return found("fraction", _small(match["top"]) / below, 0.01)
    if match["half"]:
        return found("fraction", 0.5, 0.01)
    if match["growth"]:
        return found("growth", _GROWTH[match["growth"].lower()], 10)
    if match["multiple"]:
        factor = _MULTIPLES.get(match["multiple"].lower())
        return found("multiple", factor, 0.1 * factor) if factor else None
    if match["dozen"]:
        first = match["dozen"].lower().removesuffix(" dozen")
        return found("number", 6 if first == "half a" else 12 * _small(first), 1)
    if match["ordinal"]:
        value = _ORDINALS[match["ordinal"].lower()]
        is_rank = match["ranked"] or (value > 2 and not re.match(r"[\s-]part", text[match.end() :]))
        return found("ordinal", value, 0) if is_rank else None
    return _number(text, match)


def _number(text: str, match: re.Match[str]) -> EnglishWord | None:
    words = re.split(r"[\s-]+", match["number"].lower())
    if words == ["one"] and not _COUNTED_ONE.match(text, match.end()):
        return None
    total, section = 0, 0
    last = 1
    for word in words:
        if word in _SCALES:
            if word == "hundred":
                section = max(1, section) * 100
            else:
                total, section = total + max(1, section) * _SCALES[word], 0
            last = _SCALES[word]
        elif word != "and":
            section += 1 if word in {"a", "an"} else _SMALL.get(word) or _TENS.get(word) or 0
            last = 1
    step = float(last) if last >= 10**6 else 1.0
    return EnglishWord(match.start(), match.end(), "number", total + section, step)


def _small(word: str) -> int:
    low = word.lower()
    return 1 if low in {"a", "an"} else int(low) if low.isdigit() else (_SMALL | _TENS)[low]
