"""Conversations: create, look, change the title and the mode."""

from daemon.domain import decisions, errors, ids, inputs, verdicts, views
from daemon.rpc import backend, caller, convert, interceptors, modes, paging
from proto.ducklm.v1 import conversations_pb2, conversations_pb2_grpc


class Conversations(conversations_pb2_grpc.ConversationsServicer):
    """The Conversations service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def _view(self, conversation_id: str) -> views.ConversationView:
        view = await self._served.store.conversation(ids.ConversationId(conversation_id))
        if view is None:
            raise errors.Refusal(
                errors.RefusalKind.NOT_FOUND, f"There is no conversation {conversation_id}."
            )
        return view

    async def _kept(
        self, given: inputs.CreateConversation | inputs.UpdateConversation
    ) -> conversations_pb2.Conversation:
        reply = await self._served.inbox.ask(given)
        if not isinstance(reply, decisions.ConversationKept):
            raise TypeError(f"a conversation was answered with {type(reply).__name__}")
        return await self._served.conversation(await self._view(reply.conversation_id))

    async def Create(
        self,
        request: conversations_pb2.CreateConversationRequest,
        context: interceptors.Context,
    ) -> conversations_pb2.Conversation:
        who = caller.current()
        mode = convert.mode(request.mode) or verdicts.Mode.BUILD
        stated = convert.origin(request.origin, who.credential).principal
        modes.check(self._served, mode, who.credential, stated)
        return await self._kept(
            inputs.CreateConversation(
                credential=who.credential.name,
                principal=stated,
                correlation_id=who.correlation_id,
                client_key=request.client_key,
                body_hash=convert.body_hash(request),
                title=request.title,
                mode=mode,
            )
        )

    async def Get(
        self, request: conversations_pb2.GetConversationRequest, context: interceptors.Context
    ) -> conversations_pb2.Conversation:
        return await self._served.conversation(await self._view(request.conversation_id))

    async def List(
        self, request: conversations_pb2.ListConversationsRequest, context: interceptors.Context
    ) -> conversations_pb2.ListConversationsResponse:
        page = await self._served.store.conversations(
            paging.size(request.page), paging.before(request.page)
        )
        return conversations_pb2.ListConversationsResponse(
            conversations=[await self._served.conversation(view) for view in page.rows],
            next_page_token=paging.token(page.next_before),
        )

    async def Update(
        self,
        request: conversations_pb2.UpdateConversationRequest,
        context: interceptors.Context,
    ) -> conversations_pb2.Conversation:
        mode = _mode_to_set(request)
        who = caller.current()
        stated = convert.origin(request.origin, who.credential).principal
        modes.check(self._served, mode, who.credential, stated)
        return await self._kept(
            inputs.UpdateConversation(
                credential=who.credential.name,
                principal=stated,
                correlation_id=who.correlation_id,
                client_key=request.client_key,
                body_hash=convert.body_hash(request),
                conversation_id=ids.ConversationId(request.conversation_id),
                title=request.title if request.HasField("title") else None,
                mode=mode,
            )
        )


def _mode_to_set(request: conversations_pb2.UpdateConversationRequest) -> verdicts.Mode | None:
    if not request.HasField("mode"):
        if not request.HasField("title"):
            raise errors.Refusal(
                errors.RefusalKind.INVALID, "Set the fields to change: title, mode, or both."
            )
        return None
    mode = convert.mode(request.mode)
    if mode is None:
        raise errors.Refusal(errors.RefusalKind.INVALID, "mode is one of PLAN, BUILD, YOLO.")
    return mode
