"""`ducklm ask`: one question, its answer on stdout, all else on stderr.

Answers for: what stands on stdout and the exit code. It must never wait for a person who is not
there, unless told to.
"""

import dataclasses
import typing

from bots import texts
from bots.terminal import faults, screen, turn, world
from proto.ducklm.v1 import tasks_pb2

PATIENCE_S: typing.Final = 60.0


@dataclasses.dataclass(frozen=True)
class Request:
    """What the arguments said."""

    text: str  # - stands for stdin
    conversation_id: str = ""
    wait: bool = True
    wait_for_others: bool = False
    as_json: bool = False


def run(session: world.Session, request: Request) -> faults.Exit:
    """Ask and follow; raises CallFault and UsageFault."""
    text = check_text(session.world.stdin.read() if request.text == "-" else request.text)
    session.client.status()  # a daemon that is not there is told at once, not after patience
    if not request.wait:
        return _submit_only(session, request, text)
    with session.world.interrupts.watching():
        return _ask(session, request, text)


def check_text(text: str) -> str:
    """The text, if it can be sent; raises UsageFault."""
    if not text.strip():
        raise faults.UsageFault(texts.TEXT_EMPTY)
    return check_utf8(text)


def check_utf8(text: str) -> str:
    """The text, if it is one: arguments of the system may be none. Raises UsageFault."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise faults.UsageFault(texts.TEXT_NOT_UTF8) from None
    return text


def _submit_only(session: world.Session, request: Request, text: str) -> faults.Exit:
    key = session.world.new_key()
    accepted = session.client.submit(text, request.conversation_id, key)
    if request.as_json:
        session.console.out(screen.json_line(accepted))
    else:
        line = texts.SUBMITTED.format(
            task_id=accepted.task_id, conversation_id=accepted.conversation_id
        )
        session.console.out(line + "\n")
    return faults.Exit.OK


def _ask(session: world.Session, request: Request, text: str) -> faults.Exit:
    terminal = session.console
    shown_on: screen.Screen = screen.TextScreen(terminal, stream=terminal.stdout_is_terminal)
    if request.as_json:
        shown_on = screen.SilentScreen()
    seats = session.seats(
        shown_on,
        patience_s=None if terminal.interactive else PATIENCE_S,
        interactive=terminal.interactive,
        wait_for_others=request.wait_for_others,
    )
    try:
        conversation_id, begun = turn.begin(seats, text, request.conversation_id)
    except KeyboardInterrupt:
        terminal.say(texts.SUBMIT_GIVEN_UP)
        return faults.Exit.FAILED
    try:
        end = begun.follow()
    except faults.CallFault as fault:
        if not fault.lost or fault.answered:
            raise
        given_up = texts.CONNECTION_GIVEN_UP.format(seconds=int(PATIENCE_S), task_id=begun.task_id)
        terminal.say(given_up)
        return faults.Exit.UNREACHABLE
    if request.as_json:
        terminal.out(screen.json_line(response(end, conversation_id)))
    return end.exit_code


def response(end: turn.TurnEnd, conversation_id: str) -> tasks_pb2.AskResponse:
    """Where a turn came to rest, as the API's own Ask says it."""
    return tasks_pb2.AskResponse(
        task_id=end.task_id,
        conversation_id=conversation_id,
        state=end.state,
        answer=end.answer,
        reason=end.reason,
        approval_ids=end.approval_ids,
        secret=end.secret,
    )
