"""A real daemon with plugins: it starts, names those that are broken, and asks for the others."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from proto.ducklm.v1 import approvals_pb2, common_pb2
from tests import running_daemon
from tests.integration.rpc import work
from tests.integration.tools import plugged

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(120)]

CALL = {"kind": "tool", "tool": "weather", "arguments": {"town": "Köln"}}
SCRIPT: list[running_daemon.ScriptLine] = [
    {"role": "*", "match": "^weather", "reply": json.dumps(CALL)},
    {"role": "*", "match": "sunny", "reply": "It is sunny."},
    {"role": "*", "match": ".", "reply": "No.", "repeat": True},
]


class Plugged(running_daemon.RunningDaemon):
    """Its packages are in a folder of its own besides the real ones."""

    @property
    def site(self) -> Path:
        return self.root / "site"

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PYTHONPATH": str(self.site)}


@contextlib.contextmanager
def running(settings: str = "") -> Iterator[Plugged]:
    with running_daemon.folder() as root:
        daemon = Plugged(root)
        daemon.script(SCRIPT)
        daemon.settings(settings)
        daemon.site.mkdir()
        plugged.install(daemon.site, "bad", "raise RuntimeError('no')", one="MODULE:x")
        plugged.install(daemon.site, "nice", plugged.GOOD, weather="MODULE:Weather")
        try:
            daemon.start()
            yield daemon
        finally:
            daemon.kill()


@pytest.mark.acceptance(22)
def test_a_plugin_that_calls_itself_harmless_asks_all_the_same() -> None:
    with running() as daemon, daemon.api() as api:
        task_id = work.submit(api, "weather")
        approval_id = work.pending(api, task_id)
        request = approvals_pb2.GetApprovalRequest(approval_id=approval_id)
        card = api.approvals.Get(request).card
        assert "runs: plugin weather of nice, without a sandbox" in card
        assert 'arguments: {"town": "Köln"}' in card or 'arguments: {"town":"Köln"}' in card
        work.resolve(api, approval_id, approvals_pb2.ALLOW_ONCE)
        assert work.end(api, task_id).state == common_pb2.COMPLETED
        (fault,) = [one for one in api.admin.Status(work.STATUS).notices if "plugin" in one]
        assert fault == "plugin one of bad is left out: it raised RuntimeError: no"
        assert "plugin_left_out" in daemon.log_text()


@pytest.mark.parametrize(
    "settings", ["[tools]\nplugins = false", '[tools]\noff = ["weather", "x"]']
)
def test_what_is_turned_off_is_unknown(settings: str) -> None:
    with running(settings) as daemon, daemon.api() as api:
        task_id = work.submit(api, "weather")
        work.end(api, task_id)
        assert "tool_call_inspected" not in work.kinds(work.events(api, task_id))
        notices = list(api.admin.Status(work.STATUS).notices)
        assert ("tools.off: there is no x" in notices) == ("off" in settings)
