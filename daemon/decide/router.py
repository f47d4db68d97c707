"""What a task does next, once it is said: answers, calls a tool, follows a plan, or gives up.

A directive that cannot be carried out as it stands is refused: the model is told why once, and the
second time in a row ends the turn. Nothing of a refused one runs.
"""

from typing import assert_never

from daemon.decide import arguments, calls, endings, engine, planning, turn
from daemon.domain import directives, events, ids, state, world

_MOST_REFUSALS = 2
_CODER_STEP = "edit"
_NO_CODER = "there is no coder here: use the tools"
_FAILED = (events.CallOutcome.FAILED, events.CallOutcome.REFUSED)


def fault(current: turn.Turn, task: world.Task, wanted: directives.Directive) -> str:
    """Why a directive cannot be carried out, in a clause; empty when it can."""
    kit = current.kit(task)
    tools = dict(kit.tools)
    match wanted:
        case directives.UseTool():
            return arguments.tool_fault(tools, wanted)
        case directives.Plan():
            if not kit.codes and any(step.kind == "coder" for step in wanted.steps):
                return _NO_CODER
            return planning.fault(tools, wanted)
        case directives.Coder():
            return "" if kit.codes else _NO_CODER
        case directives.Respond() | directives.Fail():
            return ""
        case _:
            assert_never(wanted)


def refuse(
    current: turn.Turn,
    task: world.Task,
    call_id: ids.CallId,
    text: ids.ContentId,
    reason: str,
    most: int = _MOST_REFUSALS,
) -> None:
    """Tell the model once why its reply is not used; the next in a row ends the turn."""
    task = current.emit(
        task,
        events.ReplyRefused(task_id=task.task_id, call_id=call_id, text=text, reason=reason),
    )
    if task.refusals >= most:
        told = f"the model's directive is not valid: {reason}"
        endings.end(current, task, state.TaskState.MODEL_PROTOCOL_ERROR, told)
        return
    engine.proceed(current, task)


def follow(
    current: turn.Turn,
    task: world.Task,
    wanted: directives.Directive,
    source: events.DirectiveSource,
    words: ids.ContentId | None = None,
) -> None:
    """Carry out a directive that has no fault; `words` are the thinker's as they are kept: the
    answer, where a respond directive has no text of its own, or how it asked."""
    said: ids.ContentId | None = None
    if isinstance(wanted, directives.Respond):
        kept = words is not None and not wanted.text
        said = words if kept else current.keep_of(task, wanted.text)
    reviewed = not current.rules.reviews or task.reviewed
    goes_on = said is not None and (bool(task.steered) or not reviewed)
    taken = events.DirectiveTaken(
        task_id=task.task_id, kind=wanted.kind, source=source, words=said if goes_on else None
    )
    task = current.emit(task, taken)
    match wanted:
        case directives.Respond():
            if goes_on or said is None:
                engine.proceed(current, task)  # the user has said more, or a review is due
            else:
                endings.answer_kept(current, task, said)
        case directives.UseTool():
            _use_tool(current, task, wanted, words)
        case directives.Plan():
            text = _told(current, task, wanted, source, words)
            engine.proceed(current, planning.make(current, task, text, wanted.steps))
        case directives.Coder():
            text = _told(current, task, wanted, source, words)
            steps = (_coder_step(wanted),)
            engine.proceed(current, planning.make(current, task, text, steps))
        case directives.Fail():
            endings.give_up(current, task, wanted.reason, "the model could not do it")
        case _:
            assert_never(wanted)


def _told(
    current: turn.Turn,
    task: world.Task,
    wanted: directives.Plan | directives.Coder,
    source: events.DirectiveSource,
    words: ids.ContentId | None,
) -> ids.ContentId:
    """A plan as models are told it: with the ids of its steps, which free words lack."""
    if words is not None and source is events.DirectiveSource.THINKER:
        return words
    return current.keep_of(task, wanted.model_dump_json())


def _coder_step(wanted: directives.Coder) -> directives.PlanStep:
    return directives.PlanStep(
        id=_CODER_STEP,
        goal=wanted.instruction,
        kind="coder",
        arguments={"files": list(wanted.files)},
    )


def _use_tool(
    current: turn.Turn,
    task: world.Task,
    wanted: directives.UseTool,
    words: ids.ContentId | None,
) -> None:
    limit = current.rules.limits.task_tool_calls
    if len(task.calls) >= limit:
        reason = f"it used all of its {limit} tool calls"
        endings.end(current, task, state.TaskState.BUDGET_EXHAUSTED, reason)
        return
    given = arguments.named(current.rules.tools[wanted.tool], wanted.arguments)
    last = task.calls[-1] if task.calls else None
    failed = last if last is not None and last.outcome in _FAILED else None
    if failed is not None and failed.fingerprint == arguments.fingerprint(wanted.tool, given):
        reason = f"the model asked again for a {wanted.tool} call that had just failed"
        endings.end(current, task, state.TaskState.FAILED, reason)
        return
    task = calls.propose(current, task, wanted.tool, given, words=words)
    calls.inspect(current, task, task.calls[-1])
