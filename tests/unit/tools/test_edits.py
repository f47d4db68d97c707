"""Replacements in a text: what is found, how it is fitted, and what is refused with which words."""

import pytest
from hypothesis import given, strategies as st

from tools import edits

pytestmark = pytest.mark.spec("K-11")


def applied(text: str, search: str, replace: str, everywhere: bool = False) -> str:
    return edits.apply(text, [edits.Edit(search=search, replace=replace, all=everywhere)])


CODE = "def a():\n    if x:\n        return 1\n    return 2\n"
TABS = "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n"


@pytest.mark.parametrize(
    ("text", "search", "replace", "result"),
    [
        pytest.param("a b c", "b", "x", "a x c", id="a part of a line"),
        pytest.param("a\nb\nc\n", "b\n", "", "a\nc\n", id="a line taken out"),
        pytest.param("a\nb\nc\n", "a\nb", "x", "x\nc\n", id="several lines"),
        pytest.param("äöü", "ö", "日", "ä日ü", id="no plain letters"),
        pytest.param("", "", "new\n", "new\n", id="an empty file"),
        pytest.param("\ufeff", "", "new\n", "\ufeffnew\n", id="an empty file with a mark"),
        pytest.param("\ufeffa\n", "a", "b", "\ufeffb\n", id="the mark stays"),
        pytest.param("a\r\nb\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\n", id="CRLF stays"),
        pytest.param("a\r\nb\r\nc", "b", "x", "a\r\nx\r\nc", id="CRLF before and behind"),
        pytest.param("a\nb\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\n", id="CRLF searched"),
        pytest.param("a\r\nb\nc\r\n", "b\n", "x\ny\n", "a\r\nx\r\ny\r\nc\r\n", id="mixed ends"),
        pytest.param("a\rb\n", "a\rb", "x", "x\n", id="a lone CR is a character"),
        pytest.param("a  \nb\t\nc\n", "a\nb\n", "x\n", "x\nc\n", id="white space at ends"),
        pytest.param("a\nb\n", "a \nb  \n", "x\n", "x\n", id="white space searched"),
        pytest.param("a\nb", "a\nb\n", "x\ny\n", "x\ny", id="no newline at the end"),
        pytest.param("a\nb ", "b\n", "", "a\n", id="the open last line taken out"),
        pytest.param("a\nb \n\nc\n", "b\n\nc\n", "", "a\n", id="lines taken out loosely"),
        pytest.param("a \nb\nc\n", "a\nb\n", "x", "x\nc\n", id="no newline put in"),
    ],
)
def test_what_is_put_in_its_place(text: str, search: str, replace: str, result: str) -> None:
    assert applied(text, search, replace) == result


@pytest.mark.parametrize(
    ("text", "search", "replace", "result"),
    [
        pytest.param(
            CODE,
            "if x:\n    return 1\n",
            "if y:\n    pass\n\n    return 3\n",
            "def a():\n    if y:\n        pass\n\n        return 3\n    return 2\n",
            id="the text has more",
        ),
        pytest.param(
            CODE,
            "        if x:\n            return 1\n",
            "        if y:\n            return 3\n    out\n",
            "def a():\n    if y:\n        return 3\nout\n    return 2\n",
            id="the text has less",
        ),
        pytest.param(
            TABS,
            "    if x {\n        return 1\n    }\n",
            "    if y {\n        return 3\n    }\n",
            "func a() {\n\tif y {\n\t\treturn 3\n\t}\n}\n",
            id="tabs written as four",
        ),
        pytest.param(
            TABS,
            "if x {\n  return 1\n",
            "if y {\n  return 3\n",
            "func a() {\n\tif y {\n\t\treturn 3\n\t}\n}\n",
            id="tabs written as two, and less",
        ),
        pytest.param(
            CODE,
            "\tif x:\n\t\treturn 1\n",
            "\tif y:\n\t\treturn 3\n",
            "def a():\n    if y:\n        return 3\n    return 2\n",
            id="spaces written as tabs",
        ),
        pytest.param(
            "\t a\n\t  b\n", "a\n b\n", "x\n y\n", "\t x\n\t  y\n", id="tabs and spaces kept"
        ),
        pytest.param(
            "  a\n\n  b\n", "a\n\nb\n", "x\n\ny\n", "  x\n\n  y\n", id="empty lines stay empty"
        ),
        pytest.param(
            "  a\r\n    b\r\n",
            "a\n  b\n",
            "x\n  y\n",
            "  x\r\n    y\r\n",
            id="with CRLF",
        ),
    ],
)
def test_an_indentation_of_all_lines_is_fitted(
    text: str, search: str, replace: str, result: str
) -> None:
    assert applied(text, search, replace) == result


