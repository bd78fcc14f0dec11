"""References resolve to typed values, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import pytest

from planloom.engine.references import Reference, parse_template, references_in, resolve
from planloom.errors import PlanError, ToolError
from planloom.values import Column, TableRef

TABLE = TableRef(
    path="/run/t.parquet",
    columns=(Column(name="day", type="date"), Column(name="amount", type="number")),
    rows=3,
    name="source",
    sha256="00",
)


@dataclass(frozen=True)
class Answer:
    value: int
    _hidden: str = "s"

    def method(self) -> int:
        return self.value


RESULTS: dict[str, object] = {
    "load": TABLE,
    "sum": {"value": 1234.5, "a key": "k", "value2": {"1": "one"}},
    "names": ["x", "y"],
    "text": "pay $load or $$ and ${sum}",
    "answer": Answer(7),
    "nothing": None,
    "day": date(2024, 3, 9),
    "数据": 5,
}


def resolved(value: object) -> object:
    return resolve(value, RESULTS.__getitem__)  # type: ignore[arg-type]


def test_reference_alone_passes_the_value_itself():
    assert resolved("$load") is TABLE
    assert resolved("$names") is RESULTS["names"]
    assert resolved("$nothing") is None
    assert resolved("${数据}") == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$load.rows", 3),
        ("$load.columns[0].name", "day"),
        ("$load.columns.1.name", "amount"),
        ("$load.columns[-1].name", "amount"),
        ("$load.column_names", ("day", "amount")),
        ("$sum.value", 1234.5),
        ('$sum["a key"]', "k"),
        ("$sum['a key']", "k"),
        ("$sum.value2.1", "one"),
        ("$sum.value2[1]", "one"),
        ("$answer.value", 7),
        ("$names[1]", "y"),
    ],
)
def test_part_of_a_value(text: str, value: object):
    assert resolved(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Total: $sum.value units", "Total: 1234.5 units"),
        ("Rows: $load.rows.", "Rows: 3."),
        ("${names}s", '["x", "y"]s'),
        ("$day!", "2024-03-09!"),
        ("$nothing$nothing", "nullnull"),
        ("$5 and $ and US$", "$5 and $ and US$"),
        ("$$load", "$load"),
        ("$$$sum.value", "$1234.5"),
        ("${load", "${load"),
    ],
)
def test_reference_inside_text_is_formatted(text: str, value: str):
    assert resolved(text) == value


def test_what_came_out_of_a_step_is_not_expanded_again():
    assert resolved("$text") == "pay $load or $$ and ${sum}"
    assert resolved("<$text>") == "<pay $load or $$ and ${sum}>"


def test_values_inside_lists_and_objects_are_resolved_and_keys_are_not():
    value = {"$load": [{"t": "$load"}, "$names[0]", 5]}
    assert resolved(value) == {"$load": [{"t": TABLE}, "x", 5]}
    assert [str(r) for r in references_in(value)] == ["$load", "$names[0]"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$load.row", "Did you mean 'rows'?"),
        ("$load.column", "Did you mean 'columns'?"),
        ("$sum.valeu", "Did you mean 'value'?"),
        ("$names[2]", "Use a position from 0 to 1"),
        ("$names.first", "has no 'first'"),
        ("$answer.method", "has no 'method'"),
        ("$answer.__class__", "has no '__class__'"),
        ("$text.upper", "is text"),
        ("$nothing.x", "is nothing"),
        ("table: $load", "pass '$load' alone"),
    ],
)
def test_unknown_part_is_an_error_with_the_nearest(text: str, words: str):
    with pytest.raises(ToolError) as caught:
        resolved(text)
    assert words in str(caught.value)


def test_unknown_step_is_a_plan_error():
    with pytest.raises(PlanError, match="'lod', which has no result"):
        resolved("$lod")


def test_reference_reads_back_as_written():
    for text in ("$a", "$a.b[0]", '$a["x y"]', "$a['\"']", "$a[-1].c"):
        (reference,) = parse_template(text)
        assert str(reference) == text
    assert parse_template("$a.b.") == (Reference("a", ("b",)), ".")
