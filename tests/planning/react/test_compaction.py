from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from planloom.errors import ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply, Usage
from planloom.models.estimate import message_tokens, request_tokens
from planloom.models.messages import AssistantMessage, Message, ToolMessage, UserMessage

PINNED = "PLAN: 1. load 2. chart"


def assert_pairs_are_whole(messages: tuple[Message, ...]) -> None:
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert message.call_id == waiting.pop(0)
        else:
            assert waiting == []
            if isinstance(message, AssistantMessage):
                waiting = [call.id for call in message.tool_calls]
    assert waiting == []


def sizes(run: Any) -> list[int]:
    return [sum(map(message_tokens, request.messages)) for request in run.model.requests]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("result_chars", [50, 3000, 9000])
def test_history_stays_within_the_window_with_pairs_goal_and_plan(
    play: Any, asks: Any, tools: Any, native: bool, result_chars: int
) -> None:
    numbers = itertools.count()
    box = tools(look=lambda at: f"{next(numbers)} " + "word " * (result_chars // 5))
    turn = [asks(("look", {"at": n}), ("look", {"at": -n}), text="I look.") for n in range(1, 60)]
    spoken = [
        json.dumps({"thought": "t", "action": "look", "action_input": {"at": n}})
        for n in range(1, 60)
    ]
    run = play(
        [*(turn if native else spoken), "Done."],
        box,
        traits=ModelTraits(context_tokens=8000, tools=native),
        max_iterations=60,
        goal="THE GOAL",
        pinned=PINNED,
    )
    assert run.outcome.answer == "Done."
    assert max(sizes(run)) <= 8000 - 2000
    for request in run.model.requests:
        assert_pairs_are_whole(request.messages)
        first = request.messages[1]
        assert isinstance(first, UserMessage)
        assert "THE GOAL" in str(first.content)
        assert PINNED in str(first.content)


def test_latest_results_stay_whole_while_older_ones_are_folded(
    play: Any, asks: Any, tools: Any
) -> None:
    box = tools(look=lambda at: f"result {at} " + "many words " * 400)
    replies = [asks(("look", {"at": n})) for n in range(12)]
    run = play(
        [*replies, "Done."], box, traits=ModelTraits(context_tokens=12_000), max_iterations=20
    )
    results = [m.text for m in run.model.requests[-1].messages if isinstance(m, ToolMessage)]
    assert "read_result" in results[0]
    assert results[-1].startswith("result 11")
    assert len(results[-1]) > 4000


def test_shortening_is_not_done_in_every_turn(play: Any, asks: Any, tools: Any) -> None:
    box = tools(look=lambda at: f"{at} " + "many words " * 200)
    replies = [asks(("look", {"at": n})) for n in range(40)]
    run = play(
        [*replies, "Done."], box, traits=ModelTraits(context_tokens=16_000), max_iterations=50
    )
    kept = sum(
        after.messages[: len(before.messages)] == before.messages
        for before, after in itertools.pairwise(run.model.requests)
    )
    assert kept >= 30


def test_single_result_larger_than_the_window_is_handled(play: Any, asks: Any, tools: Any) -> None:
    box = tools(page=lambda: "word " * 2_000_000)
    run = play(
        [asks(("page", {})), asks(("page", {}), ("page", {}), ("page", {})), "Done."],
        box,
        traits=ModelTraits(context_tokens=4096),
        max_output_chars=10**9,
    )
    assert run.outcome.answer == "Done."
    assert max(sizes(run)) <= 3072


def test_many_large_results_of_one_turn_are_cut_to_fit(play: Any, asks: Any, tools: Any) -> None:
    box = tools(page=lambda n: f"{n} " + "word " * 1900)
    run = play(
        [asks(*(("page", {"n": n}) for n in range(60))), "Done."],
        box,
        traits=ModelTraits(context_tokens=16_000),
    )
    assert run.outcome.answer == "Done."
    assert max(sizes(run)) <= 12_000
    assert_pairs_are_whole(run.model.requests[-1].messages)


def test_refused_request_is_shortened_and_sent_once_more(play: Any, asks: Any, tools: Any) -> None:
    error = ModelError("maximum context length is 8192 tokens", status=400)
    box = tools(look=lambda at: f"{at} " + "many words " * 300)
    replies = [asks(("look", {"at": n})) for n in range(5)]
    run = play([*replies, error, "Done."], box)
    assert run.outcome.answer == "Done."
    before, after = sizes(run)[-2:]
    assert after < before * 0.75


def test_request_that_never_fits_ends_truthfully(play: Any, asks: Any, tools: Any) -> None:
    error = ModelError("prompt is too long", status=400)
    run = play([error] * 9, tools(look=lambda: "x"))
    assert len(run.model.requests) == 2
    assert run.outcome.stop_reason == "model_error"


def test_other_errors_are_not_taken_for_a_full_window(play: Any, tools: Any) -> None:
    run = play([ModelError("The key is wrong.", status=401)] * 2, tools(look=lambda: "x"))
    assert len(run.model.requests) == 1


def test_count_of_the_provider_is_believed(play: Any, asks: Any, tools: Any) -> None:
    def reply(request: ChatRequest) -> Reply:
        real = 3 * request_tokens(request)
        assert real < 9000
        said = asks(("look", {"at": len(run_lengths)}))
        run_lengths.append(real)
        return Reply(tool_calls=said.tool_calls, usage=Usage(prompt_tokens=real))

    run_lengths: list[int] = []
    box = tools(look=lambda at: f"{at} " + "many words " * 150)
    run = play([reply] * 20, box, traits=ModelTraits(context_tokens=8000), max_iterations=15)
    assert len(run_lengths) == 15
    assert run.outcome.stop_reason == "max_iterations"


def test_folded_result_can_still_be_read(play: Any, asks: Any, tools: Any) -> None:
    box = tools(look=lambda at: f"secret {at} " + "many words " * 400)
    replies = [asks(("look", {"at": n})) for n in range(10)]
    run = play(
        [*replies, asks(("read_result", {"id": "r1", "chars": 40})), "Done."],
        box,
        traits=ModelTraits(context_tokens=10_000),
        max_iterations=20,
    )
    last = run.model.requests[-1].messages[-1]
    assert isinstance(last, ToolMessage)
    assert last.text.startswith("secret 0")
