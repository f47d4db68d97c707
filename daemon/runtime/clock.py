"""The real clock and real chance."""

import secrets
import time

_SEED_BYTES = 16
_SEEDS_DRAWN = 64
"""Taken from the operating system at once: a call of it costs as much as a fold of an event."""


class SystemClock:
    """The machine's clock."""

    def __init__(self) -> None:
        self._offset_asked = -1
        self._offset_minutes = 0

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def utc_offset_minutes(self) -> int:
        minute = int(time.time()) // 60  # it changes at the full minute, and is asked for often
        if minute != self._offset_asked:
            self._offset_asked = minute
            self._offset_minutes = time.localtime().tm_gmtoff // 60
        return self._offset_minutes


class SystemChance:
    """The operating system's randomness. For one thread."""

    def __init__(self) -> None:
        self._seeds: list[str] = []

    def seed(self) -> str:
        if not self._seeds:
            drawn = secrets.token_hex(_SEED_BYTES * _SEEDS_DRAWN)
            size = 2 * _SEED_BYTES
            self._seeds = [drawn[at : at + size] for at in range(0, len(drawn), size)]
        return self._seeds.pop()
