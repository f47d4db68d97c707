"""What an inspection binds and finds, and that the run is of exactly that."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Figures, Rounds
from tests.integration.tools import confined
from tools import contract, shell, shell_facts

pytestmark = [pytest.mark.spec("D-12"), pytest.mark.timeout(60)]

SHELL = shell.Shell(600)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / "sub").mkdir(parents=True)
    (made / "x.sh").write_text("echo good\n")
    (made / "x.sh").chmod(0o755)
    (made / "data").write_text("data")
    (made / "link").symlink_to("data")
    return made


async def facts(
    folder: Path,
    command: str,
    names: contract.Names | None = None,
    confinement: contract.Confinement | None = None,
) -> contract.Facts:
    call = confined.Run(SHELL, folder, command, confinement, names).call
    inspection = await SHELL.inspect(call)
    inspection.close()
    return inspection.facts


def _rewrite(folder: Path) -> None:
    (folder / "x.sh").write_text("echo evil\n")


def _relink(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc/passwd")


def _replace_program(folder: Path) -> None:
    (folder / "other").write_text("echo good\n")
    (folder / "other").chmod(0o755)
    (folder / "other").rename(folder / "x.sh")


def _replace_folder(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.mkdir()


CHANGES: dict[str, tuple[str, contract.Names, Callable[[Path], None]]] = {
    "script bytes": ("bash x.sh", contract.Names(), _rewrite),
    "script bytes, run by itself": ("./x.sh", contract.Names(argv=("./x.sh",)), _rewrite),
    "a link's target": ("cat link", contract.Names(paths=("link",)), _relink),
    "a program's inode": ("./x.sh", contract.Names(argv=("./x.sh",)), _replace_program),
    "a named program's inode": ("x", contract.Names(programs=("./x.sh",)), _replace_program),
    "the folder's inode": ("ls", contract.Names(), _replace_folder),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_is_another_binding(change: str, folder: Path) -> None:
    command, names, make = CHANGES[change]
    before = await facts(folder, command, names)
    assert (await facts(folder, command, names)).bound == before.bound
    make(folder)
    if change != "the folder's inode":
        assert (await facts(folder, command, names)).bound != before.bound
    else:
        (folder / "sub").mkdir()
        assert (await facts(folder, command, names)).bound != before.bound


@pytest.mark.parametrize(
    "confinement",
    [
        contract.Confinement(network=True),
        contract.Confinement(read_only=True),
        contract.Confinement(hidden=("/srv",)),
    ],
)
async def test_the_confinement_is_bound(folder: Path, confinement: contract.Confinement) -> None:
    bound = (await facts(folder, "ls")).bound
    assert (await facts(folder, "ls", confinement=confinement)).bound != bound


async def test_what_is_shown(folder: Path) -> None:
    shown = (await facts(folder, "ls", confinement=contract.Confinement(network=True))).shown
    assert shown == (
        ("command", "ls"),
        ("folder", str(folder)),
        ("sandbox", "bubblewrap, with this machine's network"),
    )


async def run(folder: Path, command: str, argv: tuple[str, ...] | None = None) -> contract.Result:
    return await confined.Run(SHELL, folder, command, names=contract.Names(argv=argv)).go()


ARGV = {
    "words as they are": (("printf", "%s|", "a b", "$HOME", "*", ";"), "a b|$HOME|*|;|", 0),
    "no shell's variables": (("env",), None, 0),
    "a script of the folder": (("./x.sh",), "good\n", 0),
    "a program that is not there": (
        ("no-such-program",),
        "/bin/bash: line 1: no-such-program: command not found\n(exit code 127)",
        127,
    ),
    "an exit code": (("false",), "(exit code 1)", 1),
}


@pytest.mark.parametrize("case", ARGV)
async def test_plain_words(case: str, folder: Path) -> None:
    argv, text, code = ARGV[case]
    result = await run(folder, " ".join(argv), argv)
    assert result.exit_code == code
    if text is not None:
        assert result.text == text
    else:
        names = {line.partition("=")[0] for line in result.text.splitlines()}
        assert names == {"PATH", "LANG", "TERM", "HOME", "PWD"}


async def test_a_name_is_looked_up_on_the_fixed_path_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin")
    (folder / "ls").write_text("#!/bin/sh\necho mine\n")
    (folder / "ls").chmod(0o755)
    assert "mine" not in (await run(folder, "ls", ("ls",))).text
    found = shell_facts.program("ls", str(folder))
    assert found is not None
    assert (found.path, found.trusted) == ("/usr/bin/ls", True)


def test_a_program_that_others_may_change_is_not_trusted(tmp_path: Path) -> None:
    program = tmp_path / "p"
    program.write_text("#!/bin/sh\n")
    for mode, folder_mode in ((0o755, 0o777), (0o777, 0o755), (0o775, 0o755)):
        program.chmod(mode)
        tmp_path.chmod(folder_mode)
        found = shell_facts.program("./p", str(tmp_path))
        assert found is not None
        assert not found.trusted


@pytest.mark.acceptance(16)
async def test_a_script_written_into_meanwhile(
    folder: Path, rounds: Rounds, figures: Figures
) -> None:
    """Between its inspection and its run: what was inspected runs."""
    wrong = 0
    for _ in range(rounds(1000)):
        call = confined.Run(SHELL, folder, "bash x.sh", names=contract.Names(argv=("bash", "x.sh")))
        inspection = await SHELL.inspect(call.call)
        with (folder / "x.sh").open("r+") as file:
            file.write("echo evil\n")
        result = await SHELL.run(call.call, inspection, call.output)
        wrong += result.text != "good\n"
        inspection.close()
        with (folder / "x.sh").open("r+") as file:
            file.write("echo good\n")
    figures("wrong runs of a script written into", wrong)
    assert wrong == 0


async def test_a_script_replaced_meanwhile_is_said(folder: Path) -> None:
    run = confined.Run(SHELL, folder, "bash x.sh", names=contract.Names(argv=("bash", "x.sh")))
    inspection = await SHELL.inspect(run.call)
    _replace_program(folder)
    result = await SHELL.run(run.call, inspection, run.output)
    inspection.close()
    assert "careful: x.sh was replaced meanwhile" in result.text


async def test_a_command_may_write_the_script_that_it_runs(folder: Path) -> None:
    command = "echo 'echo new' > x.sh; bash x.sh"
    assert (await run(folder, command)).text == "new\n"
    assert (await run(folder, "sed -i s/new/newer/ x.sh && bash ./x.sh")).text == "newer\n"


async def test_the_copy_of_a_script_keeps_its_rights(folder: Path) -> None:
    (folder / "x.sh").write_text("#!/bin/sh\nstat -c %a $0; echo x >> $0\n")
    result = await run(folder, "./x.sh", ("./x.sh",))
    assert result.text.startswith("555\n")
    assert (folder / "x.sh").read_text().endswith(">> $0\n")
    assert stat.S_IMODE((folder / "x.sh").stat().st_mode) == 0o755


EXECUTED = {
    "./x.sh": ["./x.sh"],
    "bash x.sh": ["x.sh"],
    "bash -x x.sh y": ["x.sh"],
    "bash -c 'x.sh'": [],
    "python3 -m pytest x.py": [],
    "python3.11 'x.py' a": ["x.py"],
    "cd sub && ./x.sh; sh y": ["./x.sh", "y"],
    "FOO=1 timeout 5 env -i ./x.sh": ["./x.sh"],
    "cat x.sh > ./y; . z": ["z"],
    "echo bash x.sh": [],
    "a | sh s.sh | b/c": ["s.sh", "b/c"],
}


@pytest.mark.parametrize("command", EXECUTED)
def test_where_scripts_stand(command: str) -> None:
    tokens = shell_facts.tokens(command)
    assert list(shell_facts.executed(tokens, with_operators=True)) == EXECUTED[command]


def test_plain_words_are_no_operators() -> None:
    words = ("env", "", ">", "bash", ";", "./x")
    assert list(shell_facts.executed(words, with_operators=False)) == []
    assert list(shell_facts.executed(("bash", ">x.sh"), with_operators=False)) == [">x.sh"]


def real(folder: Path, *written: str) -> list[tuple[str, str]]:
    found = shell_facts.touched(written, str(folder), str(folder))
    return [(one.written, os.path.relpath(one.real, folder)) for one in found]


def test_touched_paths(folder: Path) -> None:
    (folder / "out").symlink_to("/etc")
    (folder / ".hidden").touch()
    assert real(folder, "link", "absent/x", "out/passwd", "~/data", "../y") == [
        ("link", "data"),
        ("absent/x", "absent/x"),
        ("out/passwd", os.path.relpath("/etc/passwd", folder)),
        ("~/data", "data"),
        ("../y", "../y"),
    ]
    assert real(folder, "*.sh", "[dl]*", "none*", "su?/*") == [
        ("*.sh", "x.sh"),
        ("[dl]*", "data"),
        ("[dl]*", "data"),
        ("none*", "none*"),
        ("su?/*", "su?/*"),
    ]
    assert (".h*", ".hidden") in real(folder, ".h*")
    assert real(folder, "sub/a\0b", "\0", "/\0/x") == [
        ("sub/a\0b", "sub"),
        ("\0", "."),
        ("/\0/x", os.path.relpath("/", folder)),
    ]


def test_a_hard_link_is_found(folder: Path) -> None:
    os.link(folder / "data", folder / "again")
    found = list(shell_facts.touched(("data", "x.sh"), str(folder), str(folder)))
    assert [one.links for one in found] == [True, False]


def test_a_pattern_that_is_too_much_stays_in_its_folder(folder: Path) -> None:
    for number in range(300):
        (folder / "sub" / f"f{number}").touch()
    assert real(folder, "sub/*", "sub/f*[0-9]/x") == [("sub/*", "sub"), ("sub/f*[0-9]/x", "sub")]
