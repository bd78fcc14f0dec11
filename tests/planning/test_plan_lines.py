"""Compact plan lines: what they spell, how they stream in, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.engine.plan import Plan, Step
from planloom.errors import PlanError
from planloom.planning.plan_json import plan_from_json, plan_to_json
from planloom.planning.plan_lines import LineParser, parse_lines, plan_to_lines

TOOLS = {
    "read_csv_file": ("path",),
    "trend_over_time": ("table", "date", "value"),
    "write_report": ("title", "sections"),
    "send_email": ("to", "body"),
}


def only_step(text: str) -> Step:
    (step,) = parse_lines(text, TOOLS).steps
    return step


def test_call_becomes_a_step_with_references_and_dependencies():
    plan = parse_lines(
        'load = read_csv_file("sales.csv")\n'
        'trend = trend_over_time(load, date="order_date", value="amount")\n',
        TOOLS,
    )
    assert plan.step("load") == Step(id="load", tool="read_csv_file", input={"path": "sales.csv"})
    assert plan.step("trend").input == {
        "table": "$load",
        "date": "order_date",
        "value": "amount",
    }
    assert plan.step("trend").depends_on == ("load",)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("load.rows", "$load.rows"),
        ('load["a key"]', '$load["a key"]'),
        ("load.columns[-1].name", "$load.columns[-1].name"),
        ("[load, -2.5, None, True]", ["$load", -2.5, None, True]),
        ("(1, 2)", [1, 2]),
        ('{"a": [load.rows]}', {"a": ["$load.rows"]}),
        ("true", True),
        ("null", None),
        ('f"{load.rows} rows cost $5"', "${load.rows} rows cost $$5"),
        ('"Total: $load.rows"', "Total: $load.rows"),
        ('"C:\\data # not a comment"', "C:\\data # not a comment"),
        ("'it''s'", "its"),
        ('"""two\nlines"""', "two\nlines"),
    ],
)
def test_argument_values(written: str, value: object):
    assert only_step(f"x = trend_over_time({written})").input == {"table": value}


def test_comments_are_thought_and_descriptions():
    plan = parse_lines(
        "```python\n# Look at sales.\n# Then report.\n\n"
        'load = read_csv_file("a.csv")  # read the file\n# an aside\n```\n',
        TOOLS,
    )
    assert plan.thought == "Look at sales.\nThen report."
    assert [step.description for step in plan.steps] == ["read the file"]


def test_call_over_several_lines_keeps_its_comment():
    step = only_step('t = trend_over_time(\n  load,  # the data\n  date="d",\n)')
    assert step.input == {"table": "$load", "date": "d"}
    assert step.description == "the data"


def test_options_follow_the_call():
    step = only_step('m = send_email("a@b.c").after(load, clean).on_failure("skip")')
    assert step.depends_on == ("load", "clean")
    assert step.on_failure == "skip"
    assert step.input == {"to": "a@b.c"}


def test_last_unused_steps_are_outputs_unless_named():
    lines = 'a = read_csv_file("a")\nb = read_csv_file("b")\nc = trend_over_time(a)\n'
    assert parse_lines(lines, TOOLS).outputs == ("b", "c")
    assert parse_lines(lines + "output(c)\noutput(a)", TOOLS).outputs == ("c", "a")
    assert parse_lines(lines + "output()", TOOLS).outputs == ()


def test_call_without_a_name_gets_the_name_of_its_tool():
    plan = parse_lines('read_csv_file("a")\nread_csv_file("b")', TOOLS)
    assert [step.id for step in plan.steps] == ["read_csv_file", "read_csv_file_2"]


def test_two_calls_of_one_tool_keep_their_own_arguments():
    # uipath-langchain-python#452: both calls got the first set of arguments.
    plan = parse_lines('x = read_csv_file("x")\ny = read_csv_file("y")', TOOLS)
    assert [(s.id, s.input) for s in plan.steps] == [("x", {"path": "x"}), ("y", {"path": "y"})]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("Here is the plan:", "Line 1", "prose goes behind a #"),
        ('a = read_csv_file("a")\nthen go on', "Line 2", "then go on"),
        ('x = read_csv("a")', "Line 1, column 5", "Did you mean 'read_csv_file'?"),
        ('x = read_csv_file("a", 2)', "Line 1, column 24", "takes 1 arguments, not 2"),
        ("x = read_csv_file(1 + 1)", "Line 1, column 19", "let a tool compute"),
        ("x = read_csv_file(open('f'))", "Line 1, column 19", "line of its own"),
        ("x = read_csv_file([i for i in y])", "Line 1", "not part of the plan language"),
        ("x = read_csv_file(__import__('os').system('ls'))", "Line 1", "line of its own"),
        ("import os", "Line 1", "Write step = tool(...)"),
        ("x = read_csv_file('a\nb')", "Line 1", "not closed"),
        ("x = read_csv_file('a'", "Line 1", "'(' is never closed"),
        ("x = read_csv_file(\n  'a',\n  bad=f(),\n)", "Line 3, column 7", "bad=f(),"),
        ("x = read_csv_file('a', path='b')", "Line 1, column 29", "twice"),
        ("x = read_csv_file(path='a', **y)", "Line 1", "**"),
        ("x = read_csv_file('a').loop(3)", "Line 1", ".after(step, ...)"),
        ("x = read_csv_file('a').on_failure('cry')", "Line 1", "replan, skip"),
        ("x = read_csv_file(1e999)", "Line 1", "not part"),
        ("x = read_csv_file('\\ud800')", "Line 1", "surrogate"),
        ("output = read_csv_file('a')", "Line 1", "'output_step'"),
        ("数据 = read_csv_file(“a”)", "Line 1", "“"),
        ("x = " + "(" * 5000 + ")" * 5000, "Line 1", "cannot be read"),
        ("x = read_csv_file('" + "a" * 300_000 + "')", "Line 1", "longer than"),
        ("x = read_csv_file('\x00')", "Line 1", "null bytes"),
    ],
)
def test_bad_line_names_place_text_and_mend(text: str, place: str, words: str):
    with pytest.raises(PlanError) as caught:
        parse_lines(text, TOOLS)
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)
    assert "The line reads:" in str(caught.value)
    assert len(str(caught.value)) < 700


def test_column_counts_characters_behind_wide_ones():
    with pytest.raises(PlanError, match="Line 1, column 17"):
        parse_lines("  数据 = f('数据数', 1 + 1)", {"f": ("a", "b")})


def test_step_is_given_as_soon_as_its_line_is_complete():
    parser = LineParser(TOOLS)
    assert parser.feed('load = read_csv_file("a') == []
    assert parser.feed('.csv")') == []
    assert [step.id for step in parser.feed("\ntrend = trend_over_time(")] == ["load"]
    assert parser.feed("\n  load\n") == []
    assert [step.id for step in parser.feed(")\n")] == ["trend"]
    assert parser.finish().outputs == ("trend",)


def test_steps_before_a_bad_line_are_kept():
    parser = LineParser(TOOLS)
    assert [step.id for step in parser.feed('a = read_csv_file("a")\n')] == ["a"]
    with pytest.raises(PlanError):
        parser.feed("oh no\n")


identifiers = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True).map("s_".__add__)
texts = st.text(max_size=12) | st.sampled_from(
    ["$s_a", "$s_a.rows", "x $s_a y", "$$", "$5", '"""', "#", "\\", "'", "\n", "${s_a}", '$s["k"]']
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
one_line = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), max_size=12)
steps = st.builds(
    Step,
    id=identifiers,
    tool=st.sampled_from(sorted(TOOLS)),
    input=st.dictionaries(st.sampled_from(["path", "table", "date", "x"]), json_values, max_size=3),
    description=one_line,
    depends_on=st.lists(identifiers, max_size=2).map(tuple),
    on_failure=st.sampled_from(["replan", "skip", "ask", "rollback", "fail"]),
)
plans = st.builds(
    Plan,
    thought=st.lists(one_line.filter(bool), max_size=2).map("\n".join),
    steps=st.lists(steps, max_size=4, unique_by=lambda step: step.id).map(tuple),
    outputs=st.lists(identifiers, max_size=2, unique=True).map(tuple),
)


