"""The text that a reader of a Markdown or HTML report sees, without code, links and hashes."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

CELL = "\t"
"""Stands between the cells of a table row: no phrase goes across it."""

_HTML_START = re.compile(
    r"\s*(?:<!doctype html|"
    r"<(?:html|head|body|main|article|section|header|div|p|h[1-6]|ul|ol|table|span)\b)",
    re.IGNORECASE,
)
_HIDDEN = frozenset({"script", "style", "template", "pre", "svg"})
_CELLS = frozenset({"td", "th"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details",
        "div", "dl", "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
        "h6", "head", "header", "hr", "html", "li", "main", "nav", "ol", "p", "section", "summary",
        "table", "tbody", "tfoot", "thead", "title", "tr", "ul",
    }
)  # fmt: skip

_FENCE = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^\n]*?[^`\n])\1(?!`)")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\([^()\n]*\)")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_LINK_TARGET = re.compile(r"^[ \t]*\[[^\]\n]+\]:[ \t]+\S+.*$", re.M)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_LIST_MARK = re.compile(r"^[ \t]*(?:>[ \t]*)*(\d{1,3})([.)])[ \t]+", re.M)
_BULLET = re.compile(r"^[ \t]*(?:>[ \t]*)*[-*+][ \t]+", re.M)
_TABLE_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*$", re.M)
_EMPHASIS = re.compile(
    r"(?<!\\)(?:\*{1,3}(?=\S)|(?<=\S)\*{1,3}|"
    r"(?<![A-Za-z0-9_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![A-Za-z0-9_]))"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = 0xE200
_RELEASED = {_HELD + code: chr(code) for code in range(128)}

_PURE_NUMBER = re.compile(r"[\s\d.,:%+\-−–¥$€£/万亿]+")
_URL = re.compile(r"(?:https?|ftp|file)://[^\s<>\"'，。；）】》]+|\bwww\.[^\s<>\"'，。；）】》]+")
_MAIL = re.compile(r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+")
_EXTENSIONS = (
    "csv|tsv|txt|xlsx?|xlsm|ods|parquet|jsonl?|ndjson|gz|zip|md|html?|png|jpe?g|svg|webp|pdf|docx?|"
    "pptx?|py|sql|toml|ya?ml|log|db|sqlite|duckdb"
)
# Only ASCII: in "共1234行在data.csv" the number before the name has to be seen.
_FILE = re.compile(
    r"(?<![A-Za-z0-9_~.\\/-])(?:[A-Za-z]:)?[A-Za-z0-9_~.\\/-]*"
    rf"[A-Za-z0-9_~-]\.(?:{_EXTENSIONS})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_HASH = re.compile(
    r"(?<![0-9A-Za-z])(?=[0-9]*[a-f])[0-9a-f]{16,}(?:…|\.\.\.)?(?![0-9A-Za-z])", re.I
)


def visible_text(markdown_or_html: str) -> str:
    r"""Return what a reader sees: no markup, code blocks, link targets, file names or hashes.

    Lines stay lines; cells of a table row are parted by tabs. Inline code goes too, unless it is
    a bare number: a number is not hidden by putting it in backticks. Markers of numbered lists
    that count up from 1 are no text. Doing it twice changes nothing for plain text.

    >>> visible_text("## Sales\n\n1. **1,234** rows in `data_2024.csv` ([see](x/2.html))")
    'Sales\n\n1,234 rows in   (see)'
    >>> visible_text("<p>Up <b>4</b>%</p><pre>x = 5</pre>")
    'Up 4%'
    """
    if _HTML_START.match(markdown_or_html):
        text = _of_html(markdown_or_html)
    else:
        text = _of_markdown(markdown_or_html)
    for pattern in (_URL, _MAIL, _HASH, _FILE):
        text = pattern.sub(" ", text)
    return text.strip()


def _of_markdown(text: str) -> str:
    # An escaped mark is text: it waits as a private character until the marks that count are gone.
    text = _ESCAPE.sub(lambda match: chr(_HELD + ord(match[1])), text)
    text = _COMMENT.sub(" ", _FENCE.sub("\n", text))
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", _LINK_TARGET.sub("", text)))
    text = _INLINE_CODE.sub(_number_in_code, text)
    text = _without_list_marks(_TAG.sub("", _TABLE_RULE.sub("", text)))
    text = re.sub(r"^[ \t]*#{1,6}[ \t]+|^[ \t]*>[ \t]?", "", _BULLET.sub("", text), flags=re.M)
    text = text.replace("|", CELL)
    return html.unescape(_EMPHASIS.sub("", text)).translate(_RELEASED)


def _number_in_code(match: re.Match[str]) -> str:
    code = match[2].strip()
    return code if _PURE_NUMBER.fullmatch(code) else " "


def _without_list_marks(text: str) -> str:
    """Drop the markers of numbered lists; a number that breaks the count is text."""
    last: dict[str, int] = {}

    def drop(match: re.Match[str]) -> str:
        number = int(match[1])
        if number != 1 and last.get(match[2]) != number - 1:
            return match[0]
        last[match[2]] = number
        return ""

    return _LIST_MARK.sub(drop, text)


def _of_html(text: str) -> str:
    reader = _HtmlText()
    # Embedded pictures are megabytes that say nothing.
    reader.feed(re.sub(r"data:[a-z]+/[^\"'\s)]*", "", text))
    reader.close()
    lines = (re.sub(r"[ \r\f\v]+", " ", line).strip(" ") for line in reader.text().split("\n"))
    return re.sub(r"\n{2,}", "\n", "\n".join(lines))


class _HtmlText(HTMLParser):
    """Collects the visible text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._hidden = 0
        self._code: list[str] | None = None

    def text(self) -> str:
        return "".join(self._pieces)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "sup":
            self._add("^")  # m² and notes: 10<sup>6</sup> must not read as 106
        elif tag == "code" and not self._hidden:
            self._code = []
        elif tag == "img":
            self._add(dict(attrs).get("alt") or "")
        elif tag in _CELLS:
            self._pieces.append(CELL)
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "code" and self._code is not None:
            code, self._code = "".join(self._code).strip(), None
            self._add(code if _PURE_NUMBER.fullmatch(code) else " ")
        self._part(tag)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._code is not None:
            self._code.append(data)
        else:
            self._add(data.replace("\n", " "))

    def _add(self, text: str) -> None:
        if not self._hidden:
            self._pieces.append(text)

    def _part(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._pieces.append("\n")
