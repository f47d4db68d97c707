"""Tasks: submit, ask, chat, look, cancel, decide, say what an answer is worth."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from daemon.domain import decisions, errors, events, ids, inputs, state, views
from daemon.rpc import backend, caller, convert, folders, interceptors, modes, paging, streams
from daemon.runtime import bus
from proto.ducklm.v1 import events_pb2, tasks_pb2, tasks_pb2_grpc

_RESTS = state.FINAL | state.WAITING


class Tasks(tasks_pb2_grpc.TasksServicer):
    """The Tasks service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def _submit(self, request: tasks_pb2.SubmitRequest) -> decisions.Submitted:
        who = caller.current()
        folder = await folders.named(self._served, request.folder) or None
        given = convert.submission(request, folder, who)
        modes.check(self._served, given.mode, who.credential, given.principal)
        reply = await self._served.inbox.ask(given)
        if not isinstance(reply, decisions.Submitted):
            raise TypeError(f"a submission was answered with {type(reply).__name__}")
        return reply

    async def _view(self, task_id: str) -> views.TaskView:
        view = await self._served.store.task(ids.TaskId(task_id))
        if view is None:
            raise errors.Refusal(errors.RefusalKind.NOT_FOUND, f"There is no task {task_id}.")
        return view

    async def Submit(
        self, request: tasks_pb2.SubmitRequest, context: interceptors.Context
    ) -> tasks_pb2.SubmitResponse:
        kept = await self._submit(request)
        return tasks_pb2.SubmitResponse(
            task_id=kept.task_id, conversation_id=kept.conversation_id, seq=kept.seq
        )

    async def Ask(
        self, request: tasks_pb2.AskRequest, context: interceptors.Context
    ) -> tasks_pb2.AskResponse:
        self._served.bus.check_room()  # a task that nobody hears of is worse than none
        kept = await self._submit(request.submit)
        scope = bus.Scope(task_id=kept.task_id, live=False)
        async with aclosing(self._served.bus.subscribe(kept.seq - 1, scope)) as pages:
            async for page in pages:
                if not _rests(page):
                    continue
                view = await self._view(kept.task_id)
                if view.state in _RESTS:
                    texts = await self._served.contents.texts(convert.task_contents(view))
                    return convert.ask_response(view, texts)
        raise errors.Refusal(
            errors.RefusalKind.UNAVAILABLE,
            f"The daemon is stopping; {kept.task_id} goes on after the next start.",
        )

    async def Chat(
        self, request: tasks_pb2.ChatRequest, context: interceptors.Context
    ) -> AsyncIterator[events_pb2.Update]:
        self._served.bus.check_room()  # a task that nobody hears of is worse than none
        kept = await self._submit(request.submit)
        scope = bus.Scope(task_id=kept.task_id)
        async with aclosing(streams.updates(self._served, kept.seq - 1, scope)) as pages:
            async for page, sent in pages:
                for update in sent:
                    yield update
                if _ended(page):
                    return
        raise errors.Refusal(
            errors.RefusalKind.UNAVAILABLE,
            f"The daemon is stopping; {kept.task_id} goes on after the next start.",
        )

    async def Get(
        self, request: tasks_pb2.GetTaskRequest, context: interceptors.Context
    ) -> tasks_pb2.Task:
        return await self._served.task(await self._view(request.task_id))

    async def List(
        self, request: tasks_pb2.ListTasksRequest, context: interceptors.Context
    ) -> tasks_pb2.ListTasksResponse:
        page = await self._served.store.tasks(
            paging.size(request.page),
            paging.before(request.page),
            ids.ConversationId(request.conversation_id) or None,
            convert.states(request.states),
        )
        return tasks_pb2.ListTasksResponse(
            tasks=[await self._served.task(view) for view in page.rows],
            next_page_token=paging.token(page.next_before),
        )

    async def Cancel(
        self, request: tasks_pb2.CancelRequest, context: interceptors.Context
    ) -> tasks_pb2.Task:
        who = caller.current()
        await self._served.inbox.ask(
            inputs.CancelTask(
                **convert.keyed(request, request.client_key, who),
                task_id=ids.TaskId(request.task_id),
            )
        )
        return await self._served.task(await self._view(request.task_id))

    async def Decide(
        self, request: tasks_pb2.DecideRequest, context: interceptors.Context
    ) -> tasks_pb2.Task:
        await self._served.inbox.ask(convert.decision(request, caller.current()))
        return await self._served.task(await self._view(request.task_id))

    async def Feedback(
        self, request: tasks_pb2.FeedbackRequest, context: interceptors.Context
    ) -> tasks_pb2.Task:
        if not request.HasField("good"):
            raise errors.Refusal(
                errors.RefusalKind.INVALID, "Say what the answer is worth: good is true or false."
            )
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        await self._served.inbox.ask(
            inputs.GiveFeedback(
                **convert.keyed(request, request.client_key, who, stated.principal),
                task_id=ids.TaskId(request.task_id),
                good=request.good,
                text=request.text.strip(),
            )
        )
        return await self._served.task(await self._view(request.task_id))


def _states(page: Sequence[bus.Update]) -> list[state.TaskState]:
    return [
        one.event.state
        for one in page
        if isinstance(one, events.Recorded) and isinstance(one.event, events.TaskStateChanged)
    ]


def _rests(page: Sequence[bus.Update]) -> bool:
    return any(one in _RESTS for one in _states(page))


def _ended(page: Sequence[bus.Update]) -> bool:
    return any(one in state.FINAL for one in _states(page))
