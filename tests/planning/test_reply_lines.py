"""Plan lines are found in whatever a model wraps them in, and in nothing else."""

from __future__ import annotations

import time

import pytest

from planloom.engine.plan import Step
from planloom.planning.reply_lines import (
    MAX_REPEATS,
    MAX_STEPS,
    ReadReply,
    ReplyReader,
    merged_steps,
)

TOOLS = {"lookup": ("key",), "combine": ("values",), "run": ("code",)}


def read(text: str, *, size: int = 5, cut: bool = False) -> tuple[list[Step], ReadReply]:
    reader = ReplyReader(TOOLS)
    early = [
        step
        for start in range(0, len(text), size)
        for step in reader.feed(text[start : start + size])
    ]
    return early, reader.finish(cut=cut)


def ids(steps: list[Step]) -> list[str]:
    return [step.id for step in steps]


def test_each_step_is_given_when_its_line_ends() -> None:
    reader = ReplyReader(TOOLS)
    assert reader.feed('a = lookup("x")') == []
    assert ids(reader.feed("\nb = loo")) == ["a"]
    assert ids(reader.feed('kup("y")\nc = combine([a, b])')) == ["b"]
    assert ids(reader.finish().steps) == ["a", "b", "c"]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "Sure! Here's the plan:\n\n```python\na = lookup(\"x\")\nb = combine(a)\n```\nThat's it.",
        '1. a = lookup("x")\n2. b = combine(a)\n',
        '- `a = lookup("x")`\n- `b = combine(a)`\n',
        '1. `a = lookup("x")`: looks it up\n2. `b = combine(a)` for `a`\n',
        '**a = lookup("x")**\n**b = combine(a)**\n',
        'Step 1: a = lookup("x")\nstep 2: b = combine(a)\n',
        '步骤1：a = lookup("x")\n第2步：b = combine(a)\n',
        '1、a = lookup("x")\n(2) b = combine(a)\n',
        '<think>z = lookup("no")\nmaybe</think>\na = lookup("x")\nb = combine(a)',
        'a=lookup("x")\r\nb=combine(a)\r\n',
        "好的，计划如下：\na = lookup('x')  # 查询\nb = combine(a)\n以上就是计划。",
        'import tools\n\na: str = lookup(\n    "x",\n)\nb = combine(\n  a\n)',
        '# Look and combine.\na = lookup("x")\n\nb = combine(a)\nlookup is a tool that finds x.',
    ],
)
def test_wrapping_is_passed_over(text: str, size: int) -> None:
    _, reply = read(text, size=size)
    assert reply.problems == []
    assert [(s.id, s.tool, dict(s.input)) for s in reply.steps] == [
        ("a", "lookup", {"key": "x"}),
        ("b", "combine", {"values": "$a"}),
    ]


def test_prose_about_tools_is_no_step() -> None:
    _, reply = read("lookup(key) finds a record.\nNote: x is 5.\nCall run (slowly) if need be.")
    assert (reply.steps, reply.problems) == ([], [])
    assert reply.thought.startswith("lookup(key) finds")


def test_thinking_without_opening_tag_leaves_only_what_follows() -> None:
    _, reply = read('b = lookup("no")\n</think>\na = lookup("x")\n')
    assert ids(reply.steps) == ["a"]


def test_thinking_that_never_ends_holds_no_plan() -> None:
    early, reply = read('<think>\na = lookup("x")\nb = lookup("y")\n')
    assert (early, reply.steps) == ([], [])


def test_every_faulty_line_is_told_with_its_number_and_the_others_stand() -> None:
    text = 'a = lookup("x")\nb = lokup("y")\nc = lookup("z\nd = lookup(1 + 1)\ne = combine(a)\n'
    _, reply = read(text)
    assert ids(reply.steps) == ["a", "e"]
    assert [problem.split(",")[0] for problem in reply.problems] == ["Line 2", "Line 3", "Line 4"]
    assert "Did you mean 'lookup'?" in reply.problems[0]


def test_missing_bracket_does_not_swallow_the_next_step() -> None:
    _, reply = read('a = lookup("x"\nb = lookup("y")\n')
    assert ids(reply.steps) == ["b"]
    assert len(reply.problems) == 1


def test_code_inside_of_a_long_text_is_no_step() -> None:
    _, reply = read('a = run("""\nx = lookup("k")\nprint(x)\n""")\nb = combine(a)\n')
    assert ids(reply.steps) == ["a", "b"]
    assert reply.steps[0].input["code"] == '\nx = lookup("k")\nprint(x)\n'


def test_line_that_the_end_cut_off_is_left_out_without_complaint() -> None:
    _, reply = read('a = lookup("x")\nb = lookup("y', cut=True)
    assert (ids(reply.steps), reply.problems) == (["a"], [])


def test_last_line_without_line_end_is_cut_off_only_where_it_was() -> None:
    _, reply = read('a = lookup("x")\nb = lookup("y')
    assert ids(reply.steps) == ["a"]
    assert "never closed" in reply.problems[0] or "not closed" in reply.problems[0]


