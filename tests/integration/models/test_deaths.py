"""What becomes of calls, and of the slot, when a worker dies, hangs or must be replaced."""

import asyncio
import functools
import os
import pathlib
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from daemon.domain import errors, messages
from daemon.models import gguf, session, worker_host

Kind = messages.ModelFaultKind
LONG = "Tell me a very long story about bridges."


@pytest.fixture
def begin(start: Any, tiny_path: pathlib.Path) -> Callable[..., gguf.GgufModel]:
    """A slot over the tiny model."""
    return functools.partial(start, path=tiny_path, context_tokens=4096)


class Quiet:
    def text(self, piece: str) -> None:
        """Not kept."""

    def thought(self, piece: str) -> None:
        """Not kept."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """Not kept."""


def is_gone(pid: int) -> bool:
    """Neither running nor a zombie."""
    return not pathlib.Path(f"/proc/{pid}").exists()


@pytest.mark.acceptance(39)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
async def test_a_death_is_told_by_its_signal_and_the_next_call_works(
    begin: Any, ask: Any, feeds: Any, rounds: Any, number: signal.Signals
) -> None:
    model = begin()
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
async def test_a_hang_ends_as_stalled(begin: Any, ask: Any, feed: Any) -> None:
    model = begin(patience=session.Patience(progress_seconds=0.5))
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
    begin: Any, ask: Any, feeds: Any
) -> None:
    model = begin(places=1)
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


async def test_what_a_cancelled_prompt_computed_is_reused(begin: Any, ask: Any, feeds: Any) -> None:
    model = begin(places=1)
    document = ask("many words " * 1500, max_tokens=4)
    feed = feeds()
    call = asyncio.create_task(model.generate(document, feed))
    await feed.prefilled.wait()
    call.cancel()
    result = await model.generate(document, Quiet())
    assert result.usage.reused_tokens > 0


async def test_a_queued_call_can_be_cancelled(begin: Any, ask: Any, feeds: Any) -> None:
    model = begin(places=1)
    running, queued = feeds(), feeds()
    first = asyncio.create_task(model.generate(ask(LONG, max_tokens=3000), running))
    await running.spoken.wait()
    second = asyncio.create_task(model.generate(ask("Hi"), queued))
    await queued.queued.wait()
    second.cancel()
    assert (await first).usage.completion_tokens == 3000
    assert (messages.Stage.QUEUED, 1, 1) in queued.stages
    assert not queued.pieces


async def test_a_worker_that_obeys_no_cancel_is_killed(begin: Any, ask: Any, feed: Any) -> None:
    model = begin(patience=session.Patience(cancel_seconds=0.2))
    call = asyncio.create_task(model.generate(ask(LONG, max_tokens=3000), feed))
    other = asyncio.create_task(model.generate(ask("Hi", max_tokens=3000), Quiet()))
    await feed.spoken.wait()
    os.kill(model.pid, signal.SIGSTOP)
    call.cancel()
    with pytest.raises(errors.ModelFault) as caught:
        await other
    assert caught.value.kind is Kind.STALLED


async def test_stop_ends_calls_and_process(begin: Any, ask: Any, feed: Any) -> None:
    model = begin()
    call = asyncio.create_task(model.generate(ask(LONG, max_tokens=3000), feed))
    await feed.spoken.wait()
    pid = model.pid
    await model.stop()
    assert is_gone(pid)
    with pytest.raises(errors.ModelFault):
        await call


async def test_stop_while_it_loads_ends_it_too(begin: Any, ask: Any) -> None:
    model = begin()
    call = asyncio.create_task(model.generate(ask("Hi"), Quiet()))
    await asyncio.sleep(0)
    await model.stop()
    with pytest.raises(errors.ModelFault):
        await call


async def test_a_worker_that_served_enough_is_replaced(begin: Any, ask: Any) -> None:
    model = begin(recycle_requests=2)
    pids = []
    for _ in range(4):
        await model.start()
        pids.append(model.pid)
        await model.generate(ask("Hi", max_tokens=1), Quiet())
    assert pids[0] == pids[1]
    assert pids[2] == pids[3]
    assert pids[0] != pids[2]


async def test_nothing_is_left_open(begin: Any, ask: Any) -> None:
    before = os.listdir("/proc/self/fd")
    model = begin()
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


def half(source: pathlib.Path, target: pathlib.Path) -> None:
    target.write_bytes(source.read_bytes()[:4_000_000])


async def test_half_a_file_is_named(
    start: Any, ask: Any, tmp_path: pathlib.Path, tiny_path: pathlib.Path
) -> None:
    path = tmp_path / "half.gguf"
    half(tiny_path, path)
    with pytest.raises(errors.ModelFault, match=r"half\.gguf"):
        await start(path=path).start()


async def test_a_context_beyond_all_memory_is_told(begin: Any) -> None:
    with pytest.raises(errors.ModelFault, match="lower context_tokens") as caught:
        await begin(context_tokens=2_000_000_000).start()
    assert caught.value.kind is Kind.UNAVAILABLE


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


async def test_a_worker_does_not_outlive_its_parent(tiny_path: pathlib.Path) -> None:
    root = worker_host.python_module("daemon").environment["PYTHONPATH"]
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHAN, str(tiny_path),
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
