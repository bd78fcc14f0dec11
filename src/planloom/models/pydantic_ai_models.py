"""Models of other providers, such as Anthropic and Google, by way of the package pydantic-ai."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from planloom.errors import ModelError
from planloom.models.chat_model import (
    ChatRequest,
    FinishReason,
    ModelTraits,
    Reply,
    ToolSpec,
    Usage,
)
from planloom.models.messages import (
    AssistantMessage,
    Content,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from planloom.models.pydantic_ai_library import (
    ProviderModel,
    ProviderResponse,
    StreamEvent,
    load_pydantic_ai,
    not_set_up,
)

_KEPT_RESPONSES = 256
_ERROR_CHARS = 500
_KEY_REFUSED = {401, 403}
_FINISH_REASONS: Mapping[str | None, FinishReason] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


class PydanticAIModel:
    """A `ChatModel` over a model of pydantic-ai.

    What a provider signs (the thinking before a tool call) goes back to it unaltered: the response
    that asked for a call is kept, and sent instead of what the history says of it.
    """

    def __init__(
        self,
        model: str | object,
        *,
        traits: ModelTraits | None = None,
        timeout_s: float | None = None,
    ):
        """Take a name such as "anthropic:claude-sonnet-4-5", or a model of pydantic-ai.

        The key is read from the provider's own variable, such as ANTHROPIC_API_KEY. `traits`
        replace what pydantic-ai knows of the model. `timeout_s` is how long a whole reply may take,
        and the first piece of a streamed one.

        Raises:
            ConfigError: a package is missing, the name is not known, or the provider has no key.
        """
        self._library = load_pydantic_ai()
        self._model = (
            self._library.infer(model) if isinstance(model, str) else cast("ProviderModel", model)
        )
        self._name = model if isinstance(model, str) else self._model.model_name
        self._traits = traits or _traits(self._model.profile)
        self._timeout_s = timeout_s
        self._responses: dict[str, ProviderResponse] = {}
        self._opening = asyncio.Lock()
        self._is_open = False

    @property
    def name(self) -> str:
        """The model's name, as in the settings."""
        return self._name

    @property
    def traits(self) -> ModelTraits:
        """What it can do."""
        return self._traits

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had.
        """
        with self._errors():
            await self._open()
            response = await self._library.request(
                self._model,
                self._messages(request),
                model_settings=self._settings(request, "request_timeout"),
                model_request_parameters=self._parameters(request),
            )
        return self._read(response)

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: the stream could not be opened, or was cut off.
        """
        with self._errors():
            await self._open()
            opened = self._library.request_stream(
                self._model,
                self._messages(request),
                model_settings=self._settings(request, "first_event_timeout"),
                model_request_parameters=self._parameters(request),
            )
            async with opened as events:
                async for event in events:
                    if piece := _text_of(event):
                        yield piece
                response = events.get()
        yield self._read(response)

    async def close(self) -> None:
        """Close connections; the model is not used afterwards."""
        if self._is_open:
            self._is_open = False
            await self._model.__aexit__(None, None, None)

    async def _open(self) -> None:
        async with self._opening:
            if not self._is_open:
                await self._model.__aenter__()
                self._is_open = True

    def _messages(self, request: ChatRequest) -> list[object]:
        """Return the history in pydantic-ai's form: requests and responses in turn."""
        kinds = self._library.kinds
        names: dict[str, str] = {}
        done: list[object] = []
        parts: list[object] = []
        for message in request.history.messages:
            if isinstance(message, AssistantMessage):
                if parts:
                    done.append(kinds.ModelRequest(parts=parts))
                    parts = []
                names.update({call.id: call.name for call in message.tool_calls})
                done.append(self._response(message))
            else:
                parts.append(self._request_part(message, names))
        if parts:
            done.append(kinds.ModelRequest(parts=parts))
        return done

    def _request_part(
        self, message: SystemMessage | UserMessage | ToolMessage, names: Mapping[str, str]
    ) -> object:
        kinds = self._library.kinds
        if isinstance(message, SystemMessage):
            return kinds.SystemPromptPart(content=message.text)
        if isinstance(message, ToolMessage):
            return kinds.ToolReturnPart(
                tool_name=names.get(message.call_id, ""),
                content=message.text,
                tool_call_id=message.call_id,
            )
        return kinds.UserPromptPart(content=self._content(message.content))

    def _content(self, content: Content) -> object:
        if isinstance(content, str):
            return content
        return [
            part
            if isinstance(part, str)
            else self._library.kinds.BinaryContent(data=part.data, media_type=part.media_type)
            for part in content
        ]

    def _response(self, message: AssistantMessage) -> object:
        """Return what the provider said, where it is kept, else what the history says of it."""
        kinds = self._library.kinds
        if message.tool_calls:
            kept = self._responses.get(message.tool_calls[0].id)
            if kept is not None and _calls_of(kept) == message.tool_calls:
                return kept
        parts: list[object] = [kinds.TextPart(content=message.text)] if message.text else []
        parts += [
            kinds.ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id)
            for call in message.tool_calls
        ]
        # A response without any part is refused by providers.
        return kinds.ModelResponse(parts=parts or [kinds.TextPart(content="")])

    def _parameters(self, request: ChatRequest) -> object:
        tools = [self._tool(spec) for spec in request.tools]
        schema = request.response_schema
        if schema is None or not self._traits.json_schema:
            return self._library.Parameters(function_tools=tools)
        form = self._library.OutputObject(json_schema=dict(schema.schema), name=schema.name)
        return self._library.Parameters(
            function_tools=tools, output_mode="native", output_object=form
        )

    def _settings(self, request: ChatRequest, timeout: str) -> dict[str, object]:
        settings: dict[str, object] = {}
        if self._timeout_s is not None:
            settings[timeout] = self._timeout_s
        if request.max_tokens is not None:
            settings["max_tokens"] = request.max_tokens
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.tools and request.tool_choice != "auto":
            settings["tool_choice"] = request.tool_choice
        return settings

    def _tool(self, spec: ToolSpec) -> object:
        return self._library.Tool(
            name=spec.name,
            description=spec.description,
            parameters_json_schema=dict(spec.parameters),
        )

    def _read(self, response: ProviderResponse) -> Reply:
        calls = _calls_of(response)
        if calls:
            self._responses[calls[0].id] = response
            if len(self._responses) > _KEPT_RESPONSES:
                del self._responses[next(iter(self._responses))]
        usage = response.usage
        reason = _FINISH_REASONS.get(response.finish_reason)
        return Reply(
            text=_joined(response, "text"),
            tool_calls=calls,
            thinking=_joined(response, "thinking"),
            finish_reason=reason or _unnamed_reason(response.finish_reason, calls),
            usage=Usage(
                prompt_tokens=usage.input_tokens,
                completion_tokens=usage.output_tokens,
                cached_tokens=usage.cache_read_tokens,
                thinking_tokens=usage.details.get("reasoning_tokens", 0),
            ),
            model=response.model_name or self._name,
        )

    @contextmanager
    def _errors(self) -> Generator[None]:
        """Turn the errors of pydantic-ai into ours."""
        errors = self._library.errors
        try:
            yield
        except errors.UserError as error:
            raise not_set_up(self._name, error) from error
        except errors.AgentRunError as error:
            found = _model_error(self._name, error)
            # The provider's words are left out of the chain too where they may quote the key.
            raise found from (None if found.status in _KEY_REFUSED else error)


