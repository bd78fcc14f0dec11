"""Compose the document of a data report from its material."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path

from planloom.analysis.analyses.labels import MISSING, is_other, label_note
from planloom.analysis.cell_facts import cell_facts
from planloom.analysis.numbers.formatting import show_column
from planloom.analysis.report.document import (
    Block,
    Bullets,
    Disclosure,
    Document,
    FactList,
    Figure,
    Grid,
    Paragraph,
    Section,
)
from planloom.analysis.report.material import Finding, Material
from planloom.analysis.report.own_words import free_texts, names
from planloom.analysis.report.quality import QualityPart, heading_unit, quality_part
from planloom.analysis.report.text import guard
from planloom.notes import Lang, Note
from planloom.values import Column, Fact

MAX_TABLE_ROWS = 31
_MAX_HEADLINES = 7


def compose(material: Material) -> Document:
    """Return the report: findings, data quality, charts and tables, reading, limits, provenance."""
    lang = material.lang
    quality = quality_part(material)
    analysed = [
        _AnalysisPart(finding, lang, number, _paragraph(material, number))
        for number, finding in enumerate(material.findings, 1)
    ]
    facts = {fact.id: fact for fact in chain(quality.facts, *(part.facts for part in analysed))}
    sections = (
        _headlines(material),
        Section(heading=_word("quality", lang), blocks=quality.blocks),
        *_analysis_sections(analysed, lang),
        _reading(material),
        _limits(material, quality),
        _provenance(material, tuple(facts.values())),
    )
    return Document(
        title=_title(material),
        subtitle=_subtitle(material, quality),
        lang=lang,
        sections=sections,
        facts=facts,
        allowed=free_texts(material),
        cells={**quality.cells, **{i: t for part in analysed for i, t in part.cells.items()}},
        labels=names(material, facts.values(), quality.texts),
    )


_WORDS = {
    "findings": Note("Findings", "主要发现"),
    "quality": Note("Data quality and cleaning", "数据质量与清洗"),
    "charts": Note("Charts and tables", "图表与明细"),
    "reading": Note("How the goal was understood", "对目标的理解"),
    "limits": Note("Limits", "局限"),
    "provenance": Note("Provenance", "来源与复核"),
}


def _word(name: str, lang: Lang) -> str:
    return _WORDS[name].text(lang)


def say(note: Note, lang: Lang) -> str:
    """Return a remark whose facts stay placeholders and whose other words are data."""
    return note.text(
        lang, show=lambda _, value: guard(value if isinstance(value, str) else f"{value:,}")
    )


def _title(material: Material) -> str:
    name = guard(material.table.title.replace("_", " ").strip() or material.loaded.file)
    return name[:1].upper() + name[1:]


def _subtitle(material: Material, quality: QualityPart) -> str:
    goal = guard(" ".join(material.goal.split()))
    rows = quality.rows.id
    if material.lang == "zh":
        analysed = f"分析 {{{{{rows}}}}} 行数据"
        return f"目标：{goal} · {analysed}" if goal else analysed
    analysed = f"{{{{{rows}|row|rows}}}} analysed"
    return f"Goal: {goal} · {analysed}" if goal else analysed


def _headlines(material: Material) -> Section:
    """The first finding of each analysis in the order of the goal, then the second ones."""
    lang = material.lang
    by_analysis = [
        [say(note, lang) for note in finding.analysis.findings] for finding in material.findings
    ]
    depth = max((len(texts) for texts in by_analysis), default=0)
    ranked = [texts[rank] for rank in range(depth) for texts in by_analysis if rank < len(texts)]
    blocks: list[Block] = []
    if material.wording.summary:
        blocks.append(Paragraph(text=material.wording.summary, tone="lead"))
        if found := tuple(dict.fromkeys(ranked[:_MAX_HEADLINES])):
            blocks.append(Bullets(items=found))
    elif ranked:
        blocks.append(Paragraph(text=ranked[0], tone="lead"))
        if more := tuple(dict.fromkeys(ranked[1:_MAX_HEADLINES])):
            blocks.append(Bullets(items=more))
    else:
        blocks = [Paragraph(text=_NOTHING.text(lang), tone="lead")]
    blocks += [Paragraph(text=say(note, lang), tone="caution") for note in material.reading.unknown]
    return Section(heading=_word("findings", lang), blocks=tuple(blocks))


def _paragraph(material: Material, number: int) -> str:
    """Return what a model says on an analysis, counted from 1; "" when it says nothing."""
    paragraphs = material.wording.paragraphs
    return paragraphs[number - 1] if number <= len(paragraphs) else ""


_NOTHING = Note(
    "The data holds nothing that could be analysed; see the data quality section for the reason.",
    "数据中没有可供分析的内容，原因见“数据质量与清洗”。",
)


class _AnalysisPart:
    """One analysis: picture, findings, cautions, table, and the facts of all of them."""

    def __init__(self, finding: Finding, lang: Lang, number: int, paragraph: str = ""):
        self.analysis = finding.analysis
        self._paragraph = paragraph
        self._number = number
        self._image = finding.image
        self._lang: Lang = lang
        self._cells = cell_facts(finding.analysis, max_rows=MAX_TABLE_ROWS)
        self._rest = {
            cell: _rest_count(fact) for cell, fact in self._cells.items() if is_other(fact.value)
        }
        self.facts: tuple[Fact, ...] = (
            *finding.analysis.facts,
            *self._cells.values(),
            *self._rest.values(),
        )

    @property
    def cells(self) -> dict[str, str]:
        """The cells as the table shows them, by the id of their fact."""
        shown: dict[str, str] = {}
        for column in self.analysis.columns:
            facts = [fact for (_, name), fact in self._cells.items() if name == column.name]
            texts = show_column([fact.value for fact in facts], column.unit, self._lang)
            shown |= {fact.id: text for fact, text in zip(facts, texts, strict=True)}
        return shown

    def section(self) -> Section:
        """Return the part of the report on this analysis."""
        lang, analysis = self._lang, self.analysis
        blocks: list[Block] = []
        if self._image is not None:
            name = f"{self._number:02d}-{analysis.kind}{Path(self._image.path).suffix}"
            blocks.append(Figure(image=self._image, file_name=name))
        if self._paragraph:
            blocks.append(Paragraph(text=self._paragraph))
        if analysis.findings:
            blocks.append(Bullets(items=tuple(say(note, lang) for note in analysis.findings)))
        blocks += [Paragraph(text=say(note, lang), tone="caution") for note in analysis.cautions]
        if analysis.rows:
            blocks.append(self._grid())
        return Section(heading=say(analysis.title, lang), blocks=tuple(blocks), level=3)

    def _grid(self) -> Grid:
        columns = self.analysis.columns
        shown = min(self.analysis.rows, MAX_TABLE_ROWS)
        rows = tuple(tuple(self._cell(row, column) for column in columns) for row in range(shown))
        return Grid(
            headings=tuple(
                say(heading, self._lang) + heading_unit(column, self._lang)
                for heading, column in zip(self.analysis.headings, columns, strict=True)
            ),
            rows=rows,
            numeric=tuple(column.type in ("integer", "number") for column in columns),
            caption=self._caption(shown),
        )

    def _cell(self, row: int, column: Column) -> str:
        fact = self._cells.get((row, column.name))
        if (row, column.name) in self._rest:
            return _OTHERS.text(self._lang).replace("COUNT", self._rest[row, column.name].id)
        if fact is None or fact.value is None:
            return MISSING.text(self._lang) if column.name in self.analysis.keys else "–"
        return "{{" + fact.id + "}}"

    def _caption(self, shown: int) -> str:
        if shown == self.analysis.rows:
            return ""
        return _FIRST_ROWS.text(self._lang)


def _rest_count(fact: Fact) -> Fact:
    """Return how many categories the row of the grouped rest stands for, as a fact."""
    note = label_note(fact.value)
    return replace(
        fact,
        id=f"{fact.id}.categories",
        label=Note("Categories grouped as the rest", "归入其他的类别数"),
        value=note.args["n"],
        query=f"SELECT CAST(regexp_extract(label, '[0-9]+') AS BIGINT) "
        f"FROM ({fact.query}) AS rest(label)",
    )


_OTHERS = Note("Other ({{COUNT|category|categories}})", "其他（{{COUNT}} 类）")
_FIRST_ROWS = Note(
    "The first rows of the table; the picture shows all of it.",
    "表格仅列出前若干行，完整数据见图。",
)


def _analysis_sections(parts: list[_AnalysisPart], lang: Lang) -> Iterable[Section]:
    if not parts:
        return ()
    heading = Section(heading=_word("charts", lang), blocks=())
    return (heading, *(part.section() for part in parts))


def _reading(material: Material) -> Section:
    lang, reading = material.lang, material.reading
    blocks: list[Block] = []
    if reading.understood:
        blocks.append(Bullets(items=tuple(say(note, lang) for note in reading.understood)))
    elif material.selection is not None:
        blocks.append(Paragraph(text=say(material.selection.text, lang)))
    if reading.assumptions:
        blocks.append(Paragraph(text=_ASSUMED.text(lang)))
        blocks.append(Bullets(items=tuple(say(note, lang) for note in reading.assumptions)))
    blocks += [Paragraph(text=say(note, lang), tone="caution") for note in reading.unknown]
    return Section(heading=_word("reading", lang), blocks=tuple(blocks))


_ASSUMED = Note(
    "The goal left some things open. These were assumed:", "目标中没有说明的部分，按以下假设处理："
)


def _limits(material: Material, quality: QualityPart) -> Section:
    lang = material.lang
    items = [say(note, lang) for note in material.missing]
    if quality.has_rows_set_aside:
        items.append(_ASIDE.text(lang))
    if material.other_sheets:
        names = guard(", ".join(material.other_sheets))
        items.append(say(_OTHER.with_args({"names": names}), lang))
    items.append(_NO_CAUSES.text(lang))
    items += [say(note, lang) for note in material.wording.method or (_NO_MODEL,)]
    return Section(heading=_word("limits", lang), blocks=(Bullets(items=tuple(items)),))


_ASIDE = Note(
    "Rows that were set aside (see data quality) are in no figure of this report.",
    "被搁置的行（见“数据质量与清洗”）不计入本报告的任何数字。",
)
_OTHER = Note(
    "These tables were read but are not part of the analyses: {names}.",
    "以下表格已读取，但未纳入分析：{names}。",
)
_NO_CAUSES = Note(
    "The report describes what the data holds. It shows no causes and makes no forecast.",
    "本报告只描述数据本身，不推断原因，也不作预测。",
)
_NO_MODEL = Note(
    "No language model took part: rules chose the analyses and templates worded the findings.",
    "本报告未使用任何语言模型：分析由规则选定，文字由模板生成。",
)


def _provenance(material: Material, facts: tuple[Fact, ...]) -> Section:
    lang = material.lang
    source = {"file": material.loaded.file, "sha256": material.loaded.sha256}
    list_of_facts = Disclosure(summary=_FACTS.text(lang), blocks=(FactList(facts=facts),))
    return Section(
        heading=_word("provenance", lang),
        blocks=(
            Paragraph(text=say(_SOURCE.with_args(source), lang)),
            Paragraph(text=_FILES.text(lang)),
            list_of_facts,
        ),
    )


_SOURCE = Note(
    "Source: {file}, sha256 {sha256}. The file was read and not changed.",
    "数据来源：{file}，sha256 {sha256}。源文件仅读取，未作任何改动。",
)
_FILES = Note(
    "Beside this report: the cleaned table (cleaned.parquet, cleaned.csv), every number with its "
    "query (facts.json), and reproduce.py, which computes all of them again from the source file. "
    "In cleaned.csv, text that a spreadsheet would run as a formula begins with an apostrophe.",
    "随报告附有：清洗后的数据（cleaned.parquet、cleaned.csv）、每个数字及其查询（facts.json），"
    "以及可从源文件重新计算全部数字的 reproduce.py。"
    "cleaned.csv 中可能被电子表格当作公式执行的文本，前面加了单引号。",
)
_FACTS = Note("How every number was computed", "每个数字的计算方法")
