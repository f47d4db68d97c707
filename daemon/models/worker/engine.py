"""One loaded model and one context: the thin native effects of the worker.

Decides nothing. A decode that fails leaves the context in doubt; `renew` makes a new one.
"""

import ctypes
import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from llama_cpp import __version__ as llama_cpp_version, llama_cpp

from daemon.models.worker import model_file

BATCH_TOKENS = 2048
_UBATCH_TOKENS = 512
_META_BYTES = 1 << 18
_CELL_BYTES = 4
"""Key and value of one number in a layer's memory, as 16-bit floats."""
_WARN, _ERROR = 3, 4
_C = ctypes.CDLL(None)
_GO_ON, _ABORT = b"\0", b"\1"
"""The text that llama.cpp asks about a thousand times a batch, by `strlen`: empty, or of length 1,
which are false and true. A callback of Python's would take the interpreter's lock each time."""


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes | None, _: object) -> None:
    """Native warnings go to stderr; the rest is hundreds of lines a load."""
    if level in (_WARN, _ERROR) and text:
        sys.stderr.write(text.decode("utf-8", "replace"))


def can_offload() -> bool:
    """Whether this build of llama.cpp can put layers on an accelerator."""
    return bool(llama_cpp.llama_supports_gpu_offload())


Saved: TypeAlias = ctypes.Array[ctypes.c_uint8]


