"""What a provider turns out not to understand, remembered so that it is not sent again."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from planloom.models.provider_errors import Refusal

SchemaMode = Literal["strict", "loose", "any_object", "none"]
_NEXT_MODE: dict[SchemaMode, SchemaMode] = {
    "strict": "loose",
    "loose": "any_object",
    "any_object": "none",
}

_REFUSES = re.compile(
    r"unsupported|not (?:\w+ )?support|support(?:s|ed)? only|only support|unrecogni[sz]ed|unknown"
    r"|unexpected|extra (?:inputs|fields)|extra_forbidden|not (?:permitted|allowed|available"
    r"|implemented|enabled)|cannot be (?:used|set)|incompatible|deprecated|no such"
    r"|additional propert|invalid (?:schema|parameter|field|argument|value|type)|only the default"
    r"|must be (?:1|unset|omitted|one of)|requires? --|use '?max_|不支持|无效",
    re.IGNORECASE,
)
_STATUSES = {400, 404, 405, 415, 422, 500, 501}


class Dialect:
    """The differences of one provider from OpenAI's interface, learned from its refusals."""

    def __init__(self, *, max_tokens_field: str = "max_tokens", sends_thinking: bool = False):
        self.max_tokens_field = max_tokens_field
        self.schema_mode: SchemaMode = "strict"
        self.sends_thinking = sends_thinking
        self.takes_tools = True
        self.takes_streams = True
        self._has_renamed = False
        self._dropped: set[str] = set()

    def takes(self, field: str) -> bool:
        """Tell whether a field may be sent."""
        return field not in self._dropped

    def learn(self, refusal: Refusal, sent: Collection[str]) -> bool:
        """Take a refusal as a lesson; True when the request may now be sent in another form.

        `sent` are the fields of the request. Each lesson takes something away, so asking again
        ends.
        """
        words = refusal.words.lower()
        if refusal.status not in _STATUSES or refusal.says_too_long:
            return False
        if self._learn_thinking(words):
            return True
        if not _REFUSES.search(words):
            return False
        return self._learn_limit(words, sent) or self._learn_field(words, sent)

    def _learn_thinking(self, words: str) -> bool:
        """Some providers insist on their thinking, others refuse it."""
        if "reasoning_content" not in words or "reasoning_content" in self._dropped:
            return False
        self._dropped.add("reasoning_content")
        self.sends_thinking = not self.sends_thinking
        return True

    def _learn_limit(self, words: str, sent: Collection[str]) -> bool:
        """OpenAI renamed max_tokens; others do not know the new name."""
        field = self.max_tokens_field
        if field not in sent or not re.search(rf"\b{field}\b", words):
            return False
        other = "max_tokens" if field == "max_completion_tokens" else "max_completion_tokens"
        if self._has_renamed:
            self._dropped.add(field)
        else:
            self._has_renamed = True
            self.max_tokens_field = other
        return True

    def _learn_field(self, words: str, sent: Collection[str]) -> bool:
        if "response_format" in sent and re.search(
            r"response_format|json_schema|json schema|structured output|guided|grammar"
            r"|invalid schema",
            words,
        ):
            self.schema_mode = _NEXT_MODE[self.schema_mode]
            return True
        for field in ("stream_options", "temperature", "tool_choice"):
            if field in sent and re.search(rf"\b{field}\b|\b{field.replace('_', ' ')}\b", words):
                self._dropped.add(field)
                return True
        if "tools" in sent and re.search(r"\btools?\b|function.?call", words):
            self.takes_tools = False
            return True
        if "stream" in sent and re.search(r"\bstream(?:ing)?\b", words):
            self.takes_streams = False
            return True
        return False
