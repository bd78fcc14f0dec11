"""A model that answers from a script: for tests, and for demonstrations without a network."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast, get_args

from planloom.errors import ConfigError, ModelError
from planloom.models.chat_model import (
    ChatRequest,
    FinishReason,
    ModelTraits,
    Reply,
    ToolChoice,
    ToolSpec,
    Usage,
)
from planloom.models.estimate import request_tokens, text_tokens
from planloom.models.history import History
from planloom.models.messages import Message, ToolCall

ScriptedReply: TypeAlias = Reply | str | Exception | Callable[[ChatRequest], Reply | str]
"""What is said in one call: a reply, its text alone, an error to raise, or what a function of
the request gives."""

_KNOWN_KEYS = {"text", "tool_calls", "thinking", "finish_reason"}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request as it was when the model got it; its history may have grown since."""

    messages: tuple[Message, ...]
    options: ChatRequest
    """The request with a copy of the history."""

    @property
    def history(self) -> History:
        """The messages as a history."""
        return self.options.history

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the model was offered; () when there were none."""
        return self.options.tools

    @property
    def tool_choice(self) -> ToolChoice:
        """Whether it might call them, had to, or was not allowed to."""
        return self.options.tool_choice


class ScriptedModel:
    """A `ChatModel` that gives prepared replies in order and keeps what it was asked.

    A reply without usage gets an estimated one, and one with tool calls the finish reason
    "tool_calls", so that callers meet what a provider would send.

    >>> import asyncio
    >>> from planloom.models.messages import UserMessage
    >>> model = ScriptedModel(["Good morning."])
    >>> request = ChatRequest(history=History([UserMessage("Hello")]))
    >>> asyncio.run(model.reply(request)).text
    'Good morning.'
    >>> model.requests[0].messages
    (UserMessage(content='Hello'),)
    """

    def __init__(
        self,
        replies: Sequence[ScriptedReply],
        *,
        name: str = "scripted",
        traits: ModelTraits | None = None,
        piece_chars: int = 8,
    ):
        """Take the script; `piece_chars` is the length of the pieces that `stream` yields."""
        self._replies = tuple(replies)
        self._name = name
        self._traits = traits or ModelTraits()
        self._piece_chars = piece_chars
        self.requests: list[SeenRequest] = []
        """Every request so far, oldest first."""

    @classmethod
    def from_file(cls, path: Path, *, traits: ModelTraits | None = None) -> ScriptedModel:
        """Read a script of JSON lines, one call each; empty lines and lines from "#" are skipped.

        A line is `{"text": "..."}`, `{"tool_calls": [{"name": "...", "arguments": {...}}]}`, both
        of them, or `{"error": "..."}`. It may add `"thinking"` and `"finish_reason"`.

        Raises:
            ConfigError: the file cannot be read, or a line is none of these.
        """
        return cls(_read_script(path), name=f"scripted:{path.name}", traits=traits)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def traits(self) -> ModelTraits:
        """What it claims to be able to do."""
        return self._traits

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the next reply of the script.

        Raises:
            ModelError: the script has run out.
            Exception: one that the script holds.
        """
        return self._next(request)

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield the next reply of the script in pieces, at last whole."""
        reply = self._next(request)
        for start in range(0, len(reply.text), self._piece_chars):
            yield reply.text[start : start + self._piece_chars]
        yield reply

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    def _next(self, request: ChatRequest) -> Reply:
        number = len(self.requests)
        history = History(request.history.messages)
        self.requests.append(
            SeenRequest(tuple(history.messages), replace(request, history=history))
        )
        if number >= len(self._replies):
            raise self._run_out(number + 1)
        said = self._replies[number]
        if isinstance(said, Exception):
            raise said
        return self._completed(said(request) if callable(said) else said, request)

    def _completed(self, said: Reply | str, request: ChatRequest) -> Reply:
        reply = Reply(text=said) if isinstance(said, str) else said
        return replace(
            reply,
            finish_reason=_finish_reason(reply),
            usage=_estimated(reply, request) if reply.usage == Usage() else reply.usage,
            model=reply.model or self._name,
        )

    def _run_out(self, number: int) -> ModelError:
        scripted = len(self._replies)
        return ModelError(
            f"The script of model {self._name!r} has run out: call {number} was made, and it "
            f"holds {scripted}. Add a reply to the script, or find out why there were more calls.",
            zh=f"模型 {self._name!r} 的脚本已用完：这是第 {number} 次调用，而脚本只准备了 "
            f"{scripted} 条回复。请补充回复，或检查调用次数为何超出预期。",
            sent=False,
        )


def _finish_reason(reply: Reply) -> FinishReason:
    if reply.tool_calls and reply.finish_reason == "stop":
        return "tool_calls"
    return reply.finish_reason


def _estimated(reply: Reply, request: ChatRequest) -> Usage:
    calls = sum(text_tokens(call.name) + text_tokens(call.arguments) for call in reply.tool_calls)
    thinking = text_tokens(reply.thinking)
    return Usage(
        prompt_tokens=request_tokens(request),
        completion_tokens=text_tokens(reply.text) + calls + thinking,
        thinking_tokens=thinking,
        estimated=True,
    )


def _read_script(path: Path) -> list[ScriptedReply]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The script {path} of the model cannot be read: {error}. "
            "Give the path of a file with one JSON object a line.",
            zh=f"无法读取模型脚本 {path}：{error}。请提供每行一个 JSON 对象的文件。",
        ) from error
    return [
        _read_line(line, f"{path}, line {number}", f"{path} 第 {number} 行")
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _read_line(line: str, place: str, place_zh: str) -> ScriptedReply:
    try:
        return _parse_line(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        shown = line if len(line) <= 80 else line[:79] + "…"
        raise ConfigError(
            f"{place} is no reply of a scripted model: {shown} ({error}). Write "
            '{"text": "..."}, {"tool_calls": [{"name": "...", "arguments": {...}}]} or '
            '{"error": "..."}.',
            zh=f"{place_zh}不是有效的脚本回复：{shown}（{error}）。请写成 "
            '{"text": "..."}、{"tool_calls": [{"name": "...", "arguments": {...}}]} 或 '
            '{"error": "..."}。',
        ) from error


def _parse_line(record: object) -> ScriptedReply:
    if not isinstance(record, dict):
        raise TypeError("not an object")
    fields = cast("Mapping[str, object]", record)
    if set(fields) == {"error"}:
        return ModelError(_text(fields, "error"), sent=False)
    if not {"text", "tool_calls"} & set(fields):
        raise ValueError("neither text, nor tool_calls, nor error alone")
    if unknown := set(fields) - _KNOWN_KEYS:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    calls = cast("Sequence[Mapping[str, object]]", fields.get("tool_calls", ()))
    reason = _text(fields, "finish_reason") or "stop"
    if reason not in get_args(FinishReason):
        raise ValueError(f"finish_reason is one of {', '.join(get_args(FinishReason))}")
    return Reply(
        text=_text(fields, "text"),
        tool_calls=tuple(_parse_call(call, number) for number, call in enumerate(calls, 1)),
        thinking=_text(fields, "thinking"),
        finish_reason=cast("FinishReason", reason),
    )


def _parse_call(call: Mapping[str, object], number: int) -> ToolCall:
    arguments = call.get("arguments", {})
    return ToolCall(
        id=_text(call, "id") or f"call_{number}",
        name=_text(call, "name", required=True),
        # Text is kept as it stands: a script can hold the broken JSON that models write.
        arguments=arguments
        if isinstance(arguments, str)
        else json.dumps(arguments, ensure_ascii=False),
    )


def _text(fields: Mapping[str, object], key: str, *, required: bool = False) -> str:
    value = fields[key] if required else fields.get(key, "")
    if not isinstance(value, str):
        raise TypeError(f"{key} is {value!r}, not text")
    return value
