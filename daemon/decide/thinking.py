"""A turn's model calls: what one is told, and what follows from its reply or its fault.

One model answers; a reply that is a valid directive is carried out and the turn goes on until it
responds. The two-role router takes this module's place of decision later, not its contracts.
"""

from typing import assert_never

from daemon.decide import context, endings, engine, parse, retry, turn
from daemon.domain import decisions, directives, events, ids, inputs, messages, state, world

_ROLE = messages.Role.THINKER


def context_gathered(current: turn.Turn, task: world.Task, given: inputs.ContextGathered) -> None:
    """Start the model call that the context was gathered for."""
    if task.model_call is not None or task.open_call() is not None:
        return
    task = current.taint(task, given.taint)
    limits = current.rules.limits
    answer_tokens = context.answer_budget(given.context_tokens, limits.answer_tokens)
    said = context.compose(current.rules.system_prompt, given, answer_tokens, task.shrinks)
    call_id = current.ids.call()
    _begin(current, task, call_id)
    current.act(
        decisions.CallModel(
            correlation_id=task.correlation_id,
            request=messages.ModelRequest(
                call_id=call_id,
                task_id=task.task_id,
                conversation_id=task.conversation_id,
                role=_ROLE,
                messages=said,
                max_tokens=answer_tokens,
                used_script_lines=tuple(line for role, line in task.script_lines if role is _ROLE),
            ),
        )
    )


def _begin(current: turn.Turn, task: world.Task, call_id: ids.CallId) -> world.Task:
    failed = task.failed_call
    return current.emit(
        task,
        events.ModelCallStarted(
            task_id=task.task_id,
            call_id=call_id,
            role=_ROLE,
            attempt=failed.attempt + 1 if failed else 1,
            replaces=failed.call_id if failed else None,
        ),
    )


def context_failed(current: turn.Turn, task: world.Task, given: inputs.ContextFailed) -> None:
    """The slot could not even count: that is a model call that failed, with the same ways on."""
    if task.model_call is not None or task.open_call() is not None:
        return
    call_id = current.ids.call()
    task = _begin(current, task, call_id)
    fault = inputs.ModelFailed(
        task_id=task.task_id, call_id=call_id, kind=given.kind, message=given.message
    )
    failed(current, task, fault)


def finished(current: turn.Turn, task: world.Task, given: inputs.ModelFinished) -> None:
    """A model has replied: note it, then do what it says."""
    result = given.result
    task = current.emit(
        task,
        events.ModelCallFinished(
            task_id=task.task_id,
            call_id=given.call_id,
            text=current.keep_of(task, result.text),
            finish_reason=result.finish_reason,
            slot=result.slot,
            usage=result.usage,
            script_line=result.script_line,
        ),
    )
    if task.state is state.TaskState.RUNNING:
        _follow(current, task, parse.reply(result.text))


def _follow(
    current: turn.Turn, task: world.Task, wanted: directives.Directive | parse.Malformed
) -> None:
    match wanted:
        case directives.Respond():
            endings.answer(current, task, wanted.text)
        case directives.UseTool():
            _use_tool(current, task, wanted)
        case directives.Fail():
            reason = "the model could not do it"
            endings.give_up(current, task, wanted.reason, reason)
        case directives.Plan() | directives.Coder():
            reason = f"this version cannot carry out a directive of kind {wanted.kind}"
            endings.end(current, task, state.TaskState.FAILED, reason)
        case parse.Malformed():
            reason = f"the model's directive is not valid: {wanted.reason}"
            endings.end(current, task, state.TaskState.MODEL_PROTOCOL_ERROR, reason)
        case _:
            assert_never(wanted)


def _use_tool(current: turn.Turn, task: world.Task, wanted: directives.UseTool) -> None:
    limit = current.rules.limits.task_tool_calls
    if len(task.calls) >= limit:
        reason = f"it used all of its {limit} tool calls"
        endings.end(current, task, state.TaskState.BUDGET_EXHAUSTED, reason)
        return
    arguments = directives.arguments_json(wanted.arguments)
    task = engine.propose(current, task, wanted.tool, arguments, direct=False)
    if wanted.tool in current.rules.tools:
        engine.proceed(current, task)
        return
    known = ", ".join(sorted(current.rules.tools)) or "none"
    refused = f"Refused: there is no tool {wanted.tool}; the tools are: {known}."
    engine.refuse(current, task, task.calls[-1], refused)


def failed(current: turn.Turn, task: world.Task, given: inputs.ModelFailed) -> None:
    """A model call gave no result: note it, then repeat, shrink, wait or fail."""
    fault: events.ModelCallFault = "cancelled" if given.cancelled else given.kind.value
    text = current.keep_of(task, given.text) if given.text else None
    faults, shrinks = task.model_faults, task.shrinks
    task = current.emit(
        task,
        events.ModelCallFailed(
            task_id=task.task_id,
            call_id=given.call_id,
            fault=fault,
            message=given.message,
            text=text,
        ),
    )
    if task.state is state.TaskState.RUNNING:
        after = retry.after_fault(given.kind, faults, shrinks)
        _go_on(current, task, after, given.message)


def _go_on(
    current: turn.Turn,
    task: world.Task,
    after: retry.AfterFault,
    message: str,
) -> None:
    match after:
        case retry.AfterFault.REPEAT | retry.AfterFault.SHRINK:
            engine.gather(current, task)
        case retry.AfterFault.WAIT:
            current.change_state(task, state.TaskState.MODEL_UNAVAILABLE, message)
        case retry.AfterFault.FAIL:
            endings.end(current, task, state.TaskState.FAILED, message)
        case other:
            assert_never(other)