def same(left: Plan, right: Plan) -> bool:
    """Compare plans; the order of dependencies means nothing."""
    return _comparable(left) == _comparable(right)


def _comparable(plan: Plan) -> object:
    steps = [
        (s.id, s.tool, s.input, s.description, set(s.depends_on), s.on_failure) for s in plan.steps
    ]
    return plan.thought, steps, plan.outputs


@settings(max_examples=60)
@given(plans)
def test_both_spellings_round_trip(plan: Plan):
    assert same(parse_lines(plan_to_lines(plan, TOOLS), TOOLS), plan)
    assert same(plan_from_json(plan_to_json(plan)), plan)
    assert Plan.from_json(plan.to_json()) == plan


@settings(max_examples=60)
@given(plans, st.integers(1, 7))
def test_pieces_of_any_size_give_the_same_plan(plan: Plan, size: int):
    text = plan_to_lines(plan, TOOLS)
    parser = LineParser(TOOLS)
    seen = [step for at in range(0, len(text), size) for step in parser.feed(text[at : at + size])]
    whole = parser.finish()
    assert whole == parse_lines(text, TOOLS)
    assert tuple(seen) == whole.steps[: len(seen)]
    assert len(seen) >= len(whole.steps) - 1


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_text_gives_a_plan_or_a_plan_error(text: str):
    try:
        plan = parse_lines(text, TOOLS)
    except PlanError:
        return
    assert isinstance(plan, Plan)
