"""Settings: option, environment, planloom.toml, default, in this order; each knows its origin."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Literal

from planloom.durations import seconds_of
from planloom.errors import ConfigError

Origin = Literal["option", "environment", "planloom.toml", "default"]
SettingValue = str | int | float | None

CONFIG_FILE = "planloom.toml"
_PREFIX = "PLANLOOM_"
_OF_TESTS = frozenset({"PLANLOOM_CASES"})
"""Variables that only the tests read."""
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
        # A number is a limit, such as tokens_per_minute.
        if isinstance(self.value, str) and any(word in self.name for word in _SECRET_WORDS):
            return "(set, hidden)"
        # A password may stand in an address, https://user:password@host, or a key behind it.
        shown = re.sub(r"(?<=://)[^/@\s]+@", "***@", str(self.value))
        return re.sub(r"([?&][\w-]*(?:key|token|secret|password|sig)=)[^&\s]+", r"\1***", shown)


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    default: SettingValue
    kind: type[str] | type[int] | type[float]
    fallback_variable: str = ""
    """A variable of other tools that is read when ours is not set."""
    minimum: float | None = None
    above: float | None = None
    """What a number must be greater than."""
    choices: tuple[str, ...] = ()
    """All that a text may be; any where empty."""
    is_duration: bool = False
    """Whether people write it as 90s or 5m; its value is in seconds."""


_SAID_OR_GUESSED = ("auto", "yes", "no")

_DEFINITIONS = (
    _Definition("home", ".planloom", str),
    _Definition("model", None, str),
    _Definition("base_url", None, str, fallback_variable="OPENAI_BASE_URL"),
    _Definition("api_key", None, str, fallback_variable="OPENAI_API_KEY"),
    _Definition("max_iterations", 10, int, minimum=1),
    _Definition("llm_timeout_s", 120.0, float, minimum=0.1),
    _Definition("tool_timeout_s", 30.0, float, minimum=0),
    _Definition("max_output_chars", 10_000, int, minimum=1),
    _Definition("rate_limit_retry_max", 5, int, minimum=0),
    _Definition("rate_limit_retry_base_delay_s", 10.0, float, minimum=0),
    _Definition("rate_limit_retry_max_wait_s", 120.0, float, minimum=0),
    _Definition("requests_per_minute", None, int, minimum=1),
    _Definition("tokens_per_minute", None, int, minimum=1),
    _Definition("context_tokens", None, int, minimum=256),
    _Definition("max_reply_tokens", None, int, minimum=1),
    _Definition("model_is_small", "auto", str, choices=_SAID_OR_GUESSED),
    _Definition("model_tools", "auto", str, choices=_SAID_OR_GUESSED),
    _Definition("model_json_schema", "auto", str, choices=_SAID_OR_GUESSED),
    _Definition("model_images", "auto", str, choices=_SAID_OR_GUESSED),
    _Definition("model_audio", "auto", str, choices=_SAID_OR_GUESSED),
    _Definition("price_input", None, float, minimum=0),
    _Definition("price_output", None, float, minimum=0),
    _Definition("max_cost", None, float, above=0),
    _Definition("max_tokens", None, int, above=0),
    _Definition("max_calls", None, int, above=0),
    _Definition("max_time", None, float, is_duration=True),
    _Definition("batch_question_delay_s", 0.0, float, minimum=0),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a process, resolved once."""

    values: Mapping[str, Setting]
    unknown_variables: tuple[str, ...] = ()
    """Names of the environment that begin as ours do, and are no settings: they are not used."""

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
        ConfigError: planloom.toml cannot be read or holds an unknown name, a variable of the
            environment is a misspelt one, or a value is not of its kind.
    """
    file_values = _read_config_file(folder / CONFIG_FILE)
    unknown = _unknown_variables(environment)
    values = {
        definition.name: _resolve(definition, options or {}, environment, file_values, folder)
        for definition in _DEFINITIONS
    }
    return Settings(values, unknown)


def _unknown_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables that look like settings and are none.

    One that is nearly a setting is refused: a limit that is misspelt must not be no limit. Others
    may be those of a container or of a script, and are only named.
    """
    known = [_PREFIX + definition.name.upper() for definition in _DEFINITIONS]
    unknown = [
        name
        for name, value in environment.items()
        if value and name.startswith(_PREFIX) and name not in (*known, *_OF_TESTS)
    ]
    for name in unknown:
        if near := get_close_matches(name.removeprefix(_PREFIX), _bare(known), n=1, cutoff=0.7):
            raise ConfigError(
                f"The environment sets {name}, which is no setting. "
                f"Did you mean {_PREFIX}{near[0]}?",
                zh=f"环境变量 {name} 不是有效的设置项。是否指 {_PREFIX}{near[0]}？",
            )
    return tuple(sorted(unknown))


