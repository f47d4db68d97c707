"""Schedules and their runs as they are sent, and what is asked of them as the domain takes it."""

import datetime
from collections.abc import Mapping

import pydantic

from daemon.decide import calendar
from daemon.domain import (
    deliveries,
    errors,
    ids,
    principals,
    schedule_text,
    schedules,
    views,
    world,
)
from daemon.rpc import convert
from proto.ducklm.v1 import schedules_pb2

NEXT_TIMES = 3
_Policy = schedules_pb2.SchedulePolicy
_Kind = schedules_pb2.Schedule.Kind

_KINDS = {one: _Kind.Value(one.name) for one in schedules.WorkKind}
_KINDS_BACK = {number: one for one, number in _KINDS.items()}
_MISSED = {one: _Policy.Missed.Value(one.name) for one in schedules.WhenMissed}
_MISSED_BACK = {number: one for one, number in _MISSED.items()}
_OVERLAPS = {
    schedules.Overlap.SKIP: _Policy.LEAVE_OUT,
    schedules.Overlap.QUEUE: _Policy.WAIT,
}
_OVERLAPS_BACK = {number: one for one, number in _OVERLAPS.items()}
_TELLS = {one: _Policy.Tell.Value(one.name) for one in schedules.Tell}
_TELLS_BACK = {number: one for one, number in _TELLS.items()}
_RUN_STATES = {one: schedules_pb2.Run.State.Value(one.name) for one in schedules.RunState}


def _refuse(sentence: str) -> errors.Refusal:
    return errors.Refusal(errors.RefusalKind.INVALID, sentence)


def work(
    before: schedules.Work,
    given: "schedules_pb2.CreateScheduleRequest | schedules_pb2.UpdateScheduleRequest",
    folder: str | None,
    profile: str | None,
) -> schedules.Work:
    """How runs are to work: what is said, over what was."""
    changes: dict[str, object] = {}
    if given.kind:
        changes["kind"] = _KINDS_BACK[given.kind]
    mode = convert.mode(given.mode)
    if mode is not None:
        changes["mode"] = mode
    if folder is not None:
        changes["project"] = folder
    if profile is not None:
        changes["profile"] = profile
    return before.but(changes)


def policy(
    before: schedules.Policy,
    given: schedules_pb2.SchedulePolicy,
    asks: principals.Origin,
    is_new: bool,
) -> schedules.Policy:
    """What is to become of runs: what is said, over what was; results of a new schedule go to the
    chat that `asks`, where nothing is said of that.

    Raises:
        errors.Refusal: a number is out of its bounds.
    """
    own = deliveries.target(asks)
    to = own if is_new else before.delivery.to
    if given.no_chat:
        to = None
    elif given.HasField("to"):
        to = _target(given.to)
        if own is not None and own.place == to.place:
            to = own
    tell = _TELLS_BACK.get(given.tell, before.delivery.tell)
    delivery = {"to": None if to is None else to.but({"reply_to": ""}), "tell": tell}
    missed = {
        "how": _MISSED_BACK.get(given.missed, before.missed.how),
        "most": _over(given, "catch_up", before.missed.most),
        "grace_seconds": _over(given, "grace_seconds", before.missed.grace_seconds),
    }
    retries = {
        "most": _over(given, "retries", before.retries.most),
        "backoff_seconds": _over(given, "backoff_seconds", before.retries.backoff_seconds),
    }
    said = {
        "missed": missed,
        "overlap": _OVERLAPS_BACK.get(given.overlap, before.overlap),
        "delivery": delivery,
        "retries": retries,
        "pause_after_failures": _bound(given, "pause_after_failures", before.pause_after_failures),
        "most_runs": _bound(given, "most_runs", before.most_runs),
        "deadline_seconds": _bound(given, "deadline_seconds", before.deadline_seconds),
        "approval_seconds": _bound(given, "approval_seconds", before.approval_seconds),
    }
    return _checked(said)


def _checked(said: Mapping[str, object]) -> schedules.Policy:
    try:
        return schedules.Policy.model_validate(said)
    except pydantic.ValidationError as fault:
        raise _refuse(f"policy.{schedule_text.in_words(fault)}.") from None


def _over(given: schedules_pb2.SchedulePolicy, field: str, before: int) -> int:
    return int(getattr(given, field)) if given.HasField(field) else before  # type: ignore[arg-type]


def _bound(given: schedules_pb2.SchedulePolicy, field: str, before: int | None) -> int | None:
    """A limit that 0 takes away."""
    if not given.HasField(field):  # type: ignore[arg-type]
        return before
    return int(getattr(given, field)) or None


