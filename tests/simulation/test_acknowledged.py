"""What was answered with OK is there after a kill -9 that follows at once."""

import random
from collections.abc import Callable

import pytest

from proto.ducklm.v1 import approvals_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, daemon_process, script

Check = Callable[[client.Client], None]
"""Fails unless one acknowledged write is there."""

_STATUS = {
    approvals_pb2.ALLOW_ONCE: approvals_pb2.ALLOWED,
    approvals_pb2.DENY: approvals_pb2.DENIED,
}


def submit(speaks: client.Client, number: int) -> Check:
    text = f"Remember {number}."
    task_id = speaks.submit(text).task_id

    def check(later: client.Client) -> None:
        assert later.task(task_id).text == text

    return check


def submit_with_key(speaks: client.Client, number: int) -> Check:
    text, key = f"Remember {number} once.", f"key {number}"
    task_id = speaks.submit(text, key=key).task_id

    def check(later: client.Client) -> None:
        assert later.submit(text, key=key).task_id == task_id

    return check


def create_conversation(speaks: client.Client, number: int) -> Check:
    title = f"Conversation {number}"
    conversation_id = speaks.create_conversation(title).conversation_id

    def check(later: client.Client) -> None:
        assert later.conversation(conversation_id).title == title

    return check


def resolve(speaks: client.Client, number: int) -> Check:
    """Answer an approval; the one to answer is asked for first."""
    answer = approvals_pb2.ALLOW_ONCE if number % 2 else approvals_pb2.DENY
    submitted = speaks.submit("`touch asked`")
    for update in speaks.follow(submitted.seq - 1, submitted.task_id):
        if update.event.HasField("approval_requested"):
            approval_id = update.event.approval_requested.approval_id
            break
    else:
        raise AssertionError("the command was not asked for")
    speaks.resolve(approval_id, answer)

    def check(later: client.Client) -> None:
        assert later.approval(approval_id).status == _STATUS[answer]
        assert approval_id not in [one.approval_id for one in later.pending()]

    return check


@pytest.mark.acceptance(3)
@pytest.mark.timeout(240)
def test_what_was_acknowledged_is_there_after_a_kill(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    place.prepare([script.Line("Noted.", repeat=True)])
    chance = random.Random(seed)
    writes = (submit, submit_with_key, create_conversation, resolve)
    checks: list[Check] = []
    daemon = daemons.start()
    for number in range(rounds(200)):
        write = writes[number] if number < len(writes) else chance.choice(writes)
        checks.append(write(daemon.api, number))
        daemon.kill()
        daemon = daemons.start()
        checks[-1](daemon.api)
    for check in checks:
        check(daemon.api)
    figures("acknowledged and killed", len(checks))
    figures("present", len(checks))
