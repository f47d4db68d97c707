"""How a task's thinking becomes views: directives, plans, purposes and thoughts, as tables."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from bots import presenter, views
from proto.ducklm.v1 import common_pb2, events_pb2
from tests.unit.bots import updates

T = updates.TASK
S = views.StepStatus


def fed(*given_updates: events_pb2.Update) -> list[views.View]:
    folded = presenter.Presenter()
    return [view for each in given_updates for view in folded.feed(each)]


def piece(text: str, call_id: str = "call-1") -> views.View:
    return views.TextPiece(T, call_id, text)


def thought(text: str) -> views.View:
    return views.ThoughtPiece(T, "call-1", text)


def ended(call_id: str = "call-1") -> views.View:
    return views.TextEnded(T, call_id, False)


def withdrawn(call_id: str = "call-1") -> views.View:
    return views.TextDropped(T, call_id, again=False)


def step(
    step_id: str, status: S = S.WAITING, attempt: int = 1, kind: str = "tool", after: str = ""
) -> views.PlanStep:
    needed = tuple(after.split(",")) if after else ()
    return views.PlanStep(step_id, f"goal of {step_id}", kind, needed, status, attempt)


def moved(changed: views.PlanStep, *steps: views.PlanStep) -> views.View:
    return views.PlanShown(T, steps, changed)


THINKS = updates.call_started(1, purpose="think")
TABLE: dict[str, tuple[Sequence[events_pb2.Update], Sequence[views.View]]] = {
    "a draft that is the answer stays": (
        [
            THINKS,
            updates.live(0, "Paris."),
            updates.call_finished(2, "Paris."),
            updates.call_started(3, "call-2", role="json_compiler", purpose="compile"),
            updates.live(0, "respond", "call-2"),
            updates.call_finished(4, "respond", "call-2"),
            updates.directed(5, "respond", "compiler"),
            updates.answered(6, "Paris."),
        ],
        [piece("Paris."), ended(), views.AnswerText(T, "Paris.", "", True)],
    ),
    **{
        f"a draft that leads to {kind} is withdrawn": (
            [
                THINKS,
                updates.live(0, "I look."),
                updates.call_finished(2, "I look."),
                updates.directed(3, kind),
            ],
            [piece("I look."), ended(), withdrawn()],
        )
        for kind in ("tool", "plan", "coder", "fail", "of a newer daemon")
    },
    "what a person typed withdraws nothing": ([updates.directed(1, "tool", "user")], []),
    "a draft of which nothing was shown is not withdrawn": (
        [THINKS, updates.call_finished(2, '{"kind":"tool"}'), updates.directed(3, "tool")],
        [],
    ),
    "what was written for a step is no draft": (
        [
            updates.call_started(1, purpose="write", step_id="a"),
            updates.call_finished(2, "Written.", "call-1"),
            updates.call_started(3, "call-2", purpose="think"),
            updates.call_finished(4, '{"kind":"tool"}', "call-2"),
            updates.directed(5, "tool"),
        ],
        [piece("Written."), ended()],
    ),
    "a reply that is refused is withdrawn": (
        [
            THINKS,
            updates.call_finished(2, "No JSON", "call-1"),
            updates.update(
                3, events_pb2.Event(reply_refused=events_pb2.ReplyRefused(call_id="call-1"))
            ),
        ],
        [piece("No JSON"), ended(), withdrawn()],
    ),
    **{
        f"what models {purpose} is not shown": (
            [
                updates.call_started(1, purpose=purpose),
                updates.live(0, "abc"),
                updates.call_finished(2, "abc"),
            ],
            [],
        )
        for purpose in ("compile", "code", "criticize", "summarize", "of a newer daemon")
    },
    "what models write is shown": (
        [updates.call_started(1, role="sys_util", purpose="write"), updates.live(0, "abc")],
        [piece("abc")],
    ),
    "a call of which only live text was seen": (
        [updates.live(0, "abc", purpose="criticize"), updates.live(0, "x", "c-2", purpose="write")],
        [piece("x", "c-2")],
    ),
    "thoughts are apart, with offsets of their own": (
        [
            THINKS,
            updates.live(0, "hm", thinking=True),
            updates.live(0, "hm, so", thinking=True),
            updates.live(0, "Yes."),
            updates.call_finished(2, "Yes.", reasoning="hm, so…"),
            updates.answered(3, "Yes."),
        ],
        [
            thought("hm"),
            thought(", so"),
            piece("Yes."),
            thought("…"),
            ended(),
            views.AnswerText(T, "Yes.", "", True),
        ],
    ),
    "thoughts that did not come live": (
        [THINKS, updates.call_finished(2, "Yes.", reasoning="hm")],
        [thought("hm"), piece("Yes."), ended()],
    ),
    "two that write at once are shown one after the other": (
        [
            updates.call_started(1, "a", purpose="write"),
            updates.call_started(2, "b", purpose="write"),
            updates.live(0, "A1", "a"),
            updates.live(0, "B1", "b"),
            updates.live(2, "A2", "a"),
            updates.call_finished(3, "A1A2", "a"),
            updates.live(2, "B2", "b"),
        ],
        [piece("A1", "a"), piece("A2", "a"), ended("a"), piece("B1", "b"), piece("B2", "b")],
    ),
    "the second may end first": (
        [
            updates.live(0, "A1", "a"),
            updates.live(0, "B1", "b"),
            updates.call_finished(3, "B1", "b"),
            updates.call_finished(4, "A1", "a"),
        ],
        [piece("A1", "a"), ended("a"), piece("B1", "b"), ended("b")],
    ),
    "a plan as it goes": (
        [
            updates.planned(1, ("a", "tool", ""), ("b", "respond", "a")),
            updates.step_started(2, "a"),
            updates.step_judged(3, "a", "continue", 9),
            updates.step_ended(4, "a"),
            updates.step_ended(5, "b", "skipped"),
        ],
        [
            views.PlanShown(T, (step("a"), step("b", kind="respond", after="a"))),
            moved(step("a", S.RUNNING), step("a", S.RUNNING), step("b", kind="respond", after="a")),
            moved(step("a", S.DONE), step("a", S.DONE), step("b", kind="respond", after="a")),
            moved(
                step("b", S.SKIPPED, kind="respond", after="a"),
                step("a", S.DONE),
                step("b", S.SKIPPED, kind="respond", after="a"),
            ),
        ],
    ),
    "a step again takes back what it wrote": (
        [
            updates.planned(1, ("a", "respond", "")),
            updates.step_started(2, "a"),
            updates.call_started(3, purpose="write", step_id="a"),
            updates.call_finished(4, "Bad."),
            updates.step_judged(5, "a", "retry", 2, "too short"),
            updates.step_started(6, "a", 2),
        ],
        [
            views.PlanShown(T, (step("a", kind="respond"),)),
            moved(step("a", S.RUNNING, kind="respond"), step("a", S.RUNNING, kind="respond")),
            piece("Bad."),
            ended(),
            views.Notice(
                T,
                "the critic on “goal of a”: try again (correctness 2, safety 10 of 10): too short",
            ),
            views.TextDropped(T, "call-1"),
            moved(step("a", S.RUNNING, 2, "respond"), step("a", S.RUNNING, 2, "respond")),
        ],
    ),
    "a step of a plan that was not seen": (
        [updates.step_ended(1, "a", "failed"), updates.step_ended(2, "b", "of a newer daemon")],
        [
            moved(
                views.PlanStep("a", "", "", (), S.FAILED), views.PlanStep("a", "", "", (), S.FAILED)
            )
        ],
    ),
    "what a call changed": (
        [updates.call_started(1), updates.tool_ended(2, "ok", diff="+x\n")],
        [
            views.ToolEnded(
                T, "tool-1", "", "", events_pb2.ToolCallEnded.FINISHED, 0, "ok", "", 1500
            ),
            views.FilesChanged(T, "tool-1", ("a.py",), "+x\n"),
        ],
    ),
    "what is told of conversations": (
        [
            updates.update(
                1, events_pb2.Event(task_steered=events_pb2.TaskSteered(text="and in French"))
            ),
            updates.update(
                2, events_pb2.Event(conversation_compacted=events_pb2.ConversationCompacted())
            ),
            updates.update(
                3, events_pb2.Event(exchange_undone=events_pb2.ExchangeUndone(principal="me"))
            ),
            updates.reverted(4),
            updates.reverted(5, "a.py was changed since"),
            updates.update(
                6,
                events_pb2.Event(
                    feedback_given=events_pb2.FeedbackGiven(principal="me", good=True)
                ),
            ),
            updates.update(
                7,
                events_pb2.Event(
                    feedback_given=events_pb2.FeedbackGiven(principal="me", text="wrong")
                ),
            ),
        ],
        [
            views.Notice(T, "heard meanwhile: and in French"),
            views.Notice(T, "from now on a summary stands for what was said so far"),
            views.Notice(T, "undone by me: models hear no more of this message and its answer"),
            views.Notice(T, "its changes of the project were taken back"),
            views.Notice(
                T, "its changes of the project were not taken back: a.py was changed since"
            ),
            views.Notice(T, "a good answer, says me"),
            views.Notice(T, "a bad answer, says me: wrong"),
        ],
    ),
    "progress knows what the call is for": (
        [
            updates.call_started(1, purpose="criticize"),
            updates.progress(events_pb2.Progress.PREFILL, 1, 2, 3),
        ],
        [views.Progress(T, views.Stage.READING, 1, 2, 3, "criticize")],
    ),
    "what comes after the end is of no call": (
        [THINKS, updates.state(2, common_pb2.COMPLETED), updates.directed(3, "tool")],
        [views.Ended(T, common_pb2.COMPLETED, "")],
    ),
}


@pytest.mark.spec("D-18")
@pytest.mark.parametrize("name", TABLE)
def test_views(name: str) -> None:
    sent, wanted = TABLE[name]
    assert fed(*sent) == list(wanted)


@pytest.mark.spec("C-03")
@pytest.mark.parametrize("name", TABLE)
def test_events_again_show_nothing(name: str) -> None:
    sent, _ = TABLE[name]
    folded = presenter.Presenter()
    for each in sent:
        folded.feed(each)
    again = [view for each in sent if each.HasField("event") for view in folded.feed(each)]
    assert again == []


CALLS = ("a", "b", "c")


@pytest.mark.spec("D-18")
@given(
    pieces=st.lists(st.tuples(st.sampled_from(CALLS), st.integers(0, 8), st.booleans())),
    order=st.permutations(CALLS),
)
def test_however_calls_come_side_by_side_each_is_whole_and_none_interrupts(
    pieces: list[tuple[str, int, bool]], order: list[str]
) -> None:
    whole = {call_id: call_id * 3 + "-" + call_id * 5 for call_id in CALLS}
    sent = [updates.call_started(seq, one, purpose="write") for seq, one in enumerate(CALLS, 1)]
    for call_id, start, thinking in pieces:
        text = whole[call_id][start : start + 3]
        sent.append(updates.live(start, text, call_id, thinking=thinking))
    sent += [updates.call_finished(9 + n, whole[one], one) for n, one in enumerate(order)]
    shown: dict[str, str] = {}
    speaker = ""
    for view in fed(*sent):
        match view:
            case views.TextPiece(call_id=call_id, text=text):
                assert speaker in ("", call_id)
                speaker = call_id
                shown[call_id] = shown.get(call_id, "") + text
            case views.TextEnded(call_id=call_id):
                assert speaker == call_id
                speaker = ""
            case views.ThoughtPiece():
                pass
            case _:
                raise AssertionError(view)
    assert (shown, speaker) == (whole, "")
