"""Parses JSON text without losing repeated names, and more than one value after another."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

JsonRecord = dict[str, object]
BLANKS = "\ufeff\x1e \t\r\n"
"""What may stand around values: white space, and the record mark of JSON text sequences."""


@dataclass(kw_only=True)
class JsonReader:
    """Parses values and remembers what was odd in them."""

    repeated: set[str] = field(default_factory=set[str])
    """Names given to fields whose own name stands twice in one object."""

    def __post_init__(self) -> None:
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def value(self, text: str) -> object:
        """Return the one value of a text.

        Raises:
            ValueError: the text is no JSON, or nested too deeply.
        """
        try:
            return self._decoder.decode(text.strip(BLANKS))
        except RecursionError as error:
            raise ValueError("nested too deeply") from error

    def values(self, text: str) -> list[object]:
        """Return the values of a text, which may follow each other without any mark.

        Raises:
            ValueError: some part of the text is no JSON, or nested too deeply.

        >>> JsonReader().values('{"a": 1}{"a": 2, "a": 3}')
        [{'a': 1}, {'a': 2, 'a_2': 3}]
        """
        found: list[object] = []
        place = _after_blanks(text, 0)
        try:
            while place < len(text) or not found:
                value, place = self._decoder.raw_decode(text, place)
                found.append(value)
                place = _after_blanks(text, place)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        return found

    def _object(self, pairs: list[tuple[str, object]]) -> JsonRecord:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        taken = set(found)
        apart: JsonRecord = {}
        for name, value in pairs:
            free, number = name, 2
            while free in apart or (free != name and free in taken):
                free, number = f"{name}_{number}", number + 1
            if free != name:
                self.repeated.add(free)
            apart[free] = value
        return apart


def _after_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] in BLANKS:
        place += 1
    return place
