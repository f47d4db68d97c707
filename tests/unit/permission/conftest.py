"""The packaged rules, loaded once with all their examples confirmed."""

import tomllib
from importlib import resources

import pytest

from daemon.permission import command, rules


@pytest.fixture(scope="session")
def table() -> dict[str, object]:
    return tomllib.loads((resources.files("config") / "permissions.toml").read_text("utf-8"))


@pytest.fixture(scope="session")
def known(table: dict[str, object]) -> rules.Rules:
    return command.load(table)
