"""Which proxy leads to an address, by the variables that other programs read too."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from planloom.errors import ConfigError


def proxy_for(address: str, proxies: Mapping[str, str]) -> str | None:
    """Return the proxy on the way to an address, None for none.

    `proxies` as `urllib.request.getproxies_environment` gives them: by scheme, with "all" for any
    and "no" for the hosts to which none leads (names, with what lies below them; addresses;
    networks such as 10.0.0.0/8; "*"). None leads to this machine itself.

    >>> proxy_for("https://api.example.com/v1", {"https": "http://proxy:3128"})
    'http://proxy:3128'
    >>> proxy_for("https://api.example.com/v1", {"https": "http://proxy:3128", "no": "example.com"})

    Raises:
        ConfigError: it is of a kind that cannot be used, or no address.
    """
    parts = urlsplit(address)
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or _is_this_machine(parts.hostname or ""):
        return None
    if any(_covers(entry, parts) for entry in proxies.get("no", "").split(",")):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not _is_usable(proxy):
        shown = proxy.rpartition("@")[2]
        raise ConfigError(
            f"The proxy '{shown}' of the environment is no HTTP proxy, and no other kind can be "
            "used. Set HTTPS_PROXY to an HTTP proxy, or list the model's host in NO_PROXY.",
            zh=f"环境变量中的代理“{shown}”不是 HTTP 代理，无法使用。"
            "请把 HTTPS_PROXY 设为 HTTP 代理，或把模型所在主机加入 NO_PROXY。",
        )
    return proxy


def _is_usable(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket without its pair, a port that is no number
        return False


def _is_this_machine(host: str) -> bool:
    """Tell whether a proxy could only reach its own machine instead: local models run here."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _covers(entry: str, parts: SplitResult) -> bool:
    """Tell whether an entry of NO_PROXY means the host of an address."""
    host = (parts.hostname or "").rstrip(".").lower()
    entry = entry.strip().lower()
    if entry in {"*", host}:
        return True
    if "/" in entry:
        return _is_in_network(host, entry)
    if entry.count(":") == 1:
        entry, _, port = entry.partition(":")
        if port != str(parts.port):
            return False
    entry = entry.strip("[]").removeprefix("*").strip(".")
    return bool(entry) and (host == entry or host.endswith(f".{entry}"))


def _is_in_network(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
