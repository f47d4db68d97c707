"""The settings of the web's tools: explicit places and addresses, and nothing secret in them."""

import pydantic
import pytest

from daemon.config import settings

FINE = {
    "a name": ("allowed", ("nas.home:8080",)),
    "an address": ("allowed", ("192.168.1.5:80", "[fd00::5]:80")),
    "nothing": ("searxng_url", ""),
    "on this machine": ("searxng_url", "http://127.0.0.1:8888"),
    "in a folder": ("searxng_url", "https://search.example/searx/"),
}
FAULTS = {
    "without a port": ("allowed", ("nas.home",), "host:port"),
    "a whole address": ("allowed", ("http://nas.home:8080/",), "host:port"),
    "a star": ("allowed", ("*:80",), "host:port"),
    "a network": ("allowed", ("10.0.0.0/8:80",), "host:port"),
    "in large letters": ("allowed", ("NAS:80",), "small letters"),
    "no scheme": ("searxng_url", "search.example", "begins with http"),
    "another scheme": ("searxng_url", "ftp://search.example", "begins with http"),
    "no host": ("searxng_url", "http:///x", "begins with http"),
    "a password": ("searxng_url", "http://me:word@search.example", "without a password"),
    "a query": ("searxng_url", "http://search.example/?key=word", "without a password, a query"),
    "a fragment": ("keyless_url", "https://search.example/#x", "or a fragment"),
}


def web(key: str, value: object) -> settings.Web:
    given = {"allowed": (), "searxng_url": "", "keyless_search": False, "keyless_url": ""}
    return settings.Web.model_validate({**given, key: value})


@pytest.mark.spec("L-09")
@pytest.mark.parametrize(("key", "value"), FINE.values(), ids=FINE)
def test_places_and_addresses_are_taken_as_they_stand(key: str, value: object) -> None:
    assert getattr(web(key, value), key) == value


@pytest.mark.spec("L-09")
@pytest.mark.parametrize(("key", "value", "said"), FAULTS.values(), ids=FAULTS)
def test_others_are_refused_without_repeating_a_secret(key: str, value: object, said: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=said) as fault:
        web(key, value)
    assert "word" not in fault.value.errors()[0]["msg"].replace("without a password", "")
