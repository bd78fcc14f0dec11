"""Keys that a provider repeats in its errors do not come through."""

from __future__ import annotations

import json

import pytest

from planloom.models.provider_errors import Endpoint, error_of, read_refusal

KEY = "my+weird.secret/KEY-123"


@pytest.mark.parametrize(
    ("echo", "secret"),
    [
        (f"bad header Authorization: Bearer {KEY}", KEY),
        (f"unknown key {KEY!r}", KEY),
        ("no such path /v1/chat/completions?key=qk9secret", "qk9secret"),
        ("no such path /v1?x=1&api_key=qk9secret&y=2", "qk9secret"),
        ("cannot reach https://ann:pw9secret@host/v1", "pw9secret"),
    ],
)
def test_an_echoed_secret_is_masked(echo: str, secret: str):
    endpoint = Endpoint("m", "http://host/v1", KEY)
    body = json.dumps({"error": {"message": echo, "code": echo}}).encode()
    refusal = read_refusal(endpoint, 401, {}, body)
    error = error_of(endpoint, refusal)
    assert secret not in f"{error} {error.text('zh')} {error!r} {refusal!r} {endpoint!r}"
    assert "***" in str(error)
