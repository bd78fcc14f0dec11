"""Spellings of one word are found; units that differ in case only are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom.analysis.loading.load import load_file
from planloom.analysis.profile import profile_table
from planloom.analysis.spelling import find_spellings
from planloom.analysis.text_values import read_text_values


def spellings(folder: Path, name: str, values: list[str]) -> dict[str, dict[str, str]]:
    path = folder / "t.csv"
    lines = [f"{i % 7},{value}" for i, value in enumerate(values * 10)]
    path.write_text("\n".join([f"n,{name}", *lines]) + "\n", encoding="utf-8")
    table = load_file(path, out=folder / "out").tables[0].table
    profile = profile_table(table)
    return find_spellings(read_text_values(table, profile), profile)


@pytest.mark.parametrize("name", ["unit", "Unit of measure", "result_unit", "resultUnit", "单位"])
def test_units_keep_their_case(tmp_path: Path, name: str) -> None:
    assert spellings(tmp_path, name, ["mmol", "mmol", "Mmol", "kg"]) == {}


@pytest.mark.parametrize(
    ("name", "values", "mapping"),
    [
        ("city", ["Ulm", "Ulm", "ULM", "Bonn"], {"ULM": "Ulm"}),
        ("community", ["Ulm", "Ulm", "ULM", "Bonn"], {"ULM": "Ulm"}),
        ("unit", ["pieces", "pieces", "Pieces", "kg"], {"Pieces": "pieces"}),
    ],
)
def test_words_are_unified(
    tmp_path: Path, name: str, values: list[str], mapping: dict[str, str]
) -> None:
    assert spellings(tmp_path, name, values) == {name: mapping}