class EngineError(Exception):
    """The model cannot be loaded or served; `str(error)` is one sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What the engine is made with; cells are the tokens of all sequences together."""

    path: str
    cells: int
    sequences: int
    gpu_layers: int
    threads: int


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One token of a batch; `wanted` asks for the logits that follow it."""

    token: int
    position: int
    sequence: int
    wanted: bool


DECODED, NO_ROOM, ABORTED = 0, 1, 2


class Engine:
    """Loads in the constructor, which may take minutes; `progress` is told the fraction.

    Raises:
        EngineError: llama.cpp cannot load the file or make the context.
    """

    def __init__(self, shape: Shape, progress: Callable[[float], None]) -> None:
        self._shape = shape
        self._batch = _Batch(BATCH_TOKENS)
        self._abort = ctypes.create_string_buffer(2)
        llama_cpp.llama_log_set(_log, None)
        llama_cpp.llama_backend_init()
        self._model = self._load(progress)
        self._asked_to_abort = ctypes.cast(_C.strlen, llama_cpp.ggml_abort_callback)
        self._refuse_beyond_memory()
        self.context = self._make_context()
        self.vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        stateful = llama_cpp.llama_model_is_recurrent(
            self._model
        ) or llama_cpp.llama_model_is_hybrid(self._model)
        self.trims = not stateful
        self.keeps = self.trims and not llama_cpp.llama_model_n_swa(self._model)
        """Whether the first tokens of a sequence can be taken apart from the others: what slides
        may have let go of some."""

    def chat_template(self) -> str | None:
        """The template in the file, or None."""
        buffer = ctypes.create_string_buffer(_META_BYTES)
        length = llama_cpp.llama_model_meta_val_str(
            self._model, b"tokenizer.chat_template", buffer, _META_BYTES
        )
        return buffer.value.decode("utf-8", "replace") if length > 0 else None

    def trained_tokens(self) -> int:
        """The context length that the model was trained for."""
        return int(llama_cpp.llama_model_n_ctx_train(self._model))

    def cells(self) -> int:
        """How many tokens fit all sequences together."""
        return int(llama_cpp.llama_n_ctx(self.context))

    def decode(self, rows: Sequence[Row]) -> int:
        """Compute a batch: DECODED, NO_ROOM (nothing changed), ABORTED, or below 0 if broken."""
        self._abort[0] = _GO_ON
        code = int(llama_cpp.llama_decode(self.context, self._batch.fill(rows)))
        if code == DECODED:
            llama_cpp.llama_synchronize(self.context)
        return code

    def abort(self) -> None:
        """Have the running decode end early; may be called from another thread."""
        self._abort[0] = _ABORT

    def trim(self, sequence: int, keep: int) -> bool:
        """Drop what is beyond `keep` tokens; False where this memory cannot."""
        return bool(llama_cpp.llama_memory_seq_rm(self._memory(), sequence, keep, -1))

    def clear(self, sequence: int) -> None:
        """Drop all of a sequence."""
        llama_cpp.llama_memory_seq_rm(self._memory(), sequence, -1, -1)

    def copy(self, source: int, target: int, keep: int) -> None:
        """Share the first `keep` tokens of a sequence with another, which must be empty."""
        llama_cpp.llama_memory_seq_cp(self._memory(), source, target, 0, keep)

    def save(self, sequence: int) -> Saved | None:
        """A copy of what was computed for a sequence; None where llama.cpp gives none."""
        size = int(llama_cpp.llama_state_seq_get_size(self.context, sequence))
        if size <= 0:
            return None
        saved = (ctypes.c_uint8 * size)()
        got = llama_cpp.llama_state_seq_get_data(self.context, saved, size, sequence)
        return saved if got == size else None

    def load(self, sequence: int, saved: Saved) -> bool:
        """Put a copy into a sequence, in place of what is there; False where there is no room."""
        size = len(saved)
        return bool(llama_cpp.llama_state_seq_set_data(self.context, saved, size, sequence) == size)

    def end(self, sequence: int) -> int:
        """How many tokens a sequence holds from the very first; 0 where it lacks that one."""
        memory = self._memory()
        if llama_cpp.llama_memory_seq_pos_min(memory, sequence) != 0:
            return 0
        return int(llama_cpp.llama_memory_seq_pos_max(memory, sequence)) + 1

    def kind(self) -> str:
        """What states that were saved depend on beside the model's file.

        The size of the context is a part of it: some models turn their positions otherwise in one
        that is longer than they were trained for.
        """
        chosen = self._parameters()
        system = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
        backend = f"{llama_cpp_version} {system} gpu_layers={self._shape.gpu_layers}"
        return (
            f"{backend} k={chosen.type_k} v={chosen.type_v} flash={chosen.flash_attn_type} "
            f"unified={chosen.kv_unified} swa_full={chosen.swa_full} cells={self.cells()}"
        )

    def renew(self) -> None:
        """Drop the context and all that was computed, and make a new one."""
        llama_cpp.llama_free(self.context)
        self.context = self._make_context()

    def _memory(self) -> object:
        return llama_cpp.llama_get_memory(self.context)

    def _load(self, progress: Callable[[float], None]) -> object:
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = self._shape.gpu_layers

        def report(fraction: float, _: object) -> bool:
            progress(fraction)
            return True

        callback = llama_cpp.llama_progress_callback(report)
        parameters.progress_callback = callback
        model = llama_cpp.llama_model_load_from_file(self._shape.path.encode(), parameters)
        if not model:
            raise EngineError(
                f"llama.cpp cannot load {self._shape.path}: the file is damaged or its "
                "architecture is unknown; download it again or choose another model."
            )
        return model

    def _refuse_beyond_memory(self) -> None:
        """Native code would take all memory before it found that there is not enough."""
        model = self._model
        heads = max(1, llama_cpp.llama_model_n_head(model))
        head_width = llama_cpp.llama_model_n_embd(model) // heads
        width = head_width * llama_cpp.llama_model_n_head_kv(model)
        layers = llama_cpp.llama_model_n_layer(model)
        needed = self._shape.cells * (layers * width * _CELL_BYTES + _CELL_BYTES)
        free = model_file.free_bytes()
        offloads = self._shape.gpu_layers != 0 and can_offload()
        if not offloads and free is not None and needed > free:
            raise EngineError(
                f"{self._shape.cells} tokens of context for {self._shape.path} need "
                f"{needed >> 20} MiB of memory and {free >> 20} MiB are free; lower "
                "context_tokens in models.toml."
            )

    def _parameters(self) -> llama_cpp.llama_context_params:
        parameters: llama_cpp.llama_context_params = llama_cpp.llama_context_default_params()
        parameters.n_ctx = self._shape.cells
        parameters.n_batch = BATCH_TOKENS
        parameters.n_ubatch = _UBATCH_TOKENS
        parameters.n_seq_max = self._shape.sequences
        parameters.n_threads = self._shape.threads
        parameters.n_threads_batch = self._shape.threads
        parameters.kv_unified = True
        parameters.no_perf = True
        parameters.abort_callback = self._asked_to_abort
        parameters.abort_callback_data = ctypes.c_void_p(ctypes.addressof(self._abort))
        return parameters

    def _make_context(self) -> int:
        context = llama_cpp.llama_init_from_model(self._model, self._parameters())
        if not context:
            raise EngineError(
                f"There is no memory for a context of {self._shape.cells} tokens for "
                f"{self._shape.path}; lower context_tokens or places in models.toml."
            )
        return int(context)


class _Batch:
    """A llama_batch over arrays of our own, so that it is filled without a loop of ctypes."""

    def __init__(self, size: int) -> None:
        self._token = np.zeros(size, np.int32)
        self._position = np.zeros(size, np.int32)
        self._count = np.ones(size, np.int32)
        self._sequence = np.zeros(size, np.int32)
        self._wanted = np.zeros(size, np.int8)
        step = self._sequence.itemsize
        self._pointers = self._sequence.ctypes.data + step * np.arange(size, dtype=np.uintp)
        self._batch = llama_cpp.llama_batch(
            0,
            _pointer(self._token, ctypes.c_int32),
            None,
            _pointer(self._position, ctypes.c_int32),
            _pointer(self._count, ctypes.c_int32),
            _pointer(self._pointers, ctypes.POINTER(ctypes.c_int32)),
            _pointer(self._wanted, ctypes.c_int8),
        )

    def fill(self, rows: Sequence[Row]) -> llama_cpp.llama_batch:
        count = len(rows)
        self._token[:count] = [row.token for row in rows]
        self._position[:count] = [row.position for row in rows]
        self._sequence[:count] = [row.sequence for row in rows]
        self._wanted[:count] = [row.wanted for row in rows]
        self._batch.n_tokens = count
        return self._batch


def _pointer(array: np.ndarray, kind: type) -> object:
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(kind))
