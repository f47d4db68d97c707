"""The frame codec: any cut of the stream gives the same frames, nonsense is refused."""

import pytest

from daemon.models.worker import frames, protocol

PAYLOADS = [b"", b"a", b"x" * 70_000, "ü🦆".encode()]


@pytest.mark.parametrize("step", [1, 2, 3, 5, 64, 4096, 1 << 20])
def test_any_cut_of_the_stream_gives_the_same_payloads(step: int) -> None:
    stream = b"".join(map(frames.wrap, PAYLOADS))
    unwrapper = frames.Unwrapper()
    got: list[bytes] = []
    for start in range(0, len(stream), step):
        got += unwrapper.feed(stream[start : start + step])
    assert got == PAYLOADS


def test_a_length_beyond_the_cap_is_refused_before_anything_is_kept() -> None:
    with pytest.raises(frames.FrameError):
        list(frames.Unwrapper().feed(b"\xff\xff\xff\xff"))


def test_a_payload_beyond_the_cap_is_not_sent() -> None:
    with pytest.raises(frames.FrameError):
        frames.wrap(bytes(frames.FRAME_BYTES + 1))


TO_WORKER: list[protocol.ToWorker] = [
    protocol.Load("/m.gguf", 4096, 8192, 2, 8, -1, 0),
    protocol.Generate(1, [["user", "hé\ud800\x00"]], 5, 0.5, schema="{}"),
    protocol.Load("/m.gguf", 4096, 8192, 2, 8, -1, 0, "/state/cache/prefix"),
    protocol.Generate(1, [["system", "x"]], 5, fixed=1),
    protocol.Cancel(1),
    protocol.Count(2, ["a", ""]),
    protocol.Stop(),
]
FROM_WORKER: list[protocol.FromWorker] = [
    protocol.Loading(1, 2),
    protocol.Ready("own", 2, True, ["note"]),
    protocol.Queued(1, 3),
    protocol.Prefill(1, 4, 9),
    protocol.Piece(1, "🦆"),
    protocol.Done(1, "stop", 1, 2, 3, 4, 5, 6),
    protocol.Counted(2, [1, 0]),
    protocol.Failed(1, "overflow", "Too long."),
    protocol.Noted("Kept in vain."),
    protocol.Beat(7, 8),
]


@pytest.mark.parametrize("frame", TO_WORKER, ids=lambda frame: type(frame).__name__)
def test_a_frame_to_the_worker_survives_the_wire(frame: protocol.ToWorker) -> None:
    assert protocol.decode_to_worker(protocol.encode(frame)) == frame


@pytest.mark.parametrize("frame", FROM_WORKER, ids=lambda frame: type(frame).__name__)
def test_a_frame_from_the_worker_survives_the_wire(frame: protocol.FromWorker) -> None:
    assert protocol.decode_from_worker(protocol.encode(frame)) == frame


@pytest.mark.parametrize(
    "payload",
    [b"", b"{}", b"[]", b"\xff", b'["Piece"]', b'["Piece",{}]', b'["Nope",{}]', b'[1,{}]',
     b'["Piece",{"call":1,"text":"a","more":1}]', b'["Stop",{}]', b"[[],{}]", b"null"],
)  # fmt: skip
def test_what_is_no_frame_of_a_worker_is_refused(payload: bytes) -> None:
    with pytest.raises(frames.FrameError):
        protocol.decode_from_worker(payload)
