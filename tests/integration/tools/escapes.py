"""Ways out of the sandbox: what is tried, and how it is proved that nothing came of it.

Each attempt is a command as a model might send it. A proof looks at the machine outside, or at what
the command got to see; it never takes the command's word that it failed. `control` attempts are
also run without any sandbox, where the same proof must fail: so the attempt is a real one.
"""

import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.tools import confined
from tools import contract

SECRET = "what-nobody-may-see"
_NUMBERS = {"x86_64": (250, 101), "aarch64": (219, 117)}
KEYCTL, PTRACE = _NUMBERS[os.uname().machine]


class Scene:
    """A project folder with a state folder hidden in it, files outside, and a daemon that runs:
    a process with a secret environment, a port, a socket by path, and an abstract one."""

    def __init__(self, root: Path, held: ExitStack) -> None:
        self.folder = root / "project"
        self.state = self.folder / "state"
        self.outside = root / "outside"
        for folder in (self.state, self.outside, self.folder / ".git" / "hooks"):
            folder.mkdir(parents=True)
        (self.state / "token").write_text(SECRET)
        (self.outside / "secret").write_text(SECRET)
        (self.folder / ".git" / "config").write_text("[core]\n")
        (self.folder / ".bashrc").write_text("# mine\n")
        self._own_program()
        secret = os.open(self.state / "token", os.O_RDONLY)
        held.callback(os.close, secret)
        os.set_inheritable(secret, True)
        self.descriptor = secret
        self.daemon = subprocess.Popen(
            ["/bin/sleep", "600"],
            env={"TOKEN": SECRET},
            pass_fds=(secret,),
        )
        held.callback(self.daemon.wait)
        held.callback(self.daemon.kill)
        self.abstract = f"ducklm-test-{self.daemon.pid}"
        self._listening = [
            self._listen(socket.AF_INET, ("127.0.0.1", 0), held),
            self._listen(socket.AF_UNIX, str(self.state / "s"), held),
            self._listen(socket.AF_UNIX, f"\0{self.abstract}", held),
        ]
        self.port: int = self._listening[0].getsockname()[1]

    def _own_program(self) -> None:
        """A set-user-id program of another user, where the test may make one."""
        own = self.folder / "own"
        shutil.copy("/bin/cat", own)
        if os.getuid() == 0:
            os.chown(own, 65534, 65534)
        own.chmod(0o4755)

    def _listen(
        self, family: socket.AddressFamily, address: str | tuple[str, int], held: ExitStack
    ) -> socket.socket:
        listening = held.enter_context(socket.socket(family, socket.SOCK_STREAM))
        listening.bind(address)
        listening.listen()
        listening.setblocking(False)
        return listening

    def confinement(self) -> contract.Confinement:
        return contract.Confinement(hidden=(str(self.state),))

    def visited(self) -> bool:
        """Whether anybody has connected to the daemon."""
        for listening in self._listening:
            try:
                listening.accept()[0].close()
            except BlockingIOError:
                continue
            return True
        return False

    def intact(self) -> bool:
        """Whether all that is not the command's is as it was."""
        return (
            (self.state / "token").read_text() == SECRET
            and (self.outside / "secret").read_text() == SECRET
            and os.listdir(self.outside) == ["secret"]
            and self.daemon.poll() is None
        )

    def filled(self, command: str) -> str:
        """The attempt with this scene's places in it."""
        for name, value in {
            "FOLDER": self.folder,
            "OUTSIDE": self.outside,
            "PID": self.daemon.pid,
            "PORT": self.port,
            "ABSTRACT": self.abstract,
            "KEYCTL": KEYCTL,
            "PTRACE": PTRACE,
            "FD": self.descriptor,
        }.items():
            command = command.replace(f"@{name}@", str(value))
        return command


@dataclass
class Outcome:
    """How an attempt went."""

    scene: Scene
    run: confined.Run
    result: contract.Result
    began: float = field(default_factory=time.time)


