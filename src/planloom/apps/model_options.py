"""The options of a command that name a model and bound what it may spend."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planloom.apps.durations import seconds_of
from planloom.budget import Limits
from planloom.config import Settings, SettingValue, load_settings
from planloom.errors import ConfigError


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
        """Return the settings of this process, with the options on top."""
        options: Mapping[str, SettingValue] = {
            "model": self.model, "base_url": self.base_url, **more,
        }  # fmt: skip
        return load_settings(environment=os.environ, folder=Path.cwd(), options=options)

    def limits(self) -> Limits:
        """Return what the run may spend.

        Raises:
            ConfigError: a limit is no amount.
        """
        for option, value in (
            ("--max-cost", self.max_cost),
            ("--max-tokens", self.max_tokens),
            ("--max-calls", self.max_calls),
        ):
            if value is not None and not value > 0:  # NaN, too
                raise ConfigError(
                    f"{option} {value:g}: the limit must be above 0.",
                    zh=f"{option} {value:g}：上限必须大于 0。",
                )
        return Limits(
            max_cost=self.max_cost,
            max_tokens=self.max_tokens,
            max_calls=self.max_calls,
            max_seconds=seconds_of(self.max_time, "--max-time"),
        )
