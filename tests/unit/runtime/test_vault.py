"""A secret is handed over once, kept for minutes, and taken out of every line meanwhile."""

import pytest

from daemon.domain import ids, redaction
from daemon.runtime import vault
from tests.unit.runtime import rig

TASK, OTHER = ids.TaskId("task-1"), ids.TaskId("task-2")
SECRET = b"correct horse"
KEEP_MS = 600_000


@pytest.fixture
def clock() -> rig.HandClock:
    return rig.HandClock()


@pytest.fixture
def redactor() -> redaction.Redactor:
    return redaction.Redactor()


@pytest.fixture
def kept(clock: rig.HandClock, redactor: redaction.Redactor) -> vault.Vault:
    return vault.Vault(clock, KEEP_MS, redactor)


def hides(redactor: redaction.Redactor) -> bool:
    return SECRET.decode() not in redactor.redact(f"it is {SECRET.decode()}!")


def test_it_is_handed_over_once(kept: vault.Vault, redactor: redaction.Redactor) -> None:
    kept.put(TASK, SECRET)
    assert kept.holds(TASK)
    assert not kept.holds(OTHER)
    with kept.lent(TASK) as secret:
        assert secret is not None
        assert not kept.holds(TASK)
        assert hides(redactor)
        assert (secret.take(), secret.take()) == (SECRET, None)
        with kept.lent(TASK) as again:
            assert again is None
    assert not hides(redactor)


def test_it_is_forgotten_in_time(
    kept: vault.Vault, redactor: redaction.Redactor, clock: rig.HandClock
) -> None:
    kept.put(TASK, SECRET)
    clock.ms += KEEP_MS - 1
    assert kept.holds(TASK)
    clock.ms += 1
    assert not kept.holds(TASK)
    assert not hides(redactor)


def test_dropping_takes_back_only_what_was_put_then(kept: vault.Vault) -> None:
    drop_first = kept.put(TASK, SECRET)
    drop_second = kept.put(TASK, b"another secret")
    drop_first()
    assert kept.holds(TASK)
    drop_second()
    assert not kept.holds(TASK)


def test_one_of_two_tasks_with_the_same_secret(
    kept: vault.Vault, redactor: redaction.Redactor
) -> None:
    kept.put(TASK, SECRET)
    kept.put(OTHER, SECRET)
    kept.drop(TASK)
    assert hides(redactor)
    kept.drop(OTHER)
    assert not hides(redactor)


def test_there_are_only_so_many(kept: vault.Vault) -> None:
    for number in range(vault.MOST_SECRETS + 1):
        kept.put(ids.TaskId(f"task-{number}"), SECRET)
    assert not kept.holds(ids.TaskId("task-0"))
    assert kept.holds(ids.TaskId(f"task-{vault.MOST_SECRETS}"))


def test_nothing_shows_it(kept: vault.Vault) -> None:
    kept.put(TASK, SECRET)
    with kept.lent(TASK) as secret:
        assert SECRET.decode() not in repr((kept.__dict__, secret, secret.__dict__.keys()))
