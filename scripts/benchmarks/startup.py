"""startup: the daemon's way to health SERVING, and what its process takes when idle."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from scripts.benchmarks import figure, processes

STARTS = 9
_MIB = 1e6
_IDLE_SECONDS = 2.0
"""Until what is loaded beside the first calls is there too."""


def measure() -> Sequence[figure.Figure]:
    """Medians over several starts on one state folder; the first one, which makes it, is apart."""
    seconds: list[float] = []
    resident: list[float] = []
    with tempfile.TemporaryDirectory(prefix="duck") as name:
        folder = Path(name)
        for _ in range(STARTS):
            with processes.daemon(folder) as running:
                seconds.append(running.started_seconds)
                time.sleep(_IDLE_SECONDS)
                resident.append(psutil.Process(running.pid).memory_info().rss / _MIB)
    return [
        figure.Figure("startup.serving", statistics.median(seconds[1:]), "s", 0.9, "lower"),
        figure.Figure("startup.idle_rss", statistics.median(resident[1:]), "MB", 95, "lower"),
    ]
