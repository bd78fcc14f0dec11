"""Tools that list, read, search and write text files, inside of what the user opened."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from planloom.config import CONFIG_FILE
from planloom.errors import ToolError
from planloom.tools.context import ToolContext
from planloom.tools.text_files import FilePage, numbered_lines, open_text, read_page
from planloom.tools.tool import tool
from planloom.values import FileRef, file_sha256

MAX_LISTED = 200
MAX_MATCHES = 50
_MAX_LOOKED_AT = 20_000
"""Files of a folder; what lies behind them is not looked at."""
_SHOWN_CHARS = 160
_MAX_WRITTEN_CHARS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """A file of a folder."""

    path: str
    """Relative to the folder."""
    size: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class FileList:
    """The files of a folder that fit a pattern."""

    folder: str
    files: tuple[FileEntry, ...]
    """By path, at most `MAX_LISTED`."""
    left_out: int = 0
    """How many more fit; ask for a narrower pattern."""


@dataclass(frozen=True, kw_only=True)
class FoundLine:
    """A line that holds what was searched for."""

    path: str
    line: int
    """From 1."""
    text: str
    """The line, or the part of it around the place."""


@dataclass(frozen=True, kw_only=True)
class FoundLines:
    """What a search found."""

    lines: tuple[FoundLine, ...]
    """At most `MAX_MATCHES`."""
    files_searched: int
    files_skipped: int = 0
    """No text files."""
    is_complete: bool = True
    """False when there may be more; search for something rarer, or in fewer files."""


@tool(effect="read", keywords=("folder", "directory", "ls", "列出", "文件夹", "目录", "文件"))
def list_files(context: ToolContext, folder: str = ".", pattern: str = "*") -> FileList:
    """List the files of a folder with their sizes.

    Args:
        folder: The folder.
        pattern: Which files, such as "*.csv"; "**/*.csv" looks in the folders below, too.
    """
    root = _opened(folder, context)
    if not root.is_dir():
        raise ToolError(f"'{folder}' is no folder. {_what_is_there(root, folder)}")
    found = [
        FileEntry(path=path.relative_to(root).as_posix(), size=path.stat().st_size)
        for path in _matching(root, pattern, context)
    ]
    found.sort(key=lambda entry: entry.path)
    return FileList(
        folder=folder, files=tuple(found[:MAX_LISTED]), left_out=max(0, len(found) - MAX_LISTED)
    )


@tool(effect="read", timeout_s=120, retries=0, keywords=("open", "text", "读取", "打开", "文本"))
def read_file(
    path: str, context: ToolContext, start_line: int = 1, lines: int = 200, start_char: int = 0
) -> FilePage:
    """Read a text file, a page of at most 8,000 characters at a time.

    Args:
        path: The file; its encoding is found out.
        start_line: Where to begin, from 1; `next_line` of the page before.
        lines: How many lines at most.
        start_char: Where in that line to begin; `next_char` of the page before.
    """
    if start_line < 1 or lines < 1 or start_char < 0:
        raise ToolError(
            f"start_line={start_line}, lines={lines}, start_char={start_char} is no part of a "
            "file. Lines count from 1, and at least one is read."
        )
    real = _text_file(path, context)
    return read_page(real, path, start_line=start_line, start_char=start_char, lines=lines)


@tool(effect="read", timeout_s=120, retries=0, keywords=("grep", "find", "搜索", "查找"))
def search_in_files(
    query: str, context: ToolContext, path: str = ".", pattern: str = "**/*", *, regex: bool = False
) -> FoundLines:
    """Find the lines of text files that hold a text or fit a regular expression.

    Args:
        query: The text, capitals not distinguished; or a regular expression.
        path: A file, or the folder to search.
        pattern: Which files of a folder, such as "**/*.md".
        regex: Whether query is a regular expression (no look-around, no back references).
    """
    if not query.strip():
        raise ToolError("The query is empty. Give a text to search for.")
    fits = _expression(query) if regex else _contains(query)
    real = _opened(path, context)
    if real.is_dir():
        files = {found.relative_to(real).as_posix(): found
                 for found in sorted(_matching(real, pattern, context))}  # fmt: skip
    else:
        files = {path: _text_file(path, context)}
    return _search(files, fits, needle="" if regex else query, only_one=not real.is_dir())


@tool(effect="write", timeout_s=60, keywords=("save", "export", "写入", "保存", "文件"))
def write_file(path: str, text: str, context: ToolContext, *, replace: bool = False) -> FileRef:
    """Write a text file in UTF-8 and return it as a result that can be handed out.

    Args:
        path: Name of the new file; a folder may precede it.
        text: The whole content.
        replace: Whether a file that is there already may be replaced.
    """
    if len(text) > _MAX_WRITTEN_CHARS:
        raise ToolError(
            f"The text has {len(text):,} characters; at most {_MAX_WRITTEN_CHARS:,} are written."
        )
    target = _target(path, context)
    if target.is_dir():
        raise ToolError(f"'{path}' is a folder. Name a file in it.")
    if target.exists() and not replace:
        raise ToolError(
            f"There is a file '{path}' already. Choose another name, or pass replace=true."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    part.replace(target)
    media_type = mimetypes.guess_type(target.name)[0] or "text/plain"
    size = target.stat().st_size
    return FileRef(path=str(target), media_type=media_type, size=size, sha256=file_sha256(target))


def _target(path: str, context: ToolContext) -> Path:
    name = Path(_no_nul(path))
    # A bare name means the call's own folder; only full paths mean the user's folders.
    target = context.output_path(str(name if name.is_absolute() else context.folder / name))
    if target.name == CONFIG_FILE or target.name.startswith("."):
        raise ToolError(f"'{path}' may not be written: settings and hidden files are the user's.")
    return target


def _opened(path: str, context: ToolContext) -> Path:
    """Return the real path of what a call may read and that no settings or secrets lie in.

    Raises:
        ToolError: it lies outside of what the user opened, or is hidden.
    """
    real = context.input_path(_no_nul(path))
    if _is_hidden(real, context):
        raise ToolError(
            f"'{path}' may not be read: settings and hidden files often hold keys. "
            "The user can open it by naming it on the command line."
        )
    return real


def _no_nul(path: str) -> str:
    if "\0" in path:
        raise ToolError(f"{path!r} is no path: it holds a NUL character.")
    return path


def _is_hidden(real: Path, context: ToolContext) -> bool:
    for root in (context.folder.parent, *context.readable, context.workspace):
        if real.is_relative_to(base := root.resolve()):
            parts = real.relative_to(base).parts
            if not any(part.startswith(".") or part == CONFIG_FILE for part in parts):
                return False
    return True


def _text_file(path: str, context: ToolContext) -> Path:
    real = _opened(path, context)
    # No device, no pipe: reading those may never end.
    if not real.is_file():
        raise ToolError(f"'{path}' is no file. {_what_is_there(real, path)}")
    return real


def _what_is_there(real: Path, shown: str) -> str:
    from difflib import get_close_matches

    if real.is_dir():
        return f"It is a folder: list_files(folder='{shown}') shows what is in it."
    if real.exists():
        return "Give another path."
    names = [] if not real.parent.is_dir() else [entry.name for entry in real.parent.iterdir()]
    near = get_close_matches(real.name, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else " list_files() shows what is there."
    return f"It does not exist.{hint}"


def _matching(root: Path, pattern: str, context: ToolContext) -> Iterator[Path]:
    """Yield the files below `root` that fit, and that a call may read."""
    if not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
        raise ToolError(
            f"pattern={pattern!r} must stay below the folder, such as '*.csv' or '**/*.md'."
        )
    try:
        candidates = root.glob(pattern)
        for number, path in enumerate(candidates):
            if number >= _MAX_LOOKED_AT:
                return
            if _may_show(path, root, context):
                yield path
    except (ValueError, NotImplementedError) as error:
        raise ToolError(f"pattern={pattern!r} cannot be used: {error}.") from error


def _may_show(path: Path, root: Path, context: ToolContext) -> bool:
    parts = path.relative_to(root).parts
    if any(part.startswith(".") for part in parts) or not path.is_file():
        return False
    real = path.resolve()  # a link may lead out
    roots = (context.workspace, context.folder.parent, *context.readable)
    return any(real.is_relative_to(base.resolve()) for base in roots) and not _is_hidden(
        real, context
    )


def _contains(query: str) -> Callable[[str], bool]:
    wanted = query.casefold()
    return lambda line: wanted in line.casefold()


def _expression(query: str) -> Callable[[str], bool]:
    # Pydantic's expressions run in linear time, whatever a model writes; those of `re` may not.
    from pydantic import StringConstraints, TypeAdapter
    from pydantic_core import SchemaError

    try:
        adapter = TypeAdapter(Annotated[str, StringConstraints(pattern=query)])
    except SchemaError as error:
        raise ToolError(
            f"query={query!r} is no regular expression that can be used: {_reason(error)}. "
            "Look-around and back references are not supported."
        ) from error
    return adapter.validator.isinstance_python


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else type(error).__name__


def _search(
    files: dict[str, Path], fits: Callable[[str], bool], *, needle: str, only_one: bool
) -> FoundLines:
    found: list[FoundLine] = []
    skipped = 0
    for number, (shown, path) in enumerate(files.items()):
        try:
            file, _ = open_text(path, shown)
        except ToolError:
            if only_one:
                raise
            skipped += 1
            continue
        with file:
            for line, text in numbered_lines(file):
                if not fits(text):
                    continue
                if len(found) == MAX_MATCHES:
                    return FoundLines(
                        lines=tuple(found), files_searched=number + 1 - skipped,
                        files_skipped=skipped, is_complete=False,
                    )  # fmt: skip
                found.append(FoundLine(path=shown, line=line, text=_around(text, needle)))
    return FoundLines(
        lines=tuple(found),
        files_searched=len(files) - skipped,
        files_skipped=skipped,
        is_complete=len(files) < _MAX_LOOKED_AT,
    )


def _around(text: str, needle: str) -> str:
    """Return the part of a line around the place where the text stands."""
    if len(text) <= _SHOWN_CHARS:
        return text
    place = max(0, text.casefold().find(needle.casefold()) - _SHOWN_CHARS // 4) if needle else 0
    before, after = "…" if place else "", "…" if place + _SHOWN_CHARS < len(text) else ""
    return f"{before}{text[place : place + _SHOWN_CHARS]}{after}"
