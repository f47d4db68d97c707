"""Tokens for scripts and bots: who may make which, and their end.

Scopes are exact: none implies another, and nobody gives away one that they lack. A secret never
comes here, only its digest.
"""

import re

from daemon.decide import turn
from daemon.domain import decisions, errors, inputs, principals

_KIND = errors.RefusalKind
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_PLATFORM = re.compile(r"[a-z][a-z0-9]{0,31}")
_ACCOUNT = re.compile(r"[A-Za-z0-9._-]{1,64}")


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def create(
    current: turn.Turn, given: inputs.CreateToken
) -> decisions.TokenKept | decisions.Rejected:
    """Keep a new token, or say why not."""
    channel = "channel" in given.scopes
    refused = _malformed(given, channel)
    if refused is not None:
        return refused
    principal = principals.of_script(given.name)
    if channel:
        principal = principals.of_bot(given.platform, given.account)
    refused = _beyond_maker(given, principal, channel) or _taken(current, given)
    if refused is not None:
        return refused
    token_id = current.ids.token()
    current.keep_record(
        decisions.TokenRecord(
            token_id=token_id,
            name=given.name,
            digest=given.digest,
            principal=principal,
            scopes=given.scopes,
            created_ms=current.at_ms,
        )
    )
    return decisions.TokenKept(token_id=token_id)


def _malformed(given: inputs.CreateToken, channel: bool) -> decisions.Rejected | None:
    if not _NAME.fullmatch(given.name):
        message = "name has 1 to 64 of a-z, 0-9, dot, dash and underscore, a letter or digit first."
        return _reject(_KIND.INVALID, message)
    if not given.scopes:
        return _reject(_KIND.INVALID, "Name the scopes: RUN, READ, APPROVE, CHANNEL, ADMIN.")
    if not channel:
        if given.platform or given.account:
            message = "platform and account are for tokens with scope CHANNEL; leave them empty."
            return _reject(_KIND.INVALID, message)
        return None
    if not _PLATFORM.fullmatch(given.platform) or given.platform in principals.OWN_PLATFORMS:
        message = 'A token with scope CHANNEL names its platform, for example "telegram".'
        return _reject(_KIND.INVALID, message)
    if not _ACCOUNT.fullmatch(given.account):
        message = "A token with scope CHANNEL names its bot's account: letters, digits, ., _ and -."
        return _reject(_KIND.INVALID, message)
    return None


def _beyond_maker(
    given: inputs.CreateToken, principal: principals.Principal, channel: bool
) -> decisions.Rejected | None:
    lacking = sorted(given.scopes - given.maker.scopes)
    if lacking:
        message = f"This token lacks {', '.join(lacking)}, and gives away only what it has."
        return _reject(_KIND.FORBIDDEN, message)
    if channel and not principals.may_state(given.maker, principal):
        message = "This token makes tokens with scope CHANNEL for its own platform and account."
        return _reject(_KIND.FORBIDDEN, message)
    return None


def _taken(current: turn.Turn, given: inputs.CreateToken) -> decisions.Rejected | None:
    if given.name in current.known.live_tokens:
        message = f"There is a token {given.name} already. Revoke it first, or choose another name."
        return _reject(_KIND.CONFLICT, message)
    if len(current.known.live_tokens) >= current.rules.limits.tokens:
        message = f"There are {current.rules.limits.tokens} tokens. Revoke one that nobody uses."
        return _reject(_KIND.EXHAUSTED, message)
    return None


def revoke(
    current: turn.Turn, given: inputs.RevokeToken
) -> decisions.TokenKept | decisions.Rejected:
    """End a token for good; the same again changes nothing."""
    if not current.known.token_exists:
        return _reject(_KIND.NOT_FOUND, f"There is no token {given.token_id}.")
    ended = decisions.TokenRevoked(token_id=given.token_id, revoked_ms=current.at_ms)
    current.keep_record(ended)
    return decisions.TokenKept(token_id=given.token_id)
