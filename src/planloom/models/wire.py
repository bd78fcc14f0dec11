"""Requests in the form of OpenAI's chat completions: messages, tools and bodies as JSON bytes."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence

from planloom.models.chat_model import Json, ResponseSchema, ToolSpec
from planloom.models.messages import (
    AssistantMessage,
    AudioPart,
    Content,
    ImagePart,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

_AUDIO_FORMATS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav", "x-m4a": "m4a"}

TOOLS_IN_WORDS = """\
You can call these tools. To call any, write nothing but one block for each call:
<tool_call>{"name": "the tool's name", "arguments": {"an argument": "its value"}}</tool_call>
Each result comes back as <tool_response>. Tools:
"""
"""Tells a model of its tools when the server refuses to; `models.text_calls` reads the calls."""

# One for all: `json.dumps` would make a new one for each message.
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def dumps(value: Json) -> bytes:
    """Return compact JSON.

    Half a surrogate pair, which a file name may hold and UTF-8 cannot, becomes "?".
    """
    return _encoder.encode(value).encode("utf-8", "replace")


def encode_message(message: Message) -> bytes:
    """Return a message as every provider takes it: without thinking."""
    return dumps(_message(message))


def encode_message_with_thinking(message: Message) -> bytes:
    """Return a message for providers that want their thinking back."""
    encoded = _message(message)
    if isinstance(message, AssistantMessage) and message.thinking:
        encoded["reasoning_content"] = message.thinking
    return dumps(encoded)


def encode_message_in_words(message: Message) -> bytes:
    """Return a message for servers that refuse tools: calls and results are part of the text."""
    if isinstance(message, ToolMessage):
        return dumps(
            {"role": "user", "content": f"<tool_response>\n{message.text}\n</tool_response>"}
        )
    if isinstance(message, AssistantMessage) and message.tool_calls:
        calls = [_call_in_words(call) for call in message.tool_calls]
        content = "\n".join(filter(None, (message.text, *calls)))
        return dumps({"role": "assistant", "content": content})
    return encode_message(message)


def encode_tools(tools: Sequence[ToolSpec]) -> bytes:
    """Return the list of tools."""
    return dumps([{"type": "function", "function": _tool(tool)} for tool in tools])


def encode_tools_in_words(tools: Sequence[ToolSpec]) -> bytes:
    """Return a system message that tells of the tools."""
    described = "\n".join(dumps(_tool(tool)).decode() for tool in tools)
    return dumps({"role": "system", "content": TOOLS_IN_WORDS + described})


def encode_response_format(form: ResponseSchema, *, strict: bool) -> bytes:
    """Return the form that a reply is held to.

    `strict` is OpenAI's: every property required, none added.
    """
    schema: dict[str, Json] = {"name": form.name, "schema": form.schema, "strict": strict}
    return dumps({"type": "json_schema", "json_schema": schema})


def join_body(messages: Sequence[bytes], fields: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the body of a request: the messages first, then the fields.

    What stays the same from turn to turn comes first, so that a provider's cache of the prompt
    and a reader's eye find the same beginning.

    >>> join_body([b'{"role":"user"}'], [("model", b'"m"')])
    b'{"messages":[{"role":"user"}],"model":"m"}'
    """
    rest = b"".join(b',"%s":%s' % (name.encode(), value) for name, value in fields)
    return b'{"messages":[' + b",".join(messages) + b"]" + rest + b"}"


def _message(message: Message) -> dict[str, Json]:
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.text}
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if isinstance(message, AssistantMessage):
        return _assistant(message)
    return {"role": "user", "content": _content(message.content)}


def _assistant(message: AssistantMessage) -> dict[str, Json]:
    if not message.tool_calls:
        return {"role": "assistant", "content": message.text}
    calls: list[Json] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _sendable_arguments(call)},
        }
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _sendable_arguments(call: ToolCall) -> str:
    """Return the arguments, or an empty object where they are none.

    Servers that render the history with a template (vLLM, llama.cpp) parse the arguments of earlier
    calls and refuse the whole conversation, for good, when that fails. The call's result says what
    was wrong with them.
    """
    try:
        is_object = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        is_object = False
    return call.arguments if is_object else "{}"


def _call_in_words(call: ToolCall) -> str:
    name = json.dumps(call.name, ensure_ascii=False)
    arguments = _sendable_arguments(call)
    return f'<tool_call>{{"name": {name}, "arguments": {arguments}}}</tool_call>'


def _content(content: Content) -> Json:
    if isinstance(content, str):
        return content
    return [_part(part) for part in content]


def _part(part: str | ImagePart | AudioPart) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = b64encode(part.data).decode()
    if isinstance(part, ImagePart):
        url = f"data:{part.media_type};base64,{data}"
        return {"type": "image_url", "image_url": {"url": url}}
    subtype = part.media_type.partition("/")[2].partition(";")[0].strip().lower()
    form = _AUDIO_FORMATS.get(subtype, subtype)
    return {"type": "input_audio", "input_audio": {"data": data, "format": form}}


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
