"""What broke a connection, told so that a user knows what to do."""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from planloom.errors import ModelError
from planloom.models.provider_errors import Endpoint


@dataclass(frozen=True, slots=True)
class _Advice:
    """What an error means and what to do; `{url}`, `{model}`, `{reason}`, `{s}` are filled in."""

    en: str
    zh: str
    transient: bool = False


_SILENT = _Advice(
    "Model '{model}' at {url} gave no answer within {s:g} s. "
    "Try again, or allow it more time with PLANLOOM_LLM_TIMEOUT_S.",
    "{url} 上的模型“{model}”在 {s:g} 秒内没有回答。请重试，或用 PLANLOOM_LLM_TIMEOUT_S 延长时限。",
    transient=True,
)
_NEVER_CONNECTED = _Advice(
    "{url} did not take a connection within {s:g} s. "
    "Check PLANLOOM_BASE_URL, the network and whether a proxy is needed (HTTPS_PROXY).",
    "{url} 在 {s:g} 秒内未能建立连接。"
    "请检查 PLANLOOM_BASE_URL、网络，以及是否需要代理（HTTPS_PROXY）。",
    transient=True,
)
_PROXY = _Advice(
    "The proxy on the way to {url} cannot be used: {reason}. Check HTTP_PROXY and HTTPS_PROXY, "
    "or list the host in NO_PROXY.",
    "无法通过代理访问 {url}：{reason}。请检查 HTTP_PROXY 和 HTTPS_PROXY，或把该主机加入 NO_PROXY。",
)
_TLS = _Advice(
    "No secure connection to {url}: {reason}. Check PLANLOOM_BASE_URL (http or https?); where a "
    "company proxy has certificates of its own, name them with SSL_CERT_FILE.",
    "无法与 {url} 建立安全连接：{reason}。请检查 PLANLOOM_BASE_URL（是 http 还是 https）；"
    "若公司代理使用自有证书，请用 SSL_CERT_FILE 指定。",
)
_UNKNOWN_HOST = _Advice(
    "The host of {url} is not found: {reason}. Check PLANLOOM_BASE_URL and the network connection.",
    "找不到 {url} 的主机：{reason}。请检查 PLANLOOM_BASE_URL 和网络连接。",
)
_REFUSED = _Advice(
    "No connection to {url}: {reason}. Is the server running there? "
    "Start it, or set PLANLOOM_BASE_URL to where it is.",
    "无法连接 {url}：{reason}。该地址的服务是否已启动？"
    "请启动它，或把 PLANLOOM_BASE_URL 设为正确的地址。",
)
_NO_ADDRESS = _Advice(
    "'{url}' is no address that can be asked: {reason}. "
    "Set PLANLOOM_BASE_URL to one such as https://api.openai.com/v1.",
    "“{url}”不是有效的地址：{reason}。"
    "请把 PLANLOOM_BASE_URL 设为形如 https://api.openai.com/v1 的地址。",
)
_BROKEN_OFF = _Advice(
    "The connection to {url} broke off while model '{model}' answered: {reason}. "
    "Try again; if it stays so, look at the server's log.",
    "模型“{model}”回答时与 {url} 的连接中断：{reason}。请重试；若一直如此，请查看服务器日志。",
    transient=True,
)


def connection_error(
    endpoint: Endpoint, error: Exception, *, timeout_s: float, connect_s: float
) -> ModelError:
    """Return the error that tells what `error`, raised by aiohttp or the system, means.

    `timeout_s` is how long the model had to answer, `connect_s` to take the connection.
    """
    advice = _advice(error)
    seconds = connect_s if advice is _NEVER_CONNECTED else timeout_s
    return _error(endpoint, advice, _reason(error), seconds)


def timeout_error(endpoint: Endpoint, timeout_s: float) -> ModelError:
    """Return the error that tells of a model that took too long."""
    return _error(endpoint, _SILENT, "", timeout_s)


def _error(endpoint: Endpoint, advice: _Advice, reason: str, seconds: float) -> ModelError:
    url, model, reason = endpoint.base_url, endpoint.model, endpoint.redact(reason)
    return ModelError(
        advice.en.format(url=url, model=model, reason=reason, s=seconds),
        zh=advice.zh.format(url=url, model=model, reason=reason, s=seconds),
        transient=advice.transient,
        may_be_starting=advice is _REFUSED and _is_local(url),
        sent=advice in {_SILENT, _BROKEN_OFF},
    )


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    # The whole network 127.0.0.0/8, but no name that only begins like it.
    return host in {"localhost", "::1"} or re.fullmatch(r"127(\.\d+){3}", host) is not None


def _advice(error: Exception) -> _Advice:
    import aiohttp

    # The order matters: the first ones are kinds of the later ones.
    kinds: tuple[tuple[tuple[type[Exception], ...], _Advice], ...] = (
        ((aiohttp.ConnectionTimeoutError,), _NEVER_CONNECTED),
        ((TimeoutError,), _SILENT),
        ((aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError), _PROXY),
        ((aiohttp.ClientSSLError, ssl.SSLError), _TLS),
        ((aiohttp.ClientConnectorDNSError, socket.gaierror), _UNKNOWN_HOST),
        ((aiohttp.ClientConnectorError,), _REFUSED),
        ((aiohttp.InvalidURL, ValueError), _NO_ADDRESS),
    )
    return next((advice for types, advice in kinds if isinstance(error, types)), _BROKEN_OFF)


def _reason(error: Exception) -> str:
    """Return the system's words for an error, in one short line."""
    cause = getattr(error, "os_error", None) or error
    words = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return " ".join(str(words).split())[:200]
