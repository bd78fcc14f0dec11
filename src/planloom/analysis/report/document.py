"""The report as data: sections of blocks whose prose cites facts, before any rendering.

Text in blocks is plain text (never markup) that may hold `{{fact.id}}` placeholders, except for
`Markdown`, which a person or a model wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planloom.analysis.numbers.formatting import show_fact
from planloom.notes import Lang
from planloom.values import Fact, ImageRef


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """One paragraph of plain text."""

    text: str
    tone: str = ""
    """"lead" (the first sentence of a report), "caution", "muted" or ""."""


@dataclass(frozen=True, kw_only=True)
class Markdown:
    """Text with Markdown marks; raw HTML in it is shown as text."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Bullets:
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table small enough to read."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells as text; a cell that is one fact placeholder is shown as `Document.cells` says."""
    numeric: tuple[bool, ...]
    """For each column: aligned right."""
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture with its caption."""

    image: ImageRef
    file_name: str
    """Name under `images/` beside the Markdown."""
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """Blocks that stay folded until asked for (open in print and in Markdown)."""

    summary: str
    blocks: tuple[Paragraph | Bullets | Grid | FactList, ...]


@dataclass(frozen=True, kw_only=True)
class FactList:
    """How every number was computed; each entry is the target of the numbers' links."""

    facts: tuple[Fact, ...]


Block = Paragraph | Markdown | Bullets | Grid | Figure | Disclosure | FactList


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]
    level: int = 2
    """2 for a section, 3 for a part of one."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A whole report, ready to be rendered as Markdown or HTML."""

    title: str
    subtitle: str
    lang: Lang
    sections: tuple[Section, ...]
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    """Every fact that the text may cite, by id."""
    cells: Mapping[str, str] = field(default_factory=dict[str, str])
    """How table cells show their fact, by id: in full, all of a column alike."""
    allowed: tuple[str, ...] = ()
    """Texts whose numbers need no fact: the goal, quoted cells of the source."""
    labels: tuple[str, ...] = ()
    """Names of the data (columns, categories), whose numbers are part of the name."""

    def shown(self, fact: Fact) -> str:
        """Return a fact's value as the report shows it where it stands alone."""
        return self.cells.get(fact.id) or show_fact(fact, self.lang)

    def cell(self, text: str) -> Fact | None:
        """Return the fact that a table cell consists of; None when it is other text."""
        if text.startswith("{{") and text.endswith("}}"):
            return self.facts.get(text[2:-2])
        return None

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, in order."""
        return tuple(
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Figure)
        )
