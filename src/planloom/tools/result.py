"""What one tool call gave: a value, or an error that its caller can act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ErrorKind = Literal[
    "", "unknown_tool", "arguments", "tool", "timeout", "cancelled", "crash", "denied", "model",
    "budget",
]  # fmt: skip

MAX_REPLY_BYTES = 32 * 1024 * 1024
"""Of a result that comes from another process; larger ones belong in a file that it refers to."""


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """The outcome of one call; a failure is never a success whose text says "error"."""

    ok: bool
    value: object = None
    """What the tool returned, typed as it promised; None after a failure."""
    error: str = ""
    """What went wrong, with the value, then what to do; "" after a success."""
    error_kind: ErrorKind = ""
    """Who can act on it: `arguments` and `tool` speak to the caller, `crash` is an exception of the
    tool that was not meant for the caller (or the death of its process), `denied` means that nobody
    approved the call, `model` that a language model gave no usable reply, `budget` that the run may
    spend no more."""
    seconds: float = 0.0
    """Wall time of the call."""
    raised_at: str = ""
    """File and line where the tool raised what it was not meant to, for its developer."""

    @classmethod
    def success(cls, value: object, *, seconds: float = 0.0) -> ToolResult:
        """Return the result of a call that worked."""
        return cls(ok=True, value=value, seconds=seconds)

    @classmethod
    def failure(cls, kind: ErrorKind, error: str, *, seconds: float = 0.0) -> ToolResult:
        """Return the result of a call that failed."""
        return cls(ok=False, error=error, error_kind=kind, seconds=seconds)
