"""check_code over real files and texts: a fault, none, or that nobody knows."""

from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import check_code, contract
from tools.syntax import checking

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(60)]

TOOL = check_code.CheckCode()


async def check(folder: Path, tool: contract.Tool = TOOL, **wanted: str) -> contract.Result:
    return await file_calls.run(tool, file_calls.call(tool, folder, wanted))


async def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = (\n")
    (tmp_path / "b.py").write_text("a = 1\n")
    assert (await check(tmp_path, path="a.py")).text == "a.py:1:5: '(' was never closed"
    assert (await check(tmp_path, path="b.py")).text.startswith("b.py: no fault in the syntax of P")
    assert (await check(tmp_path, path="b.py", language="json")).text.startswith("b.py:1:1: Expec")


async def test_a_text(tmp_path: Path) -> None:
    result = await check(tmp_path, text="a: b: c", language="yaml")
    assert result.text.startswith("text:1:5: mapping values")
    assert (await check(tmp_path, text="{}", language="json")).text == (
        "text: no fault in the syntax of json."
    )


async def test_what_nobody_knows_is_no_praise(tmp_path: Path) -> None:
    tool = check_code.CheckCode(checking.Checker(node=""))
    result = await check(tmp_path, tool, text="let x = ;", language="javascript")
    assert result.failed
    assert "not checked as javascript: JavaScript needs node" in result.text
    (tmp_path / "a.py").write_bytes(b"a" * (checking.MOST_BYTES + 1))
    assert "not checked as Python" in (await check(tmp_path, path="a.py")).text


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, "either a path, or a text"),
        ({"path": "a.py", "text": "a"}, "either a path, or a text"),
        ({"text": "a"}, "give one of python, json, toml, yaml, html, javascript"),
        ({"path": "a.txt"}, "give one of python"),
        ({"path": "none.py"}, "none.py is not there"),
        ({"path": "state/a.py"}, "kept from this call"),
        ({"path": "latin.py"}, "latin.py is not UTF-8"),
    ],
)
async def test_what_is_refused(tmp_path: Path, wanted: dict[str, str], said: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "a.py").touch()
    (tmp_path / "latin.py").write_bytes(b"a = '\xe4'\n")
    hidden = contract.Confinement(hidden=(str(tmp_path / "state"),))
    with pytest.raises(contract.ToolFault, match=said):
        await file_calls.run(TOOL, file_calls.call(TOOL, tmp_path, wanted, hidden))


async def test_what_it_touches_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "link.py").symlink_to("a.py")
    one = file_calls.call(TOOL, tmp_path, {"path": "link.py"})
    (touched,) = (await file_calls.facts(TOOL, one)).touched
    assert (touched.written, touched.real) == ("link.py", str(tmp_path / "a.py"))
    assert not touched.writes
    one = file_calls.call(TOOL, tmp_path, {"text": "a", "language": "python"})
    assert (await file_calls.facts(TOOL, one)).touched == ()
