"""How the events of a task's thinking change it: its directive, its plan, and the steps of that."""

from collections.abc import Mapping
from typing import assert_never

from daemon.domain import directives, events, fold_said, ids, world

_FAILED = frozenset(
    {
        events.CallOutcome.FAILED,
        events.CallOutcome.REFUSED,
        events.CallOutcome.DENIED,
        events.CallOutcome.EXPIRED,
        events.CallOutcome.CANCELLED,
    }
)
_ENDS = {
    events.StepOutcome.DONE: world.StepStatus.DONE,
    events.StepOutcome.FAILED: world.StepStatus.FAILED,
    events.StepOutcome.SKIPPED: world.StepStatus.SKIPPED,
}

Event = (
    events.DirectiveTaken
    | events.ReplyRefused
    | events.PlanMade
    | events.StepStarted
    | events.StepJudged
    | events.StepEnded
)


def apply(task: world.Task, event: Event) -> world.Task:
    """The task after one of these events."""
    match event:
        case events.DirectiveTaken():
            update: dict[str, object] = {"draft": None, "refusals": 0, "cuts": 0}
            words = fold_said.of_directive(event)
            if words is not None:
                update["said"] = (*task.said, words)
            return task.but({**update, "heard": task.told})
        case events.ReplyRefused():
            said = fold_said.of_refusal(event)
            if said is None:
                return task.but({"draft": None})
            refusals = task.refusals + 1
            return task.but({"draft": None, "refusals": refusals, "said": (*task.said, said)})
        case events.PlanMade():
            said = fold_said.of_plan(event)
            plan = tuple(world.Step(planned=planned) for planned in event.steps)
            return task.but({"plan": plan, "plan_left": False, "said": (*task.said, said)})
        case events.StepStarted():
            begun = {"status": world.StepStatus.RUNNING, "attempts": event.attempt}
            begun |= {"result": None, "failed": False, "unjudged": False, "call_id": None}
            return _with_step(task, event.step_id, begun)
        case events.StepJudged(step_id=events.ANSWER):
            said = fold_said.of_judgement(event)
            update = {"reviewed": True}
            return task.but(update if said is None else {**update, "said": (*task.said, said)})
        case events.StepJudged():
            left = event.follows in (directives.Recovery.RESPOND, directives.Recovery.FAIL)
            return task.but({"plan_left": task.plan_left or left})
        case events.StepEnded():
            return _end(task, event)
        case _:
            assert_never(event)


def _end(task: world.Task, event: events.StepEnded) -> world.Task:
    step = task.step(event.step_id)
    if step is None:
        raise ValueError(f"the plan of {task.task_id} has no step {event.step_id}")
    ended = _with_step(task, event.step_id, {"status": _ENDS[event.outcome]})
    said = fold_said.of_step(step.planned, event)
    if said is None:
        return ended
    return ended.but({"said": (*ended.said, said)})


def call_ended(task: world.Task, call: world.ToolCall, exit_code: int | None) -> world.Task:
    """The task after one of its calls got its result, which may be a step's."""
    step = task.step(call.step_id)
    if step is None or step.call_id not in (None, call.call_id):
        return task
    if step.planned.kind == "coder" and step.result is None:
        return task  # it read a file before it wrote
    tried = {
        "status": world.StepStatus.TRIED,
        "result": call.result,
        "failed": call.outcome in _FAILED,
        "exit_code": exit_code,
        "unjudged": call.outcome in _FAILED and call.outcome is not events.CallOutcome.FAILED,
        "call_id": call.call_id,
    }
    if call.outcome is events.CallOutcome.OUTCOME_UNKNOWN:
        return task
    return _with_step(task, step.step_id, tried)


def with_result(
    task: world.Task, step_id: str | None, result: ids.ContentId
) -> tuple[world.Step, ...]:
    """The plan after a model wrote what a step asks for; a respond step has its result by that."""
    step = task.step(step_id)
    if step is None:
        return task.plan
    update: dict[str, object] = {"result": result}
    if step.planned.kind == "respond":
        update["status"] = world.StepStatus.TRIED
    return _with_step(task, step.step_id, update).plan


def _with_step(task: world.Task, step_id: str, update: Mapping[str, object]) -> world.Task:
    plan = tuple(step.but(update) if step.step_id == step_id else step for step in task.plan)
    return task.but({"plan": plan})
