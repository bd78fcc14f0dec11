"""What Planloom asks of a language model, whoever serves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from planloom.errors import ModelError
from planloom.models.history import History
from planloom.models.messages import AssistantMessage, Message, ToolCall

Json: TypeAlias = (
    "Mapping[str, Json] | list[Json] | tuple[Json, ...] | str | int | float | bool | None"
)
BeforeRetry = Callable[[ModelError], Awaitable[None]]
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "other"]
ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    """JSON Schema of the arguments, an object."""


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """The form that the text of a reply is held to."""

    name: str
    schema: Mapping[str, Json]
    """JSON Schema, draft 2020-12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to a model."""

    history: History
    tools: tuple[ToolSpec, ...] = ()
    """Pass the same tuple in every turn of a conversation: it is serialised once."""
    tool_choice: ToolChoice = "auto"
    response_schema: ResponseSchema | None = None
    """Enforced only by models whose traits say `json_schema`; others have to be told in words."""
    max_tokens: int | None = None
    """Longest reply; None leaves it to the provider."""
    temperature: float | None = None
    """None leaves it to the provider."""
    before_retry: BeforeRetry | None = field(default=None, compare=False, repr=False)
    """Awaited by models that try again or ask another one, before each further try: it is told
    why the last one failed, and may raise `BudgetExhaustedError` to forbid the next."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the history, oldest first; not to be altered."""
        return self.history.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a reply consumed."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt that the provider took from its cache."""
    thinking_tokens: int = 0
    """Those of the completion that were thinking."""
    estimated: bool = False
    """The provider did not say; counted from the length of the texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str = ""
    """Without thinking parts."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Native calls only; calls written into the text are recovered elsewhere."""
    thinking: str = ""
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """The model that answered, as the provider names it."""

    def to_message(self) -> AssistantMessage:
        """Return the reply as the next message of the history."""
        return AssistantMessage(self.text, self.tool_calls, self.thinking)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTraits:
    """What a model can do, as far as it matters to those who ask it."""

    context_tokens: int = 128_000
    """Longest prompt and reply together."""
    tools: bool = True
    """Whether it takes tools and replies with native calls."""
    json_schema: bool = True
    """Whether the provider holds replies to a schema."""
    streaming: bool = True
    images: bool = False
    audio: bool = False
    wants_thinking_back: bool = False
    """Whether thinking parts have to be sent back with the history."""
    is_small: bool = False
    """A small model, such as one of up to 8 billion parameters: better served by constrained
    choices than by free plans."""


class ChatModel(Protocol):
    """A language model that can be talked to.

    What it raises is a `ModelError` that says what happened and what to do; whether a second try
    may help is `ModelError.transient`. Retries, limits and metering are models that wrap another.
    """

    @property
    def name(self) -> str:
        """The model's name, as in the settings."""
        ...

    @property
    def traits(self) -> ModelTraits:
        """What it can do."""
        ...

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had.
        """
        ...

    def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: the stream could not be opened, or was cut off.
        """
        ...

    async def close(self) -> None:
        """Close connections; the model is not used afterwards."""
        ...
