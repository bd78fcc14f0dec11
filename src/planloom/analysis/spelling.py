"""Finds values of one column that are the same word in different spellings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from planloom.analysis.cleaning_stage import BLANKS, is_loose
from planloom.analysis.database import connect, identifier, scan
from planloom.analysis.meanings import Meaning
from planloom.analysis.profile import TableProfile
from planloom.analysis.text_values import TextValues
from planloom.values import TableRef

_WORDY: frozenset[Meaning] = frozenset({"category", "place", "flag", "name"})
_BATCH = 50
_UNIT_NAME = re.compile(r"(?<![a-z])(units?|uom|measures?|einheit|unité|unidad)(?![a-z])|单位|單位")
_ALWAYS_CASED, _CASED_UNITS = 2, 5
"""Longest values, in letters, whose case is left alone: in all columns, and in those of units."""
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: " "}
_BETWEEN_HAN = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")


def find_spellings(values: TextValues, profile: TableProfile) -> dict[str, dict[str, str]]:
    """Return, by column, a mapping from spellings to the one that is used most.

    Spellings are the same when they differ in case, in white space or in full and half width
    only. Columns of codes and free text are left alone, and so are short values that differ in
    case ("mW" and "MW", genotypes; in columns of units also "mmol" and "Mmol") unless they are yes
    and no. White space around a value is no
    spelling: trimming takes care of it.
    """
    found: dict[str, dict[str, str]] = {}
    for column in profile.columns:
        if column.meaning in _WORDY and column.name in values:
            longest = _longest_cased(column.name, column.meaning)
            mapping = _mapping(values[column.name], longest_cased=longest)
            if mapping:
                found[column.name] = mapping
    return found


def _longest_cased(name: str, meaning: Meaning) -> int:
    if meaning == "flag":
        return 0
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
    return _CASED_UNITS if _UNIT_NAME.search(words) else _ALWAYS_CASED


def folded(text: str, *, longest_cased: int = 0) -> str:
    """Return what all spellings of a text have in common.

    Texts of at most `longest_cased` letters keep their case.

    >>> folded(" New  YORK") == folded("ｎew york ") == "new york"
    True
    """
    narrow = " ".join(text.translate(_NARROW).strip(BLANKS).split())
    narrow = _BETWEEN_HAN.sub("", narrow)
    is_short = sum(letter.isalpha() for letter in narrow) <= longest_cased
    return narrow if is_short else narrow.casefold()


def _mapping(values: Mapping[str, int], *, longest_cased: int) -> dict[str, str]:
    counts: Counter[str] = Counter()
    for text, count in values.items():
        counts[text.strip(BLANKS)] += count
    groups: dict[str, list[str]] = defaultdict(list)
    for text in counts:
        if text:
            groups[folded(text, longest_cased=longest_cased)].append(text)
    mapping: dict[str, str] = {}
    for spellings in groups.values():
        kept = max(spellings, key=lambda text: (counts[text], text == text.title(), text))
        mapping |= {text: kept for text in sorted(spellings) if text != kept}
    return mapping


def texts_to_trim(table: TableRef, profile: TableProfile, values: TextValues) -> dict[str, int]:
    """Return, by text column, how many values have white space around them or nothing else."""
    found = {
        name: sum(n for text, n in counts.items() if not text or text.strip(BLANKS) != text)
        for name, counts in values.items()
    }
    others = [each.name for each in profile.columns if each.type == "text"]
    others = [name for name in others if name not in values]
    with connect(table) as connection:
        for start in range(0, len(others), _BATCH):
            batch = others[start : start + _BATCH]
            counts = ", ".join(
                f"count(*) FILTER ({is_loose(name)} OR {name} = '')"
                for name in map(identifier, batch)
            )
            row = connection.execute(f"SELECT {counts} FROM {scan(table)}").fetchall()[0]
            found |= dict(zip(batch, row, strict=True))
    return {each.name: found[each.name] for each in profile.columns if found.get(each.name)}
