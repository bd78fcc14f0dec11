"""How many tokens texts, messages and tools take, told without a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from planloom.models.chat_model import ChatRequest, ToolSpec
from planloom.models.messages import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    ToolMessage,
)

_MESSAGE_TOKENS = 4


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


def request_tokens(request: ChatRequest) -> int:
    """Return about how many tokens the whole prompt takes."""
    return tools_tokens(request.tools) + sum(map(message_tokens, request.history.messages))


def _content_tokens(content: Content) -> int:
    if isinstance(content, str):
        return text_tokens(content)
    return sum(text_tokens(part) if isinstance(part, str) else 1_000 for part in content)
