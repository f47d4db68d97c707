"""What can have happened to schedules and their runs. Used by their names in `events`.

A run that came due is named by its schedule and that time, so that no log can have it twice.
"""

from typing import Literal

from daemon.domain import base, deliveries, ids, principals, schedules


def due_run(schedule_id: ids.ScheduleId, due_ms: int) -> ids.RunId:
    """The run of a schedule that is due then."""
    return ids.RunId(f"{schedule_id}.{due_ms}")


class Schedule(base.Value):
    """Something that is to be done when it comes due. `zone` is whose clock its rule goes by.

    Its runs have a conversation of their own and act for `principal`, who made it. `name` and
    `text` (what is to be done) are content; `call` is the shell call of a command.
    """

    schedule_id: ids.ScheduleId
    conversation_id: ids.ConversationId
    principal: principals.Principal
    name: ids.ContentId
    text: ids.ContentId
    spec: schedules.AnySpec
    zone: schedules.ZoneName
    work: schedules.Work = schedules.Work()
    policy: schedules.Policy = schedules.Policy()
    paused: bool = False
    call: ids.ContentId | None = None
    fingerprint: str = ""
    """What tells that call from others."""
    skill: str = ""
    """The method that the words of a message call for, and the addresses in it: asked for."""
    urls: tuple[str, ...] = ()


class RunOf(base.Value):
    """Which run a task is of; `target` is the chat that is asked and told."""

    schedule_id: ids.ScheduleId
    run_id: ids.RunId
    target: deliveries.Target | None = None


def shown_at(origin: principals.Origin, run: RunOf | None) -> deliveries.Target | None:
    """The chat of a bot that is shown how a task goes on and is asked, if there is one."""
    return deliveries.target(origin) if run is None else run.target


class ScheduleSet(base.Value):
    """It is made, or from now on as it stands here. Its times count from the moment at which they
    were made or changed, or at which it went on."""

    type: Literal["schedule_set"] = "schedule_set"
    schedule: Schedule
    by: principals.Principal
    why: str = ""
    """Where the daemon did it by itself."""


class ScheduleRemoved(base.Value):
    """It is gone: somebody deleted it, or it was over. Its history stays."""

    type: Literal["schedule_removed"] = "schedule_removed"
    schedule_id: ids.ScheduleId
    by: principals.Principal | None = None
    """None: it was over."""


class ScheduleRunQueued(base.Value):
    """A run is due and begins when the one before it has ended."""

    type: Literal["schedule_run_queued"] = "schedule_run_queued"
    schedule_id: ids.ScheduleId
    run_id: ids.RunId
    due_ms: int


class ScheduleRunStarted(base.Value):
    """A run begins by this task. One that is tried again has another task and `attempt`."""

    type: Literal["schedule_run_started"] = "schedule_run_started"
    schedule_id: ids.ScheduleId
    run_id: ids.RunId
    due_ms: int
    run_task: ids.TaskId
    late_ms: int = 0
    by_hand: bool = False
    attempt: int = 1


LeftOut = Literal["missed", "overlap", "paused", "removed"]
"""Why: nobody ran it in time; another went on; it was paused or taken away meanwhile."""


class ScheduleRunsLeftOut(base.Value):
    """Runs that were due, by their times, and never begin."""

    type: Literal["schedule_runs_left_out"] = "schedule_runs_left_out"
    schedule_id: ids.ScheduleId
    due_ms: tuple[int, ...]
    why: LeftOut


RunOutcome = Literal["done", "failed", "cancelled"]


class ScheduleRunEnded(base.Value):
    """A run has ended, or is tried again at `again_ms`. `told` when its chat is to be shown it;
    `digest` of its answer, where a change of it matters."""

    type: Literal["schedule_run_ended"] = "schedule_run_ended"
    schedule_id: ids.ScheduleId
    run_id: ids.RunId
    run_task: ids.TaskId
    outcome: RunOutcome
    again_ms: int | None = None
    told: bool = False
    digest: str = ""
