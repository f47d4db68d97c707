"""The fixed beginning of prompts, brought back from a file before a prompt and kept after one.

Brought back, it is one more idle sequence, found like any other. What is kept is the state of the
fixed part's own tokens and of no later one: nothing that was said reaches a file. It is taken while
nothing is to compute, and written by a thread of its own, so that no answer ever waits for a disk.
What goes wrong is told in a sentence and costs a prompt that is read anew.
"""

import threading
from collections.abc import Callable, Sequence

from daemon.models.worker import cache as caches, engine, prefixes, residence

LEAST_TOKENS = 128
"""A shorter beginning is read in less time than is worth a file."""


class Keeper:
    """Keeps beginnings of one cache in files; `tell` takes what the owner should know."""

    def __init__(
        self,
        cache: caches.Cache,
        files: prefixes.PrefixFiles,
        tell: Callable[[str], None],
    ) -> None:
        self._cache = cache
        self._files = files
        self._tell = tell
        self._kept: set[str] = set()
        """The names of which a file was read or was tried to be written."""
        self._wanted: dict[str, Sequence[int]] = {}
        self._writer: threading.Thread | None = None
        self._settled = threading.Event()
        self._settled.set()

    def prefix(self, prompt: Sequence[int], fixed: Sequence[int]) -> prefixes.Prefix | None:
        """What of a prompt can be kept, where `fixed` is how it begins but for its end."""
        shared = residence.shared_prefix(prompt, fixed)
        if shared < LEAST_TOKENS:
            return None
        return prefixes.Prefix(self._files.name(fixed), fixed, shared)

    def bring(self, prompt: list[int], prefix: prefixes.Prefix) -> None:
        """Load a prompt's beginning from its file, unless the cache has it already."""
        if self._cache.expected(prompt) >= prefix.shared - residence.LOSS_TOKENS:
            return
        try:
            found = self._files.read(prefix.name)
        except prefixes.PrefixError as error:
            self._tell(str(error))
            return
        if found is None:
            return
        count, saved = found
        if count <= len(prefix.tokens) and self._cache.adopt(prefix.tokens[:count], saved):
            self._kept.add(prefix.name)
            return
        self._files.drop(prefix.name)
        self._tell("A kept beginning of prompts did not fit and is deleted; it is read anew.")

    def want(self, prefix: prefixes.Prefix) -> None:
        """A prompt with this beginning is being read: keep it when there is time."""
        if prefix.name not in self._kept:
            self._settled.clear()
            self._wanted[prefix.name] = prefix.tokens[: prefix.shared]

    def keep_idle(self) -> bool:
        """Keep one beginning; False where there is none, or none can be had."""
        if not self._wanted or (self._writer is not None and self._writer.is_alive()):
            return False
        name, tokens = self._wanted.popitem()
        saved = self._cache.beginning(tokens)
        if saved is None:
            self._settle()
            return False
        self._kept.add(name)
        self._writer = threading.Thread(
            target=self._write, args=(name, len(tokens), saved), name="prefix", daemon=True
        )
        self._writer.start()
        return True

    def settle(self, seconds: float) -> None:
        """Wait, so long at most, until what is wanted is kept; from another thread."""
        self._settled.wait(seconds)

    def _write(self, name: str, count: int, saved: engine.Saved) -> None:
        try:
            self._files.write(name, count, saved)
        except prefixes.PrefixError as error:
            self._tell(str(error))
        self._settle()

    def _settle(self) -> None:
        if not self._wanted:
            self._settled.set()
