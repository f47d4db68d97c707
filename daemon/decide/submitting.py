"""A message comes in: it begins a task, joins the one that runs, or is refused with a remedy."""

import datetime
import json

from daemon.decide import calls, conversations, intent, lanes, skills, spreading, turn
from daemon.domain import (
    decisions,
    errors,
    events,
    ids,
    inputs,
    principals,
    taints,
    verdicts,
    world,
)

_KIND = errors.RefusalKind
_TITLE_CHARS = 60
_NAME_CHARS = 64


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def submit(current: turn.Turn, given: inputs.SubmitTask) -> decisions.Reply | decisions.Rejected:
    """Take a message on."""
    refused = _refused(current, given)
    if refused is not None:
        return refused
    conversation_id = given.conversation_id or _of_chat(current, given)
    taint = taints.join(spreading.of_origin(given.origin), current.known.taint)
    if conversation_id is None:
        conversation_id = _begin_conversation(current, given, taint)
    running = current.world.running.get(conversation_id)
    if running is not None and current.world.setting(conversation_id).steers:
        return _steer(current, given, current.world.tasks[running], taint)
    if lanes.is_full(current):
        limit = current.rules.limits.queued_tasks
        message = f"{limit} tasks wait already. Try again when some have ended."
        return _reject(_KIND.EXHAUSTED, message)
    return _begin_task(current, given, conversation_id, taint)


def _of_chat(current: turn.Turn, given: inputs.SubmitTask) -> ids.ConversationId | None:
    """The conversation that a chat is at; a message that begins one goes to no other."""
    begins = given.mode is not None or given.folder or given.profile
    return None if begins else current.world.places.get(principals.place(given.origin))


def _refused(current: turn.Turn, given: inputs.SubmitTask) -> decisions.Rejected | None:
    limits = current.rules.limits
    if not given.text.strip():
        return _reject(_KIND.INVALID, "The text is empty. Say what you want done.")
    size = len(given.text.encode())
    if size > limits.message_bytes:
        return _reject(
            _KIND.EXHAUSTED,
            f"The text has {size} bytes; at most {limits.message_bytes} are taken. "
            "Send long material as an attachment with Artifacts.Put.",
        )
    if given.conversation_id is not None and not current.known.conversation_exists:
        return _reject(
            _KIND.NOT_FOUND,
            f"There is no conversation {given.conversation_id}. "
            "Leave conversation_id empty to start a new one.",
        )
    begins = given.mode is not None or given.folder or given.profile
    if begins and given.conversation_id is not None:
        return _reject(
            _KIND.INVALID,
            "mode, folder and profile are for a new conversation; change this one's with "
            "Conversations.Update.",
        )
    if current.known.missing_artifact is not None:
        return _reject(
            _KIND.NOT_FOUND,
            f"There is no artifact {current.known.missing_artifact}. Send it with Artifacts.Put.",
        )
    return conversations.unknown_profile(current, given.profile)


def _begin_conversation(
    current: turn.Turn, given: inputs.SubmitTask, taint: taints.Taint
) -> ids.ConversationId:
    """A conversation of the message's own, with its first words for a title."""
    conversation_id = current.ids.conversation()
    title = " ".join(given.text[: 4 * _TITLE_CHARS].split())
    if len(title) > _TITLE_CHARS:
        title = title[:_TITLE_CHARS].rsplit(" ", 1)[0] + "…"
    place = principals.place(given.origin) if given.origin.chat else ""
    before = conversations.inherited(current, place)
    created = events.ConversationCreated(
        conversation_id=conversation_id,
        principal=given.origin.principal,
        title=current.keep(conversation_id, title, taint) if title else None,
        mode=given.mode or verdicts.Mode.BUILD,
        folder=given.folder or before.folder,
        profile=given.profile or before.profile,
        steers=before.steers,
        place=place,
    )
    current.record(created, conversation_id, given.correlation_id)
    return conversation_id


def _steer(
    current: turn.Turn, given: inputs.SubmitTask, task: world.Task, taint: taints.Taint
) -> decisions.Reply:
    """Let a message join the task that runs; it is heard at the task's next decision."""
    seq = current.next_seq
    task = current.emit(
        task,
        events.TaskSteered(
            task_id=task.task_id,
            origin=given.origin,
            text=current.keep(task.conversation_id, _spoken(given), taint),
        ),
    )
    current.taint(task, taint)
    return decisions.Submitted(task_id=task.task_id, conversation_id=task.conversation_id, seq=seq)


