"""Events: the log by pages, and its live continuation."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from daemon.domain import errors, ids
from daemon.rpc import backend, interceptors, paging, streams, wire_events
from daemon.runtime import bus
from proto.ducklm.v1 import events_pb2, events_pb2_grpc

_DEFAULT_EVENTS = 100


def _after(seq: int, head_seq: int) -> int:
    if 0 <= seq <= head_seq:
        return seq
    raise errors.Refusal(
        errors.RefusalKind.INVALID,
        f"after_seq must lie between 0 and {head_seq}, the last event of the log; it is {seq}.",
    )


class Events(events_pb2_grpc.EventsServicer):
    """The Events service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def Subscribe(
        self, request: events_pb2.SubscribeRequest, context: interceptors.Context
    ) -> AsyncIterator[events_pb2.Update]:
        head_seq = self._served.bus.head_seq
        after_seq = head_seq if request.from_now else _after(request.after_seq, head_seq)
        scope = bus.Scope(
            task_id=ids.TaskId(request.task_id) or None,
            conversation_id=ids.ConversationId(request.conversation_id) or None,
            live=not request.events_only,
        )
        await self._check(scope)
        await context.send_initial_metadata(())  # from here on nothing is missed
        async with aclosing(streams.updates(self._served, after_seq, scope)) as pages:
            async for _, sent in pages:
                for update in sent:
                    yield update
        raise errors.Refusal(
            errors.RefusalKind.UNAVAILABLE,
            "The daemon is stopping; subscribe again after the last seq that you have seen.",
        )

    async def _check(self, scope: bus.Scope) -> None:
        """Refuse to wait for what will never come."""
        store = self._served.store
        if scope.task_id is not None and await store.task(scope.task_id) is None:
            raise errors.Refusal(errors.RefusalKind.NOT_FOUND, f"There is no task {scope.task_id}.")
        named = scope.conversation_id
        if named is not None and await store.conversation(named) is None:
            raise errors.Refusal(errors.RefusalKind.NOT_FOUND, f"There is no conversation {named}.")

    async def List(
        self, request: events_pb2.ListEventsRequest, context: interceptors.Context
    ) -> events_pb2.ListEventsResponse:
        head_seq = self._served.bus.head_seq
        found = await self._served.store.log(
            _after(request.after_seq, head_seq),
            paging.limit(request.limit, _DEFAULT_EVENTS),
            ids.TaskId(request.task_id) or None,
        )
        texts = await self._served.contents.texts(wire_events.content_of(found))
        return events_pb2.ListEventsResponse(
            events=[wire_events.event(one, texts) for one in found], head_seq=head_seq
        )
