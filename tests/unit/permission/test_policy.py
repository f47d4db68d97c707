"""The verdict of each category, and permits only for what may run."""

import pytest

from daemon.domain import events, ids
from daemon.permission import policy
from tools import contract

V, C = events.Verdict, contract.Category
CALL, APPROVAL = ids.CallId("call-1"), ids.ApprovalId("approval-1")
FACTS = contract.Facts(effect=contract.Effect.PURE, bound=(), shown=())


def spec(category: contract.Category) -> contract.ToolSpec:
    return contract.ToolSpec(
        name="t",
        version=1,
        description="d",
        parameters="{}",
        effect=contract.Effect.PURE,
        category=category,
    )


@pytest.mark.parametrize(
    ("category", "verdict"),
    [
        (C.READ_ONLY, V.ALLOW_READONLY),
        (C.NORMAL, V.ASK),
        (C.NO_ALWAYS, V.ASK_NEVER_ALWAYS),
        (C.HARD_STOP, V.HARD_STOP),
    ],
)
def test_a_category_has_its_verdict_with_reasons(
    category: contract.Category, verdict: events.Verdict
) -> None:
    judged = policy.judge(spec(category), FACTS)
    assert judged.verdict is verdict
    assert bool(judged.reasons) is (verdict is not V.ALLOW_READONLY)
    assert not judged.always_allowed


@pytest.mark.parametrize("verdict", [V.ASK, V.ASK_NEVER_ALWAYS])
def test_what_asks_gets_no_permit_without_an_approval(verdict: events.Verdict) -> None:
    with pytest.raises(ValueError, match="needs an approval"):
        policy.permit(CALL, "d", verdict, None)
    assert policy.permit(CALL, "d", verdict, APPROVAL).approval_id == APPROVAL


@pytest.mark.parametrize("approval_id", [None, APPROVAL])
def test_a_hard_stop_never_gets_one(approval_id: ids.ApprovalId | None) -> None:
    with pytest.raises(ValueError, match="hard stop"):
        policy.permit(CALL, "d", V.HARD_STOP, approval_id)


def test_reading_needs_nobody() -> None:
    permit = policy.permit(CALL, "d", V.ALLOW_READONLY, None)
    assert (permit.call_id, permit.digest) == (CALL, "d")
