"""Notices a run that gets nowhere: calls that repeat, go round in circles or never fit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from planloom.models.chat_model import Json
from planloom.planning.react.toolbox import Observation

Advice = Literal["go_on", "hint", "withdraw"]

STALE_HINT = 2
STALE_LIMIT = 4
"""Turns in a row that brought nothing new."""
FAILED_HINT = 4
FAILED_LIMIT = 8
"""Turns in a row in which every call failed, each in a new way."""
_NEVER_RAN = frozenset({"arguments", "unknown_tool", "cut_off"})


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made, as far as progress is judged by it."""

    name: str
    arguments: Mapping[str, Json] | None
    """None when they could not be read."""
    seen: Observation


@dataclass(slots=True)
class Progress:
    """Judges each turn by whether it brought anything that was not known before.

    A call with a result that it had before brings nothing, however many other such calls stand
    between; the same call with another result does, as when one waits for something. Calls that
    never ran, for an unknown name or unfit arguments, bring nothing at all.
    """

    stale: int = 0
    """Turns in a row without anything new."""
    failed: int = 0
    """Turns in a row in which every call failed."""
    _known: set[int] = field(default_factory=set[int])
    _advised: bool = False
    """Whether the present row of such turns has been spoken of."""

    def note(self, turn: Iterable[Made]) -> Advice:
        """Take the calls of one turn; return what is to be done about it."""
        made = list(turn)
        # Not any(): every call of the turn has to be remembered.
        news = [self._is_new(call) for call in made]
        self.stale = 0 if any(news) else self.stale + 1
        self.failed = self.failed + 1 if all(not call.seen.ok for call in made) else 0
        if self.stale >= STALE_LIMIT or self.failed >= FAILED_LIMIT:
            return "withdraw"
        suspicious = self.stale >= STALE_HINT or self.failed >= FAILED_HINT
        advice: Advice = "hint" if suspicious and not self._advised else "go_on"
        self._advised = suspicious
        return advice

    def _is_new(self, call: Made) -> bool:
        if call.seen.error_kind in _NEVER_RAN:
            return False
        result = call.seen.fingerprint or call.seen.text
        # Writing or sending the same again is no news, whatever the tool says of it.
        mark = hash((call.name, _canonical(call.arguments), result if call.seen.repeatable else ""))
        if mark in self._known:
            return False
        self._known.add(mark)
        return True


def _canonical(arguments: Mapping[str, Json] | None) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
