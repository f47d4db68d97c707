"""The worker's process: fds, threads, the parent's death.

stdout carries frames only: its descriptor is taken away first, and what native code prints goes to
stderr. The process ends with its parent, by signal where the system has one, else by EOF.
"""

import ctypes
import gc
import os
import pathlib
import queue
import signal
import sys
import threading
import time
import traceback

from daemon.models.worker import (
    engine,
    frames,
    model_file,
    prefixes,
    processors,
    protocol,
    serve,
)

_BEAT_SECONDS = 1.0
_ABORT_SECONDS = 0.5
"""A batch whose calls are all cancelled may go on this long before it is broken off."""
_SETTLE_SECONDS = 1.0
"""Less than a host waits for a worker's end before it kills it."""
_PR_SET_PDEATHSIG = 1
_READ_BYTES = 1 << 16


class Outlet:
    """Writes frames from any thread, each as a whole. A host that is gone ends the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, frame: protocol.FromWorker) -> None:
        data = memoryview(frames.wrap(protocol.encode(frame)))
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                os._exit(0)


class Reader(threading.Thread):
    """Reads frames from the host; end of file and nonsense end the process at once, and so does
    Stop unless a file is being written."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="reader", daemon=True)
        self._descriptor = descriptor
        self.inbox: queue.SimpleQueue[protocol.ToWorker] = queue.SimpleQueue()
        self.cancelled: set[int] = set()
        self.server: serve.Server | None = None

    def run(self) -> None:
        unwrapper = frames.Unwrapper()
        while data := os.read(self._descriptor, _READ_BYTES):
            for payload in unwrapper.feed(data):
                frame = protocol.decode_to_worker(payload)
                if isinstance(frame, protocol.Stop):
                    if self.server is not None:
                        self.server.settle(_SETTLE_SECONDS)
                    os._exit(0)
                if isinstance(frame, protocol.Cancel):
                    self.cancelled.add(frame.call)
                self.inbox.put(frame)
        os._exit(0)


class Ticker(threading.Thread):
    """Sends heartbeats, and breaks off a long batch in which nobody is interested any more."""

    def __init__(self, outlet: Outlet, reader: Reader) -> None:
        super().__init__(name="ticker", daemon=True)
        self._outlet = outlet
        self._reader = reader
        self.server: serve.Server | None = None
        self.native: engine.Engine | None = None

    def run(self) -> None:
        next_beat = 0.0
        while True:
            now = time.monotonic()
            if now >= next_beat:
                steps = self.server.batcher.steps if self.server else 0
                self._outlet.send(protocol.Beat(steps, _rss_bytes()))
                next_beat = now + _BEAT_SECONDS
            self._break_off(now)
            time.sleep(_ABORT_SECONDS / 2)

    def _break_off(self, now: float) -> None:
        if self.server is None or self.native is None:
            return
        calls = self.server.batcher.batch_calls
        late = now - self.server.batcher.batch_since > _ABORT_SECONDS
        if calls and late and calls <= self._reader.cancelled:
            self.native.abort()


def main() -> int:
    """Serve until the host goes; the exit code is 1 where the program itself is at fault."""
    outlet, reader = _take_descriptors()
    _die_with_parent()
    reader.start()
    ticker = Ticker(outlet, reader)
    ticker.start()
    load = reader.inbox.get()
    if not isinstance(load, protocol.Load):
        return 2
    try:
        _serve(load, outlet, reader, ticker)
    except (model_file.ModelFileError, engine.EngineError) as error:
        outlet.send(protocol.Failed(0, "unavailable", str(error)))
        return 3
    except Exception:  # noqa: BLE001 - a main: the host reports the exit code
        traceback.print_exc()
    return 1


def _serve(load: protocol.Load, outlet: Outlet, reader: Reader, ticker: Ticker) -> None:
    offloads = load.gpu_layers != 0 and engine.can_offload()
    size = model_file.check(load.path, offloads)
    threads = load.threads or processors.count()
    shape = engine.Shape(load.path, load.cells, load.sequences, load.gpu_layers, threads)
    told = -1

    def progress(fraction: float) -> None:
        nonlocal told
        percent = int(fraction * 100)
        if percent != told:
            told = percent
            outlet.send(protocol.Loading(int(size * fraction), size))

    identity = prefixes.model_identity(load.path) if load.prefixes else ""
    native = engine.Engine(shape, progress)
    server = serve.Server(load, native, outlet.send, _files(load, native, identity))
    server.batcher.warm_up()
    ticker.server, ticker.native, reader.server = server, native, server
    gc.collect()
    gc.freeze()
    outlet.send(protocol.Ready(server.form_name, threads, native.trims, server.notes))
    server.run(reader.inbox)


def _files(
    load: protocol.Load, native: engine.Engine, identity: str
) -> prefixes.PrefixFiles | None:
    """Where beginnings are kept; nowhere for a file that was replaced while it was loaded."""
    if not load.prefixes or prefixes.model_identity(load.path) != identity:
        return None
    return prefixes.PrefixFiles(pathlib.Path(load.prefixes), f"{identity} {native.kind()}")


def _take_descriptors() -> tuple[Outlet, Reader]:
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Outlet(outgoing), Reader(incoming)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _rss_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
