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
        self._texts: OrderedDict[ids.ContentId, str] = OrderedDict()

    def add(self, records: Iterable[decisions.Record]) -> None:
        """Remember texts that were committed."""
        for record in records:
            if isinstance(record, decisions.ContentRecord):
                self._remember(record.content_id, record.text)

    def _remember(self, content_id: ids.ContentId, text: str) -> None:
        previous = self._texts.pop(content_id, None)
        self._chars += len(text) - len(previous or "")
        self._texts[content_id] = text
        while self._chars > self._kept_chars and len(self._texts) > 1:
            _, dropped = self._texts.popitem(last=False)
            self._chars -= len(dropped)

    async def texts(self, content_ids: Iterable[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        """The texts; None for one that was forgotten."""
        found: dict[ids.ContentId, str | None] = {}
        missing: list[ids.ContentId] = []
        for content_id in content_ids:
            text = self._texts.get(content_id)
            if text is None:
                missing.append(content_id)
            else:
                found[content_id] = text
        if missing:
            found |= await self._store.texts(missing)
        return found

    async def text(self, content_id: ids.ContentId) -> str | None:
        """One text; None when it was forgotten."""
        return (await self.texts((content_id,)))[content_id]
