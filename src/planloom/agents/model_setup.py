"""From settings to the model of a run, and what it may spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planloom.budget import Budget, Limits, price_unknown
from planloom.config import Settings
from planloom.errors import ConfigError
from planloom.events import EventStream
from planloom.models.chat_model import ChatModel
from planloom.models.metered import MeteredModel
from planloom.models.own_model import check_model
from planloom.models.prices import FREE, Price, find_prices
from planloom.models.wrapped import address_of
from planloom.notes import Lang

Announce = Callable[[str], None]
"""Tells the user of a wait before another try, or of a change to another model."""

_EXAMPLES = """\
  OpenAI:    export PLANLOOM_MODEL=gpt-5-mini PLANLOOM_API_KEY=sk-...
  DeepSeek:  export PLANLOOM_MODEL=deepseek-chat PLANLOOM_API_KEY=sk-... \
PLANLOOM_BASE_URL=https://api.deepseek.com/v1
  Qwen:      export PLANLOOM_MODEL=qwen-plus PLANLOOM_API_KEY=sk-... \
PLANLOOM_BASE_URL=https://dashscope.aliyuncs.com/compatible-mode/v1
  Ollama:    export PLANLOOM_MODEL=qwen3:8b PLANLOOM_BASE_URL=http://localhost:11434/v1"""


@dataclass(frozen=True, kw_only=True)
class ModelSetup:
    """A model that can be talked to, what it costs, and the budget of the run that uses it."""

    model: ChatModel
    prices: Mapping[str, Price | None]
    """By the beginning of the name of the model that answers; None where nobody told it."""
    budget: Budget
    is_ours: bool = True
    """Whether it was opened for this run, and is closed after it."""

    async def close(self) -> None:
        """Close the model's connections, unless it belongs to the caller."""
        if self.is_ours:
            await self.model.close()

    def metered(self, events: EventStream) -> MeteredModel:
        """Return the model with every call recorded and kept within the budget."""
        return MeteredModel(
            self.model, budget=self.budget, price=None, prices=self.prices, events=events
        )


def is_model_configured(settings: Settings) -> bool:
    """Return whether the user named a model: PLANLOOM_MODEL, `--model` or planloom.toml."""
    return bool(settings["model"])


def open_model(
    settings: Settings, limits: Limits, *, announce: Announce, lang: Lang = "en"
) -> ModelSetup:
    """Return the model that the settings name, with a new budget; nothing is sent yet.

    `announce` is told in the language `lang`.

    Raises:
        ConfigError: none is named, one cannot be reached in the way that the settings say, or
            money is limited and nobody told the price of one.
    """
    if not is_model_configured(settings):
        raise _no_model()
    # Loads the HTTP client, which a report without a model need not pay for.
    from planloom.models.connect import connect

    model = connect(settings, announce=lambda notice: announce(notice.note.text(lang)))
    base_url = settings["base_url"]
    address = None if base_url is None else str(base_url)
    prices = _prices_of(str(settings["model"]), settings, address)
    return _setup(model, prices, limits, is_ours=True)


def own_setup(
    model: ChatModel, limits: Limits, settings: Settings, *, announce: Announce, lang: Lang = "en"
) -> ModelSetup:
    """Return the setup of a model that the caller made and closes, with retries as a named one.

    Raises:
        ConfigError: it is no model, or money is limited and nobody told its price.
    """
    from planloom.models.connect import connect_own, is_script

    check_model(model)
    prices: Mapping[str, Price | None] = (
        {model.name: FREE}
        if is_script(model)
        else _prices_of(model.name, settings, address_of(model))
    )
    ready = connect_own(model, settings, announce=lambda notice: announce(notice.note.text(lang)))
    return _setup(ready, prices, limits, is_ours=False)


def _setup(
    model: ChatModel, prices: Mapping[str, Price | None], limits: Limits, *, is_ours: bool
) -> ModelSetup:
    if limits.max_cost is not None and None in prices.values():
        raise price_unknown(limits.max_cost)
    return ModelSetup(model=model, prices=prices, budget=Budget(limits), is_ours=is_ours)


def _prices_of(models: str, settings: Settings, base_url: str | None) -> Mapping[str, Price | None]:
    return find_prices(
        models,
        base_url=base_url,
        price_input=_number(settings, "price_input"),
        price_output=_number(settings, "price_output"),
    )


def _number(settings: Settings, name: str) -> float | None:
    value = settings[name]
    return None if value is None else float(value)


def _no_model() -> ConfigError:
    return ConfigError(
        "This needs a language model, and none is configured. Name one with --model "
        f"(Agent(model=...) in Python), or in the environment, such as\n{_EXAMPLES}\n"
        'Reports need none: planloom report FILE --goal "..." works without a model.',
        zh=f"该命令需要语言模型，但尚未配置。请用 --model 指定"
        f"（Python 中为 Agent(model=...)），或设置环境变量，例如\n{_EXAMPLES}\n"
        '生成报告不需要模型：planloom report 文件 --goal "……" 可直接使用。',
    )
