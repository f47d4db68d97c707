"""`ducklm people` against a real daemon: somebody asks, is let in, and is kept out again."""

import pytest

from proto.ducklm.v1 import channels_pb2, common_pb2
from tests import running_daemon
from tests.e2e import terminal


@pytest.mark.spec("B-03")
def test_somebody_is_let_in_by_the_code_and_kept_out_by_name(
    daemon: running_daemon.RunningDaemon,
) -> None:
    who = "telegram:terminal:8"
    origin = common_pb2.Origin(principal=who, chat="8")
    with daemon.api() as api:
        asked = api.channels.Pair(channels_pb2.PairRequest(origin=origin, name="Ann\x1b[2J"))
    listed = terminal.run(daemon, "people", "list").stdout
    assert f"{who}  asked  {asked.code}  Ann" in listed
    assert "\x1b" not in listed
    allowed = terminal.run(daemon, "people", "allow", asked.code)
    assert (allowed.returncode, allowed.stdout.split()[:2]) == (0, [who, "allowed"])
    refused = terminal.run(daemon, "people", "refuse", who, "--json")
    assert '"state":"REFUSED"' in refused.stdout.replace(" ", "")
    unknown = terminal.run(daemon, "people", "allow", "000000")
    assert unknown.returncode == 2
    assert "Nobody asks to talk" in unknown.stderr
