"""Reading numbers spelled in English, such as "twenty-three", "two thirds" or "twice"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = {
    "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14,
    "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19,
    "twentieth": 20,
}  # fmt: skip
_PARTS = {"half": 2, "quarter": 4, "third": 3} | {
    word: value for word, value in _ORDINALS.items() if value > 3
}
_MULTIPLES = {
    "twice": 2, "thrice": 3, "double": 2, "triple": 3, "twofold": 2, "threefold": 3, "fourfold": 4,
    "fivefold": 5, "tenfold": 10,
}  # fmt: skip
_GROWTH = {
    "doubled": 100, "doubling": 100, "doubles": 100, "tripled": 200, "tripling": 200,
    "quadrupled": 300, "halved": -50, "halving": -50, "halves": -50,
}  # fmt: skip

_WORD = "|".join((*_SMALL, *_TENS))
_SCALE = "thousand|million|billion|trillion"
_NUMBER = (
    rf"(?:(?:{_WORD}|an?(?=\s(?:hundred|{_SCALE})\b))\b)"
    rf"(?:[\s-](?:and[\s-])?(?:{_WORD}|hundred|{_SCALE})\b)*"
)
_PART = "|".join(rf"{part}s?" for part in _PARTS if part != "half") + "|half|halves"
# Ordinals that rank; "a third party" and "per second" count nothing.
_RANKED = (
    r"[\s-](?:largest|smallest|biggest|highest|lowest|best|worst|most|least|place|position|rank|"
    r"strongest|weakest|busiest|top)"
)
# What may follow "a third": in "a third party", "the fifth to leave" it is no part.
_NO_PART = (
    r"[\s-](?:party|parties|person|largest|smallest|biggest|highest|lowest|best|place|quarter|"
    r"of\sthe\syear|to\b)"
)
# Every alternative begins so; trying all of them at each word would take ten times as long.
_BEGINNING = r"(?=on|tw|th|fo|fi|si|se|ei|ni|te|el|ze|an?\s|ha|qu|do|tr|\d)"

_PATTERN = re.compile(
    rf"\b{_BEGINNING}(?:"
    rf"(?P<one_in>(?P<in_top>{_WORD}|\d+)\s(?:in|out\sof)\s(?P<in_bottom>{_WORD}))"
    rf"|(?P<mixed>(?P<whole>{_WORD})\sand\s(?:a\shalf|(?P<qtop>a|three)\squarters?))"
    rf"|(?P<scaled>(?P<spart>half|quarter)\s(?:of\s)?an?\s(?P<scale>{_SCALE}|dozen))"
    rf"|(?P<slash>(?<![\d./])[1-4]/[2-5](?![\d/.]\d?))"
    rf"|(?P<part>(?P<top>an?|one|two|three|four|five|six|seven|eight|nine)[\s-]"
    rf"(?P<bottom>{_PART})(?!{_NO_PART}))"
    r"|(?P<half>(?<!first\s)(?<!second\s)(?<!latter\s)(?<!other\s)(?<!first-)half)"
    r"(?=\s(?:of|the|that|its|their|as|a)\b|[\s,.;:)]|$)(?!\s(?:year|hour)\b)"
    rf"|(?P<growth>{'|'.join(_GROWTH)})(?![\s-]quote)"
    rf"|(?P<multiple>{'|'.join(word for word in _MULTIPLES if word not in {'double', 'triple'})}"
    r"|(?:double|triple)(?=\s(?:the|that|those|its|their|what|as)\b))"
    r"|(?P<dozen>(?:a|one|two|three|half\sa)\sdozen)"
    rf"|(?P<ordinal>{'|'.join(_ORDINALS)})(?=(?P<ranked>{_RANKED}\b)?)"
    rf"|(?P<number>{_NUMBER})"
    r")(?![A-Za-z])",
    re.IGNORECASE,
)
_MOST_WORDS = 20
# "one" is a number only before something that is counted; else it is a pronoun.
_COUNTED_ONE = re.compile(
    r"\s(?:rows?|columns?|records?|orders?|values?|duplicates?|customers?|products?|regions?|months?|"
    r"weeks?|days?|years?|quarters?|percent|per\scent|percentage|units?|items?|lines?|files?|sheets?|"
    r"stores?|categor(?:y|ies)|groups?|charts?|outliers?|cells?)\b"
    r"(?!\s(?:of|after|by|per|to\sthe\snext|for\seach)\b)",
    re.IGNORECASE,
)


WordKind = Literal["number", "fraction", "ordinal", "multiple", "growth"]


@dataclass(frozen=True, slots=True)
class EnglishWord:
    """A spelled number found in a text."""

    start: int
    end: int
    kind: WordKind
    value: float
    step: float
    """Worth of the last digit, as far as words show one."""


def read_english(text: str) -> Iterator[EnglishWord]:
    """Yield the spelled numbers of a text.

    >>> words = read_english("twenty-three, two thirds, twice")
    >>> [(word.kind, round(word.value, 2)) for word in words]
    [('number', 23), ('fraction', 0.67), ('multiple', 2)]
    """
    for match in _PATTERN.finditer(text):
        word = _read(text, match)
        if word is not None:
            yield word


def _read(text: str, match: re.Match[str]) -> EnglishWord | None:
    if match["number"]:
        return _number(text, match)
    if match["ordinal"]:
        return _ordinal(text, match)
    for group, read in _READERS.items():
        if match[group]:
            kind, value, step = read(match)
            return EnglishWord(match.start(), match.end(), kind, value, step)
    return None


_Reading = tuple[WordKind, float, float]


def _one_in(match: re.Match[str]) -> _Reading:
    return "fraction", _small(match["in_top"]) / max(1, _small(match["in_bottom"])), 0.01


def _mixed(match: re.Match[str]) -> _Reading:
    quarters = (match["qtop"] or "").lower()
    part = {"": 0.5, "a": 0.25, "three": 0.75}[quarters]
    return "number", _small(match["whole"]) + part, 0.1


def _scaled(match: re.Match[str]) -> _Reading:
    share = 0.5 if match["spart"].lower() == "half" else 0.25
    if match["scale"].lower() == "dozen":
        return "number", share * 12, 1
    value = share * _SCALES[match["scale"].lower()]
    return "number", value, value / 10


def _slash(match: re.Match[str]) -> _Reading:
    return "fraction", int(match["slash"][0]) / int(match["slash"][2]), 0.01


def _part(match: re.Match[str]) -> _Reading:
    bottom = match["bottom"].lower()
    below = 2 if bottom.startswith("hal") else _PARTS[bottom.removesuffix("s")]
    return "fraction", _small(match["top"]) / below, 0.01


def _dozen(match: re.Match[str]) -> _Reading:
    count = match["dozen"].lower().removesuffix(" dozen")
    return "number", 6 if count == "half a" else 12 * _small(count), 1


def _multiple(match: re.Match[str]) -> _Reading:
    factor = _MULTIPLES[match["multiple"].lower()]
    return "multiple", factor, 0.1 * factor


_READERS: dict[str, Callable[[re.Match[str]], _Reading]] = {
    "one_in": _one_in,
    "mixed": _mixed,
    "scaled": _scaled,
    "slash": _slash,
    "part": _part,
    "half": lambda _: ("fraction", 0.5, 0.01),
    "growth": lambda match: ("growth", _GROWTH[match["growth"].lower()], 10),
    "multiple": _multiple,
    "dozen": _dozen,
}


def _ordinal(text: str, match: re.Match[str]) -> EnglishWord | None:
    value = _ORDINALS[match["ordinal"].lower()]
    is_rank = match["ranked"] or (
        value > 2 and not re.match(r"[\s-]part", text[match.end() : match.end() + 6])
    )
    return EnglishWord(match.start(), match.end(), "ordinal", value, 0) if is_rank else None


def _number(text: str, match: re.Match[str]) -> EnglishWord | None:
    words = re.split(r"[\s-]+", match["number"].lower())
    if len(words) > _MOST_WORDS:
        return None
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
