"""grep on a real file system: what is found, what is left out and said, and what cannot hang it."""

import asyncio
import os
import socket
import threading
import time
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import confine, contract, grep, grep_search, grep_walk, secret_names

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(120)]

TOOL = grep.Grep()


async def found(
    folder: Path,
    pattern: str,
    hidden: tuple[str, ...] = (),
    *,
    path: str = ".",
    glob: str = "",
    ignore_case: bool = False,
    context_lines: int = 0,
) -> list[str]:
    """The header, then the lines."""
    wanted = {
        "pattern": pattern,
        "path": path,
        "glob": glob,
        "ignore_case": ignore_case,
        "context_lines": context_lines,
    }
    one = file_calls.call(TOOL, folder, wanted, contract.Confinement(hidden=hidden))
    return (await file_calls.run(TOOL, one)).text.splitlines()


def fill(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("text", "pattern", "lines"),
    [
        ("a\nb\nab\n", "b", ["x:2: b", "x:3: ab"]),
        ("a\nb", "^b$", ["x:2: b"]),
        ("a\r\nb\r\n", "a$", ["x:1: a"]),
        ("aä\n日本\n", "日.", ["x:2: 日本"]),
        ("a\n\nb\n", "^$", ["x:2: "]),
        ("a\nb\n", r"a\s+b", []),
        ("a\nb\n", "[^a]", ["x:2: b"]),
        ("a\nb\n", r"\Ab", ["x:2: b"]),
        ("a\nb\n", r"a\z", ["x:1: a"]),
        ("A\na\n", "(?i)a", ["x:1: A", "x:2: a"]),
        ("", "a", []),
    ],
)
async def test_what_is_found(tmp_path: Path, text: str, pattern: str, lines: list[str]) -> None:
    (tmp_path / "x").write_bytes(text.encode())
    assert (await found(tmp_path, pattern))[1:] == lines
    assert (await found(tmp_path, pattern, path="x"))[1:] == lines


async def test_where_and_how_it_is_looked_for(tmp_path: Path) -> None:
    fill(tmp_path, a_dot_py="Key\n", sub__b_dot_py="key\n", sub__c_dot_md="key\n")
    assert (await found(tmp_path, "key"))[1:] == ["sub/b.py:1: key", "sub/c.md:1: key"]
    assert (await found(tmp_path, "key", glob="*.py"))[1:] == ["sub/b.py:1: key"]
    assert (await found(tmp_path, "key", glob="sub/*.md"))[1:] == ["sub/c.md:1: key"]
    assert (await found(tmp_path, "key", path="sub", glob="*.md"))[1:] == ["sub/c.md:1: key"]
    assert (await found(tmp_path, "KEY", ignore_case=True))[1] == "a.py:1: Key"
    assert await found(tmp_path, "none") == ["no match in 3 files"]


async def test_lines_around(tmp_path: Path) -> None:
    fill(tmp_path, x="".join(f"{n}\n" for n in range(1, 13)))
    assert (await found(tmp_path, "^(3|4|9)$", context_lines=1))[1:] == [
        *("x-2- 2", "x:3: 3", "x:4: 4", "x-5- 5"),
        "--",
        *("x-8- 8", "x:9: 9", "x-10- 10"),
    ]
    assert (await found(tmp_path, "^(1|12)$", context_lines=1))[1:] == [
        *("x:1: 1", "x-2- 2", "--", "x-11- 11", "x:12: 12")
    ]


async def test_a_long_line_is_cut_round_the_match(tmp_path: Path) -> None:
    fill(tmp_path, x="ä" * 5000 + "KEY" + "b" * 5000 + "\n")
    line = (await found(tmp_path, "KEY"))[1]
    assert "KEY" in line
    assert len(line) < 260
    assert (line[:6], line[-1]) == ("x:1: …", "…")


async def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    work = tmp_path / "work"
    fill(work, _dot_git__x="key\n", y="key\n", big="key\n", zero="key\0\n", _dot_env="key\n")
    fill(work, secrets__x="key\n", _dot_env_dot_example="key\n", state__x="key\n")
    fill(tmp_path, far="key\n", state__x="key\n")
    os.truncate(work / "big", grep_search.FILE_BYTES + 1)
    (work / "link").symlink_to("../far")
    (work / "folder").symlink_to("..")
    os.link(tmp_path / "state" / "x", work / "name")
    os.mkfifo(work / "fifo")
    hidden = (str(tmp_path / "state"), str(work / "state"))
    header, *lines = await found(work, "key", hidden)
    assert lines == [".env.example:1: key", "y:1: key"]
    assert header == (
        "2 matches in 2 of 2 files; left out: 2 kept from this call, 1 larger than 4194304 bytes, "
        "2 links, 1 that are no text, "
        "2 that may hold secrets (name one as path to search it)"
    )
    assert (await found(work, "key", path=".env"))[1:] == [".env:1: key"]


async def test_sockets_and_folders_that_are_shut(tmp_path: Path) -> None:
    fill(tmp_path, y="key\n")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert (await found(tmp_path, "key"))[1:] == ["y:1: key"]


