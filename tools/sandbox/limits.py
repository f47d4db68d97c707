"""What one confined command may use, and the kernel limits that say so.

Decides nothing about commands. A limit that the kernel cannot hold is held by `process`'s watch.
"""

import resource
from dataclasses import dataclass

_MIB = 1024 * 1024
_GIB = 1024 * _MIB


@dataclass(frozen=True)
class Limits:
    """The bounds of one command. Each is settable; the units are in the names."""

    tasks: int = 512
    """Processes and threads at once."""
    address_space_bytes: int = 8 * _GIB
    """Of each process. Runtimes reserve more than they use; `resident_bytes` is the tight one."""
    resident_bytes: int = 4 * _GIB
    """Memory of their own of all processes together, at most half of the machine's."""
    file_bytes: int = 2 * _GIB
    """The largest file that may be written."""
    open_files: int = 4096
    cpu_seconds: int = 3600
    """Of each process; the deadline of a call is the tool's."""
    disk_bytes: int = 8 * _GIB
    """How far the free space of the folder's file system may shrink during the command."""
    disk_reserve_bytes: int = 256 * _MIB
    """A command that takes disk space ends when less than this is free."""
    temporary_bytes: int = 512 * _MIB
    """The size of its own /tmp, which is memory."""
    shared_bytes: int = 64 * _MIB
    """The size of its own /var/tmp and /dev/shm, each."""
    output_bytes: int = 256 * _MIB
    """A command that puts out more is ended; what is kept of it is less."""
    start_seconds: float = 5.0
    """How long the sandbox may take to stand."""

    def kernel(self) -> tuple[tuple[int, int], ...]:
        """The limits that the kernel holds for each process: (resource, value). The count of tasks
        is not among them: it is of a user, and set where a user namespace has begun."""
        return (
            (
                resource.RLIMIT_CORE,
                1,
            ),  # 0 would still start a program that the system pipes cores to
            (resource.RLIMIT_AS, self.address_space_bytes),
            (resource.RLIMIT_FSIZE, self.file_bytes),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_CPU, self.cpu_seconds),
            (resource.RLIMIT_MEMLOCK, 64 * 1024),
            (resource.RLIMIT_MSGQUEUE, 64 * 1024),
            (resource.RLIMIT_RTPRIO, 0),
        )
