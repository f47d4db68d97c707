"""Reads of deliveries without a disk, over the rows of projections."""

from collections.abc import Collection, Iterable

from daemon.domain import deliveries, ids, views
from daemon.storage import pages


class InMemoryDeliveries:
    """The deliveries of an in-memory store."""

    def __init__(self, found: Iterable[views.DeliveryView]) -> None:
        self._all = sorted(found, key=lambda one: (one.created_seq, one.delivery_id))

    def one(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None:
        return next((one for one in self._all if one.delivery_id == delivery_id), None)

    def page(
        self,
        limit: int,
        before: int | None,
        account: str,
        states: Collection[deliveries.State],
    ) -> views.Page[views.DeliveryView]:
        """Newest first. Several of one event stand on one page."""
        found = (
            one
            for one in self._all
            if (not account or one.target.account == account)
            and (not states or one.state in states)
        )
        return pages.page(found, lambda one: one.created_seq, limit, before)

    def open_ones(self, account: str, after_seq: int, limit: int) -> tuple[views.DeliveryView, ...]:
        """Those that are to be shown, in the order in which they changed."""
        found = [
            one
            for one in self._all
            if account in ("", one.target.account)
            and one.state in deliveries.OPEN
            and one.changed_seq > after_seq
        ]
        found.sort(key=lambda one: (one.changed_seq, one.delivery_id))
        return tuple(found[:limit])

    def of_message(self, account: str, chat: str, message_id: str) -> views.DeliveryView | None:
        """The newest that a message shows."""
        found = (
            one
            for one in reversed(self._all)
            if (one.target.account, one.target.chat) == (account, chat)
            and message_id in one.platform_ids
        )
        return next(found, None)

    def open_in(
        self, account: str, chat: str, waiting: Collection[ids.DeliveryId | None]
    ) -> tuple[ids.DeliveryId, ...]:
        """Those of a chat that are to be shown, and those that a task still waits for."""
        return tuple(
            one.delivery_id
            for one in self._all
            if (one.target.account, one.target.chat) == (account, chat)
            and (one.state in deliveries.OPEN or one.delivery_id in waiting)
        )
