"""What people ask of schedules. Used by their names in `inputs`."""

from daemon.domain import base, ids, keyed, schedules


class CreateSchedule(keyed.Keyed):
    """`principal` is whom it acts for; its times count from now on."""

    name: str
    text: str
    spec: schedules.AnySpec
    zone: schedules.ZoneName
    work: schedules.Work = schedules.Work()
    policy: schedules.Policy = schedules.Policy()


class UpdateSchedule(keyed.Keyed):
    """What is None stays as it is. Other times, or another zone, count from now on."""

    schedule_id: ids.ScheduleId
    name: str | None = None
    text: str | None = None
    spec: schedules.AnySpec | None = None
    zone: schedules.ZoneName | None = None
    work: schedules.Work | None = None
    policy: schedules.Policy | None = None


class DeleteSchedule(keyed.Keyed):
    schedule_id: ids.ScheduleId


class PauseSchedule(keyed.Keyed):
    """Pause it, or let it go on; without an id all that the principal may."""

    schedule_id: ids.ScheduleId | None
    paused: bool


class RunSchedule(keyed.Keyed):
    """Run it now, beside its times. `rehearses`: only have what it would run allowed, for each of
    its runs, and run nothing."""

    schedule_id: ids.ScheduleId
    rehearses: bool = False


class StopSchedule(keyed.Keyed):
    """Cancel the run that goes on, those that wait, and what would be tried again."""

    schedule_id: ids.ScheduleId


class RecoverSchedule(base.Value):
    """The daemon has started: what was due meanwhile is to be accounted for."""

    schedule_id: ids.ScheduleId


class AnswerRead(base.Value):
    """The digest of what a run answered, so that it can be told whether it is another."""

    schedule_id: ids.ScheduleId
    run_id: ids.RunId
    digest: str
