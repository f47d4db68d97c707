"""Everything outside the client that it touches, in one value that a test can make.

Answers for: the real streams, clock, environment and channel of a process, and how the parts of the
client are put together from them. It must never hold state of a task.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import sys
import termios
import time
import typing
import uuid
from collections.abc import Callable, Mapping

import grpc

from bots import config, render
from bots.terminal import client, console, faults, hidden, interrupts, link, screen, turn

with contextlib.suppress(ImportError):  # some builds of Python have none
    import readline  # noqa: F401  # `input` then edits its line and recalls earlier ones


@dataclasses.dataclass(frozen=True)
class World:
    """What `ducklm` has to do with."""

    environ: Mapping[str, str]
    home: pathlib.Path
    stdin: typing.TextIO
    console: console.Console
    connect: Callable[[str], grpc.Channel]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    new_key: Callable[[], str]

    @property
    def interrupts(self) -> interrupts.Interrupts:
        return self.console.interrupts


@dataclasses.dataclass(frozen=True)
class Session:
    """A world with settings and an open channel: what one command works with."""

    world: World
    settings: config.Settings
    client: client.Client

    @property
    def console(self) -> console.Console:
        return self.world.console

    def link(self, patience_s: float | None = None) -> link.Link:
        """The way to the daemon, for those who can wait for it."""
        return link.Link(
            say=self.console.say,
            sleep=self.world.sleep,
            clock=self.world.clock,
            interrupts=self.world.interrupts,
            patience_s=patience_s,
        )

    def seats(
        self,
        shown_on: screen.Screen,
        patience_s: float | None,
        interactive: bool,
        wait_for_others: bool,
    ) -> turn.Seats:
        return turn.Seats(
            client=self.client,
            link=self.link(patience_s),
            console=self.console,
            screen=shown_on,
            new_key=self.world.new_key,
            interactive=interactive,
            wait_for_others=wait_for_others,
        )

    def sentence(self, fault: faults.CallFault) -> str:
        return faults.sentence(fault, self.settings)


def process_world() -> World:
    """The world of this process."""
    return World(
        environ=os.environ,
        home=pathlib.Path.home(),
        stdin=sys.stdin,
        console=_process_console(),
        connect=client.connect,
        sleep=time.sleep,
        clock=time.monotonic,
        new_key=lambda: str(uuid.uuid4()),
    )


def _process_console() -> console.Console:
    in_terminal, out_terminal = sys.stdin.isatty(), sys.stdout.isatty()
    err_terminal = sys.stderr.isatty()
    drawing = err_terminal and os.environ.get("TERM", "dumb") != "dumb"
    coloured = drawing and not os.environ.get("NO_COLOR")
    return console.Console(
        stdout=sys.stdout,
        stderr=sys.stderr,
        read_line=input if in_terminal and out_terminal else _read_plain_line,
        read_hidden=hidden.read,
        discard_typed_ahead=_discard_typed_ahead if in_terminal else _nothing,
        interrupts=interrupts.Interrupts(),
        interactive=in_terminal and err_terminal,
        shared=out_terminal and err_terminal,
        stdout_is_terminal=out_terminal,
        status_columns=shutil.get_terminal_size().columns if drawing else 0,
        palette=render.COLOURED if coloured else render.PLAIN,
    )


def _read_plain_line(prompt: str) -> str:
    """Like input, with the prompt on stderr: stdout is for answers."""
    if sys.stdin.isatty():
        sys.stderr.write(prompt)
        sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _discard_typed_ahead() -> None:
    termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _nothing() -> None:
    """A pipe has nothing typed ahead."""
