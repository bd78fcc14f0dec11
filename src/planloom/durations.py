"""Durations as people write them."""

from __future__ import annotations

import re

_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smh])+|\d+(?:\.\d+)?")


def seconds_of(text: str) -> float:
    """Return a duration in seconds; a bare number counts seconds.

    >>> seconds_of("90"), seconds_of("1h30m")
    (90.0, 5400.0)

    Raises:
        ValueError: it is no duration, or none at all.
    """
    total = _total(text.strip().lower())
    if total <= 0:
        raise ValueError(f"{text!r} is no duration")
    return total


def _total(text: str) -> float:
    if not _DURATION.fullmatch(text):
        return 0.0
    if text[-1].isdigit():
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh])", text)
    return sum(float(number) * _UNITS_S[unit] for number, unit in parts)
