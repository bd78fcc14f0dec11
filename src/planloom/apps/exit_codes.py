"""Exit codes of the command line, fixed for scripts."""

from __future__ import annotations

SUCCEEDED = 0
FAILED = 1
USAGE = 2
PARTIAL = 3
WAITING = 4
CANCELLED = 130
TERMINATED = 143
"""Cancelled by SIGTERM: what shells say of a process that it ended."""

BY_STATUS = {
    "succeeded": SUCCEEDED,
    "partial": PARTIAL,
    "waiting": WAITING,
    "cancelled": CANCELLED,
}
"""Code of each run status; every other status is a failure."""