@pytest.mark.parametrize(
    ("text", "search", "replace", "said"),
    [
        ("a\n", "a", "a", "nothing would change"),
        ("a\r\n", "a\r\n", "a\n", "nothing would change"),
        ("a\n", "", "b", "the search is empty"),
        ("a\nb\na\n", "a", "x", "found 2 times, at lines 1, 3: add lines"),
        ("a\n" * 13, "a\n", "x", "found 13 times, at lines 1, 2, .* 10 and 3 more"),
        (" a\nb\n  a\n", "a \n", "x", "found 2 times, at lines 1, 3"),
        ("a\n", "zzzzzz", "x", "not found: read the file"),
        (
            "a\n  b\nc\n",
            "a\n    b\n d\n",
            "x",
            "not found; the nearest is, from line 1:\na\n  b\nc",
        ),
        ("x = compute(1)\n", "x = computed(2)\n", "y", "nearest is, from line 1:\nx = compute"),
        ("new one\n", "old one\n", "new one\n", "is there already, at line 1"),
        (" a\n   b\n", "a\nb\n", "x", "not found; the nearest"),
        ("a\n", "\n\n", "x", "not found"),
    ],
)
def test_what_is_refused(text: str, search: str, replace: str, said: str) -> None:
    with pytest.raises(edits.NotEdited, match=said):
        applied(text, search, replace)


@pytest.mark.parametrize(
    ("text", "search", "replace", "result"),
    [
        ("a b a", "a", "x", "x b x"),
        ("aaa", "aa", "x", "xa"),
        ("a \nb\na\t\n", "a\n", "x\n", "x\nb\nx\n"),
        (" a\n  b\n-\n  a\n   b\n", "a\n b\n", "x\n y\n", " x\n  y\n-\n  x\n   y\n"),
        (" a\n b\na \nb\n", "a\nb\n", "x\n", " a\n b\nx\n"),
    ],
)
def test_everywhere(text: str, search: str, replace: str, result: str) -> None:
    assert applied(text, search, replace, everywhere=True) == result


def test_edits_come_one_after_the_other_and_all_or_none() -> None:
    first, second = edits.Edit(search="a", replace="b"), edits.Edit(search="b\n", replace="c\n")
    assert edits.apply("a\n", [first, second]) == "c\n"
    with pytest.raises(edits.NotEdited, match=r"edit 2 of 2: the search is not found"):
        edits.apply("a\n", [first, first])


def test_the_nearest_lines_are_bounded() -> None:
    text = "\n".join("x" * 1000 for _ in range(100))
    with pytest.raises(edits.NotEdited) as refused:
        applied(text, "\n".join(["x" * 1000] * 50 + ["y"]), "z")
    assert len(str(refused.value)) < 2500


def test_much_that_is_alike_ends_soon() -> None:
    text, search = "}\n" * 500_000, "}\n" * 1000 + "x\n"
    with pytest.raises(edits.NotEdited):
        applied(text, search, "y")
    with pytest.raises(edits.NotEdited, match="too many places are like"):
        applied(" }\n" * 500_000, "}\n" * 1000 + " }\n", "y")


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"\xff\xfea\0", "not text in UTF-8"), (b"a\0b", "binary"), (b"\xe4", "not text in UTF-8")],
)
def test_what_is_no_text(data: bytes, said: str) -> None:
    with pytest.raises(edits.NotEdited, match=said):
        edits.decoded(data)


WORDS = st.sampled_from(("a", "b", " ", "\t", "\n", "\r\n", "\ufeff", "}"))
TEXTS = st.lists(WORDS, max_size=24).map("".join)


@given(TEXTS, TEXTS, TEXTS)
def test_what_lies_outside_the_place_stays(before: str, middle: str, after: str) -> None:
    """With a word that is there once, everything around it is kept to the last character."""
    text = f"{before}\nKEY{middle}END\n{after}"
    search = f"KEY{middle}END"
    if text.count("\r\n") * 2 > text.count("\n") and "\n" in middle:
        return
    assert applied(text, search, "x") == f"{before}\nx\n{after}"
