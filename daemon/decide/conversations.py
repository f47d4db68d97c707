"""What people ask of a conversation as a whole: its settings, its end, a summary, an undo."""

from daemon.decide import endings, lanes, turn
from daemon.domain import decisions, errors, events, ids, inputs, state, world

_KIND = errors.RefusalKind
_COMPACT_TEXT = "/compact"


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def _none(conversation_id: str) -> decisions.Rejected:
    return _reject(_KIND.NOT_FOUND, f"There is no conversation {conversation_id}.")


def create(
    current: turn.Turn, given: inputs.CreateConversation
) -> decisions.Reply | decisions.Rejected:
    """Begin a conversation."""
    refused = unknown_profile(current, given.profile)
    if refused is not None:
        return refused
    conversation_id = current.ids.conversation()
    title = current.keep(conversation_id, given.title) if given.title else None
    before = inherited(current, given.place)
    created = events.ConversationCreated(
        conversation_id=conversation_id,
        principal=given.principal,
        title=title,
        mode=given.mode,
        folder=given.folder or before.folder,
        profile=given.profile or before.profile,
        steers=before.steers if given.steers is None else given.steers,
        place=given.place,
    )
    current.record(created, conversation_id, given.correlation_id)
    return decisions.ConversationKept(conversation_id=conversation_id)


def inherited(current: turn.Turn, place: str) -> world.Settings:
    """What a new conversation of a chat takes over from the one before: all but its mode."""
    earlier = current.world.places.get(place) if place else None
    return world.DEFAULT_SETTINGS if earlier is None else current.world.setting(earlier)


def update(
    current: turn.Turn, given: inputs.UpdateConversation
) -> decisions.Reply | decisions.Rejected:
    """Change what is set; another folder only while nothing works in the old one."""
    if not current.known.conversation_exists:
        return _none(given.conversation_id)
    refused = unknown_profile(current, given.profile or "")
    if refused is not None:
        return refused
    own = schedule_of(current, given.conversation_id)
    if own is not None and {given.mode, given.folder, given.profile} != {None}:
        message = f"{own.schedule_id} works in this conversation: change that schedule."
        return _reject(_KIND.STATE, message)
    moves = given.folder is not None
    moves = moves and given.folder != current.world.setting(given.conversation_id).folder
    if moves and is_live(current, given.conversation_id):
        message = "A task of this conversation has not ended: its project can be changed after it."
        return _reject(_KIND.STATE, message)
    title = None if given.title is None else current.keep(given.conversation_id, given.title)
    updated = events.ConversationUpdated(
        conversation_id=given.conversation_id,
        title=title,
        mode=given.mode,
        folder=given.folder,
        profile=given.profile,
        steers=given.steers,
    )
    current.record(updated, given.conversation_id, given.correlation_id)
    return decisions.ConversationKept(conversation_id=given.conversation_id)


def unknown_profile(current: turn.Turn, profile: str) -> decisions.Rejected | None:
    """The refusal of a profile that there is not; an empty name is the default's."""
    if profile in current.rules.kits:
        return None
    known = ", ".join(sorted(name for name in current.rules.kits if name)) or "none"
    return _reject(_KIND.NOT_FOUND, f"There is no profile {profile}. There are: {known}.")


def schedule_of(current: turn.Turn, conversation_id: ids.ConversationId) -> events.Schedule | None:
    """The schedule whose runs work in a conversation."""
    planned = (one.schedule for one in current.world.schedules.values())
    return next((one for one in planned if one.conversation_id == conversation_id), None)


def is_live(current: turn.Turn, conversation_id: str) -> bool:
    """Whether a task of it has not ended."""
    return any(
        task.conversation_id == conversation_id and task.state not in state.FINAL
        for task in current.world.tasks.values()
    )


