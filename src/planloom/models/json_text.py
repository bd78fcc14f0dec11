"""Strict JSON, with the few values refused that its grammar allows and nobody can use."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import NoReturn, TypeAlias

JsonData: TypeAlias = "bool | int | float | str | list[JsonData] | dict[str, JsonData] | None"

MAX_DEPTH = 100
"""Deeper values are refused, as tools do: they exhaust whoever walks them."""
TOO_DEEP = f"It is nested more than {MAX_DEPTH} deep"
_PREVIEW_CHARS = 60


class UnreadableJsonError(ValueError):
    """A text is not JSON and cannot be repaired without guessing.

    The message says where and what, with a bounded piece of the text; `position` counts characters.
    """

    def __init__(self, what: str, text: str, position: int):
        line = text.count("\n", 0, position) + 1
        column = position - text.rfind("\n", 0, position)
        place = f"line {line}, column {column}" if line > 1 else f"character {position + 1}"
        super().__init__(f"{what} (at {place} of {len(text)} characters{_near(text, position)})")
        self.what = what
        self.position = position


class RefusedValueError(ValueError):
    """Valid JSON by its grammar, but a value that must not be used."""


def decode_strictly(text: str, start: int = 0) -> tuple[JsonData, int]:
    """Return the JSON value that begins at `start`, and where it ends.

    Raises:
        json.JSONDecodeError: it is not JSON.
        RefusedValueError: it is nested deeper than `MAX_DEPTH`, names a key twice with different
            values, or holds NaN, a number too large, or half a character.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise RefusedValueError(TOO_DEEP) from None
    except RefusedValueError:
        raise
    except ValueError as error:  # an integer with more digits than Python reads
        raise RefusedValueError(f"A number is too large: {error}") from error
    _refuse_unusable(value, text[start:end])
    return value, end


def _refuse_constant(name: str) -> NoReturn:
    raise RefusedValueError(f"JSON has no {name}. Write a number, or null where there is none")


def finite(digits: str) -> float:
    """Return the number that the digits of a JSON text spell; errors as for `decode_strictly`."""
    number = float(digits)
    if math.isinf(number):
        raise RefusedValueError(f"The number {digits[:40]} is too large")
    return number


def unique_keys(pairs: list[tuple[str, JsonData]]) -> dict[str, JsonData]:
    """Return the object that pairs make; errors as for `decode_strictly`."""
    made = dict(pairs)
    if len(made) != len(pairs):
        _refuse_twins(pairs)
    return made


def _refuse_twins(pairs: Iterable[tuple[str, JsonData]]) -> None:
    seen: dict[str, JsonData] = {}
    for key, value in pairs:
        if repr(seen.setdefault(key, value)) != repr(value):  # 1 is not true
            # Which of the two was meant cannot be known; parsers differ in which one they take.
            raise RefusedValueError(f"The key {quoted(key)} is given twice, with different values")


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys,
    parse_constant=_refuse_constant,
    parse_float=finite,
)


def _refuse_unusable(value: JsonData, text: str) -> None:
    # Both checks are skipped where the text shows that nothing can be wrong.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(value):
        raise RefusedValueError(TOO_DEEP)
    if ("\\u" in text or not text.isascii()) and _has_surrogate(value):
        raise RefusedValueError("A text holds half a character (a lone surrogate)")


def _is_too_deep(value: JsonData) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [part for node in level for part in _parts(node)]
        if not level:
            return False
    return any(isinstance(part, dict | list) for part in level)


def _parts(node: JsonData) -> Iterable[JsonData]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _has_surrogate(value: JsonData) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def quoted(text: str, limit: int = 60) -> str:
    """Return a text in double quotes, cut to about `limit` characters and fit to be written."""
    cut = text if len(text) <= limit else text[: limit - 3] + "..."
    return json.dumps(cut.encode("utf-8", "backslashreplace").decode(), ensure_ascii=False)


def _near(text: str, position: int) -> str:
    if not text.strip():
        return ""
    start = max(0, position - _PREVIEW_CHARS // 2)
    end = min(len(text), start + _PREVIEW_CHARS)
    cut = f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
    return f", near {quoted(cut, _PREVIEW_CHARS + 6)}"
