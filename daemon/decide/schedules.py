"""What people ask of schedules: made, changed, paused, run now, stopped, deleted.

Each is its maker's and the owners'. A schedule is an event like all else, so the log tells who made
it and who changed it; what time brings is `runs`'.
"""

from typing import TypedDict

import pydantic

from daemon.decide import (
    arguments,
    calendar,
    calls,
    conversations,
    endings,
    intent,
    runs,
    skills,
    submitting,
    turn,
)
from daemon.domain import (
    decisions,
    directives,
    errors,
    events,
    ids,
    inputs,
    principals,
    schedules,
    state,
    verdicts,
    world,
)

_KIND = errors.RefusalKind
NAME_CHARS = 60


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def may(rules: turn.Rules, who: principals.Principal, schedule: events.Schedule) -> bool:
    """Whether somebody may see and change a schedule: people of chats their own, owners all."""
    return is_master(rules, who) or schedule.principal == who


def is_master(rules: turn.Rules, who: principals.Principal) -> bool:
    """Whether somebody may see and change every schedule: owners, and scripts of theirs."""
    return not principals.is_chat_user(who) or rules.owners.is_owner(who)


def find(
    rules: turn.Rules,
    now: world.World,
    who: principals.Principal,
    schedule_id: ids.ScheduleId,
) -> world.Planned | decisions.Rejected:
    """A schedule that somebody may see and change; to others it is not there."""
    planned = now.schedules.get(schedule_id)
    if planned is None or not may(rules, who, planned.schedule):
        message = f"There is no schedule {schedule_id}: it was deleted, or it is over."
        return _reject(_KIND.NOT_FOUND, message)
    return planned


def create(
    current: turn.Turn, given: inputs.CreateSchedule
) -> decisions.Reply | decisions.Rejected:
    """Keep a new schedule, with a conversation of its own."""
    if len(current.world.schedules) >= current.rules.limits.schedules:
        limit = current.rules.limits.schedules
        return _reject(_KIND.EXHAUSTED, f"There are {limit} schedules already: delete one first.")
    refused = _refused(current, given.principal, given.text, given.work, given.policy)
    refused = refused or _never_due(current, given.spec, given.zone, current.at_ms)
    if refused is not None:
        return refused
    conversation_id = current.ids.conversation()
    name = current.keep(conversation_id, _name(given.name, given.text))
    created = events.ConversationCreated(
        conversation_id=conversation_id,
        principal=given.principal,
        title=name,
        mode=given.work.mode,
        folder=given.work.project,
        profile=given.work.profile,
    )
    current.record(created, conversation_id, given.correlation_id)
    schedule = events.Schedule(
        schedule_id=current.ids.schedule(),
        conversation_id=conversation_id,
        principal=given.principal,
        name=name,
        text=current.keep(conversation_id, given.text),
        spec=given.spec,
        zone=given.zone,
        work=given.work,
        policy=given.policy,
        **_made(current, conversation_id, given.text, given.work),
    )
    return _keep(current, schedule, given)


def _name(name: str, text: str) -> str:
    """One line of few characters; the first words where no name was given."""
    line = " ".join((name.strip() or text).split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1].rstrip() + "…"


class _Made(TypedDict):
    call: ids.ContentId | None
    fingerprint: str
    skill: str
    urls: tuple[str, ...]


def _made(current: turn.Turn, owner: ids.ConversationId, text: str, work: schedules.Work) -> _Made:
    """What follows from the text: of a message as if it were said, of a command its call."""
    if work.kind is schedules.WorkKind.AGENT:
        uses_skills = current.rules.kits[work.profile].uses_skills
        skill = skills.chosen(text, current.rules.skills) if uses_skills else ""
        urls = intent.addresses(text)
        return {"call": None, "fingerprint": "", "skill": skill, "urls": urls}
    given: dict[str, pydantic.JsonValue] = {"command": text}
    return {
        "call": current.keep(owner, directives.arguments_json(given)),
        "fingerprint": arguments.fingerprint(calls.SHELL, given),
        "skill": "",
        "urls": (),
    }


