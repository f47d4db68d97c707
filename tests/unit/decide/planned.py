"""What can happen to schedules in a scene, in the words of a case; times read as the clock shows.

A scene begins at 15:00 on a Sunday, with one schedule that is due at each full hour if not said
otherwise. `due("16:00")` lets its timer fire then; `told` gives what it led to with those times.
"""

import datetime
import re
import zoneinfo
from collections.abc import Sequence

from daemon.domain import (
    decisions,
    deliveries,
    events,
    ids,
    inputs,
    limits,
    principals,
    schedule_text,
    schedules,
    world,
)
from tests.unit.decide import moves, scenes
from tools import contract

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
MIDNIGHT_MS = 1_749_945_600_000
"""Of Sunday, 2025-06-15, in UTC."""
HOURLY = "0 * * * *"
PERSON = principals.Principal("telegram:77:5")
TARGET = deliveries.Target(account="telegram:77", chat="5", principal=PERSON)
TOLD = schedules.Delivery(to=TARGET)
AGENT = schedules.Work()
COMMAND = schedules.Work(kind=schedules.WorkKind.COMMAND)
_MS = re.compile(r"\b17[0-9]{11}\b")


def at(clock: str) -> int:
    """The moment that reads `16:00`, `16:00:30` or, a day later, `+1 16:00`."""
    day, _, time = clock.rpartition(" ")
    parts = [int(part) for part in time.split(":")]
    hours, minutes, seconds = (*parts, 0)[:3]
    return MIDNIGHT_MS + int(day or 0) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000


def shown(at_ms: int) -> str:
    """A moment as `at` reads it."""
    days, rest = divmod(at_ms - MIDNIGHT_MS, DAY_MS)
    minutes, seconds = divmod(rest // 1000, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    return f"{days:+} {clock}" if days else clock


def stamp(at_ms: int) -> str:
    """A moment as rules name it, by the clock of UTC."""
    moment = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC)
    return moment.strftime("%Y-%m-%d %H:%M")


def clocked(line: str) -> str:
    """A line with its moments as the clock shows them."""
    return _MS.sub(lambda found: shown(int(found[0])), line)


def rule(text: str) -> schedules.Spec:
    """The rule of that text."""
    spec = schedule_text.parse(text)
    assert spec is not None
    return spec


def zone(name: str) -> zoneinfo.ZoneInfo | None:
    """A zone; there is none whose name begins with Nowhere."""
    return None if name.startswith("Nowhere") else zoneinfo.ZoneInfo(name)


def scene(
    policy: schedules.Policy | None = None,
    when: str = HOURLY,
    work: schedules.Work = AGENT,
    bounds: limits.Limits | None = None,
) -> scenes.Scene:
    """A scene with one schedule, made at 15:00."""
    made = empty(bounds)
    return made.given([create(policy, when, work)])


def empty(bounds: limits.Limits | None = None) -> scenes.Scene:
    """A scene at 15:00, without a schedule."""
    made = scenes.Scene(bounds)
    made.rules = made.rules.but({"zones": zone})
    made.now_ms = at("15:00")
    return made


def create(
    policy: schedules.Policy | None = None,
    when: str = HOURLY,
    work: schedules.Work = AGENT,
    text: str = "look at the weather",
    by: principals.Principal = scenes.OWNER,
    zone_name: str = "UTC",
) -> scenes.Move:
    """A person makes a schedule."""
    return lambda scene: [
        inputs.CreateSchedule(
            credential="owner",
            principal=by,
            correlation_id="made",
            name="",
            text=text,
            spec=rule(when),
            zone=zone_name,
            work=work,
            policy=policy or schedules.Policy(),
        )
    ]


def name_of(scene: scenes.Scene, of: int = -1) -> ids.ScheduleId:
    """The id of the n-th schedule that was made."""
    return names(scene)[of]


def names(scene: scenes.Scene) -> list[ids.ScheduleId]:
    """The schedules that were made, in their order."""
    made = (one.event for one in scene.recorded)
    kept = (one.schedule.schedule_id for one in made if isinstance(one, events.ScheduleSet))
    return list(dict.fromkeys(kept))


def planned(scene: scenes.Scene, of: int = -1) -> world.Planned:
    """How far a schedule is."""
    return scene.world.schedules[name_of(scene, of)]


def update(
    policy: schedules.Policy | None = None,
    when: str | None = None,
    work: schedules.Work | None = None,
    text: str | None = None,
    zone_name: str | None = None,
    by: principals.Principal = scenes.OWNER,
) -> scenes.Move:
    """A person changes the schedule."""
    return lambda scene: [
        inputs.UpdateSchedule(
            credential="owner",
            principal=by,
            correlation_id="other",
            schedule_id=name_of(scene),
            text=text,
            spec=None if when is None else rule(when),
            zone=zone_name,
            work=work,
            policy=policy,
        )
    ]