def _target(given: schedules_pb2.ChatTarget) -> deliveries.Target:
    platform, _, account = given.account.partition(":")
    is_bot = platform and account and platform not in principals.OWN_PLATFORMS
    if not is_bot or ":" in account or not given.chat:
        raise _refuse("policy.to names a bot's platform:account and a chat of it.")
    return deliveries.Target(account=given.account, chat=given.chat, topic=given.topic)


def sent_policy(kept: schedules.Policy) -> schedules_pb2.SchedulePolicy:
    """All of a policy."""
    to = kept.delivery.to
    target = None
    if to is not None:
        target = schedules_pb2.ChatTarget(account=to.account, chat=to.chat, topic=to.topic)
    return _Policy(
        missed=_MISSED[kept.missed.how],
        catch_up=kept.missed.most,
        grace_seconds=kept.missed.grace_seconds,
        overlap=_OVERLAPS[kept.overlap],
        tell=_TELLS[kept.delivery.tell],
        to=target,
        no_chat=to is None,
        retries=kept.retries.most,
        backoff_seconds=kept.retries.backoff_seconds,
        pause_after_failures=kept.pause_after_failures or 0,
        most_runs=kept.most_runs or 0,
        deadline_seconds=kept.deadline_seconds or 0,
        approval_seconds=kept.approval_seconds or 0,
    )


def times(
    spec: schedules.Spec,
    zone_name: str,
    zone: datetime.tzinfo | None,
    after_ms: int,
    count: int = NEXT_TIMES,
    notes: tuple[str, ...] = (),
) -> schedules_pb2.Times:
    """A rule with its next times; none of them where there is no such zone here."""
    found = () if zone is None else calendar.upcoming(spec, zone, after_ms, count)
    told = [] if zone is None else [calendar.told(at, zone) for at in found]
    return schedules_pb2.Times(
        when=schedule_text.written(spec),
        zone=zone_name,
        next=[convert.timestamp(at) for at in found],
        told=told,
        notes=notes,
    )


def times_left(planned: world.Planned) -> int:
    """How many next times are told: no more than there are left of them."""
    most = planned.schedule.policy.most_runs
    begun = planned.runs + len(planned.queued)
    return NEXT_TIMES if most is None else max(0, min(NEXT_TIMES, most - begun))


def contents(planned: world.Planned) -> list[ids.ContentId]:
    """The texts that a schedule is sent with."""
    return [planned.schedule.name, planned.schedule.text]


def schedule(
    planned: world.Planned,
    texts: convert.Texts,
    due: schedules_pb2.Times,
    live: schedules_pb2.Run | None,
    allowed: bool,
) -> schedules_pb2.Schedule:
    """A schedule as it stands; `due` are its next times."""
    kept = planned.schedule
    paused, active = schedules_pb2.Schedule.PAUSED, schedules_pb2.Schedule.ACTIVE
    return schedules_pb2.Schedule(
        schedule_id=kept.schedule_id,
        conversation_id=kept.conversation_id,
        principal=kept.principal,
        name=convert.said(texts, kept.name),
        text=convert.said(texts, kept.text),
        kind=_KINDS[kept.work.kind],
        mode=convert.mode_number(kept.work.mode),
        folder=kept.work.project,
        profile=kept.work.profile,
        policy=sent_policy(kept.policy),
        state=paused if kept.paused else active,
        times=due,
        runs=planned.runs,
        failures=planned.failures,
        live=live,
        waiting_runs=len(planned.queued),
        allowed=allowed,
    )


def run(view: views.RunView, texts: convert.Texts, zone: datetime.tzinfo) -> schedules_pb2.Run:
    """A run as it is shown, with the time of the zone's clock at which it was due."""
    begun, ended = view.started_ms, view.ended_ms
    return schedules_pb2.Run(
        run_id=view.run_id,
        schedule_id=view.schedule_id,
        name=convert.said(texts, view.name),
        due_at=convert.timestamp(view.due_ms),
        state=_RUN_STATES[view.state],
        reason=view.reason,
        task_id=view.task_id or "",
        attempts=view.attempts,
        by_hand=view.by_hand,
        started_at=None if begun is None else convert.timestamp(begun),
        ended_at=None if ended is None else convert.timestamp(ended),
        late_ms=view.late_ms,
        duration_ms=ended - begun if begun is not None and ended is not None else 0,
        platform_ids=view.platform_ids,
        due_told=calendar.told(view.due_ms, zone),
    )
