"""The commands that read or decide one thing: lists, approve, deny, cancel, decide, status.

Answers for: one command each, from plain arguments to output and exit code. Faults go up to the
entry point. It must never ask a question.
"""

import collections
import contextlib
import typing
from collections.abc import Iterable, Iterator

import grpc

from bots import render, texts
from bots.terminal import client, faults, listing, screen, world
from proto.ducklm.v1 import approvals_pb2, events_pb2, tasks_pb2

EVENTS_A_PAGE: typing.Final = 500
DECISIONS: typing.Final = {
    "mark-done": tasks_pb2.MARK_DONE,
    "run-again": tasks_pb2.RUN_AGAIN,
    "abandon": tasks_pb2.ABANDON,
    "retry": tasks_pb2.RETRY,
}


def tasks(session: world.Session, limit: int, conversation_id: str, as_json: bool) -> faults.Exit:
    rows = session.client.tasks(limit, conversation_id)
    return _print(session, listing.lines(rows, as_json, listing.task), texts.TASKS_NONE, as_json)


def conversations(session: world.Session, limit: int, as_json: bool) -> faults.Exit:
    rows = session.client.conversations(limit)
    lines = listing.lines(rows, as_json, listing.conversation)
    return _print(session, lines, texts.CONVERSATIONS_NONE, as_json)


def approvals(session: world.Session, limit: int, as_json: bool) -> faults.Exit:
    rows = session.client.approvals(limit)
    lines = listing.lines(rows, as_json, listing.approval)
    return _print(session, lines, texts.APPROVALS_NONE, as_json)


def status(session: world.Session, as_json: bool) -> faults.Exit:
    lines = listing.lines([session.client.status()], as_json, listing.status)
    return _print(session, lines, "", as_json)


def cancel(session: world.Session, task_id: str, as_json: bool) -> faults.Exit:
    task = session.client.cancel(task_id, session.world.new_key())
    return _print(session, listing.lines([task], as_json, listing.task), "", as_json)


def decide(
    session: world.Session, task_id: str, decision: str, call_id: str, as_json: bool
) -> faults.Exit:
    if decision not in DECISIONS:
        choices = ", ".join(DECISIONS)
        raise faults.UsageFault(texts.DECISION_UNKNOWN.format(choices=choices))
    key = session.world.new_key()
    task = session.client.decide(task_id, DECISIONS[decision], call_id, key)
    return _print(session, listing.lines([task], as_json, listing.task), "", as_json)


def approve(session: world.Session, approval_id: str, always: bool, as_json: bool) -> faults.Exit:
    answer = approvals_pb2.ALLOW_ALWAYS if always else approvals_pb2.ALLOW_ONCE
    return _resolve(session, approval_id, answer, "", as_json)


def deny(session: world.Session, approval_id: str, reason: str, as_json: bool) -> faults.Exit:
    return _resolve(session, approval_id, approvals_pb2.DENY, reason, as_json)


def _resolve(
    session: world.Session,
    approval_id: str,
    answer: approvals_pb2.Answer.ValueType,
    reason: str,
    as_json: bool,
) -> faults.Exit:
    late = False
    try:
        approval = session.client.resolve(approval_id, answer, reason, session.world.new_key())
    except faults.CallFault as fault:
        if fault.code is not grpc.StatusCode.FAILED_PRECONDITION:
            raise
        late = True
        approval = session.client.approval(approval_id)
    denied = answer == approvals_pb2.DENY
    wanted = approvals_pb2.DENIED if denied else approvals_pb2.ALLOWED
    late = late or approval.status != wanted
    if as_json:
        session.console.out(screen.json_line(approval))
    elif late:
        session.console.say(render.closed_elsewhere(approval))
    else:
        session.console.out(listing.resolved(approval) + "\n")
    return faults.Exit.FAILED if late else faults.Exit.OK


def events(
    session: world.Session,
    limit: int,
    task_id: str,
    after_seq: int | None,
    follow: bool,
    as_json: bool,
) -> faults.Exit:
    """Print the last events, or those after a sequence number; with follow, go on."""
    if not follow:
        rows: Iterable[events_pb2.Event] = _listed(session.client, limit, task_id, after_seq)
        lines = listing.lines(rows, as_json, listing.event)
        return _print(session, lines, texts.EVENTS_NONE, as_json)
    if after_seq is None:
        after_seq = 0 if task_id else _before_the_last(session.client, limit)
    with session.world.interrupts.watching():
        try:
            rows = _followed(session, task_id, after_seq)
            return _print(session, listing.lines(rows, as_json, listing.event), "", as_json)
        except KeyboardInterrupt:
            return faults.Exit.OK


def _before_the_last(calls: client.Client, limit: int) -> int:
    return max(0, calls.events(0, "", limit=1).head_seq - limit)


def _listed(
    calls: client.Client, limit: int, task_id: str, after_seq: int | None
) -> Iterable[events_pb2.Event]:
    if after_seq is not None:
        return _paged(calls, limit, task_id, after_seq)
    if not task_id:
        return _paged(calls, limit, "", _before_the_last(calls, limit))
    return collections.deque(_paged(calls, None, task_id, 0), maxlen=limit)


def _paged(
    calls: client.Client, limit: int | None, task_id: str, after_seq: int
) -> Iterator[events_pb2.Event]:
    """Events page by page, up to so many; None: all."""
    while limit is None or limit > 0:
        size = EVENTS_A_PAGE if limit is None else min(limit, EVENTS_A_PAGE)
        page = calls.events(after_seq, task_id, size)
        yield from page.events
        if len(page.events) < size:
            return
        after_seq = page.events[-1].seq
        if limit is not None:
            limit -= len(page.events)


def _followed(session: world.Session, task_id: str, after_seq: int) -> Iterator[events_pb2.Event]:
    def subscribe(seq: int) -> client.Stream:
        return session.client.subscribe(seq, task_id, events_only=True)

    updates = session.link().updates(subscribe, after_seq)
    with contextlib.closing(updates):
        for update in updates:
            if update.HasField("event") and update.event.seq > after_seq:
                after_seq = update.event.seq
                yield update.event


def _print(session: world.Session, lines: Iterable[str], none: str, as_json: bool) -> faults.Exit:
    """Print lines to stdout as they come; say so when there are none."""
    count = 0
    for line in lines:
        session.console.out(line)
        count += 1
    if not count and not as_json:
        session.console.say(none)
    return faults.Exit.OK
