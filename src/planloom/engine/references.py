"""References of a step's input to the results of other steps, resolved to typed values.

In every string of an input, `$load` stands for the result of the step `load`; `$load.rows`,
`$load.columns[0]` and `$load["a key"]` for a part of it; `${load.rows}` says where it ends;
`$$` is a dollar sign, and so is a `$` that no name follows ("$5").
A string that is one reference passes the value itself, of whatever type.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time
from typing import cast

from planloom.engine.json_value import JsonValue
from planloom.errors import PlanError, ToolError

_STEP = r"[^\W\d]\w*"
_PART = r"""\.\w+|\[-?\d+\]|\["[^"\\\]]*"\]|\['[^'\\\]]*'\]"""
_TOKEN = re.compile(
    rf"\$\$|\$\{{(?P<step>{_STEP})(?P<path>(?:{_PART})*)\}}"
    rf"|\$(?P<bare_step>{_STEP})(?P<bare_path>(?:{_PART})*)"
)
_PARTS = re.compile(_PART)

Lookup = Callable[[str], object]
"""Gives the typed result of a step by its id; KeyError when there is none."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The result of a step, or a part of it."""

    step: str
    path: tuple[str | int, ...] = ()
    """Fields, keys and list positions, from the outside in."""

    def __str__(self) -> str:
        """Return it as it stands in an input: `$load.columns[0]`."""
        return f"${self.step}" + "".join(_written(part) for part in self.path)


def parse_template(text: str) -> tuple[str | Reference, ...]:
    """Split a string of an input into literal text and references.

    >>> parse_template("Total: $sum.value units for $$5")
    ('Total: ', Reference(step='sum', path=('value',)), ' units for $5')
    """
    parts: list[str | Reference] = []
    end = 0
    for match in _TOKEN.finditer(text):
        _append_text(parts, text[end : match.start()])
        end = match.end()
        step = match["step"] or match["bare_step"]
        if step is None:
            _append_text(parts, "$")
        else:
            parts.append(Reference(step, _path(match["path"] or match["bare_path"] or "")))
    _append_text(parts, text[end:])
    return tuple(parts)


def references_in(value: JsonValue) -> Iterator[Reference]:
    """Yield every reference of an input, in reading order."""
    if isinstance(value, str):
        if "$" in value:
            yield from (part for part in parse_template(value) if isinstance(part, Reference))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references_in(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from references_in(item)


def resolve(value: JsonValue, lookup: Lookup) -> object:
    """Return an input with every reference replaced by what it stands for.

    What comes out of a step is put in as it is: dollars in it mean nothing.

    Raises:
        PlanError: a reference names a step that has no result.
        ToolError: the result has no such part, or a table or picture stands inside of text.
    """
    if isinstance(value, str):
        return _resolve_text(value, lookup) if "$" in value else value
    if isinstance(value, Mapping):
        return {key: resolve(item, lookup) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [resolve(item, lookup) for item in value]
    return value


def select(reference: Reference, lookup: Lookup) -> object:
    """Return what one reference stands for; errors as for `resolve`."""
    try:
        value = lookup(reference.step)
    except KeyError as error:
        raise PlanError(
            f"'{reference}' refers to the step '{reference.step}', which has no result. "
            "Refer to a step that is in the plan and ran before this one."
        ) from error
    reached = Reference(reference.step)
    for part in reference.path:
        value = _part_of(value, part, reached)
        reached = Reference(reached.step, (*reached.path, part))
    return value


def escape_dollars(text: str) -> str:
    """Return text that stands for itself in an input."""
    return text.replace("$", "$$")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest of the known names, or "" when none is near.

    >>> did_you_mean("lod", ["load", "chart"])
    " Did you mean 'load'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""


def _append_text(parts: list[str | Reference], text: str) -> None:
    if not text:
        return
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    else:
        parts.append(text)


def _path(text: str) -> tuple[str | int, ...]:
    return tuple(_path_part(match[0]) for match in _PARTS.finditer(text))


def _path_part(text: str) -> str | int:
    if text.startswith("."):
        return text[1:]
    inner = text[1:-1]
    return inner[1:-1] if inner[0] in "\"'" else int(inner)


def _written(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if re.fullmatch(r"\w+", part):
        return f".{part}"
    return f"['{part}']" if '"' in part else f'["{part}"]'


def _resolve_text(text: str, lookup: Lookup) -> object:
    parts = parse_template(text)
    if len(parts) == 1 and isinstance(parts[0], Reference):
        return select(parts[0], lookup)
    return "".join(
        _in_text(select(part, lookup), part) if isinstance(part, Reference) else part
        for part in parts
    )


def _in_text(value: object, reference: Reference) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return _container_text(cast("object", value), reference)
    raise _not_text(value, reference)


def _container_text(value: object, reference: Reference) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError as error:
        raise _not_text(value, reference) from error


def _not_text(value: object, reference: Reference) -> ToolError:
    shown = ", ".join(_names(value)[:8])
    hint = f" Refer to one of its fields ({shown})" if shown else " Refer to a part of it"
    return ToolError(
        f"'{reference}' is {_kind(value)}, which cannot be written into text."
        f"{hint}, or pass '{reference}' alone as an argument."
    )


def _part_of(value: object, part: str | int, reached: Reference) -> object:
    if isinstance(value, Mapping):
        return _item(cast("Mapping[object, object]", value), part, reached)
    if isinstance(value, list | tuple):
        return _element(cast("Sequence[object]", value), part, reached)
    # Only declared fields and properties: a plan must not reach methods or private names.
    if part in _names(value):
        return getattr(value, str(part))
    raise _no_part(value, part, reached)


def _item(value: Mapping[object, object], part: str | int, reached: Reference) -> object:
    for key in (part, str(part)):
        if key in value:
            return value[key]
    raise _no_part(value, part, reached)


def _element(value: Sequence[object], part: str | int, reached: Reference) -> object:
    index = int(part) if isinstance(part, int) or part.isdecimal() else None
    if index is None:
        raise _no_part(value, part, reached)
    try:
        return value[index]
    except IndexError as error:
        raise ToolError(
            f"'{reached}' has {len(value)} items; there is no item {part}. "
            f"Use a position from 0 to {len(value) - 1}."
            if value
            else f"'{reached}' is an empty list; there is no item {part}."
        ) from error


def _no_part(value: object, part: str | int, reached: Reference) -> ToolError:
    names = _names(value)
    has = f"It has: {', '.join(names[:20])}." if names else "It has no parts."
    return ToolError(
        f"'{reached}' is {_kind(value)}; it has no '{part}'. {has}{did_you_mean(str(part), names)}"
    )


def _names(value: object) -> list[str]:
    """Return the names of the parts that a reference may reach."""
    if isinstance(value, Mapping):
        return [str(key) for key in cast("Mapping[object, object]", value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in fields(value)] + properties_of(type(value))
    return []


def properties_of(kind: type) -> list[str]:
    """Return the names of the public properties of a class."""
    names = (name for base in kind.__mro__ for name, item in vars(base).items()
             if isinstance(item, property) and not name.startswith("_"))  # fmt: skip
    return list(dict.fromkeys(names))


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


_KINDS: dict[type[object], str] = {
    str: "text", bool: "a yes/no value", int: "a number", float: "a number",
    list: "a list", tuple: "a list", dict: "an object",
}  # fmt: skip
