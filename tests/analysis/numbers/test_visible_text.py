"""What a reader sees of Markdown and HTML."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.analysis.numbers.visible_text import visible_text


def test_markdown_markup_goes_and_words_stay() -> None:
    text = visible_text(
        "# Title\n\n> **Bold** and [link](a_1.html) ![pic 2](p.png)\n- item `code 5`"
    )
    assert text.split() == ["Title", "Bold", "and", "link", "pic", "2", "item"]


def test_escaped_marks_stay() -> None:
    assert visible_text(r"drop\_rows 1\.5 \*") == "drop_rows 1.5 *"


def test_fenced_code_goes_also_when_it_is_not_closed() -> None:
    assert visible_text("a\n```\n1\n```\nb\n~~~py\n2\n").split() == ["a", "b"]


def test_cells_of_a_row_stand_apart() -> None:
    assert visible_text("| a | 1 |\n|---|--:|\n| b | 2 |").replace(" ", "") == "a\t1\t\n\n\tb\t2"
    assert visible_text("<table><tr><td>a</td><td>1</td></tr></table>").split("\t") == ["a", "1"]


def test_scripts_styles_code_blocks_and_pictures_of_a_page_go() -> None:
    page = (
        "<!doctype html><html><head><style>a{b:1}</style><title>T 1</title></head><body>"
        "<script>x=2</script><pre>3</pre><svg><text>4</text></svg>"
        "<img src='data:image/png;base64,AAAA5' alt='Alt 6'><p>Text&nbsp;7</p></body></html>"
    )
    assert visible_text(page).split() == ["T", "1", "Alt", "6", "Text", "7"]


def test_a_number_before_a_file_name_stays() -> None:
    assert visible_text("共1234行在data.csv") == "共1234行在"


def test_a_long_number_is_no_hash() -> None:
    assert visible_text("1234567890123456789 deadbeefdeadbeef") == "1234567890123456789"


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    visible_text(text)
    visible_text("<p>" + text)


@pytest.mark.parametrize(
    "text",
    ["[x](javascript:alert(1))", "<script>alert(1)</script>", "a|b", "**7** _8_", "&lt;9&gt;"],
)
def test_escaped_marks_are_text(text: str) -> None:
    escaped = re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", text)
    assert visible_text(f"- {escaped}") == text
