"""The part of a report on data quality: what was read, set aside, cleaned, and each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from duckdb import DuckDBPyConnection

from planloom.analysis.database import connect, identifier, plain
from planloom.analysis.loading.reasons import reason_text
from planloom.analysis.numbers.formatting import show_column
from planloom.analysis.numbers.units import unit_kind, unit_word
from planloom.analysis.report.document import Block, Bullets, Disclosure, Grid, Paragraph
from planloom.analysis.report.material import Material
from planloom.analysis.report.text import guard
from planloom.analysis.traps import TrapKind
from planloom.notes import Lang, Note
from planloom.values import Column, Fact, TableRef

_MAX_COLUMNS = 40
_MAX_ROWS_SHOWN = 10
_CELL_CHARS = 80


@dataclass(frozen=True, kw_only=True)
class QualityPart:
    """The blocks of the section and what the other sections need to know of it."""

    blocks: tuple[Block, ...]
    facts: tuple[Fact, ...]
    cells: dict[str, str]
    """How the table of columns shows its facts, by id."""
    texts: tuple[str, ...]
    """Words of the data that the section quotes."""
    rows: Fact
    """How many rows the analyses look at."""
    has_rows_set_aside: bool


def quality_part(material: Material) -> QualityPart:
    """Return the data quality section of a report."""
    lang, cleaned = material.lang, material.cleaned.table
    counts = _Counts(material)
    columns = _column_facts(cleaned)
    rejected = _peek(material.table.rejected)
    removed = _peek(material.cleaned.removed)
    blocks: list[Block] = [Paragraph(text=counts.sentence(lang))]
    blocks += _cleaning(material)
    blocks += _rows_grid(_REJECTED, rejected, lang)
    blocks += _rows_grid(_REMOVED, removed, lang)
    blocks.append(_column_grid(cleaned, columns, lang))
    blocks += _decisions(material)
    cell_texts = (cell for peek in (rejected, removed) if peek for row in peek.rows for cell in row)
    return QualityPart(
        blocks=tuple(blocks),
        facts=(*counts.facts, *(f for note in material.notes for f in note.facts()),
               *(fact for facts in columns for fact in facts.values())),
        cells=_column_cells(columns, lang),
        texts=(*(text for note in material.notes for text in note.texts()), *cell_texts),
        rows=counts.analysed,
        has_rows_set_aside=bool(rejected or removed),
    )  # fmt: skip


class _Counts:
    """How many rows were read, kept and analysed."""

    def __init__(self, material: Material):
        loaded, cleaned = material.table, material.cleaned
        self._reading = next(material.stage("rows"))
        self._rejected = loaded.rows_rejected
        self._removed = cleaned.removed.rows if cleaned.removed else 0
        self._is_selection = material.selection is not None
        analysed = material.selection or cleaned.table
        self.kept = _count("rows.kept", _KEPT, cleaned.table.rows,
                           "SELECT count(*) FROM cleaned", "cleaned")  # fmt: skip
        self.removed = _count(
            "rows.removed", _CLEANED_OUT, self._removed,
            "SELECT count(*) FROM removed" if cleaned.removed else "SELECT 0", "removed",
        )  # fmt: skip
        self.analysed = _count(
            "rows.analysed", _ANALYSED, analysed.rows,
            f"SELECT count(*) FROM {identifier(analysed.name)}", analysed.name,
        )  # fmt: skip
        self.columns = _count(
            "columns.count", _COLUMNS, len(cleaned.table.columns),
            "SELECT count(*) FROM (DESCRIBE cleaned)", "cleaned",
        )  # fmt: skip

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All counts but those of reading, which are facts of their note."""
        return (self.removed, self.kept, self.analysed, self.columns)

    def sentence(self, lang: Lang) -> str:
        """Return the account of rows from file to analysis."""
        notes = [_HOLDS]
        if self._removed:
            notes.append(_SET_ASIDE)
        notes.append(_SELECTED if self._is_selection else _ENTERED)
        texts = [self._reading.text(lang), *(note.text(lang) for note in notes)]
        return (" " if lang == "en" else "").join(texts)


_HOLDS = Note("It has {{columns.count|column|columns}}.", "共 {{columns.count}} 列。")
_SET_ASIDE = Note(
    "Cleaning set aside {{rows.removed|row|rows}}.", "清洗时另有 {{rows.removed}} 行被搁置。"
)
_ENTERED = Note(
    "{{rows.analysed|row|rows}} entered the analyses.", "最终 {{rows.analysed}} 行进入分析。"
)


def _count(fact_id: str, label: Note, value: int, query: str, table: str) -> Fact:
    return Fact(id=fact_id, label=label, value=value, query=query, table=table, rows=value)


