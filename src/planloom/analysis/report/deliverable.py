"""Write a report's folder, check every number in it, and put it where the user wants it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from planloom.analysis.export import export_csv
from planloom.analysis.numbers.checking import Unsourced, unsourced_numbers
from planloom.analysis.report.compose import compose
from planloom.analysis.report.document import Document
from planloom.analysis.report.html import to_html
from planloom.analysis.report.markdown import to_markdown
from planloom.analysis.report.material import Material
from planloom.analysis.report.reproduction import reproduce_script
from planloom.errors import InputError, UnsourcedNumberError

Format = Literal["html", "md"]
FORMATS: tuple[Format, ...] = ("html", "md")
FACTS_FILE = "facts.json"
REPORT_FILES = frozenset(
    {
        "report.html", "report.md", FACTS_FILE, "cleaned.parquet", "cleaned.csv", "reproduce.py",
    }
)  # fmt: skip
"""What a report's folder holds, besides images/."""


def write_report(
    material: Material, folder: Path, *, formats: Sequence[Format] = ("html", "md")
) -> Document:
    """Write all files of a report into `folder` and return its document.

    Files: report.html, report.md with images/, facts.json, cleaned.parquet, cleaned.csv,
    reproduce.py. A model's text that does not pass the check of numbers is left out and the
    templates' own text stays.

    Raises:
        UnsourcedNumberError: the text states a number that no fact, goal or source gives; nothing
            that was written may be handed out then.
    """
    try:
        document, pages = _checked_pages(material, formats)
    except UnsourcedNumberError:
        if not material.wording.has_prose:
            raise
        # The templates' own text is always at hand, and says the same numbers.
        material = replace(material, wording=material.wording.without_prose())
        document, pages = _checked_pages(material, formats)
    folder.mkdir(parents=True, exist_ok=True)
    if "md" in formats:
        _write_markdown(document, pages["md"], folder)
    if "html" in formats:
        (folder / "report.html").write_text(pages["html"], encoding="utf-8", newline="\n")
    shutil.copyfile(material.cleaned.table.path, folder / "cleaned.parquet")
    export_csv(material.cleaned.table, folder / "cleaned.csv")
    _write_facts(material, document, folder / FACTS_FILE)
    script = reproduce_script(material.recipe, version=version("planloom"))
    (folder / "reproduce.py").write_text(script, encoding="utf-8", newline="\n")
    return document


def _checked_pages(
    material: Material, formats: Sequence[Format]
) -> tuple[Document, dict[Format, str]]:
    """Compose and render a report, the Markdown always, and check every number of each page."""
    document = compose(material)
    pages: dict[Format, str] = {"md": to_markdown(document)}
    if "html" in formats:
        pages["html"] = to_html(document)
    for page in pages.values():
        check_numbers(document, page)
    return document, pages


def check_numbers(document: Document, text: str) -> None:
    """Read a finished text back and refuse it when a number in it has no source.

    Raises:
        UnsourcedNumberError: naming each such number, its sentence and the nearest fact.
    """
    found = unsourced_numbers(
        text,
        facts=document.facts.values(),
        allowed=document.allowed,
        labels=document.labels,
        lang=document.lang,
    )
    if found:
        listed = "\n".join(_describe(unsourced) for unsourced in found[:10])
        raise UnsourcedNumberError(
            f"{len(found)} number(s) of the report have no source, so it was not handed out:\n"
            f"{listed}\nThis is a fault of the report's templates; please report it."
        )


def _describe(unsourced: Unsourced) -> str:
    return f"- '{unsourced.numeral.text}' in: {unsourced.sentence.strip()[:200]}"


def _write_markdown(document: Document, text: str, folder: Path) -> None:
    (folder / "report.md").write_text(text, encoding="utf-8", newline="\n")
    images = folder / "images"
    images.mkdir(exist_ok=True)
    for figure in document.figures:
        shutil.copyfile(figure.image.path, images / figure.file_name)


def _write_facts(material: Material, document: Document, path: Path) -> None:
    lang = material.lang
    record = {
        "schema": 1,
        "goal": material.goal,
        "source": [{"file": material.loaded.file, "sha256": material.loaded.sha256}],
        "facts": [
            {
                "id": fact.id, "label": fact.label.text(lang), "value": fact.value,
                "unit": fact.unit, "shown": document.shown(fact), "query": fact.query,
                "table": fact.table, "rows": fact.rows,
            }
            for fact in document.facts.values()
        ],
    }  # fmt: skip
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


@dataclass(frozen=True, slots=True)
class Published:
    """Where a report ended up."""

    folder: Path
    files: tuple[str, ...]


def check_target(out: Path) -> None:
    """Refuse a target that cannot be written or that holds something else than a report.

    Raises:
        InputError: saying what stands in the way.
    """
    parent = next(folder for folder in (out, *out.parents) if folder.exists())
    if not parent.is_dir():
        raise InputError(
            f"The report cannot be written to '{out}': '{parent}' is a file. "
            "Choose another folder (--out).",
            zh=f"无法把报告写入“{out}”：“{parent}”是一个文件。请另选文件夹（--out）。",
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(
            f"The report cannot be written to '{out}': no permission to write in '{parent}'. "
            "Choose another folder (--out).",
            zh=f"无法把报告写入“{out}”：没有“{parent}”的写权限。请另选文件夹（--out）。",
        )
    if foreign := _foreign_files(out):
        raise InputError(
            f"'{out}' holds other files, such as '{foreign[0]}'. Choose an empty or a new folder "
            "(--out); only the files of an earlier report are replaced.",
            zh=f"“{out}”中有其他文件，例如“{foreign[0]}”。"
            "请指定空文件夹或新文件夹（--out）；只有旧报告的文件会被替换。",
        )


def _foreign_files(folder: Path) -> list[str]:
    """Return what lies in a folder that no report of ours would have put there."""
    if not folder.is_dir():
        return []
    own = re.compile(r"images/[\w-]+\.(?:png|svg)")
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    found = (path.relative_to(folder).as_posix() for path in paths)
    return sorted(name for name in found if name not in REPORT_FILES and not own.fullmatch(name))


def publish(folder: Path, out: Path) -> Published:
    """Copy a finished report to `out`: whole or not at all; an earlier report is replaced.

    Raises:
        InputError: the target cannot be written, or the disk is full; what was there before is
            still there.
    """
    check_target(out)
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(folder, part)
        _put_in_place(part, out)
    except OSError as error:
        why = _reason(error)
        raise InputError(
            f"The report could not be written to '{out}': {why}. It is kept in '{folder}'; "
            "free space or choose another folder (--out).",
            zh=f"报告未能写入“{out}”：{why}。报告保留在“{folder}”；"
            "请释放空间，或另选文件夹（--out）。",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return Published(out, tuple(files))


def _put_in_place(part: Path, out: Path) -> None:
    """Give a finished copy its name; an earlier report moves aside until that has worked."""
    if not out.exists():
        part.rename(out)
        return
    old = out.with_name(f".{out.name}.old-{os.getpid()}")
    out.rename(old)
    try:
        part.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _reason(error: OSError) -> str:
    # shutil.Error lists every file; one reason is enough.
    if isinstance(error, shutil.Error) and error.args and error.args[0]:
        return str(error.args[0][0][-1])
    return error.strerror or str(error)
