"""Every event of the domain on the wire: each of its facts and texts is there, none is left out."""

import typing
from collections.abc import Iterator

import pytest

from daemon.domain import (
    base,
    deliveries,
    directives,
    events,
    ids,
    messages,
    principals,
    state,
    taints,
    verdicts,
)
from daemon.rpc import convert, wire_events
from proto.ducklm.v1 import common_pb2, events_pb2
from tests.golden import example_schedules
from tools import contract

T, C = ids.TaskId("task-1"), ids.ConversationId("conversation-1")
CALL, APPROVAL, GRANT = ids.CallId("call-1"), ids.ApprovalId("approval-1"), ids.GrantId("grant-1")
S, R = ids.ScheduleId("schedule-1"), ids.RunId("schedule-1.1000")
ME = principals.LOCAL_OWNER
ORIGIN = principals.Origin(
    principal=ME,
    channel="terminal",
    chat="c",
    topic="t",
    message_id="m",
    reply_to="r",
    forwarded=True,
    speaker="s",
)
TAINT = (taints.Source(kind=taints.Kind.WEB, source_id="u"),)


def text(name: str) -> ids.ContentId:
    return ids.ContentId(f"content-{name}")


_STEP = events.PlannedStep(
    step_id="s",
    goal=text("goal"),
    kind="tool",
    tool="shell_exec",
    arguments=text("arguments"),
    fingerprint="f",
    after=("r",),
    files=("a.py",),
)
SAMPLES: tuple[events.Event, ...] = (
    events.ConversationCreated(
        conversation_id=C,
        principal=ME,
        title=text("title"),
        mode=verdicts.Mode.PLAN,
        folder="/p",
        profile="brief",
        steers=True,
    ),
    events.ConversationUpdated(
        conversation_id=C,
        title=text("title"),
        mode=verdicts.Mode.PLAN,
        folder="/p",
        profile="brief",
        steers=False,
    ),
    events.ConversationDeleted(conversation_id=C, principal=ME),
    events.ConversationCompacted(conversation_id=C, summary=text("summary"), up_to_seq=7),
    events.ExchangeUndone(task_id=T, principal=ME, folder="/p", commits=("1",), left=(CALL,)),
    events.ProjectReverted(task_id=T, commit="2", fault="why"),
    events.FeedbackGiven(task_id=T, principal=ME, good=True, text=text("feedback")),
    events.TaskSubmitted(
        task_id=T,
        conversation_id=C,
        origin=ORIGIN,
        text=text("said"),
        attachments=(ids.ArtifactId("a"),),
        skill="bake",
        note="It is late.",
        profile="plain",
        kind=events.TaskKind.COMPACT,
        run=events.RunOf(schedule_id=S, run_id=R),
    ),
    events.TaskSteered(task_id=T, origin=ORIGIN, text=text("further")),
    events.TaskStateChanged(
        task_id=T, previous=state.TaskState.QUEUED, state=state.TaskState.RUNNING, reason="why"
    ),
    events.TaskRecovered(task_id=T, count=2),
    events.TaskTainted(task_id=T, sources=TAINT),
    events.TaskDecided(task_id=T, decision=events.Decision.MARK_DONE, principal=ME, call_id=CALL),
    events.ModelCallStarted(
        task_id=T,
        call_id=CALL,
        role=messages.Role.CRITIC,
        attempt=2,
        replaces=ids.CallId("call-0"),
        purpose=messages.Purpose.CRITICIZE,
        step_id="s",
        up_to_seq=7,
    ),
    events.ModelCallFinished(
        task_id=T,
        call_id=CALL,
        text=text("reply"),
        finish_reason="stop",
        slot="embedded",
        usage=messages.Usage(
            queued_ms=7,
            prompt_tokens=1,
            reused_tokens=2,
            completion_tokens=3,
            prefill_ms=4,
            decode_ms=5,
        ),
        reasoning=text("reasoning"),
    ),
    events.ModelCallFailed(
        task_id=T, call_id=CALL, fault="died", message="why", text=text("begun")
    ),
    events.ToolCallProposed(
        task_id=T, call_id=CALL, tool="shell_exec", arguments=text("arguments"), step_id="s"
    ),
    events.ToolCallInspected(
        task_id=T,
        call_id=CALL,
        effect=contract.Effect.UNSAFE,
        digest="d",
        verdict=verdicts.Verdict.ASK,
        reasons=("why",),
    ),
    events.ApprovalRequested(
        task_id=T,
        approval_id=APPROVAL,
        call_id=CALL,
        tool="shell_exec",
        digest="d",
        card=text("card"),
        reasons=("why",),
        always_allowed=True,
        expires_ms=1000,
        folder="/p",
        places=("here",),
    ),
    events.ApprovalResolved(
        task_id=T,
        approval_id=APPROVAL,
        call_id=CALL,
        outcome=events.ApprovalOutcome.DENIED,
        decided_by=ME,
        reason=text("reason"),
    ),
    events.SecretRequested(task_id=T, call_id=CALL, what="a password", expires_ms=1000),
    events.SecretProvided(task_id=T, call_id=CALL, principal=ME),
    events.ToolCallStarted(
        task_id=T,
        call_id=CALL,
        digest="d",
        effect=contract.Effect.UNSAFE,
        attempt=2,
        approval_id=APPROVAL,
        grant_id=GRANT,
        basis=verdicts.Basis.GRANT,
    ),
    events.ToolCallEnded(
        task_id=T,
        call_id=CALL,
        outcome=events.CallOutcome.FINISHED,
        result=text("result"),
        exit_code=0,
        artifact=ids.ArtifactId("a"),
        duration_ms=3,
        commit="1",
        files=("a.py",),
        diff=text("diff"),
    ),
    events.AnswerGiven(task_id=T, text=text("answer")),
    events.GrantCreated(
        grant_id=GRANT,
        key="k",
        tool="shell_exec",
        principal=ME,
        folder="/p",
        card=text("card"),
        granted_by=ME,
        expires_ms=1000,
        uses=9,
        schedule_id=S,
    ),
    events.GrantRevoked(grant_id=GRANT, principal=ME),
    events.DirectiveTaken(task_id=T, kind="plan", source=events.DirectiveSource.COMPILER),
    events.ReplyRefused(task_id=T, call_id=CALL, text=text("refused"), reason="why"),
    events.PlanMade(task_id=T, text=text("directive"), steps=(_STEP,)),
    events.StepStarted(task_id=T, step_id="s", attempt=2),
    events.StepJudged(
        task_id=T,
        step_id="s",
        correctness=0,
        usefulness=5,
        safety=10,
        follows=directives.Recovery.RETRY,
        note=text("note"),
    ),
    events.StepEnded(
        task_id=T, step_id="s", outcome=events.StepOutcome.FAILED, result=text("result")
    ),
    events.ProjectTainted(folder="/p", sources=TAINT),
    events.ProjectTrusted(folder="/p", principal=ME),
    events.DeliveryReported(
        delivery_id=ids.DeliveryId("d"),
        revision=2,
        state=deliveries.State.GONE,
        platform_ids=("11", "12"),
        fault="why",
    ),
    events.NoticePosted(
        delivery_id=ids.DeliveryId("d"),
        target=deliveries.Target(
            account="telegram:7", chat="1", topic="2", reply_to="3", principal=ME
        ),
        text=text("notice"),
        rows=((deliveries.Button(text="Go", data="g"),),),
        artifacts=(ids.ArtifactId("ab" * 32),),
        approval_id=APPROVAL,
    ),
    events.ChatMoved(account="telegram:7", chat="1", to="2"),
    events.PairingRequested(principal=ME, name="Ä", code="012345"),
    events.PairingDecided(principal=ME, allowed=True, decided_by=ME),
    events.ScheduleSet(schedule=example_schedules.schedule(S, paused=True), by=ME, why="it failed"),
    events.ScheduleRemoved(schedule_id=S, by=ME),
    events.ScheduleRunQueued(schedule_id=S, run_id=R, due_ms=1000),
    events.ScheduleRunStarted(
        schedule_id=S, run_id=R, due_ms=1000, run_task=T, late_ms=5, by_hand=True, attempt=2
    ),
    events.ScheduleRunsLeftOut(schedule_id=S, due_ms=(1000, 2000), why="overlap"),
    events.ScheduleRunEnded(
        schedule_id=S,
        run_id=R,
        run_task=T,
        outcome="failed",
        again_ms=3000,
        told=True,
        digest="d",
    ),
)
NOT_SENT = {"content-directive", "content-arguments-7"}
"""The whole of a plan's directive, as its steps say it; a schedule's call, as its text does."""


