import asyncio

import pytest

from planloom.errors import ContextWindowError, ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply
from planloom.models.fallback import FallbackModel
from planloom.models.history import History
from planloom.models.scripted import ScriptedModel

REQUEST = ChatRequest(history=History())
DOWN = ModelError("down", zh="服务不可用", status=503, transient=True)


def ask(model) -> str:
    return asyncio.run(model.reply(REQUEST)).text


def test_next_model_takes_over_and_it_is_told():
    notices: list = []
    first, second = ScriptedModel([DOWN], name="a"), ScriptedModel(["ok"], name="b")
    model = FallbackModel([first, second], announce=notices.append)
    assert model.name == "a"
    assert ask(model) == "ok"
    assert model.name == "b"
    assert notices[0].note.text("en") == "Model 'a' failed; 'b' takes over: down"
    assert "服务不可用" in notices[0].note.text("zh")


def test_model_that_failed_is_passed_over_for_a_while():
    now = [0.0]
    first, second = ScriptedModel([DOWN, "first"]), ScriptedModel(["second", "second"])
    model = FallbackModel([first, second], rest_s=60, clock=lambda: now[0])
    assert [ask(model), ask(model)] == ["second", "second"]
    now[0] = 61.0
    assert ask(model) == "first"


def test_all_models_are_tried_even_when_all_rest():
    first, second = ScriptedModel([DOWN, "ok"]), ScriptedModel([DOWN, DOWN])
    model = FallbackModel([first, second])
    with pytest.raises(ModelError, match="down"):
        ask(model)
    assert ask(model) == "ok"


@pytest.mark.parametrize("status", [400, 401, 402, 404, 413, 422, None])
def test_what_one_refuses_another_may_take(status):
    first = ScriptedModel([ModelError("no such model", status=status)])
    model = FallbackModel([first, ScriptedModel(["ok", "ok"])])
    assert [ask(model), ask(model)] == ["ok", "ok"]
    assert len(first.requests) == 1


def test_what_all_refuse_is_told_by_the_last_and_changes_no_preference():
    first = ScriptedModel([ModelError("bad", status=400), "first"])
    model = FallbackModel([first, ScriptedModel([ModelError("worse", status=400)])])
    with pytest.raises(ModelError, match="worse"):
        ask(model)
    assert ask(model) == "first"


def test_longer_window_is_tried_and_the_short_one_stays_preferred():
    first = ScriptedModel([ContextWindowError("long", status=400), "short"])
    model = FallbackModel([first, ScriptedModel(["ok"])])
    assert [ask(model), ask(model)] == ["ok", "short"]


class HalfModel(ScriptedModel):
    async def stream(self, request: ChatRequest, /):
        yield "half"
        raise DOWN


async def collect(model) -> list[str | Reply]:
    return [piece async for piece in model.stream(REQUEST)]


def test_half_a_stream_is_never_continued_by_another_model():
    second = ScriptedModel(["other"])
    with pytest.raises(ModelError, match="down"):
        asyncio.run(collect(FallbackModel([HalfModel([]), second])))
    assert not second.requests


def test_stream_that_never_began_is_taken_over():
    pieces = asyncio.run(collect(FallbackModel([ScriptedModel([DOWN]), ScriptedModel(["ok"])])))
    assert pieces[0] == "ok"


def test_traits_hold_for_whoever_is_asked():
    able = ScriptedModel([], traits=ModelTraits(images=True, context_tokens=1000))
    plain = ScriptedModel([], traits=ModelTraits(tools=False, context_tokens=500))
    traits = FallbackModel([able, plain]).traits
    assert (traits.images, traits.tools, traits.context_tokens) == (False, False, 500)
