"""What calls of a model cost, in US dollars: set by the user, or from a kept list of prices."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib import import_module, metadata
from typing import Protocol, cast
from urllib.parse import urlsplit

from planloom.errors import ConfigError

_log = logging.getLogger(__name__)
_MILLION = 1_000_000
_SCRIPTED = "scripted:"
_PYDANTIC_AI = "pydantic-ai:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """US dollars per million tokens."""

    input: float
    cached_input: float
    """Of prompt tokens that the provider took from its cache."""
    output: float
    """Of completion tokens, thinking included."""
    above_prompt_tokens: int = 0
    """Prompts longer than this pay these rates for all their tokens."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs."""

    rates: tuple[Rates, ...]
    """By rising `above_prompt_tokens`, the first from 0."""
    source: str
    """Where the price comes from, for people."""

    def cost(self, *, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Return what a call costs; `cached_tokens` are those of the prompt read from a cache.

        >>> set_by_user(2.0, 8.0).cost(prompt_tokens=1_000, completion_tokens=500)
        0.006
        """
        rates = self.rates[0]
        for longer in self.rates[1:]:
            if prompt_tokens > longer.above_prompt_tokens:
                rates = longer
        fresh = max(0, prompt_tokens - cached_tokens)
        return (
            fresh * rates.input
            + cached_tokens * rates.cached_input
            + completion_tokens * rates.output
        ) / _MILLION


FREE = Price((Rates(input=0.0, cached_input=0.0, output=0.0),), "own server, free of charge")


def set_by_user(
    price_input: float, price_output: float, *, price_cached_input: float | None = None
) -> Price:
    """Return the price that a user set; cached tokens cost as others where not told apart."""
    cached = price_input if price_cached_input is None else price_cached_input
    rates = Rates(input=price_input, cached_input=cached, output=price_output)
    return Price((rates,), "set by the user")


def find_price(
    model: str,
    *,
    base_url: str | None = None,
    price_input: float | None = None,
    price_output: float | None = None,
) -> Price | None:
    """Return the price of a model, or None where nobody told it.

    A price that the user set wins, then a server of one's own is free, then the list of the
    package genai-prices counts, which holds what providers publish. `model` is the name in the
    settings; one such as "anthropic:claude-sonnet-4-5", with or without "pydantic-ai:" before it,
    names its provider, else `base_url` does.
    A provider that the list does not know takes the price of the model's maker.

    Raises:
        ConfigError: only one of the two prices is set.
    """
    model = model.removeprefix(_PYDANTIC_AI)
    if price_input is not None and price_output is not None:
        return set_by_user(price_input, price_output)
    if price_input is not None or price_output is not None:
        raise ConfigError(
            "Only one of price_input and price_output is set. Set both, in US dollars per million "
            "tokens, or neither.",
            zh="price_input 和 price_output 只设置了一个。请两个都设置（单位：美元 / 百万 token），"
            "或都不设置。",
        )
    if (
        model == "scripted"
        or model.startswith("scripted:")
        or (base_url and is_own_server(base_url))
    ):
        return FREE
    return _listed(model, base_url)


def find_prices(
    models: str,
    *,
    base_url: str | None = None,
    price_input: float | None = None,
    price_output: float | None = None,
) -> dict[str, Price | None]:
    """Return the prices of a fallback chain: the setting `model`, names with commas between.

    The keys are how the names of the models that answer begin.
    """
    prices: dict[str, Price | None] = {}
    for model in filter(None, (part.strip() for part in models.split(","))):
        if model.startswith(_SCRIPTED):
            prices[_SCRIPTED] = FREE
            continue
        provider, _, name = model.removeprefix(_PYDANTIC_AI).rpartition(":")
        is_elsewhere = model.startswith(_PYDANTIC_AI)
        prices[name if is_elsewhere and provider else model] = find_price(
            model,
            base_url=None if is_elsewhere else base_url,
            price_input=price_input,
            price_output=price_output,
        )
    return prices


def is_own_server(base_url: str) -> bool:
    """Tell whether an address is of this machine or of a private network.

    >>> is_own_server("http://localhost:11434/v1"), is_own_server("https://api.openai.com/v1")
    (True, False)
    """
    host = urlsplit(base_url if "//" in base_url else f"//{base_url}").hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        # A name without a dot exists only in one's own network: "ollama" among containers.
        return "." not in host or host.endswith((".local", ".internal", ".localhost", ".lan"))


class _Tier(Protocol):
    start: int
    price: Decimal


class _TieredPrices(Protocol):
    base: Decimal
    tiers: Sequence[_Tier]


class _ModelPrice(Protocol):
    """The fields of genai_prices.types.ModelPrice that are read here."""

    input_mtok: Decimal | _TieredPrices | None
    cache_read_mtok: Decimal | _TieredPrices | None
    output_mtok: Decimal | _TieredPrices | None


class _Named(Protocol):
    id: str


class _Calculation(Protocol):
    model_price: _ModelPrice
    provider: _Named
    model: _Named


class _PriceList(Protocol):
    """The functions of the package genai_prices that are used here."""

    Usage: Callable[..., object]

    def calc_price(
        self,
        usage: object,
        model_ref: str,
        *,
        provider_id: str | None = None,
        provider_api_url: str | None = None,
    ) -> _Calculation: ...


@lru_cache(maxsize=64)
def _listed(model: str, base_url: str | None) -> Price | None:
    try:
        # Imported only for models that cost money: it takes 0.1 s.
        prices = cast("_PriceList", import_module("genai_prices"))
    except ModuleNotFoundError:
        _log.warning("The package genai-prices is missing: prices of models are not known.")
        return None
    provider, _, name = model.rpartition(":")
    attempts: list[tuple[str, str | None, str | None]] = []
    if base_url:
        attempts.append((model, None, base_url))
    elif provider:
        attempts.append((name, provider, None))
    attempts.append((model, None, None))
    for reference, provider_id, url in attempts:
        try:
            found = prices.calc_price(
                prices.Usage(input_tokens=1, output_tokens=1),
                reference,
                provider_id=provider_id,
                provider_api_url=url,
            )
        except LookupError:
            continue
        return _as_price(found)
    return None


def _as_price(found: _Calculation) -> Price | None:
    listed = found.model_price
    if listed.input_mtok is None or listed.output_mtok is None:
        return None  # paid by the second or by the picture
    cached = listed.input_mtok if listed.cache_read_mtok is None else listed.cache_read_mtok
    steps = {0}
    for price in (listed.input_mtok, cached, listed.output_mtok):
        if not isinstance(price, Decimal):
            steps.update(tier.start for tier in price.tiers)
    rates = tuple(
        Rates(
            input=_rate(listed.input_mtok, step),
            cached_input=_rate(cached, step),
            output=_rate(listed.output_mtok, step),
            above_prompt_tokens=step,
        )
        for step in sorted(steps)
    )
    version = metadata.version("genai-prices")
    return Price(rates, f"genai-prices {version}: {found.provider.id}, {found.model.id}")


def _rate(price: Decimal | _TieredPrices, above: int) -> float:
    if isinstance(price, Decimal):
        return float(price)
    reached = [tier.price for tier in price.tiers if tier.start <= above]
    return float(reached[-1] if reached else price.base)
