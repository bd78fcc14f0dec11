"""From settings to a model that can be talked to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from planloom.config import Settings
from planloom.errors import ConfigError
from planloom.models.chat_model import ChatModel, ModelTraits
from planloom.models.fallback import FallbackModel
from planloom.models.openai_compatible import OpenAICompatibleModel
from planloom.models.own_model import OwnModel
from planloom.models.rate_limit import RateLimitedModel, shared_limiter
from planloom.models.retry import Announce, RetryingModel
from planloom.models.traits import guess_traits, max_tokens_field

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_SCRIPTED = "scripted:"
_PYDANTIC_AI = "pydantic-ai:"


def connect(settings: Settings, *, announce: Announce) -> ChatModel:
    """Return the model that the settings name; nothing is sent yet.

    `model` is a name, or several with commas between them: each takes over when those before it
    fail. "pydantic-ai:PROVIDER:NAME" goes through the package pydantic-ai, "scripted:FILE" plays a
    script. `announce` is told of every wait and every change of model.

    Raises:
        ConfigError: no model is named, or the settings do not fit each other.
    """
    names = [name for part in str(settings["model"] or "").split(",") if (name := part.strip())]
    if not names:
        raise ConfigError(
            "No language model is named. Set PLANLOOM_MODEL, or use --model.",
            zh="没有指定语言模型。请设置 PLANLOOM_MODEL，或使用 --model。",
        )
    models = [_connect_one(name, settings, announce) for name in names]
    return models[0] if len(models) == 1 else FallbackModel(models, announce=announce)


def connect_own(model: ChatModel, settings: Settings, *, announce: Announce) -> ChatModel:
    """Return a model that the caller made, with the retries and limits of one that is named.

    Models that retry by themselves, chains and scripts are not asked again. What else its code
    raises becomes a `ModelError` (see `OwnModel`).
    """
    own = OwnModel(model)
    if isinstance(model, RetryingModel | FallbackModel) or is_script(model):
        return own
    return _wrap(own, own.base_url or model.name, settings, announce)


def is_script(model: ChatModel) -> bool:
    """Tell whether replies come from a script, which costs nothing and gains by no retry."""
    from planloom.models.scripted import ScriptedModel

    return isinstance(model, ScriptedModel)


def _connect_one(name: str, settings: Settings, announce: Announce) -> ChatModel:
    if name.startswith(_SCRIPTED):
        from planloom.models.scripted import ScriptedModel

        path = Path(name.removeprefix(_SCRIPTED))
        return ScriptedModel.from_file(path, traits=_with_settings(ModelTraits(), settings))
    base_url = str(settings["base_url"] or DEFAULT_BASE_URL)
    if name.startswith(_PYDANTIC_AI):
        from planloom.models.pydantic_ai_models import PydanticAIModel

        provider = PydanticAIModel(name.removeprefix(_PYDANTIC_AI))
        address = name.partition(":")[0]
        return _wrap(provider, address, settings, announce)
    model = OpenAICompatibleModel(
        name,
        base_url,
        _api_key(settings, base_url),
        traits=_with_settings(guess_traits(name, base_url), settings),
        timeout_s=_number(settings, "llm_timeout_s", 120.0),
        max_reply_tokens=_whole(settings, "max_reply_tokens"),
        max_tokens_field=max_tokens_field(base_url),
    )
    return _wrap(model, base_url, settings, announce)


def _wrap(model: ChatModel, address: str, settings: Settings, announce: Announce) -> ChatModel:
    """Return the model within its limits per minute, each try of which counts, and with retries."""
    requests = _whole(settings, "requests_per_minute")
    tokens = _whole(settings, "tokens_per_minute")
    if requests is not None or tokens is not None:
        limiter = shared_limiter(
            model.name, address, requests_per_minute=requests, tokens_per_minute=tokens
        )
        model = RateLimitedModel(model, limiter, announce=announce)
    return RetryingModel(
        model,
        retries=_whole(settings, "rate_limit_retry_max") or 0,
        base_delay_s=_number(settings, "rate_limit_retry_base_delay_s", 10.0),
        max_wait_s=_number(settings, "rate_limit_retry_max_wait_s", 120.0),
        announce=announce,
    )


def _with_settings(traits: ModelTraits, settings: Settings) -> ModelTraits:
    """Return the traits with what the user says instead of guesses."""
    said: Mapping[str, bool] = {
        "is_small": _choice(settings, "model_is_small", default=traits.is_small),
        "tools": _choice(settings, "model_tools", default=traits.tools),
        "json_schema": _choice(settings, "model_json_schema", default=traits.json_schema),
        "images": _choice(settings, "model_images", default=traits.images),
        "audio": _choice(settings, "model_audio", default=traits.audio),
    }
    context_tokens = _whole(settings, "context_tokens") or traits.context_tokens
    return replace(traits, context_tokens=context_tokens, **said)


def _api_key(settings: Settings, base_url: str) -> str | None:
    """Return the key; only servers of one's own work without.

    Raises:
        ConfigError: there is none, and the address is OpenAI's.
    """
    key = settings["api_key"]
    if key is None and base_url == DEFAULT_BASE_URL:
        raise ConfigError(
            f"There is no API key for {DEFAULT_BASE_URL}. Set PLANLOOM_API_KEY, or set "
            "PLANLOOM_BASE_URL to a server that needs none, such as http://localhost:11434/v1.",
            zh=f"缺少 {DEFAULT_BASE_URL} 的 API 密钥。请设置 PLANLOOM_API_KEY，"
            "或把 PLANLOOM_BASE_URL 设为无需密钥的服务，例如 http://localhost:11434/v1。",
        )
    return None if key is None else _sendable(str(key).strip())


def _sendable(key: str) -> str:
    """Return a key that can stand in a header.

    Raises:
        ConfigError: it cannot, which is mostly a slip in copying.
    """
    if key.isascii() and key.isprintable():
        return key
    raise ConfigError(
        "The API key holds characters that no key has, such as line ends or letters beyond ASCII. "
        "Copy it again into PLANLOOM_API_KEY.",
        zh="API 密钥中含有密钥不可能有的字符，例如换行或非 ASCII 字符。"
        "请重新复制到 PLANLOOM_API_KEY。",
    )


def _choice(settings: Settings, name: str, *, default: bool) -> bool:
    value = settings[name]
    return default if value == "auto" else value == "yes"


def _whole(settings: Settings, name: str) -> int | None:
    value = settings[name]
    return None if value is None else int(value)


def _number(settings: Settings, name: str, default: float) -> float:
    value = settings[name]
    return default if value is None else float(value)
