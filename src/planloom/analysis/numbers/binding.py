"""Putting the values of facts into prose that holds `{{fact.id}}` placeholders."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from planloom.analysis.numbers.direction import ends_with_fall
from planloom.analysis.numbers.formatting import PERIOD_UNITS, show, show_number
from planloom.analysis.numbers.units import singular, unit_kind
from planloom.errors import UnsourcedNumberError
from planloom.notes import Lang
from planloom.values import Fact

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_SENTENCE_START = re.compile(
    r"(?:\A|\n|[.!?][\"”’)]?\s)[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]+)*[*_]*\Z"
)
_PLACEHOLDER = re.compile(r"\s*([\w.\-]+)\s*(?:\|([^|{}]*)\|([^|{}]*))?")


def bind(
    text_with_placeholders: str,
    facts: Mapping[str, Fact],
    lang: Lang,
    *,
    wrap: Callable[[Fact, str], str] | None = None,
) -> str:
    """Return the text with each placeholder replaced by the shown value of its fact, once.

    `{{id}}` gives the value, `{{id|row|rows}}` the number and the noun that fits it. After words
    such as "fell by" a negative value loses its minus, which the words already say. A period at the
    start of a sentence has a capital letter ("Week 5 of 2024 is ..."). What a fact shows is never
    expanded again. `wrap` turns fact and shown value into markup, such as a link.

    Raises:
        UnsourcedNumberError: a placeholder is malformed, or names no fact.

    >>> from planloom.notes import Note
    >>> rows = Fact(id="rows", label=Note("Rows", "行数"), value=1200, query="", table="t", rows=1)
    >>> bind("{{rows|row|rows}} were kept.", {"rows": rows}, "en")
    '1,200 rows were kept.'
    """

    def replace(match: re.Match[str]) -> str:
        placeholder = _PLACEHOLDER.fullmatch(match[1])
        if placeholder is None:
            raise UnsourcedNumberError(
                f"'{match[0]}' is no placeholder of a fact. "
                "Write {{fact.id}} or {{fact.id|singular|plural}}."
            )
        fact = _fact(placeholder[1], facts)
        before = text_with_placeholders[: match.start()]
        after = text_with_placeholders[match.end() :]
        shown = _shown(fact, lang, before, after, has_noun=placeholder[3] is not None)
        marked = shown if wrap is None else wrap(fact, shown)
        if placeholder[3] is None:
            return marked
        return f"{marked} {placeholder[2] if shown == '1' else placeholder[3]}"

    return _BRACES.sub(replace, text_with_placeholders)


def _fact(fact_id: str, facts: Mapping[str, Fact]) -> Fact:
    fact = facts.get(fact_id)
    if fact is not None:
        return fact
    nearest = difflib.get_close_matches(fact_id, list(facts), n=3, cutoff=0.5)
    hint = f" Nearest: {', '.join(nearest)}." if nearest else " Compute it before naming it."
    raise UnsourcedNumberError(f"No fact has the id '{fact_id}'.{hint}")


def _shown(fact: Fact, lang: Lang, before: str, after: str, *, has_noun: bool) -> str:
    value, kind = fact.value, unit_kind(fact.unit)
    if isinstance(value, str) and fact.unit in PERIOD_UNITS:
        period = show(value, fact.unit, lang)
        starts_sentence = bool(after.strip()) and _SENTENCE_START.search(before) is not None
        return period[:1].upper() + period[1:] if starts_sentence else period
    if isinstance(value, (str, bool)) or value is None:
        return show(value, fact.unit, lang)
    if value < 0 and ends_with_fall(before, is_share=kind in {"percent", "points"}):
        value = -value
    if kind == "measure" and (has_noun or _names_unit(after, fact.unit)):
        return show_number(value, fact.unit, lang)
    return show(value, fact.unit, lang)


def _names_unit(after: str, unit: str) -> bool:
    """Say whether the text itself goes on with the unit, as in "{{lag}} days"."""
    word = re.match(r"[\s-]?([^\W\d_]+)", after)
    return word is not None and singular(word[1].lower()) == singular(unit.lower())
