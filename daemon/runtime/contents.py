"""Texts by content id: those of late in memory, the others from the store."""

from collections import OrderedDict
from collections.abc import Iterable

from daemon.domain import decisions, ids
from daemon.runtime import ports

KEPT_CHARS = 8 * 1024 * 1024


class Contents:
    """A bounded memory in front of the store; only what is durable enters it."""

    def __init__(self, store: ports.Store, kept_chars: int = KEPT_CHARS) -> None:
        self._store = store
        self._kept_chars = kept_chars
        self._chars = 0
        self._kept: OrderedDict[ids.ContentId, decisions.ContentRecord] = OrderedDict()

    def add(self, records: Iterable[decisions.Record]) -> None:
        """Remember texts that were committed, and forget those that are forgotten by it."""
        for record in records:
            match record:
                case decisions.ContentRecord():
                    self._remember(record)
                case decisions.ForgottenRecord():
                    self._forget(record.owner)
                case _:
                    pass

    def _remember(self, record: decisions.ContentRecord) -> None:
        previous = self._kept.pop(record.content_id, None)
        self._chars += len(record.text) - (len(previous.text) if previous is not None else 0)
        self._kept[record.content_id] = record
        while self._chars > self._kept_chars and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._chars -= len(dropped.text)

    def _forget(self, owner: ids.ConversationId) -> None:
        for record in [one for one in self._kept.values() if one.owner == owner]:
            del self._kept[record.content_id]
            self._chars -= len(record.text)

    async def texts(self, content_ids: Iterable[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        """The texts; None for one that was forgotten."""
        found: dict[ids.ContentId, str | None] = {}
        missing: list[ids.ContentId] = []
        for content_id in content_ids:
            record = self._kept.get(content_id)
            if record is None:
                missing.append(content_id)
            else:
                found[content_id] = record.text
        if missing:
            found |= await self._store.texts(missing)
        return found

    async def text(self, content_id: ids.ContentId) -> str | None:
        """One text; None when it was forgotten."""
        return (await self.texts((content_id,)))[content_id]