Proof = Callable[[Outcome], bool]


@dataclass(frozen=True)
class Escape:
    """One row. `blocked` says whether nothing came of it."""

    command: str
    blocked: Proof
    control: bool = False


def _unseen(outcome: Outcome) -> bool:
    return SECRET not in outcome.result.text and SECRET not in outcome.run.text


def _said(word: str) -> Proof:
    return lambda outcome: word in outcome.result.text


def _never(word: str) -> Proof:
    return lambda outcome: word not in outcome.result.text


def _unchanged(name: str, text: str) -> Proof:
    return lambda outcome: (outcome.scene.folder / name).read_text() == text


def _hooks_empty(outcome: Outcome) -> bool:
    return not os.listdir(outcome.scene.folder / ".git" / "hooks")


def _not_visited(outcome: Outcome) -> bool:
    return not outcome.scene.visited()


def _nothing_in_tmp(outcome: Outcome) -> bool:
    return not os.path.lexists(f"/tmp/{outcome.run.token}")


def _nothing_runs(outcome: Outcome) -> bool:
    return not outcome.run.processes()


def _no_core(outcome: Outcome) -> bool:
    return not list(outcome.scene.folder.glob("core*"))


def _clock_right(outcome: Outcome) -> bool:
    return abs(time.time() - outcome.began) < 300


def _user_kept(outcome: Outcome) -> bool:
    """The program's effective user is the real one."""
    words = outcome.result.text.split()
    users = words[words.index("Uid:") + 1 :][:4]
    return len(set(users)) == 1 and users[0] == str(os.getuid())


def _ended(reason: str) -> Proof:
    return lambda outcome: f"(ended: {reason}" in outcome.result.text and outcome.result.failed


def _small(outcome: Outcome) -> bool:
    """What the command left on the disk: less than all that it would have written, however fast
    the disk is between two looks at it."""
    files = [path.lstat() for path in outcome.scene.folder.rglob("*")]
    return sum(one.st_size for one in files if stat.S_ISREG(one.st_mode)) < 1024 * 1024 * 1024


_PERL_SOCKET = (
    "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); "
    'connect(S, sockaddr_un($ARGV[0] eq "-" ? "\\0" . $ARGV[1] : $ARGV[0])) and print "IN\\n"\' '
)

