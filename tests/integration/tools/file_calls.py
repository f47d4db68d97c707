"""Calls of the file tools as the tests make them, on a real file system."""

import json
from collections.abc import Mapping
from pathlib import Path

from tools import contract, file_edit, file_list, file_read, file_write

READ = file_read.FileRead()
LIST = file_list.FileList()
WRITE = file_write.FileWrite()
EDIT = file_edit.FileEdit()
APPLY = file_edit.ApplyEdits()


def call(
    tool: contract.Tool,
    folder: Path,
    arguments: Mapping[str, object],
    confinement: contract.Confinement | None = None,
) -> contract.Call:
    return contract.Call(
        call_id="call-1",
        tool=tool.spec.name,
        arguments_json=json.dumps(arguments),
        key="call-1",
        folder=str(folder),
        confinement=confinement or contract.Confinement(),
    )


async def run(tool: contract.Tool, one: contract.Call) -> contract.Result:
    """Inspect and run; what is handed out live is the result's text."""
    inspection = await tool.inspect(one)
    pieces: list[str] = []
    try:
        result = await tool.run(one, inspection, pieces.append)
    finally:
        inspection.close()
        inspection.close()
    assert "".join(pieces) == result.text
    return result


async def read(folder: Path, path: str, start_line: int = 1, lines: int = 200) -> contract.Result:
    wanted = {"path": path, "start_line": start_line, "lines": lines}
    return await run(READ, call(READ, folder, wanted))


async def write(folder: Path, path: str, text: str, mode: str = "create") -> contract.Result:
    return await run(WRITE, call(WRITE, folder, {"path": path, "text": text, "mode": mode}))


async def edit(
    folder: Path, path: str, search: str, replace: str, everywhere: bool = False
) -> contract.Result:
    wanted = {"path": path, "search": search, "replace": replace, "all": everywhere}
    return await run(EDIT, call(EDIT, folder, wanted))


def block(path: str, search: str, replace: str) -> str:
    """A block of whole lines, each text with its newline."""
    return f"{path}\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


async def apply(folder: Path, *blocks: str) -> contract.Result:
    return await run(APPLY, call(APPLY, folder, {"blocks": "".join(blocks)}))


async def listing(folder: Path, path: str = ".", depth: int = 1) -> str:
    return (await run(LIST, call(LIST, folder, {"path": path, "depth": depth}))).text


async def facts(tool: contract.Tool, one: contract.Call) -> contract.Facts:
    inspection = await tool.inspect(one)
    inspection.close()
    return inspection.facts


def names(folder: Path) -> list[str]:
    """Every name below a folder; so nothing is left that should not be."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
