"""Schedules: how words are understood, what is to be done when it comes due, and what became of it.

Never reads words into something that nobody saw: `Create` takes a rule's own text alone.
"""

import asyncio
import datetime
from typing import TYPE_CHECKING

from google.protobuf import message

from daemon import zones
from daemon.decide import schedules as deciding, turn
from daemon.domain import (
    decisions,
    errors,
    ids,
    inputs,
    principals,
    schedule_text,
    schedules,
    world,
)
from daemon.rpc import (
    backend,
    caller,
    convert,
    convert_schedules,
    folders,
    interceptors,
    modes,
    paging,
    schedule_runs,
)
from proto.ducklm.v1 import common_pb2, schedules_pb2, schedules_pb2_grpc

if TYPE_CHECKING:
    from daemon.spoken_times import reader

MOST_TIMES = 20
_KIND = errors.RefusalKind
_SETTINGS = ("name", "text", "kind", "when", "zone", "mode", "folder", "profile", "policy")

_Keyed = (
    inputs.CreateSchedule
    | inputs.UpdateSchedule
    | inputs.DeleteSchedule
    | inputs.PauseSchedule
    | inputs.RunSchedule
    | inputs.StopSchedule
)


def _invalid(sentence: str) -> errors.Refusal:
    return errors.Refusal(_KIND.INVALID, sentence)


