"""The output of a command as a model reads it: short, by its meaning, and honest about the rest."""

import pytest
from hypothesis import given, strategies as st

from tools import shell_output

pytestmark = pytest.mark.spec("K-12")

SAME = {
    "nothing": ("", ""),
    "short": ("a\nb\n", "a\nb"),
    "colours": ("\x1b[31mred\x1b[0m and \x1b[1;32mgreen\x1b[K\n", "red and green"),
    "a title and a charset": ("\x1b]0;title\x07\x1b(Btext", "text"),
    "a link": ("\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\", "here"),
    "a progress bar": ("10%\r20%\r100%\ndone\n", "100%\ndone"),
    "a bar wiped at its end": ("10%\r20%\r\x1b[K\ndone", "20%\ndone"),
    "windows line ends": ("a\r\nb\r\n", "a\nb"),
    "controls": ("a\x00\x08\x07b\tc", "ab\tc"),
    "two same lines": ("a\na\nb", "a\na\nb"),
    "many same lines": ("a\na\na\na\nb\n", "a  (× 4)\nb"),
    "a bar of many lines": ("x 1\rx 2\nx 1\rx 2\nx 2", "x 2  (× 3)"),
}


@pytest.mark.parametrize("case", SAME)
def test_what_a_terminal_would_show(case: str) -> None:
    text, shown = SAME[case]
    for failed in (False, True):
        assert shell_output.shorten(text, 1000, failed) == shown


def lines(count: int) -> str:
    return "\n".join(f"line number {number}" for number in range(1, count + 1))


def test_success_keeps_the_end() -> None:
    shown = shell_output.shorten(lines(1000), 200, failed=False).split("\n")
    assert shown[0] == f"… {1000 - len(shown) + 1} of 1000 lines left out …"
    assert shown[1:] == [f"line number {number}" for number in range(1002 - len(shown), 1001)]
    assert len(shown) > 5


def test_failure_keeps_errors_with_their_numbers_and_the_end() -> None:
    text = lines(300) + "\nx.c:5: error: no ;\n" + lines(300) + "\nmake: *** Error 2"
    shown = shell_output.shorten(text, 400, failed=True).split("\n")
    assert shown[0] == "301: x.c:5: error: no ;"
    assert shown[1].startswith("… 5")
    assert shown[-1] == "make: *** Error 2"
    assert "301" not in shell_output.shorten(text, 400, failed=False)


def test_many_errors_leave_room_for_the_end() -> None:
    text = "\n".join(f"error {number}" for number in range(1000)) + "\n" + lines(200)
    shown = shell_output.shorten(text, 1000, failed=True).split("\n")
    assert shown[0] == "1: error 0"
    assert shown[-1] == "line number 200"
    assert 10 < sum(": error" in line for line in shown) <= 40


ERRORS = {
    "TypeError: x": True,
    "src/a.rs:1: error[E0308]": True,
    "FAILED tests/x.py::y": True,
    "bash: x: command not found": True,
    "cat: x: No such file or directory": True,
    "Traceback (most recent call last):": True,
    "permission denied": True,
    "0 errors, 0 failed": False,
    "no errors": False,
    "terror": False,
    "all fine": False,
}


@pytest.mark.parametrize("line", ERRORS)
def test_what_looks_like_an_error(line: str) -> None:
    text = f"{line}\n{lines(200)}"
    assert (f"1: {line}" in shell_output.shorten(text, 500, failed=True)) is ERRORS[line]


def test_a_line_longer_than_everything() -> None:
    shown = shell_output.shorten("a" * 10_000 + "the end", 100, failed=False)
    assert len(shown) <= 100
    assert "left out" in shown
    assert "more characters" in shell_output.shorten("a" * 10_000 + "\n" + lines(9), 900, True)


TEXTS = st.lists(
    st.sampled_from(
        ["a", "\n", "\r", "error: x", "\x1b[0m", "fine\n", "e" * 500, "x\nx\nx\n", "ä"]
    ),
    max_size=200,
).map("".join)


@given(TEXTS, st.integers(60, 2000), st.booleans())
def test_never_longer_and_never_silent(text: str, limit: int, failed: bool) -> None:
    shown = shell_output.shorten(text, limit, failed)
    assert len(shown) <= limit
    assert "\x1b" not in shown
    assert "\r" not in shown
    whole = shell_output.shorten(text, 10**9, failed)
    assert shown == whole or "left out" in shown or "more characters" in shown


@pytest.mark.parametrize("limit", [0, 1, 10, 30])
def test_a_tiny_limit(limit: int) -> None:
    assert len(shell_output.shorten(lines(100), limit, failed=True)) <= limit


def test_much_output_is_quick() -> None:
    """8 MiB in a second or so, escapes and all: it runs on the daemon's own thread."""
    text = "\x1b[32mok\x1b[0m some words of a build\n" * 220_000
    assert shell_output.shorten(text, 8000, failed=True).endswith("(× 220000)")
