"""A task's model calls: what one is told, and what follows from its reply or its fault."""

from typing import assert_never

import pydantic

from daemon.decide import (
    asking,
    calls,
    context,
    critic,
    endings,
    engine,
    parse,
    planning,
    retry,
    router,
    runs,
    schemas,
    turn,
)
from daemon.domain import decisions, directives, events, ids, inputs, messages, state, world

_Purpose = messages.Purpose
_SILENT = "you thought and gave no answer"
_MOST_SILENCES = 3
_QUIET_AFTER = 2
"""Replies without words after which a reasoning model's thinking is turned off for the turn."""
_CUT = "\n\n[cut: it reached the limit of an answer]"
NOTHING_TO_COMPACT = "There is nothing to summarize yet."


def context_gathered(current: turn.Turn, task: world.Task, given: inputs.ContextGathered) -> None:
    """Start the model call that the context was gathered for."""
    wanted = asking.wanted(task)
    if task.model_call is not None or given.asked != asking.moment(task) or wanted is None:
        return
    if given.heard != asking.heard(task, wanted):
        asking.gather(current, task, wanted)  # a further message came meanwhile
        return
    task = current.taint(task, given.taint)
    system = current.kit(task).system_prompt
    prompt = current.rules.prompts[_Purpose.SUMMARIZE]
    if wanted.purpose is _Purpose.THINK and not task.summarized:
        told = context.to_summarize(system, given, prompt, forced=False)
    elif wanted.purpose is _Purpose.SUMMARIZE:
        told = context.to_summarize(system, given, prompt, forced=True)
        if told is None:
            endings.answer(current, task, NOTHING_TO_COMPACT)
            return
    else:
        told = None
    if told is not None:
        summary = asking.Wanted(_Purpose.SUMMARIZE)
        generation = _generation(current, task, summary)
        _call(current, task, summary, generation, told.messages, told.tokens, told.up_to_seq)
        return
    generation = _generation(current, task, wanted)
    tokens = context.answer_budget(
        given.context_tokens, generation.answer_tokens + generation.thinking_tokens
    )
    composed = context.compose(system, given, tokens, task.shrinks)
    if isinstance(composed, context.TooLong):
        tokens = context.least_answer(given.context_tokens, tokens)
        composed = context.compose(system, given, tokens, task.shrinks)
    if isinstance(composed, context.TooLong):
        reason = f"it needs {composed.needed} tokens of context, and the model has {composed.limit}"
        endings.end(current, task, state.TaskState.FAILED, reason)
        return
    _call(current, task, wanted, generation, composed, tokens)


def _generation(current: turn.Turn, task: world.Task, wanted: asking.Wanted) -> turn.Generation:
    """How a role generates now: longer after a reply that was cut, without thinking where it only
    serves the daemon or did not lead to words."""
    kept = current.kit(task).generation.get(wanted.role, turn.DEFAULT_GENERATION)
    answer_tokens = kept.answer_tokens or current.rules.limits.answer_tokens
    thinks = wanted.purpose not in asking.UTILITY and task.refusals < _QUIET_AFTER
    return turn.Generation(
        sampling=kept.sampling,
        answer_tokens=answer_tokens << min(task.cuts, 1),
        thinking_tokens=kept.thinking_tokens if thinks else 0,
    )