def recorded(event: events.Event) -> events.Recorded:
    return events.Recorded(7, 1_900_000_000_500, T, C, "correlation", event)


def sent(event: events.Event) -> events_pb2.Event:
    """As it is sent, each text being its own id."""
    found = wire_events.content_of([recorded(event)])
    return wire_events.event(recorded(event), {one: str(one) for one in found})


def name(event: events.Event) -> str:
    return event.type


def contents(value: object) -> Iterator[str]:
    """The texts that an event names, however deep."""
    match value:
        case str() if value.startswith("content-"):
            yield value
        case base.Value():
            for field in type(value).model_fields:
                yield from contents(getattr(value, field))
        case tuple():
            for one in value:
                yield from contents(one)
        case _:
            pass


def test_there_is_a_sample_of_each_event() -> None:
    assert {type(one) for one in SAMPLES} == set(typing.get_args(events.Event))


@pytest.mark.spec("D-18")
@pytest.mark.parametrize("event", SAMPLES, ids=name)
def test_an_event_says_its_kind_its_place_and_every_text(event: events.Event) -> None:
    told = sent(event)
    assert told.WhichOneof("kind") == event.type
    assert (told.seq, told.task_id, told.conversation_id) == (7, T, C)
    assert (told.at.seconds, told.at.nanos) == (1_900_000_000, 500_000_000)
    said = str(told)
    wanted = set(contents(event)) - NOT_SENT
    assert {one for one in wanted if one not in said} == set()


