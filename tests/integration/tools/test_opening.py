"""That a command opens the copies it was given, whatever another program puts in their place."""

import asyncio
import dataclasses
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.integration.tools import confined, test_sandbox_ending
from tools import contract, shell

pytestmark = [pytest.mark.spec("D-12"), pytest.mark.timeout(60)]

SHELL = shell.Shell(600)
EVIL = "#!/bin/sh\necho evil\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "x.sh").write_text("echo good\n")
    (made / "plain.sh").write_text("echo good\n")
    (made / "s.sh").write_text("#!/bin/sh\necho good\n")
    (made / "x.pl").write_text('print "good\\n"\n')
    (made / "x.py").write_text("print('good')\n")
    (made / "env.py").write_text("#!/usr/bin/env python3\nprint('good')\n")
    shutil.copy("/bin/echo", made / "prog")
    for one in ("plain.sh", "s.sh", "env.py", "prog"):
        (made / one).chmod(0o755)
    (made / "link.sh").symlink_to("x.sh")
    os.mkfifo(made / "go")
    return made


async def unwatched() -> shell.Shell:
    """A shell on a machine that lets nobody be traced."""
    return shell.Shell(600, dataclasses.replace(await SHELL.powers(), watches=False))


async def test_this_machine_lets_commands_be_watched() -> None:
    assert (await SHELL.powers()).watches, "sysctl kernel.yama.ptrace_scope=1"


RUNNING = {
    "a script": "bash x.sh",
    "a script by a link": "bash link.sh",
    "a script of sh": "sh x.sh",
    "a script of perl": "perl x.pl",
    "a script of python": "python3 x.py",
    "a script by itself": "./s.sh",
    "a script by env": "./env.py",
    "a script that the kernel does not know": "./plain.sh",
    "a program": "./prog good",
    "by another program": "env X=1 bash x.sh",
    "by another process": "timeout 9 bash x.sh",
}
BY_SHELL = {
    "a list": "bash x.sh && true",
    "a subshell": "(bash x.sh)",
    "in the background": "bash x.sh & wait",
    "a pipe": "bash x.sh | cat",
    "sourced": "source x.sh",
    "sourced by a dot": "cd . && . ./x.sh",
    "in a loop": "for i in 1; do bash x.sh; done",
    "by a program that stays": "echo | xargs -n 1 bash x.sh",
}


@pytest.mark.parametrize("case", RUNNING)
async def test_a_copy_runs_as_plain_words(case: str, folder: Path) -> None:
    words = contract.Names(argv=tuple(RUNNING[case].split()))
    result = await confined.Run(SHELL, folder, RUNNING[case], names=words).go()
    assert (result.text, result.exit_code, result.failed) == ("good\n", 0, False)


@pytest.mark.parametrize("case", RUNNING | BY_SHELL)
async def test_a_copy_runs_by_the_shell(case: str, folder: Path) -> None:
    command = (RUNNING | BY_SHELL)[case]
    assert (await confined.Run(SHELL, folder, command).go()).text == "good\n"


def _rename_over(file: Path) -> None:
    other = file.with_name("other")
    other.write_text(EVIL)
    other.chmod(0o755)
    other.rename(file)


def _rename_link_over(file: Path) -> None:
    other = file.with_name("other")
    other.write_text(EVIL)
    other.chmod(0o755)
    file.with_name("another").symlink_to("other")
    file.with_name("another").rename(file)


def _rename_away(file: Path) -> None:
    file.rename(file.with_name("away"))
    file.write_text(EVIL)
    file.chmod(0o755)


def _replace_twice(file: Path) -> None:
    _rename_over(file)
    _rename_over(file)


SWAPS: dict[str, Callable[[Path], None]] = {
    "another file": _rename_over,
    "a link": _rename_link_over,
    "a file in the place of one that left": _rename_away,
    "another file, and another": _replace_twice,
}


async def swapped(
    using: shell.Shell, folder: Path, command: str, name: str, swap: Callable[[Path], None]
) -> contract.Result:
    """A command one of whose files is replaced after the command began, before that file is run."""
    run = confined.Run(using, folder, f"read line < go; {command}")
    task = asyncio.create_task(run.go())
    opened = await asyncio.to_thread(os.open, folder / "go", os.O_WRONLY)
    swap(folder / name)
    os.write(opened, b"\n")
    os.close(opened)
    return await task


READ = {
    "a script": ("bash x.sh", "x.sh"),
    "a script's link": ("bash link.sh", "link.sh"),
    "what a link leads to": ("bash link.sh", "x.sh"),
    "a script of sh": ("sh x.sh", "x.sh"),
    "a script of perl": ("perl x.pl", "x.pl"),
    "a script of python": ("python3 x.py", "x.py"),
    "by another program": ("env X=1 bash x.sh", "x.sh"),
    "by another process": ("timeout 9 bash x.sh", "x.sh"),
    "in the background": ("bash x.sh & wait", "x.sh"),
    "after another": ("./s.sh && bash x.sh", "x.sh"),
    "sourced": ("source x.sh", "x.sh"),
}


