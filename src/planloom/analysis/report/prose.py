"""Prose that comes from outside, such as from a model: cites facts, and is checked before use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from planloom.analysis.numbers.binding import bind
from planloom.analysis.numbers.checking import unsourced_numbers
from planloom.analysis.report.prose_claims import claim_problems
from planloom.errors import UnsourcedNumberError
from planloom.notes import Lang, Note
from planloom.values import Fact

LONGEST_TEXT = 1200
"""Characters of one paragraph."""
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}")
_ADDRESS = re.compile(r"https?://|www\.", re.IGNORECASE)
_CAUSES = re.compile(
    r"\b(?:because|due to|caused by|owing to|thanks to|as a result of|driven by|attributable to)\b|"
    r"由于|因为|导致|得益于|归因于|源于|受益于|造成了?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What someone else than the templates says in a report, and how it was made."""

    summary: str = ""
    """Opens the report; plain text whose numbers are `{{fact.id}}`."""
    paragraphs: tuple[str, ...] = ()
    """One for each finding, in order; "" leaves it to the templates."""
    method: tuple[Note, ...] = ()
    """Who chose the analyses and worded the text; empty when no model took part."""

    @property
    def has_prose(self) -> bool:
        """Whether any text is from outside."""
        return bool(self.summary) or any(self.paragraphs)

    def without_prose(self) -> Wording:
        """Return the wording of the templates alone, and say that the other was refused."""
        return replace(self, summary="", paragraphs=(), method=(*self.method, _REFUSED))


_REFUSED = Note(
    "The model's text did not pass the check of numbers, so the templates word the findings.",
    "模型撰写的文字未通过数字核对，因此发现部分改用模板文字。",
)


def prose_problems(
    text: str,
    facts: Mapping[str, Fact],
    lang: Lang,
    *,
    names: Iterable[str] = (),
    columns: Sequence[str] = (),
    values: Sequence[str] = (),
    goal: str = "",
) -> Iterator[str]:
    """Yield what keeps a text from standing in a report, each with the mend.

    Numbers may be written as `{{fact.id}}` only; `names` are names of the data, which may hold
    digits. Names of `columns` and `values` of categories are for facts of the same sentence only.
    Causes are refused: facts tell what happened, not why.
    """
    names = (*names, *columns, *values)
    if len(text) > LONGEST_TEXT:
        yield f"The text has {len(text)} characters; at most {LONGEST_TEXT} are allowed."
        return
    if _ADDRESS.search(text):
        yield "The text holds a web address; leave it out."
    written = unsourced_numbers(
        _PLACEHOLDER.sub("@", text), facts=(), allowed=(), labels=names, lang=lang
    )
    for found in written[:5]:
        yield (
            f"The number '{found.numeral.text}' is written out. Cite a fact as "
            "{{fact.id}} instead, or leave the number out."
        )
    cause = _CAUSES.search(text)
    if cause and cause[0].lower() not in goal.lower():
        yield f"'{cause[0]}' states a cause, which the data cannot show. Say what happened only."
    if not written:
        yield from _binding_problems(text, facts, lang, (*names, goal))
        yield from claim_problems(text, facts, columns=columns, values=values)


def _binding_problems(
    text: str, facts: Mapping[str, Fact], lang: Lang, names: tuple[str, ...]
) -> Iterator[str]:
    """Yield unknown facts, and facts that the words around them contradict ("fell by" +4%)."""
    try:
        bound = bind(text, facts, lang)
    except UnsourcedNumberError as error:
        yield str(error)
        return
    for found in unsourced_numbers(bound, facts=facts.values(), labels=names, lang=lang)[:5]:
        yield (
            f"'{found.numeral.text}' does not fit the words around it in: "
            f"{found.sentence.strip()[:200]}"
        )
