"""Bad requests: each gets its status and a sentence that helps, and nothing is lost by it."""

import threading
from collections.abc import Callable, Iterator

import grpc
import pytest

from proto.ducklm.v1 import (
    approvals_pb2,
    artifacts_pb2,
    common_pb2,
    events_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import bad_requests, methods, work

LIMITS = "[limits]\nartifact_bytes = 1048575\n"
EVERY = {methods.short(method): method for method in methods.every()}


@pytest.fixture(scope="module")
def limited() -> Iterator[running_daemon.RunningDaemon]:
    """A daemon with small limits."""
    with running_daemon.running(work.SCRIPT, LIMITS) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def own(limited: running_daemon.RunningDaemon) -> Iterator[running_daemon.Api]:
    with limited.api() as opened:
        yield opened


def refused(call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return methods.fault(caught.value)


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("name", bad_requests.BAD)
def test_a_bad_request_changes_nothing(
    limited: running_daemon.RunningDaemon, own: running_daemon.Api, name: str
) -> None:
    bad = bad_requests.BAD[name]
    before = own.events.List(events_pb2.ListEventsRequest(limit=1)).head_seq
    with limited.channel() as channel:
        code, sentence = refused(
            lambda: EVERY[bad.method].call(channel, [bad.request], methods.bearer(limited.token))
        )
    assert (code, bad.says in sentence) == (bad.code, True), sentence
    assert len(sentence) < 600
    assert own.events.List(events_pb2.ListEventsRequest(limit=1)).head_seq == before


def test_after_all_of_it_the_daemon_serves_and_has_met_no_fault(
    limited: running_daemon.RunningDaemon, own: running_daemon.Api
) -> None:
    assert work.end(own, work.submit(own, "still there?")).answer == "Paris."
    assert "call_broke" not in limited.log_text()
    assert not list((limited.state / "artifacts").iterdir())


def test_an_artifact_over_the_limit_in_parts_leaves_nothing(
    limited: running_daemon.RunningDaemon, own: running_daemon.Api
) -> None:
    parts = [artifacts_pb2.PutArtifactRequest(data=b"x" * 300_000) for _ in range(4)]
    code, _ = refused(lambda: own.artifacts.Put(iter(parts)))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not list((limited.state / "artifacts").iterdir())


def test_an_artifact_that_is_broken_off_leaves_nothing(
    limited: running_daemon.RunningDaemon, own: running_daemon.Api
) -> None:
    folder = limited.state / "artifacts"
    dropped = threading.Event()

    def parts() -> Iterator[artifacts_pb2.PutArtifactRequest]:
        yield artifacts_pb2.PutArtifactRequest(data=b"x" * 300_000)
        dropped.wait(running_daemon.CALL_S)

    put = own.artifacts.Put.future(parts())
    assert _comes_true(own, lambda: bool(list(folder.iterdir())))
    put.cancel()
    dropped.set()
    assert _comes_true(own, lambda: not list(folder.iterdir()))


def _comes_true(own: running_daemon.Api, seen: Callable[[], bool]) -> bool:
    """Whether it does within a bounded number of calls."""
    for _ in range(2000):
        own.admin.Status(work.STATUS)
        if seen():
            return True
    return False


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (approvals_pb2.ALLOW_ONCE, approvals_pb2.DENY),
        (approvals_pb2.DENY, approvals_pb2.ALLOW_ONCE),
    ],
)
def test_a_second_answer(
    own: running_daemon.Api,
    first: approvals_pb2.Answer.ValueType,
    second: approvals_pb2.Answer.ValueType,
) -> None:
    task_id = work.submit(own, "`env echo one answer`")
    approval_id = work.pending(own, task_id)
    resolved = work.resolve(own, approval_id, first)
    assert work.resolve(own, approval_id, first).status == resolved.status
    code, sentence = refused(lambda: work.resolve(own, approval_id, second))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert sentence.startswith("It is decided already: ")
    work.end(own, task_id)
    assert work.resolve(own, approval_id, first).decided_by == "local:owner"
    assert (
        refused(lambda: work.resolve(own, approval_id, second))[0]
        is grpc.StatusCode.FAILED_PRECONDITION
    )
    kinds = work.kinds(work.events(own, task_id))
    assert kinds.count("approval_resolved") == 1


def test_always_is_refused_where_it_is_not_offered(own: running_daemon.Api) -> None:
    task_id = work.submit(own, "`touch said; echo always`")
    approval_id = work.pending(own, task_id)
    code, sentence = refused(lambda: work.resolve(own, approval_id, approvals_pb2.ALLOW_ALWAYS))
    assert (code, sentence.split(".")[0]) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "This can only be allowed once",
    )
    got = own.approvals.Get(approvals_pb2.GetApprovalRequest(approval_id=approval_id))
    assert got.status == approvals_pb2.PENDING
    own.tasks.Cancel(tasks_pb2.CancelRequest(task_id=task_id))
    got = own.approvals.Get(approvals_pb2.GetApprovalRequest(approval_id=approval_id))
    assert got.status == approvals_pb2.WITHDRAWN
    code, _ = refused(lambda: work.resolve(own, approval_id, approvals_pb2.ALLOW_ONCE))
    assert code is grpc.StatusCode.FAILED_PRECONDITION


def test_a_task_that_does_not_wait_cannot_be_decided(own: running_daemon.Api) -> None:
    task_id = work.submit(own, "endless")
    retry = tasks_pb2.DecideRequest(task_id=task_id, decision=tasks_pb2.RETRY)
    code, sentence = refused(lambda: own.tasks.Decide(retry))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "does not wait for a decision" in sentence
    own.tasks.Cancel(tasks_pb2.CancelRequest(task_id=task_id))
    code, sentence = refused(lambda: own.tasks.Decide(retry))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "has ended" in sentence
    assert own.tasks.Cancel(tasks_pb2.CancelRequest(task_id=task_id)).state == common_pb2.CANCELLED
