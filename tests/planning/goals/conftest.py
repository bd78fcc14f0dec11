"""Tables described by hand, to ask goals of without any data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from planloom.notes import Scalar
from planloom.planning.goals.intent import Understanding
from planloom.planning.goals.understanding import understand
from planloom.values import ColumnType

TODAY = date(2024, 11, 15)


@dataclass(frozen=True, kw_only=True)
class FakeColumn:
    name: str
    type: ColumnType = "text"
    unit: str = ""
    meaning: str = "category"
    missing: int = 0
    distinct: int = 5
    min: Scalar = None
    max: Scalar = None
    mean: float | None = None
    top: tuple[tuple[Scalar, int], ...] = ()
    is_unique: bool = False


@dataclass(frozen=True, kw_only=True)
class FakeTable:
    rows: int
    columns: tuple[FakeColumn, ...]


def _table(raw: dict) -> FakeTable:
    columns = [
        FakeColumn(**{**column, "top": tuple((v, n) for v, n in column.get("top", ()))})
        for column in raw["columns"]
    ]
    return FakeTable(rows=raw["rows"], columns=tuple(columns))


@pytest.fixture(scope="session")
def tables() -> Mapping[str, FakeTable]:
    text = Path(__file__).with_name("profiles.json").read_text(encoding="utf-8")
    return {name: _table(raw) for name, raw in json.loads(text).items()}


@pytest.fixture(scope="session")
def ask(tables: Mapping[str, FakeTable]) -> Callable[[str, str], Understanding]:
    """Return the understanding of a goal over the table of that name."""
    return lambda table, goal: understand(goal, tables[table], today=TODAY)


@pytest.fixture(scope="session")
def make_table() -> Callable[..., FakeTable]:
    """Return a table of columns given as keyword dictionaries."""
    return lambda *columns, rows=1000: FakeTable(
        rows=rows, columns=tuple(FakeColumn(**column) for column in columns)
    )
