"""Render a report document as Markdown with pictures beside it."""

from __future__ import annotations

import re

from planloom.analysis.report.document import (
    Block,
    Bullets,
    Disclosure,
    Document,
    FactList,
    Figure,
    Grid,
    Markdown,
    Paragraph,
)
from planloom.analysis.report.text import bind_escaped

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")
_LINE_START = re.compile(r"^(\s*(?=[-+])|\s*\d+(?=[.)]))([-+.)])(?=\s)")


def to_markdown(document: Document) -> str:
    """Return the report as GitHub-flavoured Markdown; pictures are at `images/<file_name>`."""
    lines = [f"# {_inline(document, document.title)}"]
    if document.subtitle:
        lines += ["", _inline(document, document.subtitle)]
    for section in document.sections:
        lines += ["", f"{'#' * section.level} {_inline(document, section.heading)}"]
        for block in section.blocks:
            lines += ["", *_block_lines(document, block)]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """Return plain text so that Markdown shows it as it is, on one line.

    >>> escape_markdown("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    single_line = " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
    return _LINE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", single_line))


def _inline(document: Document, text: str) -> str:
    return bind_escaped(text, document.facts, document.lang, escape=escape_markdown)


def _block_lines(document: Document, block: Block) -> list[str]:
    match block:
        case Paragraph():
            mark = "> " if block.tone == "caution" else ""
            return [mark + _inline(document, block.text)]
        case Markdown():
            return [bind_escaped(block.text, document.facts, document.lang, escape=str)]
        case Bullets():
            return [f"- {_inline(document, item)}" for item in block.items]
        case Grid():
            return _grid_lines(document, block)
        case Figure():
            alt = escape_markdown(block.image.alt)
            caption = [f"*{_inline(document, block.caption)}*"] if block.caption else []
            return [f"![{alt}](images/{block.file_name})", *([""] if caption else []), *caption]
        case FactList():
            return _fact_lines(document, block)
        case Disclosure():
            lines = [f"**{_inline(document, block.summary)}**"]
            for inner in block.blocks:
                lines += ["", *_block_lines(document, inner)]
            return lines


def _grid_lines(document: Document, grid: Grid) -> list[str]:
    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(_cell(document, cell) for cell in cells) + " |"

    rule = "|" + "|".join(" ---: " if numeric else " --- " for numeric in grid.numeric) + "|"
    caption = [_inline(document, grid.caption), ""] if grid.caption else []
    return [*caption, line(grid.headings), rule, *(line(row) for row in grid.rows)]


def _cell(document: Document, text: str) -> str:
    fact = document.cell(text)
    return escape_markdown(document.shown(fact)) if fact else _inline(document, text)


def _fact_lines(document: Document, facts: FactList) -> list[str]:
    return [
        f"- {escape_markdown(fact.label.text(document.lang))}: "
        f"{escape_markdown(document.shown(fact))}, "
        f"`{_code(fact.query)}`"
        for fact in facts.facts
    ]


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