def test_second_line_with_one_id_is_a_problem_and_a_repeated_line_is_not() -> None:
    _, reply = read('a = lookup("x")\na = lookup("x")\na = combine(a)\n')
    assert ids(reply.steps) == ["a"]
    assert len(reply.problems) == 1
    assert "'a2'" in reply.problems[0]


def test_calls_without_an_id_get_free_ones() -> None:
    _, reply = read('lookup("x")\nlookup("y")\nlookup("x")\n')
    assert ids(reply.steps) == ["lookup", "lookup_2"]


def test_model_that_repeats_itself_is_stuck() -> None:
    reader = ReplyReader(TOOLS)
    reader.feed('a = lookup("x")\n' * MAX_REPEATS)
    assert not reader.is_stuck
    reader.feed('a = lookup("x")\n')
    assert reader.is_stuck


@pytest.mark.parametrize(
    "line", ['a{n} = lookup("{n}")\n', "a{n} = unknown({n})\n", "word{n} \n", "word{n} "]
)
def test_reply_without_end_is_to_be_stopped(line: str) -> None:
    reader = ReplyReader(TOOLS)
    taken = 0
    while not reader.should_stop and taken < 100_000:
        reader.feed(line.replace("{n}", str(taken)))
        taken += 1
    assert reader.should_stop
    assert len(reader.finish(cut=True).steps) <= MAX_STEPS + 1


def test_long_statement_in_small_pieces_is_read_in_linear_time() -> None:
    def seconds(count: int) -> float:
        begun = time.process_time()
        _, reply = read("a = combine([\n" + '"word",\n' * count + "])  # " + "x" * count, size=8)
        assert len(reply.steps) == 1
        return time.process_time() - begun

    seconds(100)
    assert seconds(8_000) < 40 * max(seconds(1_000), 0.01)


def test_outputs_words_and_print() -> None:
    _, reply = read('a = lookup("x")\nb = lookup("y")\nprint(a)\ndrop(c, d)\n')
    assert (reply.outputs, reply.dropped) == (("a",), ("c", "d"))
    assert read("output()")[1].outputs == ()
    assert read("a = lookup('x')")[1].outputs is None
    assert read("done()")[1].is_done
    assert read('find_tools("send mail", draw_chart)')[1].searches == ("send mail", "draw_chart")


def test_json_plan_is_read_where_lines_were_asked_for() -> None:
    text = 'Here:\n```json\n{"plan": [{"step": "a", "tool": "lookup", "input": {"key": "x"}}]}\n```'
    assert ids(read(text)[1].steps) == ["a"]


def test_merging_replaces_by_id_and_keeps_the_order() -> None:
    old = [Step(id=name, tool="lookup", input={"key": name}) for name in "abc"]
    new = [Step(id="b", tool="lookup", input={"key": "new"}), Step(id="d", tool="lookup")]
    merged = merged_steps(old, new, dropped=["c"])
    assert [(step.id, step.input.get("key")) for step in merged] == [
        ("a", "a"), ("b", "new"), ("d", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ('e = f"Warmer by {a:.1f} degrees."  # say it', "e", "Warmer by ${a} degrees."),
        ("e = 'It costs $5.'", "e", "It costs $5."),
        ('print(f"Sum: {a.total}")', "answer", "Sum: ${a.total}"),
    ],
)
def test_text_of_its_own_becomes_a_filled_template(line: str, name: str, text: str) -> None:
    reader = ReplyReader({**TOOLS, "fill_text": ("text",)})
    reader.feed(f'a = lookup("x")\n{line}\n')
    reply = reader.finish()
    assert reply.problems == []
    made = reply.steps[-1]
    assert (made.id, made.tool, made.input["text"]) == (name, "fill_text", text)


def test_calls_inside_of_calls_become_steps_of_their_own() -> None:
    _, reply = read('c = combine([lookup("x"), lookup("x").rows, lookup(lookup("y"))])  # all\n')
    assert reply.problems == []
    assert [(step.tool, dict(step.input)) for step in reply.steps] == [
        ("lookup", {"key": "x"}),
        ("lookup", {"key": "x"}),
        ("lookup", {"key": "y"}),
        ("lookup", {"key": "$lookup_in3"}),
        ("combine", {"values": ["$lookup_in1", "$lookup_in2.rows", "$lookup_in4"]}),
    ]


def test_output_of_a_call_is_a_step_and_an_output() -> None:
    _, reply = read('output(combine(lookup("x")))')
    assert [step.id for step in reply.steps] == ["lookup_in1", "combine_in2"]
    assert reply.outputs == ("combine_in2",)


def test_unknown_call_inside_of_a_call_is_a_problem() -> None:
    _, reply = read('c = combine(len("x"))')
    assert reply.steps == []
    assert "a call stands inside of another" in reply.problems[0]
