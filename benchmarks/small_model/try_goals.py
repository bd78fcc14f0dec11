"""Tries a list of goals against the configured model and prints which choices are right.

    PLANLOOM_MODEL=qwen2.5-coder-1.5b PLANLOOM_BASE_URL=http://127.0.0.1:8199/v1 \\
        python benchmarks/small_model/try_goals.py [--list FILE] [--lang en|zh] [--rules] [ID ...]

`--rules` tries the rules, which need no model, in its place.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import cast

from planloom.analysis.cleaning import clean_table
from planloom.analysis.loading.load import load_file
from planloom.analysis.profile import profile_table
from planloom.analysis.proposals import propose_operations
from planloom.analysis.traps import find_traps
from planloom.config import load_settings
from planloom.errors import ModelError, PlanError
from planloom.models.chat_model import ChatModel
from planloom.models.connect import connect
from planloom.planning.constrained.choosing import choose_analyses
from planloom.planning.constrained.settling import understanding_of
from planloom.planning.goals.intent import AnalysisRequest, Understanding
from planloom.planning.goals.understanding import understand
from planloom.tools.tables import TableSummary, get_data_summary

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TODAY = date(2026, 11, 30)
_FIELDS = {"value": "measure"}
"""Names of goals.json that differ from those of an `AnalysisRequest`."""

Expected = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one goal went."""

    id: str
    lang: str
    goal: str
    expected: str
    got: str
    is_right: bool
    tries: int
    seconds: float


def is_right(goal: Expected, reading: Understanding) -> bool:
    """Say whether every expected analysis is chosen, with its columns, and nothing else."""
    expected = cast("list[Expected]", goal["expected"])
    open_requests = list(reading.analyses)
    for wanted in expected:
        found = next((r for r in open_requests if _fits(wanted, r)), None)
        if found is None:
            return False
        open_requests.remove(found)
    extra = [r for r in open_requests if r.kind != "overview"]
    return not extra and not reading.others and _filters_fit(goal, reading)


def _fits(wanted: Expected, request: AnalysisRequest) -> bool:
    return all(
        getattr(request, _FIELDS.get(name, name)) in cast("list[object]", values)
        for name, values in wanted.items()
    )


def _filters_fit(goal: Expected, reading: Understanding) -> bool:
    wanted = cast("list[Expected]", goal.get("filters") or [])
    names = sorted({str(item["column"]) for item in wanted})
    if names != sorted({item.column for item in reading.filters}):
        return False
    texts = " ".join(str(item.value) for item in reading.filters)
    return all(_is_in(item.get("value"), texts) for item in wanted)


def _is_in(value: object, texts: str) -> bool:
    parts = cast("list[object]", value) if isinstance(value, list) else [value]
    return value is None or any(str(part) in texts for part in parts)


def told(reading: Understanding) -> str:
    """Return what was chosen, in one line."""
    parts = [f"{r.kind}({', '.join(_settings(r))})" for r in reading.analyses]
    parts += [f"[{f.column} {f.comparison} {f.value}]" for f in reading.filters]
    return " ".join(parts)


def _settings(r: AnalysisRequest) -> list[str]:
    order = "lowest first" if r.ascending else None
    values = (r.how, r.measure, r.date, r.grain, r.category, r.by, r.top, order)
    return [str(value) for value in values if value is not None]


async def try_goal(goal: Expected, table: TableSummary, model: ChatModel | None) -> Result:
    """Ask one goal and judge the answer."""
    started = time.perf_counter()
    text = str(goal["goal"])
    rules = understand(text, table, today=TODAY, values=table.values)
    reading, tries, got = rules, 0, ""
    if model is not None:
        try:
            chosen = await choose_analyses(model, text, table, today=TODAY, values=table.values)
            reading, tries = understanding_of(chosen, table, rules), chosen.tries
        except (ModelError, PlanError) as error:
            got = f"FAILED: {error}"
    right = not got and is_right(goal, reading)
    return Result(
        id=str(goal["id"]), lang=str(goal["lang"]), goal=text,
        expected=json.dumps([goal["expected"], goal.get("filters")], ensure_ascii=False),
        got=got or told(reading), is_right=right, tries=tries,
        seconds=time.perf_counter() - started,
    )  # fmt: skip


async def run(goals: Sequence[Expected], model: ChatModel | None) -> list[Result]:
    """Try all goals in order; each file is read once."""
    tables: dict[str, TableSummary] = {}
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as work:
        for goal in goals:
            name = str(goal["file"])
            if name not in tables:
                out = Path(work) / str(len(tables))
                out.mkdir()
                tables[name] = summary(_data_file(name), out)
            result = await try_goal(goal, tables[name], model)
            results.append(result)
            print(row(result), flush=True)
    if model is not None:
        await model.close()
    return results


def summary(path: Path, out: Path) -> TableSummary:
    """Return the profile of a file after cleaning, as the report agent sees it."""
    table = load_file(path, out=out).tables[0].table
    profile = profile_table(table)
    operations = propose_operations(table, profile, find_traps(table, profile))
    cleaned = clean_table(table, operations, out=out / "cleaned.parquet")
    return get_data_summary(cleaned.table)


def _data_file(name: str) -> Path:
    return next(p for p in (ROOT / name, ROOT / "examples/data" / name) if p.is_file())


def row(result: Result) -> str:
    """Return a line of a Markdown table."""
    mark = "right" if result.is_right else "WRONG"
    cells = (result.id, result.goal, result.got, mark, result.tries, f"{result.seconds:.0f} s")
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    """Run the command; the exit code is 0 when 8 of 10 of each language are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", choices=["en", "zh"])
    parser.add_argument("--list", default="goals.json", help="a file beside this one")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    goals = json.loads((HERE / options.list).read_text(encoding="utf-8"))["goals"]
    goals = [g for g in goals if options.lang in (None, g["lang"])]
    goals = [g for g in goals if not options.ids or g["id"] in options.ids]
    settings = load_settings(environment=os.environ, folder=Path.cwd())
    model = (
        None if options.rules else connect(settings, announce=lambda t: print(t, file=sys.stderr))
    )
    print("| id | goal | chosen | | tries | time |\n|---|---|---|---|---|---|")
    results = asyncio.run(run(goals, model))
    ok = True
    for lang in dict.fromkeys(r.lang for r in results):
        own = [r for r in results if r.lang == lang]
        right = sum(r.is_right for r in own)
        ok = ok and right >= 0.8 * len(own)
        print(f"\n{lang}: {right} of {len(own)} right")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