def delete(
    current: turn.Turn, given: inputs.DeleteConversation
) -> decisions.Reply | decisions.Rejected:
    """End what still runs in it, and forget its texts."""
    if not current.known.conversation_exists:
        return _none(given.conversation_id)
    own = schedule_of(current, given.conversation_id)
    if own is not None:
        message = f"{own.schedule_id} works in this conversation: delete that schedule first."
        return _reject(_KIND.STATE, message)
    for task in tuple(current.world.tasks.values()):
        if task.conversation_id == given.conversation_id and task.state not in state.FINAL:
            endings.end(current, task, state.TaskState.CANCELLED, "its conversation was deleted")
    deleted = events.ConversationDeleted(
        conversation_id=given.conversation_id, principal=given.principal
    )
    current.record(deleted, given.conversation_id, given.correlation_id)
    current.keep_record(decisions.ForgottenRecord(owner=given.conversation_id))
    return decisions.ConversationKept(conversation_id=given.conversation_id)


def compact(
    current: turn.Turn, given: inputs.CompactConversation
) -> decisions.Reply | decisions.Rejected:
    """Have what was said so far summarized, by a task that takes its turn like any other."""
    if not current.known.conversation_exists:
        return _none(given.conversation_id)
    if lanes.is_full(current):
        message = "Too many tasks wait already. Try again when some have ended."
        return _reject(_KIND.EXHAUSTED, message)
    task_id = current.ids.task()
    seq = current.next_seq
    submitted = events.TaskSubmitted(
        task_id=task_id,
        conversation_id=given.conversation_id,
        origin=given.origin,
        text=current.keep(given.conversation_id, _COMPACT_TEXT),
        profile=current.profile(given.conversation_id),
        kind=events.TaskKind.COMPACT,
    )
    current.record(submitted, given.conversation_id, given.correlation_id, task_id)
    return decisions.Submitted(task_id=task_id, conversation_id=given.conversation_id, seq=seq)


def undo(current: turn.Turn, given: inputs.UndoExchange) -> decisions.Reply | decisions.Rejected:
    """Take back the last message, its answer, and what the project's history has of its task."""
    if not current.known.conversation_exists:
        return _none(given.conversation_id)
    if is_live(current, given.conversation_id):
        message = "A task of this conversation has not ended: stop it first, then undo."
        return _reject(_KIND.STATE, message)
    last = current.known.last_task
    if last is None or last.task_id in current.world.reverts:
        return _reject(_KIND.STATE, "There is nothing to undo in this conversation.")
    undone = events.ExchangeUndone(
        task_id=last.task_id,
        principal=given.principal,
        folder=last.folder,
        commits=last.commits,
        left=last.left,
    )
    current.record(undone, given.conversation_id, given.correlation_id, last.task_id)
    _revert(current, last.task_id)
    return decisions.Undone(task_id=last.task_id, commits=last.commits, left=last.left)


def _revert(current: turn.Turn, task_id: ids.TaskId) -> None:
    revert = current.world.reverts.get(task_id)
    if revert is not None:
        current.act(
            decisions.RevertCommits(
                task_id=task_id,
                folder=revert.folder,
                commits=revert.commits,
                correlation_id=revert.correlation_id,
            )
        )


def revert_again(current: turn.Turn, given: inputs.RecoverRevert) -> None:
    """Take commits back that a stop left; those that are taken back already stay so."""
    _revert(current, given.task_id)


def reverted(current: turn.Turn, given: inputs.CommitsReverted) -> None:
    """Note how taking back an undone task's commits ended."""
    revert = current.world.reverts.get(given.task_id)
    if revert is None:
        return
    noted = events.ProjectReverted(task_id=given.task_id, commit=given.commit, fault=given.fault)
    current.record(noted, revert.conversation_id, revert.correlation_id, given.task_id)


def feedback(
    current: turn.Turn, given: inputs.GiveFeedback
) -> decisions.Reply | decisions.Rejected:
    """Keep what a person thinks of an answer."""
    conversation_id = current.known.task_conversation
    if not current.known.task_exists or conversation_id is None:
        return _reject(_KIND.NOT_FOUND, f"There is no task {given.task_id}.")
    if not current.known.task_answered:
        return _reject(_KIND.STATE, f"{given.task_id} has given no answer yet.")
    text = given.text.strip()
    given_event = events.FeedbackGiven(
        task_id=given.task_id,
        principal=given.principal,
        good=given.good,
        text=current.keep(conversation_id, text) if text else None,
    )
    current.record(given_event, conversation_id, given.correlation_id, given.task_id)
    return decisions.TaskKept(task_id=given.task_id)
