"""Decides which sign is the decimal mark and which one groups thousands in a column of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from planloom.analysis.loading.number_text import plain_digits


@dataclass(frozen=True, slots=True)
class Separators:
    """The marks of a column."""

    decimal: str
    thousands: str
    decided: str = ""
    """The decimal mark that some value settles; "" when nothing does."""
    example: str = ""
    """A value that shows the decimal mark."""
    open_point: str = ""
    """A value such as "1.234", taken as a decimal though nothing says that it is not 1234."""


def choose_separators(
    bodies: Iterable[str], *, decimal_comma: bool = False, native: bool = False
) -> Separators:
    """Return the marks that fit the most of the digits-with-separators in `bodies`.

    `decimal_comma` settles values such as "1,234", which could be read both ways; `native` says
    that a point is always the decimal mark.

    >>> choose_separators(["1.234.567", "12"]).thousands
    '.'
    """
    votes: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for body in bodies:
        for vote in _votes(body):
            votes[vote] += 1
            examples.setdefault(vote, body)
    comma, point = votes["decimal ,"], votes["decimal ."]
    decided = ""
    if not native and comma > point:
        decided = ","
    elif point:
        decided = "."
    leans_to_comma = decimal_comma and not native and not point
    if not decided and leans_to_comma and (votes["open ,"] or votes["open ."]):
        decimal = ","
    else:
        decimal = decided or "."
    thousands = _thousands(votes, decimal)
    example = examples.get("decimal ,") or examples.get("open ,") or examples.get("open .") or ""
    is_open = decimal == "." and not decided and not native
    open_point = examples.get("open .", "") if is_open else ""
    return Separators(decimal, thousands, decided, example, open_point)


def _thousands(votes: Counter[str], decimal: str) -> str:
    other = "." if decimal == "," else ","
    for mark in (" ", "'", other):
        if votes[f"grouped {mark}"] or votes[f"open {mark}"]:
            return mark
    return ""


def _votes(body: str) -> list[str]:
    """Return what a number says about the marks: "decimal x", "grouped x" or "open x"."""
    marks = [char for char in body if not char.isdigit()]
    found = [f"grouped {mark}" for mark in (" ", "'") if mark in marks]
    points = [mark for mark in marks if mark in ",."]
    if not points:
        return found
    last = points[-1]
    other = "." if last == "," else ","
    if found:
        return [*found, f"decimal {last}"]
    if len(set(points)) == 2:
        found = [f"decimal {last}", f"grouped {other}"]
        return found if plain_digits(body, last, other) else []
    if len(points) > 1:
        found = [f"decimal {other}", f"grouped {last}"]
        return found if plain_digits(body, other, last) else []
    whole, _, fraction = body.partition(last)
    is_open = len(fraction) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    return [f"open {last}" if is_open else f"decimal {last}"]
