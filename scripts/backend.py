"""Which llama.cpp build this machine should get: CUDA, ROCm, Vulkan or plain CPU.

`choose` is pure over probed facts; `probe` only looks and changes nothing. Standard library alone:
this runs before anything is installed. Printed for scripts/setup, one a line: the backend, then the
CMake arguments that build it; what the owner should know goes to stderr.

    backend.py choose auto|cpu|cuda|rocm|vulkan STANDING
    backend.py installed SITE_PACKAGES
"""

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

BACKENDS = ("cuda", "rocm", "vulkan", "cpu")
"""In order of preference."""

CMAKE_ARGUMENTS = {
    "cpu": (),
    "cuda": ("-DGGML_CUDA=on",),
    "rocm": ("-DGGML_HIP=on",),
    "vulkan": ("-DGGML_VULKAN=on",),
}
LIBRARIES = {"cuda": "libggml-cuda.so", "rocm": "libggml-hip.so", "vulkan": "libggml-vulkan.so"}

NEEDS = {
    "cuda": frozenset(("nvcc",)),
    "rocm": frozenset(("hipcc", "hipblas headers", "rocblas headers")),
    "vulkan": frozenset(("glslc", "vulkan headers", "spirv headers")),
}
SERVES = {
    "cuda": frozenset(("nvidia",)),
    "rocm": frozenset(("amd-rocm",)),
    "vulkan": frozenset(("nvidia", "amd", "amd-rocm", "intel")),
}
MENDING = {
    "cuda": "the CUDA toolkit (Debian, Ubuntu: sudo apt install nvidia-cuda-toolkit)",
    "rocm": "ROCm's compiler and libraries"
    " (Debian, Ubuntu: sudo apt install hipcc libhipblas-dev librocblas-dev)",
    "vulkan": "Vulkan's build files"
    " (Debian, Ubuntu: sudo apt install libvulkan-dev glslc spirv-headers)",
}
CARDS = {
    "nvidia": "an NVIDIA GPU",
    "nvidia-undriven": "an NVIDIA GPU without a working driver",
    "amd": "an AMD GPU",
    "amd-rocm": "an AMD GPU",
    "intel": "an Intel GPU",
}
VENDORS = {"0x10de": "nvidia-undriven", "0x1002": "amd", "0x8086": "intel"}
PROBE_SECONDS = 20


class Impossible(Exception):
    """The backend that was asked for cannot be built here; the text says what would mend it."""


@dataclasses.dataclass(frozen=True)
class Facts:
    """What was found: GPUs by kind (`CARDS`), and what builds for them (`NEEDS`) with its place."""

    cards: frozenset[str] = frozenset()
    parts: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def missing(self, backend: str) -> list[str]:
        return sorted(NEEDS.get(backend, frozenset()) - self.parts.keys())


@dataclasses.dataclass(frozen=True)
class Choice:
    """The build to make, and sentences for the owner."""

    backend: str
    notices: tuple[str, ...] = ()


def choose(facts: Facts, wanted: str = "auto", standing: str = "none") -> Choice:
    """The best build for the GPUs found, or the one that was asked for.

    A standing build that serves a GPU stays when its compiler or driver is away for a while.

    Raises:
        Impossible: what was asked for is no backend, or its build tools are missing.
    """
    if wanted != "auto":
        return Choice(_forced(facts, wanted, standing))
    if "nvidia-undriven" in facts.cards and "nvidia" not in facts.cards:
        kept = standing if standing in ("cuda", "vulkan") else "cpu"
        return Choice(kept, (_notice(facts, "its driver (nvidia-smi must list it)"),))
    fitting = [name for name in SERVES if facts.cards & SERVES[name]]
    for backend in fitting:
        if backend == standing or not facts.missing(backend):
            return Choice(backend, _better(facts, fitting, backend))
    if fitting:
        return Choice("cpu", (_notice(facts, " or ".join(MENDING[name] for name in fitting)),))
    return Choice("cpu")


