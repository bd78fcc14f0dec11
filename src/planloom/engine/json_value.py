"""JSON as typed values, with the check that something can be recorded and read back unchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)
JsonObject: TypeAlias = Mapping[str, JsonValue]

MAX_DEPTH = 100
_PLAIN = frozenset({type(None), bool, int})

_L = TypeVar("_L", bound=str)


def json_copy(value: object, *, depth: int = 0) -> JsonValue:
    """Return a copy made of JSON's own types; tuples become lists.

    Raises:
        ValueError: something in it cannot stand in a JSON file in UTF-8: another type, a number
            that is not finite, half a surrogate pair, a key that is not text, endless nesting.

    >>> json_copy({"columns": ("date", "amount")})
    {'columns': ['date', 'amount']}
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    kind = type(value)
    if kind in _PLAIN:  # nearly everything; the checks below cost far more
        return cast("JsonValue", value)
    if kind is str and cast("str", value).isascii():
        return cast("str", value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        return [json_copy(item, depth=depth + 1) for item in items]
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {_key(key): json_copy(item, depth=depth + 1) for key, item in pairs}
    raise ValueError(f"{type(value).__name__} is not a JSON type")


def one_of(text: str, choices: tuple[_L, ...], what: str) -> _L:
    """Return the fixed choice that a text names; ValueError when it names none."""
    for choice in choices:
        if choice == text:
            return choice
    raise ValueError(f"'{text}' is not {what}; they are: {', '.join(choices)}")


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    return value


def _encodable(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{text!r} holds half of a surrogate pair") from error
    return text


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the key {key!r} is not text")
    return _encodable(key)


class JsonReader:
    """Reads the fields of one JSON object with their types; the door from records to dataclasses.

    Every complaint is a ValueError that names the object, the field and what stands there.
    """

    def __init__(self, value: object, what: str):
        if not isinstance(value, Mapping):
            raise ValueError(f"{what} must be an object, not {_shown(value)}")
        self._fields = cast("Mapping[str, object]", value)
        self._what = what

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._fields.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text field; a missing one is `default`, or an error without it."""
        value = self._fields.get(name, default)
        if isinstance(value, str):
            return value
        raise self._wrong(name, "text", value)

    def number(self, name: str, default: float | None = None) -> float:
        """Return a numeric field."""
        value = self._fields.get(name, default)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        raise self._wrong(name, "a number", value)

    def integer(self, name: str, default: int | None = None) -> int:
        """Return a whole-number field."""
        value = self._fields.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self._wrong(name, "a whole number", value)

    def items(self, name: str) -> list[object]:
        """Return a list field; a missing one is empty."""
        value = self._fields.get(name, [])
        if isinstance(value, list | tuple):
            return list(cast("Sequence[object]", value))
        raise self._wrong(name, "a list", value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of texts; a missing one is empty."""
        values = self.items(name)
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) != len(values):
            raise self._wrong(name, "a list of texts", values)
        return texts

    def value(self, name: str) -> JsonValue:
        """Return whatever JSON value the field has; None where it is missing."""
        return json_copy(self._fields.get(name))

    def part(self, name: str) -> object:
        """Return a field as it stands, for a reader of its own; None where it is missing."""
        return self._fields.get(name)

    def parts(self, name: str) -> Mapping[str, object]:
        """Return a field that is an object of such parts; a missing or null one is empty."""
        value = self._fields.get(name)
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return {_key(key): item for key, item in cast("Mapping[object, object]", value).items()}
        raise self._wrong(name, "an object", value)

    def mapping(self, name: str) -> dict[str, JsonValue]:
        """Return a field that is an object; a missing or null one is empty."""
        value = self._fields.get(name)
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return dict(cast("JsonObject", json_copy(cast("object", value))))
        raise self._wrong(name, "an object", value)

    def _wrong(self, name: str, wanted: str, value: object) -> ValueError:
        return ValueError(f"'{name}' of {self._what} must be {wanted}, not {_shown(value)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
