"""One daemon a state folder: a second one is refused at once, and a dead one leaves no lock."""

import statistics
import time

import pytest

from daemon import exits
from tests.conftest import Figures, Rounds
from tests.simulation import daemon_process, script

MOST_REFUSAL_SECONDS = 1.0


@pytest.mark.acceptance(8)
@pytest.mark.timeout(240)
def test_a_second_daemon_is_refused_and_a_killed_one_leaves_no_lock(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
) -> None:
    place.prepare([script.Line("Yes.", repeat=True)])
    daemon = daemons.start()
    refusals: list[float] = []
    for _ in range(rounds(50)):
        second = daemons.launch()
        assert second.ended() == exits.Exit.STATE
        refusals.append(time.monotonic() - second.started_seconds)
        (sentence,) = second.log
        assert f"in use by another daemon (process {daemon.process.pid})" in sentence
        daemon.kill()
        daemon = daemons.start()
    figures("refused daemons", len(refusals))
    figures("refusal median, s", round(statistics.median(refusals), 2))
    figures("refusal worst, s", round(max(refusals), 2))
    figures("stale locks", 0)
    assert statistics.median(refusals) <= MOST_REFUSAL_SECONDS
