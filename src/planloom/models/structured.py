"""Replies of a given form: asked for, read, checked, and asked for again with what was wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from planloom.errors import ModelError, PlanError
from planloom.models.chat_model import ChatModel, ChatRequest, Reply, ResponseSchema
from planloom.models.history import History
from planloom.models.json_repair import ReadJson, parse_json, read_json
from planloom.models.json_text import JsonData, UnreadableJsonError
from planloom.models.messages import AssistantMessage, UserMessage
from planloom.models.thinking import split_thinking

if TYPE_CHECKING:
    import jsonschema_rs

INSTRUCTIONS = """\
Reply with one JSON value and nothing else: no prose before or after it, no code fence, no \
comments. It must fit this JSON Schema:
{schema}"""
ASK_AGAIN = """\
Your reply cannot be used: {problem}
Send the whole JSON again with that mended, and nothing else."""
ASK_FIRMLY = """\
Your reply still cannot be used: {problem}
Your next message must begin with {opening} and end with {closing}, and be valid JSON of exactly \
this schema, with no other keys:
{schema}"""
ASK_SHORTER = """\
Your reply was cut off at the output token limit. Send a whole but much shorter one: fewer items, \
shorter texts, no spaces between the marks of the JSON."""

MAX_TRIES = 3
_REJECTED_STATUS = frozenset({400, 404, 415, 422, 501})
"""What servers say to a request with a field that they do not know or a schema that they refuse."""
_SHOWN_PROBLEMS = 8
_SHOWN_CHARS = 300
_KEPT_CHARS = 4_000
_OPENING = re.compile(r"[{\[]")
_MAX_OPENINGS = 50

T = TypeVar("T")


async def reply_structured(
    model: ChatModel,
    request: ChatRequest,
    schema: ResponseSchema,
    *,
    read: Callable[[JsonData], T],
    max_tries: int = MAX_TRIES,
) -> T:
    """Return what `read` makes of a reply that fits the schema.

    `read` may refuse a value with a `ValueError` or `PlanError`; the model is told its message and
    asked again. The history of the request stays as it is: what goes back and forth about the form
    is nobody else's business.

    Raises:
        ModelError: none could be had, or no try gave a value that fits; the message says what was
            wanted and what came.
    """
    form = _Form(schema, _compiled(schema))
    talk = _Talk(model, request, form)
    problem, reply = "", Reply()
    was_cut = False
    for number in range(1, max_tries + 1):
        reply = await talk.ask()
        if reply.finish_reason == "content_filter":
            raise _filtered(model.name)
        try:
            return read(form.value_of(reply))
        except (ValueError, PlanError) as error:
            problem = str(error)
        if reply.finish_reason == "length":
            if was_cut:
                break
            was_cut = True
            talk.answer(reply, ASK_SHORTER)
        else:
            talk.answer(reply, form.mending(problem, is_first=number == 1))
    raise _failure(model.name, form, problem, reply)


class _Talk:
    """The conversation about one reply."""

    def __init__(self, model: ChatModel, request: ChatRequest, form: _Form):
        self._model = model
        self._request = request
        self._form = form
        self._history: History = request.history.fork()
        self._by_provider = model.traits.json_schema
        self._is_told = False
        """Whether the model has read the schema, other than from its provider."""
        if not self._by_provider:
            self._tell()

    async def ask(self) -> Reply:
        """Return the next reply; a provider that refuses the schema is asked in words instead."""
        held_to = self._form.schema if self._by_provider else None
        request = replace(self._request, history=self._history, response_schema=held_to)
        try:
            return await self._model.reply(request)
        except ModelError as error:
            if not self._by_provider or error.status not in _REJECTED_STATUS:
                raise
        self._by_provider = False
        self._tell()
        return await self._model.reply(replace(request, response_schema=None))

    def answer(self, reply: Reply, text: str) -> None:
        """Tell the model what was wrong with its reply."""
        said = split_thinking(reply.text)[1]
        kept = said if len(said) <= _KEPT_CHARS else said[:_KEPT_CHARS] + "..."
        if not self._is_told:
            # Some servers take a schema and pay no heed to it.
            self._is_told = True
            text = f"{text}\n{self._form.instructions}"
        self._history.append(AssistantMessage(kept or "(no text)"), UserMessage(text))

    def _tell(self) -> None:
        self._is_told = True
        self._history.append(UserMessage(self._form.instructions))


@dataclass(frozen=True, slots=True)
class _Form:
    """What a reply has to look like."""

    schema: ResponseSchema
    validator: jsonschema_rs.Validator

    @property
    def instructions(self) -> str:
        return INSTRUCTIONS.format(schema=self._spelled)

    def mending(self, problem: str, *, is_first: bool) -> str:
        """Return how to ask again; firmer from the second time on."""
        if is_first:
            return ASK_AGAIN.format(problem=problem)
        opening, closing = "[]" if self.schema.schema.get("type") == "array" else "{}"
        return ASK_FIRMLY.format(
            problem=problem, opening=opening, closing=closing, schema=self._spelled
        )

    def value_of(self, reply: Reply) -> JsonData:
        """Return the value that a reply holds.

        Raises:
            ValueError: there is none, or it does not fit; says why.
        """
        text = split_thinking(reply.text)[1].strip()
        if not text:
            called = " It calls a tool; that is not wanted here." if reply.tool_calls else ""
            raise ValueError(f"It holds no text.{called}")
        found = _json_in(text)
        if reply.finish_reason == "length" and "missing bracket" in found.repairs:
            raise ValueError("It was cut off at the output token limit.")
        problems = _problems(self.validator, found.value)
        if problems:
            raise ValueError("It does not fit the schema: " + " ".join(problems))
        return found.value

    @property
    def _spelled(self) -> str:
        return json.dumps(self.schema.schema, ensure_ascii=False)


def _json_in(text: str) -> ReadJson:
    """Return the JSON of a reply: the whole of it, or the one value between words of prose.

    Raises:
        UnreadableJsonError: there is none; the error is that of the whole text, or of the value
            that it begins with.
    """
    try:
        return parse_json(text)
    except UnreadableJsonError as error:
        for opening in _openings(text):
            found = _value_at(text, opening)
            if found:
                return found
        raise error from None


def _value_at(text: str, opening: int) -> ReadJson | None:
    """Return the object or list that begins somewhere in prose; None where there is none."""
    try:
        found = read_json(text, opening)
    except UnreadableJsonError:
        return None
    # Marks of JSON behind it show that it was closed too early: the rest belongs to it.
    is_whole = text[found.end :].lstrip()[:1] not in tuple(',:"{[}]')
    return found if found.value and is_whole else None


def _openings(text: str) -> Iterable[int]:
    """Return where a value may begin, at most `_MAX_OPENINGS` places; beginnings of lines first.

    Where the text itself begins with JSON, only there: its parts are not what was wanted.
    """
    if text[0] in "{[":
        return (0,)
    starts = [match.start() for match in _OPENING.finditer(text)]
    at_line = [start for start in starts if not text[:start].rpartition("\n")[2].strip()]
    return dict.fromkeys([*at_line[:_MAX_OPENINGS], *starts[:_MAX_OPENINGS]])


def _compiled(schema: ResponseSchema) -> jsonschema_rs.Validator:
    # Loaded by the first reply of a given form, not with the module.
    import jsonschema_rs

    return jsonschema_rs.validator_for(json.dumps(schema.schema), offline=True)


def _problems(validator: jsonschema_rs.Validator, value: JsonData) -> list[str]:
    """Return what is wrong with a value, in words; the first few."""
    found: list[str] = []
    for error in validator.iter_errors(value):
        if len(found) == _SHOWN_PROBLEMS:
            return [*found, "And more."]
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.instance_path)
        place = f"'{path.removeprefix('.')}': " if path else ""
        found.append(f"{place}{_shown(error.message)}.")
    return found


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."


def _filtered(model: str) -> ModelError:
    return ModelError(
        f"The provider's content filter stopped the reply of {model}. Word the goal differently, "
        "or use another model.",
        zh=f"服务商的内容过滤拦截了模型 {model} 的回复。请换一种说法，或改用其他模型。",
    )


def _failure(model: str, form: _Form, problem: str, reply: Reply) -> ModelError:
    name, schema = form.schema.name, json.dumps(form.schema.schema, ensure_ascii=False)
    came = _shown(split_thinking(reply.text)[1].strip()) or "(no text)"
    if reply.finish_reason == "length":
        return ModelError(
            f"The reply of {model} reached the output token limit before its '{name}' was whole, "
            "also when a shorter one was asked for. Allow longer replies, or ask for less. "
            f"It sent: {came}",
            zh=f"模型 {model} 的回复达到输出 token 上限，“{name}”仍不完整，要求缩短后依然如此。"
            f"请放宽输出上限，或减少要求的内容。最后收到：{came}",
        )
    return ModelError(
        f"{model} gave no '{name}' that can be used, although it was told what was wrong. "
        f"Wanted: JSON of this schema: {_shown(schema)} The last reply: {came} "
        f"What is wrong with it: {_shown(problem)} "
        "Try again, or use a more capable model.",
        zh=f"模型 {model} 未能给出可用的“{name}”，指出问题并要求重写后仍不合格。"
        f"最后收到：{came} 问题：{_shown(problem)} 请重试，或改用能力更强的模型。",
    )
