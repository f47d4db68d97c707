"""Carries out the commands that people type, each by the daemon's API, and says what came of it."""

import asyncio
import contextlib
import typing

from bots import client, commands, presenter, render, views
from bots.telegram import buttons, outgoing, replies, scheduling, texts
from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    channels_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    projects_pb2,
    tasks_pb2,
)

LISTED: typing.Final = 10
DIFF_CHARS: typing.Final = 3000
PAGE_EVENTS: typing.Final = 500
PAGE_APPROVALS: typing.Final = 200
APPROVALS_LISTED: typing.Final = 50
MODES: typing.Final = {
    "plan": common_pb2.PLAN,
    "build": common_pb2.BUILD,
    "yolo": common_pb2.YOLO,
}
STEERINGS: typing.Final = {"queue": common_pb2.QUEUE, "steer": common_pb2.STEER}
DEFAULT: typing.Final = "-"  # the daemon's own folder, as a button names it


async def folder(daemon: client.Client, look: channels_pb2.LookResponse) -> str:
    """The folder of a chat's conversation; empty for the daemon's own."""
    if not look.conversation_id:
        return ""
    request = conversations_pb2.GetConversationRequest(conversation_id=look.conversation_id)
    found = await daemon.call(daemon.conversations.Get, request)
    return str(found.folder)


