"""Tries a model with one small call, and says what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from planloom.models.chat_model import ChatModel, ChatRequest, ToolSpec
from planloom.models.history import History
from planloom.models.messages import UserMessage

_ASKED = 'Call the tool "report" with the word "ready".'
_TOOL = ToolSpec(
    "report",
    "Say that you are there.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
_MAX_TOKENS = 512
"""Enough for a model that thinks first."""


@dataclass(frozen=True, kw_only=True)
class ModelCheck:
    """What one call of a model showed."""

    model: str
    """The model that answered, as the provider names it."""
    seconds: float
    """From the request to the end of the reply."""
    called_tool: bool
    """Whether it made the native tool call that it was asked for."""
    json_schema: bool
    """Whether its provider is taken to hold replies to a schema."""
    tokens: int
    text: str
    """The beginning of what it said beside the call."""


async def check_model(
    model: ChatModel, *, clock: Callable[[], float] = time.perf_counter
) -> ModelCheck:
    """Make one small call and return what it showed.

    Raises:
        ModelError: no reply could be had.
    """
    started = clock()
    tools = (_TOOL,) if model.traits.tools else ()
    request = ChatRequest(
        history=History([UserMessage(_ASKED)]), tools=tools, max_tokens=_MAX_TOKENS
    )
    reply = await model.reply(request)
    return ModelCheck(
        model=reply.model or model.name,
        seconds=clock() - started,
        called_tool=any(call.name == _TOOL.name for call in reply.tool_calls),
        json_schema=model.traits.json_schema,
        tokens=reply.usage.prompt_tokens + reply.usage.completion_tokens,
        text=reply.text[:200],
    )