def _traits(profile: Mapping[str, object]) -> ModelTraits:
    window = profile.get("context_window")
    return ModelTraits(
        context_tokens=window if isinstance(window, int) else ModelTraits().context_tokens,
        tools=bool(profile.get("supports_tools", True)),
        json_schema=bool(profile.get("supports_json_schema_output", False)),
        images=bool(profile.get("supports_image_input", False)),
        audio=bool(profile.get("supports_audio_input", False)),
    )


def _calls_of(response: ProviderResponse) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            part.tool_call_id,
            part.tool_name,
            # As the model wrote it, broken or not: repairing is done elsewhere.
            part.args if isinstance(part.args, str) else json.dumps(part.args or {}),
        )
        for part in response.parts
        if part.part_kind == "tool-call"
    )


def _joined(response: ProviderResponse, kind: str) -> str:
    return "".join(part.content for part in response.parts if part.part_kind == kind)


def _unnamed_reason(reason: str | None, calls: Sequence[ToolCall]) -> FinishReason:
    if reason is not None:
        return "other"
    return "tool_calls" if calls else "stop"


def _text_of(event: StreamEvent) -> str:
    if event.event_kind == "part_start" and event.part.part_kind == "text":
        return event.part.content
    if event.event_kind == "part_delta" and event.delta.part_delta_kind == "text":
        return event.delta.content_delta
    return ""


def _model_error(name: str, error: Exception) -> ModelError:
    status = cast("int | None", getattr(error, "status_code", None))
    retry_after = cast("float | None", getattr(error, "retry_after", None))
    if status in _KEY_REFUSED:
        text, text_zh = "the key was refused. Check it.", "密钥被拒绝，请检查。"
    else:
        text = text_zh = str(error)[:_ERROR_CHARS]
    refused = status is not None and status not in {408, 409, 425, 429} and status < 500
    return ModelError(
        f"Model {name!r} gave no reply: {text}",
        zh=f"模型 {name!r} 未返回结果：{text_zh}",
        status=status,
        transient=not refused,
        retry_after_s=retry_after,
    )
