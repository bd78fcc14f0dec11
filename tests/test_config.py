from pathlib import Path

import pytest

from planloom.config import load_settings
from planloom.errors import ConfigError


def settings(tmp_path: Path, environment=None, options=None):
    return load_settings(environment=environment or {}, folder=tmp_path, options=options)


def test_option_beats_environment_beats_file_beats_default(tmp_path: Path):
    (tmp_path / "planloom.toml").write_text('max_iterations = 3\nmodel = "file"\nhome = "f"\n')
    found = settings(
        tmp_path, {"PLANLOOM_MAX_ITERATIONS": "4", "PLANLOOM_MODEL": "env"}, {"model": "option"}
    ).values
    assert (found["model"].value, found["model"].origin) == ("option", "option")
    assert (found["max_iterations"].value, found["max_iterations"].origin) == (4, "environment")
    assert (found["home"].value, found["home"].origin) == ("f", "planloom.toml")
    assert (found["max_output_chars"].value, found["max_output_chars"].origin) == (
        10_000,
        "default",
    )


def test_own_variable_beats_that_of_other_tools(tmp_path: Path):
    environment = {"OPENAI_BASE_URL": "http://other", "PLANLOOM_BASE_URL": "http://own"}
    assert settings(tmp_path, environment)["base_url"] == "http://own"
    assert settings(tmp_path, {"OPENAI_BASE_URL": "http://other"})["base_url"] == "http://other"


def test_secret_is_never_shown(tmp_path: Path):
    setting = settings(tmp_path, {"OPENAI_API_KEY": "sk-123"}).values["api_key"]
    assert setting.value == "sk-123"
    assert "sk-123" not in setting.shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_iterations = 'many'", "'many'; it must be a whole number"),
        ("max_iterations = 0", "at least 1"),
        ("max_iteration = 3", "'max_iteration', which is no setting"),
        ("max_iterations = ", "cannot be read"),
    ],
)
def test_bad_file_is_refused_with_its_value(tmp_path: Path, text: str, message: str):
    (tmp_path / "planloom.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        settings(tmp_path)


def test_password_in_an_address_is_never_shown(tmp_path: Path):
    setting = settings(tmp_path, {"PLANLOOM_BASE_URL": "https://u:secretpw@h/v1"}).values[
        "base_url"
    ]
    assert setting.shown == "https://***@h/v1"


def test_prices_are_numbers_and_never_negative(tmp_path: Path):
    found = settings(tmp_path, {"PLANLOOM_PRICE_INPUT": "0.4", "PLANLOOM_PRICE_OUTPUT": "1.2"})
    assert (found["price_input"], found["price_output"]) == (0.4, 1.2)
    with pytest.raises(ConfigError, match="price_input"):
        settings(tmp_path, {"PLANLOOM_PRICE_INPUT": "-1"})


def test_a_key_behind_an_address_is_never_shown(tmp_path: Path):
    address = "http://ann:pw@host/v1?x=1&key=abc"
    setting = settings(tmp_path, {"PLANLOOM_BASE_URL": address}).values["base_url"]
    assert setting.shown == "http://***@host/v1?x=1&key=***"


def test_limits_are_settings_with_the_same_order_of_origins(tmp_path: Path):
    (tmp_path / "planloom.toml").write_text('max_cost = 2\nmax_tokens = 50\nmax_time = "5m"\n')
    environment = {"PLANLOOM_MAX_COST": "0.5", "PLANLOOM_MAX_CALLS": "7"}
    found = settings(tmp_path, environment, {"max_cost": 0.1}).values
    assert (found["max_cost"].value, found["max_cost"].origin) == (0.1, "option")
    assert (found["max_calls"].value, found["max_calls"].origin) == (7, "environment")
    assert (found["max_tokens"].value, found["max_time"].value) == (50, 300)
    assert settings(tmp_path, environment)["max_cost"] == 0.5
    assert found["max_tokens"].shown == "50"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MAX_COST", "abc", "'abc'; it must be a number"),
        ("MAX_COST", "0", "above 0"),
        ("MAX_COST", "nan", "a number"),
        ("MAX_TOKENS", "-1", "above 0"),
        ("MAX_CALLS", "1.5", "a whole number"),
        ("MAX_TIME", "soon", "90s, 5m or 1h30m"),
    ],
)
def test_a_limit_that_is_none_is_refused(tmp_path: Path, name: str, value: str, message: str):
    with pytest.raises(ConfigError, match=message):
        settings(tmp_path, {f"PLANLOOM_{name}": value})
    with pytest.raises(ConfigError, match=f"--{name.lower().replace('_', '-')} is '{value}'"):
        settings(tmp_path, options={name.lower(): value})


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("PLANLOOM_MODLE", "PLANLOOM_MODEL"), ("PLANLOOM_MAXCOST", "PLANLOOM_MAX_COST")],
)
def test_a_misspelt_variable_is_refused(tmp_path: Path, typo: str, meant: str):
    with pytest.raises(ConfigError, match=f"{typo}.*Did you mean {meant}"):
        settings(tmp_path, {typo: "x"})


def test_variables_of_others_are_named_and_not_used(tmp_path: Path):
    environment = {"PLANLOOM_CASES": "/x", "PLANLOOM_IMAGE_TAG": "3", "PLANLOOM_MODLE": ""}
    assert settings(tmp_path, environment).unknown_variables == ("PLANLOOM_IMAGE_TAG",)
