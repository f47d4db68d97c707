"""Reads a secret from the terminal: not echoed, in no history, in memory that can be wiped.

Answers for: that what is typed is never shown, and that the terminal is as before afterwards,
however it ends. It must never keep a secret or turn it into text.
"""

import contextlib
import os
import sys
import termios
import typing
from collections.abc import Iterator

MOST_BYTES: typing.Final = 4096
_NEWLINE: typing.Final = ord("\n")
_LOCAL_MODES: typing.Final = 3


def read(prompt: str) -> bytearray:
    """A line without its end; raises EOFError and KeyboardInterrupt. Typed-ahead keys are lost."""
    terminal = sys.stdin.fileno()
    with _without_echo(terminal):
        sys.stderr.write(prompt)
        sys.stderr.flush()
        return _line(terminal)


@contextlib.contextmanager
def _without_echo(terminal: int) -> Iterator[None]:
    before = termios.tcgetattr(terminal)
    modes = before[:]
    modes[_LOCAL_MODES] = before[_LOCAL_MODES] & ~termios.ECHO | termios.ECHONL
    termios.tcsetattr(terminal, termios.TCSAFLUSH, modes)
    try:
        yield
    finally:  # what came with the secret, as by pasting, is no message: flush it too
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


def _line(terminal: int) -> bytearray:
    held = bytearray(MOST_BYTES + 1)
    filled = 0
    try:
        while filled < len(held):
            with memoryview(held) as whole, whole[filled:] as rest:
                count = os.readv(terminal, [rest])
            if not count:
                raise EOFError
            filled += count
            if held[filled - 1] == _NEWLINE:
                filled -= 1
                break
        with memoryview(held) as whole, whole[:filled] as line:
            return bytearray(line)
    finally:
        wipe(held)


def wipe(secret: bytearray) -> None:
    """Overwrite a secret where it lies."""
    secret[:] = bytes(len(secret))
