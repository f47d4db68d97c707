"""Tool calls as values: where one happens, how one is proposed, looked at and given its result.

Says nothing of what follows for the task: that is `engine`'s.
"""

import pydantic

from daemon.decide import arguments, endings, turn
from daemon.domain import decisions, directives, events, ids, verdicts, world
from tools import contract

EDITS = "apply_edits"
"""The tool that carries out what a coder writes."""
READS = "file_read"
SHELL = "shell_exec"
CONFIRMED = "The user confirms that this call happened."
_DENIED = "The user did not allow this call."


def site(current: turn.Turn, task: world.Task, call: world.ToolCall) -> decisions.CallSite:
    """A call with what surrounds it."""
    settings = current.world.setting(task.conversation_id)
    return decisions.CallSite(
        task_id=task.task_id,
        conversation_id=task.conversation_id,
        correlation_id=task.correlation_id,
        requester=task.origin.principal,
        call_id=call.call_id,
        tool=call.tool,
        arguments=call.arguments,
        read_only=settings.mode is verdicts.Mode.PLAN,
        folder=settings.folder,
    )


def propose(
    current: turn.Turn,
    task: world.Task,
    tool: str,
    given: dict[str, pydantic.JsonValue],
    direct: bool = False,
    step_id: str | None = None,
    words: ids.ContentId | None = None,
) -> world.Task:
    """Note that a call is wanted; `words` by which the thinker asked for it."""
    kept = current.keep_of(task, directives.arguments_json(given))
    return current.emit(
        task,
        events.ToolCallProposed(
            task_id=task.task_id,
            call_id=current.ids.call(),
            tool=tool,
            arguments=kept,
            direct=direct,
            fingerprint=arguments.fingerprint(tool, given),
            step_id=step_id,
            words=words,
        ),
    )


def propose_kept(
    current: turn.Turn, task: world.Task, given: ids.ContentId, fingerprint: str
) -> world.Task:
    """Note that a shell call is wanted whose arguments are kept already; its result answers."""
    return current.emit(
        task,
        events.ToolCallProposed(
            task_id=task.task_id,
            call_id=current.ids.call(),
            tool=SHELL,
            arguments=given,
            direct=True,
            fingerprint=fingerprint,
        ),
    )


def propose_planned(
    current: turn.Turn, task: world.Task, planned: events.PlannedStep
) -> world.Task:
    """Note that the call of a plan's tool step is wanted.

    Raises:
        ValueError: the step is none of a tool.
    """
    if planned.arguments is None:
        raise ValueError(f"step {planned.step_id} has no arguments")
    return current.emit(
        task,
        events.ToolCallProposed(
            task_id=task.task_id,
            call_id=current.ids.call(),
            tool=planned.tool,
            arguments=planned.arguments,
            fingerprint=planned.fingerprint,
            step_id=planned.step_id,
        ),
    )


def propose_again(current: turn.Turn, task: world.Task, call: world.ToolCall) -> world.Task:
    """Note that a person wants a call once more whose outcome nobody knows."""
    return current.emit(
        task,
        events.ToolCallProposed(
            task_id=task.task_id,
            call_id=current.ids.call(),
            tool=call.tool,
            arguments=call.arguments,
            direct=call.direct,
            repeats=call.call_id,
            fingerprint=call.fingerprint,
            step_id=call.step_id,
            words=call.words,
        ),
    )


def take_on(current: turn.Turn, task: world.Task, call: world.ToolCall) -> world.Task:
    """Let a call go on from where the log says it is, when nothing of it is in flight.

    One that was cut off goes on by its effect: what nobody can know is never run by itself.
    """
    if call.status is world.CallStatus.AWAITING_APPROVAL or is_waiting(task, call):
        return task
    if call.status is world.CallStatus.STARTED and call.effect is contract.Effect.UNSAFE:
        return lose_sight(current, task, call)
    if call.status is world.CallStatus.STARTED and call.effect is contract.Effect.RECONCILABLE:
        where = site(current, task, call)
        current.act(decisions.ReconcileCall(site=where, intent=call.intent))
        return task
    inspect(current, task, call)
    return task


def is_waiting(task: world.Task, call: world.ToolCall) -> bool:
    """Whether a call waits for a person: for a yes, or for a secret."""
    waits_for_yes = call.status is world.CallStatus.AWAITING_APPROVAL
    return waits_for_yes or task.secret_call == call.call_id


def in_flight(task: world.Task) -> tuple[world.ToolCall, ...]:
    """The open calls of a RUNNING task that are looked at or run now."""
    return tuple(call for call in task.open_calls() if not is_waiting(task, call))


def inspect(current: turn.Turn, task: world.Task, call: world.ToolCall) -> None:
    """Have a call looked at."""
    current.act(decisions.InspectCall(site=site(current, task, call)))


def lose_sight(current: turn.Turn, task: world.Task, call: world.ToolCall) -> world.Task:
    """Nobody knows whether an unsafe call happened: a person is asked, it never runs by itself."""
    outcome = events.CallOutcome.OUTCOME_UNKNOWN
    return endings.finish(current, task, call, outcome, endings.CUT_OFF)


def denied_text(reason: str) -> str:
    """What the model is told when a person said no."""
    return f"{_DENIED} Their reason: {reason}" if reason else _DENIED