def _call(
    current: turn.Turn,
    task: world.Task,
    wanted: asking.Wanted,
    generation: turn.Generation,
    said: tuple[messages.Message, ...],
    tokens: int,
    up_to_seq: int = 0,
) -> None:
    call_id, role = current.ids.call(), wanted.role
    thinking = min(generation.thinking_tokens, max(tokens - generation.answer_tokens, tokens // 2))
    _begin(current, task, wanted, call_id, up_to_seq)
    schema = None
    if wanted.purpose is _Purpose.COMPILE:
        schema = current.kit(task).directive_schema or None
    elif wanted.purpose is _Purpose.CRITICIZE:
        schema = critic.SCHEMA
    current.act(
        decisions.CallModel(
            correlation_id=task.correlation_id,
            request=messages.ModelRequest(
                call_id=call_id,
                task_id=task.task_id,
                conversation_id=task.conversation_id,
                role=role,
                messages=said,
                sampling=generation.sampling,
                max_tokens=tokens - thinking,
                thinking_tokens=thinking,
                json_schema=schema,
                used_script_lines=tuple(line for one, line in task.script_lines if one is role),
            ),
        )
    )


def _begin(
    current: turn.Turn,
    task: world.Task,
    wanted: asking.Wanted,
    call_id: ids.CallId,
    up_to_seq: int = 0,
) -> world.Task:
    failed = task.failed_call
    if failed is not None and failed.purpose is not wanted.purpose:
        failed = None
    return current.emit(
        task,
        events.ModelCallStarted(
            task_id=task.task_id,
            call_id=call_id,
            role=wanted.role,
            attempt=failed.attempt + 1 if failed else 1,
            replaces=failed.call_id if failed else None,
            purpose=wanted.purpose,
            step_id=wanted.step_id,
            up_to_seq=up_to_seq,
            heard=asking.heard(task, wanted),
        ),
    )


def context_failed(current: turn.Turn, task: world.Task, given: inputs.ContextFailed) -> None:
    """The slot could not even count: that is a model call that failed, with the same ways on."""
    wanted = asking.wanted(task)
    if task.model_call is not None or given.asked != asking.moment(task) or wanted is None:
        return
    call_id = current.ids.call()
    task = _begin(current, task, wanted, call_id)
    fault = inputs.ModelFailed(
        task_id=task.task_id, call_id=call_id, kind=given.kind, message=given.message
    )
    failed(current, task, fault)


def finished(
    current: turn.Turn, task: world.Task, call: world.ModelCall, given: inputs.ModelFinished
) -> None:
    """A model has replied: note it, then do what it says."""
    result = given.result
    text = current.keep_of(task, result.text)
    task = current.emit(
        task,
        events.ModelCallFinished(
            task_id=task.task_id,
            call_id=given.call_id,
            text=text,
            finish_reason=result.finish_reason,
            slot=result.slot,
            usage=result.usage,
            script_line=result.script_line,
            reasoning=current.keep_of(task, result.reasoning) if result.reasoning else None,
        ),
    )
    if task.state is not state.TaskState.RUNNING:
        return
    match call.purpose:
        case _Purpose.THINK:
            _thought(current, task, call, result, text)
        case _Purpose.COMPILE:
            _compiled(current, task, call, result, text)
        case _Purpose.CODE:
            _coded(current, task, call, result)
        case _Purpose.WRITE:
            engine.proceed(current, task)
        case _Purpose.CRITICIZE:
            _criticized(current, task, call, result)
        case _Purpose.SUMMARIZE:
            _summarized(current, task, call, result, text)
        case _:
            assert_never(call.purpose)


def _thought(
    current: turn.Turn,
    task: world.Task,
    call: world.ModelCall,
    result: messages.ModelResult,
    text: ids.ContentId,
) -> None:
    if parse.is_action(result.text) and result.finish_reason == "length":
        _cut_off(current, task, call, text)
        return
    if not result.text.strip() and result.reasoning:
        router.refuse(current, task, call.call_id, text, _SILENT, _MOST_SILENCES)
        return
    wanted = parse.reply(result.text)
    if wanted is None and current.rules.compiles and current.kit(task).tools:
        engine.proceed(current, task)
        return
    if wanted is None:
        told = result.text.strip()
        if result.finish_reason == "length":
            told += _CUT
        wanted = directives.Respond(kind="respond", text="" if told == result.text else told)
    _take(current, task, call, text, wanted, events.DirectiveSource.THINKER, text)


def _compiled(
    current: turn.Turn,
    task: world.Task,
    call: world.ModelCall,
    result: messages.ModelResult,
    text: ids.ContentId,
) -> None:
    draft = task.draft
    if result.finish_reason == "length":
        _cut_off(current, task, call, text)
        return
    wanted: directives.Directive | parse.Malformed = directives.Respond(kind="respond", text="")
    if not schemas.without_text(result.text):
        wanted = parse.directive(result.text.strip())
    _take(current, task, call, text, wanted, events.DirectiveSource.COMPILER, draft)


def _take(
    current: turn.Turn,
    task: world.Task,
    call: world.ModelCall,
    text: ids.ContentId,
    wanted: directives.Directive | parse.Malformed,
    source: events.DirectiveSource,
    words: ids.ContentId | None,
) -> None:
    if isinstance(wanted, parse.Malformed):
        router.refuse(current, task, call.call_id, text, wanted.reason)
        return
    fault = router.fault(current, task, wanted)
    if fault:
        router.refuse(current, task, call.call_id, text, fault)
        return
    router.follow(current, task, wanted, source, words)


def _cut_off(
    current: turn.Turn, task: world.Task, call: world.ModelCall, text: ids.ContentId
) -> None:
    """An action that the limit cut is not bad format: it is asked for once more, and longer."""
    reason = "it was cut by the limit of its tokens"
    if task.cuts > 1:
        told = "what the model wants done is longer than an answer may be"
        endings.end(current, task, state.TaskState.FAILED, told)
        return
    task = current.emit(
        task,
        events.ReplyRefused(
            task_id=task.task_id, call_id=call.call_id, text=text, reason=reason, cut=True
        ),
    )
    engine.proceed(current, task)


def _coded(
    current: turn.Turn, task: world.Task, call: world.ModelCall, result: messages.ModelResult
) -> None:
    limit = current.rules.limits.task_tool_calls
    if len(task.calls) >= limit:
        reason = f"it used all of its {limit} tool calls"
        endings.end(current, task, state.TaskState.BUDGET_EXHAUSTED, reason)
        return
    given: dict[str, pydantic.JsonValue] = {"blocks": result.text}
    task = calls.propose(current, task, calls.EDITS, given, step_id=call.step_id)
    calls.inspect(current, task, task.calls[-1])
    engine.proceed(current, task)


def _criticized(
    current: turn.Turn, task: world.Task, call: world.ModelCall, result: messages.ModelResult
) -> None:
    if call.step_id is None:
        _reviewed(current, task, critic.read(result.text))
        return
    step = task.step(call.step_id)
    if step is not None and step.status is world.StepStatus.TRIED:
        said = critic.read(result.text)
        if said is None:
            task = planning.judged(current, task, step, planning.by_outcome(step), ())
        else:
            scores = (said.correctness, said.usefulness, said.safety)
            task = planning.judged(current, task, step, said.follows, scores, said.note)
    engine.proceed(current, task)


def _reviewed(current: turn.Turn, task: world.Task, said: directives.Criticism | None) -> None:
    """Give the answer that stands, or have a better one written, once."""
    if not asking.reviews(task):
        engine.proceed(current, task)
        return
    answer = task.said[-1].content
    again = said is not None and said.follows is directives.Recovery.RETRY and bool(said.note)
    task = current.emit(
        task,
        events.StepJudged(
            task_id=task.task_id,
            step_id=events.ANSWER,
            correctness=said.correctness if said is not None else None,
            usefulness=said.usefulness if said is not None else None,
            safety=said.safety if said is not None else None,
            follows=directives.Recovery.RETRY if again else directives.Recovery.CONTINUE,
            note=current.keep_of(task, said.note) if said is not None and said.note else None,
        ),
    )
    if again or answer is None:
        engine.proceed(current, task)
    else:
        endings.answer_kept(current, task, answer)


def _summarized(
    current: turn.Turn,
    task: world.Task,
    call: world.ModelCall,
    result: messages.ModelResult,
    text: ids.ContentId,
) -> None:
    if result.text.strip():
        compacted = events.ConversationCompacted(
            conversation_id=task.conversation_id, summary=text, up_to_seq=call.up_to_seq
        )
        task = current.emit(task, compacted)
    if task.kind is events.TaskKind.COMPACT:
        endings.answer_kept(current, task, text)
        return
    engine.proceed(current, task)


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
        retries = current.rules.limits.model_retries
        after = retry.after_fault(given.kind, faults, shrinks, retries)
        _go_on(current, task, after, given.message)


def _go_on(
    current: turn.Turn,
    task: world.Task,
    after: retry.AfterFault,
    message: str,
) -> None:
    match after:
        case retry.AfterFault.REPEAT | retry.AfterFault.SHRINK:
            engine.proceed(current, task)
        case retry.AfterFault.WAIT if calls.in_flight(task):
            pass  # it is asked for again when the first of them has ended
        case retry.AfterFault.WAIT:
            current.change_state(task, state.TaskState.MODEL_UNAVAILABLE, message)
            if task.run is not None:
                runs.remind(current, task.run.schedule_id)
        case retry.AfterFault.FAIL:
            endings.end(current, task, state.TaskState.FAILED, message)
        case other:
            assert_never(other)
