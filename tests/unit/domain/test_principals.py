"""Who may speak for whom, and who is an owner."""

import pytest

from daemon.domain import principals

OWNERS = principals.Owners(telegram=frozenset(("42",)), matrix=frozenset(("@me:example.org",)))


@pytest.mark.spec("O-01")
@pytest.mark.parametrize(
    ("principal", "expected"),
    [
        ("local:owner", True),
        ("telegram:home:42", True),
        ("telegram:another-bot:42", True),
        ("telegram:home:421", False),
        ("telegram:home:4", False),
        ("telegram:home:bot", False),
        ("telegram:42", False),
        ("telegram::42", False),
        ("telegram:42:", False),
        ("matrix:home:@me:example.org", True),
        ("matrix:home:@me:example.org:8448", False),
        ("matrix:home:42", False),
        ("telegram:home:@me:example.org", False),
        ("token:42", False),
        ("token:owner", False),
        ("local:owner:42", False),
        ("slack:home:42", False),
        ("", False),
    ],
)
def test_who_is_an_owner(principal: str, expected: bool) -> None:
    assert OWNERS.is_owner(principals.Principal(principal)) is expected


def test_nobody_but_the_person_at_the_machine_owns_it_by_default() -> None:
    assert principals.Owners().is_owner(principals.LOCAL_OWNER)
    assert not principals.Owners().is_owner(principals.Principal("telegram:home:42"))


ALL = principals.ALL_SCOPES
NO_CHANNEL = ALL - {"channel"}


@pytest.mark.spec("O-01")
@pytest.mark.parametrize(
    ("own", "scopes", "stated", "expected"),
    [
        ("token:ci", frozenset(("run",)), "token:ci", True),
        ("token:ci", NO_CHANNEL, "token:other", False),
        ("token:ci", NO_CHANNEL, "telegram:home:42", False),
        ("token:ci", ALL, "telegram:home:42", False),
        ("token:ci", ALL, "token:ci:x", False),
        ("telegram:home:bot", ALL, "telegram:home:42", True),
        ("telegram:home:bot", ALL, "telegram:home:bot", True),
        ("telegram:home:bot", NO_CHANNEL, "telegram:home:42", False),
        ("telegram:home:bot", ALL, "telegram:work:42", False),
        ("telegram:home:bot", ALL, "telegram:home", False),
        ("telegram:home:bot", ALL, "telegram:homer:42", False),
        ("telegram:home:bot", ALL, "matrix:home:42", False),
        ("telegram:home:bot", ALL, "local:owner", False),
        ("telegram:home:bot", ALL, "token:ci", False),
        ("matrix:home:bot", ALL, "matrix:home:@a:b", True),
        ("local:owner", ALL, "matrix:home:@a:b", True),
        ("local:owner", NO_CHANNEL, "matrix:home:@a:b", False),
        ("local:owner", ALL, "nobody", False),
    ],
)
def test_who_may_speak_for_whom(
    own: str, scopes: frozenset[principals.Scope], stated: str, expected: bool
) -> None:
    credential = principals.Credential(name="c", principal=principals.Principal(own), scopes=scopes)
    assert principals.may_state(credential, principals.Principal(stated)) is expected
