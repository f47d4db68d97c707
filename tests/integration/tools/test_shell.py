"""The shell tool on the real bash: what comes out, how it ends, and that nothing is left."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.integration.tools import confined
from tools import contract, shell, shell_stream

pytestmark = [pytest.mark.spec("D-18"), pytest.mark.timeout(60)]

SHELL = shell.Shell(600)


def call(folder: Path, arguments: dict[str, object]) -> contract.Call:
    return contract.Call(
        call_id="call-1",
        tool="shell_exec",
        arguments_json=json.dumps(arguments),
        key="call-1",
        folder=str(folder),
    )


async def run(folder: Path, command: str) -> contract.Result:
    return await confined.Run(SHELL, folder, command).go()


RESULTS = {
    "output": ("echo hello", "hello\n", 0),
    "errors too, in order": ("echo a; echo b >&2; echo c", "a\nb\nc\n", 0),
    "nothing": ("true", "(no output)", 0),
    "an exit code": ("echo a; exit 3", "a\n(exit code 3)", 3),
    "nothing and an exit code": ("false", "(exit code 1)", 1),
    "a signal": ("kill -TERM $$", "(exit code 143: SIGTERM)", 143),
    "an unknown program": (
        "no-such-program",
        "/bin/bash: line 1: no-such-program: command not found\n(exit code 127)",
        127,
    ),
    "no input": ("cat; echo end", "end\n", 0),
    "bytes that are no text": ("printf 'a\\xffb'", "a\ufffdb", 0),
    "letters cut in two": ("printf '\\xc3'; sleep 0; printf '\\xa4'", "ä", 0),
    "no profile": ("echo $BASH_ENV$PROFILED", "\n", 0),
    "several lines": ("for i in 1 2; do\necho $i\ndone", "1\n2\n", 0),
}


@pytest.mark.parametrize(("command", "text", "code"), RESULTS.values(), ids=RESULTS)
async def test_a_command(command: str, text: str, code: int, tmp_path: Path) -> None:
    result = await run(tmp_path, command)
    assert (result.text, result.exit_code, result.failed) == (text, code, False)


async def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUCKLM_TOKEN", "secret")
    names = {line.partition("=")[0] for line in (await run(tmp_path, "env")).text.splitlines()}
    assert names <= {"PATH", "LANG", "TERM", "HOME", "PWD", "SHLVL", "_"}


async def test_output_comes_while_it_runs(tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    os.mkfifo(tmp_path / "go")
    running = confined.Run(SHELL, tmp_path, "echo first; read line < go; echo $line")
    task = asyncio.create_task(running.go())
    await running.came.wait()
    assert running.pieces == ["first\n"]
    assert not task.done()
    await asyncio.to_thread((tmp_path / "go").write_text, "second\n")
    assert (await task).text == "first\nsecond\n"


async def test_much_output_is_bounded(tmp_path: Path) -> None:
    chars = shell_stream.KEPT_CHARS + 100_000
    running = confined.Run(SHELL, tmp_path, f"head -c {chars} /dev/zero | tr '\\0' a")
    result = await running.go()
    assert sum(map(len, running.pieces)) == shell_stream.KEPT_CHARS
    assert result.text.endswith("\n… 100000 more characters were not kept")


class TestEnding:
    """However a command ends, no process of it is left."""

    async def cancelled(self, folder: Path, command: str) -> None:
        """Cancel a command once it has said that all of it runs."""
        running = confined.Run(SHELL, folder, command)
        task = asyncio.create_task(running.go())
        await running.came.wait()
        assert await confined.until(running.processes)
        task.cancel()
        async with asyncio.timeout(20):
            await asyncio.wait((task,))
        assert task.cancelled()
        assert running.processes() == []

    async def test_a_cancel_ends_all_of_them(self, tmp_path: Path) -> None:
        command = "trap '' TERM; sleep $TOKEN & (trap '' TERM HUP; sleep $TOKEN) & echo on; wait"
        await self.cancelled(tmp_path, command)

    async def test_a_cancel_ends_one_that_left_the_group(self, tmp_path: Path) -> None:
        await self.cancelled(tmp_path, "setsid bash -c 'echo on; exec sleep $TOKEN' & wait")

    async def test_a_background_process_ends_with_the_command(self, tmp_path: Path) -> None:
        running = confined.Run(SHELL, tmp_path, "sleep $TOKEN & echo on")
        assert (await running.go()).exit_code == 0
        assert running.processes() == []

    async def test_one_that_left_the_group_ends_with_the_command(self, tmp_path: Path) -> None:
        left = "setsid bash -c 'echo > left; exec sleep $TOKEN' &"
        running = confined.Run(SHELL, tmp_path, f"{left} until [ -e left ]; do :; done")
        assert (await running.go()).exit_code == 0
        assert running.processes() == []

    async def test_no_descriptor_is_left(self, tmp_path: Path) -> None:
        await run(tmp_path, "true")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            await run(tmp_path, "echo x")
        assert len(os.listdir("/proc/self/fd")) <= before


class TestInspection:
    async def test_what_is_bound_and_what_is_shown(self, tmp_path: Path) -> None:
        inspection = await SHELL.inspect(call(tmp_path, {"command": "ls"}))
        facts = inspection.facts
        inspection.close()
        inspection.close()
        assert facts.effect is contract.Effect.UNSAFE
        assert facts.shown == (
            ("command", "ls"),
            ("folder", str(tmp_path)),
            ("sandbox", "bubblewrap, no network"),
        )
        bound = dict(facts.bound)
        status = os.stat(tmp_path)
        assert bound["folder_inode"] == f"{status.st_dev}:{status.st_ino}"
        assert {"command", "folder", "program", "program_inode", "environment", "stdin"} <= set(
            bound
        )

    async def test_the_run_is_in_the_folder_that_was_inspected(self, tmp_path: Path) -> None:
        """Replaced by a link to another one between the two."""
        folder, other = tmp_path / "folder", tmp_path / "other"
        folder.mkdir()
        other.mkdir()
        (folder / "mine").touch()
        (other / "theirs").touch()
        running = confined.Run(SHELL, folder, "ls")
        inspection = await SHELL.inspect(running.call)
        folder.rename(tmp_path / "moved")
        folder.symlink_to(other)
        result = await SHELL.run(running.call, inspection, running.output)
        inspection.close()
        assert result.text == "mine\n"
        replaced = await SHELL.inspect(running.call)
        assert replaced.facts.bound != inspection.facts.bound
        replaced.close()

    async def test_inspecting_runs_nothing(self, tmp_path: Path) -> None:
        inspection = await SHELL.inspect(call(tmp_path, {"command": "touch made"}))
        inspection.close()
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ({"command": "a\0b"}, "no NUL"),
            ({"command": "ä" * 32 * 1024 + "a"}, "at most 65536 bytes"),
            ({"command": ""}, "command"),
            ({}, "command"),
            ({"command": 1}, "command"),
            ({"command": "ls", "sudo": True}, "sudo"),
        ],
    )
    async def test_what_is_refused(
        self, tmp_path: Path, arguments: dict[str, object], reason: str
    ) -> None:
        with pytest.raises(contract.ToolFault, match=reason):
            await SHELL.inspect(call(tmp_path, arguments))

    async def test_the_longest_command_is_taken(self, tmp_path: Path) -> None:
        command = "#" + "a" * (64 * 1024 - 1)
        assert (await run(tmp_path, command)).exit_code == 0

    @pytest.mark.parametrize("name", ["absent", "file"])
    async def test_a_folder_that_is_none(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(contract.ToolFault, match=f"{name} cannot be opened"):
            await SHELL.inspect(call(tmp_path / name, {"command": "ls"}))

    async def test_another_tools_inspection_is_not_run(self, tmp_path: Path) -> None:
        facts = contract.Facts(effect=contract.Effect.UNSAFE, bound=(), shown=())
        with pytest.raises(contract.ToolFault, match="only what it has inspected"):
            await SHELL.run(call(tmp_path, {"command": "ls"}), contract.Held(facts), print)
