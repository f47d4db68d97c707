"""policy: how long a verdict takes over the corpus, and how long the rules take to load."""

import statistics
import time
import tomllib
from collections.abc import Sequence
from importlib import resources

from daemon.permission import command
from scripts.benchmarks import figure
from tests import corpus

ROUNDS = 5
_MS = 1000


def measure() -> Sequence[figure.Figure]:
    """The 99th percentile over all rows, each the median of its rounds."""
    table = tomllib.loads((resources.files("config") / "permissions.toml").read_text("utf-8"))
    began = time.perf_counter()
    known = command.load(table)
    loaded = time.perf_counter() - began
    taken: list[float] = []
    for row in corpus.rows("commands.tsv"):
        rounds: list[float] = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            command.judge(known, row.command, command.EXAMPLE_PLACE)
            rounds.append((time.perf_counter() - began) * _MS)
        taken.append(statistics.median(rounds))
    p99 = statistics.quantiles(taken, n=100)[98]
    return [
        figure.Figure("policy.verdict_p99", p99, "ms", 5, "lower"),
        figure.Figure("policy.load", loaded, "s", 1, "lower"),
    ]
