"""What people say: to the agent, as a reason, as a secret, or as a command.

Answers for: that nobody unknown is heard, that a secret goes to the daemon's vault and nowhere
else, and that all that is written because of a message is written once.
"""

import asyncio
import typing
from collections.abc import Collection

from bots import client, commands
from bots.telegram import calls, commanding, lanes, replies, texts, updates
from proto.ducklm.v1 import approvals_pb2, channels_pb2, common_pb2, projects_pb2, tasks_pb2

MEGABYTE: typing.Final = 1024 * 1024
SECRETS: typing.Final = "secrets"
SECRETS_KEPT: typing.Final = 50
DOWNLOAD_TRIES: typing.Final = 3
DOWNLOAD_PAUSE_S: typing.Final = 2.0
ASKING_S: typing.Final = 0.5  # between looks whether the request for a secret is shown
FILES_AT_ONCE: typing.Final = 8  # each in memory until the daemon has it; one at most of a chat


class Talking:
    """Handles messages of one bot."""

    def __init__(
        self, daemon: client.Client, api: calls.Calls, sending: lanes.Lanes, bot: updates.Bot
    ) -> None:
        self._daemon = daemon
        self._api = api
        self._lanes = sending
        self._bot = bot
        # Of each person, the keys of messages that were a secret, and of which task.
        self._secrets: dict[str, dict[str, str]] = {}
        self._deleting: set[asyncio.Task[bool]] = set()
        self._files = asyncio.Semaphore(FILES_AT_ONCE)

    async def hear(
        self, message: updates.Message, key: str, decided: Collection[asyncio.Task[None]] = ()
    ) -> None:
        """Do what a message asks for; raises CallFault where the daemon is away.

        `decided` are presses before it that may let somebody in: a stranger waits for them.
        """
        chat = replies.Chat(self._daemon, message.origin, key)
        request = channels_pb2.LookRequest(origin=message.origin)
        look = await self._daemon.call(self._daemon.channels.Look, request)
        if not look.allowed and decided:
            await asyncio.wait(decided)
            look = await self._daemon.call(self._daemon.channels.Look, request)
        if not look.allowed:
            if message.private:
                await self._strange(chat, message)
            return
        # What somebody else wrote is no command of the person who forwards it.
        typed = "" if message.origin.forwarded else message.text
        command = commands.parse(typed, self._bot.username)
        try:
            secret_of = await self._secret_of(message, look, command, key)
            if secret_of:
                await self._secret(chat, message, secret_of)
            elif look.replied_to.HasField("approval") and look.replied_to.text and not command:
                await self._reason(chat, message, look.replied_to.approval)
            elif isinstance(command, commands.Teaching):
                await chat.say(command.text)
            elif command is not None:
                await commanding.Commanding(self._daemon, chat, look).do(command)
            else:
                await self._talk(chat, message, look)
        except client.CallFault as fault:
            if fault.lost:
                raise
            if fault.code is not client.SAID_BEFORE:  # before a crash, with less of an album
                await chat.say(fault.sentence, part="refused")

    async def _strange(self, chat: replies.Chat, message: updates.Message) -> None:
        request = channels_pb2.PairRequest(
            origin=message.origin, name=message.name, client_key=f"{chat.key} pair"
        )
        person = await self._daemon.call(self._daemon.channels.Pair, request)
        once = replies.Chat(self._daemon, message.origin, f"{message.origin.principal} strange")
        if person.state == channels_pb2.Person.ASKED:
            await once.say(texts.HELLO_STRANGER.format(code=person.code), part=person.code)
        else:
            await once.say(texts.STILL_STRANGER, part="still")

    async def _secret_of(
        self,
        message: updates.Message,
        look: channels_pb2.LookResponse,
        command: commands.Command | commands.Teaching | None,
        key: str,
    ) -> str:
        """The task for which a message is a secret; empty where it is none.

        It is kept which message was one before it is used: were it heard again, because the bot
        died meanwhile, it must not be taken for something said. While nobody knows whether the
        request is shown, and as which message, nobody knows what a text is: it waits.
        """
        if not message.private or not message.text or isinstance(command, commands.Command):
            return ""
        name = f"{SECRETS} {message.origin.principal}"
        if name not in self._secrets:
            asked = channels_pb2.GetCursorRequest(name=name)
            found = await self._daemon.call(self._daemon.channels.GetCursor, asked)
            pairs = (one.partition("=") for one in found.value.split())
            self._secrets[name] = {known: task_id for known, _, task_id in pairs}
        known = self._secrets[name].get(key, "")
        if known:
            return known
        while (found := _asked_for(message, look)) is None:
            await asyncio.sleep(ASKING_S)
            request = channels_pb2.LookRequest(origin=message.origin)
            look = await self._daemon.call(self._daemon.channels.Look, request)
        if not found:
            return ""
        kept = dict([*self._secrets[name].items(), (key, found)][-SECRETS_KEPT:])
        value = " ".join(f"{one}={task_id}" for one, task_id in kept.items())
        keep = channels_pb2.SetCursorRequest(name=name, value=value)
        await self._daemon.call(self._daemon.channels.SetCursor, keep)
        self._secrets[name] = kept
        return found

    async def _secret(self, chat: replies.Chat, message: updates.Message, task_id: str) -> None:
        """Delete the message at once: it must not stand there any longer than it has to."""
        deleting = asyncio.create_task(self._delete(message.origin), name="delete")
        self._deleting.add(deleting)
        deleting.add_done_callback(self._deleting.discard)
        request = approvals_pb2.ProvideSecretRequest(
            task_id=task_id,
            secret=(message.bare or message.text).encode(),
            origin=message.origin,
            client_key=f"{chat.key} secret",
        )
        await self._daemon.call(self._daemon.approvals.ProvideSecret, request)
        deleted = await asyncio.shield(deleting)
        await chat.say(texts.SECRET_TAKEN if deleted else texts.SECRET_NOT_DELETED)

    async def _delete(self, origin: common_pb2.Origin) -> bool:
        """Delete somebody's message, however long it takes; False where Telegram does not."""

        async def call() -> None:
            await self._api.delete(origin.chat, origin.message_id)

        try:
            await self._lanes.send(origin.chat, origin.topic, lanes.Urgency.CARD, call)
        except calls.Fault:
            return False
        return True

    async def _reason(
        self, chat: replies.Chat, message: updates.Message, asked: approvals_pb2.Approval
    ) -> None:
        origin = chat.here()
        origin.reply_to = ""
        request = approvals_pb2.ResolveRequest(
            approval_id=asked.approval_id,
            answer=approvals_pb2.DENY,
            reason=message.text,
            origin=origin,
            client_key=f"{chat.key} reason",
        )
        await self._daemon.call(self._daemon.approvals.Resolve, request)

    async def _talk(
        self, chat: replies.Chat, message: updates.Message, look: channels_pb2.LookResponse
    ) -> None:
        if message.voice:
            await chat.say(texts.VOICE)
            return
        put = await self._take_files(chat, message, look)
        text = message.text
        if not text and put:
            text = texts.FILE_ALONE.format(names=", ".join(path for path, _ in put))
        if not text:
            return
        await self._daemon.call(
            self._daemon.tasks.Submit,
            tasks_pb2.SubmitRequest(
                text=text,
                origin=message.origin,
                attachments=[artifact_id for _, artifact_id in put],
                files=[path for path, _ in put],
                client_key=f"{chat.key} submit",
            ),
        )
        if any(file.picture for file in message.files) and put:
            await chat.say(texts.CANNOT_SEE, part="blind")

    async def _take_files(
        self, chat: replies.Chat, message: updates.Message, look: channels_pb2.LookResponse
    ) -> list[tuple[str, str]]:
        """The files of a message, in the project's folder: path and artifact of each."""
        if not message.files:
            return []
        put: list[tuple[str, str]] = []
        folder = await commanding.folder(self._daemon, look)
        for number, file in enumerate(message.files):
            if file.size > calls.FILE_BYTES:
                most = calls.FILE_BYTES // MEGABYTE
                await chat.say(
                    texts.TOO_BIG.format(name=file.name, most=most), part=f"too big {number}"
                )
                continue
            async with self._files:
                artifact_id = await chat.keep(await self._download(file))
            request = projects_pb2.PutFileRequest(
                artifact_id=artifact_id,
                name=file.name,
                project=folder,
                origin=message.origin,
                client_key=f"{chat.key} file {number}",
            )
            kept = await self._daemon.call(self._daemon.projects.PutFile, request)
            put.append((kept.path, artifact_id))
        return put

    async def _download(self, file: updates.File) -> bytes:
        """The bytes of a file; raises CallFault where they are not to be had."""
        for _ in range(DOWNLOAD_TRIES):
            try:
                return await self._api.download(file.file_id)
            except calls.Unauthorized:
                raise
            except calls.Unreachable:
                await asyncio.sleep(DOWNLOAD_PAUSE_S)
            except calls.Fault:
                break
        said = texts.FILE_NOT_GIVEN.format(name=file.name)  # more of a help than Telegram's words
        raise client.CallFault(client.REFUSED, said)


def _asked_for(message: updates.Message, look: channels_pb2.LookResponse) -> str | None:
    """The task that asked for what somebody writes in private, as a secret; empty where none did.

    None while nobody knows: the request is not known to be shown. What was written before it is no
    secret. Messages of one chat are numbered in order, and those of two chats are not.
    """
    asked, answered = look.secret_notice, look.replied_to
    if answered.waits and answered.task.state == common_pb2.AWAITING_SECRET:
        return answered.task.task_id
    if not look.secret_task_id or not look.HasField("secret_notice"):
        return look.secret_task_id
    if asked.platform_ids:
        here = asked.chat == message.origin.chat
        before = here and int(message.origin.message_id) < int(asked.platform_ids[0])
        return "" if before else look.secret_task_id
    waits = asked.state in (channels_pb2.Delivery.PENDING, channels_pb2.Delivery.SENT)
    return None if waits else ""
