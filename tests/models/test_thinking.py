"""Thinking is separated from what a model says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.models.thinking import ThinkingFilter, split_thinking

SPLITS = {
    "no thinking": ("  plain  ", "", "  plain  "),
    "empty": ("", "", ""),
    "one block": ("<think>2 + 2</think>\n\nIt is 4.", "2 + 2", "It is 4."),
    "other names": ("<thinking>a</thinking>b<reasoning>c</reasoning>", "a\nc", "b"),
    "brackets": ("[THINK]a[/THINK]b", "a", "b"),
    "upper case": ("<THINK>a</Think>b", "a", "b"),
    "between words": ("One <think>x</think>two", "x", "One two"),
    "several": ("<think>a</think>b<think>c</think>d", "a\nc", "bd"),
    "never closed": ("Well.<think>a b", "a b", "Well."),
    "only opened": ("<think>", "", ""),
    "never opened": ("first thoughts</think>\nanswer", "first thoughts", "answer"),
    "nested": ("<think>a<think>b</think>c</think>d", "a<think>b</think>c", "d"),
    "mentioned inside": ("<think>use <think> tags</think>answer", "use <think> tags", "answer"),
    "empty block": ("<think>\n\n</think>\n\nanswer", "", "answer"),
    "in backticks": ("Write `<think>` and `</think>`.", "", "Write `<think>` and `</think>`."),
    "in double backticks": ("``<think> ` ``", "", "``<think> ` ``"),
    "in a fence": ("```\n<think>x</think>\n```\nok", "", "```\n<think>x</think>\n```\nok"),
    "in tildes": ("~~~xml\n<think>\n~~~\nok", "", "~~~xml\n<think>\n~~~\nok"),
    "quoted inside thinking": ("<think>not `</think>` yet</think>a", "not `</think>` yet", "a"),
    "lone backtick": ("a ` b <think>c</think>\nd ` e", "c", "a ` b \nd ` e"),
    "fence left open in thinking": ("<think>\n```py\nx\n</think>\nanswer", "```py\nx", "answer"),
    "fence after thinking": ("<think>a</think>```json\n{}\n```", "a", "```json\n{}\n```"),
    "other tags": ("<thin> <b>x</b> a<5", "", "<thin> <b>x</b> a<5"),
    "half a tag": ("a <thin", "", "a <thin"),
    "thinking in the call": ("<think>{}</think><tool_call>{}", "{}", "<tool_call>{}"),
}


@pytest.mark.parametrize(("text", "thinking", "rest"), SPLITS.values(), ids=SPLITS)
def test_thinking_is_split_off(text: str, thinking: str, rest: str):
    assert split_thinking(text) == (thinking, rest)


@pytest.mark.parametrize(("text", "thinking", "rest"), SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_give_the_same_as_the_whole(text: str, thinking: str, rest: str, size: int):
    reader = ThinkingFilter()
    shown = "".join(reader.feed(text[i : i + size]) for i in range(0, len(text), size))
    shown += reader.finish()
    assert (reader.thinking, reader.text) == (thinking, rest)
    if text != SPLITS["never opened"][0]:
        assert shown.strip() == rest.strip()


def test_half_a_tag_is_held_back():
    reader = ThinkingFilter()
    assert reader.feed("a <") == "a "
    assert reader.feed("th") == ""
    assert reader.feed("at> ") == "<that> "
    assert reader.feed("</THI") == ""
    assert reader.finish() == "</THI"


def test_text_without_marks_is_shown_at_once():
    reader = ThinkingFilter()
    assert reader.feed("load = read(") == "load = read("
    assert reader.feed('"a.csv")\n') == '"a.csv")\n'


def test_a_closing_tag_alone_turns_what_was_shown_into_thinking():
    reader = ThinkingFilter()
    assert reader.feed("Hmm, 4?") == "Hmm, 4?"
    assert reader.feed("</think>It is 4.") == "It is 4."
    assert reader.finish() == ""
    assert (reader.thinking, reader.text) == ("Hmm, 4?", "It is 4.")


PIECES = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "a", " ", "\n", "`", "```", "\n```\n", "<", "thi", "[THINK]", "~~~"]
    ),
    max_size=14,
)


@given(PIECES, st.integers(1, 5))
def test_how_the_text_is_cut_makes_no_difference(parts: list[str], size: int):
    text = "".join(parts)
    reader = ThinkingFilter()
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    reader.finish()
    assert (reader.thinking, reader.text) == split_thinking(text)
