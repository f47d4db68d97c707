"""The fold from updates to views, as tables, and that it shows nothing twice."""

import typing
from collections.abc import Sequence

import pytest
from google.protobuf import message, timestamp_pb2
from hypothesis import given, strategies as st

from bots import presenter, views
from proto.ducklm.v1 import common_pb2, events_pb2
from tests.unit.bots import updates

T = updates.TASK
FINISHED = events_pb2.ToolCallEnded.FINISHED
DIRECTIVE = '{"kind":"respond","text":"hi"}'


def fed(*given_updates: events_pb2.Update) -> list[views.View]:
    folded = presenter.Presenter()
    return [view for each in given_updates for view in folded.feed(each)]


def piece(text: str, call_id: str = "call-1") -> views.View:
    return views.TextPiece(T, call_id, text)


def ended(call_id: str = "call-1", cut: bool = False) -> views.View:
    return views.TextEnded(T, call_id, cut)


TABLE: dict[str, tuple[Sequence[events_pb2.Update], Sequence[views.View]]] = {
    "pieces are shown once, wherever they overlap": (
        [updates.live(0, "abc"), updates.live(0, "abcd"), updates.live(2, "cde")],
        [piece("abc"), piece("d"), piece("e")],
    ),
    "an old piece again shows nothing": (
        [updates.live(0, "abc"), updates.live(1, "b"), updates.live(0, "abc")],
        [piece("abc")],
    ),
    "a piece after a gap waits for the whole text": (
        [updates.live(0, "ab"), updates.live(5, "f"), updates.call_finished(2, "abcdef")],
        [piece("ab"), piece("cdef"), ended()],
    ),
    "offsets count characters": (
        [updates.live(0, "äö🦆"), updates.live(3, "!")],
        [piece("äö🦆"), piece("!")],
    ),
    "white space before a text is not shown": (
        [updates.live(0, "\n"), updates.live(1, " \nhi"), updates.call_finished(2, "\n \nhi")],
        [piece("hi"), ended()],
    ),
    "a text without live pieces": (
        [updates.call_started(1), updates.call_finished(2, "hi")],
        [piece("hi"), ended()],
    ),
    "a text that ends differently is shown anew": (
        [updates.live(0, "abc"), updates.call_finished(2, "xyz")],
        [piece("abc"), views.TextDropped(T, "call-1"), piece("xyz"), ended()],
    ),
    "trailing white space makes no difference": (
        [updates.live(0, "abc\n"), updates.call_finished(2, "abc"), updates.answered(3, "abc")],
        [piece("abc\n"), ended(), views.AnswerText(T, "abc", "", True)],
    ),
    "a text that the limit cut": (
        [updates.call_finished(2, "abc", finish="length")],
        [piece("abc"), ended(cut=True)],
    ),
    "a directive is for the daemon": (
        [
            updates.call_started(1),
            updates.live(0, DIRECTIVE[:1]),
            updates.live(1, DIRECTIVE[1:]),
            updates.call_finished(2, DIRECTIVE),
            updates.answered(3, "hi"),
        ],
        [views.AnswerText(T, "hi", "hi", False)],
    ),
    "a fenced directive too": (
        [updates.live(0, "``"), updates.live(2, "`json\n"), updates.live(8, "{")],
        [],
    ),
    "but not other code": (
        [updates.live(0, "``"), updates.live(2, "`python\n")],
        [piece("```python\n")],
    ),
    "an answer in JSON comes whole": (
        [updates.call_finished(2, "{}"), updates.answered(3, "{}")],
        [views.AnswerText(T, "{}", "{}", False)],
    ),
    "a role that speaks to the daemon is not shown": (
        [
            updates.call_started(1, role="json_compiler"),
            updates.live(0, "abc"),
            updates.call_finished(2, "abc"),
        ],
        [],
    ),
    "an answer that goes on": (
        [updates.call_finished(2, "abc"), updates.answered(3, "abcdef")],
        [piece("abc"), ended(), views.AnswerText(T, "abcdef", "def", True)],
    ),
    "an answer of its own": (
        [updates.call_finished(2, "thinking"), updates.answered(3, "abc")],
        [piece("thinking"), ended(), views.AnswerText(T, "abc", "abc", False)],
    ),
    "an answer after a tool is not what was said before it": (
        [
            updates.call_finished(2, "done"),
            updates.tool_started(3),
            updates.answered(4, "done"),
        ],
        [
            piece("done"),
            ended(),
            views.ToolStarted(T, "tool-1", "", "", 1),
            views.AnswerText(T, "done", "done", False),
        ],
    ),
    "a repeated call drops the old text": (
        [
            updates.call_started(1),
            updates.live(0, "abc"),
            updates.call_failed(2, "ab", message="died"),
            updates.call_started(3, "call-2", replaces="call-1"),
            updates.live(0, "xy", "call-2"),
        ],
        [
            piece("abc"),
            ended(),
            views.Notice(T, "the model call failed: died"),
            views.TextDropped(T, "call-1"),
            piece("xy", "call-2"),
        ],
    ),
    "a repeated call that had shown nothing drops nothing": (
        [updates.call_started(1), updates.call_started(2, "call-2", replaces="call-1")],
        [],
    ),
    "a cancelled call is told by the task's end": (
        [
            updates.live(0, "ab"),
            updates.call_failed(2, "abc", fault="cancelled"),
            updates.state(3, common_pb2.CANCELLED),
        ],
        [piece("ab"), piece("c"), ended(), views.Ended(T, common_pb2.CANCELLED, "")],
    ),
    "a tool's output while it runs, and its end": (
        [
            updates.call_started(1),
            updates.tool_proposed(2),
            updates.tool_started(3, attempt=2),
            updates.live(0, "a\n", "tool-1", tool=True),
            updates.live(0, "a\nb\n", "tool-1", tool=True),
            updates.tool_ended(4, "a\nb\n", 3),
        ],
        [
            views.ToolStarted(T, "tool-1", "shell_exec", "ls", 2),
            views.ToolOutput(T, "tool-1", "a\n"),
            views.ToolOutput(T, "tool-1", "b\n"),
            views.ToolEnded(T, "tool-1", "shell_exec", "ls", FINISHED, 3, "a\nb\n", "", 1500),
        ],
    ),
    "the output of a command that the person gave is the answer": (
        [updates.tool_proposed(2), updates.tool_ended(3, "a\n"), updates.answered(4, "a\n")],
        [
            views.ToolEnded(T, "tool-1", "shell_exec", "ls", FINISHED, 0, "", "", 1500),
            views.AnswerText(T, "a\n", "a\n", False),
        ],
    ),
    "but not the output of one that was cancelled": (
        [updates.tool_ended(3, "a\n", None, events_pb2.ToolCallEnded.CANCELLED)],
        [
            views.ToolEnded(
                T, "tool-1", "", "", events_pb2.ToolCallEnded.CANCELLED, None, "a\n", "", 1500
            ),
        ],
    ),
    "a card and its end": (
        [updates.approval_requested(1, always=True), updates.approval_resolved(2)],
        [
            views.ApprovalCard(
                T,
                "approval-1",
                "shell_exec",
                "rm -r build",
                ("every command asks",),
                True,
                None,
            ),
            views.ApprovalClosed(T, "approval-1", "allowed", "local:owner", ""),
        ],
    ),
    "states": (
        [
            updates.submitted(1, "hi"),
            updates.state(2, common_pb2.QUEUED),
            updates.state(3, common_pb2.RUNNING),
            updates.state(4, common_pb2.PARKED, "why"),
            updates.state(5, common_pb2.FAILED, "gave up"),
        ],
        [
            views.TaskBegan(T, updates.CONVERSATION, "hi"),
            views.Waiting(T, common_pb2.PARKED, "why"),
            views.Ended(T, common_pb2.FAILED, "gave up"),
        ],
    ),
    "progress": (
        [updates.progress(events_pb2.Progress.PREFILL, 1, 2, 3)],
        [views.Progress(T, views.Stage.READING, 1, 2, 3)],
    ),
    "a tool that ran because it was allowed always": (
        [updates.tool_proposed(2), updates.tool_started(3, basis="grant")],
        [views.ToolStarted(T, "tool-1", "shell_exec", "ls", 1, "grant")],
    ),
    "untrusted text": (
        [updates.tainted(1, ("forwarded", "m-1"), ("many", ""))],
        [
            views.Notice(
                T,
                "this task has read untrusted text: a forwarded message (m-1), "
                "many untrusted places",
            )
        ],
    ),
    "more of it than can be named": (
        [updates.tainted(1, *(("web", str(number)) for number in range(7)))],
        [
            views.Notice(
                T,
                "this task has read untrusted text: the web (0), the web (1), the web (2), "
                "the web (3), the web (4), and 2 more",
            )
        ],
    ),
    "untrusted text in a project, and trust in it": (
        [
            updates.update(
                1,
                events_pb2.Event(
                    project_tainted=events_pb2.ProjectTainted(
                        folder="/p", sources=[common_pb2.TaintSource(kind="of a newer daemon")]
                    )
                ),
            ),
            updates.update(
                2,
                events_pb2.Event(
                    project_trusted=events_pb2.ProjectTrusted(folder="/p", principal="local:owner")
                ),
            ),
        ],
        [
            views.Notice(T, "untrusted text may have come into /p: of a newer daemon"),
            views.Notice(T, "/p is trusted again, says local:owner"),
        ],
    ),
    "a grant, and its end": (
        [
            updates.update(
                1,
                events_pb2.Event(
                    grant_created=events_pb2.GrantCreated(
                        grant_id="grant-1",
                        granted_by="local:owner",
                        uses=9,
                        expires_at=timestamp_pb2.Timestamp(seconds=86_400),
                    )
                ),
            ),
            updates.update(
                2,
                events_pb2.Event(
                    grant_revoked=events_pb2.GrantRevoked(
                        grant_id="grant-1", principal="local:owner"
                    )
                ),
            ),
        ],
        [
            views.Notice(
                T,
                "allowed always by local:owner: this call runs unasked until 1970-01-02, "
                "at most 9 times (grant grant-1)",
            ),
            views.Notice(T, "grant grant-1 was taken back by local:owner: its call asks again"),
        ],
    ),
    "a secret": (
        [
            updates.secret_requested(1),
            updates.update(
                2,
                events_pb2.Event(
                    secret_provided=events_pb2.SecretProvided(principal="local:owner")
                ),
            ),
        ],
        [
            views.Notice(T, "a secret is needed: the password for sudo"),
            views.Notice(T, "the secret was given by local:owner"),
        ],
    ),
    "a recovery": (
        [updates.update(1, events_pb2.Event(task_recovered=events_pb2.TaskRecovered(count=2)))],
        [views.Notice(T, "the daemon restarted; the task goes on")],
    ),
    "a decision": (
        [
            updates.update(
                1,
                events_pb2.Event(
                    task_decided=events_pb2.TaskDecided(
                        decision="run_again", principal="local:owner"
                    )
                ),
            )
        ],
        [views.Notice(T, "to be run again, decided by local:owner")],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_views(name: str) -> None:
    sent, wanted = TABLE[name]
    assert fed(*sent) == list(wanted)


@pytest.mark.spec("C-03")
@pytest.mark.parametrize("name", TABLE)
def test_the_same_updates_again_show_nothing_but_progress(name: str) -> None:
    sent, _ = TABLE[name]
    folded = presenter.Presenter()
    last = [view for each in sent for view in folded.feed(each)]
    if any(isinstance(view, views.TextDropped | views.Ended) for view in last):
        sent = [each for each in sent if each.HasField("event")]
    again = [view for each in sent for view in folded.feed(each)]
    assert [view for view in again if not isinstance(view, views.Progress)] == []


def test_what_a_newer_daemon_sends_is_passed_over() -> None:
    unknown_kind = events_pb2.Update.FromString(bytes([0xFA, 0x01, 0x00]))
    unknown_event = events_pb2.Event(seq=9)
    folded = presenter.Presenter()
    assert folded.feed(unknown_kind) == ()
    assert folded.feed(events_pb2.Update(event=unknown_event)) == ()
    assert folded.last_seq == 9
    stage_of_its_own = typing.cast(events_pb2.Progress.Stage.ValueType, 99)
    state_of_its_own = typing.cast(common_pb2.TaskState.ValueType, 99)
    assert folded.feed(updates.progress(stage_of_its_own)) == ()
    assert folded.feed(updates.state(10, state_of_its_own)) == ()


def test_every_kind_of_event_is_known() -> None:
    for seq, field in enumerate(events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields, 1):
        event = events_pb2.Event(seq=seq, task_id=T)
        content: message.Message = getattr(event, field.name)
        content.SetInParent()
        presenter.Presenter().feed(events_pb2.Update(event=event))


@pytest.mark.parametrize(
    ("tool", "arguments_json", "summary"),
    [
        ("shell_exec", '{"command":"ls -l","timeout_s":3}', "ls -l"),
        ("read", '{"path":"ä"}', 'read {"path": "ä"}'),
        ("now", "{}", "now"),
        ("now", "", "now"),
        ("x", "not json", "x not json"),
        ("x", '{"command":["ls"]}', 'x {"command": ["ls"]}'),
        ("x", "[1]", "x [1]"),
    ],
)
def test_summary(tool: str, arguments_json: str, summary: str) -> None:
    assert presenter.summary(tool, arguments_json) == summary


@pytest.mark.spec("C-03")
@given(
    text=st.text(alphabet="ab {}`\nö🦆", max_size=40),
    cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12),
)
def test_whatever_comes_live_the_shown_text_is_the_answer(
    text: str, cuts: list[tuple[int, int]]
) -> None:
    pieces = [updates.live(start, text[start:end]) for start, end in cuts if start < len(text)]
    outcome = [updates.call_finished(2, text), updates.answered(3, text)]
    shown = ""
    for view in fed(updates.call_started(1), *pieces, *outcome):
        if isinstance(view, views.TextPiece):
            shown += view.text
        elif isinstance(view, views.AnswerText):
            shown += view.rest
        else:
            assert isinstance(view, views.TextEnded)
    assert shown.strip() == text.strip()
