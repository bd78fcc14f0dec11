"""The client of any server that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Self
from urllib.parse import SplitResult, urlsplit, urlunsplit

from planloom.errors import ConfigError, ModelError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply, ToolSpec, Usage
from planloom.models.chunk_stream import ChunkStream, read_whole
from planloom.models.dialect import Dialect
from planloom.models.estimate import PromptCounter, reply_tokens
from planloom.models.http_client import HttpAnswer, HttpClient
from planloom.models.provider_errors import Endpoint, Refusal, error_of, read_refusal
from planloom.models.reply_reading import ReplyReader
from planloom.models.wire import (
    dumps,
    encode_message,
    encode_message_in_words,
    encode_message_with_thinking,
    encode_response_format,
    encode_tools,
    encode_tools_in_words,
    join_body,
)

_Fields = dict[str, bytes]
_Encoder = Callable[[Sequence[ToolSpec]], bytes]

_KEPT_TOOLS = 32


class OpenAICompatibleModel:
    """A `ChatModel` behind an OpenAI-compatible address.

    The history is serialised once, message by message, and every turn's request begins as the one
    before. What a provider refuses to understand is left out, and remembered.
    """

    def __init__(
        self,
        name: str,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        *,
        traits: ModelTraits | None = None,
        timeout_s: float = 120.0,
        max_reply_tokens: int | None = None,
        max_tokens_field: str = "max_tokens",
        proxies: Mapping[str, str] | None = None,
    ):
        """Prepare to ask; nothing is opened yet.

        `timeout_s` is how long a whole reply may take, and in a stream how long a silence may
        last. `max_reply_tokens` is for requests that set no limit. `max_tokens_field` is the name
        that the provider gives that limit. `proxies` are those of the environment by default.

        Raises:
            ConfigError: `base_url` is no http or https address.
        """
        address, shown = _address(base_url)
        self._name = name
        self._encoded_name = dumps(name)
        self._traits = traits or ModelTraits()
        self._timeout_s = timeout_s
        self._max_reply_tokens = max_reply_tokens
        self._endpoint = Endpoint(name, shown, api_key)
        self._http = HttpClient(self._endpoint, address, timeout_s=timeout_s, proxies=proxies)
        self._dialect = Dialect(
            max_tokens_field=max_tokens_field, sends_thinking=self._traits.wants_thinking_back
        )
        self._counter = PromptCounter()
        self._encoded_tools: dict[tuple[int, _Encoder], tuple[object, bytes]] = {}

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self._name!r}, {self._endpoint.base_url!r})"

    @property
    def name(self) -> str:
        """The model's name, as the provider knows it."""
        return self._name

    @property
    def base_url(self) -> str:
        """Where it is served, without what is secret in an address."""
        return self._endpoint.base_url

    @property
    def traits(self) -> ModelTraits:
        """What it can do, without what the provider turned out to refuse."""
        traits, dialect = self._traits, self._dialect
        if dialect.takes_tools and dialect.takes_streams and dialect.schema_mode != "none":
            return traits
        return replace(
            traits,
            tools=traits.tools and dialect.takes_tools,
            streaming=traits.streaming and dialect.takes_streams,
            json_schema=traits.json_schema and dialect.schema_mode != "none",
        )

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply.

        Raises:
            ModelError: none could be had.
        """
        answer = await self._ask(request, stream=False)
        try:
            body = await answer.read()
        finally:
            answer.close()
        return self._complete(request, read_whole(self._endpoint, body))

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield pieces of the reply's text as they come, at last the whole `Reply`.

        Raises:
            ModelError: the stream could not be opened, or was cut off.
        """
        if not self.traits.streaming:
            reply = await self.reply(request)
            if reply.text:
                yield reply.text
            yield reply
            return
        answer = await self._ask(request, stream=True)
        chunks = ChunkStream(answer, self._endpoint, self._timeout_s)
        try:
            while (text := await chunks.next_text()) is not None:
                if text:
                    yield text
        finally:
            answer.close()
        yield self._complete(request, chunks.reader)

    async def close(self) -> None:
        """Close the connections of this event loop; a later call opens new ones."""
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _ask(self, request: ChatRequest, *, stream: bool) -> HttpAnswer:
        """Send a request, in the provider's dialect; return its answer of status 200."""
        while True:
            fields = self._fields(request, stream=stream and self._dialect.takes_streams)
            body = join_body(self._messages(request), list(fields.items()))
            answer = await self._http.post(body, stream=stream)
            if answer.status < 300:
                return answer
            refusal = await self._refusal(answer)
            if not self._dialect.learn(refusal, fields):
                raise error_of(self._endpoint, refusal)

    async def _refusal(self, answer: HttpAnswer) -> Refusal:
        try:
            body = await answer.read()
        finally:
            answer.close()
        return read_refusal(self._endpoint, answer.status, answer.headers, body)

    def _messages(self, request: ChatRequest) -> Sequence[bytes]:
        history = request.history
        if self._tells_tools_in_words:
            messages = history.encoded(encode_message_in_words)
            if request.tools and request.tool_choice != "none":
                return [*messages, self._encode_tools(request.tools, encode_tools_in_words)]
            return messages
        if self._dialect.sends_thinking:
            return history.encoded(encode_message_with_thinking)
        return history.encoded(encode_message)

    @property
    def _tells_tools_in_words(self) -> bool:
        return not (self._traits.tools and self._dialect.takes_tools)

    def _fields(self, request: ChatRequest, *, stream: bool) -> _Fields:
        """Return the fields beside the messages; what stays the same in a conversation first."""
        dialect = self._dialect
        fields = {"model": self._encoded_name}
        if request.tools and not self._tells_tools_in_words:
            fields["tools"] = self._encode_tools(request.tools, encode_tools)
            if request.tool_choice != "auto":
                fields["tool_choice"] = dumps(request.tool_choice)
        limit = request.max_tokens or self._max_reply_tokens
        if limit is not None:
            fields[dialect.max_tokens_field] = dumps(limit)
        if request.temperature is not None:
            fields["temperature"] = dumps(request.temperature)
        self._add_response_format(fields, request)
        if stream:
            fields["stream"] = b"true"
            fields["stream_options"] = b'{"include_usage":true}'
        return {name: value for name, value in fields.items() if dialect.takes(name)}

    def _add_response_format(self, fields: _Fields, request: ChatRequest) -> None:
        form, mode = request.response_schema, self._dialect.schema_mode
        if form is None or mode == "none" or not self._traits.json_schema:
            return
        if mode == "any_object":
            fields["response_format"] = b'{"type":"json_object"}'
        else:
            fields["response_format"] = encode_response_format(form, strict=mode == "strict")

    def _encode_tools(self, tools: tuple[ToolSpec, ...], encode: _Encoder) -> bytes:
        # By identity, as `ChatRequest.tools` promises; the tuple is kept so that its id stays its.
        key = (id(tools), encode)
        known = self._encoded_tools.get(key)
        if known is None:
            if len(self._encoded_tools) >= _KEPT_TOOLS:
                self._encoded_tools.clear()
            known = self._encoded_tools[key] = (tools, encode(tools))
        return known[1]

    def _complete(self, request: ChatRequest, reader: ReplyReader) -> Reply:
        """Return the reply, its usage estimated where the provider told none.

        Raises:
            ModelError: there was no choice in the answer.
        """
        if not reader.has_choice:
            raise _no_choice(self._endpoint)
        reply = reader.reply()
        if reply.usage.prompt_tokens or reply.usage.completion_tokens:
            return reply if reply.model else replace(reply, model=self._name)
        usage = Usage(
            prompt_tokens=self._counter.count(request),
            completion_tokens=reply_tokens(reply),
            estimated=True,
        )
        return replace(reply, usage=usage, model=reply.model or self._name)


def _address(base_url: str) -> tuple[str, str]:
    """Return where to post, and the base address as it may be shown."""
    parts = _web_address(base_url.strip())
    if parts is None:
        shown = base_url.rpartition("@")[2]
        raise ConfigError(
            f"The base URL '{shown}' is no http or https address. Set PLANLOOM_BASE_URL to one "
            "such as https://api.openai.com/v1.",
            zh=f"base URL“{shown}”不是 http 或 https 地址。请把 PLANLOOM_BASE_URL 设为"
            "形如 https://api.openai.com/v1 的地址。",
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, "", ""))
    return urlunsplit(parts._replace(path=f"{path}/chat/completions", fragment="")), shown


def _web_address(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a bracket without its pair, a port that is no number
        return None
    return parts if is_usable else None


def _no_choice(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"Model '{endpoint.model}' at {endpoint.base_url} answered without any choice. Try again; "
        "if it stays so, choose another model.",
        zh=f"{endpoint.base_url} 上的模型“{endpoint.model}”返回的内容里没有任何回答。"
        "请重试；若一直如此，请换一个模型。",
        status=200,
        transient=True,
    )
