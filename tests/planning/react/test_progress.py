from __future__ import annotations

import pytest

from planloom.planning.react.progress import (
    FAILED_LIMIT,
    STALE_HINT,
    STALE_LIMIT,
    Advice,
    Made,
    Progress,
)
from planloom.planning.react.toolbox import Observation


def made(name: str, result: str, /, **arguments: str) -> Made:
    return Made(name, arguments, Observation(text=result))


def failed(name: str, kind: str, text: str) -> Made:
    return Made(name, {"text": text}, Observation.failure(kind, text))


def advice(*turns: list[Made]) -> list[Advice]:
    progress = Progress()
    return [progress.note(turn) for turn in turns]


def test_same_call_with_the_same_result_gets_a_hint_then_loses_the_tools() -> None:
    same = [made("save_note", "saved", text="hi")]
    given = advice(*[same] * (STALE_LIMIT + 1))
    assert given.index("hint") == STALE_HINT
    assert given.count("hint") == 1
    assert given[-1] == "withdraw"
    assert "withdraw" not in given[:-1]


@pytest.mark.parametrize("period", [2, 3])
def test_going_round_in_circles_is_noticed(period: int) -> None:
    circle = [[made("look", f"thing {n}", at=str(n))] for n in range(period)]
    given = advice(*circle * 4)
    assert "hint" in given
    assert given.index("withdraw") == period + STALE_LIMIT - 1


def test_waiting_for_a_changing_state_is_no_repetition() -> None:
    assert set(advice(*([made("status", f"{n} %", id="7")] for n in range(12)))) == {"go_on"}


def test_one_tool_with_other_arguments_is_no_repetition() -> None:
    turns = ([made("search", "nothing found", q=str(n))] for n in range(12))
    assert set(advice(*turns)) == {"go_on"}


def test_check_between_changes_is_no_repetition() -> None:
    turns: list[list[Made]] = []
    for number in range(6):
        turns += [[made("run_tests", "2 failed")], [made("edit", "ok", text=str(number))]]
    assert set(advice(*turns)) == {"go_on"}


def test_order_of_arguments_does_not_make_a_call_new() -> None:
    one = Made("f", {"a": 1, "b": 2}, Observation(text="x"))
    two = Made("f", {"b": 2, "a": 1}, Observation(text="x"))
    assert advice(*[[one], [two]] * 3)[STALE_HINT] == "hint"


def test_writing_the_same_again_is_no_news_whatever_it_says() -> None:
    turns = [
        [Made("save", {"text": "hi"}, Observation(text=f"note {n}", repeatable=False))]
        for n in range(STALE_LIMIT + 1)
    ]
    assert advice(*turns)[-1] == "withdraw"


@pytest.mark.parametrize("kind", ["unknown_tool", "arguments"])
def test_calls_that_never_run_count_although_each_is_another(kind: str) -> None:
    given = advice(*([failed(f"tool_{n}", kind, f"error {n}")] for n in range(STALE_LIMIT)))
    assert given[-1] == "withdraw"


def test_failures_that_differ_get_more_patience() -> None:
    given = advice(*([failed("fetch", "tool", f"page {n} is gone")] for n in range(FAILED_LIMIT)))
    assert given[: STALE_LIMIT - 1] == ["go_on"] * (STALE_LIMIT - 1)
    assert "hint" in given
    assert given[-1] == "withdraw"


def test_one_new_call_beside_repeated_ones_is_progress() -> None:
    turns = ([made("a", "same"), made("b", str(n), n=str(n))] for n in range(10))
    assert set(advice(*turns)) == {"go_on"}


def test_empty_todo_lists_are_noticed() -> None:
    empty = [Made("write_todos", {"todos": []}, Observation(text="ok"))]
    assert advice(*[empty] * 5)[-1] == "withdraw"


def test_hint_may_come_again_after_progress() -> None:
    same, new = [made("a", "same")], [made("b", "new")]
    assert advice(same, same, same, new, same, same).count("hint") == 2
