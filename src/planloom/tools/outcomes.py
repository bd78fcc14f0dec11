"""What the value or the exception of a tool means to the caller of the tool."""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import traceback
from dataclasses import replace
from typing import cast

from planloom.errors import BudgetExhaustedError, InputError, ModelError, ToolError
from planloom.notes import Lang, Note
from planloom.tools.codec import decode, encode, shown
from planloom.tools.result import ToolResult
from planloom.tools.signature import type_text
from planloom.tools.tool import AnyTool

_log = logging.getLogger(__name__)

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_MAX_MESSAGE_CHARS = 2000


class BrokenPromiseError(Exception):
    """A tool returned something else than its signature says: a bug of the tool."""


def checked(tool: AnyTool, value: object) -> object:
    """Return what a tool returned when it is of the promised type.

    In a plain text, halves of characters (lone surrogates) become U+FFFD: the call has had its
    effect, and is not to fail for them.

    Raises:
        BrokenPromiseError: it is not, or it has no JSON form.
    """
    if type(value) is str and not value.isascii():
        value = _HALF_CHARACTER.sub("\ufffd", value)
    try:
        # Checked in its JSON form, where a tuple is a list and an Analysis is a TableRef.
        decode(encode(value), cast("type[object]", tool.result_type))
    except ToolError as error:
        raise BrokenPromiseError(
            f"It should return {type_text(tool.result_type)}, but returned {shown(value)}: {error}"
        ) from error
    return value


def failed(tool: AnyTool, error: BaseException, lang: Lang = "en") -> ToolResult:
    """Return the result of a call that raised `error`, in the language of the call."""
    if isinstance(error, ToolError | InputError):
        return ToolResult.failure("tool", _bounded(error.text(lang)))
    if isinstance(error, ModelError):
        return ToolResult.failure("model", _bounded(error.text(lang)))
    if isinstance(error, BudgetExhaustedError):
        return ToolResult.failure("budget", _bounded(error.text(lang)))
    if isinstance(error, OSError):
        # The disk or the network, not the tool, is at fault; later it may work.
        return ToolResult.failure("tool", _bounded(_system_text(tool, error, lang)))
    if isinstance(error, asyncio.CancelledError):
        return ToolResult.failure("cancelled", f"Tool '{tool.name}' cancelled itself.")
    if isinstance(error, BrokenPromiseError):
        return ToolResult.failure("crash", f"Tool '{tool.name}' has a bug. {_bounded(str(error))}")
    # What the tool says is for its caller; where in its code it was raised is for its developer.
    _log.info("Tool '%s' raised an exception.", tool.name, exc_info=error)
    said = traceback.format_exception_only(error)[-1].strip()
    failure = Note(
        "Tool '{tool}' failed: {said}",
        "工具“{tool}”执行失败：{said}",
        {"tool": tool.name, "said": _bounded(said)},
    )
    return replace(ToolResult.failure("crash", failure.text(lang)), raised_at=_where(error))


def _system_text(tool: AnyTool, error: OSError, lang: Lang) -> str:
    what = error.strerror or str(error) or type(error).__name__
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    place = f": {' -> '.join(names)}" if names else ""
    mends = (mend for codes, mend in _SYSTEM_MENDS.items() if error.errno in codes)
    mend = next(mends, _OTHER_MEND).text(lang)
    said = Note(
        "Tool '{tool}' could not go on: {what}{place}.",
        "工具“{tool}”无法继续：{what}{place}。",
        {"tool": tool.name, "what": what, "place": place},
    )
    return f"{said.text(lang)}{' ' if lang == 'en' else ''}{mend}"


_SYSTEM_MENDS: dict[tuple[int, ...], Note] = {
    (errno.ENOSPC, errno.EDQUOT): Note(
        "Free some disk space and try again.", "请清理磁盘空间后重试。"
    ),
    (errno.EACCES, errno.EPERM, errno.EROFS): Note(
        "Use a place that may be read and written, or change its permissions.",
        "请改用有读写权限的位置，或修改其权限。",
    ),
    (errno.ENOENT, errno.ENOTDIR, errno.EISDIR): Note("Check the path.", "请检查路径是否正确。"),
}
_OTHER_MEND = Note(
    "Check the file, the disk or the connection, and try again.",
    "请检查文件、磁盘或网络连接后重试。",
)


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _bounded(text: str) -> str:
    cut = text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 3] + "..."
    # Half a character cannot be written to any record.
    return cut.encode("utf-8", "backslashreplace").decode()
