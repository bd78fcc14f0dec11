"""One document, rendered as Markdown and as HTML."""

import hashlib
import re
import struct
import zlib
from html import unescape
from pathlib import Path

import pytest

from planloom.analysis.report.document import (
    Bullets,
    Disclosure,
    Document,
    FactList,
    Figure,
    Grid,
    Markdown,
    Paragraph,
    Section,
)
from planloom.analysis.report.html import clean_markdown, to_html
from planloom.analysis.report.markdown import escape_markdown, to_markdown
from planloom.analysis.report.text import guard
from planloom.notes import Note
from planloom.values import Fact, ImageRef

EVIL = '<script>alert(1)</script>|"x" {{nothing}} *b*'
FACT = Fact(
    id="t.sum", label=Note("Total <b>", "合计"), value=1500, unit="$",
    query='SELECT sum("a|b") FROM cleaned', table="cleaned", rows=7,
)  # fmt: skip


def png(path: Path) -> ImageRef:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    content = (
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    )
    path.write_bytes(content)
    return ImageRef(
        path=str(path), media_type="image/png", size=len(content), width=1, height=1,
        sha256=hashlib.sha256(content).hexdigest(), alt='A "chart" of <things>',
    )  # fmt: skip


@pytest.fixture
def document(tmp_path: Path) -> Document:
    grid = Grid(headings=("Name", "Sum"), rows=((guard(EVIL), "{{t.sum}}"),), numeric=(False, True))
    return Document(
        title=guard(EVIL),
        subtitle="{{t.sum}} in all",
        lang="en",
        sections=(
            Section(
                heading="One",
                blocks=(
                    Paragraph(text=guard(EVIL), tone="caution"),
                    Bullets(items=("{{t.sum}} here",)),
                    grid,
                    Figure(image=png(tmp_path / "p.png"), file_name="p.png", caption="See"),
                    Markdown(text="**bold** <img src=x onerror=alert(1)> [l](javascript:alert(1))"),
                    Disclosure(summary="How", blocks=(FactList(facts=(FACT,)),)),
                ),
            ),
        ),
        facts={FACT.id: FACT},
    )


def test_html_shows_data_as_text_and_runs_nothing(document: Document):
    page = to_html(document)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "{{nothing}}" in page
    assert "<img src=x" not in page
    assert 'href="javascript' not in page


def test_html_policy_allows_its_own_style_and_nothing_else(document: Document):
    page = to_html(document)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r'style="', page)
    assert not re.search(r'(?:src|href)="(?!data:|#)', page)


def test_every_number_links_to_how_it_was_computed(document: Document):
    page = to_html(document)
    targets = set(re.findall(r'id="(fact-\d+)"', page))
    links = re.findall(r'<a class="n" href="#(fact-\d+)" data-tip="([^"]+)"', page)
    assert {target for target, _ in links} == targets == {"fact-1"}
    assert "SELECT sum(&quot;a|b&quot;) FROM cleaned" in links[0][1]
    assert "7 rows of cleaned" in links[0][1]


def test_markdown_keeps_table_cells_and_marks_apart(document: Document):
    text = to_markdown(document)
    row = next(line for line in text.splitlines() if "alert" in line and line.startswith("| "))
    assert row.count(" | ") == 1
    assert "\\*b\\*" in row
    assert "{{nothing}}" in row
    assert row.endswith("| $1,500 |")
    assert '![A "chart" of \\<things\\>](images/p.png)' in text


@pytest.mark.parametrize(
    "text", ["1. no list", "- no list", "# no heading", "a\n# b", "+ x", "&lt;b&gt; &amp;"]
)
def test_plain_text_does_not_become_markdown(text: str):
    from markdown_it import MarkdownIt

    html = MarkdownIt().render(escape_markdown(text))
    assert html.startswith("<p>")
    assert html.count("<") == 2
    assert unescape(html)[3:-5].replace("\n", " ") == text.replace("\n", " ")


def test_free_markdown_is_cleaned():
    html = clean_markdown("**b** <b onclick=x>raw</b> ![i](http://x/y.png) [ok](https://e.org)")
    assert "<strong>b</strong>" in html
    assert "<b" not in html.replace("&lt;b", "")
    assert "<img" not in html
    assert 'href="https://e.org"' in html
