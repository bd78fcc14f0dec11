"""Ids of facts: readable, the same for the same arguments, different for different ones."""

from __future__ import annotations

import hashlib
import re

_USUAL_TABLE = "cleaned"  # the table of nearly every report; naming it in each id would be noise
_RESERVED = frozenset({"rows"})  # says in an id that rows are counted, so a column may not
_LONGEST = 40


def segment(name: str) -> str:
    """Return a column's name as a part of an id: letters and digits of any script, and "_".

    A name that has to be changed for that gets a hash, so that no two names give one segment.

    >>> segment("order_amount"), segment("金额"), segment("net $"), segment("net %")
    ('order_amount', '金额', 'net-...', 'net-...')
    """
    slug = re.sub(r"\W+", "_", name).strip("_")[:_LONGEST]
    if slug == name and slug not in _RESERVED:
        return slug
    return f"{slug}-{digest(name)[:6]}".lstrip("-")


def prefix(kind: str, table: str, *parts: str) -> str:
    """Return what the ids of an analysis start with, such as "trend.amount.month".

    `parts` are segments; those that are options hold a dash ("top-10"), which no column's plain
    segment does.
    """
    place = () if table == _USUAL_TABLE else (f"in-{segment(table)}",)
    return ".".join((kind, *place, *parts))


def table_name(kind: str, prefix: str) -> str:
    """Return a plain identifier for the result of the analysis whose facts start with `prefix`."""
    return f"{kind}_{digest(prefix)[:8]}"


def digest(text: str) -> str:
    """Return the hex SHA-256 of `text`."""
    return hashlib.sha256(text.encode()).hexdigest()
