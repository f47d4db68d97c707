"""The llama.cpp build that a machine gets, decided over what was found on it."""

from pathlib import Path

import pytest

from scripts import backend

CUDA = frozenset(("nvcc",))
ROCM = frozenset(("hipcc", "hipblas headers", "rocblas headers"))
VULKAN = frozenset(("glslc", "vulkan headers", "spirv headers"))
NOTHING: frozenset[str] = frozenset()


def facts(cards: str, parts: frozenset[str]) -> backend.Facts:
    return backend.Facts(frozenset(cards.split()), {part: f"/usr/bin/{part}" for part in parts})


@pytest.mark.parametrize(
    ("cards", "parts", "expected"),
    [
        ("", NOTHING, "cpu"),
        ("", CUDA | ROCM | VULKAN, "cpu"),
        ("nvidia", CUDA, "cuda"),
        ("nvidia", CUDA | VULKAN, "cuda"),
        ("nvidia intel", CUDA | VULKAN, "cuda"),
        ("amd-rocm", ROCM, "rocm"),
        ("amd-rocm", ROCM | VULKAN, "rocm"),
        ("amd", VULKAN, "vulkan"),
        ("intel", VULKAN, "vulkan"),
        ("nvidia amd-rocm", CUDA | ROCM, "cuda"),
    ],
)
def test_the_best_build_is_chosen_silently(
    cards: str, parts: frozenset[str], expected: str
) -> None:
    assert backend.choose(facts(cards, parts)) == backend.Choice(expected)


@pytest.mark.parametrize(
    ("cards", "parts", "words"),
    [
        ("nvidia", NOTHING, "NVIDIA GPU nvidia-cuda-toolkit libvulkan-dev"),
        ("nvidia", VULKAN - {"glslc"}, "NVIDIA GPU nvidia-cuda-toolkit libvulkan-dev"),
        ("nvidia-undriven", CUDA | VULKAN, "NVIDIA GPU without a working driver nvidia-smi"),
        ("amd", ROCM, "AMD GPU libvulkan-dev"),
        ("amd-rocm", NOTHING, "AMD GPU hipcc libvulkan-dev"),
        ("amd-rocm", frozenset(("hipcc",)), "AMD GPU librocblas-dev"),
        ("intel", CUDA, "Intel GPU spirv-headers"),
    ],
)
def test_a_cpu_build_beside_a_gpu_is_said_with_what_mends_it(
    cards: str, parts: frozenset[str], words: str
) -> None:
    choice = backend.choose(facts(cards, parts))
    assert choice.backend == "cpu"
    (notice,) = choice.notices
    assert "will run on the CPU" in notice
    assert all(word in notice for word in words.split())


def test_a_faster_build_that_lacks_a_package_is_named() -> None:
    choice = backend.choose(facts("nvidia", VULKAN))
    assert choice.backend == "vulkan"
    (notice,) = choice.notices
    assert "nvidia-cuda-toolkit" in notice


@pytest.mark.parametrize("name", ["cpu", "cuda", "rocm", "vulkan"])
def test_a_forced_build_needs_its_tools_and_no_gpu(name: str) -> None:
    assert backend.choose(facts("", CUDA | ROCM | VULKAN), name) == backend.Choice(name)


@pytest.mark.parametrize("name", ["cuda", "rocm", "vulkan", "metal", ""])
def test_a_forced_build_that_cannot_be_is_an_error_that_says_why(name: str) -> None:
    with pytest.raises(backend.Impossible, match="DUCKLM_BACKEND is|needs .*: install .*apt"):
        backend.choose(facts("nvidia amd intel", NOTHING), name)


@pytest.mark.parametrize(
    ("cards", "standing", "expected"),
    [
        ("nvidia", "cuda", "cuda"),
        ("nvidia-undriven", "cuda", "cuda"),
        ("intel", "vulkan", "vulkan"),
        ("", "cuda", "cpu"),
        ("amd", "cuda", "cpu"),
        ("nvidia", "cpu", "cpu"),
    ],
)
def test_a_build_that_stands_stays_while_its_tools_are_away(
    cards: str, standing: str, expected: str
) -> None:
    assert backend.choose(facts(cards, NOTHING), "auto", standing).backend == expected


def test_a_better_build_replaces_one_that_stands() -> None:
    assert backend.choose(facts("nvidia", CUDA | VULKAN), "auto", "vulkan").backend == "cuda"
    assert backend.choose(facts("nvidia", VULKAN), "auto", "cuda").backend == "cuda"


def test_a_forced_build_that_stands_needs_no_tools() -> None:
    assert backend.choose(facts("", NOTHING), "cuda", "cuda").backend == "cuda"


def test_cmake_is_told_the_backend() -> None:
    found = facts("", CUDA)
    assert backend.cmake_arguments(found, "cpu") == "-DLLAVA_BUILD=OFF"
    assert "-DGGML_CUDA=on" in backend.cmake_arguments(found, "cuda")
    assert "-DGGML_HIP=on" in backend.cmake_arguments(found, "rocm")
    assert "-DGGML_VULKAN=on" in backend.cmake_arguments(found, "vulkan")


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        ("libggml-cuda.so", "cuda"),
        ("libggml-hip.so", "rocm"),
        ("libggml-vulkan.so", "vulkan"),
        ("libggml-cpu.so", "cpu"),
    ],
)
def test_the_installed_build_is_read_from_its_libraries(
    tmp_path: Path, library: str, expected: str
) -> None:
    assert backend.installed(tmp_path) == "none"
    folder = tmp_path / "llama_cpp" / "lib"
    folder.mkdir(parents=True)
    (folder / "libllama.so").touch()
    (folder / library).touch()
    assert backend.installed(tmp_path) == expected


def test_probing_this_machine_gives_a_choice() -> None:
    assert backend.choose(backend.probe()).backend in backend.BACKENDS
