"""Bus updates as wire updates, a page's texts read at once."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from daemon.domain import events
from daemon.rpc import backend, convert, wire_events
from daemon.runtime import bus
from proto.ducklm.v1 import events_pb2


async def updates(
    served: backend.Backend, after_seq: int, scope: bus.Scope
) -> AsyncGenerator[tuple[Sequence[bus.Update], list[events_pb2.Update]]]:
    """Pages of updates, as the domain knows them and as they are sent."""
    async with aclosing(served.bus.subscribe(after_seq, scope)) as pages:
        async for page in pages:
            yield page, await _sent(served, page)


async def _sent(served: backend.Backend, page: Sequence[bus.Update]) -> list[events_pb2.Update]:
    recorded = [one for one in page if isinstance(one, events.Recorded)]
    texts = await served.contents.texts(wire_events.content_of(recorded))
    return [
        events_pb2.Update(event=wire_events.event(one, texts))
        if isinstance(one, events.Recorded)
        else convert.live(one)
        for one in page
    ]
