"""Tool values as JSON and back: what a record, a model or another process sees of a value.

Types that JSON lacks travel as text: dates, times, paths and UUIDs in their ISO or plain form,
`Decimal` as its digits, `timedelta` as an ISO 8601 duration. NaN and infinities are refused, since
turning them into null would change a number into a missing value without anybody noticing.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence, Set
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from numbers import Integral, Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, cast, runtime_checkable
from uuid import UUID

from planloom.errors import ToolError

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
T = TypeVar("T")

MAX_DEPTH = 100
"""Deeper values are refused: they are cyclic, or no validator would follow them."""


@runtime_checkable
class _PydanticModel(Protocol):
    def model_dump(self, *, by_alias: bool) -> dict[str, object]: ...


def encode(value: object) -> JsonValue:
    """Return the JSON-safe form of a tool value.

    >>> from datetime import date
    >>> encode({"day": date(2024, 3, 9), "sizes": (1, 2.5)})
    {'day': '2024-03-09', 'sizes': [1, 2.5]}

    Raises:
        ToolError: a part of the value has no JSON form; the message names the part.
    """
    return _encode(value, "value", 0)


def decode(value: JsonValue, annotation: type[T]) -> T:
    """Return the typed value that `encode` turned into JSON.

    Nothing is guessed: "3" is not 3 and true is not 1. An int is a float, as in JSON.

    Raises:
        ToolError: the JSON does not fit the annotation.
    """
    from pydantic import ValidationError
    from pydantic_core import to_json

    try:
        return adapter(annotation).validate_json(to_json(value), strict=True)
    except ValidationError as error:
        raise ToolError(f"The value does not fit its type: {_first_finding(error)}") from error


def adapter(annotation: type[T]) -> TypeAdapter[T]:
    """Return pydantic's validator of a type, built once for each hashable annotation."""
    try:
        return cast("TypeAdapter[T]", _cached_adapter(annotation))
    except TypeError:  # Annotated metadata may be unhashable
        return _new_adapter(annotation)


def shown(value: object, limit: int = 80) -> str:
    """Return a value as bounded text for a message, in JSON's spelling where it has one.

    >>> shown(True), shown("a" * 200, 12)
    ('true', '"aaaaaaa..."')
    """
    if isinstance(value, str):
        cut = value if len(value) + 2 <= limit else value[: limit - 5] + "..."
        return json.dumps(cut, ensure_ascii=False)
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _first_finding(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in detail["loc"]) or "value"
    return f"{place}: {detail['msg']}, got {shown(detail['input'])}"


@lru_cache(maxsize=512)
def _cached_adapter(annotation: object) -> TypeAdapter[object]:
    return _new_adapter(cast("type[object]", annotation))


def _new_adapter(annotation: type[T]) -> TypeAdapter[T]:
    from pydantic import TypeAdapter

    return TypeAdapter(annotation)


def _encode(value: object, place: str, depth: int) -> JsonValue:
    if depth > MAX_DEPTH:
        raise ToolError(f"{place} is cyclic, or nested more than {MAX_DEPTH} deep.")
    if isinstance(value, Enum):
        return _encode(value.value, place, depth + 1)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encode_text(value, place)
    if isinstance(value, Decimal):
        return _encode_decimal(value, place)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _encode_float(float(value), place)
    text = _as_text(value)
    return _encode_container(value, place, depth) if text is None else text


def _encode_text(value: str, place: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{place} holds {value[error.start]!r}, half of a character (a lone surrogate). "
            "Decode the bytes with the right encoding, or with errors='replace'."
        ) from error
    return str(value)


def _encode_float(value: float, place: str) -> float:
    if math.isfinite(value):
        return value
    raise ToolError(
        f"{place} is {value}, which JSON cannot hold. Return None for a missing number."
    )


def _encode_decimal(value: Decimal, place: str) -> str:
    if value.is_finite():
        return str(value)
    raise ToolError(
        f"{place} is {value}, which JSON cannot hold. Return None for a missing number."
    )


def _as_text(value: object) -> str | None:
    if isinstance(value, date | time):  # datetime is a date
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, PurePath | UUID):
        return str(value)
    return None


def _duration(value: timedelta) -> str:
    sign = "-" if value < timedelta(0) else ""
    whole = abs(value)
    micros = f".{whole.microseconds:06d}" if whole.microseconds else ""
    return f"{sign}P{whole.days}DT{whole.seconds}{micros}S"


def _encode_container(value: object, place: str, depth: int) -> JsonValue:
    type_name = type(value).__name__
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
        return {name: _encode(part, f"{place}.{name}", depth + 1) for name, part in fields}
    if isinstance(value, Mapping):
        return _encode_mapping(cast("Mapping[object, object]", value), place, depth)
    if isinstance(value, Set):
        items = [_encode(item, place, depth + 1) for item in cast("Set[object]", value)]
        return sorted(items, key=repr)  # a set has no order; records must not differ by chance
    if isinstance(value, Sequence) and not isinstance(
        value, bytes | bytearray | memoryview | range
    ):
        parts = enumerate(cast("Sequence[object]", value))
        return [_encode(part, f"{place}[{index}]", depth + 1) for index, part in parts]
    if isinstance(value, _PydanticModel) and not isinstance(value, type):
        return _encode_mapping(value.model_dump(by_alias=True), place, depth)
    raise ToolError(
        f"{place} is of type {type_name}, which has no JSON form. Use numbers, text, lists, dicts "
        "and dataclasses of them; keep large or binary data in a file and pass a TableRef, "
        "ImageRef or FileRef."
    )


def _encode_mapping(
    value: Mapping[object, object] | dict[str, object], place: str, depth: int
) -> JsonValue:
    encoded: dict[str, JsonValue] = {}
    for key, part in value.items():
        if not isinstance(key, str):
            raise ToolError(
                f"{place} has the key {shown(key)}; JSON has text keys only. Use str(key)."
            )
        encoded[_encode_text(key, place)] = _encode(part, f"{place}[{shown(key)}]", depth + 1)
    return encoded
