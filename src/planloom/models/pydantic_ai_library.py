"""What Planloom uses of pydantic-ai, which need not be installed, with its types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Protocol, cast

from planloom.errors import ConfigError


class PydanticAI:
    """The parts of pydantic-ai that are used, loaded."""

    def __init__(self):
        self.kinds = cast("_Kinds", import_module("pydantic_ai.messages"))
        self.errors = cast("_Errors", import_module("pydantic_ai.exceptions"))
        direct = cast("_Direct", import_module("pydantic_ai.direct"))
        self.request = direct.model_request
        self.request_stream = direct.model_request_stream
        models = cast("_Models", import_module("pydantic_ai.models"))
        self._infer = models.infer_model
        self.Parameters = models.ModelRequestParameters
        self.Tool = cast("_Tools", import_module("pydantic_ai.tools")).ToolDefinition
        output = cast("_Output", import_module("pydantic_ai.output"))
        self.OutputObject = output.OutputObjectDefinition

    def infer(self, name: str) -> ProviderModel:
        try:
            return self._infer(name)
        except self.errors.UserError as error:
            raise not_set_up(name, error) from error
        except ImportError as error:
            raise _not_installed(error) from error


def load_pydantic_ai() -> PydanticAI:
    try:
        return PydanticAI()
    except ImportError as error:
        raise _not_installed(error) from error


class _Part(Protocol):
    part_kind: str
    content: str
    """Of texts and thinking."""
    tool_call_id: str
    tool_name: str
    args: str | Mapping[str, object] | None


class _Delta(Protocol):
    part_delta_kind: str
    content_delta: str


class StreamEvent(Protocol):
    event_kind: str
    part: _Part
    delta: _Delta


class _Usage(Protocol):
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    details: Mapping[str, int]


class ProviderResponse(Protocol):
    parts: Sequence[_Part]
    usage: _Usage
    finish_reason: str | None
    model_name: str | None


class _StreamedResponse(Protocol):
    def __aiter__(self) -> AsyncIterator[StreamEvent]: ...
    def get(self) -> ProviderResponse: ...


class ProviderModel(Protocol):
    model_name: str
    profile: Mapping[str, object]

    async def __aenter__(self) -> object: ...
    async def __aexit__(self, *error: object) -> object: ...


class _Kinds(Protocol):
    """The module pydantic_ai.messages."""

    ModelRequest: Callable[..., object]
    ModelResponse: Callable[..., object]
    SystemPromptPart: Callable[..., object]
    UserPromptPart: Callable[..., object]
    TextPart: Callable[..., object]
    ToolCallPart: Callable[..., object]
    ToolReturnPart: Callable[..., object]
    BinaryContent: Callable[..., object]


class _Errors(Protocol):
    """The module pydantic_ai.exceptions."""

    UserError: type[Exception]
    AgentRunError: type[Exception]


class _Direct(Protocol):
    """The module pydantic_ai.direct."""

    async def model_request(
        self,
        model: ProviderModel,
        messages: Sequence[object],
        *,
        model_settings: Mapping[str, object],
        model_request_parameters: object,
    ) -> ProviderResponse: ...

    def model_request_stream(
        self,
        model: ProviderModel,
        messages: Sequence[object],
        *,
        model_settings: Mapping[str, object],
        model_request_parameters: object,
    ) -> AbstractAsyncContextManager[_StreamedResponse]: ...


class _Models(Protocol):
    """The module pydantic_ai.models."""

    infer_model: Callable[[str], ProviderModel]
    ModelRequestParameters: Callable[..., object]


class _Tools(Protocol):
    """The module pydantic_ai.tools."""

    ToolDefinition: Callable[..., object]


class _Output(Protocol):
    """The module pydantic_ai.output."""

    OutputObjectDefinition: Callable[..., object]


def not_set_up(name: str, error: Exception) -> ConfigError:
    return ConfigError(
        f"Model {name!r} cannot be used: {error} Names are as in 'anthropic:claude-sonnet-4-5'; "
        "the key is read from the provider's own variable, such as ANTHROPIC_API_KEY.",
        zh=f"无法使用模型 {name!r}：{error} 名称应形如 'anthropic:claude-sonnet-4-5'；密钥从服务商"
        "自己的环境变量读取，例如 ANTHROPIC_API_KEY。",
    )


def _not_installed(error: ImportError) -> ConfigError:
    return ConfigError(
        "Models of other providers need the package 'pydantic-ai-slim' and the provider's own "
        f'({error}). Install with: pip install "planloom[providers]", and for the provider, such '
        'as Anthropic: pip install "pydantic-ai-slim[anthropic]"',
        zh=f"使用其他服务商的模型需要安装 pydantic-ai-slim 及该服务商的软件包（{error}）。请执行："
        'pip install "planloom[providers]"；并安装服务商的软件包，例如 Anthropic：pip install '
        '"pydantic-ai-slim[anthropic]"',
    )
