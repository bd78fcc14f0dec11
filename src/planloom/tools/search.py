"""Finds tools by words of their names, descriptions and parameters, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from planloom.tools.tool import AnyTool

_NAME_WEIGHT, _TEXT_WEIGHT = 3, 1
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def best_matches(query: str, tools: Iterable[AnyTool], limit: int) -> list[AnyTool]:
    """Return the tools that share most words with `query`, best first; ties by name."""
    wanted = set(words(query))
    scored = [(_score(wanted, tool), tool) for tool in tools]
    found = [pair for pair in scored if pair[0] > 0]
    found.sort(key=lambda pair: (-pair[0], pair[1].name))
    return [tool for _, tool in found[:limit]]


def words(text: str) -> Iterator[str]:
    """Yield the words of a text: English ones without plural endings, Chinese ones in pairs.

    >>> list(words("read_csv_files 月度趋势"))
    ['read', 'csv', 'file', '月度', '度趋', '趋势']
    """
    for match in _WORD.finditer(_CAMEL.sub(" ", text).lower()):
        word = match.group()
        if word.isascii():
            yield _singular(word)
        else:
            # Chinese has no blanks between words; most of them have two characters.
            yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _score(wanted: set[str], tool: AnyTool) -> int:
    named = set(words(" ".join((tool.name, tool.toolset, *tool.keywords))))
    parameters = " ".join(parameter.name for parameter in tool.inputs)
    said = set(words(f"{tool.description} {parameters}"))
    return _NAME_WEIGHT * len(wanted & named) + _TEXT_WEIGHT * len(wanted & (said - named))
