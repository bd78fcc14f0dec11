"""Computing every fact of a report again from its source file, and the script that does so."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast

import duckdb

from planloom.analysis.cleaning import clean_table
from planloom.analysis.database import connect, plain
from planloom.analysis.loading.load import load_file
from planloom.analysis.operations import operations_from_json, operations_to_json
from planloom.analysis.profile import profile_table
from planloom.analysis.recipe import Recipe, SourceFile
from planloom.analysis.report.material import data_notes
from planloom.analysis.report.note_facts import StagedNote, notes_table_sql
from planloom.analysis.selection import Comparison, Condition, select_rows
from planloom.analysis.traps import find_traps
from planloom.errors import InputError, PlanloomError
from planloom.notes import Scalar
from planloom.values import TableRef, file_sha256

_RELATIVE_TOLERANCE = 1e-9
"""Sums of floating-point numbers may differ in the last digits between machines."""

_SCRIPT = '''"""Compute every fact of this report again from its source file.

Usage: python reproduce.py [SOURCE_FILE]
Exit code 0: every fact agrees. 1: a fact, or the source file, is not what it was.
Needs the planloom package that wrote it ({version}), or a newer one.
"""

import sys
from pathlib import Path

from planloom.analysis.report.reproduction import run

# What was done to the source file before the queries of facts.json were asked.
RECIPE = {recipe}

if __name__ == "__main__":
    sys.exit(run(RECIPE, Path(__file__).parent, sys.argv[1:]))
'''


def reproduce_script(recipe: Recipe, *, version: str) -> str:
    """Return the text of `reproduce.py` for a report."""
    record = {
        "source": asdict(recipe.source),
        "table": recipe.table,
        "operations": operations_to_json(recipe.operations),
        "conditions": [asdict(condition) for condition in recipe.conditions],
    }
    return _SCRIPT.format(version=version, recipe=_python_literal(record))


def _python_literal(record: object) -> str:
    import pprint

    # Through JSON first: the script holds plain dicts and lists, whatever the recipe is made of.
    return pprint.pformat(json.loads(json.dumps(record)), indent=1, width=96, sort_dicts=False)


def run(record: Mapping[str, object], folder: Path, arguments: Sequence[str]) -> int:
    """Compare every fact of `folder/facts.json` with a new computation; return the exit code."""
    try:
        recipe = _recipe(record)
        source = _find_source(recipe.source, folder, arguments)
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))["facts"]
        with tempfile.TemporaryDirectory() as work:
            wrong = list(disagreements(recipe, source, facts, work=Path(work)))
    except (PlanloomError, OSError, ValueError, KeyError) as error:
        print(f"Not reproduced: {error}", file=sys.stderr)  # noqa: T201 - output of the script
        return 1
    for line in wrong:
        print(line, file=sys.stderr)  # noqa: T201
    print(f"{len(facts) - len(wrong)} of {len(facts)} facts agree.")  # noqa: T201
    return 1 if wrong else 0


def disagreements(
    recipe: Recipe, source: Path, facts: Sequence[Mapping[str, Scalar]], *, work: Path
) -> Iterator[str]:
    """Yield a line for each fact whose query gives another value now.

    `work` is an empty folder for the tables.

    Raises:
        InputError: the source file is not the one the report was made of.
    """
    if file_sha256(source) != recipe.source.sha256:
        raise InputError(
            f"'{source}' is not the file that the report was made of: its sha256 differs from "
            f"{recipe.source.sha256}. Name the right file: python reproduce.py SOURCE_FILE"
        )
    tables, notes = _tables(recipe, source, work)
    with connect(*tables) as connection:
        for statement in notes_table_sql(notes):
            connection.execute(statement)
        for fact in facts:
            found = _ask(connection, str(fact["query"]))
            if fact["unit"] == "day" and isinstance(found, str):
                found = found[:10]  # a moment stands in the report as its day
            if not _agrees(found, fact["value"]):
                yield f"{fact['id']}: the report says {fact['value']!r}, the data says {found!r}"


def _tables(
    recipe: Recipe, source: Path, work: Path
) -> tuple[list[TableRef], tuple[StagedNote, ...]]:
    loaded = load_file(source, out=work)
    own = loaded.tables[recipe.table]
    table = replace(own.table, name="source")
    traps = find_traps(table, profile_table(table))
    cleaned = clean_table(table, recipe.operations, out=work / "cleaned.parquet")
    tables = [table, cleaned.table]
    tables += [part for part in (own.rejected, cleaned.removed) if part is not None]
    if recipe.conditions:
        selected = select_rows(cleaned.table, recipe.conditions, out=work / "selected.parquet")
        tables.append(selected)
    return tables, data_notes(loaded, own, traps, cleaned)


def _ask(connection: duckdb.DuckDBPyConnection, query: str) -> Scalar:
    try:
        row = connection.execute(query).fetchone()
    except duckdb.Error as error:
        return f"(the query fails: {error})"
    return plain(row[0]) if row else None


def _agrees(found: Scalar, stated: Scalar) -> bool:
    if isinstance(found, int | float) and isinstance(stated, int | float):
        return math.isclose(found, stated, rel_tol=_RELATIVE_TOLERANCE, abs_tol=1e-12)
    return found == stated


def _recipe(record: Mapping[str, object]) -> Recipe:
    source = cast("dict[str, str]", record["source"])
    conditions = cast("list[dict[str, object]]", record["conditions"])
    return Recipe(
        source=SourceFile(**source),
        table=cast("int", record["table"]),
        operations=operations_from_json(cast("list[object]", record["operations"])),
        conditions=tuple(_condition(condition) for condition in conditions),
    )


def _condition(record: dict[str, object]) -> Condition:
    value = cast("Scalar | list[Scalar]", record["value"])
    return Condition(
        column=cast("str", record["column"]),
        comparison=cast("Comparison", record["comparison"]),
        value=tuple(value) if isinstance(value, list) else value,
    )


def _find_source(source: SourceFile, folder: Path, arguments: Sequence[str]) -> Path:
    if arguments:
        return Path(arguments[0])
    for path in (Path(source.path), folder / source.file, folder.parent / source.file):
        if path.is_file():
            return path
    raise InputError(
        f"The source file '{source.file}' was not found at '{source.path}'. "
        "Say where it is: python reproduce.py SOURCE_FILE"
    )
