"""The tasks of the example's first conversation: what happened to them, event by event."""

from daemon.domain import events, ids, messages, principals, state, taints, verdicts
from tools import contract

T = state.TaskState
CHAT = ids.ConversationId("conversation-1")
DONE, ASKING, WAITING = ids.TaskId("task-1"), ids.TaskId("task-2"), ids.TaskId("task-3")
DIED, ANSWERED = ids.CallId("call-1"), ids.CallId("call-2")
SHELL, CARD_SHELL, SUDO = (ids.CallId(f"call-{number}") for number in (3, 4, 5))
SECRET = ids.TaskId("task-4")
WORKSHOP, GONE = (ids.ConversationId(f"conversation-{number}") for number in (2, 3))
PLANNED, UNDONE, HALFWAY = (ids.TaskId(f"task-{number}") for number in (5, 6, 7))
WRITTEN, FETCHED = ids.CallId("call-6"), ids.CallId("call-7")
USED, PENDING = ids.ApprovalId("approval-1"), ids.ApprovalId("approval-2")
ORIGIN = principals.Origin(
    principal=principals.Principal("telegram:bot:42"),
    channel="telegram",
    chat="-100",
    topic="7",
    message_id="12",
    reply_to="11",
    forwarded=True,
)
START_MS = 1_750_000_000_000


def text(name: str) -> ids.ContentId:
    return ids.ContentId(f"content-{name}")


def moved(task: ids.TaskId, previous: T, to: T, reason: str = "") -> events.Event:
    return events.TaskStateChanged(task_id=task, previous=previous, state=to, reason=reason)


def submitted(
    task: ids.TaskId, name: str, chat: ids.ConversationId = CHAT, note: str = "", skill: str = ""
) -> events.Event:
    artifact = ids.ArtifactId("ab" * 32)
    return events.TaskSubmitted(
        task_id=task,
        conversation_id=chat,
        origin=ORIGIN,
        text=text(name),
        attachments=(artifact,),
        note=note,
        skill=skill,
    )


def asked(task: ids.TaskId, approval: ids.ApprovalId, call: ids.CallId, card: str) -> events.Event:
    return events.ApprovalRequested(
        task_id=task,
        approval_id=approval,
        call_id=call,
        tool="shell_exec",
        digest="cd" * 32,
        card=text(card),
        reasons=("every command asks",),
        always_allowed=True,
        expires_ms=START_MS + 86_400_000,
    )


def inspected(task: ids.TaskId, call: ids.CallId) -> events.Event:
    return events.ToolCallInspected(
        task_id=task,
        call_id=call,
        effect=contract.Effect.UNSAFE,
        digest="cd" * 32,
        verdict=verdicts.Verdict.ASK,
        reasons=("every command asks",),
    )


def conversation() -> list[events.Event]:
    return [
        events.ConversationCreated(
            conversation_id=CHAT, principal=principals.LOCAL_OWNER, title=text("title")
        ),
        events.ConversationUpdated(conversation_id=CHAT, title=text("new-title")),
        submitted(DONE, "first"),
        moved(DONE, T.QUEUED, T.RUNNING),
    ]


def model_calls() -> list[events.Event]:
    return [
        events.ModelCallStarted(task_id=DONE, call_id=DIED, role=messages.Role.THINKER, attempt=1),
        events.ModelCallFailed(
            task_id=DONE,
            call_id=DIED,
            fault="died",
            message="The model's process ended by signal 9.",
            text=text("half"),
        ),
        events.ModelCallStarted(
            task_id=DONE, call_id=ANSWERED, role=messages.Role.THINKER, attempt=2, replaces=DIED
        ),
        events.ModelCallFinished(
            task_id=DONE,
            call_id=ANSWERED,
            text=text("directive"),
            finish_reason="stop",
            slot="main",
            usage=messages.Usage(
                prompt_tokens=90,
                reused_tokens=40,
                completion_tokens=12,
                queued_ms=1,
                prefill_ms=20,
                decode_ms=110,
            ),
            script_line=3,
        ),
    ]


