"""Settings: option, environment, planloom.toml, default, in this order; each knows its origin."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from planloom.errors import ConfigError

Origin = Literal["option", "environment", "planloom.toml", "default"]
SettingValue = str | int | float | None

CONFIG_FILE = "planloom.toml"
_SECRET_WORDS = ("key", "password", "token", "secret")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting and where its value came from."""

    name: str
    """Lower case, as in planloom.toml; the environment variable is PLANLOOM_ + upper case."""
    value: SettingValue
    origin: Origin
    source: str = ""
    """The environment variable or file that gave it; "" for options and defaults."""

    @property
    def shown(self) -> str:
        """The value for people and logs; secrets never appear."""
        if self.value is None:
            return "(not set)"
        if any(word in self.name for word in _SECRET_WORDS):
            return "(set, hidden)"
        # A password may stand in an address: https://user:password@host
        return re.sub(r"(?<=://)[^/@\s]+@", "***@", str(self.value))


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    default: SettingValue
    kind: type[str] | type[int] | type[float]
    fallback_variable: str = ""
    """A variable of other tools that is read when ours is not set."""
    minimum: float | None = None


_DEFINITIONS = (
    _Definition("home", ".planloom", str),
    _Definition("model", None, str),
    _Definition("base_url", None, str, fallback_variable="OPENAI_BASE_URL"),
    _Definition("api_key", None, str, fallback_variable="OPENAI_API_KEY"),
    _Definition("price_input", None, float, minimum=0),
    _Definition("price_output", None, float, minimum=0),
    _Definition("max_iterations", 10, int, minimum=1),
    _Definition("llm_timeout_s", 120.0, float, minimum=0),
    _Definition("tool_timeout_s", 30.0, float, minimum=0),
    _Definition("max_output_chars", 10_000, int, minimum=1),
    _Definition("rate_limit_retry_max", 5, int, minimum=0),
    _Definition("rate_limit_retry_base_delay_s", 10.0, float, minimum=0),
    _Definition("batch_question_delay_s", 0.0, float, minimum=0),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a process, resolved once."""

    values: Mapping[str, Setting]

    def __getitem__(self, name: str) -> SettingValue:
        return self.values[name].value

    @property
    def home(self) -> Path:
        """The folder that keeps runs, memory and the database."""
        return Path(str(self["home"])).expanduser()


def load_settings(
    *,
    environment: Mapping[str, str],
    folder: Path,
    options: Mapping[str, SettingValue] | None = None,
) -> Settings:
    """Resolve every setting for a process started in `folder`.

    Raises:
        ConfigError: planloom.toml cannot be read or holds an unknown name, or a value is not of
            its kind.
    """
    file_values = _read_config_file(folder / CONFIG_FILE)
    return Settings(
        {
            definition.name: _resolve(definition, options or {}, environment, file_values, folder)
            for definition in _DEFINITIONS
        }
    )


def _resolve(
    definition: _Definition,
    options: Mapping[str, SettingValue],
    environment: Mapping[str, str],
    file_values: Mapping[str, object],
    folder: Path,
) -> Setting:
    name = definition.name
    if options.get(name) is not None:
        return Setting(name, _convert(definition, options[name], "option"), "option")
    for variable in ("PLANLOOM_" + name.upper(), definition.fallback_variable):
        if variable and environment.get(variable):
            value = _convert(definition, environment[variable], variable)
            return Setting(name, value, "environment", variable)
    if name in file_values:
        source = str(folder / CONFIG_FILE)
        return Setting(name, _convert(definition, file_values[name], source), CONFIG_FILE, source)
    return Setting(name, definition.default, "default")


def _convert(definition: _Definition, value: object, source: str) -> SettingValue:
    try:
        converted = definition.kind(str(value))
    except ValueError as error:
        wanted = {int: "a whole number", float: "a number", str: "text"}[definition.kind]
        raise ConfigError(
            f"Setting {definition.name} from {source} is {value!r}; it must be {wanted}."
        ) from error
    if definition.minimum is not None and float(converted) < definition.minimum:
        raise ConfigError(
            f"Setting {definition.name} from {source} is {value!r}; "
            f"it must be at least {definition.minimum:g}."
        )
    return converted


def _read_config_file(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Mend or remove it.") from error
    known = {definition.name for definition in _DEFINITIONS}
    for name in values:
        if name not in known:
            raise ConfigError(
                f"{path} sets '{name}', which is no setting. Known: {', '.join(sorted(known))}."
            )
    return values