class TestIgnored:
    async def test_what_git_ignores_is_left_out(self, tmp_path: Path) -> None:
        fill(
            tmp_path,
            _dot_gitignore="*.log\nbuild/\n/top\n",
            a_dot_log="key",
            build__x="key",
            top="key",
            sub__top="key",
            sub__b_dot_log="key",
            sub__keep_dot_log="key",
            sub___dot_gitignore="!keep.log\n",
        )
        header, *lines = await found(tmp_path, "key")
        assert lines == ["sub/keep.log:1: key", "sub/top:1: key"]
        assert "left out: 4 ignored by git" in header

    async def test_the_folders_above_say_so_too(self, tmp_path: Path) -> None:
        fill(tmp_path, _dot_gitignore="sub/*.log\n", sub__a_dot_log="key", sub__b="key")
        assert (await found(tmp_path, "key", path="sub"))[1:] == ["sub/b:1: key"]

    async def test_a_folder_that_is_named_is_searched(self, tmp_path: Path) -> None:
        fill(tmp_path, _dot_gitignore="build/\n", build__x="key")
        assert (await found(tmp_path, "key", path="build"))[1:] == ["build/x:1: key"]

    async def test_a_hostile_file_of_patterns_ends_soon(self, tmp_path: Path) -> None:
        name = "a" * 250
        fill(tmp_path, _dot_gitignore="*a" * 60 + "b\n", **{name: "key"})
        began = time.monotonic()
        assert len(await found(tmp_path, "key")) == 2
        assert time.monotonic() - began < 5


class TestBounds:
    @pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(a?){500}a{500}$"])
    async def test_no_pattern_hangs(self, tmp_path: Path, pattern: str) -> None:
        fill(tmp_path, x="a" * 200_000 + "!\n")
        began = time.monotonic()
        await found(tmp_path, pattern)
        assert time.monotonic() - began < 10

    async def test_many_matches(self, tmp_path: Path) -> None:
        fill(tmp_path, x="key\n" * 5000, y="key\n")
        header, *lines = await found(tmp_path, "key")
        assert header == (
            "1000 matches in 1 of 1 file; 100 of them shown; "
            "ended after 1000 matches: there may be more"
        )
        assert len(lines) == 100

    async def test_long_lines_fit_a_result(self, tmp_path: Path) -> None:
        fill(tmp_path, x=("key" + "x" * 500 + "\n") * 90)
        lines = await found(tmp_path, "key", context_lines=5)
        assert len("\n".join(lines)) < 8000
        assert "of them shown" in lines[0]

    def test_many_entries(self, tmp_path: Path) -> None:
        fill(tmp_path, **{f"{folder}__{name}": "key\n" for folder in "abc" for name in "wxyz"})
        opened = os.open(tmp_path, os.O_RDONLY)
        hidden = confine.Hidden(contract.Confinement())
        walk = grep_walk.Walk(opened, ".", None, hidden, ((), ()), most_entries=9)
        found = grep_search.Found(grep_search.compiled("key", False), 0, threading.Event())
        header, *lines = grep_search.search(walk, found).splitlines()
        os.close(opened)
        assert header == "6 matches in 6 of 6 files; ended after 9 entries: there may be more"
        assert len(lines) == 6

    async def test_a_large_expression_is_given_the_beginning_of_long_lines(
        self, tmp_path: Path
    ) -> None:
        fill(tmp_path, x="a" * 33_000 + "KEY\nKEY\n")
        header, *lines = await found(tmp_path, r"(\pL?){9}KEY")
        assert header.endswith("; only the beginning of 1 long line looked at")
        assert lines == ["x:2: KEY"]

    async def test_a_cancelled_search_has_ended(self, tmp_path: Path) -> None:
        for name in range(300):
            (tmp_path / str(name)).write_text("line\n" * 200_000)
        one = file_calls.call(TOOL, tmp_path, {"pattern": "(l|i|n|e)+x|line$|.*q"})
        inspection = await TOOL.inspect(one)
        running = asyncio.create_task(TOOL.run(one, inspection, lambda _: None))
        await asyncio.sleep(0)
        running.cancel()
        began = time.monotonic()
        await asyncio.wait((running,))
        assert time.monotonic() - began < 5
        inspection.close()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"pattern": "("}, r"pattern: missing \): \(\. \(It knows no look-around"),
        ({"pattern": "(?=a)"}, "no look-around"),
        ({"pattern": r"(a)\1"}, "no back-references"),
        ({"pattern": "\ud800"}, "grep"),
        ({"pattern": ""}, "grep: pattern"),
        ({"pattern": "a" * 1001}, "grep: pattern"),
        ({"pattern": "a", "context_lines": 6}, "grep: context_lines"),
        ({"pattern": "a", "glob": "a" * 1001}, "grep: glob"),
        ({"pattern": "a", "path": "none"}, "none is not there"),
        ({"pattern": "a", "path": "/proc"}, "no files that can be searched"),
        ({"pattern": "a", "path": "/proc/self/environ"}, "running process"),
        ({"pattern": "a", "path": "/dev"}, "no files that can be searched"),
    ],
)
async def test_what_is_refused(tmp_path: Path, wanted: dict[str, object], said: str) -> None:
    with pytest.raises(contract.ToolFault, match=said):
        await file_calls.run(TOOL, file_calls.call(TOOL, tmp_path, wanted))


async def test_what_it_touches_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub")
    one = file_calls.call(TOOL, tmp_path, {"pattern": "a", "path": "link"})
    (touched,) = (await file_calls.facts(TOOL, one)).touched
    assert (touched.written, touched.real) == ("link", str(tmp_path / "sub"))
    assert not touched.writes


def test_the_names_of_secrets_are_those_of_the_rules() -> None:
    rules = resources.files("config") / "permissions.toml"
    paths = tomllib.loads(rules.read_text(encoding="utf-8"))["paths"]
    wanted = [name for name in paths["secret"] if not name.startswith(("/", "~"))]
    assert sorted(secret_names.NAMES) == sorted(wanted)
    assert sorted(secret_names.HARMLESS) == sorted(paths["not_secret"])
