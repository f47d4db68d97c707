"""Keeps a task's plan as its events tell it, for platforms that show it as it goes.

Answers for: each step's status. It must never know of a platform.
"""

import dataclasses
import typing
from collections.abc import Sequence

from bots import views
from proto.ducklm.v1 import events_pb2

_ENDS: typing.Final = {
    "done": views.StepStatus.DONE,
    "failed": views.StepStatus.FAILED,
    "skipped": views.StepStatus.SKIPPED,
}


class Plan:
    """The steps of one task's plan, in their order; of the last plan, when it made several."""

    def __init__(self, task_id: str) -> None:
        self._task_id = task_id
        self._steps: dict[str, views.PlanStep] = {}

    def made(self, made: events_pb2.PlanMade) -> Sequence[views.View]:
        self._steps = {
            one.step_id: views.PlanStep(one.step_id, one.goal, one.kind, tuple(one.after))
            for one in made.steps
        }
        return (views.PlanShown(self._task_id, tuple(self._steps.values())),)

    def started(self, started: events_pb2.StepStarted) -> Sequence[views.View]:
        return self._moved(started.step_id, views.StepStatus.RUNNING, started.attempt)

    def ended(self, ended: events_pb2.StepEnded) -> Sequence[views.View]:
        status = _ENDS.get(ended.outcome)
        return self._moved(ended.step_id, status) if status else ()

    def goal(self, step_id: str) -> str:
        """What a step is to reach; its id where that is not known."""
        step = self._steps.get(step_id)
        return (step.goal if step else "") or step_id

    def _moved(
        self, step_id: str, status: views.StepStatus, attempt: int | None = None
    ) -> Sequence[views.View]:
        step = self._steps.get(step_id)
        if step is None:  # planned before this client began to look
            step = views.PlanStep(step_id, "", "", ())
        step = dataclasses.replace(
            step, status=status, attempt=step.attempt if attempt is None else attempt
        )
        self._steps[step_id] = step
        return (views.PlanShown(self._task_id, tuple(self._steps.values()), step),)
