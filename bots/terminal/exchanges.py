"""What can be done about what was said: undo, feedback, a diff, an export, a deletion.

Answers for: one command each, from plain arguments to output and exit code, for the chat and for
`ducklm`. A file is never overwritten. It must never ask a question but before a deletion.
"""

import contextlib
import os
import pathlib
import typing
from collections.abc import Iterator

from bots import presenter, render, texts, views
from bots.terminal import client, faults, listing, prompts, screen, world
from proto.ducklm.v1 import common_pb2, conversations_pb2, events_pb2, tasks_pb2

EVENTS_A_PAGE: typing.Final = 500
LOOKED_AT_TASKS: typing.Final = 100
WORTHS: typing.Final = {"good": True, "bad": False}
FORMATS: typing.Final = {
    "markdown": conversations_pb2.ExportConversationRequest.MARKDOWN,
    "json": conversations_pb2.ExportConversationRequest.JSON,
}
_OWN_FILE: typing.Final = 0o600


def last_answered(session: world.Session, conversation_id: str) -> tasks_pb2.Task:
    """The newest answer of a conversation; raises UsageFault where there is none."""
    for task in _newest(session, conversation_id, [common_pb2.COMPLETED]):
        if task.kind in ("", "answer") and not task.undone:
            return task
    raise faults.UsageFault(texts.ANSWER_NONE)


def _newest(
    session: world.Session,
    conversation_id: str,
    states: typing.Sequence[common_pb2.TaskState.ValueType] = (),
) -> Iterator[tasks_pb2.Task]:
    if conversation_id:
        yield from session.client.tasks(LOOKED_AT_TASKS, conversation_id, states)


def worth_named(word: str) -> bool:
    """What good and bad stand for; raises UsageFault."""
    if word not in WORTHS:
        raise faults.UsageFault(texts.FEEDBACK_UNKNOWN)
    return WORTHS[word]


def feedback(
    session: world.Session, task_id: str, word: str, text: str, as_json: bool
) -> faults.Exit:
    """Say what an answer is worth."""
    good = worth_named(word)
    task = session.client.feedback(task_id, good, text, session.world.new_key())
    if as_json:
        session.console.out(screen.json_line(task))
    else:
        session.console.say(texts.FEEDBACK_KEPT)
    return faults.Exit.OK


def undo(session: world.Session, conversation_id: str, as_json: bool) -> faults.Exit:
    """Take back the last answered message, and tell what cannot be taken back."""
    head_seq = session.client.events(0, "", limit=1).head_seq
    done = session.client.undo(conversation_id, session.world.new_key())
    if as_json:
        session.console.out(screen.json_line(done))
        return faults.Exit.OK
    session.console.say(texts.UNDONE)
    for call in done.left:
        line = call.line or presenter.summary(call.tool, call.arguments_json)
        session.console.say(texts.UNDO_LEFT.format(line=render.one_line(line)))
    if not done.commits:
        return faults.Exit.OK
    try:
        return _revert(session, done.task_id, head_seq)
    except KeyboardInterrupt:
        session.console.say(texts.UNDO_GOES_ON)
        return faults.Exit.OK


def _revert(session: world.Session, task_id: str, after_seq: int) -> faults.Exit:
    """Wait for how taking back the commits ends, and tell it."""

    def subscribe(seq: int) -> client.Stream:
        return session.client.subscribe(seq, task_id, events_only=True)

    updates = session.link().updates(subscribe, after_seq)
    with contextlib.closing(updates):
        for update in updates:
            if not update.event.HasField("project_reverted"):
                continue
            for view in presenter.Presenter().feed(update):
                session.console.say(render.view_text(view, session.console.palette))
            failed = bool(update.event.project_reverted.fault)
            return faults.Exit.FAILED if failed else faults.Exit.OK
    raise AssertionError("the stream of updates has no end of its own")


def last_diff(session: world.Session, conversation_id: str) -> faults.Exit:
    """Show whole what the last task that changed its project changed."""
    for task in _newest(session, conversation_id):
        if task.commits:
            return diff(session, task.task_id)
    session.console.say(texts.DIFF_NONE)
    return faults.Exit.OK


def diff(session: world.Session, task_id: str) -> faults.Exit:
    """Show whole what a task changed in its project, call by call."""
    terminal = session.console
    palette = terminal.palette if terminal.stdout_is_terminal else render.PLAIN
    shown = False
    for event in _events(session, task_id):
        ended = event.tool_call_ended
        if ended.files or ended.diff:
            view = views.FilesChanged(task_id, ended.call_id, tuple(ended.files), ended.diff)
            terminal.out(render.changes(view, palette) + "\n")
            shown = True
    if not shown:
        terminal.say(texts.DIFF_NONE)
    return faults.Exit.OK


def _events(session: world.Session, task_id: str) -> Iterator[events_pb2.Event]:
    after_seq = 0
    while True:
        page = session.client.events(after_seq, task_id, EVENTS_A_PAGE)
        yield from page.events
        if len(page.events) < EVENTS_A_PAGE:
            return
        after_seq = page.events[-1].seq


def show(session: world.Session, conversation_id: str, as_json: bool) -> faults.Exit:
    """A conversation with its settings."""
    row = session.client.conversation(conversation_id)
    for line in listing.lines([row], as_json, listing.conversation_whole):
        session.console.out(line)
    return faults.Exit.OK


def delete(session: world.Session, conversation_id: str, sure: bool) -> faults.Exit:
    """Delete a conversation for good, once somebody is sure."""
    if not sure:
        if not session.console.interactive:
            raise faults.UsageFault(texts.DELETE_NOT_SURE)
        question = texts.DELETE_PROMPT.format(id=render.one_line(conversation_id))
        if not prompts.confirmed(session.console, question):
            session.console.say(texts.DELETE_NOT)
            return faults.Exit.FAILED
    session.client.delete_conversation(conversation_id, session.world.new_key())
    session.console.say(texts.DELETED.format(id=render.one_line(conversation_id)))
    return faults.Exit.OK


def export_request(
    conversation_id: str, kind: str, path: str
) -> conversations_pb2.ExportConversationRequest:
    """What to ask for: of the kind that is named, or else that the file's name tells."""
    kind = kind or ("json" if path.endswith(".json") else "markdown")
    if kind not in FORMATS:
        raise faults.UsageFault(texts.FORMAT_UNKNOWN.format(choices=", ".join(FORMATS)))
    return conversations_pb2.ExportConversationRequest(
        conversation_id=conversation_id, format=FORMATS[kind]
    )


def export(
    session: world.Session, request: conversations_pb2.ExportConversationRequest, path: str
) -> faults.Exit:
    """Write a conversation to a new file that is the person's alone; without one, to stdout."""
    pieces = session.client.export(request)
    if not path:
        terminal = session.console
        for piece in pieces:
            terminal.out(render.inert(piece) if terminal.stdout_is_terminal else piece)
        return faults.Exit.OK
    target = pathlib.Path(path).expanduser()
    first = next(pieces, "")  # a fault of the call makes no file
    try:
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWN_FILE)
        with os.fdopen(opened, "w", encoding="utf-8", newline="") as file:
            file.write(first)
            for piece in pieces:
                file.write(piece)
    except OSError as error:
        why = error.strerror or texts.REASON_UNKNOWN
        shown = render.one_line(str(target))
        raise faults.UsageFault(texts.EXPORT_FAILED.format(path=shown, why=why)) from None
    session.console.say(texts.EXPORTED.format(path=render.one_line(str(target))))
    return faults.Exit.OK
