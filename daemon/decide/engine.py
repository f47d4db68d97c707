"""How a running task goes on, and a tool call's way: prepare, execute, finalize.

Nothing runs here. `proceed` is where every outcome leads: it lets what waits for nothing begin, and
says what the task is when all of it waits. Every call ends in one result.
"""

from typing import assert_never

from daemon.decide import asking, calls, endings, planning, turn
from daemon.domain import decisions, events, inputs, state, world
from tools import contract

_FINISHED = (events.CallOutcome.FINISHED, events.CallOutcome.MARKED_DONE)


def resume(current: turn.Turn, task: world.Task) -> None:
    """Let a task that has become RUNNING go on. Nothing of it may be in flight."""
    for call in task.open_calls():
        task = calls.take_on(current, task, call)
    proceed(current, task)


def proceed(current: turn.Turn, task: world.Task) -> None:
    """Let a RUNNING task go on after something of it has ended."""
    if task.state is state.TaskState.RUNNING and task.follows_plan and task.draft is None:
        task = planning.advance(current, task)
    if task.state is not state.TaskState.RUNNING or task.model_call is not None:
        return
    next_call = asking.wanted(task)
    if task.follows_plan and next_call is not None:
        asking.gather(current, task, next_call)
        return
    if calls.in_flight(task):
        return
    if task.open_calls():
        _wait(current, task)
        return
    unknown = task.unknown_calls()
    if unknown:
        reason = f"the outcome of a {unknown[-1].tool} call is unknown"
        current.change_state(task, state.TaskState.AWAITING_DECISION, reason)
        return
    last = task.calls[-1] if task.calls else None
    if last is not None and last.direct:
        _answer_directly(current, task, last)
        return
    _think(current, task, next_call)


def _wait(current: turn.Turn, task: world.Task) -> None:
    """All that is left waits for a person."""
    asked = any(c.status is world.CallStatus.AWAITING_APPROVAL for c in task.open_calls())
    awaiting = state.TaskState.AWAITING_APPROVAL if asked else state.TaskState.AWAITING_SECRET
    current.change_state(task, awaiting)


def _think(current: turn.Turn, task: world.Task, call: asking.Wanted | None) -> None:
    if call is None:
        raise ValueError(f"{task.task_id} has nothing to do and nothing to wait for")
    rounds = current.rules.limits.task_rounds
    if task.rounds >= rounds and task.failed_call is None and task.draft is None:
        reason = f"it used all of its {rounds} rounds"
        endings.end(current, task, state.TaskState.BUDGET_EXHAUSTED, reason)
        return
    asking.gather(current, task, call)


def _answer_directly(current: turn.Turn, task: world.Task, call: world.ToolCall) -> None:
    if call.result is not None:
        given = events.AnswerGiven(task_id=task.task_id, text=call.result)
        task = current.emit(task, given)
    if call.outcome in _FINISHED:
        current.change_state(task, state.TaskState.COMPLETED)
        return
    endings.end(current, task, state.TaskState.FAILED, f"the command's outcome is {call.outcome}")


def not_inspected(
    current: turn.Turn, task: world.Task, call: world.ToolCall, message: str, parks: bool
) -> None:
    """What the call names cannot be inspected: it fails, and the turn goes on with the reason.

    Without the project's folder nothing can: a call that is the last in flight waits as it is until
    a person says go on.
    """
    if parks and task.model_call is None and calls.in_flight(task) == (call,):
        current.change_state(task, state.TaskState.PARKED, message)
        return
    if call.status is not world.CallStatus.STARTED:
        refuse(current, task, call, message)
        return
    task = endings.finish(current, task, call, events.CallOutcome.FAILED, message)
    proceed(current, task)


def refuse(current: turn.Turn, task: world.Task, call: world.ToolCall, reason: str) -> None:
    """Refuse a call that was not started; the turn goes on with the reason."""
    current.act(decisions.ReleaseCall(call_id=call.call_id))
    task = endings.finish(current, task, call, events.CallOutcome.REFUSED, reason)
    proceed(current, task)


def ended(
    current: turn.Turn,
    task: world.Task,
    call: world.ToolCall,
    given: inputs.ToolFinished | inputs.ToolStopped,
) -> None:
    """A started call came to its end; a task that has ended meanwhile only notes it."""
    if isinstance(given, inputs.ToolFinished):
        outcome, text = events.CallOutcome.FINISHED, given.result.text
        exit_code, artifact = given.result.exit_code, given.artifact
        if given.result.failed:
            outcome = events.CallOutcome.FAILED
    else:
        outcome, text, exit_code, artifact = given.outcome, given.message, None, None
    task = endings.finish(
        current, task, call, outcome, text, exit_code, artifact, given.duration_ms, given.change
    )
    proceed(current, task)


def reconciled(
    current: turn.Turn, task: world.Task, call: world.ToolCall, found: contract.Reconciled
) -> None:
    """Go on with a call whose effect was looked for after a restart."""
    match found:
        case contract.Reconciled.DONE:
            text = "Done before the daemon stopped."
            task = endings.finish(current, task, call, events.CallOutcome.FINISHED, text)
            proceed(current, task)
        case contract.Reconciled.NOT_DONE:
            calls.inspect(current, task, call)
        case contract.Reconciled.UNKNOWN:
            proceed(current, calls.lose_sight(current, task, call))
        case _:
            assert_never(found)
