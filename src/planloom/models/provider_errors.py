"""What went wrong at a provider, told so that a user knows what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from planloom.errors import ContextWindowError, ModelError
from planloom.models.chat_model import Json
from planloom.models.reply_reading import parse_json

_MOST_CHARS = 300
_SHORTEST_KEY = 8
_MOST_WAIT_S = 365 * 86_400.0
_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|key|ark)-[\w*.-]{6,}|(?<=Bearer )\S+", re.IGNORECASE)
_IN_ADDRESS = re.compile(
    r"([?&](?:[\w-]*key|[\w-]*token|[\w-]*secret|password|sig)=|(?<=://)(?=[^/@\s]+@))[^&\s\"'@]+",
    re.IGNORECASE,
)
"""A key in the query of an address, or a user with a password before its host."""
_CONTEXT = re.compile(
    r"context.{0,10}(?:length|window|size)|maximum context|max_model_len|prompt is too long"
    r"|(?:input|prompt|request).{0,40}(?:too long|exceeds?.{0,40}(?:tokens|limit|length))"
    r"|too many (?:input )?tokens|reduce the length|range of input length|上下文",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|balance)|exceeded your current quota|billing|arrears|arrearage"
    r"|credit balance|out of credits|余额|欠费",
    re.IGNORECASE,
)


_NO_KEY = re.compile(
    r"(?:invalid|incorrect|missing|wrong|bad|carry the).{0,10}api.?(?:secret.?)?key"
    r"|api.?key.{0,20}(?:not valid|invalid|missing|expired)|unauthori[sz]ed|authentication"
    r"|login fail",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Advice:
    """What an error means and what to do; `{url}` and `{model}` are filled in."""

    en: str
    zh: str
    transient: bool = False


_TOO_LONG = _Advice(
    "The conversation is longer than the context window of model '{model}'. "
    "Choose a model with a larger window, or set PLANLOOM_CONTEXT_TOKENS to the window's size.",
    "对话超出了模型“{model}”的上下文窗口。"
    "请换用窗口更大的模型，或把 PLANLOOM_CONTEXT_TOKENS 设为该窗口的大小。",
)
_NO_CREDIT = _Advice(
    "The account has no credit left for model '{model}'. Top it up at the provider, or "
    "choose another model with PLANLOOM_MODEL.",
    "模型“{model}”所属账户的额度已用完。请到服务商处充值，或用 PLANLOOM_MODEL 换一个模型。",
)
_BAD_KEY = _Advice(
    "{url} refused the API key for model '{model}'. "
    "Set PLANLOOM_API_KEY to a key that is valid there.",
    "{url} 不接受访问模型“{model}”的 API 密钥。请把 PLANLOOM_API_KEY 设为该服务的有效密钥。",
)
_REDIRECT = _Advice(
    "{url} sends requests on to another address. "
    "Set PLANLOOM_BASE_URL to that address if you trust it.",
    "{url} 要求转到另一个地址。如果信任该地址，请把 PLANLOOM_BASE_URL 设为它。",
)
_FAILED = _Advice(
    "{url} failed while model '{model}' was asked. Try again later; "
    "if it stays so, see the provider's status page or the server's log.",
    "调用模型“{model}”时 {url} 出错。请稍后再试；若一直如此，请查看服务商的状态页或服务器日志。",
    transient=True,
)
_REFUSED = _Advice(
    "{url} refused the request to model '{model}'. "
    "Check that the model can do what is asked of it.",
    "{url} 拒绝了对模型“{model}”的请求。请检查该模型是否支持所要求的功能。",
)
_BY_STATUS = {
    401: _BAD_KEY,
    403: _BAD_KEY,
    404: _Advice(
        "{url} knows no model '{model}', or offers no chat completions there. "
        "Check PLANLOOM_MODEL and PLANLOOM_BASE_URL (it usually ends in /v1).",
        "{url} 上没有模型“{model}”，或该地址不提供对话接口。"
        "请检查 PLANLOOM_MODEL 和 PLANLOOM_BASE_URL（通常以 /v1 结尾）。",
    ),
    413: _Advice(
        "The request is too large for {url}. Send fewer or smaller files.",
        "请求超过了 {url} 允许的大小。请减少文件数量或缩小文件。",
    ),
    429: _Advice(
        "{url} limits how often model '{model}' may be asked. Wait a little, "
        "or set PLANLOOM_REQUESTS_PER_MINUTE below its limit.",
        "{url} 限制了模型“{model}”的调用频率。请稍后再试，"
        "或把 PLANLOOM_REQUESTS_PER_MINUTE 设得低于其限额。",
        transient=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who was asked."""

    model: str
    base_url: str
    """Without user name and password."""
    api_key: str | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.model!r}, {self.base_url!r})"

    def redact(self, text: str) -> str:
        """Return a text without what is, or looks like, an API key."""
        # A filler such as "x", for a server that needs none, is no secret, and is in many words.
        if self.api_key and len(self.api_key) >= _SHORTEST_KEY:
            text = text.replace(self.api_key, "***")
        return _IN_ADDRESS.sub(r"\1***", _KEY.sub("***", text))


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a provider said when it gave no reply."""

    status: int
    message: str
    """Its words, for people: one line, bounded, without the key."""
    code: str = ""
    """Its code, kind and parameter of the error, joined by spaces."""
    retry_after_s: float | None = None

    @property
    def words(self) -> str:
        """All that it said, for pattern matching."""
        return f"{self.code} {self.message}"

    @property
    def says_too_long(self) -> bool:
        """Whether the conversation does not fit the model's context window."""
        return self.status in {400, 413, 422, 500} and bool(_CONTEXT.search(self.words))


