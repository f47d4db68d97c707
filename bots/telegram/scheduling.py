"""Carries out /schedule and the buttons of schedules by the daemon's API.

Answers for: that nothing is kept before somebody who asked for it saw what was understood and
pressed Keep; that a draft is decided once, however often and in whatever order it is pressed; that
in a group nobody is shown what is told elsewhere. Whose a schedule is, the daemon judges.
"""

import asyncio
import dataclasses
import typing

from bots import client, schedule_words
from bots.telegram import buttons, drafts, replies, schedule_views, texts
from proto.ducklm.v1 import (
    channels_pb2,
    common_pb2,
    schedules_pb2,
    tasks_pb2,
)

RUNS_LISTED: typing.Final = 20
DECIDED: typing.Final = "draft"  # a cursor whose only use is that a key is taken once
LOOKS: typing.Final = 20  # at a task that has something allowed, until it asks or has ended
LOOK_EVERY_S: typing.Final = 0.2
_Schedules = schedules_pb2
_STARTING: typing.Final = (common_pb2.QUEUED, common_pb2.RUNNING)


@dataclasses.dataclass(frozen=True)
class Pressed:
    """What the presser is told, and what the message shows from then on, where it changes."""

    said: str
    view: schedule_views.View | None = None


class Scheduling:
    """What one message or one press asks of schedules."""

    def __init__(self, daemon: client.Client, chat: replies.Chat) -> None:
        self._daemon = daemon
        self._chat = chat
        self._place = schedule_views.place(chat.origin)
        # Who asks, and the chat that results go to; not a message, which they are no answer to.
        self._origin = common_pb2.Origin(
            principal=chat.origin.principal, chat=chat.origin.chat, topic=chat.origin.topic
        )

    # --- what is typed

    async def do(self, argument: str) -> None:
        """Do what stands behind /schedule; raises CallFault."""
        asked = schedule_words.parse(argument)
        match asked:
            case schedule_words.Teaching():
                view = schedule_views.View(schedule_views.lines(asked.text))
            case schedule_words.Listing():
                view = schedule_views.listing(await self._list(), self._place)
            case schedule_words.Adding():
                view = await self._draft(
                    asked.when, "", text=asked.text, is_command=asked.is_command
                )
            case schedule_words.All():
                view = await self._all(asked.paused)
            case schedule_words.History(named=""):
                view = schedule_views.history(await self._runs("", RUNS_LISTED))
            case _:
                view = await self._with(asked)
        await self._chat.say(view.text, view.rows)

    async def _with(
        self,
        asked: schedule_words.Doing
        | schedule_words.History
        | schedule_words.Timing
        | schedule_words.Setting,
    ) -> schedule_views.View:
        """Do something with a schedule that was named."""
        found = schedule_words.find(asked.named, await self._list())
        if isinstance(found, schedule_words.Teaching):
            return schedule_views.View(schedule_views.lines(found.text))
        match asked:
            case schedule_words.History():
                return await self._history(found, RUNS_LISTED)
            case schedule_words.Timing():
                one = await self._get(found)
                when, zone = asked.when or one.times.when, asked.zone or one.times.zone
                return await self._draft(when, zone, one)
            case schedule_words.Setting():
                return await self._set(found, asked)
            case schedule_words.Doing(verb="delete"):
                return schedule_views.deleting(await self._get(found))
            case schedule_words.Doing():
                done = await self._act(asked.verb, found)
                if done.view is None:
                    return schedule_views.View(schedule_views.lines(done.said))
                said = schedule_views.lines(done.said)
                text = f"{said}\n\n{done.view.text}" if said else done.view.text
                return dataclasses.replace(done.view, text=text)
            case _:
                typing.assert_never(asked)

    # --- what is pressed

    async def press(
        self,
        press: buttons.Draft | buttons.Schedules | buttons.Schedule,
        look: channels_pb2.LookResponse,
    ) -> Pressed:
        """Do what a button says; raises CallFault. `look` is at its message."""
        match press:
            case buttons.Draft():
                return await self._decide(press)
            case buttons.Schedules():
                whose = look.replied_to.principal
                if whose and whose != self._origin.principal:
                    return Pressed(texts.NOT_YOUR_LIST)
                found = await self._list()
                return Pressed("", schedule_views.listing(found, self._place, press.page))
            case buttons.Schedule():
                return await self._act(press.action, press.schedule_id)
            case _:
                typing.assert_never(press)

    async def _act(self, action: str, schedule_id: str) -> Pressed:
        """Do something with a schedule, and show it as it is then."""
        match action:
            case "runs":
                return Pressed("", await self._history(schedule_id, schedule_views.RUNS))
            case "delete":
                return Pressed("", schedule_views.deleting(await self._get(schedule_id)))
            case "erase":
                return await self._erase(schedule_id)
            case "stop" | "pause" | "resume":
                said, one = await self._change(action, schedule_id)
                return Pressed(said, schedule_views.schedule(one, self._place))
            case "allow":
                said = await self._allow(schedule_id)
            case "run":
                said = await self._run(schedule_id)
            case _:
                said = ""
        return Pressed(said, schedule_views.schedule(await self._get(schedule_id), self._place))

    # --- what the daemon is asked

    async def _list(self) -> list[_Schedules.Schedule]:
        request = _Schedules.ListSchedulesRequest(origin=self._origin)
        found = await self._daemon.call(self._daemon.schedules.List, request)
        return list(found.schedules)

    async def _get(self, schedule_id: str) -> _Schedules.Schedule:
        request = _Schedules.GetScheduleRequest(schedule_id=schedule_id, origin=self._origin)
        found: _Schedules.Schedule = await self._daemon.call(self._daemon.schedules.Get, request)
        return found

    async def _runs(self, schedule_id: str, count: int) -> list[_Schedules.Run]:
        request = _Schedules.ListRunsRequest(
            schedule_id=schedule_id, origin=self._origin, page=common_pb2.Page(size=count)
        )
        page = await self._daemon.call(self._daemon.schedules.ListRuns, request)
        return list(page.runs)

    async def _history(self, schedule_id: str, count: int) -> schedule_views.View:
        one = await self._get(schedule_id)
        runs = await self._runs(schedule_id, count)
        return schedule_views.history(runs, one.name, schedule_id)

    async def _run(self, schedule_id: str) -> str:
        request = _Schedules.RunNowRequest(
            schedule_id=schedule_id, origin=self._origin, client_key=self._key("run")
        )
        await self._daemon.call(self._daemon.schedules.RunNow, request)
        return texts.RUN_STARTED

    async def _change(self, action: str, schedule_id: str) -> tuple[str, _Schedules.Schedule]:
        """What is said of a change, and the schedule after it, which may be over by it."""
        key, service = self._key(action), self._daemon.schedules
        match action:
            case "stop":
                stop = _Schedules.StopScheduleRequest(
                    schedule_id=schedule_id, origin=self._origin, client_key=key
                )
                return texts.RUN_STOPPED, await self._daemon.call(service.Stop, stop)
            case "pause":
                pause = _Schedules.PauseScheduleRequest(
                    schedule_id=schedule_id, origin=self._origin, client_key=key
                )
                return texts.PAUSED_TOAST, await self._daemon.call(service.Pause, pause)
            case _:
                resume = _Schedules.ResumeScheduleRequest(
                    schedule_id=schedule_id, origin=self._origin, client_key=key
                )
                return texts.RESUMED_TOAST, await self._daemon.call(service.Resume, resume)

    async def _all(self, paused: bool) -> schedule_views.View:
        key = self._key("all")
        if paused:
            pause = _Schedules.PauseAllRequest(origin=self._origin, client_key=key)
            found = await self._daemon.call(self._daemon.schedules.PauseAll, pause)
        else:
            resume = _Schedules.ResumeAllRequest(origin=self._origin, client_key=key)
            found = await self._daemon.call(self._daemon.schedules.ResumeAll, resume)
        pattern = texts.ALL_PAUSED if paused else texts.ALL_RESUMED
        said = pattern.format(count=len(found.schedules))
        return schedule_views.View(schedule_views.lines(said))

    async def _erase(self, schedule_id: str) -> Pressed:
        one = await self._get(schedule_id)
        request = _Schedules.DeleteScheduleRequest(
            schedule_id=schedule_id, origin=self._origin, client_key=self._key("erase")
        )
        await self._daemon.call(self._daemon.schedules.Delete, request)
        text = schedule_views.lines(texts.DELETED.format(name=one.name))
        return Pressed(texts.DELETED_TOAST, schedule_views.View(text))

    async def _allow(self, schedule_id: str) -> str:
        """Have its command allowed; what there is to ask comes as a card."""
        request = _Schedules.RehearseRequest(
            schedule_id=schedule_id, origin=self._origin, client_key=self._key("allow")
        )
        began = await self._daemon.call(self._daemon.schedules.Rehearse, request)
        asked = tasks_pb2.GetTaskRequest(task_id=began.task_id)
        for _ in range(LOOKS):
            task = await self._daemon.call(self._daemon.tasks.Get, asked)
            if task.state == common_pb2.AWAITING_APPROVAL:
                return texts.ALLOW_ASKED
            if task.state not in _STARTING:
                return str(task.answer or task.reason)
            await asyncio.sleep(LOOK_EVERY_S)
        return texts.ALLOW_SLOW

    async def _set(self, schedule_id: str, asked: schedule_words.Setting) -> schedule_views.View:
        request = _Schedules.UpdateScheduleRequest()
        request.CopyFrom(asked.change)
        if asked.here:
            request.policy.to.account = self._place.account
            request.policy.to.chat = self._place.chat
            request.policy.to.topic = self._place.topic
        request.schedule_id = schedule_id
        request.origin.CopyFrom(self._origin)
        request.client_key = self._key("set")
        one = await self._daemon.call(self._daemon.schedules.Update, request)
        return schedule_views.schedule(one, self._place, texts.DECIDED)

    def _key(self, part: str) -> str:
        return f"{self._chat.key} schedule {part}"

    # --- drafts

    async def _draft(
        self,
        when: str,
        zone: str,
        one: _Schedules.Schedule | None = None,
        text: str = "",
        is_command: bool = False,
    ) -> schedule_views.View:
        """Have words read, and what was understood shown; nothing is kept but the draft."""
        request = _Schedules.PreviewRequest(when=when, zone=zone)
        times = await self._daemon.call(self._daemon.schedules.Preview, request)
        draft = drafts.Draft(
            principal=self._origin.principal,
            key=self._chat.key,
            when=times.when,
            zone=times.zone,
            text=text,
            is_command=is_command,
            schedule_id=one.schedule_id if one is not None else "",
        )
        artifact_id = await self._chat.keep(drafts.written(draft))
        return schedule_views.draft(draft, times, artifact_id, one.name if one is not None else "")

    async def _decide(self, press: buttons.Draft) -> Pressed:
        """Keep what a draft says, or never: whichever was pressed first."""
        kept = await self._daemon.artifact(press.artifact_id, drafts.MOST_BYTES)
        draft = drafts.read(kept or b"")
        if draft is None:
            return Pressed(texts.OLD_BUTTON)
        if draft.principal != self._origin.principal:
            return Pressed(texts.NOT_YOUR_DRAFT)
        key = f"draft {press.artifact_id}"
        try:
            if not press.keeps:
                never = channels_pb2.SetCursorRequest(name=DECIDED, client_key=key)
                await self._daemon.call(self._daemon.channels.SetCursor, never)
                said = schedule_views.lines(texts.NOT_KEPT)
                return Pressed(texts.NOT_KEPT, schedule_views.View(said))
            one = await self._keep(draft, key)
        except client.CallFault as fault:
            if fault.code is not client.SAID_BEFORE:
                raise
            return Pressed(texts.KEPT_BEFORE)
        return Pressed(texts.KEPT, schedule_views.schedule(one, self._place, texts.KEPT))

    async def _keep(self, draft: drafts.Draft, key: str) -> _Schedules.Schedule:
        one: _Schedules.Schedule
        if draft.schedule_id:
            update = _Schedules.UpdateScheduleRequest(
                origin=self._origin,
                schedule_id=draft.schedule_id,
                when=draft.when,
                zone=draft.zone,
                client_key=key,
            )
            one = await self._daemon.call(self._daemon.schedules.Update, update)
            return one
        kinds = _Schedules.Schedule
        create = _Schedules.CreateScheduleRequest(
            origin=self._origin,
            text=draft.text,
            kind=kinds.COMMAND if draft.is_command else kinds.AGENT,
            when=draft.when,
            zone=draft.zone,
            client_key=key,
        )
        one = await self._daemon.call(self._daemon.schedules.Create, create)
        return one
