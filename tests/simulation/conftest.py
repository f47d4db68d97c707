"""One place and its daemons a test; whatever was started is ended with it."""

from collections.abc import Iterator

import pytest

from tests.simulation import daemon_process


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> daemon_process.Place:
    """A folder with a short name: a socket's path may have 107 bytes."""
    return daemon_process.Place(tmp_path_factory.mktemp("d"))


@pytest.fixture
def daemons(place: daemon_process.Place) -> Iterator[daemon_process.Daemons]:
    started = daemon_process.Daemons(place)
    yield started
    started.close()
