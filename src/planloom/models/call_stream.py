"""Merges the parts of tool calls that a streamed reply brings into whole calls."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planloom.models.messages import ToolCall

NewId = Callable[[], str]


def new_call_id() -> str:
    """Return an id for a call that came without one.

    Nine letters and digits: the only form that every provider takes back (Mistral is the strict
    one).
    """
    return os.urandom(5).hex()[:9]


@dataclass(slots=True)
class _Open:
    """A call that may still grow."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    def is_whole(self) -> bool:
        """Tell whether the arguments cannot go on: they are a complete JSON object."""
        if not self.arguments.rstrip().endswith("}"):
            return False
        try:
            json.loads(self.arguments, strict=False)
        except (ValueError, RecursionError):
            return False
        return True


class CallStream:
    """Collects the parts of the tool calls of one reply.

    Servers differ: the index may be missing, wrong in a call's first part or the same for all
    calls; ids and names may be repeated with every part, or missing.
    """

    def __init__(self, *, new_id: NewId = new_call_id):
        self._new_id = new_id
        self._calls: list[_Open] = []
        self._by_index: dict[int, _Open] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(
        self,
        *,
        index: int | None = None,
        id: str | None = None,  # noqa: A002 -- the field's name in every provider's interface
        name: str | None = None,
        arguments: str | Mapping[str, object] | None = None,
    ) -> None:
        """Take one part, in the order of arrival; None and an empty text mean "not said"."""
        text = _as_text(arguments)
        call = self._call_of(index, id or "", name or "")
        if index is not None:
            self._by_index[index] = call
        call.id = call.id or id or ""
        call.name = _joined_name(call, name or "")
        call.arguments = _joined_arguments(call, text, whole=isinstance(arguments, Mapping))

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls so far, in the order in which they began; every id is there once."""
        taken: set[str] = set()
        for call in self._calls:
            if not call.id or call.id in taken:
                call.id = self._new_id()
            taken.add(call.id)
        return tuple(ToolCall(call.id, call.name, call.arguments) for call in self._calls)

    def _call_of(self, index: int | None, id_: str, name: str) -> _Open:
        known = self._known(index, id_, name)
        if known is None or _begins_anew(known, id_, name):
            known = _Open()
            self._calls.append(known)
        return known

    def _known(self, index: int | None, id_: str, name: str) -> _Open | None:
        """Return the call that a part belongs to if it begins none."""
        if id_:
            same = next((call for call in reversed(self._calls) if call.id == id_), None)
            # One id under two indices, each with its name, is the server's fault, not one call.
            if same and not (name and index is not None and self._index_is_new(index)):
                return same
        if index is not None and not self._index_is_new(index):
            return self._by_index[index]
        begins = bool(id_ or name) and index is not None
        return self._calls[-1] if self._calls and not begins else None

    def _index_is_new(self, index: int) -> bool:
        return index not in self._by_index


def _begins_anew(call: _Open, id_: str, name: str) -> bool:
    """Tell whether a part starts another call although its index is that of `call`."""
    if id_ and call.id == id_:
        return False
    if id_ and call.id:
        # Some servers make up an id for every part; only the first one carries the name.
        return bool(name) or call.is_whole()
    if not name or not call.arguments:
        return False
    return (name != call.name and bool(call.name)) or call.is_whole()


def _joined_name(call: _Open, name: str) -> str:
    """Return the name with a part of it added, unless the part is a repetition."""
    if not name or call.name.endswith(name) or call.arguments:
        return call.name or name
    return name if name.startswith(call.name) else call.name + name


def _joined_arguments(call: _Open, text: str, *, whole: bool) -> str:
    if whole:
        return text
    if text and text == call.arguments and call.is_whole():
        return text  # sent once more when the call was complete
    return call.arguments + text


def _as_text(arguments: str | Mapping[str, object] | None) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
