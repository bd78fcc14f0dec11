"""Keeps arguments that are secrets out of what people and logs get to see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from planloom.engine.json_value import JsonValue
from planloom.engine.references import Reference, parse_template

MASK = "***"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRETS = frozenset({
    "key", "apikey", "token", "password", "passwd", "pwd", "passphrase", "secret", "secrets",
    "authorization", "credential", "credentials",
})  # fmt: skip
_DATA_KEYS = frozenset({"primary", "foreign", "sort", "join", "group", "partition", "public"})
_CHINESE = ("密码", "密钥", "口令", "令牌")


def masked(value: JsonValue) -> JsonValue:
    """Return a JSON value with "***" for what stands under a name that speaks of a secret.

    Used for events, requests for approval and the plan files. The tool gets the real value, and
    so does task.json: a run that waits for a person is resumed from it. It cannot know a secret by
    its looks: one in a text, a list, an address, a result or an error, or under a name such as
    "x", stays readable. A reference (`$login.token`) is no secret and stays.

    >>> masked({"api_key": "sk-1", "user": "me", "headers": {"Authorization": "Bearer x"}})
    {'api_key': '***', 'user': 'me', 'headers': {'Authorization': '***'}}
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {
            key: MASK if is_secret_name(key) and _says_something(item) else masked(item)
            for key, item in value.items()
        }
    if isinstance(value, Sequence):
        return [masked(item) for item in value]
    return value


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Return whether a parameter's name says that its value is a secret.

    >>> [is_secret_name(name) for name in ("apiKey", "auth_token", "max_tokens", "sort_key")]
    [True, True, False, False]
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if any(word in name for word in _CHINESE):
        return True
    if words[-1:] == ["key"] and words[-2:-1] and words[-2] in _DATA_KEYS:
        return False
    return any(word in _SECRETS for word in words)


def _says_something(value: JsonValue) -> bool:
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return False
    parts = parse_template(value) if isinstance(value, str) else ()
    return not (len(parts) == 1 and isinstance(parts[0], Reference))
