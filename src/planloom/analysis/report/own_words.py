"""The words of a report whose numbers need no fact: the user's, the data's, the templates' own.

A template may say "one line for each store" or "the second one": such words are written and read
by us, so they are handed to the checker as names. Every other number has to have a source.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from planloom.analysis.numbers.numerals import read_numerals
from planloom.analysis.numbers.visible_text import visible_text
from planloom.analysis.report.markdown import escape_markdown
from planloom.analysis.report.material import Material
from planloom.notes import Lang, Note
from planloom.values import Fact

_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{[^{}]*\}")


def free_texts(material: Material) -> tuple[str, ...]:
    """Return the texts whose numbers may stand anywhere: the goal, and counts of its reading."""
    values = chain.from_iterable(note.args.values() for note in _reading_notes(material))
    counts = [str(value) for value in values if not isinstance(value, str) or value.isdigit()]
    return (material.goal, *counts)


def names(material: Material, facts: Iterable[Fact], texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names that cover their numbers where they stand whole.

    Names of files, columns and categories, quoted cells (`texts`), and the templates' words.
    """
    facts = list(facts)
    notes = [*_notes(material), *(fact.label for fact in facts)]
    found = {
        material.loaded.file,
        material.table.title,
        material.table.title.replace("_", " "),
        *material.other_sheets,
        *material.table.table.column_names,
        *texts,
        *(value for note in notes for value in note.args.values() if isinstance(value, str)),
        *(fact.value for fact in facts if isinstance(fact.value, str)),
        *(words for note in notes for words in template_words(note, material.lang)),
    }
    seen = set(chain.from_iterable(_as_seen(name) for name in found)) - {""}
    # Sentences and titles begin with a capital.
    return tuple(sorted(seen | {name[:1].upper() + name[1:] for name in seen}))


def template_words(note: Note, lang: Lang) -> Iterator[str]:
    """Yield the fixed parts of a template that hold a number word.

    >>> list(template_words(Note("", "{first}最高，比第二位的{second}高{gap}。"), "zh"))
    ['最高，比第二位的']
    """
    for part in _PLACEHOLDER.split(note.en if lang == "en" else note.zh):
        if read_numerals(part):
            yield part.strip()


def _as_seen(name: str) -> Iterator[str]:
    """Yield a name as it is, and as it is read back where its marks were taken for markup."""
    yield name.strip()
    yield visible_text(escape_markdown(name)).strip()
    yield visible_text(html.escape(name)).strip()


def _reading_notes(material: Material) -> list[Note]:
    reading = material.reading
    scope = [material.selection.text] if material.selection else []
    return [*reading.understood, *reading.assumptions, *reading.unknown, *material.missing, *scope]


def _notes(material: Material) -> Iterator[Note]:
    yield from _reading_notes(material)
    yield from material.wording.method
    yield from (staged.note for staged in material.notes)
    for finding in material.findings:
        analysis = finding.analysis
        yield analysis.title
        yield from analysis.headings
        yield from analysis.findings
        yield from analysis.cautions
