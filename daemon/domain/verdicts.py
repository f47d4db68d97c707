"""What policy says of a call, how strict that is, and what lets a call run."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What policy says of a call, from the mildest to the strictest."""

    ALLOW_READONLY = "allow-readonly"
    ASK = "ask"
    ASK_NEVER_ALWAYS = "ask-never-always"
    HARD_STOP = "hard-stop"


class Mode(StrEnum):
    """How much a conversation's tasks may do unasked."""

    PLAN = "plan"
    """Nothing that changes anything."""
    BUILD = "build"
    """What only reads; everything else asks."""
    YOLO = "yolo"
    """Normal calls too; never what asks always, and never in a tainted task."""


class Basis(StrEnum):
    """What let a call run."""

    READ_ONLY = "read_only"
    APPROVAL = "approval"
    GRANT = "grant"
    YOLO = "yolo"
    NAMED = "named"
    """The user's own message named what it reads."""


ORDER = {verdict: rank for rank, verdict in enumerate(Verdict)}


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """The strictest of several; nothing at all only reads."""
    return max(verdicts, key=ORDER.__getitem__, default=Verdict.ALLOW_READONLY)


def stricter(verdict: Verdict) -> Verdict:
    """One step stricter, but never a hard stop that was none."""
    if verdict is Verdict.ALLOW_READONLY:
        return Verdict.ASK
    return Verdict.ASK_NEVER_ALWAYS if verdict is Verdict.ASK else verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict over one call with its reasons in plain words."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    always_allowed: bool = False
