"""Whether what one tool gives can be what another takes, judged by their annotations alone.

Where types say too little, the answer is yes: a check before the run must not refuse what works.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from planloom.engine.references import properties_of
from planloom.tools.signature import reference_kind, union_members

UNKNOWN = object
"""The type of what may be anything."""

_LISTS = (Sequence, set, frozenset)


class NoPartError(Exception):
    """A type has no part of that name."""

    def __init__(self, parts: Collection[str]):
        super().__init__("no such part")
        self.parts = tuple(parts)
        """The parts that it has."""


def part_type(annotation: object, part: str | int) -> object:
    """Return the type of a field, key or item of a type.

    Raises:
        NoPartError: no value of the type has such a part.
    """
    members = [m for m in union_members(annotation) if m is not type(None) and m is not None]
    found: list[object] = []
    missing: list[str] = []
    for member in members:
        try:
            found.append(_member_part(member, part))
        except NoPartError as error:
            missing += error.parts
    if not found:
        raise NoPartError(missing)
    return found[0] if len(found) == 1 else UNKNOWN


def fits(given: object, wanted: object) -> bool:
    """Return whether some value of the type `given` could pass for `wanted`."""
    return any(_member_fits(g, w) for g in _alternatives(given) for w in _alternatives(wanted))


def fits_into_text(given: object) -> bool:
    """Return whether some value of a type can be written into text."""
    return any(
        not (isinstance(bare, type) and is_dataclass(bare))
        for bare in (get_origin(member) or member for member in union_members(given))
    )


def item_type(annotation: object) -> object:
    """Return the type of the items of a list type; unknown for anything else."""
    for member in union_members(annotation):
        arguments = get_args(member)
        if _is_list(get_origin(member) or member) and arguments:
            return arguments[0]
    return UNKNOWN


def _alternatives(annotation: object) -> list[object]:
    """Return the alternatives of a type; those that are references keep their mark."""
    if get_origin(annotation) is Annotated and reference_kind(annotation):
        return [annotation]
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (typing.Union, types.UnionType):
        return [member for part in get_args(annotation) for member in _alternatives(part)]
    return [annotation]


def _member_fits(given: object, wanted: object) -> bool:
    bare_given, bare_wanted = _bare(given), _bare(wanted)
    if UNKNOWN in (bare_given, bare_wanted):
        return True
    if _is_list(bare_given) and _is_list(bare_wanted):
        return fits(item_type(given), item_type(wanted))
    given_kind, wanted_kind = _kind(bare_given), _kind(bare_wanted)
    if given_kind == wanted_kind == "object":
        return _same_class(bare_given, bare_wanted)
    return "unknown" in (given_kind, wanted_kind) or given_kind == wanted_kind


def _same_class(given: object, wanted: object) -> bool:
    """Whether two dataclasses are of one line; mappings may be either."""
    if not (_is_dataclass(given) and _is_dataclass(wanted)):
        return True
    return issubclass(cast("type", given), cast("type", wanted))


def _kind(bare: object) -> str:
    """Return what a value of a type is in JSON, as far as it can be said."""
    if bare is None or bare is type(None):
        return "nothing"
    cls = _class(bare)
    if cls is None or issubclass(cls, Enum):
        return "unknown"
    for base, kind in ((bool, "yes/no"), (str, "text"), (int, "number"), (float, "number")):
        if issubclass(cls, base):
            return kind
    if _is_list(cls):
        return "list"
    return "object" if issubclass(cls, Mapping) or is_dataclass(cls) else "unknown"


def _class(bare: object) -> type[object] | None:
    return cast("type[object]", bare) if isinstance(bare, type) else None


def _bare(annotation: object) -> object:
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if annotation is Any or isinstance(annotation, typing.TypeVar):
        return UNKNOWN
    if get_origin(annotation) is Literal:
        return cast("object", type(get_args(annotation)[0]))
    return get_origin(annotation) or annotation


def _is_list(bare: object) -> bool:
    cls = _class(bare)
    return cls is not None and issubclass(cls, _LISTS) and not issubclass(cls, str | bytes)


def _is_dataclass(bare: object) -> bool:
    return isinstance(bare, type) and is_dataclass(bare)


def _member_part(member: object, part: str | int) -> object:
    bare = _bare(member)
    if _kind(bare) in {"yes/no", "text", "number"}:
        raise NoPartError(())
    if _is_list(bare):
        if isinstance(part, str) and not part.isdecimal():
            raise NoPartError(())
        return item_type(member)
    if _is_dataclass(bare):
        known = _fields(cast("type[object]", bare))
        if part not in known:
            raise NoPartError(known)
        return known[str(part)]
    arguments = get_args(member)
    return arguments[1] if bare is dict and len(arguments) == 2 else UNKNOWN


@lru_cache(maxsize=256)
def _fields(cls: type[object]) -> dict[str, object]:
    """Return the types of a dataclass's fields and properties by name."""
    try:
        hints: dict[str, object] = dict(typing.get_type_hints(cls, include_extras=True))
    except (NameError, AttributeError):
        # Types that only exist for the type checker: the names are still known.
        hints = dict.fromkeys(inspect.get_annotations(cls), UNKNOWN)
    return dict.fromkeys(properties_of(cls), UNKNOWN) | hints
