"""Starts the child for one visit, and reads what it says: never more, never longer than it may.

However it ends, no process is left. What it says is checked before anything of it is used.
"""

import asyncio
import contextlib
import os
import pathlib
import signal
import sys

import pydantic

from tools import contract
from tools.web import protocol

_MODULE = "tools.web.child"
_PASSED_ON = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Where this machine keeps the certificates that it trusts. Nothing else of the environment goes
along: no proxy, no home, no key."""
_MOST_REPLY_BYTES = 512 * 1024
_START_SECONDS = 5.0
_BROKE = "The page could not be read: the process that reads pages ended early."


async def visit(
    request: protocol.Fetch | protocol.Search,
) -> protocol.Text | protocol.Hits:
    """Let a child do what is asked.

    Raises:
        ToolFault: there is no answer within the bounds, or the child refuses.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-s",
        "-m",
        _MODULE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
        cwd="/",
        start_new_session=True,
        limit=_MOST_REPLY_BYTES,
    )
    try:
        async with asyncio.timeout(request.limits.seconds + _START_SECONDS):
            said = await _exchange(child, request.model_dump_json().encode())
    except TimeoutError as error:
        raise contract.ToolFault("The page did not come in time.") from error
    finally:
        await asyncio.shield(_end(child))
    try:
        reply = protocol.REPLY.validate_json(said)
    except pydantic.ValidationError as error:
        raise contract.ToolFault(_BROKE) from error
    if isinstance(reply, protocol.Refused):
        raise contract.ToolFault(reply.reason)
    return reply


async def _exchange(child: asyncio.subprocess.Process, request: bytes) -> bytes:
    """Hand the request in; what the child says until it ends, or empty if that is too much."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(request)
        await child.stdin.drain()
        child.stdin.close()
    except (BrokenPipeError, ConnectionResetError):
        return b""
    try:
        await child.stdout.readexactly(_MOST_REPLY_BYTES)
    except asyncio.IncompleteReadError as error:
        return error.partial
    return b""


async def _end(child: asyncio.subprocess.Process) -> None:
    """End the child and all that it may have begun, and take what it still said off the pipe."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    if child.stdout is not None:
        await child.stdout.read()
    await child.wait()


def _environment() -> dict[str, str]:
    root = pathlib.Path(__file__).resolve().parents[2]
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(root),
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **kept,
    }
