"""Replies in the form of OpenAI's chat completions, whole or in pieces, read into a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from planloom.models.call_stream import CallStream
from planloom.models.chat_model import FinishReason, Json, Reply, Usage
from planloom.models.thinking import ThinkingFilter

_FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
}

_decoder = json.JSONDecoder(strict=False)


def parse_json(body: bytes) -> Json:
    """Return what a server sent; bytes that are no UTF-8 and bare control characters are borne.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return cast("Json", _decoder.decode(body.decode("utf-8-sig", "replace")))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class ReplyReader:
    """Builds one reply from the choices of a server's answer."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._pending = ""
        """Half of a surrogate pair, whose other half comes with the next piece."""
        self._filter = ThinkingFilter()
        self._thinking: list[str] = []
        self._refusal: list[str] = []
        self._calls = CallStream()
        self._finish: str = ""
        self._usage: Usage | None = None
        self._model = ""
        self._index: int | None = None
        self.has_choice = False
        """Whether any choice has come."""

    @property
    def is_finished(self) -> bool:
        """Whether the server has said why the reply ends."""
        return bool(self._finish)

    def read(self, answer: Mapping[str, Json]) -> str:
        """Take a whole answer or a chunk of one; return the text that may be shown now."""
        self._model = _text(answer.get("model")) or self._model
        self._usage = _usage(answer) or self._usage
        choice = self._followed(_list(answer.get("choices")))
        if choice is None:
            return ""
        self.has_choice = True
        self._finish = _text(choice.get("finish_reason")) or self._finish
        self._usage = _usage(choice) or self._usage
        whole = _object(choice.get("message"))
        shown = self._read_message(whole or _object(choice.get("delta")), is_whole=bool(whole))
        return shown + self._read_text(_text(choice.get("text")))

    def reply(self) -> Reply:
        """Return what has been read; `usage` is empty where the server said nothing of it."""
        self._filter.finish()
        calls = self._calls.calls()
        thinking = "".join(self._thinking).strip()
        text = self._filter.text or "".join(self._refusal)
        return Reply(
            text=text,
            tool_calls=calls,
            thinking="\n".join(filter(None, (thinking, self._filter.thinking))),
            finish_reason=_finish_reason(self._finish, has_calls=bool(calls)),
            usage=self._usage or Usage(),
            model=self._model,
        )

    def rest(self) -> str:
        """Say that no more text comes; return what was held back of it and may be shown."""
        pending, self._pending = self._pending, ""
        return self._filter.feed(_whole_characters(pending)) + self._filter.finish()

    def _followed(self, choices: list[Json]) -> Mapping[str, Json] | None:
        """Return the choice that is read, the first that came; only one is ever asked for."""
        for choice in map(_object, choices):
            index = choice.get("index")
            if not isinstance(index, int):
                return choice
            if self._index is None:
                self._index = index
            if index == self._index:
                return choice
        return None

    def _read_message(self, message: Mapping[str, Json], *, is_whole: bool) -> str:
        for name in ("reasoning_content", "reasoning", "thinking"):
            thought = _text(message.get(name))
            if thought:  # some servers send the same under two names
                self._thinking.append(thought)
                break
        self._refusal.append(_text(message.get("refusal")))
        self._read_calls(message, is_whole=is_whole)
        return self._read_text(self._content(message.get("content")))

    def _content(self, content: Json) -> str:
        """Return the text of a content, which may be a list of parts."""
        if isinstance(content, str):
            return content
        texts: list[str] = []
        for part in map(_object, _list(content)):
            if part.get("type") in {"thinking", "reasoning"}:
                self._thinking.append(_thinking_part(part))
            else:
                texts.append(_text(part.get("text")))
        return "".join(texts)

    def _read_text(self, piece: str) -> str:
        if not piece:
            return ""
        piece = self._pending + piece
        self._pending = ""
        if "\ud800" <= piece[-1] <= "\udbff":
            piece, self._pending = piece[:-1], piece[-1]
        return self._filter.feed(_whole_characters(piece))

    def _read_calls(self, message: Mapping[str, Json], *, is_whole: bool) -> None:
        for position, call in enumerate(map(_object, _list(message.get("tool_calls")))):
            function = _object(call.get("function")) or call
            # In a whole message, each entry is a call, whatever its index and id say.
            index = position if is_whole else call.get("index")
            self._calls.add(
                index=index if isinstance(index, int) else None,
                id=_text(call.get("id")),
                name=_text(function.get("name")),
                arguments=_arguments(function.get("arguments")),
            )
        if legacy := _object(message.get("function_call")):
            self._calls.add(
                index=0,
                name=_text(legacy.get("name")),
                arguments=_arguments(legacy.get("arguments")),
            )


def _finish_reason(said: str, *, has_calls: bool) -> FinishReason:
    reason = _FINISH_REASONS.get(said.lower(), "other") if said else "stop"
    # Servers differ in what they say when they call tools; the calls are what counts.
    return "tool_calls" if has_calls and reason in {"stop", "other"} else reason


def _usage(holder: Mapping[str, Json]) -> Usage | None:
    usage = _object(holder.get("usage"))
    prompt = _count(usage.get("prompt_tokens"))
    completion = _count(usage.get("completion_tokens"))
    if not prompt and not completion:
        return None
    prompt_details = _object(usage.get("prompt_tokens_details"))
    cached = _count(prompt_details.get("cached_tokens"))
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        # DeepSeek has a name of its own.
        cached_tokens=cached or _count(usage.get("prompt_cache_hit_tokens")),
        thinking_tokens=_count(
            _object(usage.get("completion_tokens_details")).get("reasoning_tokens")
        ),
    )


def _thinking_part(part: Mapping[str, Json]) -> str:
    inner = part.get("thinking", part.get("text"))
    if isinstance(inner, str):
        return inner
    return "".join(_text(_object(item).get("text")) for item in _list(inner))


def _whole_characters(text: str) -> str:
    """Return the text with surrogate pairs joined and halves of them replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _arguments(value: Json) -> str | Mapping[str, object] | None:
    if value is None or isinstance(value, str):
        return value
    return value if isinstance(value, Mapping) else json.dumps(value, ensure_ascii=False)


def _count(value: Json) -> int:
    return int(value) if isinstance(value, int | float) and 0 < value < 1e15 else 0


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []


def _object(value: Json) -> Mapping[str, Json]:
    return cast("Mapping[str, Json]", value) if isinstance(value, dict) else {}
