"""Who may make which token, and their end."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from daemon.decide import orchestrator
from daemon.domain import decisions, errors, ids, inputs, limits, principals, world
from tests import rules
from tests.unit.decide import scenes

AT_MS = scenes.START_MS
DIGEST = "ab" * 32
KIND = errors.RefusalKind
Scopes = Sequence[principals.Scope]


def maker(principal: str, *scopes: principals.Scope) -> principals.Credential:
    return principals.Credential(
        name="maker", principal=principals.Principal(principal), scopes=frozenset(scopes)
    )


OWNER = maker("local:owner", *principals.ALL_SCOPES)
SCRIPT = maker("token:admin", "admin", "run", "channel")
BOT = maker("telegram:home:bot", "admin", "run", "channel")


def create(
    name: str = "ci",
    scopes: Scopes = ("run",),
    by: principals.Credential = OWNER,
    platform: str = "",
    account: str = "",
) -> inputs.CreateToken:
    return inputs.CreateToken(
        credential=by.name,
        principal=by.principal,
        correlation_id="c",
        maker=by,
        name=name,
        scopes=frozenset(scopes),
        platform=platform,
        account=account,
        digest=DIGEST,
    )


def bots(
    by: principals.Credential, platform: str = "telegram", account: str = "home"
) -> inputs.CreateToken:
    return create("bot", ("run", "channel"), by, platform, account)


def decide(
    given: inputs.CreateToken | inputs.RevokeToken, known: inputs.Known | None = None
) -> decisions.Step:
    used = rules.plain({}, limits.Limits(tokens=3))
    stamped = inputs.Stamped(input=given, at_ms=AT_MS, seed="0" * 32, known=known or inputs.Known())
    return orchestrator.decide(used, world.World(), stamped)


@dataclass(frozen=True)
class Refused:
    """A request, what is known, and how it must be refused."""

    given: inputs.CreateToken
    kind: errors.RefusalKind
    says: str
    live: frozenset[str] = frozenset()


REFUSED = {
    "no name": Refused(create(""), KIND.INVALID, "name has 1 to 64"),
    "a name with capitals": Refused(create("CI"), KIND.INVALID, "name has 1 to 64"),
    "a name with a colon": Refused(create("a:b"), KIND.INVALID, "name has 1 to 64"),
    "a name with a line's end": Refused(create("ci\n"), KIND.INVALID, "name has 1 to 64"),
    "a name that is too long": Refused(create("a" * 65), KIND.INVALID, "name has 1 to 64"),
    "no scope": Refused(create(scopes=()), KIND.INVALID, "Name the scopes"),
    "a script with a platform": Refused(
        create(platform="telegram"), KIND.INVALID, "leave them empty"
    ),
    "a script with an account": Refused(create(account="home"), KIND.INVALID, "leave them empty"),
    "a bot without a platform": Refused(bots(OWNER, ""), KIND.INVALID, "names its platform"),
    "a bot of the machine": Refused(bots(OWNER, "local"), KIND.INVALID, "names its platform"),
    "a bot of scripts": Refused(bots(OWNER, "token"), KIND.INVALID, "names its platform"),
    "a bot without an account": Refused(bots(OWNER, account=""), KIND.INVALID, "account"),
    "an account with a colon": Refused(bots(OWNER, account="a:b"), KIND.INVALID, "account"),
    "a scope that the maker lacks": Refused(
        create(scopes=("run", "approve", "read"), by=SCRIPT),
        KIND.FORBIDDEN,
        "lacks approve, read,",
    ),
    "admin implies nothing": Refused(
        create(scopes=("read",), by=maker("token:a", "admin")), KIND.FORBIDDEN, "lacks read,"
    ),
    "another platform's bot": Refused(bots(BOT, "matrix"), KIND.FORBIDDEN, "own platform"),
    "another account's bot": Refused(bots(BOT, account="work"), KIND.FORBIDDEN, "own platform"),
    "a bot by a script": Refused(bots(SCRIPT), KIND.FORBIDDEN, "own platform"),
    "a name that is taken": Refused(
        create(), KIND.CONFLICT, "There is a token ci already.", frozenset(("ci",))
    ),
    "one too many": Refused(
        create(), KIND.EXHAUSTED, "There are 3 tokens.", frozenset(("a", "b", "c"))
    ),
}


@pytest.mark.spec("O-01")
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_token_is_refused(case: Refused) -> None:
    step = decide(case.given, inputs.Known(live_tokens=case.live))
    assert isinstance(step.reply, decisions.Rejected)
    assert step.reply.refusal is case.kind
    assert case.says in step.reply.message
    assert (step.records, step.events, step.actions) == ((), (), ())


MADE = {
    "a script's": (create("ci.2_x-y", ("run", "read")), "token:ci.2_x-y"),
    "an approver's": (create(scopes=("approve",)), "token:ci"),
    "with all that a script has": (create(scopes=("admin", "run"), by=SCRIPT), "token:ci"),
    "a bot's by the owner": (bots(OWNER), "telegram:home:bot"),
    "a bot's by itself": (bots(BOT), "telegram:home:bot"),
}


@pytest.mark.spec("O-01")
@pytest.mark.parametrize(("given", "principal"), MADE.values(), ids=MADE)
def test_a_token_is_made_with_exactly_what_was_asked(
    given: inputs.CreateToken, principal: str
) -> None:
    step = decide(given, inputs.Known(live_tokens=frozenset(("other",))))
    (record,) = step.records
    assert isinstance(record, decisions.TokenRecord)
    assert (record.name, record.principal) == (given.name, principal)
    assert (record.scopes, record.digest) == (given.scopes, DIGEST)
    assert record.created_ms == AT_MS
    assert step.reply == decisions.TokenKept(token_id=record.token_id)
    assert step.events == ()


def revoke(token_id: str) -> inputs.RevokeToken:
    return inputs.RevokeToken(
        credential="owner",
        principal=principals.LOCAL_OWNER,
        correlation_id="c",
        token_id=ids.TokenId(token_id),
    )


def test_a_token_ends() -> None:
    step = decide(revoke("token-1"), inputs.Known(token_exists=True))
    assert step.records == (
        decisions.TokenRevoked(token_id=ids.TokenId("token-1"), revoked_ms=AT_MS),
    )
    assert step.reply == decisions.TokenKept(token_id=ids.TokenId("token-1"))


def test_an_unknown_token_cannot_end() -> None:
    step = decide(revoke("token-1"))
    assert isinstance(step.reply, decisions.Rejected)
    assert step.reply.refusal is KIND.NOT_FOUND
    assert step.records == ()
