"""`ducklm token` against a real daemon: a script's token from its making to its end."""

import pytest

from tests import running_daemon
from tests.e2e import terminal


@pytest.mark.spec("O-01")
def test_a_script_works_with_a_token_of_its_own_until_it_is_revoked(
    daemon: running_daemon.RunningDaemon,
) -> None:
    made = terminal.run(daemon, "token", "create", "nightly", "--scope", "run", "--scope", "read")
    assert made.returncode == 0, made.stderr
    secret = made.stdout.strip()
    assert secret not in made.stderr
    done = terminal.run(daemon, "ask", "What is the capital of France?", token=secret)
    assert (done.returncode, done.stdout) == (0, "Paris.\n")
    more = terminal.run(daemon, "token", "create", "more", "--scope", "run", token=secret)
    assert (more.returncode, more.stdout) == (2, "")
    assert "lacks the scope admin" in more.stderr
    assert "nightly" in terminal.run(daemon, "token", "list").stdout
    assert terminal.run(daemon, "token", "revoke", "nightly").returncode == 0
    gone = terminal.run(daemon, "ask", "again?", token=secret)
    assert (gone.returncode, gone.stdout) == (2, "")
    assert "nightly" not in terminal.run(daemon, "token", "list").stdout
    assert "nightly" in terminal.run(daemon, "token", "list", "--revoked").stdout
    assert secret not in daemon.log_text()
