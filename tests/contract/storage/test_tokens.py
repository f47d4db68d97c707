"""Tokens: what is kept of them, that live names are unique, and what a write knows of them."""

import pytest

from daemon.domain import decisions, errors, ids, inputs, principals, views
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store

MAKER = principals.Credential(name="owner", principal=histories.OWNER, scopes=principals.ALL_SCOPES)


def token(number: int, name: str = "", digest: str = "") -> decisions.TokenRecord:
    name = name or f"script-{number}"
    return decisions.TokenRecord(
        token_id=ids.TokenId(f"token-{number}"),
        name=name,
        digest=digest or f"{number:064x}",
        principal=principals.of_script(name),
        scopes=frozenset(("run", "read")),
        created_ms=histories.START_MS + number,
    )


def revoked(number: int, at_ms: int = 99) -> decisions.TokenRevoked:
    return decisions.TokenRevoked(token_id=ids.TokenId(f"token-{number}"), revoked_ms=at_ms)


def view(number: int, name: str = "", revoked_ms: int | None = None) -> views.TokenView:
    kept = token(number, name)
    return views.TokenView(
        token_id=kept.token_id,
        name=kept.name,
        principal=kept.principal,
        scopes=kept.scopes,
        created_ms=kept.created_ms,
        revoked_ms=revoked_ms,
        created_seq=number,
    )


def create(name: str) -> inputs.CreateToken:
    return inputs.CreateToken(
        credential="owner",
        principal=histories.OWNER,
        correlation_id="c",
        maker=MAKER,
        name=name,
        scopes=frozenset(("run",)),
        digest="d",
    )


def revoke(token_id: str) -> inputs.RevokeToken:
    return inputs.RevokeToken(
        credential="owner",
        principal=histories.OWNER,
        correlation_id="c",
        token_id=ids.TokenId(token_id),
    )


async def test_there_are_none_at_first(store: Store) -> None:
    assert await store.live_tokens() == ()
    assert (await store.tokens(10, revoked=True)).rows == ()
    assert await store.token(ids.TokenId("token-1")) is None


async def test_a_token_comes_back_as_it_was_kept(store: Store) -> None:
    bot = token(2).model_copy(
        update={
            "principal": principals.of_bot("telegram", "bot"),
            "scopes": principals.ALL_SCOPES,
        }
    )
    await store.commit([], [token(1), bot])
    assert await store.live_tokens() == (token(1), bot)
    assert await store.token(token(1).token_id) == view(1)
    found = await store.token(bot.token_id)
    assert found is not None
    assert (found.principal, found.scopes) == ("telegram:bot:bot", principals.ALL_SCOPES)


async def test_a_revoked_token_is_no_longer_live_and_its_first_end_stays(store: Store) -> None:
    await store.commit([], [token(1), token(2)])
    await store.commit([], [revoked(1, 50)])
    await store.commit([], [revoked(1, 60)])
    assert await store.live_tokens() == (token(2),)
    assert await store.token(token(1).token_id) == view(1, revoked_ms=50)
    assert (await store.tokens(10)).rows == (view(2),)
    assert (await store.tokens(10, revoked=True)).rows == (view(2), view(1, revoked_ms=50))


async def test_pages_are_newest_first(store: Store) -> None:
    await store.commit([], [token(number) for number in range(1, 6)])
    pages, before = [], None
    while True:
        page = await store.tokens(2, before)
        pages.append([one.created_seq for one in page.rows])
        before = page.next_before
        if before is None:
            break
    assert pages == [[5, 4], [3, 2], [1]]


@pytest.mark.parametrize(
    "again",
    [token(1, "another", "e" * 64), token(2, "script-1"), token(2, "another", token(1).digest)],
    ids=["id", "live name", "digest"],
)
async def test_what_must_be_unique_is(store: Store, again: decisions.TokenRecord) -> None:
    await store.commit([], [token(1)])
    with pytest.raises(errors.StorageFault):
        await store.commit([], [token(3), again])
    assert await store.live_tokens() == (token(1),)


async def test_a_name_is_free_again_once_its_token_is_revoked(store: Store) -> None:
    await store.commit([], [token(1, "ci"), token(2)])
    await store.commit([], [revoked(1)])
    await store.commit([], [token(3, "ci")])
    assert await store.live_tokens() == (token(2), token(3, "ci"))


async def test_a_write_knows_of_tokens(store: Store) -> None:
    await store.commit([], [token(1), token(2), revoked(2)])
    assert (await store.known(create("any"))).live_tokens == {"script-1"}
    assert (await store.known(revoke("token-1"))).token_exists
    assert (await store.known(revoke("token-2"))).token_exists
    assert not (await store.known(revoke("token-3"))).token_exists


async def test_the_answer_to_a_keyed_creation_comes_back(store: Store) -> None:
    reply = decisions.TokenKept(token_id=token(1).token_id)
    key = decisions.ClientKeyRecord(
        credential="owner", client_key="k", body_hash="b", reply=reply, at_ms=histories.START_MS
    )
    await store.commit([], [token(1), key])
    known = await store.known(create("any").model_copy(update={"client_key": "k"}))
    assert (known.key_body_hash, known.key_reply) == ("b", reply)
