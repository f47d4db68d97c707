"""Search/replace blocks out of text: what is read from it, and the words for what cannot be."""

import pytest
from hypothesis import given, strategies as st

from tools import edit_blocks

pytestmark = pytest.mark.spec("D-11")


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def read(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (one.path, [(edit.search, edit.replace) for edit in one.edits])
        for one in edit_blocks.parse(text)
    ]


AB = block("a\n", "b\n")
TO_C, FROM_D = block("", "c\n"), block("d\n", "")
ONE = [("x.py", [("a\n", "b\n")])]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"x.py\n{AB}", id="plain"),
        pytest.param(f"x.py\n{AB}".rstrip("\n"), id="no newline at the end"),
        pytest.param(f"x.py\n```python\n{AB}```\n", id="a fence below the path"),
        pytest.param(f"```\nx.py\n{AB}```\n", id="a fence above the path"),
        pytest.param(f"```python x.py\n{AB}```", id="a fence with the path"),
        pytest.param(f"```python:x.py\n{AB}```", id="a fence with the path behind a colon"),
        pytest.param(f"Here it is, as you said:\n\n`x.py`\n\n{AB}\nDone.\n", id="talk round it"),
        pytest.param(f"**x.py**:\n{AB}", id="bold"),
        pytest.param(f"### x.py\n{AB}", id="a heading"),
        pytest.param(f"File: `x.py`\n{AB}", id="a label"),
        pytest.param(f"x.py:\n{AB}", id="a colon"),
        pytest.param(f"x.py\n{AB}".replace("\n", "\r\n"), id="CRLF"),
        pytest.param(f"x.py\n{AB}".replace("=======", "=======  "), id="white space at marks"),
        pytest.param(f"x.py\n{AB}".replace("<<<<<<<", "<<<<<"), id="a short mark"),
    ],
)
def test_the_ways_to_write_one(text: str) -> None:
    assert read(text) == ONE


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(
            f"x.py\n{AB}Then:\n{TO_C}y.py\n{AB}x.py\n{FROM_D}",
            [
                ("x.py", [("a\n", "b\n"), ("", "c\n"), ("d\n", "")]),
                ("y.py", [("a\n", "b\n")]),
            ],
            id="several files",
        ),
        pytest.param(
            "x.md\n" + block("```\n====\n", "=======\n```\nx\n"),
            [("x.md", [("```\n====\n", "=======\n```\nx\n")])],
            id="fences and lines of equals signs inside",
        ),
        pytest.param(
            "x.py\n" + block("  a\n\n", "\tb\n"), [("x.py", [("  a\n\n", "\tb\n")])], id="white"
        ),
        pytest.param(f"`a b/c d.txt`\n{AB}", [("a b/c d.txt", ONE[0][1])], id="a path with spaces"),
        pytest.param(f"x.py\n{AB}Now the other place.\n{AB}", [("x.py", ONE[0][1] * 2)], id="talk"),
    ],
)
def test_what_is_read(text: str, found: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no block"),
        ("x.py\nonly talk\n=======\n", "there is no block"),
        (AB, "line 1: the line above <<<<<<< SEARCH must be the path"),
        (f"Change it so\n{AB}", "line 2: the line above"),
        ("x.py\n<<<<<<< SEARCH\na\n", "line 2: the block that begins here has no line ======="),
        ("x.py\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "line 2: .* has no line ======="),
        ("x.py\n<<<<<<< SEARCH\na\n=======\nb\n", "line 2: .* has no line >>>>>>> REPLACE"),
        (f"x.py\n<<<<<<< SEARCH\na\n=======\nb\n{AB}", "line 2: .* no line >>>>>>> REPLACE"),
        (f"x.py\n<<<<<<< SEARCH\na\n{AB}", "line 2: .* no line ======="),
        (f"x.py\n{AB}>>>>>>> REPLACE\n", "line 7: a block ends that has not begun"),
        ("x\n" + AB * 129, "more than 32 files or 128 blocks"),
        ("".join(f"x{n}\n{AB}" for n in range(33)), "more than 32 files"),
    ],
)
def test_what_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(edit_blocks.NoBlocks, match=said):
        edit_blocks.parse(text)


LINES = st.text("ab =<>`\t", max_size=12).filter(
    lambda line: "SEARCH" not in line and line.strip() != "======="
)
TEXTS = st.lists(LINES, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(TEXTS, TEXTS)
def test_what_is_written_is_read(search: str, replace: str) -> None:
    assert read(f"a/b.c\n{block(search, replace)}") == [("a/b.c", [(search, replace)])]


@given(st.text("<=>SEARCHREPLACE `x.\n", max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = edit_blocks.parse(text)
    except edit_blocks.NoBlocks:
        return
    assert found
