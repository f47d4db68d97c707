"""Channels: what bots show in their chats, and who may talk there.

Never decides who may: `decide.people` does. A bot is answered of its own account alone.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from daemon.decide import people, turn
from daemon.domain import (
    decisions,
    deliveries,
    delivery_changes,
    errors,
    events,
    ids,
    inputs,
    principals,
    state,
    views,
    world,
)
from daemon.rpc import (
    backend,
    caller,
    convert,
    convert_channels,
    interceptors,
    paging,
    schedule_runs,
)
from daemon.runtime import bus
from proto.ducklm.v1 import channels_pb2, channels_pb2_grpc

PAGE_DELIVERIES = 50


class Channels(channels_pb2_grpc.ChannelsServicer):
    """The Channels service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    def _state(self) -> tuple[turn.Rules, world.World]:
        if self._served.rules is None or self._served.state is None:
            raise errors.Refusal(errors.RefusalKind.UNAVAILABLE, "This daemon has no channels.")
        return self._served.rules(), self._served.state()

    async def Look(
        self, request: channels_pb2.LookRequest, context: interceptors.Context
    ) -> channels_pb2.LookResponse:
        stated = convert.origin(request.origin, caller.current().credential)
        rules, now = self._state()
        who = stated.principal
        found = channels_pb2.LookResponse(
            principal=who,
            allowed=people.is_in(rules, now, who),
            owner=rules.owners.is_owner(who),
            owners=sorted(rules.owners.users(principals.platform(who))),
            conversation_id=now.places.get(principals.place(stated), ""),
        )
        for task in tuple(now.tasks.values()) if found.conversation_id else ():
            if task.conversation_id == found.conversation_id and task.state not in state.FINAL:
                view = await self._served.store.task(task.task_id)
                if view is not None:
                    found.live_tasks.append(await self._served.task(view))
        waits = (
            task.task_id
            for task in now.tasks.values()
            if task.secret_call is not None and task.origin.principal == who
        )
        found.secret_task_id = next(waits, "")
        asks = await self._asks(found.secret_task_id)
        if asks is not None:
            found.secret_notice.CopyFrom(await self._sent(asks))
        if stated.reply_to:
            account = principals.account_of(who)
            shown = await self._served.store.delivery_of(account, stated.chat, stated.reply_to)
            if shown is not None:
                found.replied_to.CopyFrom(await self._sent(shown))
        return found

    async def _asks(self, task_id: str) -> views.DeliveryView | None:
        """What says that a task waits."""
        view = await self._served.store.task(ids.TaskId(task_id)) if task_id else None
        told = view.waiting if view is not None else None
        return await self._served.store.delivery(told) if told is not None else None

    async def Deliveries(
        self, request: channels_pb2.DeliveriesRequest, context: interceptors.Context
    ) -> AsyncIterator[channels_pb2.Delivery]:
        account = _account(request.account)
        self._served.bus.check_room()
        await context.send_initial_metadata(())
        after_seq, from_seq = 0, self._served.bus.head_seq
        while True:
            while page := await self._page(account, after_seq):
                for view in page:
                    yield await self._sent(view)
                after_seq = page[-1].changed_seq
            if not await self._changed(from_seq):
                break
            from_seq = self._served.bus.head_seq
        raise errors.Refusal(
            errors.RefusalKind.UNAVAILABLE, "The daemon is stopping; open the stream again."
        )

    async def _page(self, account: str, after_seq: int) -> Sequence[views.DeliveryView]:
        """The next that are to be shown; those that one event changed are on one page."""
        limit = PAGE_DELIVERIES
        while True:
            page = await self._served.store.open_deliveries(account, after_seq, limit)
            if len(page) < limit:
                return page
            last_seq = page[-1].changed_seq
            whole = [view for view in page if view.changed_seq < last_seq]
            if whole:
                return whole
            limit *= 2

    async def _changed(self, from_seq: int) -> bool:
        """Wait until something may be to show; False when the daemon stops."""
        scope, changers = bus.Scope(live=False), delivery_changes.CHANGERS
        async with aclosing(self._served.bus.subscribe(from_seq, scope)) as pages:
            async for page in pages:
                for one in page:
                    if isinstance(one, events.Recorded) and type(one.event) in changers:
                        return True
        return False

    async def _sent(self, view: views.DeliveryView) -> channels_pb2.Delivery:
        """A delivery with all that showing it needs."""
        texts = await self._served.contents.texts([] if view.text is None else [view.text])
        sent = convert_channels.delivery(view, texts)
        store = self._served.store
        task = None if view.task_id is None else await store.task(view.task_id)
        if task is not None:
            sent.task.CopyFrom(await self._served.task(task))
            sent.seq = task.submitted_seq
            sent.waits = task.waiting == view.delivery_id
        approval = None if view.approval_id is None else await store.approval(view.approval_id)
        if approval is not None:
            sent.approval.CopyFrom(await self._served.approval(approval))
        if view.run_id is not None:
            run = await store.run(view.run_id)
            if run is not None:
                sent.run.CopyFrom(await schedule_runs.sent(self._served, run))
        else:
            await self._name_schedule(view, sent)
        if view.person is not None:
            rules, now = self._state()
            sent.person.CopyFrom(convert_channels.person(view.person, rules, now))
        return sent

    async def _name_schedule(self, view: views.DeliveryView, sent: channels_pb2.Delivery) -> None:
        """Say of a card and of a notice which schedule's it is, if it is of one."""
        is_shown = view.kind in (deliveries.Kind.APPROVAL, deliveries.Kind.NOTICE)
        if self._served.state is None or not is_shown:
            return
        planned = self._served.state().schedules.values()
        for schedule in (one.schedule for one in planned):
            if schedule.conversation_id == view.conversation_id:
                texts = await self._served.contents.texts([schedule.name])
                sent.run.schedule_id = schedule.schedule_id
                sent.run.name = convert.said(texts, schedule.name)

    async def ListDeliveries(
        self, request: channels_pb2.ListDeliveriesRequest, context: interceptors.Context
    ) -> channels_pb2.ListDeliveriesResponse:
        page = await self._served.store.deliveries(
            paging.size(request.page),
            paging.before(request.page),
            _account(request.account),
            convert_channels.states(request.states),
        )
        return channels_pb2.ListDeliveriesResponse(
            deliveries=[await self._sent(view) for view in page.rows],
            next_page_token=paging.token(page.next_before),
        )

    async def _shown(self, given: inputs.ReportDelivery | inputs.PostNotice) -> views.DeliveryView:
        reply = await self._served.inbox.ask(given)
        if not isinstance(reply, decisions.DeliveryKept):
            raise TypeError(f"a delivery was answered with {type(reply).__name__}")
        view = await self._served.store.delivery(reply.delivery_id)
        if view is None:
            raise TypeError(f"{reply.delivery_id} is not kept")
        return view

    async def Report(
        self, request: channels_pb2.ReportRequest, context: interceptors.Context
    ) -> channels_pb2.Delivery:
        account, who = _account(""), caller.current()
        return await self._sent(
            await self._shown(
                inputs.ReportDelivery(
                    **convert.keyed(request, request.client_key, who),
                    account=account,
                    delivery_id=ids.DeliveryId(request.delivery_id),
                    revision=request.revision,
                    state=convert_channels.state(request.state),
                    platform_ids=tuple(request.platform_ids),
                    fault=request.fault,
                )
            )
        )

    async def Post(
        self, request: channels_pb2.PostRequest, context: interceptors.Context
    ) -> channels_pb2.Delivery:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        if not stated.chat:
            raise _invalid("origin.chat says where it is shown.")
        account = principals.account_of(stated.principal)
        target = deliveries.Target(
            account=account,
            chat=stated.chat,
            topic=stated.topic,
            reply_to=stated.reply_to,
            principal=stated.principal,
        )
        return await self._sent(
            await self._shown(
                inputs.PostNotice(
                    **convert.keyed(request, request.client_key, who, stated.principal),
                    target=target,
                    text=request.text,
                    rows=convert_channels.rows(request.rows),
                    artifacts=tuple(map(ids.ArtifactId, request.artifact_ids)),
                    approval_id=ids.ApprovalId(request.approval_id) or None,
                )
            )
        )

    async def MoveChat(
        self, request: channels_pb2.MoveChatRequest, context: interceptors.Context
    ) -> channels_pb2.MoveChatResponse:
        account, who = _account(request.account), caller.current()
        if not account:
            raise _invalid("account says which bot's chat it is, as platform:account.")
        reply = await self._served.inbox.ask(
            inputs.MoveChat(
                **convert.keyed(request, request.client_key, who),
                account=account,
                chat=request.chat,
                to=request.to,
            )
        )
        if not isinstance(reply, decisions.ChatKept):
            raise TypeError(f"a chat was answered with {type(reply).__name__}")
        return channels_pb2.MoveChatResponse(chat=reply.chat)

    async def SetCursor(
        self, request: channels_pb2.SetCursorRequest, context: interceptors.Context
    ) -> channels_pb2.Cursor:
        who = caller.current()
        await self._served.inbox.ask(
            inputs.SetCursor(
                **convert.keyed(request, request.client_key, who),
                name=request.name,
                value=request.value,
            )
        )
        return await self._cursor(request.name)

    async def GetCursor(
        self, request: channels_pb2.GetCursorRequest, context: interceptors.Context
    ) -> channels_pb2.Cursor:
        return await self._cursor(request.name)

    async def _cursor(self, name: str) -> channels_pb2.Cursor:
        credential = caller.current().credential.name
        value = await self._served.store.cursor(credential, name)
        return channels_pb2.Cursor(name=name, value=value)

    async def _person(
        self, given: inputs.RequestPairing | inputs.DecidePairing
    ) -> channels_pb2.Person:
        reply = await self._served.inbox.ask(given)
        if not isinstance(reply, decisions.PersonKept):
            raise TypeError(f"a person was answered with {type(reply).__name__}")
        rules, now = self._state()
        return convert_channels.person(reply.principal, rules, now)

    async def Pair(
        self, request: channels_pb2.PairRequest, context: interceptors.Context
    ) -> channels_pb2.Person:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        return await self._person(
            inputs.RequestPairing(
                **convert.keyed(request, request.client_key, who, stated.principal),
                name=request.name,
            )
        )

    async def DecidePairing(
        self, request: channels_pb2.DecidePairingRequest, context: interceptors.Context
    ) -> channels_pb2.Person:
        if not request.HasField("allow"):
            raise _invalid("allow says whether the person may talk: true or false.")
        if bool(request.principal) == bool(request.code):
            raise _invalid("Name the person by principal or by code.")
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        return await self._person(
            inputs.DecidePairing(
                **convert.keyed(request, request.client_key, who, stated.principal),
                person=principals.Principal(request.principal) or None,
                code=request.code,
                allow=request.allow,
            )
        )

    async def ListPeople(
        self, request: channels_pb2.ListPeopleRequest, context: interceptors.Context
    ) -> channels_pb2.ListPeopleResponse:
        rules, now = self._state()
        found = [convert_channels.person(who, rules, now) for who in now.people]
        found.sort(key=lambda one: (one.name, one.principal))
        return channels_pb2.ListPeopleResponse(people=found + convert_channels.named(rules))


def _is_bot(who: principals.Principal) -> bool:
    named = principals.is_principal(who) and principals.platform(who)
    return bool(named) and named not in principals.OWN_PLATFORMS


def _account(named: str) -> str:
    """The account that a call is about: a bot's own, and any for those who are no bot."""
    who = caller.current().credential.principal
    if not _is_bot(who):
        return named
    own = principals.account_of(who)
    if named not in ("", own):
        raise errors.Refusal(
            errors.RefusalKind.FORBIDDEN, f"This token is for {own}; account names another."
        )
    return own


def _invalid(sentence: str) -> errors.Refusal:
    return errors.Refusal(errors.RefusalKind.INVALID, sentence)
