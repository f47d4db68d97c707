"""`python -m scripts.benchmarks NAME...`: measure, print, and exit 1 where a target is missed."""

import sys
from collections.abc import Callable, Sequence

from scripts.benchmarks import approval, events, figure, overhead, policy, prompt, startup

BENCHMARKS: dict[str, Callable[[], Sequence[figure.Figure]]] = {
    "startup": startup.measure,
    "prompt": prompt.measure,
    "overhead": overhead.measure,
    "events": events.measure,
    "policy": policy.measure,
    "approval": approval.measure,
}


def main(names: Sequence[str]) -> int:
    """Measure what is named, or everything; returns the exit code."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        known = ", ".join(BENCHMARKS)
        sys.stderr.write(f"bench: there is no {', '.join(unknown)}; there are {known}\n")
        return 2
    met = True
    for name in names or BENCHMARKS:
        for measured in BENCHMARKS[name]():
            figure.show(measured)
            met = met and measured.ok
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