def delete_of(schedule_id: ids.ScheduleId) -> inputs.DeleteSchedule:
    """A person deletes that schedule."""
    return inputs.DeleteSchedule(
        credential="owner", principal=scenes.OWNER, correlation_id="other", schedule_id=schedule_id
    )


def delete(by: principals.Principal = scenes.OWNER) -> scenes.Move:
    return lambda scene: [
        inputs.DeleteSchedule(
            credential="owner", principal=by, correlation_id="other", schedule_id=name_of(scene)
        )
    ]


def pause(paused: bool = True, by: principals.Principal = scenes.OWNER) -> scenes.Move:
    return lambda scene: [
        inputs.PauseSchedule(
            credential="owner",
            principal=by,
            correlation_id="other",
            schedule_id=name_of(scene),
            paused=paused,
        )
    ]


def pause_all(paused: bool = True, by: principals.Principal = scenes.OWNER) -> scenes.Move:
    return lambda scene: [
        inputs.PauseSchedule(
            credential="owner",
            principal=by,
            correlation_id="other",
            schedule_id=None,
            paused=paused,
        )
    ]


def run_now(by: principals.Principal = scenes.OWNER, rehearses: bool = False) -> scenes.Move:
    return lambda scene: [
        inputs.RunSchedule(
            credential="owner",
            principal=by,
            correlation_id="other",
            schedule_id=name_of(scene),
            rehearses=rehearses,
        )
    ]


def stop(by: principals.Principal = scenes.OWNER) -> scenes.Move:
    return lambda scene: [
        inputs.StopSchedule(
            credential="owner", principal=by, correlation_id="other", schedule_id=name_of(scene)
        )
    ]


def clock(time: str) -> scenes.Move:
    """The clock shows that from now on; nothing else happens."""

    def no_inputs(scene: scenes.Scene) -> Sequence[inputs.Input]:
        scene.now_ms = at(time)
        return []

    return no_inputs


def rings(of: int = -1) -> scenes.Move:
    """The schedule's timer fires."""
    kind = decisions.TimerKind.SCHEDULE
    return lambda scene: [inputs.TimerFired(timer=kind, subject=name_of(scene, of))]


def due(time: str) -> scenes.Move:
    """The clock shows that, and the schedule's timer fires."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        scene.now_ms = at(time)
        return rings()(scene)

    return inputs_of


def answers(text: str = "sunny", of: int = -1) -> list[scenes.Move]:
    """A run's task of an agent, from its begin to its answer."""
    return [moves.gathered(of), moves.says(text, of)]


def breaks(of: int = -1) -> list[scenes.Move]:
    """A run's task of an agent fails."""
    return [moves.gathered(of), moves.says('{"kind": "fail", "reason": "rain"}', of)]


def asks(of: int = -1) -> list[scenes.Move]:
    """A run's task of an agent waits for an approval."""
    return [moves.gathered(of), moves.wants("shell_exec", of), moves.inspected(of)]


def answer_read(digest: str) -> scenes.Move:
    """What the run that has ended answered was read."""

    def inputs_of(scene: scenes.Scene) -> Sequence[inputs.Input]:
        live = planned(scene).live
        assert live is not None
        read = inputs.AnswerRead(schedule_id=name_of(scene), run_id=live.run_id, digest=digest)
        return [read]

    return inputs_of


def ran(exit_code: int) -> scenes.Move:
    """A run's command ended with that exit code."""
    return lambda scene: [
        inputs.ToolFinished(
            task_id=scene.seen[-1].task_id,
            call_id=scene.seen[-1].tool_call,
            result=contract.Result(text="out", exit_code=exit_code),
            duration_ms=5,
        )
    ]


OF_RUNS = ("run", "schedule")


def told(then: scenes.Then) -> list[str]:
    """What it led to for schedules, with times as the clock shows them."""
    return [clocked(line) for line in then.events if line.startswith(OF_RUNS)]


def when(scene: scenes.Scene, *wanted: scenes.Move) -> list[str]:
    """What these moves lead to for schedules, with times as the clock shows them."""
    return [line for move in wanted for line in told(scene.when(move))]


def timer(then: scenes.Then) -> str:
    """When the schedule is reminded next, as the clock shows it; the last that was said counts."""
    set_ = [
        one.due_ms
        for step in then.steps
        for one in step.actions
        if isinstance(one, decisions.SetTimer) and one.timer is decisions.TimerKind.SCHEDULE
    ]
    return shown(set_[-1]) if set_ else ""
