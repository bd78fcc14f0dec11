"""A remark for the user that exists in English and in Chinese.

A template may hold `{name}` (an argument: a column name, a count), `{name|row|rows}` (a count with
its English singular and plural) and `{{fact.id}}` or `{{fact.id|row|rows}}` (a computed fact).
Facts stay placeholders until the report is rendered: prose never carries digits of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Lang = Literal["en", "zh"]
Scalar = str | int | float | bool | None

_ARGUMENT = re.compile(r"(?<!\{)\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}(?!\})")


@dataclass(frozen=True, slots=True)
class Note:
    """One remark, in both languages, with its arguments."""

    en: str
    """English template."""
    zh: str
    """Chinese template; the same placeholders."""
    args: Mapping[str, str | int | float] = field(default_factory=dict[str, str | int | float])
    """Values of the `{name}` placeholders. Numbers become facts when the note enters a report."""

    @classmethod
    def same(cls, text: str) -> Note:
        """Return a note that reads alike in both languages, such as a column name."""
        return cls(en="{text}", zh="{text}", args={"text": text})

    def with_args(self, args: Mapping[str, str | int | float]) -> Note:
        """Return the remark with other arguments: a template is written once, and used often.

        >>> Note("Read {file}", "读取 {file}").with_args({"file": "a.csv"}).text("zh")
        '读取 a.csv'
        """
        return Note(self.en, self.zh, args)

    def text(
        self, lang: Lang, *, show: Callable[[str, str | int | float], str] | None = None
    ) -> str:
        """Return the remark in words; fact placeholders are left as they are.

        `show` turns an argument (name, value) into text; by default numbers get thousands marks.

        >>> Note("Dropped {n|row|rows}.", "删除了 {n} 行。", {"n": 1}).text("en")
        'Dropped 1 row.'
        """

        def replace(match: re.Match[str]) -> str:
            name, singular, plural = match.groups()
            value = self.args[name]
            shown = (show or _show)(name, value)
            if plural is None:
                return shown
            return f"{shown} {singular if value == 1 else plural}"

        return _ARGUMENT.sub(replace, self.en if lang == "en" else self.zh)


def _show(_name: str, value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:,}"
