import asyncio
import socket

import aiohttp
import pytest

from planloom.errors import ModelError
from planloom.models.chat_model import ChatRequest
from planloom.models.connection_errors import connection_error
from planloom.models.history import History
from planloom.models.openai_compatible import OpenAICompatibleModel
from planloom.models.provider_errors import Endpoint


def test_a_closed_port_of_this_machine_may_belong_to_a_server_that_is_starting():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    async def ask():
        model = OpenAICompatibleModel("m", f"http://127.0.0.1:{port}/v1", proxies={})
        try:
            await model.reply(ChatRequest(history=History()))
        finally:
            await model.close()

    with pytest.raises(ModelError, match="Is the server running") as caught:
        asyncio.run(ask())
    assert (caught.value.may_be_starting, caught.value.transient) == (True, False)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://127.0.0.53/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://127.example.org/v1", False),
        ("http://localhost.example.org/v1", False),
    ],
)
def test_only_addresses_of_this_machine_may_be_starting(url: str, *, local: bool):
    refused = aiohttp.ClientConnectorError(None, OSError(111, "Connection refused"))
    error = connection_error(Endpoint("m", url), refused, timeout_s=1, connect_s=1)
    assert error.may_be_starting is local


def test_a_key_that_only_fills_the_place_of_one_does_not_garble_what_a_server_says():
    assert Endpoint("m", "http://localhost/v1", "x").redact("Max retries exceeded") == (
        "Max retries exceeded"
    )
    assert Endpoint("m", "http://localhost/v1", "0123abcd").redact("0123abcd?") == "***?"
