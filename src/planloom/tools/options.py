"""The options of a tool, and the refusal of those that are misspelled or of another type."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Literal, Protocol, cast, get_args

from planloom.errors import ConfigError

Effect = Literal["pure", "read", "write", "send", "exec"]
"""What a call does to the world: nothing, reads it, changes files, sends to others, runs code."""
Approval = Literal["policy", "always", "never"]
"""Whether a user is asked first: as the policy for the effect says, always, or never."""
Isolation = Literal["auto", "async", "thread", "process"]
"""Where a call runs; "auto" puts coroutine functions on the event loop, others in a thread."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_CHOICES = {"effect": Effect, "approval": Approval, "isolation": Isolation}
_NUMBERS = ("timeout_s", "cache_s")


class Options(Protocol):
    """A tool, as far as its options are checked; a caller without types may give anything."""

    @property
    def name(self) -> str:
        """Name of the tool."""
        ...


def check_options(tool: Options) -> None:
    """Check that each option is one that there is: a slip must not make a tool less safe.

    Raises:
        ConfigError: names the tool, the option and what it may be.
    """
    _check_name(tool.name)
    given: dict[str, object] = {name: getattr(tool, name) for name in _CHECKED}
    where = f"Tool '{tool.name}'"
    for name, choices in _CHOICES.items():
        check_choice(given[name], get_args(choices), f"{where}: {name}")
    for name in _NUMBERS:
        value = given[name]
        _check(value, "a number of seconds", f"{where}: {name}", fits=_is_number(value))
    retries, idempotent = given["retries"], given["idempotent"]
    _check(retries, "a whole number", f"{where}: retries", fits=_is_whole(retries))
    is_bool = isinstance(idempotent, bool)
    _check(idempotent, "True or False", f"{where}: idempotent", fits=is_bool)
    _check_texts(where, given)


def check_choice(value: object, choices: Collection[str], what: str) -> None:
    """Check that a value is one of the choices; `what` names it in the message.

    Raises:
        ConfigError: it is none of them; says which one may be meant.
    """
    if isinstance(value, str) and value in choices:
        return
    near = get_close_matches(str(value).lower(), choices, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise ConfigError(f"{what} is {value!r}; it has to be one of {', '.join(choices)}.{hint}")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a tool: letters, digits and underscores only, "
            "at most 64, no digit first. Choose one with @tool(name=...)."
        )


def _check_texts(where: str, given: dict[str, object]) -> None:
    compensation, toolset, keywords = given["compensation"], given["toolset"], given["keywords"]
    is_tool = compensation is None or isinstance(compensation, str)
    _check(compensation, "the name of a tool, or None", f"{where}: compensation", fits=is_tool)
    _check(toolset, "a text", f"{where}: toolset", fits=isinstance(toolset, str))
    words = 'a tuple of texts, such as ("save", "export")'
    _check(keywords, words, f"{where}: keywords", fits=_are_texts(keywords))


def _are_texts(value: object) -> bool:
    # A single text would count as a tuple of its letters.
    if not isinstance(value, tuple | list):
        return False
    return all(isinstance(word, str) for word in cast("Collection[object]", value))


def _check(value: object, wanted: str, what: str, *, fits: bool) -> None:
    if not fits:
        raise ConfigError(f"{what} is {value!r}; it has to be {wanted}.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKED = (*_CHOICES, *_NUMBERS, "retries", "idempotent", "compensation", "toolset", "keywords")
