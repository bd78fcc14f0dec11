"""Render a report document as one self-contained HTML page: no script, no outside request."""

from __future__ import annotations

import base64
import hashlib
import html
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from planloom.analysis.report.document import (
    Block,
    Disclosure,
    Document,
    FactList,
    Figure,
    Section,
)
from planloom.analysis.report.text import bind_escaped
from planloom.notes import Lang
from planloom.values import Fact, ImageRef

_HTML_LANG = {"en": "en", "zh": "zh-CN"}
_TIP_CHARS = 400


def to_html(document: Document) -> str:
    """Return the report as one HTML page with its pictures inside.

    The page asks nothing of the network, and its content security policy forbids it to.
    """
    style = _resource("style.css")
    page = _Page(document)
    return _template().render(
        document=document,
        html_lang=_HTML_LANG[document.lang],
        style=Markup(style),  # noqa: S704 - our own file
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        table_word={"en": "Table", "zh": "表格"}[document.lang],
        kind_of=_kind_of,
        bound=page.bound,
        cell_html=page.cell,
        plain=page.plain,
        label=page.label,
        shown=page.shown,
        anchor=page.anchor,
        markdown=page.markdown,
        opens_with_figure=_opens_with_figure,
        is_facts=_holds_facts,
        data_uri=_data_uri,
    )


class _Page:
    """What the template needs to know of one document."""

    def __init__(self, document: Document):
        self._document = document
        listed = [
            fact
            for section in document.sections
            for block in _flat(section.blocks)
            if isinstance(block, FactList)
            for fact in block.facts
        ]
        self._anchors = {fact.id: f"fact-{number}" for number, fact in enumerate(listed, 1)}

    def bound(self, text: str) -> Markup:
        """Return escaped text whose numbers link to how they were computed."""
        facts, lang = self._document.facts, self._document.lang
        return Markup(  # noqa: S704 - every part is escaped
            bind_escaped(text, facts, lang, escape=html.escape, wrap=self._link)
        )

    def cell(self, text: str) -> Markup:
        """Return a table cell, with its number linked."""
        fact = self._document.cell(text)
        if fact is None:
            return self.bound(text)
        return Markup(self._link(fact, self._document.shown(fact)))  # noqa: S704 - escaped there

    def plain(self, text: str) -> str:
        """Return text with numbers but without links, for the window title."""
        facts, lang = self._document.facts, self._document.lang
        return bind_escaped(text, facts, lang, escape=str)

    def markdown(self, text: str) -> Markup:
        """Return a person's or a model's Markdown as clean HTML."""
        facts, lang = self._document.facts, self._document.lang
        bound = bind_escaped(text, facts, lang, escape=str)
        return Markup(clean_markdown(bound))  # noqa: S704 - cleaned by nh3

    def label(self, fact: Fact) -> str:
        """Return what a fact is, in words."""
        return fact.label.text(self._document.lang)

    def shown(self, fact: Fact) -> str:
        """Return a fact's value as the report shows it."""
        return self._document.shown(fact)

    def anchor(self, fact: Fact) -> str:
        """Return the id of the fact's entry in the list of facts."""
        return self._anchors[fact.id]

    def _link(self, fact: Fact, shown: str) -> str:
        text = html.escape(shown)
        anchor = self._anchors.get(fact.id)
        if anchor is None:
            return text
        tip = html.escape(_tip(fact, self._document.lang))
        return f'<a class="n" href="#{anchor}" data-tip="{tip}">{text}</a>'


def clean_markdown(text: str) -> str:
    """Return Markdown as HTML in which nothing runs, loads or hides (raw HTML is shown as text)."""
    import nh3
    from markdown_it import MarkdownIt

    rendered = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return nh3.clean(rendered, tags=nh3.ALLOWED_TAGS - {"img"})


def _tip(fact: Fact, lang: Lang) -> str:
    query = " ".join(fact.query.split())
    if len(query) > _TIP_CHARS:
        query = query[:_TIP_CHARS] + " …"
    rows = {
        "en": f"{fact.rows:,} rows of {fact.table}",
        "zh": f"基于 {fact.table} 的 {fact.rows:,} 行",
    }
    return f"{fact.label.text(lang)} · {rows[lang]}\n{query}"


def _kind_of(block: Block) -> str:
    return type(block).__name__


def _flat(blocks: tuple[Block, ...]) -> list[Block]:
    inner = [part for block in blocks if isinstance(block, Disclosure) for part in block.blocks]
    return [*blocks, *inner]


def _opens_with_figure(section: Section) -> bool:
    # The picture's own title says the same; the heading stays for outlines and screen readers.
    return bool(section.blocks) and isinstance(section.blocks[0], Figure)


def _holds_facts(block: Block) -> bool:
    return isinstance(block, Disclosure) and any(isinstance(b, FactList) for b in block.blocks)


def _data_uri(image: ImageRef) -> str:
    content = base64.b64encode(Path(image.path).read_bytes()).decode()
    return f"data:{image.media_type};base64,{content}"


def _resource(name: str) -> str:
    folder = files("planloom.analysis.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


@cache
def _template():
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_resource("report.html.j2"))
