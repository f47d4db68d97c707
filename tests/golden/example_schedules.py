"""The part of the example with schedules: what was due, what became of it, what is still there."""

import datetime

from daemon.domain import deliveries, events, ids, principals, schedules, verdicts
from tests.golden.example_channels import PERSON, report
from tests.golden.example_tasks import T, moved, text

KEPT, OVER = ids.ScheduleId("schedule-kept"), ids.ScheduleId("schedule-over")
PLAN = ids.ConversationId("conversation-schedule")
TOLD, GOES_ON, TRIED = (ids.TaskId(f"task-{name}") for name in ("told", "goes-on", "tried"))
DUE_MS = 1_900_000_000_000
DAY_MS = 24 * 3600 * 1000
TARGET = deliveries.Target(account="telegram:77", chat="-1009", topic="4", principal=PERSON)


def schedule(schedule_id: ids.ScheduleId, paused: bool = False) -> events.Schedule:
    """One with all that can be said."""
    return events.Schedule(
        schedule_id=schedule_id,
        conversation_id=PLAN,
        principal=PERSON,
        name=text("schedule"),
        text=text("due"),
        spec=schedules.Weekly(
            weekdays=(schedules.Weekday.MON, schedules.Weekday.FRI),
            times=(datetime.time(8), datetime.time(20, 30)),
        ),
        zone="Europe/Berlin",
        work=schedules.Work(
            kind=schedules.WorkKind.COMMAND, mode=verdicts.Mode.PLAN, project="/project"
        ),
        policy=schedules.Policy(
            missed=schedules.Missed(how=schedules.WhenMissed.RUN_ALL, most=3, grace_seconds=90),
            overlap=schedules.Overlap.QUEUE,
            delivery=schedules.Delivery(to=TARGET, tell=schedules.Tell.ON_CHANGE),
            retries=schedules.Retries(most=2, backoff_seconds=30),
            pause_after_failures=4,
            most_runs=1000,
            deadline_seconds=600,
            approval_seconds=300,
        ),
        paused=paused,
        call=text("arguments-7"),
        fingerprint="88" * 32,
    )


def due(days: int) -> ids.RunId:
    return events.due_run(KEPT, DUE_MS + days * DAY_MS)


def began(
    task: ids.TaskId, days: int, attempt: int = 1, late_ms: int = 250
) -> tuple[events.Event, ...]:
    """A run and its task."""
    run = events.RunOf(schedule_id=KEPT, run_id=due(days), target=TARGET)
    origin = principals.Origin(principal=PERSON)
    return (
        events.ScheduleRunStarted(
            schedule_id=KEPT,
            run_id=due(days),
            due_ms=DUE_MS + days * DAY_MS,
            run_task=task,
            late_ms=late_ms,
            attempt=attempt,
        ),
        events.TaskSubmitted(
            task_id=task, conversation_id=PLAN, origin=origin, text=text("due"), run=run
        ),
        moved(task, T.QUEUED, T.RUNNING),
    )


def planned() -> list[events.Event]:
    """One schedule that is over; of the other a run that was told, and one that is tried again."""
    return [
        events.ConversationCreated(conversation_id=PLAN, principal=PERSON, title=text("schedule")),
        events.ScheduleSet(schedule=schedule(OVER), by=PERSON),
        events.ScheduleRemoved(schedule_id=OVER, by=principals.LOCAL_OWNER),
        events.ScheduleSet(schedule=schedule(KEPT), by=PERSON),
        *began(TOLD, 0),
        events.AnswerGiven(task_id=TOLD, text=text("answer-9")),
        moved(TOLD, T.RUNNING, T.COMPLETED),
        events.ScheduleRunEnded(
            schedule_id=KEPT,
            run_id=due(0),
            run_task=TOLD,
            outcome="done",
            told=True,
            digest="99" * 32,
        ),
        report(deliveries.of_task(TOLD), 2, deliveries.State.SHOWN, "30"),
        events.ScheduleRunsLeftOut(
            schedule_id=KEPT, due_ms=(DUE_MS + DAY_MS, DUE_MS + 2 * DAY_MS), why="missed"
        ),
        *began(TRIED, 3, late_ms=60_000),
        events.ScheduleRunQueued(schedule_id=KEPT, run_id=due(4), due_ms=DUE_MS + 4 * DAY_MS),
        moved(TRIED, T.RUNNING, T.FAILED, "it broke"),
        events.ScheduleRunEnded(
            schedule_id=KEPT, run_id=due(3), run_task=TRIED, outcome="failed", again_ms=DUE_MS
        ),
        events.GrantCreated(
            grant_id=ids.GrantId("grant-schedule"),
            key="aa" * 32,
            tool="shell_exec",
            principal=PERSON,
            folder="/project",
            card=text("card"),
            granted_by=principals.LOCAL_OWNER,
            expires_ms=DUE_MS + 365 * DAY_MS,
            uses=9,
            schedule_id=KEPT,
        ),
        *began(GOES_ON, 3, attempt=2),
        events.ScheduleSet(
            schedule=schedule(KEPT, paused=True), by=principals.LOCAL_OWNER, why="it failed"
        ),
    ]
