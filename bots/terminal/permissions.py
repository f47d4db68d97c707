"""`ducklm grants`, `ducklm secret`, `ducklm mode`: what runs unasked, and what a call waits for.

Answers for: one command each, from plain arguments to output and exit code. A secret comes from the
terminal without echo or from stdin, never from an argument, and goes to the daemon alone.
"""

import typing
from collections.abc import Iterable

from bots import render, texts
from bots.terminal import faults, hidden, listing, prompts, screen, world
from proto.ducklm.v1 import common_pb2, conversations_pb2, tasks_pb2

MODES: typing.Final = {
    "plan": common_pb2.PLAN,
    "build": common_pb2.BUILD,
    "yolo": common_pb2.YOLO,
}


def grants(session: world.Session, as_json: bool) -> faults.Exit:
    """List what runs unasked."""
    rows = session.client.grants()
    _print(session, listing.lines(rows, as_json, listing.grant))
    if not rows and not as_json:
        session.console.say(texts.GRANTS_NONE)
    return faults.Exit.OK


def revoke(session: world.Session, grant_id: str, as_json: bool) -> faults.Exit:
    """Have a grant's call ask again."""
    ended = session.client.revoke_grant(grant_id, session.world.new_key())
    if as_json:
        session.console.out(screen.json_line(ended))
    else:
        session.console.say(texts.GRANT_ENDED.format(id=render.one_line(ended.grant_id)))
    return faults.Exit.OK


def mode_named(name: str) -> common_pb2.Mode.ValueType:
    """The mode of that name; raises UsageFault."""
    if name not in MODES:
        raise faults.UsageFault(texts.MODE_UNKNOWN.format(choices=", ".join(MODES)))
    return MODES[name]


def mode(session: world.Session, conversation_id: str, name: str, as_json: bool) -> faults.Exit:
    """Set a conversation's mode; without a name, show it."""
    if name:
        number = mode_named(name)
        request = conversations_pb2.UpdateConversationRequest(
            conversation_id=conversation_id, mode=number
        )
        row = session.client.update_conversation(request, session.world.new_key())
    else:
        row = session.client.conversation(conversation_id)
    if as_json:
        session.console.out(screen.json_line(row))
    else:
        session.console.say(mode_told(row.mode))
    return faults.Exit.OK


def mode_told(number: int) -> str:
    """What a mode means, in one line."""
    name = render.enum_name(common_pb2.Mode.DESCRIPTOR, number)
    return texts.MODES.get(name, texts.MODE_OTHER)


def secret(session: world.Session, task_id: str, from_stdin: bool, as_json: bool) -> faults.Exit:
    """Give the secret that a task waits for."""
    task = session.client.task(task_id)
    if not task.secret:
        session.console.say(texts.SECRET_NOT_WAITED_FOR.format(id=render.one_line(task_id)))
        return faults.Exit.FAILED
    try:
        given = _from_stdin(session) if from_stdin else _typed(session, task)
    except (EOFError, KeyboardInterrupt):
        given = bytearray()
    if not given:
        session.console.say(texts.SECRET_LEFT.format(id=render.one_line(task_id)))
        return faults.Exit.WAITS
    try:
        task = session.client.provide_secret(task_id, given, session.world.new_key())
    finally:
        hidden.wipe(given)
    _print(session, listing.lines([task], as_json, listing.task))
    return faults.Exit.OK


def _typed(session: world.Session, task: tasks_pb2.Task) -> bytearray:
    if not session.console.interactive:
        raise faults.UsageFault(texts.SECRET_NEEDS_TERMINAL)
    with session.world.interrupts.watching():
        return session.console.ask_secret(prompts.secret_question(task))


def _from_stdin(session: world.Session) -> bytearray:
    text = session.world.stdin.read(hidden.MOST_BYTES + 2)
    return bytearray(text.removesuffix("\n").encode("utf-8", "surrogateescape"))


def _print(session: world.Session, lines: Iterable[str]) -> None:
    for line in lines:
        session.console.out(line)
