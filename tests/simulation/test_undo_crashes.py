"""An undo ends as it should whatever point of it is the last: the file is gone, and once."""

from contextlib import closing

import grpc
import pytest

from daemon.domain import decisions
from daemon.runtime import failpoints
from proto.ducklm.v1 import events_pb2
from tests.conftest import Figures
from tests.simulation import client, crashing_daemon, daemon_process, person, script

pytestmark = [pytest.mark.timeout(240), pytest.mark.spec("K-08")]

MODULE = "tests.simulation.crashing_daemon"
KIND = decisions.RevertCommits.kind
POINTS = (failpoints.before(KIND), failpoints.after(KIND), "")
"""The last one crashes nowhere."""


def undo(speaks: client.Client, conversation_id: str) -> None:
    """Ask for it; the daemon may end before it answers."""
    try:
        speaks.undo(conversation_id, "undo")
    except grpc.RpcError as error:
        if client.code_of(error) is not grpc.StatusCode.UNAVAILABLE:
            raise


def reverted(speaks: client.Client) -> events_pb2.ProjectReverted:
    """How it ended, once it has."""
    with closing(speaks.follow(0)) as updates:
        return next(
            one.event.project_reverted for one in updates if one.event.HasField("project_reverted")
        )


@pytest.mark.acceptance(2)
@pytest.mark.parametrize("point", POINTS)
def test_an_undo_is_carried_out_once(
    point: str, place: daemon_process.Place, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    place.prepare([script.Line("Nothing to say.")])
    made = place.outside / "made"
    daemon = daemons.start("--point", point, module=MODULE)
    task = daemon.api.submit(f"`touch {made.name}`", key="touch")
    person.Person(lambda *_: True).finish(daemon.api, task.task_id)
    assert made.exists()
    undo(daemon.api, task.conversation_id)
    if point:
        assert daemon.ended() == crashing_daemon.CRASHED
        daemon = daemons.start()
    assert reverted(daemon.api).fault == ""
    assert not made.exists()
    kinds = [one.WhichOneof("kind") for one in daemon.api.log()]
    assert kinds.count("project_reverted") == 1
    figures("undone at", point or "no crash")
