"""Runs of schedules as they are sent, with the schedule's name and the times of its clock."""

import datetime

from daemon import zones
from daemon.domain import ids, views
from daemon.rpc import backend, convert_schedules
from proto.ducklm.v1 import schedules_pb2


def zone(served: backend.Backend, schedule_id: ids.ScheduleId) -> datetime.tzinfo:
    """Whose clock a schedule follows; the daemon's where that is not known any more."""
    now = served.state() if served.state is not None else None
    planned = now.schedules.get(schedule_id) if now is not None else None
    known = zones.known(planned.schedule.zone) if planned is not None else None
    return known or zones.named(served.zone())


async def sent(served: backend.Backend, view: views.RunView) -> schedules_pb2.Run:
    """A run as it is sent."""
    texts = await served.contents.texts([] if view.name is None else [view.name])
    return convert_schedules.run(view, texts, zone(served, view.schedule_id))
