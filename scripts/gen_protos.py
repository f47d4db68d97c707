"""Generate the Python modules beside `proto/ducklm/v1/*.proto`, from the project's root.

Disk path, proto import and Python import are the same, so nothing that protoc writes is changed.
`--check` compares instead of writing and exits 1 where a file differs.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = "proto/ducklm/v1"


def generate(into: Path) -> None:
    """Run protoc with its Python, gRPC and type-stub plugins; raises CalledProcessError."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / SOURCES).glob("*.proto"))
    outs = [f"--{kind}_out={into}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", *outs, *sources]
    env_path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    subprocess.run(command, cwd=ROOT, check=True, env={"PATH": env_path}, capture_output=True)


def generated(root: Path) -> dict[str, str]:
    """The generated files below a root, as relative path → text."""
    files = sorted((root / SOURCES).glob("*_pb2*"))
    return {str(path.relative_to(root)): path.read_text() for path in files}


def differences() -> list[str]:
    """The generated files that do not stand in the tree as protoc would write them now."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        wanted = generated(Path(folder))
    present = generated(ROOT)
    return sorted(name for name in wanted | present if wanted.get(name) != present.get(name))


def main() -> int:
    if "--check" not in sys.argv[1:]:
        generate(ROOT)
        return 0
    stale = differences()
    for name in stale:
        sys.stderr.write(f"{name} is not what protoc makes: run scripts/gen_protos.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