class Commanding:
    """The commands of one message."""

    def __init__(
        self, daemon: client.Client, chat: replies.Chat, look: channels_pb2.LookResponse
    ) -> None:
        self._daemon = daemon
        self._chat = chat
        self._look = look

    async def do(self, command: commands.Command) -> None:
        """Carry a command out; raises CallFault."""
        handlers = {
            "help": self._help,
            "new": self._new,
            "stop": self._stop,
            "status": self._status,
            "tasks": self._tasks,
            "approvals": self._approvals,
            "mode": self._mode,
            "project": self._project,
            "files": self._files,
            "diff": self._diff,
            "compact": self._compact,
            "feedback": self._feedback,
            "export": self._export,
            "undo": self._undo,
            "settings": self._settings,
            "schedule": scheduling.Scheduling(self._daemon, self._chat).do,
        }
        await handlers[command.name](command.argument)

    def _key(self, part: str) -> str:
        return f"{self._chat.key} {part}"

    async def _help(self, _: str) -> None:
        await self._chat.say(commands.help_text())

    async def _new(self, _: str) -> None:
        await self._begin()
        await self._chat.say(texts.NEW_CONVERSATION)

    async def _begin(self) -> str:
        request = conversations_pb2.CreateConversationRequest(
            origin=self._chat.origin, client_key=self._key("new")
        )
        made = await self._daemon.call(self._daemon.conversations.Create, request)
        return str(made.conversation_id)

    async def conversation(self) -> conversations_pb2.Conversation:
        """The chat's conversation; one begins where there is none."""
        conversation_id = self._look.conversation_id or await self._begin()
        request = conversations_pb2.GetConversationRequest(conversation_id=conversation_id)
        found: conversations_pb2.Conversation = await self._daemon.call(
            self._daemon.conversations.Get, request
        )
        return found

    async def _stop(self, _: str) -> None:
        live = self._look.live_tasks
        cancels = [
            self._daemon.call(
                self._daemon.tasks.Cancel,
                tasks_pb2.CancelRequest(
                    task_id=task.task_id, client_key=self._key(f"stop {task.task_id}")
                ),
            )
            for task in live
        ]
        await asyncio.gather(*cancels)
        text = texts.STOPPED_COUNT.format(count=len(live)) if live else texts.NOTHING_RUNS
        await self._chat.say(text)

    async def _status(self, _: str) -> None:
        now = await self._daemon.call(self._daemon.admin.Status, admin_pb2.StatusRequest())
        slots = [texts.SLOT_LINE.format(name=one.name, state=one.state) for one in now.slots]
        lines = [
            texts.STATUS.format(
                version=now.version,
                running=now.tasks_running,
                queued=now.tasks_queued,
                waiting=now.tasks_waiting,
                approvals=now.approvals_pending,
                slots="\n".join(slots),
            )
        ]
        if self._look.owner:
            lines += [texts.NOTICE_LINE.format(text=one) for one in now.notices]
        await self._chat.say("\n".join(lines))

    async def _newest(self, count: int) -> list[tasks_pb2.Task]:
        if not self._look.conversation_id:
            return []
        request = tasks_pb2.ListTasksRequest(
            conversation_id=self._look.conversation_id, page=common_pb2.Page(size=count)
        )
        page = await self._daemon.call(self._daemon.tasks.List, request)
        return list(page.tasks)

    async def _tasks(self, _: str) -> None:
        lines = [
            texts.TASK_LINE.format(
                text=render.one_line(task.text, 60), state=render.state_line(task.state, "")
            )
            for task in await self._newest(LISTED)
        ]
        await self._chat.say("\n".join(lines) or texts.NO_TASKS)

    async def _approvals(self, _: str) -> None:
        names = {task.task_id: task.text for task in self._look.live_tasks}
        lines: list[str] = []
        page = common_pb2.Page(size=PAGE_APPROVALS)
        while True:
            request = approvals_pb2.ListApprovalsRequest(page=page)
            found = await self._daemon.call(self._daemon.approvals.List, request)
            lines += [
                texts.APPROVAL_LINE.format(
                    tool=one.tool, text=render.one_line(names.get(one.task_id, ""), 60)
                )
                for one in found.approvals
                if self._look.owner or one.conversation_id == self._look.conversation_id
            ]
            page.token = found.next_page_token
            if not page.token or len(lines) > APPROVALS_LISTED:
                break
        if len(lines) > APPROVALS_LISTED:
            lines[APPROVALS_LISTED:] = [texts.APPROVALS_MORE]
        await self._chat.say("\n".join(lines) or texts.NO_APPROVALS)

    async def _mode(self, argument: str) -> None:
        if argument:
            await self._change(mode=MODES[argument])
            await self._chat.say(settings_text(await self.conversation()))
        else:
            await self._menu("mode")

    async def _settings(self, _: str) -> None:
        await self._menu("top")

    async def _menu(self, name: str) -> None:
        text, rows = await menu(self._daemon, await self.conversation(), name)
        await self._chat.say(text, rows)

    async def _change(
        self,
        mode: "common_pb2.Mode.ValueType | None" = None,
        folder: str | None = None,
    ) -> None:
        found = await self.conversation()
        request = conversations_pb2.UpdateConversationRequest(
            conversation_id=found.conversation_id,
            mode=mode,
            folder=folder,
            origin=self._chat.origin,
            client_key=self._key("change"),
        )
        await self._daemon.call(self._daemon.conversations.Update, request)

    async def _project(self, argument: str) -> None:
        if not argument:
            await self._menu("project")
            return
        await self._change(folder="" if argument == DEFAULT else argument)
        await self._chat.say(settings_text(await self.conversation()))

    async def _files(self, argument: str) -> None:
        project = await folder(self._daemon, self._look)
        listing = projects_pb2.ListFilesRequest(project=project, path=argument)
        try:
            found = await self._daemon.call(self._daemon.projects.ListFiles, listing)
        except client.CallFault as fault:
            if fault.lost or not argument:
                raise
            await self._send_file(project, argument)
            return
        lines = [
            texts.FOLDER_LINE.format(path=one.path)
            if one.folder
            else texts.FILE_LINE.format(path=one.path, size=_size(one.size))
            for one in found.files[:50]
        ]
        if found.more or len(found.files) > 50:
            lines.append(texts.FILES_MORE)
        await self._chat.say("\n".join(lines) + texts.FILES_HOW if lines else texts.FILES_NONE)

    async def _send_file(self, project: str, path: str) -> None:
        data = bytearray()
        request = projects_pb2.GetFileRequest(project=project, path=path)
        stream = self._daemon.stream(self._daemon.projects.GetFile, request)
        async with contextlib.aclosing(stream) as pieces:
            async for piece in pieces:
                data += piece.data
        artifact_id = await self._chat.keep(bytes(data))
        await self._chat.say(f"`{path.rpartition('/')[2]}`", artifact_ids=[artifact_id])

    async def _diff(self, _: str) -> None:
        for task in await self._newest(LISTED):
            if task.commits:
                await self._show_diff(await self._diff_of(task.task_id))
                return
        await self._chat.say(texts.NO_DIFF)

    async def _diff_of(self, task_id: str) -> str:
        shown, after_seq, found = presenter.Presenter(), 0, list[str]()
        while True:
            request = events_pb2.ListEventsRequest(
                task_id=task_id, after_seq=after_seq, limit=PAGE_EVENTS
            )
            page = await self._daemon.call(self._daemon.events.List, request)
            for event in page.events:
                after_seq = event.seq
                for view in shown.feed(events_pb2.Update(event=event)):
                    if isinstance(view, views.FilesChanged):
                        found.append(view.diff)
            if len(page.events) < PAGE_EVENTS:
                return "\n".join(found)

    async def _show_diff(self, diff: str) -> None:
        if len(diff) <= DIFF_CHARS and "```" not in diff:
            await self._chat.say(f"```diff\n{diff}\n```")
            return
        artifact_id = await self._chat.keep(diff.encode())
        await self._chat.say("`changes.diff`", artifact_ids=[artifact_id])

    async def _compact(self, _: str) -> None:
        if not self._look.conversation_id:
            await self._chat.say(texts.NOTHING_YET)
            return
        request = conversations_pb2.CompactConversationRequest(
            conversation_id=self._look.conversation_id,
            origin=self._chat.origin,
            client_key=self._key("compact"),
        )
        await self._daemon.call(self._daemon.conversations.Compact, request)

    async def _feedback(self, argument: str) -> None:
        word, _, why = argument.partition(" ")
        for task in await self._newest(50):
            if task.state == common_pb2.COMPLETED and task.kind == "answer" and not task.undone:
                request = tasks_pb2.FeedbackRequest(
                    task_id=task.task_id,
                    good=word == "good",
                    text=why,
                    origin=self._chat.origin,
                    client_key=self._key("feedback"),
                )
                await self._daemon.call(self._daemon.tasks.Feedback, request)
                await self._chat.say(texts.THANKS)
                return
        await self._chat.say(texts.NO_ANSWER_YET)

    async def _export(self, argument: str) -> None:
        if not self._look.conversation_id:
            await self._chat.say(texts.NOTHING_YET)
            return
        formats = conversations_pb2.ExportConversationRequest
        request = formats(
            conversation_id=self._look.conversation_id,
            format=formats.JSON if argument == "json" else formats.MARKDOWN,
        )
        written: list[str] = []
        stream = self._daemon.stream(self._daemon.conversations.Export, request)
        async with contextlib.aclosing(stream) as pieces:
            async for piece in pieces:
                written.append(piece.text)
        artifact_id = await self._chat.keep("".join(written).encode())
        name = f"conversation.{argument or 'md'}"
        await self._chat.say(f"`{name}`", artifact_ids=[artifact_id])

    async def _undo(self, _: str) -> None:
        if not self._look.conversation_id:
            await self._chat.say(texts.NOTHING_YET)
            return
        request = conversations_pb2.UndoRequest(
            conversation_id=self._look.conversation_id,
            origin=self._chat.origin,
            client_key=self._key("undo"),
        )
        done = await self._daemon.call(self._daemon.conversations.Undo, request)
        lines = [texts.UNDONE.format(count=len(done.commits))]
        for call in done.left:
            line = call.line or presenter.summary(call.tool, call.arguments_json)
            lines.append(texts.UNDO_LEFT.format(line=render.one_line(line)))
        await self._chat.say("\n".join(lines))


