"""Pages of rows that are all in memory, as queries give them of tables."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from daemon.domain import views

_View = TypeVar("_View")


def page(
    found: Iterable[_View], place: Callable[[_View], int], limit: int, before: int | None
) -> views.Page[_View]:
    """The newest rows before a place, at most so many."""
    rows = sorted(found, key=place, reverse=True)
    if before is not None:
        rows = [row for row in rows if place(row) < before]
    more = len(rows) > limit and limit > 0
    return views.Page(
        rows=tuple(rows[:limit]), next_before=place(rows[limit - 1]) if more else None
    )
