"""A daemon that the tests of this folder share: each works on tasks of its own."""

from collections.abc import Iterator

import pytest

from tests import running_daemon
from tests.integration.rpc import work


@pytest.fixture(scope="session")
def daemon() -> Iterator[running_daemon.RunningDaemon]:
    """One daemon with scripted replies, for tests that leave it as it was."""
    with running_daemon.running(work.SCRIPT) as started:
        yield started


@pytest.fixture(scope="session")
def api(daemon: running_daemon.RunningDaemon) -> Iterator[running_daemon.Api]:
    """The owner's way to the shared daemon."""
    with daemon.api() as opened:
        yield opened
