"""The system call filter: what neither namespaces nor file rights close.

Refuses kernel keyrings (they are shared with the daemon's session), namespaces within the sandbox,
mounting, io_uring (it passes by a filter), kernel tracing, and address families that no network
namespace holds (VSOCK reaches the host of a virtual machine). Pure: makes the program as bytes.
"""

import struct

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

_SAME_EVERYWHERE = (425, 428, 429, 430, 431, 432, 442)
"""io_uring_setup, open_tree, move_mount, fsopen, fsconfig, fsmount, mount_setattr."""
_CLONE3 = 435
_MACHINES = {
    "x86_64": (
        0xC000003E,
        # keyrings, bpf, perf, userfaultfd, unshare, setns, mounting, modules, kexec, kernel log,
        # handles, quota, swap, clocks
        (248, 249, 250, 321, 298, 323, 272, 308, 165, 166, 155, 175, 313, 246, 103, 304, 179, 167)
        + (164, 227, 305),
        56,
        41,
    ),
    "aarch64": (
        0xC00000B7,
        (217, 218, 219, 280, 241, 282, 97, 268, 40, 39, 41, 105, 273, 104, 116, 265, 60, 224)
        + (170, 112, 266),
        220,
        198,
    ),
}
"""By machine: its number, the refused calls, clone, socket."""


def _step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, when_true, when_false, value)


def _refuse(errno: int) -> bytes:
    return _step(_RETURN, _REFUSE | errno)


def program(machine: str, internet: bool) -> bytes:
    """The filter for a machine as `os.uname` names it; empty where none is known.

    `internet` when sockets of the internet's families may be made at all.
    """
    if machine not in _MACHINES:
        return b""
    number, refused, clone, socket = _MACHINES[machine]
    steps = [
        _step(_LOAD, _MACHINE_AT),
        _step(_JUMP_EQUAL, number, 1),
        _refuse(_EPERM),
        _step(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        steps += [_step(_JUMP_GREATER_EQUAL, _X32, 0, 1), _refuse(_EPERM)]
    for call in (*refused, *_SAME_EVERYWHERE):
        steps += [_step(_JUMP_EQUAL, call, 0, 1), _refuse(_EPERM)]
    # A filter cannot read clone3's flags; without it every C library falls back to clone.
    steps += [_step(_JUMP_EQUAL, _CLONE3, 0, 1), _refuse(_ENOSYS)]
    steps += [
        _step(_JUMP_EQUAL, clone, 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_JUMP_SET, _NEW_NAMESPACES, 0, 1),
        _refuse(_EPERM),
        _step(_RETURN, _ALLOW),
    ]
    families = (_UNIX, _INET, _INET6, _NETLINK) if internet else (_UNIX,)
    steps += [
        _step(_JUMP_EQUAL, socket, 0, 2 + len(families)),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        *(
            _step(_JUMP_EQUAL, family, len(families) - place)
            for place, family in enumerate(families)
        ),
        _refuse(_EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)
