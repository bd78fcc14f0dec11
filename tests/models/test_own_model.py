"""Models that others wrote: their slips, and what is checked before a run."""

from __future__ import annotations

import asyncio

import pytest

from planloom.errors import BudgetExhaustedError, ConfigError, ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply
from planloom.models.history import History
from planloom.models.messages import UserMessage
from planloom.models.own_model import OwnModel, check_model
from planloom.models.retry import RetryingModel
from planloom.models.wrapped import address_of


class Plain:
    """A model without `stream` and `close`."""

    name = "mine"
    traits = ModelTraits()

    def __init__(self, said: object):
        self.said = said

    async def reply(self, _request: ChatRequest, /) -> object:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


class Streaming(Plain):
    async def stream(self, _request: ChatRequest, /):
        for piece in self.said:
            yield piece


def request() -> ChatRequest:
    return ChatRequest(history=History([UserMessage("Hello")]))


async def collected(model: OwnModel) -> list[object]:
    return [piece async for piece in model.stream(request())]


def both_ways(model: OwnModel):
    yield lambda: asyncio.run(model.reply(request()))
    yield lambda: asyncio.run(collected(model))


def test_what_the_code_raises_is_a_model_error_that_names_model_and_error():
    for ask in both_ways(OwnModel(Plain(ValueError("oops")))):
        with pytest.raises(ModelError, match="Model 'mine' raised ValueError: oops") as raised:
            ask()
        assert isinstance(raised.value.__cause__, ValueError)
        assert not raised.value.transient


@pytest.mark.parametrize(
    "error", [ModelError("busy", transient=True), ConfigError("x"), BudgetExhaustedError("y")]
)
def test_errors_of_the_tree_pass_as_they_are(error: Exception):
    for ask in both_ways(OwnModel(Plain(error))):
        with pytest.raises(type(error)) as raised:
            ask()
        assert raised.value is error


def test_a_reply_of_the_wrong_type_is_told():
    for ask in both_ways(OwnModel(Plain("just text"))):
        with pytest.raises(ModelError, match="gave 'just text' from its method reply"):
            ask()


@pytest.mark.parametrize("pieces", [[], ["a"], ["a", 3, Reply(text="a")]])
def test_a_stream_without_a_reply_at_its_end_is_told(pieces: list[object]):
    with pytest.raises(ModelError, match="its method stream"):
        asyncio.run(collected(OwnModel(Streaming(pieces))))


def test_a_model_without_stream_and_close_is_streamed_whole():
    reply = Reply(text="Hi")
    model = OwnModel(Plain(reply))
    assert asyncio.run(collected(model)) == ["Hi", reply]
    asyncio.run(model.close())


@pytest.mark.parametrize("model", [3, object(), Plain, lambda _: "text"])
def test_what_is_no_model_is_refused(model: object):
    with pytest.raises(ConfigError, match="model is"):
        check_model(model)


def test_address_is_told_through_models_that_wrap():
    served = Plain(Reply())
    served.base_url = "http://localhost:8000/v1"
    assert address_of(RetryingModel(OwnModel(served))) == "http://localhost:8000/v1"
    assert address_of(RetryingModel(Plain(Reply()))) is None
