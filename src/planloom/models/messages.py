"""What is said in a conversation with a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture inside a message."""

    data: bytes
    media_type: str
    """Such as "image/png"."""


@dataclass(frozen=True, slots=True)
class AudioPart:
    """A sound inside a message."""

    data: bytes
    media_type: str
    """Such as "audio/wav"."""


Content: TypeAlias = "str | tuple[str | ImagePart | AudioPart, ...]"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; nothing about it has been checked."""

    id: str
    name: str
    arguments: str
    """The arguments as the model wrote them; meant to be a JSON object, not always one."""


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """The rules of the conversation; only the first message of a history."""

    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user, or Planloom in their place, says."""

    content: Content


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said."""

    text: str = ""
    """Without its thinking."""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    """Sent back only to providers that want it (`ModelTraits.wants_thinking_back`)."""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """What a tool call gave; every call of the assistant message before it gets exactly one."""

    call_id: str
    text: str


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
