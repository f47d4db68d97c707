"""How events beside the running of tasks change the world: begins, settings, grants, projects."""

from typing import assert_never

from daemon.domain import events, fold_said, ids, state, taints, world


def begin(target: world.World, event: events.TaskSubmitted, recorded: events.Recorded) -> None:
    """A task was accepted, and waits for its turn."""
    target.queued[event.task_id] = None
    target.tasks[event.task_id] = world.Task(
        task_id=event.task_id,
        conversation_id=event.conversation_id,
        origin=event.origin,
        text=event.text,
        correlation_id=recorded.correlation_id,
        state=state.TaskState.QUEUED,
        submitted_ms=recorded.at_ms,
        submitted_seq=recorded.seq,
        attachments=event.attachments,
        kind=event.kind,
        skill=event.skill,
        profile=event.profile,
        urls=event.urls,
        run=event.run,
        said=fold_said.of_submission(event),
    )


def _set_conversation(
    target: world.World, event: events.ConversationCreated | events.ConversationUpdated
) -> None:
    said = {
        "mode": event.mode,
        "folder": event.folder,
        "profile": event.profile,
        "steers": event.steers,
    }
    changed = {name: to for name, to in said.items() if to is not None}
    settings = target.setting(event.conversation_id).but(changed)
    target.settings.pop(event.conversation_id, None)
    if settings != world.DEFAULT_SETTINGS:
        target.settings[event.conversation_id] = settings
    if isinstance(event, events.ConversationCreated) and event.place:
        target.places[event.place] = event.conversation_id


def _delete(target: world.World, event: events.ConversationDeleted) -> None:
    target.settings.pop(event.conversation_id, None)
    for place in [at for at, named in target.places.items() if named == event.conversation_id]:
        del target.places[place]


def apply(
    target: world.World,
    event: events.ConversationCompacted
    | events.FeedbackGiven
    | events.ConversationCreated
    | events.ConversationUpdated
    | events.GrantCreated
    | events.GrantRevoked
    | events.ProjectTainted
    | events.ProjectTrusted
    | events.ExchangeUndone
    | events.ProjectReverted
    | events.ConversationDeleted,
    recorded: events.Recorded,
) -> None:
    match event:
        case events.ConversationCompacted() | events.FeedbackGiven():
            pass
        case events.ConversationCreated() | events.ConversationUpdated():
            _set_conversation(target, event)
        case events.GrantCreated():
            for old in [g for g in target.grants.values() if g.expires_ms <= recorded.at_ms]:
                del target.grants[old.grant_id]
            target.grants[event.grant_id] = world.Grant(
                grant_id=event.grant_id,
                conversation_id=recorded.conversation_id,
                key=event.key,
                tool=event.tool,
                principal=event.principal,
                folder=event.folder,
                card=event.card,
                granted_by=event.granted_by,
                created_ms=recorded.at_ms,
                expires_ms=event.expires_ms,
                uses_left=event.uses,
                schedule_id=event.schedule_id,
            )
        case events.GrantRevoked():
            target.grants.pop(event.grant_id, None)
        case events.ProjectTainted():
            target.projects[event.folder] = world.Project(
                folder=event.folder,
                conversation_id=recorded.conversation_id,
                taint=taints.join(target.taint_of(event.folder), event.sources),
            )
        case events.ProjectTrusted():
            target.projects.pop(event.folder, None)
        case events.ExchangeUndone():
            if event.commits:
                target.reverts[event.task_id] = world.Revert(
                    task_id=event.task_id,
                    conversation_id=recorded.conversation_id,
                    correlation_id=recorded.correlation_id,
                    folder=event.folder,
                    commits=event.commits,
                )
        case events.ProjectReverted():
            target.reverts.pop(event.task_id, None)
        case events.ConversationDeleted():
            _delete(target, event)
        case _:
            assert_never(event)


def use_grant(target: world.World, grant_id: ids.GrantId) -> None:
    grant = target.grants.get(grant_id)
    if grant is None:
        raise ValueError(f"{grant_id} is not granted")
    if grant.uses_left > 1:
        target.grants[grant_id] = grant.but({"uses_left": grant.uses_left - 1})
    else:
        del target.grants[grant_id]
