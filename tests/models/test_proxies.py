import pytest

from planloom.errors import ConfigError
from planloom.models.proxies import proxy_for

ADDRESS = "https://api.example.com:8443/v1"


@pytest.mark.parametrize(
    ("excepted", "is_used"),
    [
        ("", True),
        ("other.com", True),
        ("xample.com", True),
        ("example.com:443", True),
        ("*", False),
        ("example.com", False),
        ("localhost, .example.com", False),
        ("*.example.com", False),
        ("API.example.com:8443", False),
    ],
)
def test_excepted_hosts_are_reached_directly(excepted: str, is_used: bool):
    proxies = {"https": "http://proxy:3128", "no": excepted}
    assert proxy_for(ADDRESS, proxies) == ("http://proxy:3128" if is_used else None)


@pytest.mark.parametrize("excepted", ["10.0.0.0/8", "10.1.2.3"])
def test_excepted_networks_are_reached_directly(excepted: str):
    assert proxy_for("http://10.1.2.3/v1", {"all": "proxy:1", "no": excepted}) is None
    assert proxy_for("http://11.1.2.3/v1", {"all": "proxy:1", "no": excepted}) == "http://proxy:1"


@pytest.mark.parametrize("host", ["localhost:11434", "127.0.0.1:8000", "[::1]", "127.1.2.3"])
def test_this_machine_is_reached_directly(host: str):
    assert proxy_for(f"http://{host}/v1", {"all": "http://proxy:1"}) is None


@pytest.mark.parametrize(
    "proxy", ["http://[::1", "proxy:99999", "http://u:secret@proxy:x", "http://"]
)
def test_proxy_that_is_no_address_is_told(proxy: str):
    with pytest.raises(ConfigError, match="no HTTP proxy") as caught:
        proxy_for(ADDRESS, {"https": proxy})
    assert "secret" not in str(caught.value)


def test_other_kinds_of_proxies_are_refused_without_their_password():
    with pytest.raises(ConfigError, match="no HTTP proxy") as caught:
        proxy_for(ADDRESS, {"all": "socks5://user:pw@proxy:1080"})
    assert "pw" not in str(caught.value)
