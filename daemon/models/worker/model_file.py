"""What can be said of a model file before native code reads it.

Native code gives no usable reason when it cannot load a file, and some damage kills it. The cheap
checks come first, each with the sentence that a person needs.
"""

import os
import pathlib
import struct

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_HEADER = struct.Struct("<4sIQQ")
_TENSORS = 1_000_000
_MEMINFO = pathlib.Path("/proc/meminfo")


class ModelFileError(Exception):
    """The file cannot be loaded; `str(error)` is the sentence that says how to mend it."""


def check(path: str, offloads: bool) -> int:
    """The file's size in bytes. `offloads` says that memory other than the machine's holds it.

    Raises:
        ModelFileError: it is missing, unreadable, no GGUF file, or larger than free memory.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER.size)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        raise ModelFileError(
            f"There is no model file {path}; download it or correct `path` in models.toml."
        ) from error
    except OSError as error:
        raise ModelFileError(
            f"The model file {path} cannot be read ({error.strerror}); mend its permissions."
        ) from error
    if len(header) < _HEADER.size or header[:4] != _MAGIC:
        raise ModelFileError(f"{path} is not a GGUF file; download the model as GGUF.")
    _, version, tensors, keys = _HEADER.unpack(header)
    if version not in _VERSIONS:
        raise ModelFileError(
            f"{path} is GGUF version {version}; versions 2 and 3 can be loaded, convert it anew."
        )
    if not 0 < tensors < _TENSORS or not 0 < keys < _TENSORS:
        raise ModelFileError(f"{path} is damaged at its beginning; download it again.")
    available = free_bytes()
    if not offloads and available is not None and size > available:
        raise ModelFileError(
            f"{path} needs {size >> 20} MiB of memory and {available >> 20} MiB are free; "
            "choose a smaller model or a stronger quantization."
        )
    return size


def free_bytes() -> int | None:
    """Free memory including what the page cache would give back; None where nobody says."""
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
