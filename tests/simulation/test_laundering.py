"""Untrusted text stays untrusted, whatever way it takes: the call that follows asks."""

import random
from pathlib import Path

import pytest

from proto.ducklm.v1 import approvals_pb2, common_pb2
from tests.conftest import Figures, Rounds
from tests.integration.rpc import work
from tests.simulation import laundering, laundering_ways

_REASON = "the task has read untrusted text"


@pytest.mark.acceptance(26)
@pytest.mark.timeout(240)
@pytest.mark.spec("D-12")
def test_the_text_of_a_stranger_is_still_one(
    tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    """And the user's own, on the same way, is not. One daemon for all: what one way has tainted
    must not taint the next."""
    ways = laundering_ways.WAYS
    chosen = random.Random(seed).sample(sorted(ways), rounds(len(ways)))
    with laundering.scene() as scene:
        for number, name in enumerate(chosen):
            foreign = laundering.Walk(scene, tmp_path / f"foreign-{number}", foreign=True)
            assert why_it_waits(foreign, ways[name](foreign)).startswith(_REASON), name
            own = laundering.Walk(scene, tmp_path / f"own-{number}", foreign=False)
            assert work.end(own.api, ways[name](own)).state == common_pb2.COMPLETED, name
            made = [path.relative_to(tmp_path) for path in tmp_path.rglob(laundering.USED)]
            assert [one.parts[0] for one in made] == [f"own-{number}"], name
            (tmp_path / made[0]).unlink()
    assert len(ways) >= 20
    figures("ways", f"{len(chosen)} of {len(chosen)} still tainted")


def why_it_waits(walk: laundering.Walk, task_id: str) -> str:
    """The last reason why a task asks; it is told no then."""
    work.reach(walk.api, task_id, common_pb2.AWAITING_APPROVAL)
    task = work.task(walk.api, task_id)
    if task.state != common_pb2.AWAITING_APPROVAL:
        return "it does not wait"
    (approval_id,) = task.approval_ids
    asked = approvals_pb2.GetApprovalRequest(approval_id=approval_id)
    reason = walk.api.approvals.Get(asked).reasons[-1]
    work.resolve(walk.api, approval_id, approvals_pb2.DENY)
    work.end(walk.api, task_id)
    return str(reason)
