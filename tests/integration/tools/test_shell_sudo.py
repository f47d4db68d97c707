"""Commands as root: outside the sandbox, with the password on their input and nowhere else."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.integration.tools import confined
from tools import contract, shell, shell_stream

pytestmark = [pytest.mark.spec("D-15"), pytest.mark.timeout(60)]

PASSWORD = "correct horse"
ARGV = ("sudo", "-S", "-k", "-p", "", "id", "-u")
SUDO = """#!/usr/bin/perl
# Takes the password as sudo does, and says all that it was given.
$password = <STDIN>;
$more = <STDIN>;
print "argv: @ARGV\\nrest: ", defined $more ? $more : "end", "\\n";
print "$_=$ENV{$_}\\n" for sort keys %ENV;
open(F, "/proc/self/status"); print grep /NoNewPrivs|Seccomp:/, <F>;
opendir(D, "/proc/self/fd"); print "fds: ", join(" ", sort grep /^[0-2]$/, readdir D), "\\n";
print "password: $password";
BEGIN { $| = 1 }
for (split //, $password) { print; select undef, undef, undef, 0.001 }
exit($password eq "correct horse\\n" ? 0 : 1);
"""


@pytest.fixture
def sudo(tmp_path: Path) -> str:
    program = tmp_path / "sudo"
    program.write_text(SUDO)
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def as_root(
    using: shell.Shell,
    folder: Path,
    argv: tuple[str, ...] | None = ARGV,
    confinement: contract.Confinement | None = None,
) -> confined.Run:
    names = contract.Names(argv=argv, elevated=True)
    return confined.Run(using, folder, "sudo id -u", confinement, names)


async def test_the_password_goes_to_the_input_and_nowhere_else(folder: Path, sudo: str) -> None:
    run = as_root(shell.Shell(600, sudo=sudo), folder)
    secret = contract.Secret(PASSWORD.encode())
    result = await run.go(secret)
    assert result.exit_code == 0
    assert result.text == (
        "argv: -S -k -p  id -u\nrest: end\n"
        "HOME=/\nLANG=C.UTF-8\nPATH=/usr/bin:/bin\nTERM=dumb\n"
        "NoNewPrivs:\t0\nSeccomp:\t0\nfds: 0 1 2\n"
        "password: [secret]\n[secret]\n"
    )
    assert run.text == result.text
    assert secret.take() is None


async def test_what_is_shown_and_asked(folder: Path, sudo: str) -> None:
    using = shell.Shell(600, sudo=sudo)
    inspection = await using.inspect(as_root(using, folder).call)
    inspection.close()
    assert inspection.facts.secret == "the password for sudo"
    assert inspection.facts.shown == (
        ("command", "sudo -S -k -p '' id -u"),
        ("folder", str(folder)),
        ("outside the sandbox", "as root"),
    )
    bound = dict(inspection.facts.bound)
    assert bound["program"] == sudo
    assert bound["argv"] == repr(ARGV)


async def test_a_wrong_password_fails(folder: Path, sudo: str) -> None:
    run = as_root(shell.Shell(600, sudo=sudo), folder)
    result = await run.go(contract.Secret(b"wrong"))
    assert result.exit_code == 1
    assert "wrong" not in result.text


async def test_nothing_runs_without_a_password(folder: Path, sudo: str) -> None:
    for secret in (None, contract.Secret(b"")):
        with pytest.raises(contract.ToolFault, match="needs the password"):
            await as_root(shell.Shell(600, sudo=sudo), folder).go(secret)


REFUSED = {
    "no sudo on the machine": ("/absent/sudo", ARGV, None, "sudo is not installed"),
    "no plain words": ("", None, None, "plain words only"),
    "read-only mode": ("", ARGV, contract.Confinement(read_only=True), "cannot be confined"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_refused(case: str, folder: Path, sudo: str) -> None:
    program, argv, confinement, reason = REFUSED[case]
    using = shell.Shell(600, sudo=program or sudo)
    with pytest.raises(contract.ToolFault, match=reason):
        await using.inspect(as_root(using, folder, argv, confinement).call)


async def test_a_cancel_ends_it(tmp_path: Path, folder: Path) -> None:
    program = tmp_path / "sudo"
    program.write_text("#!/bin/sh\nread -r p\necho on\n(setsid sleep $6 &)\nexec sleep $6\n")
    program.chmod(0o755)
    using = shell.Shell(600, sudo=str(program))
    run = as_root(using, folder)
    argv = (*ARGV[:5], "sleep", run.token)
    run.call = run.call.model_copy(
        update={
            "arguments_json": json.dumps({"command": "sudo sleep"}),
            "names": contract.Names(argv=argv, elevated=True),
        }
    )
    task = asyncio.create_task(run.go(contract.Secret(b"x")))
    await run.came.wait()
    assert await confined.until(run.processes)
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled()
    assert run.processes() == []


CUTS = [b"a", b"pass", b"word", b"passpassword", b"", b"pas", b"swordx", b"passwor"]


@pytest.mark.parametrize("secret", [b"password", b"p", b"aa", b"ab\xc3"])
def test_a_secret_cut_in_pieces_is_covered(secret: bytes) -> None:
    whole = b"--" + secret + b"--".join(CUTS) + secret + secret + b"." + secret[:-1]
    for size in range(1, 9):
        cover = shell_stream.Cover(secret)
        pieces = [whole[i : i + size] for i in range(0, len(whole), size)]
        out = b"".join(cover.feed(piece) for piece in pieces) + cover.rest()
        assert secret not in out.replace(shell_stream.MARK, b"")
        assert out.startswith(b"--" + shell_stream.MARK)
        assert out.count(shell_stream.MARK) == whole.count(secret)
