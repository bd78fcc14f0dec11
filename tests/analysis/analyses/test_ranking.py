"""Rankings agree with plain Python for every statistic and flag what rests on few rows."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict

import pytest

from planloom.analysis.analyses.labels import is_other, other_mark
from planloom.analysis.analyses.ranking import ranking
from planloom.analysis.database import connect
from planloom.analysis.numbers.binding import bind
from planloom.analysis.numbers.checking import unsourced_numbers
from planloom.errors import ToolError

COLUMNS = {"product": "VARCHAR", "amount": "DOUBLE"}
STATISTICS = {
    "sum": sum,
    "mean": statistics.mean,
    "median": statistics.median,
    "min": min,
    "max": max,
    "count": len,
    "count_distinct": lambda values: len(set(values)),
}


def facts(analysis):
    prefix = analysis.facts[0].id.rsplit(".", 1)[0]
    return {fact.id.removeprefix(f"{prefix}."): fact for fact in analysis.facts}


def said(analysis, lang="en"):
    """The findings with their values, as a reader sees them."""
    cited = {fact.id: fact for fact in analysis.facts}
    return [bind(note.text(lang), cited, lang) for note in analysis.findings]


def rows_of(analysis, table):
    with connect(table) as connection:
        return connection.execute(analysis.query).fetchall()


def sample(count=600, categories=30, seed=7):
    rng = random.Random(seed)
    names = [*(f"p{number:02}" for number in range(categories)), None]
    values = [None, *(rng.randrange(-2_000, 8_000) / 8 for _ in range(40))]
    return [(rng.choice(names), rng.choice(values)) for _ in range(count)]


def ranked(rows, how, *, ascending=False):
    groups = defaultdict(list)
    for category, value in rows:
        if value is not None:
            groups[category].append(value)
    valued = {category: STATISTICS[how](values) for category, values in groups.items()}
    sign = 1 if ascending else -1
    order = sorted(valued, key=lambda name: (sign * valued[name], name is None, name or ""))
    return [(name, valued[name]) for name in order], groups


@pytest.mark.parametrize(
    ("how", "ascending"), [*((how, False) for how in STATISTICS), ("sum", True), ("mean", True)]
)
def test_every_statistic_agrees_with_plain_python(make_table, check, tmp_path, how, ascending):
    rows = sample()
    table = make_table(COLUMNS, rows, units={"amount": "$"})
    result = ranking(
        table, category="product", value="amount", how=how, ascending=ascending, out=tmp_path
    )
    check(result, table)
    expected, groups = ranked(rows, how, ascending=ascending)
    shown = rows_of(result, table)
    assert [(name, pytest.approx(value)) for name, value, *_ in shown[:10]] == expected[:10]
    rest = [value for name, _ in expected[10:] for value in groups[name]]
    assert shown[10][0] == other_mark(21)
    assert shown[10][1] == pytest.approx(STATISTICS[how](rest))
    named = [item for item in expected if item[0] is not None]
    found = facts(result)
    assert (found["top_label"].value, found["top"].value) == (
        named[0][0],
        pytest.approx(named[0][1]),
    )
    assert found["last_label"].value == named[-1][0]
    assert found["top"].rows == len(groups[named[0][0]])
    assert found["top"].unit == ("" if how.startswith("count") else "$")


def test_lead_and_ratio_agree_with_plain_python(make_table, check, tmp_path):
    rows = [("a", 30.0), ("b", 24.0), ("c", 6.0), ("a", 6.0)]
    table = make_table(COLUMNS, rows)
    found = facts(ranking(table, category="product", value="amount", out=tmp_path))
    assert (found["lead"].value, found["lead_pct"].value) == (12.0, 50.0)
    assert found["ratio"].value == 6.0
    up = ranking(table, category="product", value="amount", ascending=True, out=tmp_path)
    check(up, table)
    assert facts(up)["lead_pct"].value == 75.0
    assert up.findings[0].en.startswith("{{ranking.product.amount.smallest-first.top_label}} has")


def test_no_percentage_of_a_base_that_is_not_positive(make_table, check, tmp_path):
    table = make_table(COLUMNS, [("a", 5.0), ("b", 0.0), ("c", -3.0)])
    result = ranking(table, category="product", value="amount", out=tmp_path)
    check(result, table)
    assert not {"lead_pct", "ratio"} & set(facts(result))
    assert facts(result)["lead"].value == 5.0


def test_no_percentage_when_only_the_first_is_below_zero(make_table, check, tmp_path):
    table = make_table(COLUMNS, [("a", 5.0), ("b", 7.0), ("c", -10.0)])
    result = ranking(table, category="product", value="amount", ascending=True, out=tmp_path)
    check(result, table)
    assert said(result)[0] == "c has the lowest amount, −10, 15 below a (5)."


@pytest.mark.parametrize(
    ("values", "first", "last"),
    [
        ((5, 5, 3, 2), "a and b share the highest amount, with 5 each.", "d is lowest of the 4"),
        (
            (5, 5, 5, 2),
            "a, b and 1 other share the highest amount, with 5 each.",
            "d is lowest of the 4",
        ),
        (
            (5, 5, 5, 5, 4),
            "a, b and 2 others share the highest amount, with 5 each.",
            "e is lowest of the 5",
        ),
        ((5, 4, 2, 2), "a has the highest amount, 5, 25% above b (4).", "c and d are lowest of"),
        (
            (5, 2, 2, 2),
            "a has the highest amount, 5, 150% above b (2).",
            "c, d and 1 other are lowest of the 4 (product), at 2 each; a has 2.5 times that.",
        ),
        ((5, 5, 5), "The amount is the same for all 3 (product): 5.", None),
        ((0, 0, 0), "The amount is the same for all 3 (product): 0.", None),
    ],
)
def test_equals_are_told_as_equals(make_table, check, tmp_path, values, first, last):
    table = make_table(COLUMNS, list(zip("abcde", map(float, values), strict=False)))
    result = ranking(table, category="product", value="amount", out=tmp_path)
    check(result, table)
    texts = said(result)
    assert texts[0] == first
    assert [text.startswith(last) for text in texts[1:]] == ([] if last is None else [True])
    assert ("并列" in said(result, "zh")[0]) == ("share" in first)


def test_sums_that_differ_by_binary_noise_are_equal(make_table, tmp_path):
    table = make_table(COLUMNS, [("a", 0.3), ("b", 0.1), ("b", 0.2), ("c", 0.1)])
    result = ranking(table, category="product", value="amount", out=tmp_path)
    assert "share the highest" in said(result)[0]


def test_the_other_end_is_told_as_a_multiple_of_one_decimal(make_table, check, tmp_path):
    table = make_table(COLUMNS, [("a", 20.75), ("b", 3.0), ("c", 1.0)], units={"amount": "$"})
    result = ranking(table, category="product", value="amount", out=tmp_path)
    check(result, table)
    english, chinese = said(result), said(result, "zh")
    assert english[1] == "c is lowest of the 3 (product), at $1; a has 20.8 times that."
    assert chinese[1] == "3个product中，c最低，为1美元；a是其20.8倍。"
    assert facts(result)["ratio"].value == 20.75
    for lang, texts in (("en", english), ("zh", chinese)):
        found = unsourced_numbers("\n".join(texts), facts=result.facts, lang=lang)
        assert found == ()


def test_chart_leaves_the_rest_out(make_table, tmp_path):
    table = make_table(COLUMNS, "SELECT format('p{:05}', i), 1 FROM range(10000) AS r(i)")
    result = ranking(table, category="product", value="amount", top=5, out=tmp_path)
    assert result.chart is not None
    assert (result.chart.rows, result.rows) == (5, 6)
    assert is_other(rows_of(result, table)[5][0])
    assert facts(result)["shown_share"].value == pytest.approx(0.05)


def test_means_of_few_rows_are_flagged(make_table, check, tmp_path):
    rows = [("rare", 100.0), *(("usual", 10.0 + number) for number in range(9))]
    table = make_table(COLUMNS, rows)
    result = ranking(table, category="product", value="amount", how="mean", out=tmp_path)
    check(result, table)
    found = facts(result)
    assert (found["few"].value, found["few_label"].value, found["few_rows"].value) == (1, "rare", 1)
    assert (found["solid_label"].value, found["solid"].value) == ("usual", 14.0)
    total = ranking(table, category="product", value="amount", out=tmp_path)
    assert "few" not in facts(total)


def test_group_without_a_name_leads_no_finding(make_table, check, tmp_path):
    table = make_table(COLUMNS, [(None, 50.0), ("a", 3.0), ("b", 2.0)])
    result = ranking(table, category="product", value="amount", out=tmp_path)
    check(result, table)
    assert rows_of(result, table)[0] == (None, 50.0, 1)
    assert facts(result)["top_label"].value == "a"
    assert facts(result)["missing_rows"].value == 1


@pytest.mark.parametrize("rows", [[], [(None, None)], [("a", 1.0)], [("a", None), ("b", 2.0)]])
@pytest.mark.parametrize("how", ["sum", "mean"])
def test_little_or_nothing_is_no_error(make_table, check, tmp_path, rows, how):
    table = make_table(COLUMNS, rows)
    check(ranking(table, category="product", value="amount", how=how, out=tmp_path), table)


def test_hostile_names_are_only_names(make_table, check, tmp_path):
    names = ["'; DROP TABLE cleaned; --", '"', "{{total}}", "{value}", "<top>", "", "⟨other:3⟩"]
    rows = [(name, float(number)) for number, name in enumerate(names)]
    column = 'a "b" {c} <d>'
    table = make_table({column: "VARCHAR", "x; --": "DOUBLE"}, rows)
    result = ranking(table, category=column, value="x; --", top=3, out=tmp_path)
    assert facts(result)["top_label"].value == "⟨other:3⟩"
    assert [row[1] for row in rows_of(result, table)] == [6.0, 5.0, 4.0, 6.0]


def test_wrong_arguments_are_told(make_table, tmp_path):
    table = make_table(COLUMNS, [("a", 1.0)])
    with pytest.raises(ToolError, match="top=0"):
        ranking(table, category="product", value="amount", top=0, out=tmp_path)
    with pytest.raises(ToolError, match="how='mean' needs a value"):
        ranking(table, category="product", how="mean", out=tmp_path)
    with pytest.raises(ToolError, match="how='avg' is unknown"):
        ranking(table, category="product", value="amount", how="avg", out=tmp_path)
    with pytest.raises(ToolError, match="of type text"):
        ranking(table, category="product", value="product", out=tmp_path)
