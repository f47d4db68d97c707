"""A project with its history."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.history import folders


@pytest.fixture
def project(tmp_path: Path) -> Iterator[folders.Project]:
    made = folders.Project(tmp_path)
    yield made
    made.history.close()