def _begin_task(
    current: turn.Turn,
    given: inputs.SubmitTask,
    conversation_id: ids.ConversationId,
    taint: taints.Taint,
) -> decisions.Reply:
    task_id = current.ids.task()
    seq = current.next_seq
    profile = current.profile(conversation_id)
    kit = current.rules.kits[profile]
    command = intent.explicit_command(given.text)
    direct = command is not None and calls.SHELL in kit.tools
    submitted = events.TaskSubmitted(
        task_id=task_id,
        conversation_id=conversation_id,
        origin=given.origin,
        text=current.keep(conversation_id, given.text, taint),
        attachments=given.attachments,
        skill=skills.chosen(given.text, current.rules.skills) if kit.uses_skills else "",
        profile=profile,
        urls=() if taint else intent.addresses(given.text),
        note="" if direct else _note(current, conversation_id, given),
    )
    current.record(submitted, conversation_id, given.correlation_id, task_id)
    task = current.taint(current.world.tasks[task_id], taint)
    if command is not None and direct:
        taken = events.DirectiveTaken(
            task_id=task_id, kind="tool", source=events.DirectiveSource.USER
        )
        task = current.emit(task, taken)
        calls.propose(current, task, calls.SHELL, {"command": command}, direct=True)
    return decisions.Submitted(task_id=task_id, conversation_id=conversation_id, seq=seq)


def begin_run(
    current: turn.Turn,
    schedule: events.Schedule,
    task_id: ids.TaskId,
    run_id: ids.RunId,
    told: str,
) -> None:
    """Begin the task of a schedule's run, in the schedule's own conversation."""
    kind, note = events.TaskKind.ANSWER, ""
    if schedule.call is None:
        zone = current.rules.zones(schedule.zone)
        note = "; ".join((*_surroundings(current, schedule.conversation_id, zone), told))
    _begin_scheduled(current, schedule, task_id, run_id, kind, note)


def begin_rehearsal(current: turn.Turn, schedule: events.Schedule) -> ids.TaskId:
    """Begin the task that has a schedule's command allowed."""
    task_id, run_id = current.ids.task(), current.ids.run()
    _begin_scheduled(current, schedule, task_id, run_id, events.TaskKind.REHEARSAL, "")
    return task_id


def _begin_scheduled(
    current: turn.Turn,
    schedule: events.Schedule,
    task_id: ids.TaskId,
    run_id: ids.RunId,
    kind: events.TaskKind,
    note: str,
) -> None:
    conversation_id = schedule.conversation_id
    submitted = events.TaskSubmitted(
        task_id=task_id,
        conversation_id=conversation_id,
        origin=principals.Origin(principal=schedule.principal),
        text=schedule.text,
        profile=current.profile(conversation_id),
        kind=kind,
        skill=schedule.skill,
        urls=schedule.urls,
        note=note,
        run=events.RunOf(
            schedule_id=schedule.schedule_id,
            run_id=run_id,
            target=schedule.policy.delivery.to,
        ),
    )
    current.record(submitted, conversation_id, run_id, task_id)
    if schedule.call is not None:
        source = events.DirectiveSource.USER
        taken = events.DirectiveTaken(task_id=task_id, kind="tool", source=source)
        task = current.emit(current.world.tasks[task_id], taken)
        calls.propose_kept(current, task, schedule.call, schedule.fingerprint)


def _speaker(origin: principals.Origin) -> str:
    """A person's name as data: no quotation mark, bracket or line break in it means anything."""
    name = "".join(one if one.isprintable() else " " for one in origin.speaker)
    return json.dumps(name.replace("[", "(").replace("]", ")")[:_NAME_CHARS], ensure_ascii=False)


def _spoken(given: inputs.SubmitTask) -> str:
    """A further message with the name of whoever says it in a group, and the files with it."""
    said = f"{_speaker(given.origin)}: {given.text}" if given.origin.speaker else given.text
    return f"{said}\n[{_came_with(given)}]" if given.files else said


def _came_with(given: inputs.SubmitTask) -> str:
    """The files of a message, by their paths as data."""
    names = ", ".join(json.dumps(path, ensure_ascii=False) for path in given.files)
    return f"these files came with the message: {names}"


def _surroundings(
    current: turn.Turn,
    conversation_id: ids.ConversationId,
    zone: datetime.tzinfo | None = None,
) -> list[str]:
    """The time (by the owner's clock, or a zone's) and the place, which a model cannot know."""
    settings = current.world.setting(conversation_id)
    kit = current.rules.kits[current.profile(conversation_id)]
    own = datetime.timezone(datetime.timedelta(minutes=current.utc_offset_minutes))
    now = datetime.datetime.fromtimestamp(current.at_ms / 1000, zone or own)
    said = [f"It is {now:%A, %Y-%m-%d %H:%M} {now:%z}"]
    if settings.folder and kit.tools:
        said.append(f"the project is {settings.folder}; read its AGENTS.md, if it has one, first")
    if settings.mode is verdicts.Mode.PLAN:
        said.append("only plan: nothing may be changed")
    return said


def _note(current: turn.Turn, conversation_id: ids.ConversationId, given: inputs.SubmitTask) -> str:
    """What surrounds a message, and in a group the speaker, and the files that came with it."""
    said = _surroundings(current, conversation_id)
    if given.origin.speaker:
        said.append(f"this message of the group is from {_speaker(given.origin)}")
    if given.files:
        said.append(_came_with(given))
    return "; ".join(said)
