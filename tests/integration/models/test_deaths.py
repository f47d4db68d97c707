"""What becomes of calls, and of the slot, when a worker dies, hangs or must be replaced."""

import asyncio
import os
import pathlib
import select
import signal
import struct
import sys
import time
from typing import Any

import pytest

from daemon.domain import errors, messages
from daemon.models import session, worker_host

Kind = messages.ModelFaultKind
LONG = "Tell me a very long story about bridges."


class Quiet:
    def text(self, piece: str) -> None:
        """Not kept."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """Not kept."""


def is_gone(pid: int) -> bool:
    """Neither running nor a zombie."""
    return not pathlib.Path(f"/proc/{pid}").exists()


@pytest.mark.acceptance(39)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
async def test_a_death_is_told_by_its_signal_and_the_next_call_works(
    start: Any, ask: Any, feeds: Any, rounds: Any, number: signal.Signals
) -> None:
    model = start(context_tokens=4096)
    for _ in range(rounds(20)):
        feed = feeds()
        call = asyncio.create_task(model.generate(ask(LONG, max_tokens=2000), feed))
        other = asyncio.create_task(model.generate(ask("Hi", max_tokens=2000), feeds()))
        await feed.spoken.wait()
        pid = model.pid
        os.kill(pid, number)
        killed = time.monotonic()
        outcomes = await asyncio.gather(call, other, return_exceptions=True)
        assert time.monotonic() - killed < 2
        assert is_gone(pid)
        for outcome in outcomes:
            if isinstance(outcome, messages.ModelResult):
                continue
            assert isinstance(outcome, errors.ModelFault)
            assert outcome.kind is Kind.DIED
            assert number.name in str(outcome)
    assert (await model.generate(ask("Hello", max_tokens=2), Quiet())).text


@pytest.mark.acceptance(39)
async def test_a_hang_ends_as_stalled(start: Any, ask: Any, feed: Any) -> None:
    model = start(patience=session.Patience(progress_seconds=0.5), context_tokens=4096)
    call = asyncio.create_task(model.generate(ask(LONG, max_tokens=3000), feed))
    await feed.spoken.wait()
    pid = model.pid
    os.kill(pid, signal.SIGSTOP)
    stopped = time.monotonic()
    with pytest.raises(errors.ModelFault) as caught:
        await call
    assert caught.value.kind is Kind.STALLED
    assert time.monotonic() - stopped < 2
    assert is_gone(pid)


async def test_a_cancel_is_seen_within_a_batch_and_the_next_call_works(
    start: Any, ask: Any, feeds: Any
) -> None:
    model = start(context_tokens=4096, places=1)
    document = ask("many words " * 1500, max_tokens=10)
    feed = feeds()
    call = asyncio.create_task(model.generate(document, feed))
    await feed.prefilled.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    pid, cancelled = model.pid, time.monotonic()
    result = await model.generate(ask("Hi", max_tokens=1), Quiet())
    assert result.usage.queued_ms < 1000
    assert time.monotonic() - cancelled < 3
    assert model.pid == pid
    assert not feed.pieces


async def test_what_a_cancelled_prompt_computed_is_reused(start: Any, ask: Any, feeds: Any) -> None:
    model = start(context_tokens=4096, places=1)
    document = ask("many words " * 100, max_tokens=4)
    feed = feeds()
    call = asyncio.create_task(model.generate(document, feed))
    await feed.prefilled.wait()
    call.cancel()
    result = await model.generate(document, Quiet())
    assert result.usage.reused_tokens > 0


async def test_a_queued_call_can_be_cancelled(start: Any, ask: Any, feeds: Any) -> None:
    model = start(context_tokens=4096, places=1)
    running, queued = feeds(), feeds()
    first = asyncio.create_task(model.generate(ask(LONG, max_tokens=60), running))
    await running.spoken.wait()
    second = asyncio.create_task(model.generate(ask("Hi"), queued))
    await queued.queued.wait()
    second.cancel()
    assert (await first).usage.completion_tokens == 60
    assert (messages.Stage.QUEUED, 1, 1) in queued.stages
    assert not queued.pieces


async def test_a_worker_that_obeys_no_cancel_is_killed(start: Any, ask: Any, feed: Any) -> None:
    model = start(patience=session.Patience(cancel_seconds=0.2), context_tokens=4096)
    call = asyncio.create_task(model.generate(ask(LONG, max_tokens=3000), feed))
    other = asyncio.create_task(model.generate(ask("Hi", max_tokens=3000), Quiet()))
    await feed.spoken.wait()
    os.kill(model.pid, signal.SIGSTOP)
    call.cancel()
    with pytest.raises(errors.ModelFault) as caught:
        await other
    assert caught.value.kind is Kind.STALLED


async def test_stop_ends_calls_and_process(start: Any, ask: Any, feed: Any) -> None:
    model = start(context_tokens=4096)
    call = asyncio.create_task(model.generate(ask(LONG, max_tokens=3000), feed))
    await feed.spoken.wait()
    pid = model.pid
    await model.stop()
    assert is_gone(pid)
    with pytest.raises(errors.ModelFault):
        await call


async def test_stop_while_it_loads_ends_it_too(start: Any, ask: Any) -> None:
    model = start()
    call = asyncio.create_task(model.generate(ask("Hi"), Quiet()))
    await asyncio.sleep(0)
    await model.stop()
    with pytest.raises(errors.ModelFault):
        await call


async def test_a_worker_that_served_enough_is_replaced(start: Any, ask: Any) -> None:
    model = start(recycle_requests=2)
    pids = []
    for _ in range(4):
        await model.start()
        pids.append(model.pid)
        await model.generate(ask("Hi", max_tokens=1), Quiet())
    assert pids[0] == pids[1]
    assert pids[2] == pids[3]
    assert pids[0] != pids[2]


async def test_nothing_is_left_open(start: Any, ask: Any) -> None:
    before = os.listdir("/proc/self/fd")
    model = start()
    for _ in range(2):
        await model.generate(ask("Hi", max_tokens=1), Quiet())
        await model.stop()
    assert len(os.listdir("/proc/self/fd")) <= len(before)


def gguf_header(version: int = 3, tensors: int = 1, keys: int = 1) -> bytes:
    return struct.pack("<4sIQQ", b"GGUF", version, tensors, keys)


FILES = {
    "missing": (None, "no model file"),
    "empty": (b"", "not a GGUF file"),
    "something else": (b"PK\x03\x04" + bytes(100), "not a GGUF file"),
    "a web page": (b"<!doctype html>" + b" " * 100, "not a GGUF file"),
    "an old version": (gguf_header(version=1), "version 1"),
    "nothing in it": (gguf_header(tensors=0), "damaged"),
    "a header alone": (gguf_header(), "cannot load"),
}


@pytest.mark.parametrize("case", FILES.values(), ids=FILES.keys())
async def test_a_bad_file_is_named_with_the_way_to_mend_it(
    start: Any, ask: Any, tmp_path: pathlib.Path, case: tuple[bytes | None, str]
) -> None:
    content, expected = case
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    model = start(path=path)
    with pytest.raises(errors.ModelFault, match=expected) as caught:
        await model.generate(ask("Hi"), Quiet())
    assert caught.value.kind is Kind.UNAVAILABLE
    assert str(path) in str(caught.value)
    with pytest.raises(errors.ModelFault, match="tried again"):
        await model.generate(ask("Hi"), Quiet())


async def test_half_a_file_is_named(
    start: Any, ask: Any, tmp_path: pathlib.Path, model_path: pathlib.Path
) -> None:
    path = tmp_path / "half.gguf"
    with model_path.open("rb") as whole:
        path.write_bytes(whole.read(20_000_000))
    with pytest.raises(errors.ModelFault, match=r"half\.gguf"):
        await start(path=path).start()


ORPHAN = """
import asyncio, os, pathlib, signal, sys
from daemon.models import gguf

async def main() -> None:
    model = gguf.GgufModel(gguf.Settings(name="m", path=pathlib.Path(sys.argv[1])))
    await model.start()
    os.write(1, str(model.pid).encode())
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_worker_does_not_outlive_its_parent(model_path: pathlib.Path) -> None:
    root = worker_host.python_module("daemon").environment["PYTHONPATH"]
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHAN, str(model_path),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": os.environ.get("PYTHONPATH", root)},
    )  # fmt: skip
    output, _ = await parent.communicate()
    pid = int(output.split()[-1])
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 5)[0]
    finally:
        os.close(handle)
