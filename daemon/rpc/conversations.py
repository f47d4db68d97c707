"""Conversations: create, look, change, summarize, write out, undo, delete."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from daemon.domain import decisions, errors, ids, inputs, principals, verdicts, views
from daemon.rpc import (
    backend,
    caller,
    convert,
    folders,
    interceptors,
    modes,
    paging,
    task_logs,
)
from proto.ducklm.v1 import conversations_pb2, conversations_pb2_grpc

_SETTINGS = ("title", "mode", "folder", "profile", "steering")


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
        origin = convert.origin(request.origin, who.credential)
        modes.check(self._served, mode, who.credential, origin.principal)
        return await self._kept(
            inputs.CreateConversation(
                **convert.keyed(request, request.client_key, who, origin.principal),
                title=request.title,
                mode=mode,
                folder=await folders.named(self._served, request.folder),
                profile=request.profile,
                steers=convert.steers(request.steering),
                place=principals.place(origin) if origin.chat else "",
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
        if not any(field.name in _SETTINGS for field, _ in request.ListFields()):
            raise _invalid(f"Set the fields to change, one or more of: {', '.join(_SETTINGS)}.")
        mode, steers = _mode_to_set(request), _steers_to_set(request)
        who = caller.current()
        stated = convert.origin(request.origin, who.credential).principal
        modes.check(self._served, mode, who.credential, stated)
        folder = None
        if request.HasField("folder"):
            folder = await folders.named(self._served, request.folder)
        return await self._kept(
            inputs.UpdateConversation(
                **convert.keyed(request, request.client_key, who, stated),
                conversation_id=ids.ConversationId(request.conversation_id),
                title=request.title if request.HasField("title") else None,
                mode=mode,
                folder=folder,
                profile=request.profile if request.HasField("profile") else None,
                steers=steers,
            )
        )

    async def Delete(
        self,
        request: conversations_pb2.DeleteConversationRequest,
        context: interceptors.Context,
    ) -> conversations_pb2.DeleteConversationResponse:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential).principal
        conversation_id = ids.ConversationId(request.conversation_id)
        await self._check_own(conversation_id, stated)
        reply = await self._served.inbox.ask(
            inputs.DeleteConversation(
                **convert.keyed(request, request.client_key, who, stated),
                conversation_id=conversation_id,
            )
        )
        if not isinstance(reply, decisions.ConversationKept):
            raise TypeError(f"a deletion was answered with {type(reply).__name__}")
        return conversations_pb2.DeleteConversationResponse(conversation_id=reply.conversation_id)

    async def Compact(
        self,
        request: conversations_pb2.CompactConversationRequest,
        context: interceptors.Context,
    ) -> conversations_pb2.CompactConversationResponse:
        who = caller.current()
        origin = convert.origin(request.origin, who.credential)
        reply = await self._served.inbox.ask(
            inputs.CompactConversation(
                **convert.keyed(request, request.client_key, who, origin.principal),
                conversation_id=ids.ConversationId(request.conversation_id),
                origin=origin,
            )
        )
        if not isinstance(reply, decisions.Submitted):
            raise TypeError(f"a compaction was answered with {type(reply).__name__}")
        return conversations_pb2.CompactConversationResponse(
            task_id=reply.task_id, conversation_id=reply.conversation_id, seq=reply.seq
        )

    async def Export(
        self,
        request: conversations_pb2.ExportConversationRequest,
        context: interceptors.Context,
    ) -> AsyncIterator[conversations_pb2.ExportPiece]:
        from daemon.rpc import export

        export.check(request)
        view = await self._view(request.conversation_id)
        async with aclosing(export.pieces(self._served, view, request)) as pieces:
            async for text in pieces:
                yield conversations_pb2.ExportPiece(text=text)

    async def Undo(
        self, request: conversations_pb2.UndoRequest, context: interceptors.Context
    ) -> conversations_pb2.UndoResponse:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential).principal
        conversation_id = ids.ConversationId(request.conversation_id)
        await self._check_own(conversation_id, stated)
        reply = await self._served.inbox.ask(
            inputs.UndoExchange(
                **convert.keyed(request, request.client_key, who, stated),
                conversation_id=conversation_id,
            )
        )
        if not isinstance(reply, decisions.Undone):
            raise TypeError(f"an undo was answered with {type(reply).__name__}")
        return conversations_pb2.UndoResponse(
            task_id=reply.task_id,
            commits=reply.commits,
            left=await task_logs.left_calls(self._served, reply.task_id, reply.left),
        )

    async def _check_own(
        self, conversation_id: ids.ConversationId, stated: principals.Principal
    ) -> None:
        """Raise errors.Refusal where it is another's. One that is not there is not refused here:
        a repetition asks for one that the first time has deleted."""
        view = await self._served.store.conversation(conversation_id)
        if view is None or stated == view.principal or self._served.is_owner(stated):
            return
        raise errors.Refusal(
            errors.RefusalKind.FORBIDDEN,
            "Only whoever began a conversation and an owner of this daemon may do that to it.",
        )


def _invalid(sentence: str) -> errors.Refusal:
    return errors.Refusal(errors.RefusalKind.INVALID, sentence)


def _mode_to_set(request: conversations_pb2.UpdateConversationRequest) -> verdicts.Mode | None:
    if not request.HasField("mode"):
        return None
    mode = convert.mode(request.mode)
    if mode is None:
        raise _invalid("mode is one of PLAN, BUILD, YOLO.")
    return mode


def _steers_to_set(request: conversations_pb2.UpdateConversationRequest) -> bool | None:
    if not request.HasField("steering"):
        return None
    steers = convert.steers(request.steering)
    if steers is None:
        raise _invalid("steering is one of QUEUE, STEER.")
    return steers
