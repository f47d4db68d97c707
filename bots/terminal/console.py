"""The person's terminal: stdout for answers, stderr for all else, and questions.

Answers for: whole lines, one status line that gives way to everything else, and prompts that
swallow no typed-ahead key. Texts that come in are inert already. It must never know of tasks.
"""

import dataclasses
import typing
from collections.abc import Callable

from bots import render
from bots.terminal import interrupts

_Read = typing.TypeVar("_Read", str, bytearray)
_CLEAR_LINE: typing.Final = "\r\x1b[K"


@dataclasses.dataclass
class Console:
    """Where things are written, and by whom questions are answered."""

    stdout: typing.TextIO
    stderr: typing.TextIO
    read_line: Callable[[str], str]  # shows the prompt; raises EOFError
    read_hidden: Callable[[str], bytearray]  # the same, and echoes nothing
    discard_typed_ahead: Callable[[], None]
    interrupts: interrupts.Interrupts
    interactive: bool = False  # a person can answer questions
    shared: bool = False  # stdout and stderr are one terminal
    stdout_is_terminal: bool = False
    status_columns: int = 0  # the width for the status line; 0: none
    palette: render.Palette = render.PLAIN
    _mid_line: bool = dataclasses.field(default=False, init=False)
    _status: bool = dataclasses.field(default=False, init=False)

    def out(self, text: str) -> None:
        """Write to stdout, as it is."""
        if text:
            self.clear_status()
            self.stdout.write(text)
            self.stdout.flush()
            self._mid_line = not text.endswith("\n")

    def end_line(self) -> None:
        """End a begun line of stdout."""
        if self._mid_line:
            self.out("\n")

    def say(self, text: str) -> None:
        """Write lines to stderr."""
        if not text:
            return
        self.clear_status()
        if self.shared:
            self.end_line()
        self.stderr.write(f"{text}\n")
        self.stderr.flush()

    def status(self, text: str) -> None:
        """Show what is going on until something else is written."""
        if not self.status_columns or (self.shared and self._mid_line):
            return
        shown = text[: self.status_columns - 1]
        self.stderr.write(f"{_CLEAR_LINE}{self.palette.dim}{shown}{self.palette.reset}")
        self.stderr.flush()
        self._status = True

    def clear_status(self) -> None:
        if self._status:
            self.stderr.write(_CLEAR_LINE)
            self.stderr.flush()
            self._status = False

    def read(self, prompt: str) -> str:
        """Read a line; raises EOFError and KeyboardInterrupt."""
        return self._read(self.read_line, prompt)

    def _read(self, read: Callable[[str], _Read], prompt: str) -> _Read:
        self.clear_status()
        self.end_line()
        try:
            with self.interrupts.accepted():
                return read(prompt)
        except (EOFError, KeyboardInterrupt):
            if self.interactive:  # no Enter ended the prompt's line
                self.stderr.write("\n")
                self.stderr.flush()
            raise

    def ask(self, question: str) -> str:
        """Ask for a decision: what was typed before the question was seen is no answer to it."""
        self.discard_typed_ahead()
        return self.read(question).strip()

    def ask_secret(self, question: str) -> bytearray:
        """Ask for a secret; who has it wipes it. Raises EOFError and KeyboardInterrupt."""
        self.discard_typed_ahead()
        return self._read(self.read_hidden, question)
