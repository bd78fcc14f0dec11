"""What a run may spend, and what it has spent: reserved before a call, settled after it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a run, with everything below it, may spend; None means no limit."""

    max_cost: float | None = None
    """Money, in the currency of the price table (US dollars)."""
    max_tokens: int | None = None
    """Of prompts and completions together."""
    max_calls: int | None = None
    """Calls of models."""
    max_seconds: float | None = None
    """Wall time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What a call may take at worst, or has taken."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """None where no price is known."""
    seconds: float = 0.0
