"""May this call run, must a person say so, or never: from its judgement and its situation.

A verdict is never milder than the tool's category, nor than what was judged of its command and its
paths. Only this module makes permits.
"""

from dataclasses import dataclass
from enum import StrEnum

from daemon.domain import decisions, ids, principals, taints, verdicts
from tools import contract

REVISION = "2"
"""Part of every digest: raising it voids approvals that were given under an older policy."""

_Verdict = verdicts.Verdict

_OF_CATEGORY = {
    contract.Category.READ_ONLY: verdicts.Judgement(_Verdict.ALLOW_READONLY),
    contract.Category.NORMAL: verdicts.Judgement(
        _Verdict.ASK, ("it can change things on this machine",), always_allowed=True
    ),
    contract.Category.NO_ALWAYS: verdicts.Judgement(
        _Verdict.ASK_NEVER_ALWAYS, ("it can do harm that cannot be undone",)
    ),
    contract.Category.HARD_STOP: verdicts.Judgement(_Verdict.HARD_STOP, ("it is never allowed",)),
}


class Way(StrEnum):
    """What becomes of a call now."""

    RUN = "run"
    ASK = "ask"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Situation:
    """What surrounds a call and is not of it."""

    mode: verdicts.Mode = verdicts.Mode.BUILD
    taint: taints.Taint = taints.CLEAN
    grant_id: ids.GrantId | None = None
    """A live grant for exactly this call."""
    denied: bool = False
    """A person said no to exactly this call in this task."""
    unread: str = ""
    """A file that it would overwrite and that nobody has looked at in this task."""
    reads: bool = False
    """It changes nothing here: it only asks machines on the web."""
    named: bool = False
    """The user's own message names the addresses that it would read."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The way of a call: why it runs (`basis`), or the reasons to ask or to refuse."""

    way: Way
    verdict: verdicts.Verdict
    reasons: tuple[str, ...]
    always_allowed: bool = False
    basis: verdicts.Basis | None = None
    grant_id: ids.GrantId | None = None


def of_category(category: contract.Category) -> verdicts.Judgement:
    """What a tool's category alone says."""
    return _OF_CATEGORY[category]


def of_hosts(category: contract.Category, hosts: tuple[str, ...]) -> verdicts.Judgement:
    """What a category says of a call that only asks machines on the web."""
    judged = of_category(category)
    if judged.verdict is not _Verdict.ASK:
        return judged
    reason = f"it asks {', '.join(hosts)}, which then knows of it"
    return verdicts.Judgement(judged.verdict, (reason,), judged.always_allowed)


def combine(*judged: verdicts.Judgement) -> verdicts.Judgement:
    """The strictest of several, with the reasons of all; "always" only if all of them allow it."""
    verdict = verdicts.strictest(one.verdict for one in judged)
    asking = [one for one in judged if one.verdict is not _Verdict.ALLOW_READONLY]
    reasons = dict.fromkeys(reason for one in judged for reason in one.reasons)
    return verdicts.Judgement(
        verdict=verdict,
        reasons=tuple(reasons),
        always_allowed=verdict is _Verdict.ASK and all(one.always_allowed for one in asking),
    )


def confined(judged: verdicts.Judgement, missing: tuple[str, ...]) -> verdicts.Judgement:
    """A judgement where this machine does not give all of the confinement: one step stricter."""
    if not missing:
        return judged
    reasons = tuple(f"this machine gives {part}" for part in missing)
    return verdicts.Judgement(
        verdict=verdicts.stricter(judged.verdict), reasons=judged.reasons + reasons
    )


def settle(judged: verdicts.Judgement, situation: Situation) -> Settled:
    """Whether a judged call runs unasked, after a person's yes, or not at all."""
    verdict, reasons = judged.verdict, judged.reasons
    if verdict is _Verdict.HARD_STOP:
        return Settled(Way.REFUSE, verdict, reasons)
    if verdict is _Verdict.ALLOW_READONLY:
        return Settled(Way.RUN, verdict, reasons, basis=verdicts.Basis.READ_ONLY)
    if situation.mode is verdicts.Mode.PLAN and not situation.reads:
        plan = "this conversation only plans: nothing may be changed until its mode is build"
        return Settled(Way.REFUSE, verdict, (plan,))
    if situation.denied:
        return Settled(Way.REFUSE, verdict, ("the user has already said no to exactly this",))
    if situation.unread:
        unread = f"read {situation.unread} first: its whole text would be replaced unseen"
        return Settled(Way.REFUSE, verdict, (unread,))
    if situation.named and not situation.taint and verdict is _Verdict.ASK:
        return Settled(Way.RUN, verdict, reasons, basis=verdicts.Basis.NAMED)
    if situation.taint:
        told = f"the task has read untrusted text: {taints.tell(situation.taint)}"
        return Settled(Way.ASK, verdict, (*reasons, told), judged.always_allowed)
    if verdict is _Verdict.ASK and judged.always_allowed and situation.grant_id is not None:
        basis = verdicts.Basis.GRANT
        return Settled(Way.RUN, verdict, reasons, basis=basis, grant_id=situation.grant_id)
    if verdict is _Verdict.ASK and situation.mode is verdicts.Mode.YOLO:
        return Settled(Way.RUN, verdict, reasons, basis=verdicts.Basis.YOLO)
    return Settled(Way.ASK, verdict, reasons, judged.always_allowed)


def permit(
    call_id: ids.CallId,
    digest: str,
    settled: Settled,
    approval_id: ids.ApprovalId | None = None,
) -> decisions.Permit:
    """Grant the run of one judged call: by what was settled, or by the approval of a person.

    Raises:
        ValueError: it is refused, or needs a person and there is no approval.
    """
    if settled.way is Way.REFUSE:
        raise ValueError(f"{call_id} is refused")
    if approval_id is not None:
        approval = verdicts.Basis.APPROVAL
        return decisions.Permit(call_id, digest, basis=approval, approval_id=approval_id)
    if settled.way is Way.ASK or settled.basis is None:
        raise ValueError(f"{call_id} needs an approval")
    return decisions.Permit(call_id, digest, basis=settled.basis, grant_id=settled.grant_id)


def permit_again(call_id: ids.CallId, digest: str, basis: verdicts.Basis) -> decisions.Permit:
    """Let a call that was started go on after a stop, on what let it start."""
    return decisions.Permit(call_id, digest, basis=basis)


def may_decide(
    is_owner: bool,
    principal: principals.Principal,
    approvers: tuple[principals.Principal, ...],
    place: str,
    places: tuple[str, ...],
) -> str:
    """Why this principal may not answer an approval, in a sentence; empty where it may.

    A script's token may, since it was given the scope for it. A person in a chat may when they own
    the daemon or asked for the call themselves, and only where the approval is shown.
    """
    if place and place not in places:
        return "It is not shown in this chat: answer it where it was asked."
    script = principals.platform(principal) == "token"
    if is_owner or script or principal in approvers:
        return ""
    return "Only the owner of this daemon, or who asked for the command, may decide."
