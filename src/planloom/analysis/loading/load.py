"""The door to data files: any of them becomes typed tables, with every decision in words."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from planloom.analysis.loading.byte_scan import scan_bytes, unpack_gzip
from planloom.analysis.loading.delimited import SMALL_BYTES, load_delimited
from planloom.analysis.loading.encoding import detect_encoding
from planloom.analysis.loading.results import LoadedFile, LoadedTable
from planloom.analysis.loading.sniffing import is_gzip, recognise_format
from planloom.analysis.loading.staging import SCRATCH
from planloom.analysis.loading.structured import load_json, load_parquet
from planloom.analysis.loading.workbook import load_workbook
from planloom.errors import InputError
from planloom.notes import Note
from planloom.values import file_sha256

_PACKED = frozenset({".gz", ".gzip"})


def load_file(
    path: Path,
    *,
    out: Path,
    progress: Callable[[int], None] | None = None,
    small_bytes: int = SMALL_BYTES,
) -> LoadedFile:
    """Read a data file and write its tables as Parquet files below `out`.

    `out` is made when it is missing and should be empty: names such as `source.parquet` are
    overwritten. `progress` is told how much is done, in percent. Delimited text of more than
    `small_bytes` is handed to DuckDB where that is sure to give the same rows.

    Raises:
        InputError: the file is missing, empty, protected, damaged or holds no table; the message
            says what to do.
    """
    path = path.absolute()
    _check(path)
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    report = progress or _ignore
    report(0)
    scratch = out / SCRATCH
    scratch.mkdir(exist_ok=True)
    try:
        loaded = _load(path, out, report, small_bytes)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    report(100)
    return loaded


def _check(path: Path) -> None:
    if not path.exists():
        near = sorted(other.name for other in path.parent.glob("*") if other.is_file())[:5]
        there = f" The folder holds: {', '.join(near)}." if near else ""
        raise InputError(
            f"There is no file '{path}'.{there} Check the name and the folder.",
            zh=f"文件“{path}”不存在。请检查文件名和所在文件夹。",
        )
    if path.is_dir():
        raise InputError(
            f"'{path}' is a folder. Give one of the data files inside it.",
            zh=f"“{path}”是文件夹，请指定其中的数据文件。",
        )
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be read: {error.strerror}. Check the rights of the file.",
            zh=f"“{path}”无法读取：{error.strerror}。请检查文件权限。",
        ) from error
    if not first:
        raise InputError(
            f"'{path.name}' is empty (0 bytes). Export or download it again.",
            zh=f"“{path.name}”是空文件（0 字节）。请重新导出或下载。",
        )


def _load(path: Path, out: Path, report: Callable[[int], None], small_bytes: int) -> LoadedFile:
    content, notes = path, ()
    if is_gzip(path):
        content = out / SCRATCH / "unpacked"
        unpack_gzip(path, content)
        notes = (Note("The file was unpacked with gzip.", "文件已用 gzip 解压。"),)
        if not content.stat().st_size:
            raise InputError(
                f"'{path.name}' is empty once unpacked. Export it again.",
                zh=f"“{path.name}”解压后是空的，请重新导出。",
            )
    title = _title(path)
    file_format = recognise_format(content, name=path.name)
    report(5)
    encoding = delimiter = ""
    tables: tuple[LoadedTable, ...]
    match file_format:
        case "parquet":
            tables = (load_parquet(content, out=out, title=title, name=path.name),)
        case "xlsx" | "xlsb" | "xls" | "ods":
            tables, found = load_workbook(content, file_format, out=out, name=path.name)
            notes = (*notes, *found)
        case _:
            scan = scan_bytes(content)
            report(20)
            text_encoding = detect_encoding(content, scan)
            encoding = text_encoding.name
            notes = (*notes, *text_encoding.notes)
            if file_format == "csv":
                table, delimiter = load_delimited(
                    content,
                    scan,
                    text_encoding,
                    out=out,
                    title=title,
                    name=path.name,
                    small_bytes=small_bytes,
                )
                tables = (table,)
            else:
                tables, found = load_json(
                    content, scan, text_encoding,
                    file_format=file_format, out=out, title=title, name=path.name,
                )  # fmt: skip
                notes = (*notes, *found)
    return LoadedFile(
        file=path.name, path=str(path), sha256=file_sha256(path), size=path.stat().st_size,
        format=file_format, encoding=encoding, delimiter=delimiter, tables=tables,
        decisions=notes,
    )  # fmt: skip


def _title(path: Path) -> str:
    name = path.name
    if path.suffix.lower() in _PACKED:
        name = path.stem
    return Path(name).stem or path.name


def _ignore(_percent: int) -> None:
    """Report progress to nobody."""
