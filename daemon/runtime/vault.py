"""Secrets on their way from a person to one run: in memory, for minutes, handed over once.

Never logs, never keeps one longer than its time, and shows none.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from daemon.domain import ids, redaction
from daemon.runtime import ports
from tools import contract

MOST_SECRETS = 64
SECRET_BYTES = 4096


@dataclass(slots=True)
class _Held:
    data: bytes = field(repr=False)
    until_ms: int


class Vault:
    """Secrets by the task that waits for them. What is in it is taken out of every log line."""

    def __init__(self, clock: ports.Clock, keep_ms: int, redactor: redaction.Redactor) -> None:
        self._clock = clock
        self._keep_ms = keep_ms
        self._redactor = redactor
        self._held: dict[ids.TaskId, _Held] = {}

    def put(self, task_id: ids.TaskId, data: bytes) -> Callable[[], None]:
        """Hold a secret; returns what drops it again."""
        self._drop_old()
        while len(self._held) >= MOST_SECRETS:
            self.drop(next(iter(self._held)))
        self.drop(task_id)
        held = self._held[task_id] = _Held(data, self._clock.monotonic_ms() + self._keep_ms)
        self._redactor.register(data.decode("utf-8", "replace"))
        return lambda: self._drop_this(task_id, held)

    def holds(self, task_id: ids.TaskId) -> bool:
        self._drop_old()
        return task_id in self._held

    @contextmanager
    def lent(self, task_id: ids.TaskId) -> Iterator[contract.Secret | None]:
        """Hand the secret over to the run of the block; when that has ended nothing knows it."""
        self._drop_old()
        held = self._held.pop(task_id, None)
        if held is None:
            yield None
            return
        try:
            yield contract.Secret(held.data)
        finally:
            self._redactor.forget(held.data.decode("utf-8", "replace"))

    def drop(self, task_id: ids.TaskId) -> None:
        """Forget a secret that nobody will take."""
        held = self._held.pop(task_id, None)
        if held is not None:
            self._redactor.forget(held.data.decode("utf-8", "replace"))

    def _drop_this(self, task_id: ids.TaskId, held: _Held) -> None:
        if self._held.get(task_id) is held:
            self.drop(task_id)

    def _drop_old(self) -> None:
        now_ms = self._clock.monotonic_ms()
        for task_id in [one for one, held in self._held.items() if held.until_ms <= now_ms]:
            self.drop(task_id)
