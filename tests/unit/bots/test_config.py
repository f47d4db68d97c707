"""Where the client finds the daemon and its token."""

import os
import pathlib

import pytest

from bots import config

HOME = pathlib.Path("/home/duck")


@pytest.mark.parametrize(
    ("environ", "flag", "folder"),
    [
        ({}, None, "/home/duck/.local/state/ducklm"),
        ({"XDG_STATE_HOME": "/x"}, None, "/x/ducklm"),
        ({"XDG_STATE_HOME": "relative"}, None, "/home/duck/.local/state/ducklm"),
        ({"XDG_STATE_HOME": "/x", "DUCKLM_STATE": "/s"}, None, "/s"),
        ({"DUCKLM_STATE": "/s"}, "/f", "/f"),
        ({"DUCKLM_STATE": ""}, None, "/home/duck/.local/state/ducklm"),
    ],
)
def test_the_state_folder(environ: dict[str, str], flag: str | None, folder: str) -> None:
    assert config.state_folder(environ, HOME, flag) == pathlib.Path(folder)
    socket = config.read(environ, HOME, flag).address
    assert socket == f"unix:{folder}/ducklmd.sock"


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("unix:/run/x.sock", "unix:/run/x.sock"),
        ("unix:///run/x.sock", "unix:/run/x.sock"),
        ("127.0.0.1:7411", "127.0.0.1:7411"),
        ("127.9.9.9:1", "127.9.9.9:1"),
        ("localhost:7411", "localhost:7411"),
        ("[::1]:7411", "[::1]:7411"),
    ],
)
def test_addresses_that_are_taken(address: str, wanted: str) -> None:
    assert config.check_address(address) == wanted


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("192.168.1.5:7411", "192.168.1.5 is not this machine"),
        ("example.com:7411", "without TLS"),
        ("localhost.example.com:7411", "without TLS"),
        ("[2001:db8::1]:7411", "without TLS"),
        ("0.0.0.0:7411", "without TLS"),
        ("127.0.0.1", "neither"),
        (":7411", "neither"),
        ("127.0.0.1:0", "neither"),
        ("127.0.0.1:99999", "neither"),
        ("127.0.0.1:x", "neither"),
        ("unix:", "neither"),
        ("dns:///example.com:1", "without TLS"),
        ("unix:/" + "x" * 120, "too long"),
    ],
)
def test_addresses_that_are_refused(address: str, sentence: str) -> None:
    with pytest.raises(config.ConfigError, match=sentence):
        config.check_address(address)


def test_the_address_is_flag_then_environment() -> None:
    environ = {"DUCKLM_ADDRESS": "127.0.0.1:1"}
    assert config.read(environ, HOME).address == "127.0.0.1:1"
    assert config.read(environ, HOME, address_flag="127.0.0.1:2").address == "127.0.0.1:2"


def test_the_token_is_environment_then_file(tmp_path: pathlib.Path) -> None:
    assert config.read({}, HOME, str(tmp_path)).token == ""
    (tmp_path / "token").write_text("from-file\n")
    assert config.read({}, HOME, str(tmp_path)).token == "from-file"
    environ = {"DUCKLM_TOKEN": "from-environment"}
    settings = config.read(environ, HOME, str(tmp_path))
    assert settings.token == "from-environment"
    assert "from-environment" not in repr(settings)


@pytest.mark.parametrize("content", [b"two\nlines", b"\xff\xfe", b"a\x00b"])
def test_a_damaged_token_is_told_and_not_shown(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(config.ConfigError, match="damaged") as caught:
        config.read({}, HOME, str(tmp_path))
    assert "two" not in str(caught.value)


def test_a_token_that_cannot_be_read_is_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(config.ConfigError, match=os.strerror(21)):
        config.read({}, HOME, str(tmp_path))
