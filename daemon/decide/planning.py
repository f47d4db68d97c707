"""A plan as it is carried out: which steps begin, what is tried, and what follows from it.

A step is tried by one tool call, or by what a model writes; a coder's words are carried out by a
tool call of their own. Each try is judged, by the critic or by its outcome alone, and then the step
is done, is tried again, or has failed; what needs a failed step is left out.
"""

from collections.abc import Sequence
from typing import assert_never

import pydantic

from daemon.decide import arguments, calls, endings, scheduler, turn
from daemon.domain import directives, events, ids, state, world
from tools import contract

_Status = world.StepStatus
_Recovery = directives.Recovery
_LEFT_OUT = "it needs a step that failed"
_NOT_FOLLOWED = "the plan was not followed to its end"


def planned(current: turn.Turn, task: world.Task, step: directives.PlanStep) -> events.PlannedStep:
    """A step as the log keeps it."""
    given: dict[str, pydantic.JsonValue] | None = step.arguments
    tool = step.tool or ""
    if given is not None and tool in current.rules.tools:
        given = arguments.named(current.rules.tools[tool], given)
    kept = None if given is None else current.keep_of(task, directives.arguments_json(given))
    return events.PlannedStep(
        step_id=step.id,
        goal=current.keep_of(task, step.goal),
        kind=step.kind,
        tool=tool,
        arguments=kept,
        fingerprint=arguments.fingerprint(tool, given) if given is not None and tool else "",
        after=step.after,
        files=_files(given) if step.kind == "coder" else (),
    )


def _files(given: dict[str, pydantic.JsonValue] | None) -> tuple[str, ...]:
    listed = (given or {}).get("files")
    return tuple(str(one) for one in listed) if isinstance(listed, list) else ()


def fault(tools: dict[str, contract.ToolSpec], plan: directives.Plan) -> str:
    """What is wrong with a plan, in a clause; empty when it can be followed."""
    wrong = scheduler.fault(plan.steps)
    if wrong:
        return wrong
    for step in plan.steps:
        if step.tool is None or step.arguments is None:
            continue
        call = directives.UseTool(kind="tool", tool=step.tool, arguments=step.arguments)
        wrong = arguments.tool_fault(tools, call)
        if wrong:
            return f"step {step.id}: {wrong}"
    return ""


def make(
    current: turn.Turn,
    task: world.Task,
    text: ids.ContentId,
    steps: Sequence[directives.PlanStep],
) -> world.Task:
    """Note the plan that a task follows from now on."""
    return current.emit(
        task,
        events.PlanMade(
            task_id=task.task_id,
            text=text,
            steps=tuple(planned(current, task, step) for step in steps),
        ),
    )


def advance(current: turn.Turn, task: world.Task) -> world.Task:
    """Judge what was tried, where no critic has to, and begin what may begin."""
    for step in task.plan:
        if step.status is _Status.TRIED and not _asks_critic(current, task, step):
            task = judged(current, task, step, by_outcome(step), ())
            if task.state is not state.TaskState.RUNNING:
                return task
    if task.plan_left:
        return _leave(current, task)
    while gone := scheduler.lost(task.plan):
        for step in gone:
            task = _end(current, task, step, events.StepOutcome.SKIPPED, _LEFT_OUT)
    for step in scheduler.startable(task.plan, current.rules.limits.parallel_steps):
        task = _begin(current, task, step)
        if task.state is not state.TaskState.RUNNING:
            return task
    if not task.follows_plan:
        return _answer(current, task)
    return task


def _asks_critic(current: turn.Turn, task: world.Task, step: world.Step) -> bool:
    """The critic looks at what was done; a call that was refused has its reason already."""
    wanted = current.kit(task).criticizes
    if wanted is None:
        wanted = current.rules.criticizes
    return wanted and step.planned.kind != "respond" and not step.unjudged