class Schedules(schedules_pb2_grpc.SchedulesServicer):
    """The Schedules service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    def _state(self) -> tuple[turn.Rules, world.World]:
        if self._served.rules is None or self._served.state is None:
            raise errors.Refusal(_KIND.UNAVAILABLE, "This daemon has no schedules.")
        return self._served.rules(), self._served.state()

    def _world(self) -> world.World:
        return self._state()[1]

    async def _zone(self, name: str) -> tuple[str, datetime.tzinfo]:
        """A zone by its name; empty for the daemon's. Reads files, so it is done on a thread."""

        def found() -> tuple[str, datetime.tzinfo]:
            wanted = name or self._served.zone()
            try:
                return wanted, zones.named(wanted)
            except ValueError as fault:
                raise _invalid(f"zone: {fault}") from None

        return await asyncio.to_thread(found)

    def _who(self, origin: common_pb2.Origin) -> principals.Principal:
        return convert.origin(origin, caller.current().credential).principal

    def _find(self, schedule_id: str, who: principals.Principal) -> world.Planned:
        found = deciding.find(*self._state(), who, ids.ScheduleId(schedule_id))
        if isinstance(found, decisions.Rejected):
            raise errors.Refusal(found.refusal, found.message)
        return found

    # --- words

    async def Preview(
        self, request: schedules_pb2.PreviewRequest, context: interceptors.Context
    ) -> schedules_pb2.Times:
        if not 0 <= request.count <= MOST_TIMES:
            raise _invalid(f"count is at most {MOST_TIMES}.")
        name, zone = await self._zone(request.zone)
        heard = await self._read(request.when, zone)
        count = request.count or convert_schedules.NEXT_TIMES
        now_ms = self._served.now_ms()
        return convert_schedules.times(heard.spec, name, zone, now_ms, count, heard.notes)

    async def _read(self, text: str, zone: datetime.tzinfo) -> "reader.Heard":
        """What words mean; on a thread, as the first of them load what reads them."""

        def read() -> "reader.Heard":
            from daemon.spoken_times import reader

            heard = reader.read(text, self._served.now_ms(), zone)
            if isinstance(heard, reader.Unread):
                raise _invalid(heard.reason)
            return heard

        return await asyncio.to_thread(read)

    async def _rule(self, text: str, name: str, zone: datetime.tzinfo) -> schedules.Spec:
        """The rule that a text is of; other words are refused with what they would be."""
        try:
            spec = schedule_text.parse(text)
        except ValueError as fault:
            raise _invalid(f"when: {fault}.") from None
        if spec is not None:
            return spec
        heard = await self._read(text, zone)
        due = convert_schedules.times(heard.spec, name, zone, self._served.now_ms())
        raise errors.Refusal(
            _KIND.STATE,
            f'"{text[:80]}" is understood as "{due.when}" in {name}, next: {"; ".join(due.told)}. '
            "Send that text as `when` to keep it.",
        )

    # --- writes

    async def _kept(self, given: _Keyed) -> decisions.ScheduleKept:
        reply = await self._served.inbox.ask(given)
        if not isinstance(reply, decisions.ScheduleKept):
            raise TypeError(f"a schedule was answered with {type(reply).__name__}")
        return reply

    async def _changed(self, given: _Keyed) -> schedules_pb2.Schedule:
        """The schedule after a change; of one that is over by now, as it was before, or its id."""
        named = ids.ScheduleId(getattr(given, "schedule_id", None) or "")
        before = self._world().schedules.get(named)
        kept = await self._kept(given)
        planned = self._world().schedules.get(kept.schedule_id or named)
        if planned is not None:
            return await self._sent(planned)
        over = schedules_pb2.Schedule(schedule_id=kept.schedule_id or "")
        if before is not None:
            over = await self._sent(before.but({"live": None, "queued": ()}))
            over.ClearField("times")
        over.state = schedules_pb2.Schedule.OVER
        return over

    async def Create(
        self, request: schedules_pb2.CreateScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.Schedule:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        name, zone = await self._zone(request.zone)
        spec = await self._rule(request.when, name, zone)
        folder = await folders.named(self._served, request.folder)
        work = convert_schedules.work(schedules.Work(), request, folder, request.profile)
        modes.check(self._served, work.mode, who.credential, stated.principal)
        _check_target(request.policy, who.credential)
        given = inputs.CreateSchedule(
            **convert.keyed(request, request.client_key, who, stated.principal),
            name=request.name,
            text=request.text,
            spec=spec,
            zone=name,
            work=work,
            policy=convert_schedules.policy(schedules.Policy(), request.policy, stated, True),
        )
        return await self._changed(given)

    async def Update(
        self, request: schedules_pb2.UpdateScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.Schedule:
        if not any(field.name in _SETTINGS for field, _ in request.ListFields()):
            raise _invalid(f"Set the fields to change, one or more of: {', '.join(_SETTINGS)}.")
        who = caller.current()
        asks = convert.origin(request.origin, who.credential)
        stated = asks.principal
        before = self._find(request.schedule_id, stated).schedule
        zone_name = request.zone if request.HasField("zone") else before.zone
        name, zone = await self._zone(zone_name)
        spec = await self._rule(request.when, name, zone) if request.HasField("when") else None
        folder = None
        if request.HasField("folder"):
            folder = await folders.named(self._served, request.folder)
        profile = request.profile if request.HasField("profile") else None
        work = convert_schedules.work(before.work, request, folder, profile)
        modes.check(self._served, convert.mode(request.mode), who.credential, stated)
        _check_target(request.policy, who.credential)
        given = inputs.UpdateSchedule(
            **convert.keyed(request, request.client_key, who, stated),
            schedule_id=before.schedule_id,
            name=request.name if request.HasField("name") else None,
            text=request.text if request.HasField("text") else None,
            spec=spec,
            zone=name if request.HasField("zone") else None,
            work=work if work != before.work else None,
            policy=convert_schedules.policy(before.policy, request.policy, asks, False)
            if request.HasField("policy")
            else None,
        )
        return await self._changed(given)

    async def Delete(
        self, request: schedules_pb2.DeleteScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.DeleteScheduleResponse:
        await self._kept(
            inputs.DeleteSchedule(
                **self._keyed(request, request.client_key, request.origin),
                schedule_id=ids.ScheduleId(request.schedule_id),
            )
        )
        return schedules_pb2.DeleteScheduleResponse()

    def _keyed(
        self, request: message.Message, client_key: str, origin: common_pb2.Origin
    ) -> convert.Keyed:
        return convert.keyed(request, client_key, caller.current(), self._who(origin))

    async def Pause(
        self, request: schedules_pb2.PauseScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.Schedule:
        keyed = self._keyed(request, request.client_key, request.origin)
        wanted = ids.ScheduleId(request.schedule_id)
        return await self._changed(inputs.PauseSchedule(**keyed, schedule_id=wanted, paused=True))

    async def Resume(
        self, request: schedules_pb2.ResumeScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.Schedule:
        keyed = self._keyed(request, request.client_key, request.origin)
        wanted = ids.ScheduleId(request.schedule_id)
        return await self._changed(inputs.PauseSchedule(**keyed, schedule_id=wanted, paused=False))

    async def PauseAll(
        self, request: schedules_pb2.PauseAllRequest, context: interceptors.Context
    ) -> schedules_pb2.ListSchedulesResponse:
        keyed = self._keyed(request, request.client_key, request.origin)
        await self._kept(inputs.PauseSchedule(**keyed, schedule_id=None, paused=True))
        return await self._all(keyed["principal"])

    async def ResumeAll(
        self, request: schedules_pb2.ResumeAllRequest, context: interceptors.Context
    ) -> schedules_pb2.ListSchedulesResponse:
        keyed = self._keyed(request, request.client_key, request.origin)
        await self._kept(inputs.PauseSchedule(**keyed, schedule_id=None, paused=False))
        return await self._all(keyed["principal"])

    async def RunNow(
        self, request: schedules_pb2.RunNowRequest, context: interceptors.Context
    ) -> schedules_pb2.RunNowResponse:
        keyed = self._keyed(request, request.client_key, request.origin)
        wanted = ids.ScheduleId(request.schedule_id)
        kept = await self._kept(inputs.RunSchedule(**keyed, schedule_id=wanted))
        return _began(kept)

    async def Rehearse(
        self, request: schedules_pb2.RehearseRequest, context: interceptors.Context
    ) -> schedules_pb2.RunNowResponse:
        keyed = self._keyed(request, request.client_key, request.origin)
        wanted = ids.ScheduleId(request.schedule_id)
        kept = await self._kept(inputs.RunSchedule(**keyed, schedule_id=wanted, rehearses=True))
        return _began(kept)

    async def Stop(
        self, request: schedules_pb2.StopScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.Schedule:
        keyed = self._keyed(request, request.client_key, request.origin)
        wanted = ids.ScheduleId(request.schedule_id)
        return await self._changed(inputs.StopSchedule(**keyed, schedule_id=wanted))

    # --- reads

    async def _sent(self, planned: world.Planned) -> schedules_pb2.Schedule:
        schedule, zone = planned.schedule, zones.known(planned.schedule.zone)
        live = None
        if planned.live is not None:
            view = await self._served.store.run(planned.live.run_id)
            live = None if view is None else await schedule_runs.sent(self._served, view)
        after_ms = max(planned.accounted_ms, self._served.now_ms())
        count = convert_schedules.times_left(planned)
        due = convert_schedules.times(schedule.spec, schedule.zone, zone, after_ms, count)
        allowed = any(one.schedule_id == schedule.schedule_id for one in self._served.grants())
        texts = await self._served.contents.texts(convert_schedules.contents(planned))
        return convert_schedules.schedule(planned, texts, due, live, allowed)

    async def _all(self, who: principals.Principal) -> schedules_pb2.ListSchedulesResponse:
        rules, now = self._state()
        found = [
            await self._sent(planned)
            for planned in tuple(now.schedules.values())
            if deciding.may(rules, who, planned.schedule)
        ]
        found.sort(key=_by_next)
        return schedules_pb2.ListSchedulesResponse(schedules=found)

    async def Get(
        self, request: schedules_pb2.GetScheduleRequest, context: interceptors.Context
    ) -> schedules_pb2.Schedule:
        return await self._sent(self._find(request.schedule_id, self._who(request.origin)))

    async def List(
        self, request: schedules_pb2.ListSchedulesRequest, context: interceptors.Context
    ) -> schedules_pb2.ListSchedulesResponse:
        return await self._all(self._who(request.origin))

    async def ListRuns(
        self, request: schedules_pb2.ListRunsRequest, context: interceptors.Context
    ) -> schedules_pb2.ListRunsResponse:
        who = self._who(request.origin)
        page = await self._served.store.runs(
            paging.size(request.page),
            paging.before(request.page),
            ids.ScheduleId(request.schedule_id) or None,
            None if deciding.is_master(self._state()[0], who) else who,
        )
        return schedules_pb2.ListRunsResponse(
            runs=[await schedule_runs.sent(self._served, view) for view in page.rows],
            next_page_token=paging.token(page.next_before),
        )


def _by_next(schedule: schedules_pb2.Schedule) -> tuple[bool, bool, int, str]:
    due = schedule.times.next
    paused = schedule.state == schedules_pb2.Schedule.PAUSED
    return paused, not due, due[0].ToMilliseconds() if due else 0, schedule.schedule_id


def _began(kept: decisions.ScheduleKept) -> schedules_pb2.RunNowResponse:
    return schedules_pb2.RunNowResponse(
        schedule_id=kept.schedule_id or "", task_id=kept.task_id or ""
    )


def _check_target(given: schedules_pb2.SchedulePolicy, who: principals.Credential) -> None:
    """Only who may speak in chats says to which one results go."""
    if given.HasField("to") and "channel" not in who.scopes:
        raise errors.Refusal(
            _KIND.FORBIDDEN, "Sending results to a chat needs a token with scope channel."
        )
