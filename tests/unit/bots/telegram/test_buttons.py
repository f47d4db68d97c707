"""What buttons carry: at most 64 bytes, read back as they were made, and nothing else is read."""

import pytest

from bots.telegram import buttons, outgoing
from proto.ducklm.v1 import approvals_pb2, tasks_pb2

ID = "conversation-" + "f" * 32
PRESSES: tuple[buttons.Press, ...] = (
    buttons.Answer(ID, approvals_pb2.ALLOW_ONCE),
    buttons.Answer(ID, approvals_pb2.ALLOW_ALWAYS),
    buttons.Answer(ID, approvals_pb2.DENY),
    buttons.Answer(ID, approvals_pb2.DENY, asks=True),
    buttons.Decide(tasks_pb2.MARK_DONE, ID),
    buttons.Decide(tasks_pb2.RUN_AGAIN, ID),
    buttons.Decide(tasks_pb2.ABANDON),
    buttons.Decide(tasks_pb2.RETRY),
    buttons.Pair(allow=True),
    buttons.Pair(allow=False),
    buttons.Feedback(ID, good=True),
    buttons.Feedback(ID, good=False),
    buttons.Whole("ab" * 32),
    buttons.Menu("steering"),
    buttons.Setting("project", "a" * 41),
    buttons.Draft(keeps=True, artifact_id="cd" * 32),
    buttons.Draft(keeps=False, artifact_id="cd" * 32),
    buttons.Schedules(),
    buttons.Schedules(24),
    *(buttons.Schedule(action, ID) for action in buttons.ACTIONS),
)


@pytest.mark.parametrize("press", PRESSES, ids=str)
def test_a_press_is_read_as_it_was_made(press: buttons.Press) -> None:
    data = buttons.data(press)
    assert len(data.encode()) <= outgoing.CALLBACK_BYTES
    assert buttons.read(data) == press


@pytest.mark.parametrize(
    "data",
    [
        *("", "a", "a:", "a:o:", "a:o:approval-1", "a:z:" + ID, "a:o:" + ID + "x", "A:o:" + ID),
        *("a:o:" + ID.upper(), "d:q:", "d:m:x", "p:y:x", "p:x:", "f:y:", "w:o:", "w:o:" + "_" * 44),
        *(
            "w:o:" + "é" * 10,
            "m::",
            "m:a b:",
            "s:mode:",
            "s::x",
            "s:mode:a b",
            "s:mode:../x",
            "x:y:z",
        ),
        *("k:y:", "k:x:" + "A" * 43, "l:p:", "l:p:-1", "l:p:1000", "l:q:1", "t:v:", "t:q:" + ID),
        *("\0", "a:o:\0", "🦆", "s:" + "a" * 20 + ":x"),
    ],
)
def test_what_no_button_of_ours_carries_is_nothing(data: str) -> None:
    assert buttons.read(data) is None
