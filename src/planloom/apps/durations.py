"""Durations as people write them on a command line."""

from __future__ import annotations

import re

from planloom.errors import ConfigError

_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smh])+|\d+(?:\.\d+)?")


def seconds_of(text: str | None, option: str) -> float | None:
    """Return a duration in seconds; a bare number counts seconds. None stays None.

    >>> seconds_of("90", "--max-time"), seconds_of("1h30m", "--max-time")
    (90.0, 5400.0)

    Raises:
        ConfigError: it is no duration, or none at all.
    """
    if text is None:
        return None
    total = _total(text.strip().lower())
    if total <= 0:
        raise ConfigError(
            f"{option} {text}: write a time such as 90 (seconds), 90s, 5m or 1h30m.",
            zh=f"{option} {text}：请写成 90（秒）、90s、5m 或 1h30m 这样的时间。",
        )
    return total


def _total(text: str) -> float:
    if not _DURATION.fullmatch(text):
        return 0.0
    if text[-1].isdigit():
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh])", text)
    return sum(float(number) * _UNITS_S[unit] for number, unit in parts)
