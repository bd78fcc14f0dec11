"""Tells what kind of data file it is, by its content first and by its name second."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from planloom.analysis.loading.encoding import wide_without_mark
from planloom.analysis.loading.results import FileFormat
from planloom.errors import InputError

HEAD_BYTES = 65_536
MAX_UNPACKED_BYTES = 2 * 1024**3
"""A workbook that unpacks to more is refused: it would fill the memory."""

READABLE = "Give a CSV, TSV, Excel (xlsx, xls), Parquet, JSON or JSON lines file."
READABLE_ZH = "请提供 CSV、TSV、Excel（xlsx、xls）、Parquet、JSON 或 JSON lines 文件。"
# What people hand over by mistake, by its first bytes.
_NO_TABLE = (
    (b"%PDF", "a PDF document", "Export the table as CSV or Excel first."),
    (b"\x89PNG", "a PNG picture", READABLE),
    (b"\xff\xd8\xff", "a JPEG picture", READABLE),
    (b"GIF8", "a GIF picture", READABLE),
    (b"SQLite format 3\0", "an SQLite database", "Export the table as CSV or Parquet first."),
    (b"MZ", "a Windows program", READABLE),
    (b"\x7fELF", "a Linux program", READABLE),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it and give the file inside."),
    (b"Rar!", "a RAR archive", "Unpack it and give the file inside."),
    (b"BZh", "a bzip2 archive", "Unpack it and give the file inside."),
    (b"\xfd7zXZ\0", "an xz archive", "Unpack it and give the file inside."),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "Unpack it and give the file inside."),
    (b"ARROW1", "an Arrow file", "Save it as Parquet first."),
    (b"\x89HDF", "an HDF5 file", "Save the table as Parquet or CSV first."),
    (b"\x80\x04\x95", "a Python pickle", "Save the table as Parquet or CSV first."),
    (b"{\\rtf", "a rich text document", "Copy the table into a CSV or Excel file first."),
)
_HTML = re.compile(rb"\s*(<!doctype html|<html|<\?xml|<table|<meta)", re.IGNORECASE)
_WORKBOOKS: tuple[tuple[str, FileFormat], ...] = (
    ("xl/workbook.xml", "xlsx"), ("xl/workbook.bin", "xlsb"), ("content.xml", "ods"),
)  # fmt: skip
_OTHER_ZIPS = (("word/", "a Word document"), ("ppt/", "a PowerPoint presentation"))
# The stream of an encrypted Office file, in UTF-16 as OLE folders write it.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def is_gzip(path: Path) -> bool:
    """Return whether the file starts as gzip does."""
    return read_head(path, 2) == b"\x1f\x8b"


def read_head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(size)


def recognise_format(
    path: Path, *, name: str = "", max_unpacked_bytes: int = MAX_UNPACKED_BYTES
) -> FileFormat:
    """Return the format of a file that is not packed with gzip; unknown text is "csv".

    `name` is what messages call the file.

    Raises:
        InputError: no table can be read from such content; the message names what it is.
    """
    name = name or path.name
    head = read_head(path)
    for magic, what, advice in _NO_TABLE:
        if head.startswith(magic):
            raise InputError(
                f"'{name}' is {what}, not a data file. {advice}",
                zh=f"“{name}”不是数据文件（{what}）。{READABLE_ZH}",
            )
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _recognise_zip(path, name, max_unpacked_bytes)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        return _recognise_ole(path, name)
    if head.startswith(b"PAR1"):
        return "parquet"
    if _HTML.match(head):
        raise InputError(
            f"'{name}' is a web page (HTML or XML), whatever its ending says. "
            "Open it in a spreadsheet program and save it as xlsx or CSV.",
            zh=f"“{name}”是网页（HTML 或 XML）。请用电子表格软件打开，另存为 xlsx 或 CSV。",
        )
    if _is_binary(head):
        raise InputError(
            f"'{name}' holds binary data of an unknown kind. {READABLE}",
            zh=f"“{name}”是无法识别的二进制文件。{READABLE_ZH}",
        )
    return _recognise_text(head, name)


def _recognise_zip(path: Path, name: str, max_unpacked_bytes: int) -> FileFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(
            f"'{name}' is a damaged workbook or archive: {error}. "
            "Open it in a spreadsheet program, repair it and save it again.",
            zh=f"“{name}”是损坏的工作簿或压缩包。请用电子表格软件打开修复后重新保存。",
        ) from error
    unpacked = sum(member.file_size for member in members)
    if unpacked > max_unpacked_bytes:
        raise InputError(
            f"'{name}' unpacks to {unpacked:,} bytes; at most {max_unpacked_bytes:,} are "
            "read, because such files can fill the memory. Save the sheet as CSV and give that."
        )
    members_named = {member.filename.lower() for member in members}
    for member, file_format in _WORKBOOKS:
        if member in members_named:
            return file_format
    for folder, what in _OTHER_ZIPS:
        if any(member.startswith(folder) for member in members_named):
            raise InputError(
                f"'{name}' is {what}, not a data file. {READABLE}",
                zh=f"“{name}”不是数据文件（{what}）。{READABLE_ZH}",
            )
    shown = ", ".join(sorted(member.filename for member in members)[:3]) or "nothing"
    raise InputError(
        f"'{name}' is a ZIP archive (with {shown}). Unpack it and give the data file inside.",
        zh=f"“{name}”是 ZIP 压缩包（内有 {shown}）。请解压后指定其中的数据文件。",
    )


def _recognise_ole(path: Path, name: str) -> FileFormat:
    content = path.read_bytes()
    if _ENCRYPTED in content:
        raise InputError(
            f"'{name}' is protected by a password. Open it in a spreadsheet program, "
            "remove the password and save it again.",
            zh=f"“{name}”有密码保护。请用电子表格软件打开，去掉密码后重新保存。",
        )
    if "Workbook".encode("utf-16-le") in content or "Book".encode("utf-16-le") in content:
        return "xls"
    raise InputError(
        f"'{name}' is an old Office document, but no workbook. {READABLE}",
        zh=f"“{name}”是旧版 Office 文档，但不是工作簿。{READABLE_ZH}",
    )


def _is_binary(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or wide_without_mark(head):
        return False
    controls = sum(head.count(byte) for byte in range(1, 32) if byte not in (9, 10, 11, 12, 13, 27))
    nuls = head.count(0)
    # UTF-16 with few characters outside of ASCII has many NULs, all in even or all in odd places.
    if nuls > len(head) * 0.3:
        return min(head[::2].count(0), head[1::2].count(0)) > nuls * 0.2
    return controls > max(4, len(head) * 0.05)


def _recognise_text(head: bytes, name: str) -> FileFormat:
    has_mark = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = head.decode("utf-16" if has_mark else wide_without_mark(head) or "utf-8", "replace")
    text = text.lstrip("\ufeff\x1e \t\r\n")
    first, _, rest = text.partition("\n")
    if name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        return "jsonl" if text.startswith(("[", "{")) or _is_json(first) else "csv"
    if not text.startswith(("[", "{")):
        return "csv"
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        # Cut off, damaged, or only the name of a column in brackets.
        return "json" if re.match(r"\[\s*[\[{\]]|\{\s*[\"}]", text) else "csv"
    second = rest.lstrip().partition("\n")[0]
    if second.startswith(text[0]) and _is_json(first) and _is_json(second):
        return "jsonl"
    follows = text[end:].lstrip()[:1]
    return "json" if follows in ("", "[", "{") or text.startswith("{") else "csv"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