_SELECTED = Note(
    "Of the {{rows.kept|row|rows}} that are left, {{rows.analysed}} meet the conditions of the "
    "goal and entered the analyses.",
    "余下的 {{rows.kept}} 行中，符合目标条件的 {{rows.analysed}} 行进入分析。",
)
_KEPT = Note("Rows after cleaning", "清洗后的行数")
_CLEANED_OUT = Note("Rows set aside by cleaning", "清洗时搁置的行数")
_ANALYSED = Note("Rows analysed", "进入分析的行数")
_COLUMNS = Note("Columns", "列数")


def _cleaning(material: Material) -> list[Block]:
    lang = material.lang
    done = [note.text(lang) for note in material.stage("cleaning")]
    done_by = {step.op for step in material.cleaned.log}
    traps = [
        note.text(lang)
        for trap, note in zip(material.traps, material.stage("profile"), strict=True)
        if _MENDED_BY.get(trap.kind) not in done_by
    ]
    blocks: list[Block] = []
    if done:
        blocks += [Paragraph(text=_DONE.text(lang)), Bullets(items=tuple(done))]
    else:
        blocks.append(Paragraph(text=_NOTHING_DONE.text(lang)))
    if traps:
        blocks += [Paragraph(text=_NOTICED.text(lang)), Bullets(items=tuple(traps))]
    return blocks


# What cleaning has dealt with is said there, once.
_MENDED_BY: dict[TrapKind, str] = {
    "total_rows": "drop_total_rows", "duplicate_rows": "drop_duplicates",
    "spelling": "unify_spelling",
}  # fmt: skip
_DONE = Note("What was cleaned:", "清洗内容：")
_NOTHING_DONE = Note("Nothing had to be cleaned.", "数据无需清洗。")
_NOTICED = Note("What to watch out for in this data:", "使用这份数据时需要留意：")


def _decisions(material: Material) -> list[Block]:
    lang = material.lang
    texts = tuple(note.text(lang) for note in material.stage("loading"))
    if not texts:
        return []
    return [Disclosure(summary=_READ_HOW.text(lang), blocks=(Bullets(items=texts),))]


_READ_HOW = Note("How the file was read", "文件的读取方式")