ESCAPES: dict[str, Escape] = {
    "a symbolic link": Escape(
        "ln -s @OUTSIDE@/secret out; ln -s state/token in; cat out in; echo x >> out",
        _unseen,
        control=True,
    ),
    "a hard link": Escape(
        "ln state/token mine; ln @OUTSIDE@/secret mine; cat mine", _unseen, control=True
    ),
    "a rename": Escape("mv state open; cat open/token", _unseen, control=True),
    "/proc/self/root": Escape(
        "for p in self 1 $$; do cat /proc/$p/root@FOLDER@/state/token /proc/$p/root@OUTSIDE@/secret"
        " /proc/$p/cwd/state/token; echo x > /proc/$p/root@OUTSIDE@/new; done",
        _unseen,
        control=True,
    ),
    "the daemon's environment, memory and descriptors": Escape(
        "cat /proc/@PID@/environ /proc/@PID@/fd/@FD@; head -c 9 /proc/@PID@/mem; "
        "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
        _unseen,
        control=True,
    ),
    "ptrace": Escape(
        'perl -e \'print syscall(@PTRACE@, 16, @PID@, 0, 0) == 0 ? "IN" : "OUT"\'',
        _never("IN"),
        control=True,
    ),
    "a signal": Escape(
        "kill -STOP @PID@ && echo IN; kill -CONT @PID@; kill -KILL -1", _never("IN")
    ),
    "the daemon's port and socket": Escape(
        f"{_PERL_SOCKET} state/s; {_PERL_SOCKET} @FOLDER@/state/s; "
        "exec 3<>/dev/tcp/127.0.0.1/@PORT@",
        _not_visited,
        control=True,
    ),
    "an abstract socket": Escape(f"{_PERL_SOCKET} - @ABSTRACT@", _not_visited, control=True),
    "/dev/tcp": Escape(
        "for host in localhost 127.0.0.1; do (echo > /dev/tcp/$host/@PORT@) && echo IN; done",
        lambda outcome: _never("IN")(outcome) and _not_visited(outcome),
        control=True,
    ),
    "a hook of git": Escape(
        "echo 'touch /tmp/x' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; "
        "mv .git old; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; "
        "rm -rf .git/hooks; mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/post-merge",
        _hooks_empty,
        control=True,
    ),
    "what git obeys": Escape(
        "echo '[core] fsmonitor = x' >> .git/config; rm -f .git/config; echo x > .git/config",
        _unchanged(".git/config", "[core]\n"),
        control=True,
    ),
    "rc files": Escape(
        "echo evil >> .bashrc; sed -i s/mine/evil/ .bashrc; rm -f .bashrc; echo evil > .bashrc",
        _unchanged(".bashrc", "# mine\n"),
        control=True,
    ),
    "a fixed name in /tmp": Escape("echo x > /tmp/$TOKEN", _nothing_in_tmp),
    "a set-user-id program": Escape("./own /proc/self/status", _user_kept),
    "a nested namespace": Escape(
        "unshare --user --map-root-user echo IN; unshare --user echo IN; unshare --mount echo IN",
        _never("IN"),
        control=True,
    ),
    "an inherited descriptor": Escape(
        "cat <&@FD@; readlink /proc/self/fd/*; head -c 99 /proc/$$/fd/@FD@", _unseen
    ),
    "a core dump": Escape(
        "ulimit -c unlimited && echo IN; perl -e 'kill SEGV => $$'; true",
        lambda outcome: _never("IN")(outcome) and _no_core(outcome),
    ),
    "a fork bomb": Escape(
        ": $TOKEN; bomb() { bomb | bomb & }; bomb; wait; sleep $TOKEN",
        lambda outcome: _ended("it had more than 64 processes")(outcome) and _nothing_runs(outcome),
    ),
    "a memory hog": Escape(
        "for i in 1 2 3 4 5 6; do "
        "perl -e '$x = \"a\" x 90e6; $y = $x; sleep 600' $TOKEN & done; wait",
        lambda outcome: _ended("its processes used more than")(outcome) and _nothing_runs(outcome),
    ),
    "10 GB of output": Escape(
        "head -c 10000000000 /dev/zero", _ended("it put out more than 33554432 bytes")
    ),
    "a full disk": Escape(
        "for i in $(seq 20); do head -c 100000000 /dev/zero > fill$i || true; done; "
        "head -c 2000000000 /dev/zero > /tmp/fill; echo end; sleep 600",
        lambda outcome: _ended("the disk lost more than")(outcome) and _small(outcome),
    ),
    "the clock": Escape("date -s '2001-02-03 04:05:06' && echo IN", _clock_right),
    "a mount": Escape(
        "mount -t tmpfs none . && echo IN; umount state && cat state/token; "
        "mount -o remount,rw / && echo IN; umount -l /proc && echo IN",
        lambda outcome: _never("IN\n")(outcome) and _unseen(outcome),
    ),
    "a keyring": Escape(
        'perl -e \'print syscall(@KEYCTL@, 0, -3, 0) < 0 ? "OUT" : "IN"\'',
        _said("OUT"),
        control=True,
    ),
    "a child that starts a session": Escape(
        "setsid bash -c 'sleep $TOKEN & setsid sleep $TOKEN' & echo on", _nothing_runs
    ),
}


def stopped(process: subprocess.Popen[bytes]) -> None:
    """End a process that a test started."""
    process.send_signal(signal.SIGKILL)
    process.wait()
