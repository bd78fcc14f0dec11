"""The checker on over 300 sentences, right ones and ones with planted wrong numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planloom.analysis.numbers.checking import unsourced_numbers
from planloom.notes import Note
from planloom.values import Fact

LINES = [
    json.loads(line)
    for line in (Path(__file__).parent / "sentences.jsonl").read_text("utf-8").splitlines()
]
SENTENCES = [line for line in LINES if "sentence" in line]


def facts_of(records: list[dict[str, Any]]) -> list[Fact]:
    return [
        Fact(
            id=record["id"],
            label=Note.same(record["label"]),
            value=record["value"],
            unit=record["unit"],
            query="SELECT 1",
            table="cleaned",
            rows=1,
        )
        for record in records
    ]


FACTS = {line["set"]: facts_of(line["facts"]) for line in LINES if "facts" in line}


def test_the_set_has_a_hundred_sentences_in_each_language() -> None:
    assert all(sum(line["lang"] == lang for line in SENTENCES) >= 100 for lang in ("en", "zh"))


@pytest.mark.parametrize("line", SENTENCES, ids=lambda line: line["sentence"])
def test_only_the_planted_numbers_are_unsourced(line: dict[str, Any]) -> None:
    found = unsourced_numbers(line["sentence"], facts=FACTS[line["set"]], lang=line["lang"])
    assert [each.numeral.text for each in found] == line["unsourced"]
