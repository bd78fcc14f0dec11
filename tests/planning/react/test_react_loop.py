from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from planloom.errors import BudgetExhaustedError, ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply
from planloom.models.messages import (
    AssistantMessage,
    ImagePart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from planloom.models.scripted import ScriptedModel
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.run_state import BROKEN_OFF, CUT, EMPTY, LAST, LOOK, REPEATED
from planloom.planning.react.toolbox import Observation
from planloom.planning.react.trajectory import ReactOutcome


def looks(asks: Any, count: int) -> list[Reply]:
    return [asks(("look", {"at": number})) for number in range(count)]


def test_answer_without_calls_is_given_at_once(play: Any, fresh: Any) -> None:
    run = play(["It is 4."], fresh)
    assert run.outcome.answer == "It is 4."
    assert (run.outcome.stop_reason, run.outcome.iterations) == ("answered", 1)
    assert run.outcome.problem is None


def test_result_of_a_call_is_shown_to_the_model(play: Any, asks: Any, tools: Any) -> None:
    run = play([asks(("add", {"a": 1, "b": 2})), "3"], tools(add=lambda a, b: a + b))
    last = run.model.requests[1].messages
    assert last[-2:] == (
        AssistantMessage("", (ToolCall("c1", "add", '{"a": 1, "b": 2}'),)),
        ToolMessage("c1", "3"),
    )
    (turn, answer) = run.outcome.trajectory
    assert (turn.actions[0].tool, turn.actions[0].observation.text) == ("add", "3")
    assert answer.thought == "3"


@pytest.mark.parametrize("limit", [2, 3, 5, 10])
def test_tools_work_in_all_but_the_last_iteration(
    play: Any, asks: Any, fresh: Any, limit: int
) -> None:
    run = play([*looks(asks, limit - 1), "That is all."], fresh, max_iterations=limit)
    assert run.had_tools == [True] * (limit - 1) + [False]
    assert len(fresh.calls) == limit - 1
    assert run.outcome.answer == "That is all."
    assert run.outcome.is_answered
    assert (run.outcome.stop_reason, run.outcome.iterations) == ("max_iterations", limit)
    assert LAST in run.told(limit)


def test_limit_of_one_answers_at_once_without_tools(play: Any, fresh: Any) -> None:
    run = play(["4"], fresh, max_iterations=1)
    assert run.had_tools == [False]
    assert (run.outcome.answer, run.outcome.stop_reason) == ("4", "answered")


def test_limit_below_one_is_refused(fresh: Any) -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        ReactLoop(ScriptedModel([]), fresh, max_iterations=0)


@pytest.mark.parametrize(("limit", "warned_at"), [(2, 0), (3, 2), (4, 2), (10, 8)])
def test_warning_near_the_limit_is_given_once(
    play: Any, asks: Any, fresh: Any, limit: int, warned_at: int
) -> None:
    run = play([*looks(asks, limit - 1), "Done."], fresh, max_iterations=limit)
    told = [
        number
        for number, request in enumerate(run.model.requests, 1)
        if "Turns with tools that are left" in str(request.messages[-1])
    ]
    assert told == ([warned_at] if warned_at else [])


def test_model_that_calls_tools_in_the_last_iteration_gets_no_more(
    play: Any, asks: Any, fresh: Any
) -> None:
    run = play(looks(asks, 3), fresh, max_iterations=3)
    assert len(fresh.calls) == 2
    assert run.outcome.answer == "thing 1"
    assert not run.outcome.is_answered
    assert run.outcome.stop_reason == "max_iterations"
    assert "no answer" in run.outcome.problem.text("en")


def test_text_beside_a_call_in_the_last_iteration_is_the_answer(
    play: Any, asks: Any, fresh: Any
) -> None:
    replies = [*looks(asks, 1), asks(("look", {}), text="It is 7.")]
    run = play(replies, fresh, max_iterations=2)
    assert (run.outcome.answer, run.outcome.is_answered) == ("It is 7.", True)


def test_calls_of_one_turn_run_at_once_and_each_is_answered(
    play: Any, asks: Any, tools: Any
) -> None:
    met = asyncio.Barrier(3)

    async def meet(n: int) -> str:
        await met.wait()
        return f"met {n}"

    def fail(n: int) -> str:
        raise RuntimeError("broken")

    box = tools(meet=meet, fail=fail)
    calls = [("meet", {"n": 1}), ("fail", {"n": 2}), ("meet", {"n": 3}), ("none", {"n": 4})]
    replies = [asks(*calls, ToolCall("c5", "meet", "{broken"), ("meet", {"n": 6})), "Done."]
    run = play(replies, box)
    results = [m for m in run.model.requests[1].messages if isinstance(m, ToolMessage)]
    assert [message.call_id for message in results] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert results[0].text == "met 1"
    assert "RuntimeError: broken" in results[1].text
    assert "no tool 'none'" in results[3].text
    assert results[5].text == "met 6"
    assert len(box.calls) == 4  # the unknown and the broken one never ran


def test_two_calls_of_one_tool_keep_their_own_arguments(play: Any, asks: Any, tools: Any) -> None:
    box = tools(search=lambda q: f"found {q}")
    calls = (ToolCall("1", "search", '{"q": "x"}'), ToolCall("2", "search", '{"q": "y"}'))
    run = play([asks(*calls), "Done."], box)
    assert [dict(arguments) for _, arguments, _ in box.calls] == [{"q": "x"}, {"q": "y"}]
    assert run.model.requests[1].messages[-2:] == (
        ToolMessage("1", "found x"),
        ToolMessage("2", "found y"),
    )


def test_calls_without_an_id_or_with_the_same_one_are_told_apart(
    play: Any, asks: Any, fresh: Any
) -> None:
    calls = [ToolCall(call_id, "look", "{}") for call_id in ("", "a", "a", "")]
    run = play([asks(*calls), "Done."], fresh)
    said = run.model.requests[1].messages[2]
    ids = [message.call_id for message in run.model.requests[1].messages[3:]]
    assert isinstance(said, AssistantMessage)
    assert ids == [call.id for call in said.tool_calls]
    assert len(set(ids)) == 4


@pytest.mark.parametrize("arguments", ['{"n": ', "[1]", "look at it", '{"n": 1, "n": 2}', '"x"'])
def test_unreadable_arguments_never_run_and_do_not_stay_in_the_history(
    play: Any, asks: Any, fresh: Any, arguments: str
) -> None:
    run = play([asks(ToolCall("c1", "look", arguments)), "Done."], fresh)
    assert fresh.calls == []
    said, result = run.model.requests[1].messages[-2:]
    assert isinstance(json.loads(said.tool_calls[0].arguments), dict)
    assert arguments in result.text
    assert run.outcome.trajectory[0].actions[0].arguments == arguments


def test_model_error_gives_what_was_found(play: Any, asks: Any, fresh: Any) -> None:
    error = ModelError("The server is gone.", zh="服务器已断开。")
    run = play([*looks(asks, 1), error], fresh)
    assert (run.outcome.answer, run.outcome.is_answered) == ("thing 0", False)
    assert run.outcome.stop_reason == "model_error"
    assert run.outcome.problem.text("zh") == "服务器已断开。"


def test_exhausted_budget_gives_what_was_found(play: Any, asks: Any, fresh: Any) -> None:
    run = play([*looks(asks, 2), BudgetExhaustedError("The budget of $1 is spent.")], fresh)
    assert (run.outcome.answer, run.outcome.stop_reason) == ("thing 1", "budget")
    assert not run.outcome.is_answered


def test_model_error_at_the_start_has_no_answer(play: Any, fresh: Any) -> None:
    run = play([ModelError("No key.")], fresh)
    assert (run.outcome.answer, run.outcome.is_answered, run.outcome.iterations) == ("", False, 1)


def test_half_a_call_is_asked_for_again_and_never_runs(play: Any, asks: Any, fresh: Any) -> None:
    cut = asks(ToolCall("c1", "look", '{"at": "the lo'), finish_reason="length")
    run = play([cut, *looks(asks, 1), "Done."], fresh)
    assert len(fresh.calls) == 1
    assert CUT in run.told(2)
    assert run.outcome.answer == "Done."
    messages = run.model.requests[1].messages
    assert isinstance(messages[-2], ToolMessage)
    assert "output token limit" in messages[-2].text


def test_whole_calls_of_a_reply_that_was_cut_off_are_run(play: Any, asks: Any, fresh: Any) -> None:
    half = ToolCall("c2", "look", '{"at": "the lo')
    run = play([asks(("look", {"at": 1}), half, finish_reason="length"), "Done."], fresh)
    assert [dict(arguments) for _, arguments, _ in fresh.calls] == [{"at": 1}]
    first, second = run.model.requests[1].messages[-2:]
    assert (first.text, second.call_id) == ("thing 0", "c2")
    assert "output token limit" in second.text


def test_replies_that_are_always_cut_off_end_soon_and_say_why(
    play: Any, asks: Any, fresh: Any
) -> None:
    cut = asks(ToolCall("c1", "look", '{"at": '), finish_reason="length")
    run = play([cut] * 20, fresh)
    assert len(run.model.requests) == 3
    assert run.outcome.stop_reason == "output_limit"
    assert "output token limit" in run.outcome.problem.text("en")
    assert not run.outcome.is_answered


def test_answer_that_is_cut_off_is_given_as_unfinished(play: Any, fresh: Any) -> None:
    run = play([Reply(text="It was a dark", finish_reason="length")] * 9, fresh)
    assert (run.outcome.answer, run.outcome.stop_reason) == ("It was a dark", "output_limit")
    assert not run.outcome.is_answered


def test_empty_reply_is_nudged_once_then_the_answer_is_forced(play: Any, fresh: Any) -> None:
    run = play([Reply(), Reply(), "4"], fresh)
    assert run.had_tools == [True, True, False]
    assert EMPTY in run.told(2)
    assert (run.outcome.answer, run.outcome.stop_reason) == ("4", "empty_reply")


def test_model_that_stays_silent_gets_the_last_result(play: Any, asks: Any, fresh: Any) -> None:
    run = play([*looks(asks, 1), *[Reply(text="  ")] * 5], fresh)
    assert len(run.model.requests) == 4
    assert (run.outcome.answer, run.outcome.is_answered) == ("thing 0", False)
    assert run.outcome.stop_reason == "empty_reply"


def test_no_two_user_messages_stand_in_a_row(play: Any, fresh: Any) -> None:
    run = play([Reply(), Reply(), "4"], fresh, max_iterations=2)
    for request in run.model.requests:
        kinds = [type(message) for message in request.messages]
        assert (UserMessage, UserMessage) not in itertools.pairwise(kinds)


def test_thinking_stays_out_of_history_and_answer(play: Any, asks: Any, fresh: Any) -> None:
    thinking = "<think>" + "x " * 50 + "</think>"
    first = asks(("look", {}), text=thinking + "I look.", thinking="deep thoughts")
    run = play([first, thinking + "The answer is 4."], fresh)
    said = run.model.requests[1].messages[2]
    assert said == AssistantMessage("I look.", (ToolCall("c1", "look", "{}"),), "")
    assert run.outcome.answer == "The answer is 4."


def test_thinking_goes_back_to_a_model_that_wants_it(play: Any, asks: Any, fresh: Any) -> None:
    traits = ModelTraits(wants_thinking_back=True)
    run = play([asks(("look", {}), thinking="hm"), "4"], fresh, traits=traits)
    said = run.model.requests[1].messages[2]
    assert isinstance(said, AssistantMessage)
    assert said.thinking == "hm"


def test_answer_form_and_instructions_reach_the_model(play: Any, asks: Any, fresh: Any) -> None:
    form = 'End with "FINAL ANSWER: ".'
    run = play(
        [*looks(asks, 1), "x"],
        fresh,
        max_iterations=2,
        answer_form=form,
        instructions="Be brief.",
    )
    system = run.model.requests[0].messages[0]
    assert isinstance(system, SystemMessage)
    assert form in system.text
    assert "Be brief." in system.text
    assert form in run.told(2)


def test_history_is_only_appended_to_in_a_short_run(play: Any, asks: Any, fresh: Any) -> None:
    run = play([*looks(asks, 4), "Done."], fresh)
    for before, after in zip(run.model.requests, run.model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.options.tools is before.options.tools or not after.options.tools


def test_pictures_go_with_the_goal(fresh: Any) -> None:
    model = ScriptedModel(["A cat."])
    picture = ImagePart(b"png", "image/png")
    asyncio.run(ReactLoop(model, fresh).run("What is it?", parts=[picture]))
    assert model.requests[0].messages[1] == UserMessage(("What is it?", picture))


@pytest.mark.parametrize("why", [asyncio.CancelledError(), ZeroDivisionError("a bug")])
def test_evidence_that_cannot_be_kept_does_not_hide_why_the_run_broke(
    fresh: Any, caplog: pytest.LogCaptureFixture, why: BaseException
) -> None:
    def breaks(_: ChatRequest) -> Reply:
        raise why

    def full(_: ReactOutcome) -> None:
        raise OSError("No space left on device")

    loop = ReactLoop(ScriptedModel([breaks]), fresh)
    with pytest.raises(type(why)):
        asyncio.run(loop.run("Wait.", on_broken=full))
    assert "No space left on device" in caplog.text


def test_second_cancellation_while_tools_end_keeps_what_was_found(asks: Any, tools: Any) -> None:
    kept: list[ReactOutcome] = []

    async def cancelled_twice() -> None:
        begun, ending, let_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def slow_to_end() -> None:
            try:
                begun.set()
                await asyncio.Event().wait()
            finally:
                ending.set()
                await let_end.wait()

        box = tools(look=lambda: "42", hang=slow_to_end)
        model = ScriptedModel([asks(("look", {}), ("hang", {}))])
        task = asyncio.create_task(ReactLoop(model, box).run("Wait.", on_broken=kept.append))
        for until in (begun, ending):
            await asyncio.wait_for(until.wait(), 5)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        let_end.set()

    asyncio.run(cancelled_twice())
    [turn] = kept[0].trajectory
    assert [action.observation.text for action in turn.actions] == ["42", BROKEN_OFF]


def test_cancelled_run_ends_its_tools(asks: Any, tools: Any) -> None:
    ended: list[int] = []
    begun = asyncio.Barrier(3)

    async def hang(n: int) -> str:
        try:
            await begun.wait()
            return str(await asyncio.Event().wait())
        finally:
            ended.append(n)

    async def cancelled() -> None:
        box = tools(hang=hang)
        model = ScriptedModel([asks(("hang", {"n": 1}), ("hang", {"n": 2}))])
        task = asyncio.create_task(ReactLoop(model, box).run("Wait."))
        await asyncio.wait_for(begun.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert sorted(ended) == [1, 2]


def test_tool_that_cancels_itself_is_an_observation(play: Any, asks: Any, tools: Any) -> None:
    async def odd() -> str:
        raise asyncio.CancelledError

    run = play([asks(("odd", {}), ("odd", {})), "Done."], tools(odd=odd))
    assert run.outcome.answer == "Done."
    assert not run.outcome.trajectory[0].actions[0].observation.ok


def test_overlapping_runs_of_one_loop_do_not_meet(fresh: Any) -> None:
    def reply(request: ChatRequest) -> str:
        return str(request.history.messages[1]).removeprefix("UserMessage")

    async def both() -> list[str]:
        loop = ReactLoop(ScriptedModel([reply] * 2), fresh)
        return [run.answer for run in await asyncio.gather(loop.run("one"), loop.run("two"))]

    first, second = asyncio.run(both())
    assert "one" in first
    assert "two" in second


@pytest.mark.parametrize(
    "reply",
    [
        '{"thought": "t", "action": "look", "action_input": {"at": 1}}',
        '```json\n{"action": "look", "action_input": {"at": 1}}\n```',
        '<think>hm</think>{"action": "look", "action_input": "{\\"at\\": 1}"}',
    ],
)
def test_json_mode_calls_tools_in_words(play: Any, fresh: Any, reply: str) -> None:
    traits = ModelTraits(tools=False)
    final = '{"thought": "done", "action": "answer", "action_input": "4"}'
    run = play([reply, final], fresh, traits=traits)
    assert [dict(arguments) for _, arguments, _ in fresh.calls] == [{"at": 1}]
    assert run.had_tools == [False, False]
    assert "- look: Does look." in run.model.requests[0].messages[0].text
    assert not any(isinstance(m, ToolMessage) for m in run.model.requests[1].messages)
    assert "thing 0" in run.told(2)
    assert run.outcome.answer == "4"


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        'I look.\n```json\n{"name": "look", "arguments": {"at": 1}}\n```',
        '<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>',
        'Thought: I look.\nAction: look\nAction Input: {"at": 1}',
    ],
)
def test_calls_written_into_the_text_are_made(
    play: Any, fresh: Any, text: str, native: bool
) -> None:
    run = play([text, "Done."], fresh, traits=ModelTraits(tools=native))
    assert [dict(arguments) for _, arguments, _ in fresh.calls] == [{"at": 1}]
    assert run.outcome.answer == "Done."
    if native:
        said, result = run.model.requests[1].messages[-2:]
        assert said.tool_calls[0].id == result.call_id


def test_written_call_that_cannot_be_read_is_told_and_is_no_answer(play: Any, fresh: Any) -> None:
    text = '<tool_call>{"name": "look", "arguments": {"at": </tool_call>'
    run = play([text, "Done."], fresh)
    assert fresh.calls == []
    assert "Call the tool again" in run.told(2)
    assert run.outcome.answer == "Done."


def test_unreadable_calls_without_end_lose_their_tools(play: Any, fresh: Any) -> None:
    text = '<tool_call>{"name": "look", "arguments": {"at": </tool_call>'
    run = play([text] * 10, fresh)
    assert run.outcome.stop_reason == "no_progress"
    assert not run.outcome.is_answered
    assert len(run.model.requests) == 5


def test_arguments_with_one_plain_meaning_are_mended(play: Any, asks: Any, fresh: Any) -> None:
    run = play([asks(ToolCall("c1", "look", "{'at': 1,}")), "Done."], fresh)
    assert [dict(arguments) for _, arguments, _ in fresh.calls] == [{"at": 1}]
    assert run.model.requests[1].messages[-2].tool_calls[0].arguments == '{"at": 1}'


def test_json_mode_takes_plain_text_as_the_answer(play: Any, fresh: Any) -> None:
    run = play(["It is 4."], fresh, traits=ModelTraits(tools=False))
    assert run.outcome.answer == "It is 4."


def test_json_mode_withdraws_the_schema_with_the_tools(play: Any, fresh: Any) -> None:
    call = '{"thought": "t", "action": "look", "action_input": {}}'
    run = play([call, "4"], fresh, traits=ModelTraits(tools=False), max_iterations=2)
    schemas = [request.options.response_schema for request in run.model.requests]
    assert schemas[0] is not None
    assert schemas[1] is None


def test_hint_tells_of_repeated_calls_before_tools_are_withdrawn(
    play: Any, asks: Any, tools: Any
) -> None:
    box = tools(save_note=lambda text: "saved")
    run = play([asks(("save_note", {"text": "hi"}))] * 10, box)
    assert any(REPEATED in str(request.messages[-1]) for request in run.model.requests)
    assert len(run.model.requests) == 6
    assert run.had_tools == [True] * 5 + [False]
    assert (run.outcome.answer, run.outcome.stop_reason) == ("saved", "no_progress")
    assert not run.outcome.is_answered


def test_model_that_takes_the_hint_goes_on(play: Any, asks: Any, tools: Any) -> None:
    box = tools(run=lambda code: "/home")
    same = asks(("run", {"code": "print(os.getcwd())"}))
    run = play([same, same, same, "It is /home."], box)
    assert (run.outcome.answer, run.outcome.stop_reason) == ("It is /home.", "answered")


def test_an_answer_before_looking_is_asked_for_again_once(play: Any, asks: Any, fresh: Any) -> None:
    run = play(["import pandas", asks(("look", {})), "7"], fresh, must_look=True)
    assert LOOK in run.told(2)
    assert (run.outcome.answer, run.outcome.problem) == ("7", None)


def test_an_answer_that_looked_at_nothing_has_a_problem(play: Any, fresh: Any) -> None:
    run = play(["It is 7.", "It is 7."], fresh, must_look=True)
    assert (run.outcome.answer, run.outcome.stop_reason) == ("It is 7.", "answered")
    assert "without having read" in run.outcome.problem.text("en")
    assert "没有读取" in run.outcome.problem.text("zh")
    assert len(run.model.requests) == 2


def test_with_a_limit_of_one_an_unseen_file_is_a_problem_at_once(play: Any, fresh: Any) -> None:
    run = play(["Paris"], fresh, max_iterations=1, must_look=True)
    assert run.outcome.answer == "Paris"
    assert "without having read" in run.outcome.problem.text("en")


MISSPELLED = [
    '{{"name": "add", "arguments": {"value1": 17, "value2": 25}}}}',
    '{"tool": "add", "args": {"a": 17, "b": 25}}',
    '{"tool": "add", "input": {"a": 17}}',
    '{"function": "add", "parameters": {"a": 17}}',
    '{"action": "add", "action_input": {"a": 17}}',
    '{"name": "add", "arguments": {"a": 17, "b": "2',
    "<tool_call>add 17 and 25</tool_call>",
    "add(a=17, b=25)",
]


@pytest.mark.parametrize("text", MISSPELLED)
def test_a_misspelled_call_is_never_the_answer(play: Any, fresh: Any, text: str) -> None:
    run = play([text] * 20, fresh, max_iterations=10)
    assert not run.outcome.is_answered
    assert run.outcome.stop_reason == "no_progress"
    assert text not in run.outcome.answer
    assert len(run.model.requests) <= 6
    assert fresh.calls == []


@pytest.mark.parametrize("text", MISSPELLED)
def test_a_call_where_no_tool_is_offered_is_no_answer_either(
    play: Any, fresh: Any, text: str
) -> None:
    run = play([text] * 3, fresh, max_iterations=1)
    assert (run.outcome.is_answered, run.outcome.stop_reason) == (False, "max_iterations")
    assert text not in run.outcome.answer


def test_a_model_mends_its_call_once_told(play: Any, fresh: Any) -> None:
    replies = [MISSPELLED[0], '{"name": "look", "arguments": {}}', "42"]
    run = play(replies, fresh)
    assert "no tool 'add'" in str(run.model.requests[1].messages[-1])
    assert (run.outcome.answer, run.outcome.stop_reason) == ("42", "answered")


def test_doubled_braces_are_read_and_the_call_is_made(play: Any, tools: Any) -> None:
    box = tools(add=lambda a, b: a + b)
    run = play(['{{"name": "add", "arguments": {{"a": 17, "b": 25}}}}', "42"], box)
    assert [call[:2] for call in box.calls] == [("add", {"a": 17, "b": 25})]
    assert run.outcome.answer == "42"


@pytest.mark.parametrize("text", [
    '{"total": 42, "unit": "EUR"}',
    '[{"name": "Alice", "age": 3}]',
    '{"tool": "hammer", "input": "nails"}',
    '```json\n{"name": "Paris", "parameters": {"people": 2100000}}\n```',
])  # fmt: skip
def test_json_that_was_asked_for_is_the_answer(play: Any, fresh: Any, text: str) -> None:
    run = play([text], fresh, goal="Give it as JSON.")
    assert (run.outcome.answer, run.outcome.stop_reason) == (text, "answered")


def test_json_that_names_a_tool_is_a_call_whatever_was_asked_for(play: Any, fresh: Any) -> None:
    play(['{"name": "look", "arguments": {}}', "{}"], fresh, goal="Give it as JSON.")
    assert len(fresh.calls) == 1


def test_final_answer_in_json_is_the_answer_of_a_model_with_native_calls(
    play: Any, fresh: Any
) -> None:
    run = play(['{"action": "final_answer", "action_input": "42"}'], fresh)
    assert (run.outcome.answer, run.outcome.stop_reason) == ("42", "answered")


def test_an_answer_after_a_call_that_nobody_could_approve_has_a_problem(
    play: Any, asks: Any, tools: Any
) -> None:
    lacking = Observation(text="Not done", ok=False, error_kind="denied", lacks_approval="send")
    run = play([asks(("mail", {})), "Sent!"], tools(mail=lambda: lacking))
    assert (run.outcome.answer, run.outcome.stop_reason) == ("Sent!", "answered")
    assert run.outcome.was_refused
    assert "mail" in run.outcome.problem.text("en")
    assert "--allow send" in run.outcome.problem.text("en")
    assert "--allow send" in run.outcome.problem.text("zh")


@pytest.mark.parametrize("how", [{"lacks_approval": "send"}, {"refusal": "not today"}])
def test_a_refusal_counts_until_the_same_tool_works_later(
    play: Any, asks: Any, tools: Any, how: dict[str, str]
) -> None:
    refused = Observation(text="Not done", ok=False, error_kind="denied", **how)
    failed = Observation.failure("tool", "Not done either")
    good = Observation(text="sent")

    def outcome(*turns: list[Observation], later: str = "mail") -> ReactOutcome:
        seen = iter([one for turn in turns for one in turn])
        names = ["mail"] + [later] * (len(turns) - 1)
        pairs = zip(names, turns, strict=True)
        replies = [asks(*[(name, {"n": n}) for n in range(len(turn))]) for name, turn in pairs]
        box = tools(mail=lambda n: next(seen), note=lambda n: next(seen))
        return play([*replies, "Sent!"], box).outcome

    made = outcome([refused], [good])
    assert (made.was_refused, made.problem) == (False, None)
    for standing in (
        outcome([refused], [failed]),
        outcome([good], [refused]),
        outcome([refused], [good], later="note"),
        outcome([refused, good]),  # asked for at once: the other is not in place of the refused one
    ):
        assert standing.was_refused
        assert standing.problem
