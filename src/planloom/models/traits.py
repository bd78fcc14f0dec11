"""What a model can be expected to do, told from its name and address where that is safe."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from planloom.models.chat_model import ModelTraits

_SMALL_BILLIONS = 8.0
_SMALL_CONTEXT_TOKENS = 32_768
"""Small models are served with little memory; more is said with PLANLOOM_CONTEXT_TOKENS."""

# "8x7b" is a mixture of experts, "30b-a3b" one with 3 billion active parameters, "e4b" one that
# needs the memory of 4 billion.
_PARAMETERS = re.compile(r"(?<![\w.])e?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_SEES = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-5|chatgpt-4o|\bo[134](?!-mini-2024)\b|claude|gemini|vision|[-.]?vl\b|llava"
    r"|pixtral|minicpm-v|gemma-?3|internvl|glm-4(?:\.\d)?v|omni|llama-?4|mistral-(?:small|medium)-3"
)
_HEARS = re.compile(r"audio|omni|voxtral|gemini")
_CONTEXTS = (
    (re.compile(r"gpt-4\.1|gemini"), 1_000_000),
    (re.compile(r"gpt-5"), 272_000),
    (re.compile(r"claude|\bo[134]\b"), 200_000),
    (re.compile(r"gpt-3\.5"), 16_385),
)


def guess_traits(name: str, base_url: str) -> ModelTraits:
    """Return what a model of that name at that address can do, as far as both tell.

    What turns out to be refused is learned by the client.

    >>> guess_traits("qwen2.5:1.5b", "http://localhost:11434/v1").is_small
    True
    >>> guess_traits("gpt-4.1-mini", "https://api.openai.com/v1").is_small
    False
    """
    name = name.lower()
    host = urlsplit(base_url).hostname or ""
    is_small = _is_small(name)
    return ModelTraits(
        context_tokens=_context_tokens(name, is_small=is_small),
        # DeepSeek's own service knows JSON mode, but no schemas.
        json_schema=not host.endswith("deepseek.com"),
        images=bool(_SEES.search(name)) and "audio" not in name,
        audio=bool(_HEARS.search(name)),
        wants_thinking_back=_wants_thinking_back(name, host),
        is_small=is_small,
    )


def max_tokens_field(base_url: str) -> str:
    """Return the name that a provider gives the longest reply: OpenAI's own is another by now."""
    host = urlsplit(base_url).hostname or ""
    return "max_completion_tokens" if host.endswith("openai.com") else "max_tokens"


def _is_small(name: str) -> bool:
    """Tell whether a name states at most 8 billion parameters."""
    stated = [
        float(number) * (1.0 if unit == "b" else 0.001)
        for number, unit in _PARAMETERS.findall(name)
    ]
    return bool(stated) and max(stated) <= _SMALL_BILLIONS


def _context_tokens(name: str, *, is_small: bool) -> int:
    if is_small:
        return _SMALL_CONTEXT_TOKENS
    known = (tokens for pattern, tokens in _CONTEXTS if pattern.search(name))
    return next(known, ModelTraits().context_tokens)


def _wants_thinking_back(name: str, host: str) -> bool:
    """Tell whether tool calls have to come back with the thinking that led to them."""
    is_deepseek = host.endswith("deepseek.com") and "reasoner" in name
    is_kimi = host.endswith(("moonshot.cn", "moonshot.ai")) and "thinking" in name
    return is_deepseek or is_kimi
