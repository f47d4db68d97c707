"""How many threads are worth starting: the physical cores that this process may use."""

import os
import pathlib

_SYSTEM = pathlib.Path("/sys/devices/system/cpu")


def count() -> int:
    """Physical cores within the affinity; hyperthreads of one core slow each other down."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    cores = {_siblings(processor) for processor in os.sched_getaffinity(0)}
    return max(1, len(cores))


def _siblings(processor: int) -> str:
    path = _SYSTEM / f"cpu{processor}" / "topology" / "thread_siblings_list"
    try:
        return path.read_text().strip()
    except OSError:
        return str(processor)
