"""Names that speak of a secret, and what is masked under them."""

from __future__ import annotations

import pytest

from planloom.engine.masking import is_secret_name, masked


@pytest.mark.parametrize(
    "name", ["key", "api_key", "apiKey", "APIKey", "access_token", "Authorization", "user-password",
             "client_secret", "token2", "密码", "API密钥"],
)  # fmt: skip
def test_secret_names(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["max_tokens", "keywords", "keyword", "monkey", "sort_key", "primaryKey", "author", "x"]
)
def test_other_names(name: str):
    assert not is_secret_name(name)


def test_values_under_secret_names_are_masked_at_any_depth():
    given = {
        "calls": [{"headers": {"Authorization": "Bearer x"}, "pwd": 1234, "secrets": ["a", "b"]}],
        "token": "prefix $login.token",
    }
    assert masked(given) == {
        "calls": [{"headers": {"Authorization": "***"}, "pwd": "***", "secrets": "***"}],
        "token": "***",
    }


def test_references_and_empty_values_stay():
    given = {"token": "$login.token", "password": None, "secret": "", "key": False}
    assert masked(given) == given
