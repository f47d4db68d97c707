"""Identifiers, and how new ones are derived from the randomness that came in with an input.

A decider needs ids but may not roll dice: each input carries a seed of 128 random bits, and the
n-th id of a kind is a digest over (seed, kind, n). Same input, same ids; unguessable outside.
"""

import hashlib
from typing import NewType

TaskId = NewType("TaskId", str)
CallId = NewType("CallId", str)
ApprovalId = NewType("ApprovalId", str)
ConversationId = NewType("ConversationId", str)
ContentId = NewType("ContentId", str)
GrantId = NewType("GrantId", str)
TokenId = NewType("TokenId", str)
DeliveryId = NewType("DeliveryId", str)
ScheduleId = NewType("ScheduleId", str)
RunId = NewType("RunId", str)
"""A run of a schedule; one that came due is named by its schedule and its time."""
ArtifactId = NewType("ArtifactId", str)
"""The lower-case hexadecimal SHA-256 of the artifact's bytes."""

_ID_HEX_CHARS = 32
_TIME_HEX_CHARS = 11
"""Milliseconds since the epoch, until the year 2527."""


class IdSource:
    """Derives the ids of one input in a fixed order from its time and seed.

    Ids that name rows begin with the time, so that new ones stand side by side in an index and a
    commit writes few pages. An approval's is all chance: 128 bits that nobody can guess.
    """

    def __init__(self, at_ms: int, seed: str) -> None:
        self._time = f"{max(0, at_ms):0{_TIME_HEX_CHARS}x}"[-_TIME_HEX_CHARS:]
        self._seed = seed
        self._drawn = 0

    def _chance(self, kind: str) -> str:
        self._drawn += 1
        text = f"{self._seed}|{kind}|{self._drawn}"
        return hashlib.sha256(text.encode()).hexdigest()[:_ID_HEX_CHARS]

    def _next(self, kind: str) -> str:
        return f"{kind}-{self._time}{self._chance(kind)[_TIME_HEX_CHARS:]}"

    def task(self) -> TaskId:
        return TaskId(self._next("task"))

    def call(self) -> CallId:
        return CallId(self._next("call"))

    def approval(self) -> ApprovalId:
        return ApprovalId(f"approval-{self._chance('approval')}")

    def conversation(self) -> ConversationId:
        return ConversationId(self._next("conversation"))

    def content(self) -> ContentId:
        return ContentId(self._next("content"))

    def grant(self) -> GrantId:
        return GrantId(self._next("grant"))

    def token(self) -> TokenId:
        return TokenId(self._next("token"))

    def delivery(self) -> DeliveryId:
        return DeliveryId(self._next("delivery"))

    def schedule(self) -> ScheduleId:
        return ScheduleId(self._next("schedule"))

    def run(self) -> RunId:
        return RunId(self._next("run"))

    def pairing_code(self) -> str:
        """Six digits that two people can compare; no secret."""
        return f"{int(self._chance('pairing'), 16) % 1_000_000:06d}"
