"""Text on its way out in pieces: the first at once, later ones coalesced.

Pure: the time comes in as an argument, in seconds.
"""

COALESCE_SECONDS = 0.040


class Pieces:
    """The answer of one generation, or its thoughts."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._held = ""
        self._held_since = 0.0

    def add(self, text: str) -> None:
        """Take more text."""
        self._held += text

    def due(self, now: float, next_in: float) -> str:
        """What should be sent now, or "".

        `next_in` is how long the next token will take: what cannot wait for it is due already.
        """
        if not self._held:
            return ""
        if not self._parts:
            return self._release(now)
        if now + next_in - self._held_since < COALESCE_SECONDS:
            return ""
        return self._release(now)

    def finish(self) -> str:
        """All that is left."""
        return self._release(0.0)

    def text(self) -> str:
        """Everything that was released."""
        return "".join(self._parts)

    def _release(self, now: float) -> str:
        piece, self._held, self._held_since = self._held, "", now
        self._parts.append(piece)
        return piece
