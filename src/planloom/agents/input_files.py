"""Files that a user hands over, looked at before any work begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from planloom.errors import UsageError


def existing_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the absolute paths of files that are there and may be read, each once.

    Raises:
        UsageError: one is not; says what it is, or which name was meant.
    """
    return tuple(dict.fromkeys(existing_file(path) for path in paths))


def existing_file(path: Path) -> Path:
    """Return the absolute path of a file that is there and may be read; see `existing_files`."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"The name of the file {str(path)!r} is no valid text. Rename it.",
            zh=f"文件名 {str(path)!r} 不是有效的文字，请重命名。",
        ) from error
    if path.is_dir():
        raise UsageError(
            f"'{path}' is a folder. Name the file inside it.",
            zh=f"“{path}”是文件夹，请指定其中的文件。",
        )
    if not path.is_file():
        near = _nearest(path)
        raise UsageError(
            f"There is no file '{path}'." + (f" Did you mean '{near}'?" if near else ""),
            zh=f"文件“{path}”不存在。" + (f"是否指“{near}”？" if near else ""),
        )
    if not os.access(path, os.R_OK):
        raise UsageError(
            f"'{path}' may not be read. Change its permissions.",
            zh=f"没有读取“{path}”的权限，请修改文件权限。",
        )
    return path.resolve()


def _nearest(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    found = get_close_matches(path.name, names, n=1)
    return str(path.parent / found[0]) if found else ""