def _refused(
    current: turn.Turn,
    who: principals.Principal,
    text: str,
    work: schedules.Work,
    policy: schedules.Policy,
) -> decisions.Rejected | None:
    if not text.strip():
        return _reject(_KIND.INVALID, "The text is empty. Say what is to be done.")
    size, most = len(text.encode()), current.rules.limits.message_bytes
    if size > most:
        return _reject(_KIND.EXHAUSTED, f"The text has {size} bytes; at most {most} are taken.")
    if work.mode is verdicts.Mode.YOLO and not current.rules.owners.is_owner(who):
        message = "Only an owner's schedules may run commands unasked: choose the mode build."
        return _reject(_KIND.FORBIDDEN, message)
    refused = conversations.unknown_profile(current, work.profile)
    if refused is not None:
        return refused
    has_shell = calls.SHELL in current.rules.kits[work.profile].tools
    if work.kind is schedules.WorkKind.COMMAND and not has_shell:
        return _reject(_KIND.STATE, "There is no shell here: commands cannot be scheduled.")
    to = policy.delivery.to
    if to is not None and not is_master(current.rules, who) and to.principal != who:
        return _reject(_KIND.FORBIDDEN, "Results go to the chat that asks: name no other one.")
    return None


def _never_due(
    current: turn.Turn, spec: schedules.Spec, zone_name: str, after_ms: int
) -> decisions.Rejected | None:
    zone = current.rules.zones(zone_name)
    if zone is None:
        message = f"{zone_name} is no time zone: write it like Europe/Berlin."
        return _reject(_KIND.INVALID, message)
    if calendar.next_due(spec, zone, after_ms) is None:
        return _reject(_KIND.INVALID, "It never comes due: that time has passed.")
    return None


def _keep(
    current: turn.Turn,
    schedule: events.Schedule,
    given: inputs.CreateSchedule | inputs.UpdateSchedule,
) -> decisions.Reply:
    kept = events.ScheduleSet(schedule=schedule, by=given.principal)
    current.record(kept, schedule.conversation_id, given.correlation_id)
    runs.remind(current, schedule.schedule_id)
    return decisions.ScheduleKept(schedule_id=schedule.schedule_id)


def update(
    current: turn.Turn, given: inputs.UpdateSchedule
) -> decisions.Reply | decisions.Rejected:
    """Change what is said; what goes on of it goes on as it began."""
    planned = find(current.rules, current.world, given.principal, given.schedule_id)
    if isinstance(planned, decisions.Rejected):
        return planned
    before = planned.schedule
    work, policy = given.work or before.work, given.policy or before.policy
    spec, zone = given.spec or before.spec, given.zone or before.zone
    told = "as it was" if given.text is None else given.text
    refused = _refused(current, before.principal, told, work, policy)
    if (spec, zone) != (before.spec, before.zone):
        refused = refused or _never_due(
            current, spec, zone, max(current.at_ms, planned.accounted_ms)
        )
    if work.kind is not before.work.kind and given.text is None:
        message = "Say what is to be done too: a command is not told like a task."
        refused = refused or _reject(_KIND.INVALID, message)
    refused = refused or _cannot_be_now(current, planned, work, policy)
    if refused is not None:
        return refused
    if (spec, zone) != (before.spec, before.zone):
        runs.account(current, before.schedule_id)  # what had come by then counts as it was
    owner = before.conversation_id
    changes: dict[str, object] = {"work": work, "policy": policy, "spec": spec, "zone": zone}
    if given.text is not None or work != before.work:
        _revoke(current, given)
    if given.text is not None:
        changes["text"] = current.keep(owner, given.text)
        changes |= _made(current, owner, given.text, work)
    if given.name is not None:
        changes["name"] = current.keep(owner, _name(given.name, given.name or "schedule"))
    after = before.but(changes)
    _set_conversation(current, before, after, given.correlation_id)
    return _keep(current, after, given)


def _cannot_be_now(
    current: turn.Turn, planned: world.Planned, work: schedules.Work, policy: schedules.Policy
) -> decisions.Rejected | None:
    schedule, most = planned.schedule, policy.most_runs
    begun = planned.runs + len(planned.queued)
    if most is not None and most != schedule.policy.most_runs and most <= begun:
        message = f"{begun} runs of it have begun already: allow more than that, or delete it."
        return _reject(_KIND.INVALID, message)
    moves = work.project != schedule.work.project
    if moves and conversations.is_live(current, schedule.conversation_id):
        message = "A run of it goes on: its project can be changed after that."
        return _reject(_KIND.STATE, message)
    return None


