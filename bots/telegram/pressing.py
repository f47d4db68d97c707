"""What a press of a button does: the daemon judges it, and the presser is told at once.

Answers for: that every press is answered, soon, whatever came of it. Nothing that a press carries
is believed: whose it is and where it was made is what Telegram says.
"""

import asyncio
import dataclasses
import typing
from collections.abc import Coroutine

import structlog

from bots import client, render
from bots.telegram import (
    buttons,
    calls,
    commanding,
    lanes,
    outgoing,
    rendering,
    replies,
    scheduling,
    texts,
    updates,
)
from proto.ducklm.v1 import (
    approvals_pb2,
    channels_pb2,
    common_pb2,
    conversations_pb2,
    tasks_pb2,
)

TOAST_CHARS: typing.Final = 190
SOON_S: typing.Final = 0.9  # after which a presser is told that it is worked on
_log = structlog.get_logger(__name__)


class Pressing:
    """Handles presses of one bot."""

    def __init__(self, daemon: client.Client, api: calls.Calls, sending: lanes.Lanes) -> None:
        self._daemon = daemon
        self._api = api
        self._lanes = sending
        self._aside: set[asyncio.Task[None]] = set()
        self._slow: dict[str, asyncio.TimerHandle] = {}

    def expect(self, press_id: str) -> None:
        """Have a press answered soon, whatever its turn and the daemon take."""
        loop = asyncio.get_running_loop()
        if press_id not in self._slow:
            self._slow[press_id] = loop.call_later(SOON_S, self.toast, press_id, texts.SLOW_TOAST)

    async def press(self, given: updates.Press, key: str) -> None:
        """Do what was pressed; raises CallFault where the daemon is away."""
        self.expect(given.press_id)
        press = buttons.read(given.data)
        if press is None:
            self.toast(given.press_id, texts.NOT_OURS)
            return
        try:
            said = await self._do(press, given, key)
        except client.CallFault as fault:
            if fault.lost:
                self._told(given.press_id)
                raise
            said = fault.sentence or texts.OLD_BUTTON
        self.toast(given.press_id, said)

    def toast(self, press_id: str, text: str) -> None:
        """Tell a presser, who sees the first only; it is not waited for, and may be lost."""
        self._told(press_id)
        self._beside(self._answer(press_id, text))

    def _told(self, press_id: str) -> None:
        """The presser is told by others, or was."""
        slow = self._slow.pop(press_id, None)
        if slow is not None:
            slow.cancel()

    def _beside(self, doing: Coroutine[object, object, None]) -> None:
        """Do something that nobody waits for."""
        task = asyncio.create_task(doing, name="beside")
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _answer(self, press_id: str, text: str) -> None:
        try:
            await self._api.toast(press_id, render.one_line(text, TOAST_CHARS))
        except calls.Fault as fault:
            _log.info("press_not_answered", reason=type(fault).__name__)

    async def _do(self, press: buttons.Press, given: updates.Press, key: str) -> str:
        chat = replies.Chat(self._daemon, given.origin, key)
        match press:
            case buttons.Answer(asks=True):
                return await self._ask_why(press, chat, given.origin)
            case buttons.Answer():
                return await self._resolve(press, given.origin, key)
            case buttons.Decide():
                return await self._decide(press, given.origin, key)
            case buttons.Pair():
                return await self._pair(press, given.origin, key)
            case buttons.Feedback():
                request = tasks_pb2.FeedbackRequest(
                    task_id=press.task_id,
                    good=press.good,
                    origin=given.origin,
                    client_key=f"{key} feedback",
                )
                await self._daemon.call(self._daemon.tasks.Feedback, request)
                return texts.THANKS
            case buttons.Whole():
                await self._allowed(given.origin)
                await chat.say("`output.txt`", artifact_ids=[press.artifact_id])
                return texts.SENDING
            case buttons.Menu() | buttons.Setting():
                return await self._settings(press, given.origin, key)
            case buttons.Draft() | buttons.Schedules() | buttons.Schedule():
                return await self._schedule(press, chat)
            case _:
                typing.assert_never(press)

    async def _schedule(
        self, press: buttons.Draft | buttons.Schedules | buttons.Schedule, chat: replies.Chat
    ) -> str:
        look = await self._allowed(chat.origin)
        done = await scheduling.Scheduling(self._daemon, chat).press(press, look)
        if done.view is not None:
            shown = rendering.split(rendering.markdown(done.view.text))[0]
            rows = tuple(tuple(row) for row in done.view.rows)
            self._beside(self._edit(chat.origin, dataclasses.replace(shown, rows=rows)))
        return done.said

    async def _ask_why(
        self, press: buttons.Answer, chat: replies.Chat, origin: common_pb2.Origin
    ) -> str:
        """Ask for a reason, where there is still something to say no to."""
        asked = (await self._allowed(origin)).replied_to.approval
        if asked.approval_id != press.approval_id:
            return texts.OLD_BUTTON
        if asked.status != approvals_pb2.PENDING:
            return _pressed(asked.status)
        await chat.say(texts.WHY_NOT, approval_id=press.approval_id)
        return texts.WHY_TOAST

    async def _resolve(self, press: buttons.Answer, origin: common_pb2.Origin, key: str) -> str:
        request = approvals_pb2.ResolveRequest(
            approval_id=press.approval_id,
            answer=press.answer,
            origin=origin,
            client_key=f"{key} answer",
        )
        found = await self._daemon.call(self._daemon.approvals.Resolve, request)
        return _pressed(found.status)

    async def _about(self, origin: common_pb2.Origin) -> channels_pb2.Delivery:
        """What the message with the button shows."""
        look = await self._look(origin)
        return look.replied_to

    async def _look(self, origin: common_pb2.Origin) -> channels_pb2.LookResponse:
        asked = common_pb2.Origin()
        asked.CopyFrom(origin)
        asked.reply_to = origin.message_id
        request = channels_pb2.LookRequest(origin=asked)
        found: channels_pb2.LookResponse = await self._daemon.call(
            self._daemon.channels.Look, request
        )
        return found

    async def _allowed(self, origin: common_pb2.Origin) -> channels_pb2.LookResponse:
        """A look for one who may talk; raises CallFault for anybody else."""
        look = await self._look(origin)
        if not look.allowed:
            raise client.CallFault(client.REFUSED, texts.STILL_STRANGER)
        return look

    async def _decide(self, press: buttons.Decide, origin: common_pb2.Origin, key: str) -> str:
        about = await self._about(origin)
        if not about.HasField("task"):
            return texts.OLD_BUTTON
        request = tasks_pb2.DecideRequest(
            task_id=about.task.task_id,
            decision=press.decision,
            call_id=press.call_id,
            client_key=f"{key} decide",
            origin=origin,
        )
        await self._daemon.call(self._daemon.tasks.Decide, request)
        return texts.DECIDED

    async def _pair(self, press: buttons.Pair, origin: common_pb2.Origin, key: str) -> str:
        about = await self._about(origin)
        if not about.HasField("person"):
            return texts.OLD_BUTTON
        request = channels_pb2.DecidePairingRequest(
            principal=about.person.principal,
            allow=press.allow,
            origin=origin,
            client_key=f"{key} pair",
        )
        await self._daemon.call(self._daemon.channels.DecidePairing, request)
        return texts.LET_IN_TOAST if press.allow else texts.KEPT_OUT_TOAST

    async def _settings(
        self, press: buttons.Menu | buttons.Setting, origin: common_pb2.Origin, key: str
    ) -> str:
        look = await self._allowed(origin)
        chat = replies.Chat(self._daemon, origin, key)
        doing = commanding.Commanding(self._daemon, chat, look)
        found = await doing.conversation()
        if isinstance(press, buttons.Setting):
            found = await self._set(press, found, origin, key)
        name = press.name if isinstance(press, buttons.Menu) else "top"
        text, rows = await commanding.menu(self._daemon, found, name)
        shown = rendering.plain(text)
        keyboard = tuple(tuple(row) for row in rows)
        message = outgoing.Text(shown.text, shown.entities, keyboard)
        self._beside(self._edit(origin, message))
        return texts.DECIDED if isinstance(press, buttons.Setting) else ""

    async def _edit(self, origin: common_pb2.Origin, message: outgoing.Text) -> None:
        """Show another menu in a message, whenever the chat may have it."""

        async def edit() -> None:
            await self._api.edit(origin.chat, origin.message_id, message)

        try:
            await self._lanes.send(
                origin.chat, origin.topic, lanes.Urgency.CARD, edit, f"menu {origin.message_id}"
            )
        except (calls.Fault, lanes.Superseded):
            _log.info("menu_not_edited")

    async def _set(
        self,
        press: buttons.Setting,
        found: conversations_pb2.Conversation,
        origin: common_pb2.Origin,
        key: str,
    ) -> conversations_pb2.Conversation:
        request = conversations_pb2.UpdateConversationRequest(
            conversation_id=found.conversation_id, origin=origin, client_key=f"{key} set"
        )
        match press.name:
            case "mode" if press.value in commanding.MODES:
                request.mode = commanding.MODES[press.value]
            case "steering" if press.value in commanding.STEERINGS:
                request.steering = commanding.STEERINGS[press.value]
            case "project":
                request.folder = "" if press.value == commanding.DEFAULT else press.value
            case _:
                raise client.CallFault(client.REFUSED, texts.OLD_BUTTON)
        changed: conversations_pb2.Conversation = await self._daemon.call(
            self._daemon.conversations.Update, request
        )
        return changed


def _pressed(status: "approvals_pb2.ApprovalStatus.ValueType") -> str:
    name = render.enum_name(approvals_pb2.ApprovalStatus.DESCRIPTOR, status)
    return texts.PRESSED.get(name, texts.DECIDED)
