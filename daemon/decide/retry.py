"""What to do after a model call that gave no result. The decision is a value."""

from enum import StrEnum
from typing import assert_never

from daemon.domain import messages

SHRINKS = 1


class AfterFault(StrEnum):
    """How a task goes on after a failed model call."""

    REPEAT = "repeat"
    SHRINK = "shrink"
    """Repeat with a smaller prompt."""
    WAIT = "wait"
    """The task becomes MODEL_UNAVAILABLE until somebody or something says go on."""
    FAIL = "fail"


def after_fault(
    kind: messages.ModelFaultKind, faults: int, shrinks: int, retries: int
) -> AfterFault:
    """What follows. `faults` and `shrinks` count earlier ones since the model last answered;
    `retries` is how often a call is repeated whose model died or stalled."""
    match kind:
        case messages.ModelFaultKind.DIED | messages.ModelFaultKind.STALLED:
            return AfterFault.REPEAT if faults < retries else AfterFault.WAIT
        case messages.ModelFaultKind.UNAVAILABLE:
            return AfterFault.WAIT
        case messages.ModelFaultKind.OVERFLOW:
            return AfterFault.SHRINK if shrinks < SHRINKS else AfterFault.FAIL
        case messages.ModelFaultKind.REJECTED | messages.ModelFaultKind.SCRIPT:
            return AfterFault.FAIL
        case _:
            assert_never(kind)