def read_refusal(
    endpoint: Endpoint,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: datetime | None = None,
) -> Refusal:
    """Return what an answer that is no reply says; `now` is for a Retry-After that is a date."""
    try:
        answer = parse_json(body)
    except ValueError:
        answer = _plain_text(body)
    return refusal_of(endpoint, status, answer, retry_after_s=_retry_after(headers, now))


def refusal_of(
    endpoint: Endpoint, status: int, answer: Json, *, retry_after_s: float | None = None
) -> Refusal:
    """Return what the JSON of an answer says of an error."""
    error = _first(answer, "error", "errors", "detail", "message") or answer
    if isinstance(error, list) and error:
        error = error[0]
    message = _first(error, "message", "msg", "status_msg", "detail", "error") or error
    code = " ".join(
        str(part) for name in ("code", "type", "param") if (part := _first(error, name))
    )
    text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    # FastAPI names the field that it refuses beside the message.
    where = _first(error, "loc")
    if isinstance(where, list):
        code += " " + " ".join(map(str, where))
    return Refusal(status, _shorten(endpoint.redact(text)), endpoint.redact(code), retry_after_s)


def error_of(endpoint: Endpoint, refusal: Refusal) -> ModelError:
    """Return the error that tells a refusal, and what to do about it."""
    advice = _advice(refusal)
    who = {"url": endpoint.base_url, "model": endpoint.model}
    said = refusal.message
    en = f"{advice.en.format(**who)} (HTTP {refusal.status}{': ' + said if said else ''})"
    zh = f"{advice.zh.format(**who)}（HTTP {refusal.status}{'：' + said if said else ''}）"
    kind = ContextWindowError if advice is _TOO_LONG else ModelError
    return kind(
        en,
        zh=zh,
        status=refusal.status,
        transient=advice.transient,
        retry_after_s=refusal.retry_after_s,
    )


def error_inside_answer(endpoint: Endpoint, answer: Mapping[str, Json]) -> Refusal | None:
    """Return the error that an answer of status 200, or an event of a stream, carries."""
    error = _error_in(answer)
    if not error:
        return None
    code = _first(error, "code", "status", "status_code")
    known = isinstance(code, int) and 400 <= code < 600
    status = cast("int", code) if known else _status_by_name(error)
    return refusal_of(endpoint, status, {"error": error})


def _error_in(answer: Mapping[str, Json]) -> Json:
    """Return what an answer says of an error, in any of the forms that providers use."""
    outcome = answer.get("base_resp")  # MiniMax; 0 is success
    if isinstance(outcome, dict) and outcome.get("status_code"):
        return outcome
    is_error = "error" in (answer.get("object"), answer.get("type"))
    says_only = "choices" not in answer and any(
        isinstance(answer.get(name), str) for name in ("message", "msg", "detail")
    )
    return answer.get("error") or (dict(answer) if is_error or says_only else None)


def _status_by_name(error: Json) -> int:
    """Return the status that an error without one would have had."""
    words = json.dumps(error, ensure_ascii=False).lower()
    if _NO_MONEY.search(words):
        return 402
    if _NO_KEY.search(words):
        return 401
    if "rate_limit" in words or "rate limit" in words or "too many requests" in words:
        return 429
    if "invalid_request" in words or _CONTEXT.search(words):
        return 400
    return 500


def _advice(refusal: Refusal) -> _Advice:
    status = refusal.status
    if refusal.says_too_long:
        return _TOO_LONG
    if status == 402 or (status in {400, 403, 429} and _NO_MONEY.search(refusal.words)):
        return _NO_CREDIT
    if 300 <= status < 400:
        return _REDIRECT
    if status == 408 or status >= 500:
        return _FAILED
    return _BY_STATUS.get(status, _REFUSED)


def _retry_after(headers: Mapping[str, str], now: datetime | None) -> float | None:
    """Return how long the provider asks to wait, in seconds.

    None where it asks for nothing: also for no time at all and for a time that has passed, as a
    server that is still busy would then be asked again and again without any wait.

    Source: RFC 9110, section 10.2.3; `retry-after-ms` is OpenAI's.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return min(milliseconds / 1000, _MOST_WAIT_S) or None
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds or None
    from email.utils import parsedate_to_datetime

    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    wait_s = (at - (now or datetime.now(UTC))).total_seconds()
    return min(wait_s, _MOST_WAIT_S) if wait_s > 0 else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return min(value, _MOST_WAIT_S) if value >= 0 else None


def _plain_text(body: bytes) -> str:
    """Return the words of a page that is not JSON; of HTML its title."""
    text = body[:20_000].decode("utf-8", "replace")
    if title := re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL):
        return title[1]
    return re.sub(r"<[^>]{0,500}>", " ", text)


def _first(holder: Json, *names: str) -> Json:
    if not isinstance(holder, dict):
        return None
    return next((holder[name] for name in names if holder.get(name)), None)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    line = "".join(char for char in line if char.isprintable())
    return line if len(line) <= _MOST_CHARS else line[: _MOST_CHARS - 1] + "…"
