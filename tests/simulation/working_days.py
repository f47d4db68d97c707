"""Days of work that pass every point of the runtime, carried out on daemons that crash.

What a crash left unfinished is gone on with at the next start, with the same client keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import grpc

from proto.ducklm.v1 import tasks_pb2
from tests.simulation import client, crashing_daemon, daemon_process, person, script

MODULE = "tests.simulation.crashing_daemon"
MOST_DAYS = 5
"""After so many days a point that is passed every day must have been reached."""
USE, WRITE, SPEAK = "Use tools.", "Write a file.", "Speak slowly."


@dataclass
class Day:
    """What is asked for on one day. `tasks` by text, once submitted."""

    number: int
    texts: Sequence[str]
    tasks: dict[str, str] = field(default_factory=dict)

    def submit(self, speaks: client.Client) -> None:
        for text in self.texts:
            key = f"day {self.number}: {text}"
            self.tasks[text] = speaks.submit(text, key=key).task_id


def lines(place: daemon_process.Place) -> list[script.Line]:
    """A tool of each class in turn; one file; and a reply that is cancelled while it comes."""
    after = {
        "^Use": script.use("pure", place.journal),
        "testing_pure": script.use("keyed", place.journal),
        "testing_keyed": script.use("unsafe", place.journal),
        "testing_unsafe": "Used.",
        "^Write": script.use("reconcilable", place.journal, place.outside / "file", "text"),
        "testing_reconcilable": "Written.",
    }
    said = [script.Line(reply, match=match) for match, reply in after.items()]
    return [*said, script.Line("word " * 2000, match="^Speak", chunk_ms=50)]


class Work:
    """Days of work on the daemons of one place."""

    def __init__(self, place: daemon_process.Place, daemons: daemon_process.Daemons) -> None:
        self._place = place
        self._daemons = daemons
        self._answers = person.Person(self._happened)
        self._unfinished: list[Day] = []
        self.days: list[Day] = []

    def runs(self, day: Day) -> int:
        """How often the day's command ran."""
        return len(daemon_process.lines_of(self._place.outside / f"ran-{day.number}-"))

    def _happened(self, task: tasks_pb2.Task, unknown: tasks_pb2.UnknownOutcome) -> bool:
        """What can be seen outside: the call's id in the journal, or the command's own file."""
        if unknown.tool != "shell_exec":
            return unknown.call_id in self._place.noted()
        (day,) = [day for day in self.days if task.task_id in day.tasks.values()]
        return self.runs(day) > 0

    def add(self, *texts: str) -> None:
        """A day for the next `finish`; by default one of everything."""
        number = len(self.days)
        if not self._unfinished:
            (self._place.outside / "file").unlink(missing_ok=True)
        command = f"`echo ran >> {self._place.outside / f'ran-{number}-'}`"
        day = Day(number, texts or (USE, WRITE, command, SPEAK))
        self.days.append(day)
        self._unfinished.append(day)

    def finish(self, speaks: client.Client) -> None:
        """Have all tasks of all days end."""
        while self._unfinished:
            self._carry_out(speaks, self._unfinished[0])
            self._unfinished.pop(0)

    def _carry_out(self, speaks: client.Client, day: Day) -> None:
        """Allow the command; cancel the slow reply while it comes."""
        day.submit(speaks)
        slow = day.tasks.get(SPEAK)
        if slow is not None:
            for update in self._answers.watch(speaks, slow, 0, client.CALL_SECONDS):
                if update.HasField("live"):
                    speaks.cancel(slow)
        for task_id in day.tasks.values():
            self._answers.finish(speaks, task_id)

    def crash(self, point: str, hit: int) -> bool:
        """Work on a daemon that ends at the n-th hit of a point; whether it did."""
        daemon = self._daemons.launch("--point", point, "--hit", str(hit), module=MODULE)
        if not daemon.serves():
            return daemon.ended() == crashing_daemon.CRASHED
        try:
            for _ in range(MOST_DAYS):
                self.finish(daemon.api)
                self.add()
        except grpc.RpcError as error:
            if client.code_of(error) is not grpc.StatusCode.UNAVAILABLE:
                raise
            return daemon.ended() == crashing_daemon.CRASHED
        daemon.kill()
        return False
