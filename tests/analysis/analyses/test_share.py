"""Shares agree with plain Python, add up, and are not given where they mean nothing."""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planloom.analysis.analyses.labels import other_mark
from planloom.analysis.analyses.share import share
from planloom.analysis.database import connect
from planloom.analysis.numbers.binding import bind
from planloom.errors import ToolError

COLUMNS = {"region": "VARCHAR", "amount": "DOUBLE"}


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


def totals(rows):
    """Sums by category, largest first, ties by name, the nameless last among equals."""
    sums = defaultdict(float)
    for category, value in rows:
        sums[category] += value or 0
    return sorted(sums.items(), key=lambda item: (-item[1], item[0] is None, item[0] or ""))


def sample(count, categories, seed=1):
    rng = random.Random(seed)
    return [(rng.choice(categories), rng.randrange(1, 10_000) / 4) for _ in range(count)]


def test_shares_agree_with_plain_python(make_table, check, tmp_path):
    rows = sample(400, ["North", "South", "East", "West", None])
    table = make_table(COLUMNS, rows, units={"amount": "$"})
    result = share(table, category="region", value="amount", out=tmp_path)
    check(result, table)
    whole = sum(value for _, value in rows)
    expected = [(name, value, pytest.approx(100 * value / whole)) for name, value in totals(rows)]
    assert [row[:3] for row in rows_of(result, table)] == expected
    assert {column.name: column.unit for column in result.columns} == {
        "region": "", "amount": "$", "share": "%", "rows": "",
    }  # fmt: skip
    found = facts(result)
    named = [item for item in totals(rows) if item[0] is not None]
    assert (found["top_label"].value, found["top"].value) == named[0]
    assert found["top_share"].value == pytest.approx(100 * named[0][1] / whole)
    assert found["top_share"].unit == "%"
    assert found["top"].rows == sum(category == named[0][0] for category, _ in rows)
    assert found["second_label"].value == named[1][0]
    assert found["last_label"].value == named[-1][0]
    assert found["total"].value == whole
    assert found["missing_rows"].value == sum(category is None for category, _ in rows)
    assert result.chart is not None
    assert result.chart.kind == "donut"


def test_ten_thousand_categories_become_a_few_and_the_rest(make_table, check, tmp_path):
    rows = "SELECT format('产品{:05}', i), 10000 - i FROM range(10000) AS r(i)"
    table = make_table({"产品": "VARCHAR", "金额": "DOUBLE"}, rows)
    result = share(table, category="产品", value="金额", out=tmp_path)
    check(result, table)
    shown = rows_of(result, table)
    assert [row[0] for row in shown[:7]] == [f"产品{number:05}" for number in range(7)]
    assert shown[7][0] == other_mark(9_993)
    assert shown[7][1] == sum(10_000 - number for number in range(7, 10_000))
    assert sum(row[2] for row in shown) == pytest.approx(100)
    assert result.chart is not None
    assert (result.chart.kind, result.chart.horizontal, result.chart.y) == ("bar", True, ("share",))
    assert facts(result)["groups"].value == 10_000


def test_single_further_category_keeps_its_name(make_table, tmp_path):
    table = make_table(COLUMNS, [("a", 3.0), ("b", 2.0), ("c", 1.0)])
    result = share(table, category="region", value="amount", top=2, out=tmp_path)
    assert [row[0] for row in rows_of(result, table)] == ["a", "b", "c"]


def test_negative_sums_give_values_and_a_caution(make_table, check, tmp_path):
    rows = [("a", 30.0), ("b", -20.0), ("c", 5.0), ("d", -1.0), ("d", 2.0)]
    table = make_table(COLUMNS, rows)
    result = share(table, category="region", value="amount", out=tmp_path)
    check(result, table)
    assert result.column_names == ("region", "amount", "rows")
    assert "negative" in result.cautions[0].en
    assert facts(result)["negative"].value == 1
    assert not any(fact.unit == "%" for fact in result.facts)


def test_whole_of_zero_gives_a_caution(make_table, check, tmp_path):
    table = make_table(COLUMNS, [("a", 0.0), ("b", 0.0), ("c", None)])
    result = share(table, category="region", value="amount", out=tmp_path)
    check(result, table)
    assert "not above zero" in result.cautions[0].en


@pytest.mark.parametrize(
    "rows", [[], [(None, None)], [("a", 1.0)], [(None, 2.0)], [("a", None), ("b", None)]]
)
def test_little_or_nothing_is_no_error(make_table, check, tmp_path, rows):
    table = make_table(COLUMNS, rows)
    for value in ("amount", None):
        result = share(table, category="region", value=value, out=tmp_path)
        check(result, table)
        assert result.chart is None or result.rows > 1


def test_rows_are_counted_without_a_value(make_table, check, tmp_path):
    table = make_table({"门店号": "INTEGER"}, [(1,), (1,), (2,), (1,)])
    result = share(table, category="门店号", out=tmp_path)
    check(result, table)
    assert rows_of(result, table) == [("1", 3, 75.0), ("2", 1, 25.0)]
    assert result.column_names == ("门店号", "rows", "share")