def _bare(names: list[str]) -> list[str]:
    return [name.removeprefix(_PREFIX) for name in names]


def _resolve(
    definition: _Definition,
    options: Mapping[str, SettingValue],
    environment: Mapping[str, str],
    file_values: Mapping[str, object],
    folder: Path,
) -> Setting:
    name = definition.name
    if options.get(name) is not None:
        return Setting(name, _convert(definition, options[name], ""), "option")
    for variable in (_PREFIX + name.upper(), definition.fallback_variable):
        if variable and environment.get(variable):
            value = _convert(definition, environment[variable], variable)
            return Setting(name, value, "environment", variable)
    if name in file_values:
        source = str(folder / CONFIG_FILE)
        return Setting(name, _convert(definition, file_values[name], source), CONFIG_FILE, source)
    return Setting(name, definition.default, "default")


_WANTED = {
    int: ("a whole number", "整数"),
    float: ("a number", "数字"),
    str: ("text", "文字"),
}
_DURATION = (
    "a time such as 90 (seconds), 90s, 5m or 1h30m",
    " 90（秒）、90s、5m 或 1h30m 这样的时间",
)


def _convert(definition: _Definition, value: object, source: str) -> SettingValue:
    """Return a value of the right kind; `source` is "" for an option."""
    try:
        converted = (
            seconds_of(str(value)) if definition.is_duration else definition.kind(str(value))
        )
    except ValueError as error:
        wanted = _DURATION if definition.is_duration else _WANTED[definition.kind]
        raise _wrong(definition, value, source, *wanted) from error
    if isinstance(converted, str):
        return _chosen(definition, converted, source)
    if not isfinite(converted):
        raise _wrong(definition, value, source, *_WANTED[definition.kind])
    if definition.minimum is not None and converted < definition.minimum:
        least = f"{definition.minimum:g}"
        raise _wrong(definition, value, source, f"at least {least}", f"不小于 {least} 的数")
    if definition.above is not None and converted <= definition.above:
        bound = f"{definition.above:g}"
        raise _wrong(definition, value, source, f"above {bound}", f"大于 {bound} 的数")
    return converted


def _chosen(definition: _Definition, value: str, source: str) -> str:
    choices = definition.choices
    if not choices:
        return value
    if value.strip().lower() not in choices:
        raise _wrong(
            definition,
            value,
            source,
            f"{', '.join(choices[:-1])} or {choices[-1]}",
            f"{'、'.join(choices[:-1])} 或 {choices[-1]}",
        )
    return value.strip().lower()


def _wrong(
    definition: _Definition, value: object, source: str, wanted: str, wanted_zh: str
) -> ConfigError:
    if not source:
        option = "--" + definition.name.replace("_", "-")
        return ConfigError(
            f"{option} is {value!r}; it must be {wanted}.",
            zh=f"{option} 的值是 {value!r}，应为{wanted_zh}。",
        )
    return ConfigError(
        f"Setting {definition.name} from {source} is {value!r}; it must be {wanted}.",
        zh=f"设置项 {definition.name}（来自 {source}）的值是 {value!r}，应为{wanted_zh}。",
    )


def _read_config_file(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}. Mend or remove it.",
            zh=f"无法读取 {path}：{error}。请修正或删除它。",
        ) from error
    known = {definition.name for definition in _DEFINITIONS}
    for name in values:
        if name not in known:
            names = ", ".join(sorted(known))
            raise ConfigError(
                f"{path} sets '{name}', which is no setting. Known: {names}.",
                zh=f"{path} 中的“{name}”不是有效的设置项。可用的有：{names}。",
            )
    return values
