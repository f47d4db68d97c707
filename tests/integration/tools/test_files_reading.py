"""file_read and file_list on a real file system: what is shown, how it is bounded, what is not."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import contract, file_list, file_read

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(60)]


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


TEXTS = {
    "one line": (b"a\n", "x: lines 1-1 of 1, 2 bytes\na"),
    "no newline at the end": (b"a\nb", "x: lines 1-2 of 2, 3 bytes, no newline at the end\na\nb"),
    "empty": (b"", "x: an empty file."),
    "CRLF": (b"a\r\nb\r\n", "x: lines 1-2 of 2, 6 bytes, CRLF line ends\na\nb"),
    "blank lines": (b"\n\na\n", "x: lines 1-3 of 3, 4 bytes\n\n\na"),
    "UTF-8": ("ä\u2028ö\n".encode(), "x: lines 1-1 of 1, 8 bytes\nä\u2028ö"),
    "byte order mark": (b"\xef\xbb\xbfa\n", "x: lines 1-1 of 1, 5 bytes\na"),
    "bytes that are not UTF-8": (
        b"a\xffb\n",
        "x: lines 1-1 of 1, 4 bytes, bytes that are not UTF-8 are shown as �\na�b",
    ),
    "a NUL": (b"a\0b\n", "x: 4 bytes, a binary file: it is not shown."),
    "PNG": (b"\x89PNG\r\n", "x: 6 bytes, a PNG image: it is not shown."),
    "UTF-16": ("ab".encode("utf-16"), "x: 6 bytes, text in UTF-16: it is not shown."),
}


@pytest.mark.parametrize(("data", "text"), TEXTS.values(), ids=TEXTS)
async def test_what_a_text_looks_like(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "x").write_bytes(data)
    assert (await file_calls.read(tmp_path, "x")).text == text


@pytest.mark.parametrize(
    ("start", "lines", "header", "first", "last"),
    [
        (1, 2, "lines 1-2 of 1000, 8893 bytes, the next is start_line=3", "line 1", "line 2"),
        (500, 3, "lines 500-502 of 1000", "line 500", "line 502"),
        (999, 200, "lines 999-1000 of 1000, 8893 bytes", "line 999", "line 1000"),
        (1000, 1, "lines 1000-1000 of 1000, 8893 bytes", "line 1000", "line 1000"),
        (1, 2000, "the next is start_line=", "line 1", ""),
    ],
)
async def test_a_window(
    tmp_path: Path, start: int, lines: int, header: str, first: str, last: str
) -> None:
    (tmp_path / "x").write_text(numbered(1000))
    told, *shown = (await file_calls.read(tmp_path, "x", start, lines)).text.split("\n")
    assert header in told
    assert shown[0] == first
    assert not last or shown[-1] == last


async def test_every_line_can_be_reached_by_what_the_header_says(tmp_path: Path) -> None:
    text = "".join(f"{number} {'ä' * (number % 300)}\n" for number in range(1, 700))
    (tmp_path / "x").write_text(text)
    read, start = "", 1
    for _ in range(100):
        result = await file_calls.read(tmp_path, "x", start, 2000)
        assert len(result.text) <= 8000
        header, _, rest = result.text.partition("\n")
        read += f"{rest}\n"
        if "start_line=" not in header:
            break
        start = int(header.rpartition("=")[2])
    assert read == text


async def test_beyond_the_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(numbered(3))
    result = await file_calls.read(tmp_path, "x", 4)
    assert (result.text, result.failed) == ("x has 3 lines, no line 4.", True)


async def test_a_long_line_is_cut_and_the_next_ones_are_right(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a" * 3_000_000 + "\nb\n" + "c" * 1001 + "\r\nd")
    header, long, second, third, last = (await file_calls.read(tmp_path, "x")).text.split("\n")
    assert "lines 1-4 of 4" in header
    assert "cut" in header
    assert long == "a" * file_read.LINE_CHARS + " … (cut)"
    assert (second, third, last) == ("b", "c" * 1000 + " … (cut)", "d")


async def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(numbered(10))
    os.truncate(path, 1024**4)
    assert "1099511627776 bytes, a binary file" in (await file_calls.read(tmp_path, "x")).text
    path.write_text("\n" * (file_read.SCANNED_BYTES + 1024))
    result = await file_calls.read(tmp_path, "x", 5, 2)
    assert "lines 5-6 of more than 67108864" in result.text
    missing = await file_calls.read(tmp_path, "x", 10**9)
    assert "more than 67108864 lines, no line 1000000000" in missing.text


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


def make_dangling(path: Path) -> None:
    path.symlink_to("absent")


REFUSED = {
    "a folder": (Path.mkdir, "x is a folder: list it with file_list"),
    "a named pipe": (make_fifo, "x is a named pipe, not a file"),
    "a socket": (make_socket, "x is a socket, not a file"),
    "a link to itself": (make_loop, "x is a link, not a file"),
    "a link to nothing": (make_dangling, "x is not there"),
}


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED)
async def test_what_is_not_read(tmp_path: Path, make: Callable[[Path], None], reason: str) -> None:
    make(tmp_path / "x")
    with pytest.raises(contract.ToolFault, match=reason):
        await file_calls.read(tmp_path, "x")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("absent", "absent is not there"),
        ("absent/x", "absent/x is not there"),
        ("file/x", "/file is not a folder"),
        ("/dev/zero", "is a device"),
        ("/dev/null", "is a device"),
        ("/proc/self/environ", "belongs to a running process"),
        ("/proc/self/mem", "belongs to a running process"),
        ("/proc/thread-self/environ", "belongs to a running process"),
        ("/proc/1/environ", "belongs to a running process"),
        ("/proc/self/root/proc/self/environ", "belongs to a running process"),
        ("", "at least one character"),
        ("a\0b", "no NUL"),
        ("a" * 300, "too long"),
        ("a/" * 2049, "at most 4096 bytes"),
    ],
)
async def test_paths_that_are_not_read(tmp_path: Path, path: str, reason: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(contract.ToolFault, match=reason):
        await file_calls.read(tmp_path, path)


async def test_a_link_to_a_process_is_seen_through(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/proc/self/environ")
    with pytest.raises(contract.ToolFault, match="belongs to a running process"):
        await file_calls.read(tmp_path, "x")


async def test_a_file_of_the_system_without_a_size_is_read(tmp_path: Path) -> None:
    assert "processor" in (await file_calls.read(tmp_path, "/proc/cpuinfo")).text


@pytest.mark.parametrize("tool", [file_calls.READ, file_calls.LIST, file_calls.WRITE])
async def test_no_descriptor_is_left(tmp_path: Path, tool: contract.Tool) -> None:
    (tmp_path / "x").write_text("a")
    (tmp_path / "sub").mkdir()
    path = "sub" if tool is file_calls.LIST else "x"
    more = {"text": "b", "mode": "append"} if tool is file_calls.WRITE else {}
    good = file_calls.call(tool, tmp_path, {"path": path, **more})
    bad = file_calls.call(tool, tmp_path, {"path": "x/y", **more})
    counts: list[int] = []
    for _ in range(5):
        await file_calls.run(tool, good)
        with pytest.raises(contract.ToolFault):
            await tool.inspect(bad)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert counts[-1] <= counts[0]


class TestListing:
    async def test_kinds_sizes_and_order(self, tmp_path: Path) -> None:
        (tmp_path / "b").write_text("12")
        (tmp_path / ".a").write_text("1")
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "below").touch()
        (tmp_path / "d").symlink_to("/etc/passwd")
        os.mkfifo(tmp_path / "e")
        (tmp_path / "f\n\u202e").touch()
        os.close(os.open(os.fsencode(tmp_path) + b"/g\xff", os.O_CREAT))
        assert await file_calls.listing(tmp_path) == "\n".join(
            (
                ".: 7 entries",
                ".a  1 byte",
                "b  2 bytes",
                "c/",
                "d -> /etc/passwd",
                "e  (named pipe)",
                "f\\u{a}\\u{202e}  0 bytes",
                "g�  0 bytes",
            )
        )

    async def test_an_empty_folder(self, tmp_path: Path) -> None:
        assert await file_calls.listing(tmp_path) == ".: an empty folder."

    async def test_depth_and_no_link_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "a" / "b" / "c").mkdir(parents=True)
        (tmp_path / "a" / "up").symlink_to("..")
        two = ".: 3 entries\na/\na/b/\na/up -> .."
        assert await file_calls.listing(tmp_path, depth=2) == two
        three = ".: 4 entries\na/\na/b/\na/b/c/\na/up -> .."
        assert await file_calls.listing(tmp_path, depth=5) == three

    async def test_the_same_inspection_lists_again(self, tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        one = file_calls.call(file_calls.LIST, tmp_path, {})
        inspection = await file_calls.LIST.inspect(one)
        texts = [
            (await file_calls.LIST.run(one, inspection, lambda _: None)).text for _ in range(2)
        ]
        inspection.close()
        assert texts == [".: 1 entry\na  0 bytes"] * 2

    async def test_what_is_too_much_is_counted(self, tmp_path: Path) -> None:
        for number in range(250):
            (tmp_path / f"{number:03}").touch()
        text = await file_calls.listing(tmp_path)
        shown = file_list.SHOWN_ENTRIES
        assert text.startswith(f".: 250 entries, {250 - shown} not shown\n000  0 bytes\n")
        assert len(text.splitlines()) == shown + 1

    async def test_long_names_are_bounded_too(self, tmp_path: Path) -> None:
        for number in range(60):
            (tmp_path / f"{number:03}{'x' * 200}").touch()
        text = await file_calls.listing(tmp_path)
        assert len(text) <= 7000
        assert "not shown" in text.partition("\n")[0]

    async def test_an_endless_folder_is_left_uncounted(self, tmp_path: Path) -> None:
        for number in range(file_list.SEEN_ENTRIES + 5):
            os.mknod(tmp_path / str(number))
        assert (await file_calls.listing(tmp_path)).startswith(".: more than 20000 entries")

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("file", "file is a file, not a folder"),
            ("pipe", "pipe is a named pipe, not a folder"),
            ("absent", "absent is not there"),
            ("/proc/self/fd", "belongs to a running process"),
        ],
    )
    async def test_what_is_not_listed(self, tmp_path: Path, path: str, reason: str) -> None:
        (tmp_path / "file").touch()
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(contract.ToolFault, match=reason):
            await file_calls.listing(tmp_path, path)


class TestInspection:
    async def test_the_facts_of_a_read(self, tmp_path: Path) -> None:
        (tmp_path / "real").write_text("a")
        (tmp_path / "x").symlink_to("real")
        one = file_calls.call(file_calls.READ, tmp_path, {"path": "x"})
        facts = await file_calls.facts(file_calls.READ, one)
        real = str(tmp_path / "real")
        assert facts.effect is contract.Effect.PURE
        assert facts.shown == (("file", real), ("lines", "200 from line 1"))
        assert dict(facts.bound)["file"] == real
        assert facts.touched == (contract.Touched(written="x", real=real),)
        os.link(tmp_path / "real", tmp_path / "more")
        assert (await file_calls.facts(file_calls.READ, one)).touched[0].links

    async def test_what_was_inspected_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("mine")
        (tmp_path / "other").write_text("theirs")
        one = file_calls.call(file_calls.READ, tmp_path, {"path": "x"})
        inspection = await file_calls.READ.inspect(one)
        (tmp_path / "x").unlink()
        (tmp_path / "x").symlink_to("other")
        result = await file_calls.READ.run(one, inspection, lambda _: None)
        inspection.close()
        assert result.text.endswith("\nmine")

    async def test_what_was_inspected_is_listed(self, tmp_path: Path) -> None:
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "mine").touch()
        one = file_calls.call(file_calls.LIST, tmp_path, {"path": "x"})
        inspection = await file_calls.LIST.inspect(one)
        (tmp_path / "x").rename(tmp_path / "y")
        (tmp_path / "x").mkdir()
        result = await file_calls.LIST.run(one, inspection, lambda _: None)
        inspection.close()
        assert result.text == "x: 1 entry\nmine  0 bytes"


class TestHidden:
    @pytest.fixture
    def confinement(self, tmp_path: Path) -> contract.Confinement:
        state = tmp_path / "state"
        state.mkdir()
        (state / "token").write_text("secret")
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "mine").touch()
        os.link(state / "token", tmp_path / "work" / "harmless")
        (tmp_path / "work" / "link").symlink_to(state)
        return contract.Confinement(hidden=(str(state),))

    @pytest.mark.parametrize("path", ["harmless", "link/token", "../state/token", "link/new"])
    @pytest.mark.parametrize("tool", [file_calls.READ, file_calls.LIST, file_calls.WRITE])
    async def test_no_tool_meets_it(
        self, tmp_path: Path, confinement: contract.Confinement, tool: contract.Tool, path: str
    ) -> None:
        more = {"text": "x", "mode": "overwrite"} if tool is file_calls.WRITE else {}
        one = file_calls.call(tool, tmp_path / "work", {"path": path, **more}, confinement)
        with pytest.raises(contract.ToolFault, match="kept from this call"):
            await tool.inspect(one)

    async def test_a_listing_does_not_enter_it(
        self, tmp_path: Path, confinement: contract.Confinement
    ) -> None:
        wanted = {"path": "..", "depth": 5}
        one = file_calls.call(file_calls.LIST, tmp_path / "work", wanted, confinement)
        text = (await file_calls.run(file_calls.LIST, one)).text
        assert text == "\n".join(
            (
                "..: 5 entries",
                "state  (kept from this call)",
                "work/",
                "work/harmless  (kept from this call)",
                f"work/link -> {tmp_path / 'state'}",
                "work/mine  0 bytes",
            )
        )
