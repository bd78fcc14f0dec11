"""Reads files whose fields have names and types already: Parquet, JSON, JSON lines."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

import duckdb

from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.loading.byte_scan import ByteScan
from planloom.analysis.loading.encoding import Encoding
from planloom.analysis.loading.header_names import unique_names
from planloom.analysis.loading.json_records import Found, RecordList, find_records
from planloom.analysis.loading.json_text import BLANKS, JsonReader, JsonRecord
from planloom.analysis.loading.results import FileFormat, LoadedTable
from planloom.analysis.loading.staging import SCRATCH, RawTable, StagedRows
from planloom.analysis.loading.text_lines import TextFile
from planloom.analysis.loading.typed_table import write_typed
from planloom.analysis.loading.wording import shown_cells
from planloom.errors import InputError
from planloom.notes import Note

MAX_JSON_BYTES = 200_000_000
"""A JSON document is read as a whole, which takes several times its size in memory."""
_MAX_DEPTH = 5
_Path = tuple[str, ...]
FlatRecord = dict[_Path, object]
"""Values by the names that lead to them: "a.b" is not the same as b inside of a."""


# Parquet


def load_parquet(path: Path, *, out: Path, title: str, name: str) -> LoadedTable:
    """Return the table of a Parquet file; `name` is what messages call the file.

    Raises:
        InputError: the file is damaged.
    """
    source = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    with connect(writable=out, readable=(path,)) as connection:
        try:
            described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            old = [str(row[0]) for row in described]
            names, notes = unique_names(old)
            columns = ", ".join(
                f"{_as_plain(column, str(row[1]))} AS {identifier(new)}"
                for column, new, row in zip(old, names, described, strict=True)
            )
            query = f"SELECT {columns} FROM {source}"
            table = write_table(connection, query, out / "source.parquet", name="source")
        except duckdb.Error as error:
            why = str(error).splitlines()[0]  # what follows is our SQL
            raise InputError(
                f"'{name}' is a damaged Parquet file: {why}. Write or download it again.",
                zh=f"“{name}”是损坏的 Parquet 文件。请重新生成或下载。",
            ) from error
    return LoadedTable(
        table=table, title=title, header=names, rows_in=table.rows, rows_kept=table.rows,
        rows_rejected=0, header_row=None, rejected=None, decisions=notes,
    )  # fmt: skip


def _as_plain(column: str, sql_type: str) -> str:
    """Return SQL for a column in the type that all later steps work with."""
    quoted = identifier(column)
    if sql_type.startswith("DECIMAL") or sql_type == "FLOAT":
        return f"CAST({quoted} AS DOUBLE)"
    if sql_type.endswith(("INT", "INTEGER")) and sql_type != "BIGINT":
        return f"CAST({quoted} AS {'DOUBLE' if 'HUGE' in sql_type else 'BIGINT'})"
    if sql_type.startswith(("STRUCT", "MAP")) or sql_type.endswith("]"):
        return f"CAST(to_json({quoted}) AS VARCHAR)"
    return quoted


# JSON


@dataclass(frozen=True, kw_only=True)
class _Broken:
    """A line that is no JSON, or a value that is no record of its list."""

    line: int
    reason: str
    content: str


_Entry = tuple[int, object] | _Broken
"""A value with its line, or with its place in the list."""
_Entries = Callable[[], Iterable[_Entry]]


def load_json(
    path: Path,
    scan: ByteScan,
    encoding: Encoding,
    *,
    file_format: FileFormat,
    out: Path,
    title: str,
    name: str,
) -> tuple[tuple[LoadedTable, ...], tuple[Note, ...]]:
    """Return the tables of a JSON document or of JSON lines, and remarks on the whole file.

    `name` is what messages call the file.

    Raises:
        InputError: the text is no JSON, too large for one document, or holds no records.
    """
    text = TextFile(path=path, scan=scan, encoding=encoding)
    reader = JsonReader()
    tables: list[LoadedTable] = []
    found = Found(lists=())
    if file_format == "jsonl":
        source = _Source(entries=lambda: _json_lines(text, reader), title=title, name="source")
        tables += _load_list(source, out)
    else:
        found = find_records(_document(text, name, reader))
        for records in found.lists:
            tables += _load_list(_source(records, title, len(tables) + 1), out)
    if not tables:
        raise InputError(
            f"'{name}' holds no records. Give a list of objects such as "
            '[{"month": "2024-01", "sales": 12}].',
            zh=f"“{name}”中没有记录。请提供对象列表，例如 "
            + '[{"month": "2024-01", "sales": 12}]。',
        )
    if len(tables) == 1:
        tables = [replace(tables[0], title=title)]
    return tuple(tables), _document_notes(found, tables, reader)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """Where the records of one table come from."""

    entries: _Entries
    title: str
    name: str
    """Name of the table."""
    names: tuple[str, ...] = ()
    """Of the cells of records that are lists, where known."""


def _source(records: RecordList, title: str, place: int) -> _Source:
    return _Source(
        entries=lambda: enumerate(records.items, start=1),
        title=records.title or title,
        name="source" if place == 1 else f"source_{place}",
        names=records.names,
    )


def _json_lines(text: TextFile, reader: JsonReader) -> Iterator[_Entry]:
    for number, line in enumerate(text.lines(), start=1):
        if not (content := line.strip(BLANKS)):
            continue
        try:
            yield number, reader.value(content)
        except ValueError as error:
            yield _Broken(line=number, reason=f"no valid JSON: {error}", content=content[:1000])


def _document(text: TextFile, name: str, reader: JsonReader) -> list[object]:
    if text.scan.size > MAX_JSON_BYTES:
        raise InputError(
            f"'{name}' is a JSON document of {text.scan.size:,} bytes; at most "
            f"{MAX_JSON_BYTES:,} are read as one document. Save it as JSON lines, one record a "
            "line, or as CSV."
        )
    try:
        return reader.values("".join(text.lines()))
    except ValueError as error:
        raise InputError(
            f"'{name}' is no valid JSON: {error}. Correct that place or export the file again.",
            zh=f"“{name}”不是有效的 JSON：{error}。请修正该处或重新导出。",
        ) from error


def _document_notes(
    found: Found, tables: list[LoadedTable], reader: JsonReader
) -> tuple[Note, ...]:
    notes: list[Note] = []
    if len(tables) > 1:
        notes.append(Note(
            "The document holds {n} lists of records, each of which became a table: {names}.",
            "文档含 {n} 个记录列表，各成一表：{names}。",
            {"n": len(tables), "names": ", ".join(table.title for table in tables)},
        ))  # fmt: skip
    if found.left_out:
        notes.append(Note(
            "Fields beside the records left out: {names}.", "记录之外的字段未读入：{names}。",
            {"names": shown_cells(Counter(found.left_out))},
        ))  # fmt: skip
    if reader.repeated:
        notes.append(Note(
            "Some objects hold a name twice; each further value got a field of its own: {names}.",
            "部分对象内有重名字段，后出现的值已另设字段：{names}。",
            {"names": shown_cells(Counter(sorted(reader.repeated)))},
        ))  # fmt: skip
    return tuple(notes)


# Records of one list


@dataclass(kw_only=True)
class _Survey:
    """What the values of a list are."""

    kinds: Counter[str] = field(default_factory=Counter[str])
    paths: dict[_Path, None] = field(default_factory=dict[_Path, None])
    """Fields of the objects, in the order in which they were met."""
    sizes: Counter[int] = field(default_factory=Counter[int])
    """Cells of the lists but for the first."""
    first: list[object] | None = None
    """The first list."""

    def add(self, value: object) -> None:
        """Count one value."""
        if isinstance(value, dict):
            self.kinds["objects"] += 1
            self.paths |= dict.fromkeys(flat(cast("JsonRecord", value)))
        elif isinstance(value, list):
            cells = cast("list[object]", value)
            self.kinds["lists"] += 1
            if self.first is None:
                self.first = cells
            else:
                self.sizes[len(cells)] += 1
        else:
            self.kinds["values"] += 1

    @property
    def kind(self) -> Literal["objects", "lists", "values"]:
        """How the records are read; what is of another kind is rejected, or kept as text."""
        for kind in ("objects", "lists"):
            if self.kinds[kind] and self.kinds[kind] * 2 >= self.kinds.total():
                return kind
        return "values"


@dataclass(frozen=True, kw_only=True)
class _Fields:
    """The fields of the records of a list."""

    kind: Literal["objects", "lists", "values"]
    paths: tuple[_Path, ...]
    names: tuple[str, ...]
    notes: tuple[Note, ...]
    has_header: bool = False
    """The first list holds the names."""


def _load_list(source: _Source, out: Path) -> list[LoadedTable]:
    """Return the table of a list, or nothing when its records have no fields."""
    survey = _Survey()
    for entry in source.entries():
        if not isinstance(entry, _Broken):
            survey.add(entry[1])
    fields = _fields(survey, source.names)
    if not fields.names:
        return []
    return [write_typed(_stage(source, fields, out), out, name=source.name)]


def _fields(survey: _Survey, names: tuple[str, ...]) -> _Fields:
    if survey.kind == "objects":
        paths = tuple(survey.paths)
        unique, notes = unique_names([".".join(path) for path in paths])
        return _Fields(kind="objects", paths=paths, names=unique, notes=notes)
    if survey.kind == "values":
        held = ("value",) if survey.kinds else ()
        return _Fields(kind="values", paths=(held,), names=held, notes=())
    first = survey.first or []
    has_header = not names and bool(first) and all(isinstance(cell, str) for cell in first)
    has_header = has_header and bool(survey.sizes)
    size, count = survey.sizes.most_common(1)[0] if survey.sizes else (0, 0)
    if not names:
        names = tuple(map(str, first)) if has_header else ()
        # Without a header the widest record counts, for nothing says that it is too long.
        usual = size if count * 2 > survey.sizes.total() else 0
        width = usual if has_header else max([len(first), *survey.sizes])
        names += ("",) * (width - len(names))
    unique, notes = unique_names(names)
    return _Fields(kind="lists", paths=(), names=unique, notes=notes, has_header=has_header)


def flat(record: JsonRecord, path: _Path = ()) -> FlatRecord:
    """Return a record whose inner objects are fields of their own.

    >>> flat({"id": 1, "place": {"city": "Bonn", "geo": {"lat": 50.7}}})
    {('id',): 1, ('place', 'city'): 'Bonn', ('place', 'geo', 'lat'): 50.7}
    """
    found: FlatRecord = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and len(path) < _MAX_DEPTH:
            found |= flat(cast("JsonRecord", value), (*path, key))
        else:
            found[*path, key] = value
    return found


def _cells(value: object, fields: _Fields) -> list[object] | str:
    """Return the cells of a record, or why it is none."""
    if fields.kind == "values":
        return [value]
    if fields.kind == "objects":
        if not isinstance(value, dict):
            return "no JSON object"
        record = flat(cast("JsonRecord", value))
        return [record.get(path) for path in fields.paths] if record else "blank record"
    if not isinstance(value, list):
        return "no JSON list"
    cells = cast("list[object]", value)
    missing = len(fields.names) - len(cells)
    if missing < 0:
        return f"{len(cells)} fields instead of {len(fields.names)}"
    return [*cells, *[None] * missing] if cells else "blank record"


def _stage(source: _Source, fields: _Fields, out: Path) -> RawTable:
    width = len(fields.names)
    short = infinite = 0
    header_row = None
    with StagedRows(folder=out / SCRATCH, name=source.name, width=width) as rows:
        for entry in source.entries():
            if isinstance(entry, _Broken):
                rows.reject(entry.line, entry.reason, [entry.content])
                continue
            place, value = entry
            if fields.has_header and header_row is None and isinstance(value, list):
                header_row = place
                continue
            cells = _cells(value, fields)
            if isinstance(cells, str):
                rows.reject(place, cells, [_json_text(value)[:1000]])
                continue
            short += fields.kind == "lists" and len(cast("list[object]", value)) < width
            infinite += sum(isinstance(c, float) and not math.isfinite(c) for c in cells)
            rows.keep([_json_text(cell) for cell in cells])
    return RawTable(
        path=rows.rows_path, delimiter=",", skip=0, width=width, names=fields.names,
        places=tuple(range(width)), sample=tuple(rows.sample), longest=rows.longest,
        title=source.title, header_row=header_row, rows_in=rows.kept + rows.rejected,
        rejected=rows.rejected_path if rows.rejected else None, native=True,
        notes=(*fields.notes, *_staging_notes(rows.rejected, short, infinite)),
    )  # fmt: skip


def _staging_notes(rejected: int, short: int, infinite: int) -> list[Note]:
    counted = (
        (rejected, "{n|record|records} that could not be read, do not fit or hold nothing "
         "rejected.", "{n} 条无法读取、不合格式或为空的记录已剔除。"),
        (short, "{n|record has|records have} fewer cells than there are columns; the rest is "
         "missing.", "{n} 条记录的单元格少于列数，其余按缺失值处理。"),
        (infinite, "{n|number that is|numbers that are} not finite (NaN, Infinity, or too large) "
         "became missing.", "{n} 个非有限数值（NaN、Infinity 或过大）按缺失值处理。"),
    )  # fmt: skip
    return [Note(english, chinese, {"n": n}) for n, english, chinese in counted if n]


def _json_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value.encode("utf-8", "replace").decode()
        case float():
            return repr(value) if math.isfinite(value) else ""
        case int():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)
