"""What a tool is to the daemon: its specification, an inspection without effect, and a run.

Never decides whether a call may run, and never runs what was not inspected.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

import pydantic


class Value(pydantic.BaseModel):
    """An immutable value with a closed schema."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Effect(StrEnum):
    """What repeating a call would do; decides what happens to one that a crash cut off."""

    PURE = "pure"
    """Changes nothing: runs again."""
    KEYED = "keyed"
    """Repeats harmlessly under the same key: runs again with it."""
    RECONCILABLE = "reconcilable"
    """Its effect can be recognised afterwards: it is compared, then run again or taken as done."""
    UNSAFE = "unsafe"
    """Nobody can know: a person is asked."""


class Category(StrEnum):
    """How much of a human a tool needs before policy has looked at the call itself."""

    READ_ONLY = "read-only"
    """Runs unasked, but where the paths it names say otherwise."""
    NORMAL = "normal"
    NO_ALWAYS = "no-always"
    HARD_STOP = "hard-stop"


class ToolSpec(Value):
    """What the catalogue says of a tool. `parameters` is the JSON Schema of its arguments."""

    name: str
    version: int
    description: str
    parameters: str
    effect: Effect
    category: Category
    deadline_seconds: int = 60


class Confinement(Value):
    """What a call may reach, given by the daemon, never by the model.

    `hidden` are files and folders that no call may see (state, configuration, keys); `read_only`
    when nothing may be written, not even in the working folder.
    """

    hidden: tuple[str, ...] = ()
    read_only: bool = False
    network: bool = False


class Names(Value):
    """What the judge found in a command and wants looked up.

    `argv` are its words when it needs no shell; `elevated` when it runs as root, outside any
    sandbox; `programs` and `paths` are what a mild verdict rests on, as the command writes them.
    """

    argv: tuple[str, ...] | None = None
    elevated: bool = False
    programs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class Call(Value):
    """One call. `key` stays the same over every repetition of the call."""

    call_id: str
    tool: str
    arguments_json: str
    key: str
    folder: str
    confinement: Confinement = Confinement()
    names: Names = Names()


class Touched(Value):
    """A path that a call names: as it is written, where it leads with every link followed, and
    whether the call would write there. `links`: a file there has further names elsewhere."""

    written: str
    real: str
    writes: bool = False
    links: bool = False


class Facts(Value):
    """What an inspection found, without effect.

    `bound` are the facts that an approval is tied to: if one differs later, the approval is void.
    `shown` are (label, text) pairs, in order, that tell a person exactly what would run.
    `intent` is what `reconcile` needs to recognise the effect after a crash.
    `touched` are the paths that the call names. `missing` says, in plain words, which part of the
    confinement this machine does not give: each makes the verdict stricter. `secret` says which
    secret the run needs from a person; empty when none. `hosts` are the machines that the run would
    ask (host, and port where it is not the usual one); `sources` the addresses on the web whose
    untrusted text its result would hold. `replaces` are the real paths of files that are there and
    whose whole text the run would put another in place of.
    """

    effect: Effect
    bound: tuple[tuple[str, str], ...]
    shown: tuple[tuple[str, str], ...]
    intent: str = ""
    touched: tuple[Touched, ...] = ()
    missing: tuple[str, ...] = ()
    secret: str = ""
    hosts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()


class Result(Value):
    """How a run ended. `text` is what came out; `failed` when the tool says it did not work."""

    text: str
    failed: bool = False
    exit_code: int | None = None


class Reconciled(StrEnum):
    """Whether the effect of a call that a crash cut off is there."""

    DONE = "done"
    NOT_DONE = "not-done"
    UNKNOWN = "unknown"


class ToolFault(Exception):
    """A call that cannot be inspected or run; the text is one sentence that says how to mend it."""


class Inspection(Protocol):
    """What was inspected, with whatever is held open so that the run meets the same things."""

    @property
    def facts(self) -> Facts:
        """The facts at the time of inspection."""

    def close(self) -> None:
        """Let go of what is held open; may be called twice."""


Output = Callable[[str], None]
"""Takes the next piece of a running tool's output; never blocks."""


class Secret:
    """A secret on its way to one run: handed over once, and shown by no `repr`."""

    def __init__(self, data: bytes) -> None:
        self._data: bytes | None = data

    def take(self) -> bytes | None:
        """The secret, and None ever after."""
        data, self._data = self._data, None
        return data


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """What the catalogue says of it."""

    def command(self, arguments_json: str) -> str | None:
        """The shell command that a call would run, for the judge; None when it runs none.

        Raises:
            ToolFault: the arguments are wrong.
        """

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        """A result as a model should read it, at most so long, and saying what is left out."""

    async def inspect(self, call: Call) -> Inspection:
        """Find out what the call would do, without doing any of it.

        Raises:
            ToolFault: the arguments are wrong or what they name is not there.
        """

    async def run(
        self, call: Call, inspection: Inspection, output: Output, secret: Secret | None = None
    ) -> Result:
        """Do what was inspected. Cancelling the awaiting task ends it and leaves no process.
        `secret` is there when the facts asked for one.

        Raises:
            ToolFault: it could not be started.
        """

    async def reconcile(self, call: Call, intent: str) -> Reconciled:
        """Whether the effect of an earlier run is there; only for `Effect.RECONCILABLE`."""


_LEFT_OUT = "\n… {} characters left out …\n"


def ends(text: str, limit_chars: int) -> str:
    """A text's beginning and end, where all of it is too long."""
    if len(text) <= limit_chars:
        return text
    half = max(1, (limit_chars - len(_LEFT_OUT.format(len(text)))) // 2)
    return text[:half] + _LEFT_OUT.format(len(text) - 2 * half) + text[-half:]


class Held:
    """An inspection that holds nothing open."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @property
    def facts(self) -> Facts:
        return self._facts

    def close(self) -> None:
        return None
