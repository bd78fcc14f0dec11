"""The goals of the list, each with the reading a person would give it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent
_LISTS = ("goals.jsonl", "more_goals.jsonl")
_GOALS = [
    json.loads(line)
    for name in _LISTS
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", _GOALS, ids=[case["id"] for case in _GOALS])
def test_goal_is_read_as_a_person_would(case, ask):
    found = ask(case["profile"], case["goal"])

    assert found.lang == case["id"][:2]
    assert found.is_general == case.get("is_general", False)
    unknown = " ".join(note.text("en") for note in found.unknown)
    assert all(word in unknown for word in case.get("unknown", ()))
    if "unknown" not in case and not found.is_general:
        assert unknown == ""
    assert not {a.measure for a in found.analyses}.intersection(case.get("columns_absent", ()))
    assert not {a.kind for a in found.analyses}.intersection(case.get("kinds_absent", ()))
    if "analyses" in case:
        assert [
            {key: asdict(request)[key] for key in wanted}
            for request, wanted in zip(found.analyses, case["analyses"], strict=True)
        ] == case["analyses"]
        filters = [[f.column, f.comparison, f.value] for f in found.filters]
        assert json.loads(json.dumps(filters)) == case.get("filters", [])
