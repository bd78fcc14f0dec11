"""Text on its way into a report: data kept apart from placeholders, prose bound to facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from planloom.analysis.numbers.binding import bind
from planloom.notes import Lang
from planloom.values import Fact

_PLACEHOLDER = re.compile(r"(\{\{[^{}]*\}\})")
# Braces of the data travel as private-use characters, so that a cell saying "{{x}}" stays a cell.
_GUARD = str.maketrans({"{": "\ue07b", "}": "\ue07d"})
_UNGUARD = str.maketrans({"\ue07b": "{", "\ue07d": "}"})


def guard(text: str) -> str:
    """Return text of the data so that nothing in it can be taken for a placeholder."""
    return text.translate(_GUARD)


def unguard(text: str) -> str:
    """Undo `guard`."""
    return text.translate(_UNGUARD)


def bind_escaped(
    text: str,
    facts: Mapping[str, Fact],
    lang: Lang,
    *,
    escape: Callable[[str], str],
    wrap: Callable[[Fact, str], str] | None = None,
) -> str:
    """Escape everything but the placeholders, then put the facts' shown values in.

    Raises:
        UnsourcedNumberError: the text cites a fact that does not exist.
    """
    parts = _PLACEHOLDER.split(text)
    escaped = "".join(part if position % 2 else escape(part) for position, part in enumerate(parts))
    return unguard(bind(escaped, facts, lang, wrap=wrap or (lambda _, shown: escape(shown))))
