"""What host and worker say to each other: one named tuple a frame, JSON on the wire.

Calls are numbered by the host and never reused within one worker. Every Generate and Count ends in
exactly one Done, Counted or Failed; a Cancel of an unknown call is ignored.
"""

import json
from typing import Any, Literal, NamedTuple

from daemon.models.worker import frames


class Load(NamedTuple):
    """The first frame to a worker. `cells` bounds the tokens of all sequences together."""

    path: str
    context_tokens: int
    cells: int
    places: int
    sequences: int
    gpu_layers: int
    threads: int
    prefixes: str = ""
    """The folder that fixed beginnings of prompts are kept in; empty keeps none."""


class Generate(NamedTuple):
    """One generation; `messages` are (speaker, content) pairs, `schema` is JSON Schema text.

    `thinking_tokens` are beside `max_tokens`; 0 turns thinking off. The first `fixed` characters
    of the first message are the same in many prompts and nothing that anyone said.
    """

    call: int
    messages: list[list[str]]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    seed: int = 0
    schema: str | None = None
    thinking_tokens: int = 0
    fixed: int = 0


class Cancel(NamedTuple):
    call: int


class Count(NamedTuple):
    call: int
    texts: list[str]


class Stop(NamedTuple):
    """End; nothing is answered any more. Only a file that is being written is written first."""


class Loading(NamedTuple):
    """Bytes of the file that are loaded, of all."""

    done: int
    total: int


class Ready(NamedTuple):
    """The model serves. `notes` say in whole sentences what it cannot do or does otherwise."""

    template: str
    threads: int
    trims: bool
    notes: list[str]


class Queued(NamedTuple):
    call: int
    ahead: int


class Prefill(NamedTuple):
    """Prompt tokens that are in memory, of all."""

    call: int
    done: int
    total: int


class Piece(NamedTuple):
    """More of the answer or, where it is `thinking`, of what is thought before it."""

    call: int
    text: str
    thinking: bool = False


EndReason = Literal["stop", "length", "cancelled"]


class Done(NamedTuple):
    """A generation's end; its text is the pieces before it. Thoughts count as completion."""

    call: int
    reason: EndReason
    prompt_tokens: int = 0
    reused_tokens: int = 0
    completion_tokens: int = 0
    queued_ms: int = 0
    prefill_ms: int = 0
    decode_ms: int = 0


class Counted(NamedTuple):
    call: int
    counts: list[int]


FailureKind = Literal["unavailable", "overflow", "rejected", "broken"]


class Failed(NamedTuple):
    """No result for a call, or, with call 0, for the load. `message` is one sentence."""

    call: int
    kind: FailureKind
    message: str


class Noted(NamedTuple):
    """Something that the owner should know and that costs no call; one sentence."""

    text: str


class Beat(NamedTuple):
    """Sent about every second. `steps` grows with each batch, so a stuck one can be noticed."""

    steps: int
    rss_bytes: int


ToWorker = Load | Generate | Cancel | Count | Stop
FromWorker = Loading | Ready | Queued | Prefill | Piece | Done | Counted | Failed | Noted | Beat

_TO_WORKER = {kind.__name__: kind for kind in (Load, Generate, Cancel, Count, Stop)}
_FROM_WORKER = {
    kind.__name__: kind
    for kind in (Loading, Ready, Queued, Prefill, Piece, Done, Counted, Failed, Noted, Beat)
}


def encode(frame: ToWorker | FromWorker) -> bytes:
    """The frame's payload; lone surrogates survive as escapes."""
    named = [type(frame).__name__, frame._asdict()]
    return json.dumps(named, separators=(",", ":")).encode()


def decode_to_worker(payload: bytes) -> ToWorker:
    """Raises frames.FrameError where the payload is no frame for a worker."""
    kind, fields = _parse(payload)
    try:
        return _TO_WORKER[kind](**fields)
    except (KeyError, TypeError) as error:
        raise frames.FrameError(f"not a frame for a worker: {kind!r}") from error


def decode_from_worker(payload: bytes) -> FromWorker:
    """Raises frames.FrameError where the payload is no frame of a worker."""
    kind, fields = _parse(payload)
    try:
        return _FROM_WORKER[kind](**fields)
    except (KeyError, TypeError) as error:
        raise frames.FrameError(f"not a frame of a worker: {kind!r}") from error


def _parse(payload: bytes) -> tuple[str, dict[str, Any]]:
    try:
        kind, fields = json.loads(payload)
    except (ValueError, TypeError) as error:
        raise frames.FrameError("a frame is not JSON of the agreed form") from error
    if not isinstance(kind, str) or not isinstance(fields, dict):
        raise frames.FrameError("a frame is not JSON of the agreed form")
    return kind, fields
