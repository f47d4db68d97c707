"""From a judgement and its situation to run, ask or refuse; and permits only for what may run."""

import pytest

from daemon.domain import ids, principals, taints, verdicts
from daemon.permission import policy
from tools import contract

V, C, B, M = verdicts.Verdict, contract.Category, verdicts.Basis, verdicts.Mode
RUN, ASK, REFUSE = policy.Way.RUN, policy.Way.ASK, policy.Way.REFUSE
CALL, APPROVAL = ids.CallId("call-1"), ids.ApprovalId("approval-1")
GRANT = ids.GrantId("grant-1")
TAINT = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org"),)
READS = verdicts.Judgement(V.ALLOW_READONLY)
ASKS = verdicts.Judgement(V.ASK, ("changes things",), always_allowed=True)
ASKS_ONCE = verdicts.Judgement(V.ASK, ("changes things",))
NEVER = verdicts.Judgement(V.ASK_NEVER_ALWAYS, ("removes files",))
STOPS = verdicts.Judgement(V.HARD_STOP, ("formats the disk",))


@pytest.mark.parametrize(
    ("category", "verdict", "always"),
    [
        (C.READ_ONLY, V.ALLOW_READONLY, False),
        (C.NORMAL, V.ASK, True),
        (C.NO_ALWAYS, V.ASK_NEVER_ALWAYS, False),
        (C.HARD_STOP, V.HARD_STOP, False),
    ],
)
def test_a_category_has_its_verdict_with_reasons(
    category: contract.Category, verdict: verdicts.Verdict, always: bool
) -> None:
    judged = policy.of_category(category)
    assert judged.verdict is verdict
    assert bool(judged.reasons) is (verdict is not V.ALLOW_READONLY)
    assert judged.always_allowed is always


@pytest.mark.parametrize(
    ("judged", "mode", "taint", "grant", "denied", "way", "basis"),
    [
        (READS, M.BUILD, (), None, False, RUN, B.READ_ONLY),
        (READS, M.PLAN, (), None, False, RUN, B.READ_ONLY),
        (READS, M.YOLO, TAINT, None, True, RUN, B.READ_ONLY),
        (ASKS, M.BUILD, (), None, False, ASK, None),
        (ASKS, M.BUILD, (), GRANT, False, RUN, B.GRANT),
        (ASKS_ONCE, M.BUILD, (), GRANT, False, ASK, None),
        (ASKS, M.BUILD, TAINT, GRANT, False, ASK, None),
        (ASKS, M.BUILD, (), GRANT, True, REFUSE, None),
        (ASKS, M.BUILD, (), None, True, REFUSE, None),
        (ASKS, M.PLAN, (), GRANT, False, REFUSE, None),
        (ASKS, M.PLAN, (), None, False, REFUSE, None),
        (ASKS, M.YOLO, (), None, False, RUN, B.YOLO),
        (ASKS_ONCE, M.YOLO, (), None, False, RUN, B.YOLO),
        (ASKS, M.YOLO, (), None, True, REFUSE, None),
        (ASKS, M.YOLO, TAINT, None, False, ASK, None),
        (NEVER, M.BUILD, (), None, False, ASK, None),
        (NEVER, M.BUILD, (), GRANT, False, ASK, None),
        (NEVER, M.YOLO, (), GRANT, False, ASK, None),
        (NEVER, M.PLAN, (), None, False, REFUSE, None),
        (STOPS, M.BUILD, (), GRANT, False, REFUSE, None),
        (STOPS, M.YOLO, (), GRANT, False, REFUSE, None),
        (STOPS, M.PLAN, TAINT, None, False, REFUSE, None),
    ],
)
def test_the_way_of_a_call(
    judged: verdicts.Judgement,
    mode: verdicts.Mode,
    taint: taints.Taint,
    grant: ids.GrantId | None,
    denied: bool,
    way: policy.Way,
    basis: verdicts.Basis | None,
) -> None:
    settled = policy.settle(judged, policy.Situation(mode, taint, grant, denied))
    assert (settled.way, settled.basis) == (way, basis)
    assert (settled.grant_id is not None) is (basis is B.GRANT)
    if way is not RUN:
        assert settled.reasons


