"""How many tokens texts, messages and tools take, told without a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

from planloom.models.chat_model import ChatRequest, Reply, ResponseSchema, ToolSpec
from planloom.models.history import History
from planloom.models.messages import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    ToolMessage,
)

T = TypeVar("T")

_MESSAGE_TOKENS = 4
_KEPT_PARTS = 64


def text_tokens(text: str) -> int:
    """Return about how many tokens a text takes."""
    encoded = text.encode("utf-8", "replace")
    beyond_ascii = len(encoded) - len(text)
    return -(-len(encoded) // 4) + beyond_ascii // 4


def message_tokens(message: Message) -> int:
    """Return about how many tokens a message takes, its frame included."""
    if isinstance(message, SystemMessage | ToolMessage):
        return _MESSAGE_TOKENS + text_tokens(message.text)
    if isinstance(message, AssistantMessage):
        calls = sum(
            _MESSAGE_TOKENS + text_tokens(call.name) + text_tokens(call.arguments)
            for call in message.tool_calls
        )
        return _MESSAGE_TOKENS + text_tokens(message.text) + calls
    return _MESSAGE_TOKENS + _content_tokens(message.content)


def tools_tokens(tools: Sequence[ToolSpec]) -> int:
    """Return about how many tokens the description of tools takes."""
    return sum(
        _MESSAGE_TOKENS
        + text_tokens(tool.name)
        + text_tokens(tool.description)
        + text_tokens(json.dumps(tool.parameters, ensure_ascii=False))
        for tool in tools
    )


def reply_tokens(reply: Reply) -> int:
    """Return about how many tokens a reply took to write, its thinking included."""
    return text_tokens(reply.thinking) + message_tokens(reply.to_message())


def schema_tokens(schema: ResponseSchema) -> int:
    """Return about how many tokens the form of a reply takes."""
    return text_tokens(json.dumps(schema.schema, ensure_ascii=False))


def request_tokens(request: ChatRequest) -> int:
    """Return about how many tokens the whole prompt takes."""
    schema = request.response_schema
    return (
        sum(map(message_tokens, request.history.messages))
        + tools_tokens(request.tools)
        + (schema_tokens(schema) if schema else 0)
    )


class PromptCounter:
    """Counts prompts of conversations that grow: what was counted once is not counted again."""

    def __init__(self):
        self._histories: WeakKeyDictionary[History, _Counted] = WeakKeyDictionary()
        self._fixed: dict[int, tuple[object, int]] = {}

    def count(self, request: ChatRequest) -> int:
        """Return about how many tokens the prompt takes."""
        counted = self._histories.get(request.history)
        if counted is None:
            counted = self._histories[request.history] = _Counted()
        total = counted.up_to_date(request.history.messages)
        total += self._once(request.tools, tools_tokens)
        if request.response_schema is not None:
            total += self._once(request.response_schema, schema_tokens)
        return total

    def _once(self, part: T, count: Callable[[T], int]) -> int:
        # By identity: hashing schemas would take longer than counting them. The part is kept, so
        # that its id stays its own.
        found = self._fixed.get(id(part))
        if found is None:
            if len(self._fixed) >= _KEPT_PARTS:
                self._fixed.clear()
            found = self._fixed[id(part)] = (part, count(part))
        return found[1]


class _Counted:
    __slots__ = ("messages", "tokens")

    def __init__(self):
        self.messages = 0
        self.tokens = 0

    def up_to_date(self, messages: Sequence[Message]) -> int:
        for index in range(self.messages, len(messages)):
            self.tokens += message_tokens(messages[index])
        self.messages = len(messages)
        return self.tokens


def _content_tokens(content: Content) -> int:
    if isinstance(content, str):
        return text_tokens(content)
    return sum(text_tokens(part) if isinstance(part, str) else 1_000 for part in content)
