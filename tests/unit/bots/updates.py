"""Updates as the daemon sends them, for one task in one conversation."""

from proto.ducklm.v1 import common_pb2, events_pb2

TASK = "task-1"
CONVERSATION = "conversation-1"


def update(seq: int, event: events_pb2.Event) -> events_pb2.Update:
    event.seq = seq
    event.task_id = TASK
    event.conversation_id = CONVERSATION
    return events_pb2.Update(event=event)


def submitted(seq: int, text: str = "hello") -> events_pb2.Update:
    submitted_event = events_pb2.TaskSubmitted(text=text)
    return update(seq, events_pb2.Event(task_submitted=submitted_event))


def state(seq: int, to: common_pb2.TaskState.ValueType, reason: str = "") -> events_pb2.Update:
    change = events_pb2.TaskStateChanged(to=to, reason=reason)
    return update(seq, events_pb2.Event(task_state_changed=change))


def call_started(
    seq: int,
    call_id: str = "call-1",
    replaces: str = "",
    role: str = "thinker",
    purpose: str = "",
    step_id: str = "",
) -> events_pb2.Update:
    started = events_pb2.ModelCallStarted(
        call_id=call_id, role=role, replaces_call_id=replaces, purpose=purpose, step_id=step_id
    )
    return update(seq, events_pb2.Event(model_call_started=started))


def call_finished(
    seq: int, text: str, call_id: str = "call-1", finish: str = "stop", reasoning: str = ""
) -> events_pb2.Update:
    finished = events_pb2.ModelCallFinished(
        call_id=call_id, text=text, finish_reason=finish, reasoning=reasoning
    )
    return update(seq, events_pb2.Event(model_call_finished=finished))


def call_failed(
    seq: int, text: str = "", call_id: str = "call-1", fault: str = "died", message: str = ""
) -> events_pb2.Update:
    failed = events_pb2.ModelCallFailed(call_id=call_id, text=text, fault=fault, message=message)
    return update(seq, events_pb2.Event(model_call_failed=failed))


def directed(seq: int, kind: str, source: str = "thinker") -> events_pb2.Update:
    taken = events_pb2.DirectiveTaken(kind=kind, source=source)
    return update(seq, events_pb2.Event(directive_taken=taken))


def planned(seq: int, *steps: tuple[str, str, str]) -> events_pb2.Update:
    """A plan of steps: id, kind, and the ids of those before with commas between."""
    made = [
        events_pb2.PlannedStep(
            step_id=step_id,
            goal=f"goal of {step_id}",
            kind=kind,
            after=after.split(",") if after else (),
        )
        for step_id, kind, after in steps
    ]
    return update(seq, events_pb2.Event(plan_made=events_pb2.PlanMade(steps=made)))


def step_started(seq: int, step_id: str, attempt: int = 1) -> events_pb2.Update:
    started = events_pb2.StepStarted(step_id=step_id, attempt=attempt)
    return update(seq, events_pb2.Event(step_started=started))


def step_judged(
    seq: int, step_id: str, follows: str, correctness: int | None = None, note: str = ""
) -> events_pb2.Update:
    judged = events_pb2.StepJudged(
        step_id=step_id, follows=follows, correctness=correctness, safety=10, note=note
    )
    return update(seq, events_pb2.Event(step_judged=judged))


def step_ended(seq: int, step_id: str, outcome: str = "done") -> events_pb2.Update:
    ended = events_pb2.StepEnded(step_id=step_id, outcome=outcome)
    return update(seq, events_pb2.Event(step_ended=ended))


def reverted(seq: int, fault: str = "") -> events_pb2.Update:
    return update(seq, events_pb2.Event(project_reverted=events_pb2.ProjectReverted(fault=fault)))


def answered(seq: int, text: str) -> events_pb2.Update:
    return update(seq, events_pb2.Event(answer_given=events_pb2.AnswerGiven(text=text)))


def tool_proposed(
    seq: int,
    arguments_json: str = '{"command":"ls"}',
    call_id: str = "tool-1",
    tool: str = "shell_exec",
) -> events_pb2.Update:
    proposed = events_pb2.ToolCallProposed(
        call_id=call_id, tool=tool, arguments_json=arguments_json
    )
    return update(seq, events_pb2.Event(tool_call_proposed=proposed))


def tool_started(
    seq: int, call_id: str = "tool-1", attempt: int = 1, basis: str = ""
) -> events_pb2.Update:
    started = events_pb2.ToolCallStarted(call_id=call_id, attempt=attempt, basis=basis)
    return update(seq, events_pb2.Event(tool_call_started=started))


def tool_ended(
    seq: int,
    text: str = "",
    exit_code: int | None = 0,
    outcome: events_pb2.ToolCallEnded.Outcome.ValueType = events_pb2.ToolCallEnded.FINISHED,
    call_id: str = "tool-1",
    diff: str = "",
) -> events_pb2.Update:
    ended = events_pb2.ToolCallEnded(
        call_id=call_id,
        outcome=outcome,
        text=text,
        exit_code=exit_code,
        duration_ms=1500,
        files=["a.py"] if diff else (),
        diff=diff,
    )
    return update(seq, events_pb2.Event(tool_call_ended=ended))


def approval_requested(
    seq: int, card: str = "rm -r build", always: bool = False, approval_id: str = "approval-1"
) -> events_pb2.Update:
    requested = events_pb2.ApprovalRequested(
        approval_id=approval_id,
        call_id="tool-1",
        tool="shell_exec",
        card=card,
        reasons=["every command asks"],
        always_allowed=always,
    )
    return update(seq, events_pb2.Event(approval_requested=requested))


def approval_resolved(
    seq: int, outcome: str = "allowed", by: str = "local:owner", approval_id: str = "approval-1"
) -> events_pb2.Update:
    resolved = events_pb2.ApprovalResolved(
        approval_id=approval_id, call_id="tool-1", outcome=outcome, decided_by=by
    )
    return update(seq, events_pb2.Event(approval_resolved=resolved))


def tainted(seq: int, *sources: tuple[str, str]) -> events_pb2.Update:
    named = [common_pb2.TaintSource(kind=kind, source_id=which) for kind, which in sources]
    return update(seq, events_pb2.Event(task_tainted=events_pb2.TaskTainted(sources=named)))


def secret_requested(seq: int, what: str = "the password for sudo") -> events_pb2.Update:
    requested = events_pb2.SecretRequested(call_id="tool-1", what=what)
    return update(seq, events_pb2.Event(secret_requested=requested))


def live(
    offset: int,
    text: str,
    call_id: str = "call-1",
    tool: bool = False,
    thinking: bool = False,
    purpose: str = "",
) -> events_pb2.Update:
    piece = events_pb2.LiveText(
        task_id=TASK,
        call_id=call_id,
        offset=offset,
        text=text,
        tool=tool,
        thinking=thinking,
        purpose=purpose,
    )
    return events_pb2.Update(live=piece)


def progress(
    stage: events_pb2.Progress.Stage.ValueType, done: int = 0, total: int = 0, elapsed_ms: int = 0
) -> events_pb2.Update:
    return events_pb2.Update(
        progress=events_pb2.Progress(
            task_id=TASK,
            call_id="call-1",
            stage=stage,
            done=done,
            total=total,
            elapsed_ms=elapsed_ms,
        )
    )
