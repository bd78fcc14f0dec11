"""The options of a command that name a model and bound what it may spend."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planloom.apps.language import language_of
from planloom.apps.terminal import printable
from planloom.config import Settings, SettingValue, load_settings
from planloom.notes import Note


@dataclass(frozen=True)
class ModelOptions:
    """As given on the command line; None where an option was left out."""

    model: str | None = None
    base_url: str | None = None
    max_cost: float | None = None
    """US dollars."""
    max_tokens: int | None = None
    max_calls: int | None = None
    max_time: str | None = None
    """Such as "90s"."""

    def settings(self, **more: SettingValue) -> Settings:
        """Return the settings of this process, with the options on top.

        Variables of the environment that only look like settings are named on stderr.

        Raises:
            ConfigError: an option, a variable or planloom.toml says what cannot be used.
        """
        options: Mapping[str, SettingValue] = {
            "model": self.model, "base_url": self.base_url, "max_cost": self.max_cost,
            "max_tokens": self.max_tokens, "max_calls": self.max_calls, "max_time": self.max_time,
            **more,
        }  # fmt: skip
        found = load_settings(environment=os.environ, folder=Path.cwd(), options=options)
        if names := ", ".join(found.unknown_variables):
            note = _UNKNOWN.with_args({"names": names})
            print(printable(note.text(language_of(os.environ))), file=sys.stderr)
        return found


_UNKNOWN = Note(
    "The environment sets {names}: no setting has that name; it is not used.",
    "环境变量 {names} 不是有效的设置项，已忽略。",
)
