"""A short conversation about one JSON reply, held to a schema where the provider knows how."""

from __future__ import annotations

import json
from dataclasses import replace

from planloom.errors import ModelError, PlanError
from planloom.models.chat_model import ChatModel, ChatRequest, Reply
from planloom.models.json_repair import parse_json, read_json
from planloom.models.messages import AssistantMessage, UserMessage
from planloom.models.thinking import split_thinking

IN_WORDS = """\
Reply with one JSON object and nothing else. It must fit this JSON Schema:
{schema}"""
_REJECTED_STATUS = frozenset({400, 404, 415, 422, 501})
"""What servers say to a schema that they refuse or do not know."""


class FormTalk:
    """Asks, and asks again with what was wrong; what fits is judged by the one who reads.

    `structured.reply_structured` checks by the schema alone, whose messages cannot say which
    columns would have fitted; here the reader's own message goes back.
    """

    def __init__(self, model: ChatModel, request: ChatRequest):
        """Take the request, whose history stays as it is."""
        self._model = model
        self._request = replace(request, history=request.history.fork())
        if not model.traits.json_schema:
            self._ask_in_words()

    async def ask(self) -> Reply:
        """Return the next reply.

        Raises:
            ModelError: none could be had.
        """
        try:
            return await self._model.reply(self._request)
        except ModelError as error:
            if self._request.response_schema is None or error.status not in _REJECTED_STATUS:
                raise
        self._ask_in_words()
        return await self._model.reply(self._request)

    def answer(self, reply: Reply, text: str) -> None:
        """Tell the model what to change."""
        said = split_thinking(reply.text)[1] or "(no text)"
        self._request.history.append(AssistantMessage(said), UserMessage(text))

    def _ask_in_words(self) -> None:
        schema = self._request.response_schema
        if schema is not None:
            spelled = json.dumps(schema.schema, ensure_ascii=False)
            self._request.history.append(UserMessage(IN_WORDS.replace("{schema}", spelled)))
        self._request = replace(self._request, response_schema=None)


def json_of(reply: Reply) -> object:
    """Return the JSON object of a reply, with slips mended that have one plain meaning.

    Raises:
        PlanError: there is none, or it was cut off.
    """
    if reply.finish_reason == "length":
        raise PlanError("The reply was cut off. Give a shorter one: JSON only.")
    text = split_thinking(reply.text)[1].strip()
    start = text.find("{")
    try:
        return read_json(text, start).value if start > 0 else parse_json(text).value
    except ValueError as error:
        raise PlanError(f"The reply is no JSON: {error}") from error
