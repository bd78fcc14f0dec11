"""The conversation of a call as it is kept in events, for those who ask to record it."""

from __future__ import annotations

from planloom.models.chat_model import ChatRequest, Reply
from planloom.models.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

_ROLES: dict[type[Message], str] = {
    SystemMessage: "system",
    AssistantMessage: "assistant",
    ToolMessage: "tool",
}


def conversation_record(request: ChatRequest, reply: Reply | None) -> dict[str, object]:
    """Return the conversation so far as JSON-safe values."""
    return {
        "messages": [_shown(message) for message in request.history.messages],
        "reply": _shown(reply.to_message()) if reply else None,
    }


def _shown(message: Message) -> dict[str, object]:
    if isinstance(message, UserMessage):
        parts = [message.content] if isinstance(message.content, str) else message.content
        # Pictures and sounds would swell the record.
        shown = [part if isinstance(part, str) else f"({part.media_type})" for part in parts]
        return {"role": "user", "text": "".join(shown)}
    record: dict[str, object] = {"role": _ROLES[type(message)], "text": message.text}
    if isinstance(message, AssistantMessage):
        record["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
        record["thinking"] = message.thinking
    return record
