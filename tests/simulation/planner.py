"""Daemons whose clock is set by hand, the schedules on them, and what became of their times."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

import grpc

from proto.ducklm.v1 import events_pb2, schedules_pb2
from tests.simulation import client, daemon_process, invariants, script

MODULE = "tests.simulation.crashing_daemon"
SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
Run: TypeAlias = schedules_pb2.Run
Policy: TypeAlias = schedules_pb2.SchedulePolicy
BY_HAND = 0
"""In place of the time of a run that nobody waited for."""
_MANY_KILLS = "version = 1\n[limits]\ntask_recoveries = 1000\n"
"""A task that is running at each of many kills is not parked for it."""
LINES = (script.Line("Done.", repeat=True),)


class Planner:
    """One place, its clock, and the daemon that is there now."""

    def __init__(self, place: daemon_process.Place, daemons: daemon_process.Daemons) -> None:
        self._place = place
        self._daemons = daemons
        self._ahead = place.root / "ahead"
        self._nudges = 0
        self._step_to(0)
        place.prepare(LINES)
        settings = place.root / "config" / "ducklm"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "daemon.toml").write_text(_MANY_KILLS)

    def launch(self, *options: str) -> daemon_process.Daemon:
        """Start a daemon, and wait for nothing."""
        ahead = ("--ahead", str(self._ahead))
        self.daemon = self._daemons.launch(*ahead, *options, module=MODULE)
        return self.daemon

    def start(self) -> None:
        """Start a daemon, and wait until it serves."""
        if not self.launch().serves():
            raise AssertionError("".join(["the daemon did not start:\n", *self.daemon.log]))

    @property
    def api(self) -> client.Client:
        return self.daemon.api

    def now_ms(self) -> int:
        """What the daemon's clock shows."""
        return time.time_ns() // 1_000_000 + self._ahead_ms

    def _step_to(self, ahead_ms: int) -> None:
        self._ahead_ms = ahead_ms
        written = self._ahead.with_suffix(".new")
        written.write_text(str(ahead_ms))
        written.rename(self._ahead)

    def step(self, by_ms: int) -> None:
        """Set the clock; a daemon that is there looks at it now, and not in half a minute."""
        self._step_to(self._ahead_ms + by_ms)
        if self.daemon.alive():
            self.nudge()

    def set(self, to_ms: int) -> None:
        """Set the clock to a moment, for the next daemon."""
        self._step_to(self._ahead_ms + to_ms - self.now_ms())

    def nudge(self) -> None:
        """A message sets a timer, and with each the clock is looked at; wait for its answer."""
        self._nudges += 1
        task_id = self.api.submit("Are you there?", key=f"nudge {self._nudges}").task_id
        for update in self.api.follow(0, task_id, live=False):
            if update.event.task_state_changed.to in invariants.FINAL:
                return

    def minutely(self, policy: Policy, text: str = "Look.") -> schedules_pb2.Schedule:
        """A schedule that is due each minute, for the agent."""
        return self.make("* * * * *", policy, text)

    def make(
        self,
        when: str,
        policy: Policy,
        text: str = "Look.",
        kind: schedules_pb2.Schedule.Kind.ValueType = schedules_pb2.Schedule.AGENT,
    ) -> schedules_pb2.Schedule:
        request = schedules_pb2.CreateScheduleRequest(
            text=text, when=when, zone="UTC", policy=policy, kind=kind
        )
        return self.api.schedule(request)

    def until_ended(self, schedule_id: str, due_ms: int) -> None:
        """Wait until the run that was due then has ended, or was left out.

        Raises:
            grpc.RpcError: the daemon died before.
        """
        for update in self.api.follow(0, live=False):
            if due_ms in accounted(update.event, schedule_id, ended=True):
                return
        raise AssertionError("the log has no end")

    def await_runs(self, schedule_id: str, count: int) -> list[Run]:
        """Wait until so many of a schedule's times are over; all of its runs, oldest first."""
        seen = 0
        for update in self.api.follow(0, live=False):
            seen += len(accounted(update.event, schedule_id, ended=True))
            if seen >= count:
                break
        return self.api.runs(schedule_id)[::-1]


def accounted(event: events_pb2.Event, schedule_id: str, ended: bool = False) -> Sequence[int]:
    """The due times that an event accounts for: those begun, or those over, and those left out."""
    left = event.schedule_runs_left_out
    if left.schedule_id == schedule_id:
        return [at.ToMilliseconds() for at in left.due_at]
    run = event.schedule_run_ended if ended else event.schedule_run_started
    is_over = not (ended and event.schedule_run_ended.HasField("again_at"))
    if run.schedule_id == schedule_id and is_over:
        due_ms = run.run_id.rpartition(".")[2]
        return [int(due_ms) if due_ms.isdigit() else BY_HAND]
    return []


def clock(at_ms: int) -> str:
    """As rules name a time of day."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M")


def died(error: grpc.RpcError) -> bool:
    """Whether a call failed because the daemon is gone."""
    return client.code_of(error) in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
