"""What the value or the exception of a tool means to the caller of the tool."""

from __future__ import annotations

import asyncio
import traceback
from pathlib import Path
from typing import cast

from planloom.errors import InputError, ToolError
from planloom.tools.codec import decode, encode, shown
from planloom.tools.result import ToolResult
from planloom.tools.signature import type_text
from planloom.tools.tool import AnyTool

_MAX_MESSAGE_CHARS = 2000


class BrokenPromiseError(Exception):
    """A tool returned something else than its signature says: a bug of the tool."""


def checked(tool: AnyTool, value: object) -> object:
    """Return what a tool returned, unchanged, when it is of the promised type.

    Raises:
        BrokenPromiseError: it is not, or it has no JSON form.
    """
    try:
        # Checked in its JSON form, where a tuple is a list and an Analysis is a TableRef.
        decode(encode(value), cast("type[object]", tool.result_type))
    except ToolError as error:
        raise BrokenPromiseError(
            f"It should return {type_text(tool.result_type)}, but returned {shown(value)}: {error}"
        ) from error
    return value


def failed(tool: AnyTool, error: BaseException) -> ToolResult:
    """Return the result of a call that raised `error`."""
    if isinstance(error, ToolError | InputError):
        return ToolResult.failure("tool", _bounded(str(error)))
    if isinstance(error, asyncio.CancelledError):
        return ToolResult.failure("cancelled", f"Tool '{tool.name}' cancelled itself.")
    if isinstance(error, BrokenPromiseError):
        return ToolResult.failure("crash", f"Tool '{tool.name}' has a bug. {_bounded(str(error))}")
    said = traceback.format_exception_only(error)[-1].strip()
    return ToolResult.failure(
        "crash",
        f"Tool '{tool.name}' has a bug and raised {_bounded(said)}{_where(error)}. "
        "Other arguments may work; the bug itself has to be mended in the tool.",
    )


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    return f" ({Path(last.filename).name}, line {last.lineno}: {last.line})"


def _bounded(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 3] + "..."
