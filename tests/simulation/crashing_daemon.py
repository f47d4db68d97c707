"""A daemon that ends, as by kill -9, when a named point is reached for the n-th time.

The product itself, composed with another `reach`. Counts only while the file `--armed` exists, and
writes every point that it passes to `--passed`, when that is given.
"""

import argparse
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from daemon import bootstrap, exits
from daemon.runtime import clock
from daemon.storage import lock
from tools import registry

CRASHED = 77


@dataclass
class Crash:
    """Ends the process at one point."""

    point: str
    hit: int
    armed: Path | None
    passed: Path | None
    _hits: Counter[str] = field(default_factory=Counter)

    def reach(self, point: str) -> None:
        if self.armed is not None and not self.armed.exists():
            return
        self._hits[point] += 1
        if self.passed is not None:
            with self.passed.open("a") as file:
                file.write(f"{point}\n")
        if point == self.point and self._hits[point] == self.hit:
            os._exit(CRASHED)


class SteppedClock(clock.SystemClock):
    """The machine's clock, set so many milliseconds ahead as a file says now."""

    def __init__(self, ahead: Path) -> None:
        super().__init__()
        self._ahead = ahead

    def now_ms(self) -> int:
        return super().now_ms() + int(self._ahead.read_text())


def parser() -> argparse.ArgumentParser:
    """The options that every daemon of this kind takes."""
    taken = argparse.ArgumentParser()
    taken.add_argument("--state", type=Path, required=True)
    taken.add_argument("--models", type=Path, required=True)
    taken.add_argument("--listen", action="append", default=[])
    taken.add_argument("--point", default="")
    taken.add_argument("--hit", type=int, default=1)
    taken.add_argument("--armed", type=Path)
    taken.add_argument("--passed", type=Path)
    taken.add_argument("--ahead", type=Path, help="the file of a clock that is set")
    return taken


def run(given: argparse.Namespace, build: registry.Build = registry.build) -> int:
    """Serve until the point is reached, or until told to stop; returns the exit code."""
    arguments = exits.Arguments(
        state=given.state,
        projects=Path(os.environ["XDG_DATA_HOME"]) / "ducklm" / "projects",
        xdg_config=Path(os.environ["XDG_CONFIG_HOME"]) / "ducklm",
        config=None,
        models=given.models,
        listen=tuple(given.listen),
    )
    crash = Crash(given.point, given.hit, given.armed, given.passed)
    now = None if given.ahead is None else SteppedClock(given.ahead)
    return bootstrap.run(arguments, lock.take(given.state), crash.reach, build, now)


if __name__ == "__main__":
    sys.exit(run(parser().parse_args()))
