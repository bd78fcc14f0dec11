import asyncio
from pathlib import Path

import pytest

from planloom.config import load_settings
from planloom.errors import ConfigError
from planloom.models.chat_model import ChatRequest
from planloom.models.connect import connect
from planloom.models.history import History
from planloom.models.messages import UserMessage
from planloom.models.traits import guess_traits, max_tokens_field


def settings(tmp_path: Path, **values: str):
    environment = {f"PLANLOOM_{name.upper()}": value for name, value in values.items()}
    return load_settings(environment=environment, folder=tmp_path)


def connected(tmp_path: Path, **values: str):
    return connect(settings(tmp_path, api_key="k", **values), announce=lambda _notice: None)


def test_chain_from_settings_asks_falls_back_and_tells(tmp_path, scripted_server, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    scripted_server.refuse(404)
    scripted_server.say("ok")
    notices: list = []
    model = connect(
        settings(
            tmp_path,
            model="first, second",
            base_url=scripted_server.url,
            max_reply_tokens="9",
            requests_per_minute="100",
        ),
        announce=notices.append,
    )

    async def main():
        try:
            return await model.reply(ChatRequest(history=History([UserMessage("Hi")])))
        finally:
            await model.close()

    assert asyncio.run(main()).text == "ok"
    sent = [seen.json for seen in scripted_server.requests]
    assert [(body["model"], body["max_tokens"]) for body in sent] == [("first", 9), ("second", 9)]
    assert "authorization" not in scripted_server.requests[0].headers
    assert [notice.note.text("en")[:21] for notice in notices] == ["Model 'first' failed;"]


def test_script_is_played(tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "played"}\n', encoding="utf-8")
    model = connected(tmp_path, model=f"scripted:{script}")
    reply = asyncio.run(model.reply(ChatRequest(history=History([UserMessage("Hi")]))))
    assert reply.text == "played"


def test_settings_beat_guesses(tmp_path):
    model = connected(
        tmp_path,
        model="qwen2.5-1.5b",
        base_url="http://h/v1",
        model_is_small="no",
        model_tools="no",
        model_json_schema="no",
        model_images="yes",
        context_tokens="999",
    )
    traits = model.traits
    assert not traits.is_small
    assert not traits.tools
    assert not traits.json_schema
    assert traits.images
    assert traits.context_tokens == 999


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({}, "PLANLOOM_MODEL"),
        ({"model": " , "}, "PLANLOOM_MODEL"),
        ({"model": "m"}, "PLANLOOM_API_KEY"),
        ({"model": "m", "base_url": "localhost"}, "PLANLOOM_BASE_URL"),
        ({"model": "m", "api_key": "sk-\n1"}, "Copy it again"),
        ({"model": "m", "api_key": "sk-密钥"}, "Copy it again"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_both_languages(tmp_path, values, named):
    with pytest.raises(ConfigError, match=named) as caught:
        connect(settings(tmp_path, **values), announce=lambda _notice: None)
    assert caught.value.text("zh") != str(caught.value)
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("model_tools", "perhaps", "auto, yes or no"),
        ("requests_per_minute", "0", "at least 1"),
        ("context_tokens", "lots", "a whole number"),
        ("llm_timeout_s", "nan", "a number"),
    ],
)
def test_wrong_values_are_refused_in_both_languages(tmp_path, name, value, wanted):
    with pytest.raises(ConfigError, match=wanted) as caught:
        settings(tmp_path, **{name: value})
    assert "应为" in caught.value.text("zh")


def test_limits_in_tokens_are_no_secrets(tmp_path):
    found = settings(tmp_path, tokens_per_minute="5000", api_key="k").values
    assert found["tokens_per_minute"].shown == "5000"
    assert found["api_key"].shown == "(set, hidden)"


@pytest.mark.parametrize(
    ("name", "is_small"),
    [
        ("qwen2.5:1.5b", True),
        ("Qwen/Qwen2.5-0.5B-Instruct", True),
        ("llama3.1-8b", True),
        ("smollm2:135m", True),
        ("gemma-3n-e4b-it", True),
        ("qwen3-30b-a3b", False),
        ("mixtral-8x7b", False),
        ("llama-3.3-70b-versatile", False),
        ("gpt-4o-mini", False),
        ("deepseek-chat", False),
    ],
)
def test_small_models_are_told_by_the_size_in_their_name(name, is_small):
    assert guess_traits(name, "http://localhost/v1").is_small is is_small


@pytest.mark.parametrize(
    ("name", "sees"),
    [
        ("gpt-4o", True),
        ("qwen2.5-vl-72b-instruct", True),
        ("llava:13b", True),
        ("o3", True),
        ("gpt-3.5-turbo", False),
        ("deepseek-chat", False),
        ("qwen-plus", False),
    ],
)
def test_models_that_see_are_told_by_name(name, sees):
    assert guess_traits(name, "http://localhost/v1").images is sees


def test_providers_differ_where_they_are_known_to():
    deepseek = "https://api.deepseek.com/v1"
    assert not guess_traits("deepseek-chat", deepseek).json_schema
    assert guess_traits("deepseek-reasoner", deepseek).wants_thinking_back
    assert max_tokens_field("https://api.openai.com/v1") == "max_completion_tokens"
    assert max_tokens_field(deepseek) == "max_tokens"