def _forced(facts: Facts, wanted: str, standing: str) -> str:
    if wanted not in BACKENDS:
        raise Impossible(f"DUCKLM_BACKEND is auto, {', '.join(BACKENDS)}; not {wanted!r}")
    if wanted != standing and (missing := facts.missing(wanted)):
        raise Impossible(
            f"A {wanted} build needs {', '.join(missing)}: install {MENDING[wanted]} and run again"
        )
    return wanted


def _notice(facts: Facts, mending: str) -> str:
    found = " and ".join(sorted({CARDS[card] for card in facts.cards}))
    return (
        f"This machine has {found}, but models will run on the CPU. To use it, install {mending}."
    )


def _better(facts: Facts, fitting: Iterable[str], backend: str) -> tuple[str, ...]:
    """Say so where a faster build would be possible with one more package."""
    missed = [name for name in fitting if name != backend and facts.missing(name)]
    earlier = [name for name in missed if BACKENDS.index(name) < BACKENDS.index(backend)]
    return tuple(
        f"Building for {backend}; {name} is usually faster and needs {MENDING[name]}."
        for name in earlier
    )


def cmake_arguments(facts: Facts, backend: str) -> str:
    """What CMake needs for a backend; a compiler that is not on PATH is named by its place."""
    arguments = ["-DLLAVA_BUILD=OFF", *CMAKE_ARGUMENTS[backend]]
    if backend == "cuda" and "nvcc" in facts.parts and shutil.which("nvcc") is None:
        arguments.append(f"-DCMAKE_CUDA_COMPILER={facts.parts['nvcc']}")
    return " ".join(arguments)


def installed(site_packages: Path) -> str:
    """The backend of the llama.cpp that stands there, or `none`."""
    libraries = site_packages / "llama_cpp" / "lib"
    for backend, name in LIBRARIES.items():
        if (libraries / name).exists():
            return backend
    return "cpu" if (libraries / "libllama.so").exists() else "none"


def probe() -> Facts:
    """Look for GPUs and for what builds for them."""
    cards = {VENDORS[vendor] for vendor in _display_vendors() if vendor in VENDORS}
    if "GPU 0" in _output("nvidia-smi", "-L"):
        cards = cards - {"nvidia-undriven"} | {"nvidia"}
    if "gfx" in _output("rocminfo"):
        cards = cards - {"amd"} | {"amd-rocm"}
    places = {
        "nvcc": _program("nvcc", "/usr/local/cuda/bin"),
        "hipcc": _program("hipcc", "/opt/rocm/bin"),
        "hipblas headers": _header("hipblas/hipblas.h"),
        "rocblas headers": _header("rocblas/rocblas.h"),
        "glslc": _program("glslc"),
        "vulkan headers": _header("vulkan/vulkan.h"),
        "spirv headers": _header("spirv/unified1/spirv.hpp"),
    }
    return Facts(frozenset(cards), {part: place for part, place in places.items() if place})


def _display_vendors() -> set[str]:
    files = Path("/sys/class/drm").glob("card*/device/vendor")
    return {file.read_text().strip() for file in files}


def _output(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _program(name: str, beside_path: str = "") -> str:
    return shutil.which(name) or (shutil.which(name, path=beside_path) if beside_path else "") or ""


def _header(name: str) -> str:
    sdk = os.environ.get("VULKAN_SDK", "/usr")
    for folder in (f"{sdk}/include", "/usr/include", "/usr/local/include", "/opt/rocm/include"):
        if Path(folder, name).exists():
            return str(Path(folder, name))
    return ""


def main(arguments: list[str]) -> int:
    match arguments:
        case ["installed", site_packages]:
            sys.stdout.write(f"{installed(Path(site_packages))}\n")
            return 0
        case ["choose", wanted, standing]:
            facts = probe()
            try:
                choice = choose(facts, wanted, standing)
            except Impossible as error:
                sys.stderr.write(f"{error}\n")
                return 1
            sys.stderr.writelines(f"{notice}\n" for notice in choice.notices)
            sys.stdout.write(f"{choice.backend}\n{cmake_arguments(facts, choice.backend)}\n")
            return 0
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
