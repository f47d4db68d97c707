"""Events, actions and replies as the short lines that tables of cases are written in."""

from typing import assert_never

from daemon.domain import decisions, events, messages, taints


def event(given: events.Event) -> str:
    """An event's name with what tells it from others of its kind."""
    match given:
        case events.TaskStateChanged():
            return f"now {given.state}"
        case events.TaskRecovered():
            return f"recovered {given.count}"
        case events.TaskDecided():
            return f"decided {given.decision}"
        case events.ModelCallStarted():
            purpose = "" if given.purpose is messages.Purpose.THINK else f" to {given.purpose}"
            return f"model started {given.attempt}{purpose}"
        case events.ModelCallFinished():
            return "model finished"
        case events.ModelCallFailed():
            return f"model failed {given.fault}"
        case events.ToolCallProposed():
            return f"proposed {given.tool}"
        case events.ToolCallInspected():
            return f"inspected {given.verdict}"
        case events.ApprovalRequested():
            return "approval requested"
        case events.ApprovalResolved():
            return f"approval {given.outcome}"
        case events.ToolCallStarted():
            return f"tool started {given.attempt}"
        case events.ToolCallEnded():
            return f"tool ended {given.outcome}"
        case events.TaskSubmitted():
            return "submitted"
        case events.AnswerGiven():
            return "answered"
        case events.ConversationCreated():
            return "conversation created"
        case events.ConversationUpdated():
            return "conversation updated"
        case events.TaskTainted():
            return f"tainted {taints.tell(given.sources)}"
        case events.ProjectTainted():
            return f"project tainted {taints.tell(given.sources)}"
        case events.ProjectTrusted():
            return "project trusted"
        case events.GrantCreated():
            return "granted"
        case events.GrantRevoked():
            return "grant revoked"
        case events.SecretRequested():
            return f"secret requested: {given.what}"
        case events.SecretProvided():
            return "secret provided"
        case _:
            return later(given)


def later(
    given: events.DirectiveTaken
    | events.ReplyRefused
    | events.PlanMade
    | events.StepStarted
    | events.StepJudged
    | events.StepEnded
    | events.TaskSteered
    | events.ConversationDeleted
    | events.ConversationCompacted
    | events.ExchangeUndone
    | events.ProjectReverted
    | events.FeedbackGiven
    | events.DeliveryReported
    | events.NoticePosted
    | events.ChatMoved
    | events.PairingRequested
    | events.PairingDecided
    | events.ScheduleSet
    | events.ScheduleRemoved
    | events.ScheduleRunQueued
    | events.ScheduleRunStarted
    | events.ScheduleRunsLeftOut
    | events.ScheduleRunEnded,
) -> str:
    """An event of thinking, of a conversation or of a chat."""
    match given:
        case events.DirectiveTaken():
            return f"directive {given.kind}"
        case events.ReplyRefused():
            return "reply cut" if given.cut else "reply refused"
        case events.PlanMade():
            return f"plan {' '.join(step.step_id for step in given.steps)}"
        case events.StepStarted():
            return f"step {given.step_id} started {given.attempt}"
        case events.StepJudged():
            return f"step {given.step_id} judged {given.follows}"
        case events.StepEnded():
            return f"step {given.step_id} {given.outcome}"
        case events.TaskSteered():
            return "steered"
        case (
            events.ConversationDeleted()
            | events.ConversationCompacted()
            | events.ExchangeUndone()
            | events.ProjectReverted()
            | events.FeedbackGiven()
        ):
            return conversation(given)
        case (
            events.DeliveryReported()
            | events.NoticePosted()
            | events.ChatMoved()
            | events.PairingRequested()
            | events.PairingDecided()
        ):
            return channel(given)
        case _:
            return schedule(given)


def schedule(
    given: events.ScheduleSet
    | events.ScheduleRemoved
    | events.ScheduleRunQueued
    | events.ScheduleRunStarted
    | events.ScheduleRunsLeftOut
    | events.ScheduleRunEnded,
) -> str:
    """An event of a schedule or of one of its runs."""
    match given:
        case events.ScheduleSet():
            return "schedule paused" if given.schedule.paused else "schedule set"
        case events.ScheduleRemoved():
            return "schedule over" if given.by is None else "schedule deleted"
        case events.ScheduleRunQueued():
            return f"run of {given.due_ms} queued"
        case events.ScheduleRunStarted():
            what = "by hand" if given.by_hand else f"of {given.due_ms}"
            return f"run {what} started {given.attempt}"
        case events.ScheduleRunsLeftOut():
            return f"runs {' '.join(map(str, given.due_ms))} left out: {given.why}"
        case events.ScheduleRunEnded():
            told = ", told" if given.told else ""
            again = "" if given.again_ms is None else f", again at {given.again_ms}"
            return f"run {given.outcome}{told}{again}"
        case _:
            assert_never(given)


def channel(
    given: events.DeliveryReported
    | events.NoticePosted
    | events.ChatMoved
    | events.PairingRequested
    | events.PairingDecided,
) -> str:
    """An event of a bot's chat."""
    match given:
        case events.DeliveryReported():
            return f"reported {given.state} {given.revision}"
        case events.NoticePosted():
            return "posted"
        case events.ChatMoved():
            return f"chat moved to {given.to}"
        case events.PairingRequested():
            return "pairing requested"
        case events.PairingDecided():
            return "let in" if given.allowed else "not let in"
        case _:
            assert_never(given)


def conversation(
    given: events.ConversationDeleted
    | events.ConversationCompacted
    | events.ExchangeUndone
    | events.ProjectReverted
    | events.FeedbackGiven,
) -> str:
    """An event of a conversation as a whole."""
    match given:
        case events.ConversationDeleted():
            return "conversation deleted"
        case events.ConversationCompacted():
            return f"compacted up to {given.up_to_seq}"
        case events.ExchangeUndone():
            return "exchange undone"
        case events.ProjectReverted():
            return "project not reverted" if given.fault else "project reverted"
        case events.FeedbackGiven():
            return f"feedback {'good' if given.good else 'bad'}"
        case _:
            assert_never(given)


def action(given: decisions.Action) -> str:
    """An action's kind; of a timer what it reminds of."""
    if isinstance(given, decisions.SetTimer):
        return f"timer {given.timer}"
    return given.kind.replace("_", " ")


def reply(given: decisions.Reply | decisions.Rejected | None) -> str:
    """Which answer the caller gets; of a refusal why."""
    if given is None:
        return ""
    if isinstance(given, decisions.Rejected):
        return f"refused {given.refusal}"
    return given.kind
