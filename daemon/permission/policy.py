"""The verdict over a call, and the permit that lets it run.

A verdict is never milder than the tool's category. Only this module makes permits.
"""

from daemon.domain import base, decisions, events, ids
from tools import contract

REVISION = "1"
"""Part of every digest: raising it voids approvals that were given under an older policy."""

_VERDICTS = {
    contract.Category.READ_ONLY: events.Verdict.ALLOW_READONLY,
    contract.Category.NORMAL: events.Verdict.ASK,
    contract.Category.NO_ALWAYS: events.Verdict.ASK_NEVER_ALWAYS,
    contract.Category.HARD_STOP: events.Verdict.HARD_STOP,
}

_REASONS = {
    contract.Category.READ_ONLY: (),
    contract.Category.NORMAL: ("it can change things on this machine",),
    contract.Category.NO_ALWAYS: ("it can do harm that cannot be undone",),
    contract.Category.HARD_STOP: ("it is never allowed",),
}


class Judgement(base.Value):
    """A verdict with its reasons in plain words."""

    verdict: events.Verdict
    reasons: tuple[str, ...]
    always_allowed: bool


def judge(spec: contract.ToolSpec, facts: contract.Facts) -> Judgement:
    """What policy says of a call. Grants do not exist yet, so "always" is never offered."""
    del facts  # the category decides until commands are parsed
    return Judgement(
        verdict=_VERDICTS[spec.category],
        reasons=_REASONS[spec.category],
        always_allowed=False,
    )


def permit(
    call_id: ids.CallId,
    digest: str,
    verdict: events.Verdict,
    approval_id: ids.ApprovalId | None,
) -> decisions.Permit:
    """Grant the run of one judged call.

    Raises:
        ValueError: the verdict needs a human and there is no approval, or it is a hard stop.
    """
    if verdict is events.Verdict.HARD_STOP:
        raise ValueError(f"{call_id} is a hard stop")
    if verdict is not events.Verdict.ALLOW_READONLY and approval_id is None:
        raise ValueError(f"{call_id} needs an approval")
    return decisions.Permit(
        call_id=call_id, digest=digest, verdict=verdict, approval_id=approval_id
    )
