"""The seams to the outside world. Each has a real adapter and a fake that keep the same contract.

`models` and `storage` implement them; `bootstrap` puts them together; nothing else names concretes.
"""

from collections.abc import Sequence
from typing import Protocol

from daemon.domain import messages


class Feed(Protocol):
    """Where a running model call reports. Never blocks; safe only on the event loop's thread."""

    def text(self, piece: str) -> None:
        """The next piece of the answer. The first comes at once, later ones are coalesced."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """What the call is doing: bytes loaded, places ahead, or prompt tokens prefilled."""


class Model(Protocol):
    """One slot that generates text."""

    @property
    def name(self) -> str:
        """The slot's name in `models.toml`."""

    @property
    def context_tokens(self) -> int:
        """How many tokens of prompt and answer together fit."""

    async def generate(self, request: messages.ModelRequest, feed: Feed) -> messages.ModelResult:
        """Generate one answer. Cancelling the awaiting task stops the generation within a batch.

        Raises:
            errors.ModelFault: the call gave no result; its kind says why.
        """

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """The number of tokens of each text, by this slot's tokenizer.

        Raises:
            errors.ModelFault: the tokenizer cannot be reached.
        """

    async def stop(self) -> None:
        """End what the slot runs; it starts again with the next call."""