def test_a_tainted_card_names_the_source() -> None:
    settled = policy.settle(ASKS, policy.Situation(taint=TAINT))
    assert any("https://example.org" in reason for reason in settled.reasons)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (V.ALLOW_READONLY, V.ASK),
        (V.ASK, V.ASK_NEVER_ALWAYS),
        (V.ASK_NEVER_ALWAYS, V.ASK_NEVER_ALWAYS),
        (V.HARD_STOP, V.HARD_STOP),
    ],
)
def test_a_missing_part_of_the_sandbox_is_one_step_stricter(
    before: verdicts.Verdict, after: verdicts.Verdict
) -> None:
    judged = verdicts.Judgement(before, ("r",), always_allowed=True)
    assert policy.confined(judged, ()) == judged
    raised = policy.confined(judged, ("no network namespace",))
    assert (raised.verdict, raised.always_allowed) == (after, False)
    assert raised.reasons == ("r", "this machine gives no network namespace")


@pytest.mark.parametrize(
    ("judged", "verdict", "always"),
    [
        ((READS, READS), V.ALLOW_READONLY, False),
        ((READS, ASKS), V.ASK, True),
        ((ASKS, ASKS_ONCE), V.ASK, False),
        ((ASKS, NEVER), V.ASK_NEVER_ALWAYS, False),
        ((STOPS, READS), V.HARD_STOP, False),
    ],
)
def test_the_strictest_wins_and_always_needs_all(
    judged: tuple[verdicts.Judgement, ...], verdict: verdicts.Verdict, always: bool
) -> None:
    combined = policy.combine(*judged)
    assert (combined.verdict, combined.always_allowed) == (verdict, always)
    assert set(combined.reasons) == {reason for one in judged for reason in one.reasons}


@pytest.mark.parametrize("judged", [ASKS, NEVER])
def test_what_asks_gets_no_permit_without_an_approval(judged: verdicts.Judgement) -> None:
    settled = policy.settle(judged, policy.Situation())
    with pytest.raises(ValueError, match="needs an approval"):
        policy.permit(CALL, "d", settled)
    permit = policy.permit(CALL, "d", settled, APPROVAL)
    assert (permit.approval_id, permit.basis) == (APPROVAL, B.APPROVAL)


@pytest.mark.parametrize("approval_id", [None, APPROVAL])
@pytest.mark.parametrize(("judged", "mode"), [(STOPS, M.BUILD), (STOPS, M.YOLO), (ASKS, M.PLAN)])
def test_what_is_refused_never_gets_one(
    judged: verdicts.Judgement, mode: verdicts.Mode, approval_id: ids.ApprovalId | None
) -> None:
    settled = policy.settle(judged, policy.Situation(mode=mode))
    with pytest.raises(ValueError, match="refused"):
        policy.permit(CALL, "d", settled, approval_id)


def test_reading_needs_nobody() -> None:
    permit = policy.permit(CALL, "d", policy.settle(READS, policy.Situation()))
    assert (permit.call_id, permit.digest, permit.basis) == (CALL, "d", B.READ_ONLY)


HERE, ELSEWHERE = "telegram:bot/-100/", "telegram:bot/-200/"
ANN, BOB = principals.Principal("telegram:bot:1"), principals.Principal("telegram:bot:2")
OWNER, SCRIPT = principals.LOCAL_OWNER, principals.Principal("token:ci")


@pytest.mark.parametrize(
    ("owner", "principal", "approvers", "place", "places", "may"),
    [
        (True, OWNER, (), "", (), True),
        (True, OWNER, (), "", (HERE,), True),
        (True, ANN, (), HERE, (HERE,), True),
        (True, ANN, (), ELSEWHERE, (HERE,), False),
        (True, ANN, (), HERE, (), False),
        (False, BOB, (ANN,), HERE, (HERE,), False),
        (False, BOB, (BOB,), HERE, (HERE,), True),
        (False, BOB, (BOB,), ELSEWHERE, (HERE,), False),
        (False, BOB, (), "", (), False),
        (False, SCRIPT, (), "", (HERE,), True),
    ],
)
def test_who_may_answer_where(
    owner: bool,
    principal: principals.Principal,
    approvers: tuple[principals.Principal, ...],
    place: str,
    places: tuple[str, ...],
    may: bool,
) -> None:
    sentence = policy.may_decide(owner, principal, approvers, place, places)
    assert (not sentence) is may
