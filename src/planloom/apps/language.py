"""The language of messages on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from planloom.notes import Lang


def language_of(environment: Mapping[str, str]) -> Lang:
    """Return the language that the locale variables ask for; English unless Chinese.

    >>> language_of({"LANG": "zh_CN.UTF-8"})
    'zh'
    """
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