def test_level_leaders_are_told_as_level(make_table, tmp_path):
    table = make_table(COLUMNS, [("b", 2.0), ("a", 2.0), ("c", 1.0)])
    result = share(table, category="region", value="amount", out=tmp_path)
    assert "level at the top" in result.findings[0].en
    assert facts(result)["top_label"].value == "a"


@pytest.mark.parametrize(
    ("values", "first", "last"),
    [
        ((4, 4, 4, 1), "a, b and 1 other are level at the top", "d has the smallest share"),
        ((8, 4, 2, 2), "a accounts for", "c and d have the smallest share, 12.5% each (2)."),
        ((8, 2, 2, 2, 2), "a accounts for", "d, e and 2 others have the smallest share"),
        (
            (5, 5, 4, 4),
            "a and b are level",
            "The shares lie close together: the smallest, of c and",
        ),
        ((5, 5, 5), "All 3 (region) hold the same share: 33.3% of total amount each", "All 3"),
    ],
)
def test_equals_are_told_as_equals(make_table, check, tmp_path, values, first, last):
    table = make_table(COLUMNS, list(zip("abcde", map(float, values), strict=False)))
    result = share(table, category="region", value="amount", out=tmp_path)
    check(result, table)
    texts = said(result)
    assert texts[0].startswith(first)
    assert texts[-1].startswith(last)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0, 0, 0), "The amount is the same for all 3 (region): 0."),
        ((5, -2, -2), "By region, amount runs from −2 (b and c) to 5 (a)."),
        ((5, 5, -2), "By region, amount runs from −2 (c) to 5 (a and b)."),
    ],
)
def test_equal_extremes_without_shares(make_table, check, tmp_path, values, text):
    table = make_table(COLUMNS, list(zip("abc", map(float, values), strict=True)))
    result = share(table, category="region", value="amount", out=tmp_path)
    check(result, table)
    assert said(result) == [text]


def test_the_top_few_are_told_with_their_share(make_table, tmp_path):
    rows = [(name, value) for name, value in zip("abcdef", (9.0, 9.0, 7.0, 1, 1, 1), strict=True)]
    table = make_table(COLUMNS, rows)
    result = share(table, category="region", value="amount", out=tmp_path)
    assert "The top 3 of 6 (region) together hold 89.3%." in said(result)


def test_rows_without_a_category_lead_no_finding(make_table, tmp_path):
    table = make_table(COLUMNS, [(None, 90.0), ("a", 3.0), ("b", 2.0), ("c", 1.0)])
    result = share(table, category="region", value="amount", out=tmp_path)
    assert rows_of(result, table)[0][0] is None
    assert said(result)[0].startswith("a accounts for 3.1%")
    assert not any("missing" in text.lower() for text in said(result))


def test_columns_named_like_ours_do_not_clash(make_table, check, tmp_path):
    rows = [("x", 1), ("y", 2), ("y", 3)]
    table = make_table({"Rows": "VARCHAR", "share": "INTEGER"}, rows)
    result = share(table, category="Rows", value="share", out=tmp_path)
    check(result, table)
    assert result.column_names == ("Rows", "share", "share_2", "rows_2")


def test_means_have_no_shares(make_table, tmp_path):
    table = make_table(COLUMNS, [("a", 1.0)])
    with pytest.raises(ToolError, match="rank the categories instead"):
        share(table, category="region", value="amount", how="mean", out=tmp_path)  # pyright: ignore[reportArgumentType] -- the wrong value is the test


def test_column_is_suggested_for_a_misspelt_one(make_table, tmp_path):
    table = make_table(COLUMNS, [("a", 1.0)])
    with pytest.raises(ToolError, match="Did you mean 'region'"):
        share(table, category="Regions", value="amount", out=tmp_path)


def test_ids_tell_arguments_apart_and_repeat(make_table, tmp_path):
    table = make_table(COLUMNS, sample(50, ["a", "b", "c"]))
    other = make_table(COLUMNS, sample(50, ["a", "b", "c"]), name="orders")
    calls = [
        (table, {"category": "region", "value": "amount"}),
        (table, {"category": "region"}),
        (table, {"category": "region", "value": "amount", "how": "count"}),
        (table, {"category": "region", "value": "amount", "top": 2}),
        (table, {"category": "amount", "value": "amount"}),
        (other, {"category": "region", "value": "amount"}),
    ]
    ids = [
        frozenset(fact.id for fact in share(given, **args, out=tmp_path).facts)
        for given, args in calls
    ]
    assert not any(one & two for number, one in enumerate(ids) for two in ids[:number])
    again = share(table, **calls[0][1], out=tmp_path)
    assert frozenset(fact.id for fact in again.facts) == ids[0]


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "d", "e", None]),
            st.one_of(st.none(), st.integers(0, 10**9).map(lambda cents: cents / 100)),
        ),
        min_size=1,
        max_size=60,
    ),
    top=st.integers(1, 6),
)
def test_shares_add_up_to_a_hundred(make_table, check, rows, top):
    table = make_table(COLUMNS, rows)
    with tempfile.TemporaryDirectory() as folder:
        result = share(table, category="region", value="amount", top=top, out=Path(folder))
        check(result, table)
        if "share" in result.column_names:
            parts = [row[2] for row in rows_of(result, table)]
            assert sum(part or 0 for part in parts) == pytest.approx(100)
        else:
            assert sum(value or 0 for _, value in rows) == 0