def by_outcome(step: world.Step) -> directives.Recovery:
    """What follows from a try by its outcome alone.

    A tool that was refused would be again; a coder can write something else.
    """
    if step.failed:
        again = not step.unjudged or step.planned.kind == "coder"
    else:
        again = step.exit_code not in (None, 0)
    return _Recovery.RETRY if again else _Recovery.CONTINUE


def _outcome(step: world.Step, is_criticized: bool) -> events.StepOutcome:
    """How a step ends that is not tried again. A command's exit code is only a hint (`grep` finds
    nothing with 1): where a critic has looked, its word goes before it."""
    hinted = step.exit_code not in (None, 0) and not is_criticized
    return events.StepOutcome.FAILED if step.failed or hinted else events.StepOutcome.DONE


def judged(
    current: turn.Turn,
    task: world.Task,
    step: world.Step,
    follows: directives.Recovery,
    scores: Sequence[int],
    note: str = "",
) -> world.Task:
    """Do what follows from a judgement, within the limit of tries; `proceed` goes on from there."""
    limit = current.rules.limits.step_attempts
    if follows is _Recovery.RETRY and step.attempts >= limit:
        follows = _Recovery.CONTINUE
    correctness, usefulness, safety = scores if scores else (None, None, None)
    task = current.emit(
        task,
        events.StepJudged(
            task_id=task.task_id,
            step_id=step.step_id,
            correctness=correctness,
            usefulness=usefulness,
            safety=safety,
            follows=follows,
            note=current.keep_of(task, note) if note else None,
        ),
    )
    match follows:
        case _Recovery.RETRY:
            return _begin(current, task, step)
        case _Recovery.CONTINUE | _Recovery.RESPOND:
            return _end(current, task, step, _outcome(step, bool(scores)))
        case _Recovery.FAIL:
            task = _end(current, task, step, events.StepOutcome.FAILED)
            reason = "a step of its plan failed"
            return endings.end(current, task, state.TaskState.FAILED, reason)
        case _:
            assert_never(follows)


def _begin(current: turn.Turn, task: world.Task, step: world.Step) -> world.Task:
    wants = 1 if step.planned.kind == "tool" else len(step.planned.files)
    limit = current.rules.limits.task_tool_calls
    if len(task.calls) + wants > limit:
        reason = f"it used all of its {limit} tool calls"
        return endings.end(current, task, state.TaskState.BUDGET_EXHAUSTED, reason)
    attempt = step.attempts + 1
    started = events.StepStarted(task_id=task.task_id, step_id=step.step_id, attempt=attempt)
    task = current.emit(task, started)
    if step.planned.kind == "tool":
        task = calls.propose_planned(current, task, step.planned)
        calls.inspect(current, task, task.calls[-1])
        return task
    for path in step.planned.files if calls.READS in current.rules.tools else ():
        task = calls.propose(current, task, calls.READS, {"path": path}, step_id=step.step_id)
        calls.inspect(current, task, task.calls[-1])
    return task


def _leave(current: turn.Turn, task: world.Task) -> world.Task:
    """The critic said to answer with what there is: what has not begun is left out."""
    for step in task.plan:
        if step.status is _Status.WAITING:
            task = _end(current, task, step, events.StepOutcome.SKIPPED, _NOT_FOLLOWED)
    return task


def _end(
    current: turn.Turn,
    task: world.Task,
    step: world.Step,
    outcome: events.StepOutcome,
    text: str = "",
) -> world.Task:
    result = current.keep_of(task, text) if text else step.result
    return current.emit(
        task,
        events.StepEnded(
            task_id=task.task_id, step_id=step.step_id, outcome=outcome, result=result
        ),
    )


def _answer(current: turn.Turn, task: world.Task) -> world.Task:
    """The plan is over: its last words are the answer, or the thinker goes on with what it has."""
    step = scheduler.last_words(task.plan)
    if step is None or step.result is None or task.steered:
        return task
    return endings.answer_kept(current, task, step.result)
