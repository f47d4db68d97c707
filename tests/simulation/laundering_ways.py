"""The ways that untrusted text may take to a call. Each returns the task whose call it is: nobody
was asked about that one yet."""

from collections.abc import Callable

from proto.ducklm.v1 import (
    approvals_pb2,
    artifacts_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests.integration.rpc import work
from tests.simulation import laundering

_POISON = "printf 'poison\\n' > a.txt"
Way = Callable[[laundering.Walk], str]


def _file_by_command(walk: laundering.Walk) -> str:
    walk.say(f"`{_POISON}`", walk.a, bad=True)
    return walk.use(walk.a)


def _changed(said: str) -> Way:
    def way(walk: laundering.Walk) -> str:
        walk.say(said, walk.a, bad=True)
        return walk.use(walk.a)

    return way


def _carried(*commands: str) -> Way:
    """By commands of the user's own over a file that is not."""

    def way(walk: laundering.Walk) -> str:
        walk.say("write", walk.a, bad=True)
        for command in commands:
            walk.say(f"`{command}`", walk.a)
        assert not (walk.a / "a.txt").exists()
        assert (walk.a / "z.txt").read_text() == "poison\n"
        return walk.use(walk.a)

    return way


def _folder_within(walk: laundering.Walk) -> str:
    below = walk.register(walk.a / "sub")
    walk.say("`printf poison > sub/a.txt`", walk.a, bad=True)
    return walk.use(below)


def _folder_above(walk: laundering.Walk) -> str:
    walk.say("write", walk.register(walk.a / "sub"), bad=True)
    return walk.use(walk.a)


def _folder_by_another_name(walk: laundering.Walk) -> str:
    walk.say("write", walk.a, bad=True)
    (walk.b / "alias").symlink_to(walk.a)
    (walk.a / "sub").mkdir()
    return walk.use(walk.register(walk.b / "alias" / "sub"))


def _read_there(said: str) -> Way:
    """From another project."""

    def way(walk: laundering.Walk) -> str:
        walk.say("write", walk.a, bad=True)
        (walk.b / "link.txt").symlink_to(walk.a / "a.txt")
        return walk.use(walk.say(said, walk.b))

    return way


def _written_there(walk: laundering.Walk) -> str:
    walk.say("write elsewhere", walk.a, bad=True)
    return walk.use(walk.b)


def _carried_there(walk: laundering.Walk) -> str:
    """By a task of the user's own that reads in one project and writes in the other."""
    walk.say("write", walk.a, bad=True)
    conversation_id = walk.say("read", walk.a)
    walk.move(conversation_id, walk.b)
    walk.say("write", conversation_id)
    return walk.use(walk.b)


def _history(walk: laundering.Walk) -> str:
    return walk.use(walk.say("hello", walk.a, bad=True))


def _history_elsewhere(walk: laundering.Walk) -> str:
    conversation_id = walk.say("hello", walk.a, bad=True)
    walk.move(conversation_id, walk.b)
    return walk.use(conversation_id)


def _answer_of_a_page(walk: laundering.Walk) -> str:
    return walk.use(walk.say("fetch" if walk.foreign else "look", walk.a))


def _summary(walk: laundering.Walk) -> str:
    conversation_id = walk.say("hello", walk.a, bad=True)
    walk.compact(conversation_id)
    return walk.use(conversation_id)


def _summary_of_a_summary(walk: laundering.Walk) -> str:
    conversation_id = walk.say("hello", walk.a, bad=True)
    for _ in range(2):
        walk.compact(conversation_id)
        walk.say("hello", conversation_id)
    walk.compact(conversation_id)
    return walk.use(conversation_id)


def _step_of_a_plan(walk: laundering.Walk) -> str:
    said = "plan of the web" if walk.foreign else "plan of a file"
    return str(walk.submit(said, walk.a).task_id)


def _answer_of_a_plan(walk: laundering.Walk) -> str:
    return walk.use(walk.say("tell of the web" if walk.foreign else "tell of a file", walk.a))


def _artifact(walk: laundering.Walk) -> str:
    return walk.use(walk.b, attached=(walk.artifact(),))


def _artifact_sent_again(walk: laundering.Walk) -> str:
    request = artifacts_pb2.GetArtifactRequest(artifact_id=walk.artifact())
    data = b"".join(chunk.data for chunk in walk.api.artifacts.Get(request))
    pieces = [data[at : at + 100_000] for at in range(0, len(data), 100_000)]
    put = walk.api.artifacts.Put(artifacts_pb2.PutArtifactRequest(data=one) for one in pieces)
    return walk.use(walk.b, attached=(put.artifact_id,))


def _restarted(kills: bool) -> Way:
    def way(walk: laundering.Walk) -> str:
        conversation_id = walk.say("write", walk.a, bad=True)
        walk.scene.restart(kills)
        walk.move(conversation_id, walk.b)
        return walk.use(conversation_id)

    return way


def _project_after_a_restart(walk: laundering.Walk) -> str:
    walk.say("write", walk.a, bad=True)
    walk.scene.restart(kills=True)
    return walk.use(walk.a)


def _steering(walk: laundering.Walk) -> str:
    made = walk.api.conversations.Create(
        conversations_pb2.CreateConversationRequest(
            mode=common_pb2.YOLO, folder=str(walk.a), steering=common_pb2.STEER
        )
    )
    submitted = walk.submit("slowly use", made.conversation_id)
    work.follow(walk.api, submitted.task_id, lambda update: bool(update.live.text))
    assert walk.submit("poison", made.conversation_id, bad=True).task_id == submitted.task_id
    return str(submitted.task_id)


def _deleted_conversation(walk: laundering.Walk) -> str:
    conversation_id = walk.say("write", walk.a, bad=True)
    walk.api.conversations.Delete(
        conversations_pb2.DeleteConversationRequest(conversation_id=conversation_id)
    )
    return walk.use(walk.a)


def _undone_message(walk: laundering.Walk) -> str:
    conversation_id = walk.say("write", walk.a, bad=True)
    request = conversations_pb2.UndoRequest(conversation_id=conversation_id)
    undone = walk.api.conversations.Undo(request)
    work.follow(walk.api, undone.task_id, lambda one: one.event.HasField("project_reverted"))
    return walk.use(walk.a)


def _cancelled_command(walk: laundering.Walk) -> str:
    submitted = walk.submit("`echo poison | tee a.txt; sleep 60`", walk.a, bad=True)
    for update in work.updates(walk.api, events_pb2.SubscribeRequest(task_id=submitted.task_id)):
        if update.event.HasField("approval_requested"):
            approval_id = update.event.approval_requested.approval_id
            work.resolve(walk.api, approval_id, approvals_pb2.ALLOW_ONCE)
        if "poison" in update.live.text:
            break
    walk.api.tasks.Cancel(tasks_pb2.CancelRequest(task_id=submitted.task_id))
    work.follow(walk.api, submitted.task_id, lambda one: one.event.HasField("tool_call_ended"))
    assert (walk.a / "a.txt").read_text() == "poison\n"
    return walk.use(walk.a)


def _told_why_not(walk: laundering.Walk) -> str:
    """A call that was denied with a reason, so that the task went on and answered."""
    submitted = walk.submit("use", walk.a, bad=True)
    for one in walk.asked(submitted.task_id):
        work.resolve(walk.api, one, approvals_pb2.DENY, reason="not now")
    (walk.a / laundering.USED).unlink(missing_ok=True)
    walk.move(submitted.conversation_id, walk.b)
    return walk.use(submitted.conversation_id)


def _trusted_and_written_again(walk: laundering.Walk) -> str:
    conversation_id = walk.say("write", walk.a, bad=True)
    walk.trust(walk.a)
    walk.say("append", conversation_id)
    return walk.use(walk.a)


def _trusted_in_part(walk: laundering.Walk) -> str:
    walk.say("write", walk.register(walk.a / "sub"), bad=True)
    walk.say("write", walk.a, bad=True)
    walk.trust(walk.a / "sub")
    return walk.use(walk.a)


def _another_mode(walk: laundering.Walk) -> str:
    conversation_id = walk.say("hello", walk.a, bad=True)
    for mode in (common_pb2.PLAN, common_pb2.BUILD, common_pb2.YOLO):
        walk.api.conversations.Update(
            conversations_pb2.UpdateConversationRequest(
                conversation_id=conversation_id, mode=mode, title="mine"
            )
        )
    return walk.use(conversation_id)


WAYS: dict[str, Way] = {
    "a file that a command wrote": _file_by_command,
    "a file that was written": _changed("write"),
    "a file that was written on": _changed("append"),
    "a file that was edited": _changed("edit"),
    "a file that a coder changed": _changed("code"),
    "a copy": _carried("cp a.txt z.txt", "rm a.txt"),
    "another name": _carried("mv a.txt z.txt"),
    "a file written on by a command": _carried("cat a.txt >> z.txt; rm a.txt"),
    "packed and unpacked": _carried(
        "tar -cf a.tar a.txt && rm a.txt", "tar -xOf a.tar > z.txt", "rm a.tar"
    ),
    "a project within the project": _folder_within,
    "a project around the project": _folder_above,
    "the project by another name": _folder_by_another_name,
    "a link from another project": _read_there("read a link"),
    "a path from another project": _read_there("read elsewhere"),
    "a search from another project": _read_there("search above"),
    "names from another project": _read_there("list elsewhere"),
    "a file written into another project": _written_there,
    "a task that carries it to another project": _carried_there,
    "an earlier message": _history,
    "an earlier message, in another project": _history_elsewhere,
    "an earlier answer about a page": _answer_of_a_page,
    "a summary": _summary,
    "a summary of a summary": _summary_of_a_summary,
    "an earlier step of the plan": _step_of_a_plan,
    "the answer of a plan": _answer_of_a_plan,
    "an artifact": _artifact,
    "an artifact that was sent again": _artifact_sent_again,
    "a conversation over a kill": _restarted(kills=True),
    "a conversation over a drain": _restarted(kills=False),
    "a project over a kill": _project_after_a_restart,
    "a message that joins": _steering,
    "a conversation that was deleted": _deleted_conversation,
    "a message that was undone": _undone_message,
    "a command that was cancelled": _cancelled_command,
    "an answer after a no": _told_why_not,
    "a project that was trusted before": _trusted_and_written_again,
    "a project that was trusted in part": _trusted_in_part,
    "a conversation that was set up anew": _another_mode,
}
