"""What is ignored is what git ignores, and no pattern takes long."""

import os
import subprocess
import time
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies

from daemon.history import ignores
from tests.integration.history import folders

pytestmark = [pytest.mark.spec("K-04")]
PATTERNS = [
    "a",
    "/a",
    "a/",
    "/a/",
    "a/b",
    "a/*",
    "a/**",
    "**/b",
    "a/**/c",
    "**",
    "*",
    "*.b",
    "a*",
    "*a*b*",
    "?",
    "a?c",
    "[ab]",
    "[!ab]",
    "[^a-c]x",
    "[a-]",
    "[]]",
    "[]-a]",
    "[[:alpha:]]b",
    "[[:digit:][:space:]]",
    "[[:nonsense:]]",
    "[a",
    "a[",
    "a\\*",
    "\\a",
    "\\",
    "a\\",
    "\\#a",
    "#a",
    "\\!a",
    "!a",
    "!a/b",
    "!*",
    "a ",
    "a\\ ",
    "a  \\ ",
    " a",
    "a\r",
    "**a",
    "a**",
    "a/**b/c",
    "/**",
    "**/",
    "/",
    "//",
    "a//b",
    "",
    "!",
    "!!a",
    "ü",
    "**/a/**/b/**",
]
NAMES = ["a", "b", "c", "ab", "a.b", "abc", "acb", "*", "a*", "#a", "!a", "a ", " a", "ü", "x",
         "dx", "]", "-", "a\\", "\\", "1", "[a", "a["]  # fmt: skip
PATHS = [*NAMES, *(f"{one}/{two}" for one in ("a", "b", "x") for two in NAMES),
         "a/b/c", "a/x/c", "a/x/y/c", "x/a/y/b/z", "x/a/b/c", "a/zb/c"]  # fmt: skip


class Repository:
    """A folder that git knows, to be asked what it would ignore."""

    def __init__(self, root: Path) -> None:
        self._root = root
        folders.git("init", "-q", cwd=root)

    def ignored(self, lines: list[str], paths: list[str]) -> dict[str, bool]:
        """Files by whether git ignores them; none of them need be there."""
        (self._root / ".gitignore").write_bytes("\n".join(lines).encode())
        assert folders.GIT is not None
        done = subprocess.run(
            (
                folders.GIT,
                "check-ignore",
                "-z",
                "--stdin",
                "--verbose",
                "--non-matching",
                "--no-index",
            ),
            input=b"\0".join(path.encode() for path in paths),
            cwd=self._root,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        parts = done.stdout.split(b"\0")
        return {
            path.decode(): bool(source) and not pattern.startswith(b"!")
            for source, pattern, path in zip(parts[0::4], parts[2::4], parts[3::4], strict=False)
        }


def ours(lines: list[str], path: str) -> bool:
    """The same as a walk finds it: what lies in an ignored folder is not looked at."""
    parsed = ignores.parse("\n".join(lines).encode())
    parts = path.encode().split(b"/")
    within = (b"/".join(parts[:count]) for count in range(1, len(parts)))
    return any(ignores.ignored([parsed], folder, True) for folder in within) or ignores.ignored(
        [parsed], path.encode(), False
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("repository"))


def test_each_pattern_alone(repository: Repository) -> None:
    for pattern in PATTERNS:
        wanted = repository.ignored([pattern], PATHS)
        assert len(wanted) == len(PATHS)
        found = {path: ours([pattern], path) for path in PATHS}
        assert found == wanted, pattern


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(
    lines=strategies.lists(
        strategies.one_of(
            strategies.sampled_from(PATTERNS),
            strategies.text("ab*?/[]!\\-. ", min_size=1, max_size=8),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_patterns_together(repository: Repository, lines: list[str]) -> None:
    assert {path: ours(lines, path) for path in PATHS} == repository.ignored(lines, PATHS)


@pytest.mark.parametrize(
    "pattern",
    [
        b"*a" * 240 + b"b",
        b"/" + b"**/a/" * 90 + b"b",
        b"*" * 499,
        b"[" * 499,
        b"[a-z]*" * 80 + b"!",
        b"?*" * 200 + b"b",
    ],
)
def test_no_pattern_takes_long(pattern: bytes) -> None:
    parsed = ignores.parse(b"\n".join([pattern] * 20))
    began = time.process_time()
    for path in (b"a" * 255, b"/".join([b"a"] * 60), b"a" * 254 + b"b"):
        ignores.ignored([parsed], path, False)
    assert time.process_time() - began < 1.0


def test_a_huge_file_of_patterns_is_read_in_part() -> None:
    parsed = ignores.parse(os.linesep.encode().join(b"p%d" % one for one in range(5000)))
    assert len(parsed.patterns) == 1000