@dataclass(frozen=True)
class _Peek:
    """The first rows of a small table as text."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: bool


def _peek(table: TableRef | None) -> _Peek | None:
    if table is None or not table.rows:
        return None
    with connect(table) as connection:
        found = connection.execute(
            f"SELECT * FROM {identifier(table.name)} LIMIT {_MAX_ROWS_SHOWN}"
        ).fetchall()
    rows = tuple(tuple(_short(plain(cell)) for cell in row) for row in found)
    return _Peek(table.column_names, rows, table.rows > len(found))


def _short(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= _CELL_CHARS else text[:_CELL_CHARS] + "…"


def _rows_grid(summary: Note, peek: _Peek | None, lang: Lang) -> list[Block]:
    if peek is None:
        return []
    grid = Grid(
        headings=tuple(_heading(heading, lang) for heading in peek.headings),
        rows=tuple(
            tuple(_cell_text(*cell, lang) for cell in zip(peek.headings, row, strict=True))
            for row in peek.rows
        ),
        numeric=tuple(False for _ in peek.headings),
        caption=_FIRST_ONES.text(lang) if peek.more else "",
    )
    return [Disclosure(summary=summary.text(lang), blocks=(grid,))]


def _heading(name: str, lang: Lang) -> str:
    own = _OWN_HEADINGS.get(name)
    return own.text(lang) if own else guard(name)


def _cell_text(heading: str, cell: str, lang: Lang) -> str:
    if heading == "reason":
        return guard(reason_text(cell, lang))
    if heading == "operation" and cell in _OPERATIONS:
        return _OPERATIONS[cell].text(lang)
    return guard(cell)


_REJECTED = Note("Lines that could not be read", "无法识别的行")
_REMOVED = Note("Rows set aside by cleaning", "清洗时搁置的行")
# Columns of the tables of rejected lines and removed rows that are ours, not the file's.
_OWN_HEADINGS = {
    "line": Note("line", "行号"), "reason": Note("reason", "原因"),
    "content": Note("content", "内容"), "row": Note("row", "行号"),
    "operation": Note("operation", "操作"),
}  # fmt: skip
_OPERATIONS = {
    "drop_duplicates": Note("exact duplicate", "完全重复"),
    "drop_total_rows": Note("total row", "合计行"),
    "drop_empty_rows": Note("empty row", "空行"),
    "drop_missing": Note("missing value", "缺失值"),
    "drop_where": Note("condition", "按条件剔除"),
}
_FIRST_ONES = Note("The first of them:", "仅列出前几行：")


def _column_facts(table: TableRef) -> list[dict[str, Fact]]:
    """Return missing, distinct, smallest and largest of each shown column, as facts."""
    columns = table.columns[:_MAX_COLUMNS]
    with connect(table) as connection:
        return [
            _one_column(connection, table, column, f"column.{number}.{_slug(column.name)}")
            for number, column in enumerate(columns, 1)
        ]


def _one_column(
    connection: DuckDBPyConnection, table: TableRef, column: Column, prefix: str
) -> dict[str, Fact]:
    name, view = identifier(column.name), identifier(table.name)
    expressions = {"missing": f"count(*) - count({name})", "distinct": f"count(DISTINCT {name})"}
    if column.type in ("integer", "number", "date", "datetime"):
        expressions |= {"min": f"min({name})", "max": f"max({name})"}
    query = f"SELECT {', '.join(expressions.values())} FROM {view}"
    values = cast("tuple[object, ...]", connection.execute(query).fetchone())
    unit = {"date": "day", "datetime": "day"}.get(column.type, column.unit)
    return {
        what: Fact(
            id=f"{prefix}.{what}",
            label=Note("{column}: " + _COLUMN_WORDS[what].en, "{column}：" + _COLUMN_WORDS[what].zh,
                       {"column": column.name}),
            value=_day(plain(value)) if unit == "day" and what in ("min", "max") else plain(value),
            unit=unit if what in ("min", "max") else "",
            query=f"SELECT {expression} FROM {view}", table=table.name, rows=table.rows,
        )
        for (what, expression), value in zip(expressions.items(), values, strict=True)
    }  # fmt: skip


def _column_cells(columns: list[dict[str, Fact]], lang: Lang) -> dict[str, str]:
    """Show the range of each column in full, both ends with the same decimals."""
    shown: dict[str, str] = {}
    for facts in columns:
        ends = [facts[what] for what in ("min", "max") if what in facts]
        texts = show_column([fact.value for fact in ends], ends[0].unit if ends else "", lang)
        shown |= {fact.id: text for fact, text in zip(ends, texts, strict=True)}
    return shown


def heading_unit(column: Column, lang: Lang) -> str:
    """Return the unit of a column as its heading says it; periods and % stand in the cells.

    >>> heading_unit(Column(name="price", type="number", unit="¥"), "zh")
    '（元）'
    """
    is_number = column.type in ("integer", "number")
    if not is_number or unit_kind(column.unit) not in ("currency", "measure"):
        return ""
    word = guard(unit_word(column.unit, lang))
    return f"（{word}）" if lang == "zh" else f" ({word})"


def _day(value: object) -> str | None:
    return None if value is None else str(value)[:10]


def _slug(name: str) -> str:
    return "".join(char if char.isalnum() else "_" for char in name)


_COLUMN_WORDS = {
    "missing": Note("missing values", "缺失个数"),
    "distinct": Note("distinct values", "不同取值个数"),
    "min": Note("smallest value", "最小值"),
    "max": Note("largest value", "最大值"),
}
_TYPE_WORDS = {
    "text": Note("text", "文本"), "integer": Note("whole number", "整数"),
    "number": Note("number", "数值"), "boolean": Note("yes/no", "是否"),
    "date": Note("date", "日期"), "datetime": Note("date and time", "日期时间"),
    "time": Note("time", "时间"),
}  # fmt: skip


def _column_grid(table: TableRef, facts: list[dict[str, Fact]], lang: Lang) -> Grid:
    headings = (
        ("Column", "Type", "Missing", "Distinct", "Smallest", "Largest")
        if lang == "en"
        else ("列", "类型", "缺失", "不同取值", "最小", "最大")
    )
    rows = tuple(
        (
            guard(column.name),
            _TYPE_WORDS[column.type].text(lang) + heading_unit(column, lang),
            *("{{" + found[what].id + "}}" if what in found else "" for what in _COLUMN_WORDS),
        )
        for column, found in zip(table.columns, facts, strict=False)
    )
    more = len(table.columns) > len(facts)
    return Grid(
        headings=headings,
        rows=rows,
        numeric=(False, False, True, True, True, True),
        caption=_CLEAN_COLUMNS.text(lang) + (_MORE_COLUMNS.text(lang) if more else ""),
    )


_CLEAN_COLUMNS = Note("The columns after cleaning.", "清洗后的各列。")
_MORE_COLUMNS = Note(
    " The first ones are shown; cleaned.parquet holds all.",
    "仅列出前面的列，全部见 cleaned.parquet。",
)
