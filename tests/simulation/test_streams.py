"""A subscriber goes on from its last sequence number over kills: it sees exactly the log."""

import hashlib
import random
from collections.abc import Iterable
from contextlib import closing

import pytest

from proto.ducklm.v1 import events_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, daemon_process, invariants, person, script

MOST_EVENTS = 40
CALLS = 6
LIVE = (True, False)


def lines(place: daemon_process.Place) -> list[script.Line]:
    said = [script.Line(script.use("pure", place.journal, None)) for _ in range(CALLS)]
    return [*said, script.Line("One word after the other.", chunk_ms=10)]


def hash_of(seen: Iterable[events_pb2.Event]) -> str:
    digest = hashlib.sha256()
    for event in seen:
        digest.update(event.SerializeToString(deterministic=True))
    return digest.hexdigest()


class Subscriber:
    """Keeps what it was sent, in order."""

    def __init__(self, live: bool) -> None:
        self._live = live
        self.seen: list[events_pb2.Event] = []

    @property
    def last_seq(self) -> int:
        return self.seen[-1].seq if self.seen else 0

    def read(self, speaks: client.Client, until_seq: int) -> None:
        """Read on until a sequence number has come."""
        if self.last_seq >= until_seq:
            return
        with closing(speaks.follow(self.last_seq, live=self._live)) as updates:
            for update in updates:
                if update.HasField("event"):
                    self.seen.append(update.event)
                if self.last_seq >= until_seq:
                    return


@pytest.mark.acceptance(4)
@pytest.mark.timeout(240)
def test_a_stream_resumed_over_restarts_is_the_log(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    place.prepare(lines(place))
    chance = random.Random(seed)
    answers = person.Person(person.guesses(chance))
    subscribers = [Subscriber(live) for live in LIVE]
    tasks: list[str] = []
    for number in range(rounds(50)):
        daemon = daemons.start()
        tasks.append(daemon.api.submit(f"Look around {number}.").task_id)
        upto = subscribers[0].last_seq + chance.randrange(1, MOST_EVENTS)
        subscribers[number % len(subscribers)].read(daemon.api, upto)
        daemon.kill()
    daemon = daemons.start()
    for task_id in tasks:
        answers.finish(daemon.api, task_id)
    log = daemon.api.log()
    invariants.check_sequence(log)
    for subscriber in subscribers:
        subscriber.read(daemon.api, len(log))
        assert [event.seq for event in subscriber.seen] == [event.seq for event in log]
        assert hash_of(subscriber.seen) == hash_of(log)
    figures("restarts", rounds(50))
    figures("events", len(log))
    figures("gaps, repeats, reorders", 0)