@pytest.mark.parametrize("event", SAMPLES, ids=name)
def test_no_field_on_the_wire_is_forgotten(event: events.Event) -> None:
    """Each sample has a value in all of its fields, so each must be there."""
    content = getattr(sent(event), event.type)
    told = {field.name for field, _ in content.ListFields()}
    unset = {field.name for field in content.DESCRIPTOR.fields} - told
    if isinstance(event, events.FeedbackGiven):
        unset -= {"good"}
    assert unset == set()
    for planned in getattr(content, "steps", ()):
        assert {field.name for field, _ in planned.ListFields()} == {
            field.name for field in planned.DESCRIPTOR.fields
        }


@pytest.mark.parametrize("event", SAMPLES, ids=name)
def test_forgotten_texts_are_empty(event: events.Event) -> None:
    told = wire_events.event(recorded(event), {})
    assert "content-" not in str(told)


def test_what_stays_as_it_was_is_not_set() -> None:
    told = sent(events.ConversationUpdated(conversation_id=C)).conversation_updated
    assert told.ListFields() == []
    quiet = sent(events.ConversationUpdated(conversation_id=C, folder="", steers=False))
    fields = {field.name for field, _ in quiet.conversation_updated.ListFields()}
    assert fields == {"folder", "steering"}
    assert quiet.conversation_updated.steering == common_pb2.QUEUE


def test_a_score_that_the_critic_could_not_say_is_unset_and_zero_is_not() -> None:
    judged = events.StepJudged(
        task_id=T,
        step_id="s",
        correctness=0,
        usefulness=None,
        safety=None,
        follows=directives.Recovery.CONTINUE,
    )
    told = sent(judged).step_judged
    assert [told.HasField("correctness"), told.HasField("usefulness")] == [True, False]


@pytest.mark.parametrize("purpose", messages.Purpose)
def test_each_purpose_has_its_word(purpose: messages.Purpose) -> None:
    started = events.ModelCallStarted(
        task_id=T, call_id=CALL, role=messages.Role.THINKER, attempt=1, purpose=purpose
    )
    assert sent(started).model_call_started.purpose == purpose.value


def test_steering_goes_there_and_back() -> None:
    for steers in (True, False):
        assert convert.steers(convert.steering(steers)) is steers
    assert convert.steers(common_pb2.STEERING_UNSPECIFIED) is None
