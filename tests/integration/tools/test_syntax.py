"""Syntax checks by the real parsers, in processes of their own: faults, and texts meant to harm."""

import asyncio
import shutil

import pytest

from tests.integration.tools import confined
from tools.sandbox import launching
from tools.syntax import checking

pytestmark = [pytest.mark.spec("K-11"), pytest.mark.spec("D-13"), pytest.mark.timeout(120)]

L = checking.Language
CHECKER = checking.Checker()


def node() -> str:
    found = shutil.which("node")
    assert found, "this test needs node: apt-get install nodejs"
    return found


@pytest.mark.parametrize(
    ("language", "text", "fault"),
    [
        (L.PYTHON, "a = (\n", "x:1:5: '(' was never closed"),
        (
            L.PYTHON,
            "if a:\nb\n",
            "x:2:1: expected an indented block after 'if' statement on line 1",
        ),
        (L.PYTHON, "return 1\n", "x:1:1: 'return' outside function"),
        (L.PYTHON, "# coding: nonsense\na = 'ä'\n", ""),
        (L.PYTHON, "a = '\\d'\n", ""),
        (L.PYTHON, "\ufeffa = 1\n", ""),
        (L.PYTHON, "import os; os._exit(0)\n", ""),
        (L.JSON, '{"a": 1,}', "x:1:9: Expecting property name enclosed in double quotes"),
        (L.JSON, '{"a": [1, 2]}', ""),
        (L.JSON, "[NaN]", "x: NaN is no number of JSON"),
        (L.TOML, "a = \n", "x:1:5: Invalid value"),
        (L.TOML, "a = [1\n", "x: Unclosed array"),
        (L.TOML, "[a]\nb = 1\n", ""),
        (L.YAML, "a: b: c\n", "x:1:5: mapping values are not allowed in this context"),
        (L.YAML, "a: 1\n---\nb: !Sub x\n", ""),
        (L.YAML, "\tb", "x:1:1: while scanning for the next token, found character that cannot"),
        (L.HTML, "<div><p>a</div></span>", "x:1:23: Unexpected end tag (span)"),
        (L.HTML, "<!doctype html><title>a</title><main><p>a</main>", ""),
        (L.HTML, "<p>a part", ""),
        (L.JAVASCRIPT, "\nlet x = ;", "x:2:9: Unexpected token ';'"),
        (L.JAVASCRIPT, "let x = 1", ""),
        (L.JAVASCRIPT, 'import a from "b";\nawait a()', ""),
        (L.JAVASCRIPT, 'import a from "b";\nlet c=;', "x:2:7: Unexpected token ';'"),
    ],
)
async def test_what_is_found(language: checking.Language, text: str, fault: str) -> None:
    if language is L.JAVASCRIPT:
        node()
    answer = await CHECKER.check(language, text, "x")
    assert not answer.why
    assert answer.fault.startswith(fault)
    assert bool(answer.fault) == bool(fault)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (L.PYTHON, "-" * 900_000 + "1"),
        (L.PYTHON, "(" * 100_000),
        (L.PYTHON, "a = 10 ** 10 ** 10 ** 10\n"),
        (L.PYTHON, "a = 'x' * 10 ** 10\n"),
        (L.JSON, "[" * 500_000),
        (L.JSON, "1" * 900_000),
        (L.TOML, "a = " + "[" * 500_000),
        (L.TOML, "a" + ".a" * 400_000 + " = 1"),
        (L.YAML, "[" * 500_000),
        (L.YAML, "a: &a [" + "x," * 9 + "]\n" + "b: [" + "*a," * 100_000 + "]\n"),
        (L.HTML, "<div>" * 100_000),
        (L.JAVASCRIPT, "(" * 500_000),
        (L.JAVASCRIPT, "while (true) {}"),
        (L.PYTHON, "\ud800"),
        (L.PYTHON, "a\0"),
    ],
    ids=lambda one: str(one)[:12],
)
async def test_a_text_meant_to_harm_ends_and_harms_nothing(
    language: checking.Language, text: str
) -> None:
    async with asyncio.timeout(30):
        answer = await CHECKER.check(language, text, "x")
    assert len(answer.fault) < 500


@pytest.mark.parametrize(
    ("checker", "language", "text", "why"),
    [
        (CHECKER, L.PYTHON, "a" * 1_048_577, "more than 1048576 bytes"),
        (CHECKER, L.PYTHON, "-" * 900_000 + "1", "its parser gave up"),
        (checking.Checker(node=""), L.JAVASCRIPT, "let x = ;", "needs node on the PATH"),
        (checking.Checker(node="/none"), L.JAVASCRIPT, "let x = ;", "cannot be started"),
        (
            checking.Checker("/bin/true", launching.Powers(launching.Kind.NONE)),
            L.JAVASCRIPT,
            "let x = ;",
            "only in a sandbox",
        ),
    ],
)
async def test_what_nobody_knows_is_said(
    checker: checking.Checker, language: checking.Language, text: str, why: str
) -> None:
    answer = await checker.check(language, text, "x")
    assert not answer.fault
    assert why in answer.why


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", L.PYTHON),
        ("b.PYI", L.PYTHON),
        ("package.json", L.JSON),
        ("tsconfig.build.json", None),
        (".vscode/settings.json", None),
        ("a.yml", L.YAML),
        ("a.mjs", L.JAVASCRIPT),
        ("a.ts", None),
        ("Makefile", None),
        (".py", None),
    ],
)
def test_whose_language_is_known(path: str, language: checking.Language | None) -> None:
    assert checking.language_of(path) is language


async def test_a_cancelled_check_leaves_no_process() -> None:
    """A text that keeps its parser busy for longer than the test waits."""
    running = asyncio.create_task(CHECKER.check(L.HTML, "<b><i>" * 150_000, "x"))
    program = "syntax/parsing.py"

    def children() -> bool:
        return any(program in word for one in confined.children() for word in one)

    assert await confined.until(children)
    running.cancel()
    await asyncio.wait((running,))
    assert await confined.until(lambda: not children(), 2.0)
