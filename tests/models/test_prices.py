import pytest

from planloom.errors import ConfigError
from planloom.models.prices import (
    FREE,
    Price,
    Rates,
    find_price,
    find_prices,
    is_own_server,
    set_by_user,
)


def test_price_that_the_user_set_wins_over_all():
    price = find_price("gpt-4o", base_url="http://localhost:1", price_input=1.0, price_output=2.0)
    assert price == set_by_user(1.0, 2.0)


@pytest.mark.parametrize("options", [{"price_input": 1.0}, {"price_output": 0.0}])
def test_half_a_price_is_refused(options: dict[str, float]):
    with pytest.raises(ConfigError, match="Only one") as caught:
        find_price("gpt-4o", **options)
    assert "price_output" in caught.value.text("zh")


def test_cached_tokens_pay_their_own_rate():
    price = set_by_user(2.0, 8.0, price_cached_input=0.5)
    cost = price.cost(prompt_tokens=1_000_000, completion_tokens=0, cached_tokens=400_000)
    assert cost == pytest.approx(0.6 * 2.0 + 0.4 * 0.5)


def test_cached_tokens_pay_in_full_where_no_rate_is_told():
    assert set_by_user(2.0, 8.0).cost(
        prompt_tokens=1_000_000, completion_tokens=0, cached_tokens=500_000
    ) == pytest.approx(2.0)


def test_long_prompt_pays_the_higher_rate_for_all_its_tokens():
    rates = (
        Rates(input=1.0, cached_input=1.0, output=1.0),
        Rates(input=2.0, cached_input=2.0, output=3.0, above_prompt_tokens=200_000),
    )
    price = Price(rates, "test")
    assert price.cost(prompt_tokens=200_000, completion_tokens=0) == pytest.approx(0.2)
    assert price.cost(prompt_tokens=200_001, completion_tokens=1_000_000) == pytest.approx(3.400002)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost:11434/v1",
        "localhost:8000/v1",
        "http://127.0.0.1:8080",
        "http://[::1]:8000/v1",
        "http://192.168.1.7/v1",
        "http://10.0.0.3:8000",
        "http://ollama:11434",
        "http://gpu.local:8000",
        "http://host.docker.internal:11434",
    ],
)
def test_own_server_is_free(base_url: str):
    assert is_own_server(base_url)
    assert find_price("some-model", base_url=base_url) == FREE


@pytest.mark.parametrize(
    "base_url",
    ["https://api.openai.com/v1", "https://8.8.8.8/v1", "https://dashscope.aliyuncs.com/v1"],
)
def test_server_of_others_is_not_free(base_url: str):
    assert not is_own_server(base_url)


def test_script_is_free():
    assert find_price("scripted:demo.jsonl") == FREE


def test_chain_has_a_price_for_each_model():
    prices = find_prices("small, scripted:demos/a.jsonl", base_url="http://localhost:8000/v1")
    assert prices == {"small": FREE, "scripted:": FREE}
    assert find_prices("a,b", price_input=1.0, price_output=2.0) == {
        "a": set_by_user(1.0, 2.0),
        "b": set_by_user(1.0, 2.0),
    }


def test_other_provider_in_a_chain_is_not_free_because_the_address_is_local(listed):
    name = "pydantic-ai:anthropic:claude-sonnet-4-5"
    prices = find_prices(f"small, {name}", base_url="http://localhost:8000/v1")
    assert prices["small"] == FREE
    assert prices["claude-sonnet-4-5"] == listed(name) == listed("anthropic:claude-sonnet-4-5")


@pytest.fixture
def listed():
    pytest.importorskip("genai_prices")
    return find_price


def test_listed_price_names_its_source(listed):
    price = listed("gpt-4o-mini", base_url="https://api.openai.com/v1")
    assert 0 < price.rates[0].cached_input < price.rates[0].input < price.rates[0].output
    assert price.source.startswith("genai-prices ")
    assert "openai" in price.source


def test_provider_in_the_name_is_looked_up(listed):
    price = listed("anthropic:claude-sonnet-4-5")
    assert "anthropic" in price.source
    assert [rates.above_prompt_tokens for rates in price.rates] == [0, 200_000]
    assert price.rates[1].input > price.rates[0].input


def test_gateway_that_is_not_listed_takes_the_price_of_the_maker(listed):
    assert listed("gpt-4o", base_url="https://gateway.example.com/v1") == listed("gpt-4o")


def test_model_that_nobody_lists_has_no_price(listed):
    assert listed("my-own-model", base_url="https://models.example.com/v1") is None
