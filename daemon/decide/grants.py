"""What "always" stands for: a grant of exactly one call, listed, bounded and revocable."""

from daemon.decide import turn
from daemon.domain import decisions, errors, events, ids, inputs, principals, world
from daemon.permission import policy

_DAY_MS = 24 * 3600 * 1000


def create(
    current: turn.Turn,
    task: world.Task,
    approval: world.Approval,
    granted_by: principals.Principal,
) -> ids.GrantId:
    """Let the call of an approval run unasked from now on; of a schedule's run, in its runs alone.

    Raises:
        ValueError: the approval does not say what that would be.
    """
    if approval.card is None or not approval.key:
        raise ValueError(f"{approval.approval_id} does not name its call")
    limits = current.rules.limits
    days, uses = limits.grant_days, limits.grant_uses
    if task.run is not None:
        days, uses = limits.schedule_grant_days, limits.schedule_grant_uses
    grant_id = current.ids.grant()
    current.emit(
        task,
        events.GrantCreated(
            grant_id=grant_id,
            key=approval.key,
            tool=approval.tool,
            principal=task.origin.principal,
            folder=approval.folder,
            card=approval.card,
            granted_by=granted_by,
            expires_ms=current.at_ms + days * _DAY_MS,
            uses=uses,
            schedule_id=task.run.schedule_id if task.run is not None else None,
        ),
    )
    return grant_id


def refuse_more(current: turn.Turn) -> decisions.Rejected | None:
    """Why there can be no more grants, if there cannot."""
    most = current.rules.limits.grants
    if len(current.world.live_grants(current.at_ms)) < most:
        return None
    return decisions.Rejected(
        refusal=errors.RefusalKind.EXHAUSTED,
        message=f"{most} calls are allowed always already. Revoke some with Approvals.RevokeGrant, "
        "or allow this one once.",
    )


def revoke(current: turn.Turn, given: inputs.RevokeGrant) -> decisions.Reply | decisions.Rejected:
    """Take a grant back; its call asks again from the next time on."""
    grant = current.world.grants.get(given.grant_id)
    if grant is None:
        return decisions.Rejected(
            refusal=errors.RefusalKind.NOT_FOUND,
            message=f"There is no grant {given.grant_id}: it was revoked, used up or has expired.",
        )
    is_owner = current.rules.owners.is_owner(given.principal)
    sentence = policy.may_decide(is_owner, given.principal, (grant.principal,), "", ())
    if sentence:
        return decisions.Rejected(refusal=errors.RefusalKind.FORBIDDEN, message=sentence)
    revoked = events.GrantRevoked(grant_id=grant.grant_id, principal=given.principal)
    current.record(revoked, grant.conversation_id, given.correlation_id)
    return decisions.GrantKept(grant_id=grant.grant_id)
