"""What people and time may do to the schedules of a simulated daemon, at any moment."""

import random

from daemon.domain import ids, inputs, schedules, verdicts
from tests.unit.decide import planned, scenes, simulated

WHEN = ("* * * * *", "*/7 * * * *", "0 * * * *", "every 90m from 2025-06-15 00:00", "at ")
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
STEPS_MS = (1, 1000, 61_000, 61_000, 400_000, 3_600_000, 86_400_000, -3_600_000, -86_400_000)
_MOST_SCHEDULES = 6
_MOST_RINGS = 40


def policy(dice: random.Random) -> schedules.Policy:
    """Any that could be."""
    how = dice.choice(list(schedules.WhenMissed))
    return schedules.Policy(
        missed=schedules.Missed(
            how=how, most=dice.choice((1, 3)), grace_seconds=dice.choice((1, 60))
        ),
        overlap=dice.choice(list(schedules.Overlap)),
        delivery=schedules.Delivery(
            to=dice.choice((None, planned.TARGET)), tell=dice.choice(list(schedules.Tell))
        ),
        retries=schedules.Retries(most=dice.choice((0, 0, 2)), backoff_seconds=30),
        pause_after_failures=dice.choice((None, 2, 5)),
        most_runs=dice.choice((None, None, 2, 9)),
        deadline_seconds=dice.choice((None, 90)),
        approval_seconds=dice.choice((None, 60)),
    )


def rule(daemon: simulated.Daemon, dice: random.Random) -> str:
    text = dice.choice(WHEN)
    minute = (daemon.now_ms + dice.choice((60_000, 7_200_000))) // 60_000 * 60_000
    return text if text != "at " else "at " + planned.stamp(minute)


def work(dice: random.Random) -> schedules.Work:
    kind = dice.choice(list(schedules.WorkKind))
    mode = dice.choice((verdicts.Mode.BUILD, verdicts.Mode.PLAN))
    return schedules.Work(kind=kind, mode=mode, project=dice.choice(("", "/project")))


def feed(daemon: simulated.Daemon, move: scenes.Move) -> None:
    for given in move(daemon):
        daemon.feed(given)


def create(daemon: simulated.Daemon, dice: random.Random) -> None:
    if len(daemon.world.schedules) < _MOST_SCHEDULES:
        zone = dice.choice(ZONES)
        made = planned.create(policy(dice), rule(daemon, dice), work(dice), "do", zone_name=zone)
        feed(daemon, made)


def change(daemon: simulated.Daemon, dice: random.Random) -> None:
    """A person asks something of one schedule, which may be gone."""
    names = planned.names(daemon)
    if not names:
        return
    at = dice.randrange(len(names))
    if dice.random() < 0.8 and daemon.world.schedules:
        at = names.index(dice.choice(list(daemon.world.schedules)))
    zone, when = dice.choice((None, *ZONES)), dice.choice((None, rule(daemon, dice)))
    changed = planned.update(
        dice.choice((None, policy(dice))), when, dice.choice((None, work(dice))), "do it", zone
    )
    asked = (
        changed,
        changed,
        planned.delete(),
        planned.pause(),
        planned.pause(False),
        planned.pause(False),
        planned.pause_all(dice.random() < 0.3),
        planned.run_now(),
        planned.run_now(),
        planned.run_now(rehearses=True),
        planned.stop(),
    )
    for given in dice.choice(asked)(daemon):
        update = {"schedule_id": names[at]} if getattr(given, "schedule_id", None) else {}
        daemon.feed(given.but(update))


def tick(daemon: simulated.Daemon, dice: random.Random) -> None:
    """Time passes, or the clock is set; what is due rings, mostly at once."""
    daemon.now_ms += dice.choice(STEPS_MS)
    if dice.random() < 0.8:
        daemon.ring(_MOST_RINGS)


def read(daemon: simulated.Daemon, dice: random.Random) -> None:
    """An answer was read."""
    if daemon.reading:
        one = daemon.reading.pop(dice.randrange(len(daemon.reading)))
        digest = dice.choice(("a", "b", ""))
        daemon.feed(
            inputs.AnswerRead(schedule_id=one.schedule_id, run_id=one.run_id, digest=digest)
        )


def read_late(daemon: simulated.Daemon, dice: random.Random) -> None:
    """An answer was read of a run that nobody waits for."""
    for planned_ in tuple(daemon.world.schedules.values()):
        live = planned_.live
        if live is None or live.ended is None:
            schedule_id = planned_.schedule.schedule_id
            run_id = ids.RunId("run-never") if live is None else live.run_id
            late = inputs.AnswerRead(schedule_id=schedule_id, run_id=run_id, digest="late")
            assert daemon.feed(late).events == ()
