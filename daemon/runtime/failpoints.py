"""Named points of the runtime where a test may end the process; the product passes them by.

Their list is made from the code: before and after the commit, and before and after each kind of
action. A test composes the daemon with a function that ends the process at one of them.
"""

import typing
from collections.abc import Callable

from daemon.domain import decisions

Reach = Callable[[str], None]


def pass_by(point: str) -> None:
    """What the product does at every point."""
    del point


BEFORE_COMMIT = "commit:before"
AFTER_COMMIT = "commit:after"


def before(kind: str) -> str:
    """The point before an action of a kind."""
    return f"{kind}:before"


def after(kind: str) -> str:
    """The point after an action of a kind, when its outcome is handed in and not yet durable."""
    return f"{kind}:after"


def every() -> tuple[str, ...]:
    """All points that there are."""
    kinds = [action.kind for action in typing.get_args(decisions.Action)]
    around = [point for kind in kinds for point in (before(kind), after(kind))]
    return (BEFORE_COMMIT, AFTER_COMMIT, *around)
