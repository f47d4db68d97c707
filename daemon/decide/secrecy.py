"""A secret that a call needs of a person: asked for, waited for, never seen here.

The secret itself goes from the RPC to the vault of the runtime and from there to the one run.
"""

from daemon.decide import endings, engine, turn
from daemon.domain import decisions, events, ids, state, world


def ask(current: turn.Turn, task: world.Task, call: world.ToolCall, what: str) -> None:
    """Have a person asked for the secret; the call waits, allowed and not started."""
    if task.secret_call not in (None, call.call_id):
        text = "Another call of this task waits for a password: try again after it."
        engine.refuse(current, task, call, text)
        return
    expires_ms = current.at_ms + current.rules.limits.secret_seconds * 1000
    task = current.emit(
        task,
        events.SecretRequested(
            task_id=task.task_id, call_id=call.call_id, what=what, expires_ms=expires_ms
        ),
    )
    current.act(decisions.ReleaseCall(call_id=call.call_id))
    current.act(expiry_timer(call.call_id, expires_ms))
    engine.proceed(current, task)


def expiry_timer(call_id: ids.CallId, expires_ms: int) -> decisions.SetTimer:
    """Reminds when nobody gave a secret in time."""
    return decisions.SetTimer(
        timer=decisions.TimerKind.SECRET_EXPIRY, subject=call_id, due_ms=expires_ms
    )


def timer(current: turn.Turn, subject: str) -> None:
    """The time for a secret may be over: then the call does not run, and the task ends."""
    waiting = (t for t in current.world.tasks.values() if t.secret_call == subject)
    task = next(waiting, None)
    if task is None or task.state in state.FINAL:
        return
    if current.at_ms < task.secret_expires_ms:
        current.act(expiry_timer(ids.CallId(subject), task.secret_expires_ms))
        return
    endings.end(current, task, state.TaskState.FAILED, "nobody gave the password in time")