def tool_call() -> list[events.Event]:
    """Approved, started, cut off by a crash, and marked as done by a person."""
    return [
        events.ToolCallProposed(
            task_id=DONE, call_id=SHELL, tool="shell_exec", arguments=text("arguments"), direct=True
        ),
        inspected(DONE, SHELL),
        asked(DONE, USED, SHELL, "card"),
        moved(DONE, T.RUNNING, T.AWAITING_APPROVAL, "shell_exec asks"),
        events.ApprovalResolved(
            task_id=DONE,
            approval_id=USED,
            call_id=SHELL,
            outcome=events.ApprovalOutcome.ALLOWED,
            decided_by=principals.LOCAL_OWNER,
        ),
        moved(DONE, T.AWAITING_APPROVAL, T.RUNNING),
        events.ToolCallStarted(
            task_id=DONE,
            call_id=SHELL,
            digest="cd" * 32,
            effect=contract.Effect.UNSAFE,
            attempt=1,
            intent="touch x",
            approval_id=USED,
        ),
        events.TaskRecovered(task_id=DONE, count=1),
        events.ToolCallEnded(
            task_id=DONE, call_id=SHELL, outcome=events.CallOutcome.OUTCOME_UNKNOWN
        ),
        moved(DONE, T.RUNNING, T.AWAITING_DECISION, "nobody saw its end"),
        events.TaskDecided(
            task_id=DONE,
            decision=events.Decision.MARK_DONE,
            principal=principals.LOCAL_OWNER,
            call_id=SHELL,
        ),
        events.ToolCallEnded(
            task_id=DONE,
            call_id=SHELL,
            outcome=events.CallOutcome.MARKED_DONE,
            result=text("result"),
            exit_code=0,
            artifact=ids.ArtifactId("ef" * 32),
            duration_ms=1234,
        ),
        moved(DONE, T.AWAITING_DECISION, T.RUNNING),
        events.AnswerGiven(task_id=DONE, text=text("answer")),
        moved(DONE, T.RUNNING, T.COMPLETED),
    ]


def left_alive() -> list[events.Event]:
    """One task that waits for an answer, and one behind it."""
    return [
        submitted(ASKING, "second"),
        moved(ASKING, T.QUEUED, T.RUNNING),
        events.ToolCallProposed(
            task_id=ASKING, call_id=CARD_SHELL, tool="shell_exec", arguments=text("arguments-2")
        ),
        inspected(ASKING, CARD_SHELL),
        asked(ASKING, PENDING, CARD_SHELL, "card-2"),
        moved(ASKING, T.RUNNING, T.AWAITING_APPROVAL, "shell_exec asks"),
        submitted(WAITING, "third"),
    ]


def permission() -> list[events.Event]:
    """Modes, taint, a grant of two, and a call that waits for its secret."""
    web = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org/ü"),)
    many = (*web, taints.Source(kind=taints.Kind.FORWARDED, source_id="12"))
    kept, gone = ids.GrantId("grant-1"), ids.GrantId("grant-2")
    return [
        events.ConversationUpdated(conversation_id=CHAT, mode=verdicts.Mode.YOLO),
        granted(kept, "11" * 32),
        granted(gone, "22" * 32),
        events.GrantRevoked(grant_id=gone, principal=principals.LOCAL_OWNER),
        events.ProjectTainted(folder="/old", sources=web),
        events.ProjectTrusted(folder="/old", principal=principals.LOCAL_OWNER),
        submitted(SECRET, "fourth"),
        events.TaskTainted(task_id=SECRET, sources=many),
        moved(SECRET, T.QUEUED, T.RUNNING),
        events.ToolCallProposed(
            task_id=SECRET, call_id=SUDO, tool="shell_exec", arguments=text("arguments-3")
        ),
        inspected(SECRET, SUDO),
        events.ProjectTainted(folder="/project", sources=many),
        events.SecretRequested(
            task_id=SECRET,
            call_id=SUDO,
            what="the password for sudo",
            expires_ms=START_MS + 600_000,
        ),
        moved(SECRET, T.RUNNING, T.AWAITING_SECRET),
        events.SecretProvided(
            task_id=SECRET, call_id=SUDO, principal=principals.Principal("telegram:bot:42")
        ),
        moved(SECRET, T.AWAITING_SECRET, T.RUNNING),
        events.ToolCallStarted(
            task_id=SECRET,
            call_id=SUDO,
            digest="cd" * 32,
            effect=contract.Effect.UNSAFE,
            attempt=1,
            grant_id=kept,
            basis=verdicts.Basis.GRANT,
        ),
    ]


def granted(grant_id: ids.GrantId, key: str) -> events.Event:
    return events.GrantCreated(
        grant_id=grant_id,
        key=key,
        tool="shell_exec",
        principal=ORIGIN.principal,
        folder="/project",
        card=text("card"),
        granted_by=principals.LOCAL_OWNER,
        expires_ms=START_MS + 86_400_000,
        uses=2,
    )