def _size(count: int) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} GB"


def _mode_name(found: conversations_pb2.Conversation) -> str:
    return next((name for name, mode in MODES.items() if mode == found.mode), "build")


def _steering_name(found: conversations_pb2.Conversation) -> str:
    steering = found.steering
    return next((name for name, one in STEERINGS.items() if one == steering), "queue")


def _folder_name(found: conversations_pb2.Conversation) -> str:
    return found.folder.rpartition("/")[2] or texts.DEFAULT_FOLDER


def settings_text(found: conversations_pb2.Conversation) -> str:
    """How a conversation works, in words."""
    return "\n".join([texts.SETTINGS, *(name for name, _ in _top(found))])


def _top(found: conversations_pb2.Conversation) -> list[tuple[str, str]]:
    values = {
        "mode": _mode_name(found),
        "steering": texts.NAMES[_steering_name(found)],
        "project": _folder_name(found),
    }
    return [(texts.NAMES[name].format(value=value), name) for name, value in values.items()]


Rows = list[list[outgoing.Button]]


async def menu(
    daemon: client.Client, found: conversations_pb2.Conversation, name: str
) -> tuple[str, Rows]:
    """A view of the settings: its text, and what can be chosen."""
    if name == "mode":
        return texts.MODES, _choices("mode", list(MODES), _mode_name(found))
    if name == "steering":
        return texts.STEERING, _choices("steering", list(STEERINGS), _steering_name(found))
    if name == "project":
        page = await daemon.call(daemon.projects.List, projects_pb2.ListProjectsRequest())
        names = [one.name for one in page.projects if one.name]
        chosen = next((one.name for one in page.projects if one.folder == found.folder), DEFAULT)
        text = texts.PROJECTS.format(folder=_folder_name(found))
        return text, _choices("project", [DEFAULT, *names[:20]], chosen)
    rows = [[outgoing.Button(line, buttons.data(buttons.Menu(part)))] for line, part in _top(found)]
    return texts.SETTINGS, rows


def _choices(setting: str, values: list[str], chosen: str) -> Rows:
    rows: Rows = []
    for value in values:
        name = texts.DEFAULT_FOLDER if value == DEFAULT else texts.NAMES.get(value, value)
        shown = texts.CHOSEN.format(name=name) if value == chosen else name
        rows.append([outgoing.Button(shown, buttons.data(buttons.Setting(setting, value)))])
    rows.append([outgoing.Button(texts.BACK, buttons.data(buttons.Menu("top")))])
    return rows
