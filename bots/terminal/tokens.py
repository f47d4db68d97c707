"""`ducklm token`: make, list and revoke tokens for scripts and bots.

Answers for: the secret alone on stdout, once, so that a shell can take it up. It must never write a
secret anywhere else.
"""

import dataclasses
import typing
from collections.abc import Sequence

from bots import render, texts
from bots.terminal import faults, listing, screen, world
from proto.ducklm.v1 import admin_pb2

SCOPES: typing.Final = {
    name.lower(): number
    for name, number in admin_pb2.Token.Scope.items()
    if number != admin_pb2.Token.SCOPE_UNSPECIFIED
}


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What the arguments said."""

    name: str
    scopes: Sequence[str]  # each may hold several with commas between
    platform: str
    account: str


def create(session: world.Session, wanted: Wanted, as_json: bool) -> faults.Exit:
    request = admin_pb2.CreateTokenRequest(
        name=wanted.name,
        scopes=_scopes(wanted.scopes),
        platform=wanted.platform,
        account=wanted.account,
        client_key=session.world.new_key(),
    )
    made = session.client.create_token(request)
    if as_json:
        session.console.out(screen.json_line(made))
        return faults.Exit.OK
    session.console.out(made.secret + "\n")
    scopes = ", ".join(listing.scopes(made.token))
    name = render.one_line(made.token.name)
    session.console.say(texts.TOKEN_MADE.format(name=name, scopes=scopes))
    return faults.Exit.OK


def _scopes(given: Sequence[str]) -> list["admin_pb2.Token.Scope.ValueType"]:
    names = [name.strip().lower() for text in given for name in text.split(",")]
    if not names or any(name not in SCOPES for name in names):
        raise faults.UsageFault(texts.SCOPE_UNKNOWN.format(choices=", ".join(SCOPES)))
    return [SCOPES[name] for name in names]


def show(session: world.Session, limit: int, revoked: bool, as_json: bool) -> faults.Exit:
    """List tokens, newest first."""
    rows = list(session.client.tokens(limit, revoked))
    for line in listing.lines(rows, as_json, listing.token):
        session.console.out(line)
    if not rows and not as_json:
        session.console.say(texts.TOKENS_NONE)
    return faults.Exit.OK


def revoke(session: world.Session, named: str, as_json: bool) -> faults.Exit:
    """Revoke the token of that name, or else of that id."""
    token_id = next(
        (row.token_id for row in session.client.tokens(None) if row.name == named), named
    )
    ended = session.client.revoke_token(token_id, session.world.new_key())
    for line in listing.lines([ended], as_json, listing.token):
        session.console.out(line)
    return faults.Exit.OK