def _revoke(current: turn.Turn, given: inputs.UpdateSchedule) -> None:
    """What was allowed for its runs was another call."""
    for grant in tuple(current.world.grants.values()):
        if grant.schedule_id == given.schedule_id:
            revoked = events.GrantRevoked(grant_id=grant.grant_id, principal=given.principal)
            current.record(revoked, grant.conversation_id, given.correlation_id)


def _set_conversation(
    current: turn.Turn, before: events.Schedule, after: events.Schedule, correlation_id: str
) -> None:
    """Its conversation is as its runs are to work from now on."""
    if (before.name, before.work) == (after.name, after.work):
        return
    updated = events.ConversationUpdated(
        conversation_id=after.conversation_id,
        title=after.name,
        mode=after.work.mode,
        folder=after.work.project,
        profile=after.work.profile,
    )
    current.record(updated, after.conversation_id, correlation_id)


def delete(
    current: turn.Turn, given: inputs.DeleteSchedule
) -> decisions.Reply | decisions.Rejected:
    """Take a schedule away, and end what goes on of it; its history stays."""
    planned = find(current.rules, current.world, given.principal, given.schedule_id)
    if isinstance(planned, decisions.Rejected):
        return planned
    runs.drop_due(current, planned, "removed")
    runs.cancel(current, planned)
    _withdraw_rehearsals(current, given.schedule_id)
    gone = events.ScheduleRemoved(schedule_id=given.schedule_id, by=given.principal)
    current.record(gone, planned.schedule.conversation_id, given.correlation_id)
    return decisions.ScheduleKept(schedule_id=given.schedule_id)


def _withdraw_rehearsals(current: turn.Turn, schedule_id: ids.ScheduleId) -> None:
    """Nobody is asked any more about runs that there will not be."""
    for task in tuple(current.world.tasks.values()):
        is_of = task.run is not None and task.run.schedule_id == schedule_id
        if is_of and task.state not in state.FINAL:
            endings.end(current, task, state.TaskState.CANCELLED, "its schedule was deleted")


def pause(current: turn.Turn, given: inputs.PauseSchedule) -> decisions.Reply | decisions.Rejected:
    """Pause one or all, or let them go on: what would have been due meanwhile is not."""
    if given.schedule_id is None:
        wanted = [
            one
            for one in current.world.schedules.values()
            if may(current.rules, given.principal, one.schedule)
        ]
    else:
        planned = find(current.rules, current.world, given.principal, given.schedule_id)
        if isinstance(planned, decisions.Rejected):
            return planned
        wanted = [planned]
    for planned in wanted:
        if planned.schedule.paused != given.paused:
            _pause(current, planned, given)
    return decisions.ScheduleKept(schedule_id=given.schedule_id)


def _pause(current: turn.Turn, planned: world.Planned, given: inputs.PauseSchedule) -> None:
    schedule = planned.schedule.but({"paused": given.paused})
    if given.paused:
        runs.drop_due(current, planned, "paused")
    kept = events.ScheduleSet(schedule=schedule, by=given.principal)
    current.record(kept, schedule.conversation_id, given.correlation_id)
    runs.go_on(current, schedule.schedule_id)


def run(current: turn.Turn, given: inputs.RunSchedule) -> decisions.Reply | decisions.Rejected:
    """Begin a run now, or only have what it would run allowed."""
    planned = find(current.rules, current.world, given.principal, given.schedule_id)
    if isinstance(planned, decisions.Rejected):
        return planned
    if given.rehearses:
        if planned.schedule.call is None:
            message = "Only a command can be allowed before it runs; what an agent does asks then."
            return _reject(_KIND.STATE, message)
        task_id = submitting.begin_rehearsal(current, planned.schedule)
    elif planned.live is not None:
        return _reject(_KIND.STATE, "A run of it goes on: stop that one first, or wait for it.")
    else:
        task_id = runs.start_now(current, planned)
    return decisions.ScheduleKept(schedule_id=given.schedule_id, task_id=task_id)


def stop(current: turn.Turn, given: inputs.StopSchedule) -> decisions.Reply | decisions.Rejected:
    """Cancel the run that goes on, and what waits behind it; its next times stay."""
    planned = find(current.rules, current.world, given.principal, given.schedule_id)
    if isinstance(planned, decisions.Rejected):
        return planned
    runs.drop_queued(current, planned, "removed")
    runs.cancel(current, planned)
    runs.go_on(current, given.schedule_id)
    return decisions.ScheduleKept(schedule_id=given.schedule_id)
