"""Models that others wrote, held to the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NoReturn, cast

from planloom.errors import ConfigError, ModelError, PlanloomError
from planloom.models.chat_model import ChatModel, ChatRequest, Reply
from planloom.models.wrapped import WrappedModel

_ERROR_CHARS = 300


class OwnModel(WrappedModel):
    """A `ChatModel` whose code may be wrong.

    What it returns is checked, and an error that is not of the tree in `planloom.errors` becomes a
    `ModelError` that names the model, with the cause: the run keeps what it has found.
    A model without `stream` gives its replies whole, and one without `close` has nothing to close.
    """

    def __init__(self, model: ChatModel):
        """Wrap a model that passed `check_model`."""
        super().__init__(model)

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had, or it was of another type.
        """
        try:
            reply = cast("object", await self._model.reply(request))
        except PlanloomError:
            raise
        except Exception as error:
            raise _crash(self.name, error) from error
        return reply if isinstance(reply, Reply) else _no_reply(self.name, "reply", reply)

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: the stream broke, or did not end with a `Reply`.
        """
        if not callable(getattr(self._model, "stream", None)):
            reply = await self.reply(request)
            if reply.text:
                yield reply.text
            yield reply
            return
        last: object = None
        try:
            async for last in cast("AsyncIterator[object]", self._model.stream(request)):
                if not isinstance(last, str | Reply):
                    break
                yield last
        except PlanloomError:
            raise
        except Exception as error:
            raise _crash(self.name, error) from error
        if not isinstance(last, Reply):
            _no_reply(self.name, "stream", last)

    async def close(self) -> None:
        """Close the model."""
        if callable(getattr(self._model, "close", None)):
            await self._model.close()


def check_model(model: object) -> None:
    """Check that an object can be used as a model.

    Raises:
        ConfigError: it lacks something that every model has.
    """
    if isinstance(model, type):
        raise ConfigError(
            f"model is the class {model.__name__}; give an object of it: {model.__name__}(...).",
            zh=f"model 是类 {model.__name__}，应为它的实例：{model.__name__}(...)。",
        )
    lacking = [name for name in ("name", "traits", "reply") if not hasattr(model, name)]
    if not lacking and not callable(cast("ChatModel", model).reply):
        lacking = ["reply"]
    if lacking:
        listed = ", ".join(lacking)
        raise ConfigError(
            f"model is {_shown(model)}, which cannot be used as a model: it has no {listed}. Give "
            "the name of a model, or an object with the methods of "
            "planloom.models.chat_model.ChatModel.",
            zh=f"model 是 {_shown(model)}，不能用作模型：缺少 {listed}。请给出模型名称，或实现了 "
            "planloom.models.chat_model.ChatModel 各方法的对象。",
        )


def _crash(name: str, error: Exception) -> ModelError:
    said = f"{type(error).__name__}: {error}".removesuffix(": ")[:_ERROR_CHARS]
    return ModelError(
        f"Model '{name}' raised {said}. Mend the code of the model; what a later call may overcome "
        "is a ModelError with transient=True.",
        zh=f"模型“{name}”抛出 {said}。请修正该模型的代码；重试可能成功的错误应为 "
        "transient=True 的 ModelError。",
    )


def _no_reply(name: str, method: str, given: object) -> NoReturn:
    wanted = "a Reply" if method == "reply" else "texts and at last a Reply"
    wanted_zh = "Reply 对象" if method == "reply" else "若干文本，最后是 Reply 对象"
    raise ModelError(
        f"Model '{name}' gave {_shown(given)} from its method {method}, which has to give "
        f"{wanted} (planloom.models.chat_model.Reply).",
        zh=f"模型“{name}”的 {method} 方法给出了 {_shown(given)}，应给出{wanted_zh}"
        "（planloom.models.chat_model.Reply）。",
    )


def _shown(value: object) -> str:
    shown = f"{value!r}" if isinstance(value, str | int | float | None) else type(value).__name__
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
