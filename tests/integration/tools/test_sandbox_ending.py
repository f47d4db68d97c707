"""Nothing is left of a command: after a cancel, a timeout, and a kill -9 of what started it."""

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.conftest import Figures, Rounds
from tests.integration.tools import confined
from tools import shell
from tools.sandbox import launcher, launching, powers

pytestmark = [pytest.mark.spec("D-14"), pytest.mark.timeout(120)]

ROOT = str(Path(__file__).resolve().parents[3])
KINDS = {
    "bubblewrap": None,
    "Landlock": powers.landlock(launcher.version(), filtered=True),
    "no sandbox": launching.Powers(launching.Kind.NONE),
}
STUBBORN = {
    "double fork and setsid": "((setsid sleep $TOKEN &) &); echo on; wait; sleep $TOKEN",
    "deaf to signals": "trap '' TERM HUP INT; (setsid sleep $TOKEN) & echo on; wait",
    "no output left": "setsid bash -c 'exec 1>&- 2>&-; sleep $TOKEN & wait' & echo on; wait",
    "a script": "bash stubborn.sh $TOKEN",
    "a script in the midst": "(sleep $TOKEN & setsid sleep $TOKEN &); echo on; wait; sleep $TOKEN;"
    " bash stubborn.sh 0",
    "a session in a session": "setsid bash -c 'setsid sleep $TOKEN & echo on; wait' & wait",
}


@pytest.fixture(autouse=True)
def script(tmp_path: Path) -> None:
    """A command with a script is watched by a process of its own."""
    content = "(setsid sleep $1 & trap '' TERM; sleep $1) & echo on; wait"
    (tmp_path / "stubborn.sh").write_text(content)


KILLED_SECONDS = 10.0
"""A keeper learns of the daemon's death by a signal, at the lowest priority on a busy machine."""


async def gone(token: str) -> bool:
    """Whether no process with the token is left in time."""
    return await confined.until(lambda: not confined.carrying(token), confined.GONE_SECONDS)


async def broken_off(using: shell.Shell, folder: Path, command: str, by_timeout: bool) -> float:
    """Cancel a command, or let its time run out; the seconds until nothing of it was left."""
    run = confined.Run(using, folder, command)
    task = asyncio.create_task(run.go())
    await run.came.wait()
    assert await confined.until(run.processes)
    began = time.monotonic()
    if by_timeout:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await task
    else:
        task.cancel()
        await asyncio.wait((task,))
    assert await gone(run.token), run.processes()
    return time.monotonic() - began


@pytest.mark.acceptance(21)
async def test_no_process_is_left(
    tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    using, chance = shell.Shell(600), random.Random(seed)
    longest = 0.0
    for number in range(rounds(50)):
        command = chance.choice(list(STUBBORN.values()))
        longest = max(longest, await broken_off(using, tmp_path, command, number % 2 == 0))
    figures("processes left", 0)
    figures("longest, seconds", round(longest, 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", STUBBORN)
async def test_each_kind_ends_it(kind: str, how: str, tmp_path: Path) -> None:
    await broken_off(shell.Shell(600, KINDS[kind]), tmp_path, STUBBORN[how], by_timeout=False)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_ended_command_leaves_nothing(kind: str, tmp_path: Path) -> None:
    run = confined.Run(shell.Shell(600, KINDS[kind]), tmp_path, "(setsid sleep $TOKEN &) & echo on")
    assert (await run.go()).text == "on\n"
    assert run.processes() == []


@pytest.mark.acceptance(21)
async def test_a_cancel_at_any_moment(tmp_path: Path, seed: int, rounds: Rounds) -> None:
    """Also while the sandbox is being made."""
    using, chance = shell.Shell(600), random.Random(seed)
    await using.powers()
    for _ in range(rounds(200)):
        run = confined.Run(using, tmp_path, "sleep $TOKEN")
        task = asyncio.create_task(run.go())
        for _ in range(chance.randrange(30)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        assert await gone(run.token)


@pytest.mark.parametrize("kind", ["Landlock", "no sandbox"])
async def test_a_keeper_that_is_told_again_while_it_ends_leaves_nothing(
    kind: str, tmp_path: Path, rounds: Rounds
) -> None:
    """As when the daemon dies while its keeper ends already."""
    using = shell.Shell(600, KINDS[kind])
    for _ in range(rounds(200)):
        run = confined.Run(using, tmp_path, "sleep $TOKEN & echo on; wait")
        task = asyncio.create_task(run.go())
        await run.came.wait()
        assert await confined.until(run.processes)
        keeper = run.processes()[0].parent()
        while keeper is not None and "launcher.py" not in " ".join(keeper.cmdline()):
            keeper = keeper.parent()
        assert keeper is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            while keeper.status() != psutil.STATUS_ZOMBIE:
                keeper.terminate()
        await asyncio.wait((task,))
        assert await gone(run.token), run.processes()


STARTER = """
import asyncio, pathlib, sys
from tests.integration.tools import confined, test_sandbox_ending
from tools import shell
async def main():
    run = confined.Run(shell.Shell(600, test_sandbox_ending.KINDS[sys.argv[1]]),
                       pathlib.Path(sys.argv[2]), test_sandbox_ending.STUBBORN[sys.argv[3]])
    task = asyncio.create_task(run.go())
    await run.came.wait()
    while not run.processes():
        await asyncio.sleep(0)
    print(run.token, flush=True)
    await task
asyncio.run(main())
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", STUBBORN)
async def test_kill_9_of_the_daemon_ends_it(kind: str, how: str, tmp_path: Path) -> None:
    starter = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, kind, str(tmp_path), how),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert starter.stdout is not None
    token = (await starter.stdout.readline()).decode().strip()
    assert confined.carrying(token)
    starter.send_signal(signal.SIGKILL)
    await starter.wait()
    ended = await confined.until(lambda: not confined.carrying(token), KILLED_SECONDS)
    assert ended, "a process outlived the daemon"