@pytest.mark.parametrize("how", SWAPS)
@pytest.mark.parametrize("case", READ)
async def test_a_replaced_script_runs_as_it_was(case: str, how: str, folder: Path) -> None:
    command, name = READ[case]
    result = await swapped(SHELL, folder, command, name, SWAPS[how])
    assert "good\n" in result.text
    assert "evil" not in result.text
    assert not result.failed


STARTED = {
    "a program": ("./prog good", "prog"),
    "a program in the shell's place": ("exec ./prog good", "prog"),
    "a script by itself": ("./s.sh", "s.sh"),
    "a script by env": ("env ./env.py", "env.py"),
    "a script that the kernel did not know": ("./plain.sh", "plain.sh"),
}


@pytest.mark.parametrize("how", SWAPS)
@pytest.mark.parametrize("case", STARTED)
async def test_what_replaced_a_program_does_not_run(case: str, how: str, folder: Path) -> None:
    command, name = STARTED[case]
    result = await swapped(SHELL, folder, f"echo begun; {command}; echo on", name, SWAPS[how])
    assert result.text.startswith("begun\n(ended: ./")
    assert "was replaced when it was to be run, and nothing ran in its place" in result.text
    assert "evil" not in result.text
    assert result.failed


@pytest.mark.parametrize("case", READ | STARTED)
async def test_the_attempts_are_real_ones(case: str, folder: Path) -> None:
    """Where nobody may be traced, they get through, and the result says so."""
    command, name = (READ | STARTED)[case]
    result = await swapped(await unwatched(), folder, command, name, _rename_over)
    assert "evil\n" in result.text or name.startswith("x.p")
    assert "good\n" not in result.text or "&&" in command
    assert "so what ran may not be what was asked" in result.text or "link" in command


async def test_where_nobody_may_be_traced_that_is_said(folder: Path) -> None:
    using = await unwatched()
    for command, lines in (("bash x.sh", 1), ("true", 0)):
        inspection = await using.inspect(confined.Run(using, folder, command).call)
        inspection.close()
        assert len(inspection.facts.missing) == lines


SIGNALS = {
    "one that is caught": ("trap 'echo caught' USR1; kill -USR1 $$; echo on", "caught\non\n", 0),
    "one that ends it": ("kill -TERM $$", "(exit code 143: SIGTERM)", 143),
    "a stop": (
        "sleep 60 & kill -STOP $!; kill -CONT $!; kill $!; wait $!; echo $?",
        "143\n",
        0,
    ),
    "a fault": ("kill -SEGV $$", "(exit code 139: SIGSEGV)", 139),
}


@pytest.mark.parametrize("case", SIGNALS)
@pytest.mark.parametrize("command", ["bash x.sh", "bash x.sh; exit $?"])
async def test_signals_arrive(command: str, case: str, folder: Path) -> None:
    script, text, code = SIGNALS[case]
    (folder / "x.sh").write_text(script)
    result = await confined.Run(SHELL, folder, command).go()
    assert (result.text.splitlines()[-1], result.exit_code) == (text.splitlines()[-1], code)


OPENAT = {"x86_64": 257, "aarch64": 56}
"""By machine: the number of the call."""


async def test_a_call_with_an_address_that_is_none(folder: Path) -> None:
    call = f"syscall({OPENAT[os.uname().machine]}, -100, {{}}, 0, 0);"
    calls = "".join(call.format(address) for address in (-1, 0, 8, "1 << 62"))
    (folder / "x.pl").write_text(f'{calls} print "$!\n"')
    assert (await confined.Run(SHELL, folder, "perl x.pl").go()).text == "Bad address\n"


def _traced(process: psutil.Process) -> bool:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return "TracerPid:\t0" not in lines


LONG = "for i in {1..200}; do : < /dev/null; done; sleep $1 & echo on; wait"


async def test_what_has_its_copy_is_let_go(folder: Path) -> None:
    """The script, and what it started."""
    (folder / "x.sh").write_text(LONG)
    run = confined.Run(SHELL, folder, "bash x.sh $TOKEN")
    task = asyncio.create_task(run.go())
    await run.came.wait()
    assert await confined.until(lambda: len(inner(run)) == 2)
    assert await confined.until(lambda: not any(map(_traced, inner(run))))
    task.cancel()
    await asyncio.wait((task,))


def inner(run: confined.Run) -> list[psutil.Process]:
    """A command's processes that became programs of their own."""
    return [one for one in run.processes() if one.name() in ("bash", "sleep")]


HELD = {"one that is let go": "bash x.sh $TOKEN", "one that is traced": "sleep $TOKEN; bash x.sh"}


@pytest.mark.parametrize("case", HELD)
async def test_nothing_is_left_when_the_tracer_is_killed(case: str, folder: Path) -> None:
    (folder / "x.sh").write_text(LONG)
    run = confined.Run(SHELL, folder, HELD[case])
    task = asyncio.create_task(run.go())
    assert await confined.until(lambda: inner(run))
    tracer = next(one for one in psutil.Process().children() if "-S" in one.cmdline())
    tracer.send_signal(signal.SIGKILL)
    with pytest.raises(contract.ToolFault, match="the sandbox could not be made"):
        await task
    assert await test_sandbox_ending.gone(run.token)
