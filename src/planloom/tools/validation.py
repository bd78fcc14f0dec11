"""JSON Schema (draft 2020-12) checks whose findings say what is wrong and how to mend it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import TypeAlias, cast

import jsonschema_rs
from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

from planloom.errors import ConfigError
from planloom.tools.codec import JsonValue, shown

MAX_PROBLEMS = 20
"""More findings than this help nobody; the rest is counted."""
_SHOWN_CHOICES = 12
_WORDS = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}

_EXPECTATIONS = {
    "const": "must be {}",
    "exclusiveMaximum": "must be below {}",
    "exclusiveMinimum": "must be above {}",
    "falseSchema": "is not allowed here",
    "format": "must be a valid {}",
    "maxItems": "must have {} or fewer items",
    "maxLength": "must have {} or fewer characters",
    "maxProperties": "must have {} or fewer keys",
    "maximum": "must be {} or less",
    "minItems": "must have {} or more items",
    "minLength": "must have {} or more characters",
    "minProperties": "must have {} or more keys",
    "minimum": "must be {} or more",
    "multipleOf": "must be a multiple of {}",
    "pattern": "must match the pattern {}",
    "uniqueItems": "must not hold an item twice",
}
AnySchema: TypeAlias = Mapping[str, JsonValue] | bool


def problems(schema: AnySchema, data: object, *, naive_times: bool = False) -> tuple[str, ...]:
    """Return what is wrong with `data`, one sentence each; empty when it is valid.

    Formats are checked: `date-time` is RFC 3339, with `naive_times` any ISO 8601 date and time.
    Other documents are not fetched; the metaschemas of JSON Schema are known.

    >>> problems({"properties": {"n": {"type": "integer"}}}, {"n": "3"})
    ('\\'n\\' must be an integer, got "3" (a text).',)

    Raises:
        ConfigError: the schema itself is not valid.
    """
    validator = _compiled(json.dumps(schema, ensure_ascii=False), naive_times=naive_times)
    known = _KnownNames(schema)
    try:
        found = [text for error in validator.iter_errors(data) for text in _texts(error, known)]
    except (ValueError, TypeError) as error:  # a lone surrogate, or an object that is not JSON
        return (f"The arguments are not JSON: {error}.",)
    unique = tuple(dict.fromkeys(found))
    if len(unique) <= MAX_PROBLEMS:
        return unique
    return (*unique[:MAX_PROBLEMS], f"And {len(unique) - MAX_PROBLEMS} more.")


@lru_cache(maxsize=256)
def _compiled(schema: str, *, naive_times: bool) -> jsonschema_rs.Validator:
    formats = {"date-time": _is_iso_time} if naive_times else None
    try:
        return jsonschema_rs.validator_for(
            schema, formats=formats, validate_formats=True, offline=True
        )
    except ValueError as error:
        raise ConfigError(f"The JSON Schema is not valid: {shown(str(error), 400)}") from error


class _KnownNames:
    """The property names of a schema, for "did you mean"."""

    def __init__(self, schema: AnySchema):
        self._schema = schema

    def beside(self, error: ValidationError) -> list[str]:
        """Return the names that may stand where an unknown one was found."""
        top = self._schema.get("properties") if isinstance(self._schema, Mapping) else None
        if not error.instance_path and isinstance(top, dict):
            return list(top)
        return list(dict.fromkeys(_property_names(self._schema)))


def _property_names(schema: object) -> Iterator[str]:
    """Yield the names that a schema gives to properties, at any depth."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, object]", schema)
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            yield from cast("Mapping[str, object]", properties)
        for part in node.values():
            yield from _property_names(part)
    elif isinstance(schema, list):
        for part in cast("list[object]", schema):
            yield from _property_names(part)


def _is_iso_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _texts(error: ValidationError, known: _KnownNames) -> Iterator[str]:
    """Say one finding in words; an object with several unknown keys gives several."""
    match error.kind:
        case Kind.AdditionalProperties(unexpected=names):
            yield from (_unknown_key(error, name, known) for name in names)
        case Kind.UnevaluatedProperties(unexpected=names):
            yield from (_unknown_key(error, name, known) for name in names)
        case Kind.AnyOf(context=branches):
            yield from _alternatives(error, branches, known)
        case Kind.OneOfNotValid(context=branches):
            yield from _alternatives(error, branches, known)
        case Kind.Required(property=name):
            yield f"{_place([*error.instance_path, name])} is missing."
        case Kind.Enum(options=options):
            yield _wrong_choice(error, options)
        case _:
            yield f"{_place(error.instance_path)} {_expectation(error)}, {_got(error)}."


def _expectation(error: ValidationError) -> str:
    if isinstance(error.kind, Kind.Type):
        return f"must be {_one_of(error.kind.types)}"
    template = _EXPECTATIONS.get(error.kind.name)
    if template is None:
        return f"does not fit ({shown(error.message, 200)})"
    return template.format(shown(error.kind.value))


def _alternatives(
    error: ValidationError, branches: Iterable[list[ValidationError]], known: _KnownNames
) -> Iterator[str]:
    """Say what a value that fits no alternative should have been.

    Alternatives of another type say nothing of interest: for `"3"` against "an integer of 3 or
    more, or null" the type matters, for `2` only the minimum.
    """
    wrong_types: list[str] = []
    near: list[list[ValidationError]] = []
    for branch in branches:
        types = [name for found in branch for name in _types_wanted(found, error)]
        wrong_types += types
        if not types:
            near.append(branch)
    if not near:
        yield f"{_place(error.instance_path)} must be {_one_of(wrong_types)}, {_got(error)}."
    elif len(near) == 1:
        for found in near[0]:
            yield from _texts(found, known)
    else:
        forms = " Or: ".join(
            " ".join(t for f in branch for t in _texts(f, known)) for branch in near
        )
        yield f"{_place(error.instance_path)} fits none of its forms. {forms}"


def _types_wanted(found: ValidationError, parent: ValidationError) -> list[str]:
    if found.instance_path != parent.instance_path:
        return []
    return found.kind.types if isinstance(found.kind, Kind.Type) else []


def _unknown_key(error: ValidationError, name: str, known: _KnownNames) -> str:
    place = _place([*error.instance_path, name])
    names = known.beside(error)
    near = get_close_matches(name.lower(), names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    listed = f" Known: {', '.join(names[:_SHOWN_CHOICES])}." if names and not near else ""
    return f"{place} is not known.{hint}{listed}"


def _wrong_choice(error: ValidationError, options: Sequence[object]) -> str:
    choices = ", ".join(shown(option) for option in options[:_SHOWN_CHOICES])
    more = f" and {len(options) - _SHOWN_CHOICES} more" if len(options) > _SHOWN_CHOICES else ""
    near = get_close_matches(str(error.instance), [str(option) for option in options], n=1)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    place = _place(error.instance_path)
    return f"{place} must be one of {choices}{more}, {_got(error)}.{hint}"


def _place(path: Iterable[str | int]) -> str:
    """Return a path as a quoted name: `'items[0].price'`; the whole data is "The value"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"'{text.removeprefix('.')}'" if text else "The value"


def _got(error: ValidationError) -> str:
    value = error.instance
    return f"got {shown(value)} ({_kind_of(value)})"


def _kind_of(value: object) -> str:
    names = (
        (bool, "boolean"),
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (list, "array"),
    )
    if value is None:
        return "null"
    return next((_WORDS[name] for cls, name in names if isinstance(value, cls)), "an object")


def _one_of(types: Iterable[str]) -> str:
    words = [_WORDS.get(name, name) for name in dict.fromkeys(types)]
    return " or ".join(words)
