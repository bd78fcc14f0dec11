"""Tools that write reports and put them where the user wants them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from planloom.analysis.recipe import Recipe, SourceFile
from planloom.analysis.report.deliverable import Format, publish, write_report
from planloom.analysis.report.document import Block, Document, Figure, Markdown, Section
from planloom.analysis.report.html import to_html
from planloom.analysis.report.markdown import to_markdown
from planloom.analysis.report.material import Finding, Material, Reading
from planloom.analysis.report.prose import Wording
from planloom.analysis.selection import Selection
from planloom.notes import Note
from planloom.tools.context import ToolContext
from planloom.tools.tables import CleanTable, SourceTable
from planloom.tools.tool import tool
from planloom.values import FileRef, ImageRef, file_sha256

_TIMEOUT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class ReportRef(FileRef):
    """A finished report that has not been handed out yet; `path` is its main file."""

    folder: str
    """Absolute path of the folder with all its files."""


@dataclass(frozen=True, kw_only=True)
class SavedReport(FileRef):
    """A report in its place; `path` is its main file."""

    folder: str
    """Absolute path of the folder."""
    files: tuple[str, ...]
    """Its files, relative to the folder."""


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """One section of a report that a plan writes."""

    heading: str
    text: str = ""
    """Markdown."""
    images: tuple[ImageRef, ...] = ()


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("报告", "markdown"))
def write_markdown_report(
    title: str, sections: list[ReportSection], context: ToolContext
) -> ReportRef:
    """Write a report of headings, Markdown text and pictures, as Markdown and as one HTML page.

    Its numbers are those of the given text; write_data_report is the one that checks them.

    Args:
        title: Title of the report.
        sections: Each with heading, text and images.
    """
    document = Document(
        title=title,
        subtitle="",
        lang=context.lang,
        sections=tuple(_section(number, part) for number, part in enumerate(sections, 1)),
    )
    folder = context.folder / "report"
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    for figure in document.figures:
        shutil.copyfile(figure.image.path, images / figure.file_name)
    (folder / "report.md").write_text(to_markdown(document), encoding="utf-8", newline="\n")
    (folder / "report.html").write_text(to_html(document), encoding="utf-8", newline="\n")
    return _reference(folder, "report.md")


def _section(number: int, part: ReportSection) -> Section:
    blocks: list[Block] = [Markdown(text=part.text)] if part.text else []
    blocks += [
        Figure(image=image, file_name=f"section{number}-{place}{Path(image.path).suffix}")
        for place, image in enumerate(part.images, 1)
    ]
    return Section(heading=part.heading, blocks=tuple(blocks))


@tool(timeout_s=_TIMEOUT_S, isolation="process", keywords=("报告",))
def write_data_report(
    goal: str,
    source: SourceTable,
    cleaned: CleanTable,
    findings: list[Finding],
    context: ToolContext,
    scope: Selection | None = None,
    reading: Reading | None = None,
    missing: list[Note] | None = None,
    formats: list[Format] | None = None,
    wording: Wording | None = None,
) -> ReportRef:
    """Write the report of a data analysis, and check that every number in it has a source.

    Args:
        goal: What the user wants to know.
        source: The table as read.
        cleaned: The cleaned table.
        findings: The analyses with their pictures.
        scope: The rows that the analyses looked at, when not all.
        reading: How the goal was understood.
        missing: What was planned and could not be made.
        formats: "html", "md" or both.
        wording: Text that a model wrote over the facts, and how the report was made.
    """
    recipe = Recipe(
        source=SourceFile(
            file=source.loaded.file, path=source.loaded.path, sha256=source.loaded.sha256
        ),
        table=source.index,
        operations=cleaned.operations,
        conditions=scope.conditions if scope else (),
    )
    material = Material(
        goal=goal,
        lang=context.lang,
        loaded=source.loaded,
        table=source.own,
        traps=cleaned.traps,
        cleaned=cleaned.cleaned,
        findings=tuple(findings),
        reading=reading or Reading(),
        selection=scope,
        missing=tuple(missing or ()),
        wording=wording or Wording(),
        recipe=recipe,
    )
    folder = context.folder / "report"
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier attempt
    chosen = tuple(formats or ("html", "md"))
    write_report(material, folder, formats=chosen)
    return _reference(folder, "report.html" if "html" in chosen else "report.md")


@tool(effect="write", timeout_s=_TIMEOUT_S, idempotent=True, keywords=("保存", "导出", "export"))
def save_report(report: ReportRef, path: str, context: ToolContext) -> SavedReport:
    """Put a finished report into a folder: whole or not at all; an earlier report is replaced.

    Args:
        report: The report.
        path: The folder.
    """
    published = publish(Path(report.folder), context.output_path(path))
    main = _reference(published.folder, Path(report.path).name)
    return SavedReport(
        path=main.path, media_type=main.media_type, size=main.size, sha256=main.sha256,
        folder=main.folder, files=published.files,
    )  # fmt: skip


def _reference(folder: Path, name: str) -> ReportRef:
    path = (folder / name).resolve()
    return ReportRef(
        path=str(path),
        media_type="text/html" if path.suffix == ".html" else "text/markdown",
        size=path.stat().st_size,
        sha256=file_sha256(path),
        folder=str(path.parent),
    )
