"""What a run may spend, from the settings: options, environment, planloom.toml."""

from __future__ import annotations

from planloom.budget import Limits
from planloom.config import Settings


def limits_of(settings: Settings) -> Limits:
    """Return the limits max_cost, max_tokens, max_calls and max_time; None where one is not set."""
    cost, seconds = settings["max_cost"], settings["max_time"]
    tokens, calls = settings["max_tokens"], settings["max_calls"]
    return Limits(
        max_cost=None if cost is None else float(cost),
        max_tokens=None if tokens is None else int(tokens),
        max_calls=None if calls is None else int(calls),
        max_seconds=None if seconds is None else float(seconds),
    )
