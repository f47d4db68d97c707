"""A daemon with scripted replies that the tests of this folder share."""

from collections.abc import Iterator

import pytest

from tests import running_daemon
from tests.integration.rpc import work


@pytest.fixture(scope="module")
def daemon() -> Iterator[running_daemon.RunningDaemon]:
    with running_daemon.running(work.SCRIPT) as started:
        yield started


@pytest.fixture(scope="module")
def api(daemon: running_daemon.RunningDaemon) -> Iterator[running_daemon.Api]:
    with daemon.api() as opened:
        yield opened
