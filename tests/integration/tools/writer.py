"""A child that makes a call of file_write or apply_edits, and dies where it is told to.

`python -m tests.integration.tools.writer FOLDER ARGUMENTS` prints how the call ended. With a number
behind, it makes the call that many times, each in a process and in a folder of its own below
(FOLDER/1, …); the STEP-th kills itself just before its STEP-th change of the file system. Each then
prints a line of JSON: the step, the intent, and how it ended if it did. A folder named last is
hidden from the call.
"""

import asyncio
import itertools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.integration.tools import file_calls
from tools import contract

_CHANGES = frozenset(("os.mkdir", "os.link", "os.rename", "os.remove", "os.chmod", "os.chown"))


def die_before(step: int) -> None:
    """End at once, as a power cut would, before a change; making the file beside is one too."""
    steps = itertools.count(1)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        is_made = event == "open" and bool(arguments[2] & os.O_CREAT)
        if (event in _CHANGES or is_made) and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def say(text: str) -> None:
    os.write(sys.stdout.fileno(), text.encode())


async def write(folder: Path, arguments_json: str, step: int, hidden: tuple[str, ...] = ()) -> str:
    wanted = json.loads(arguments_json)
    tool: contract.Tool = file_calls.APPLY if "blocks" in wanted else file_calls.WRITE
    one = file_calls.call(tool, folder, wanted, contract.Confinement(hidden=hidden))
    try:
        inspection = await tool.inspect(one)
    except contract.ToolFault as fault:
        return f"refused: {fault}"
    if step:
        say(json.dumps({"step": step, "intent": inspection.facts.intent}) + "\n")
        die_before(step)
    try:
        return (await tool.run(one, inspection, lambda _: None)).text
    except contract.ToolFault as fault:
        return f"fault: {fault}"
    finally:
        inspection.close()


def write_in_a_process(folder: Path, arguments_json: str, step: int) -> None:
    child = os.fork()
    if child == 0:
        ended = asyncio.run(write(folder, arguments_json, step))
        say(json.dumps({"step": step, "ended": ended}) + "\n")
        os._exit(0)
    os.waitpid(child, 0)


def main(folder: Path, arguments_json: str, steps: int, hidden: tuple[str, ...]) -> None:
    if not steps:
        say(asyncio.run(write(folder, arguments_json, 0, hidden)))
    for step in range(1, steps + 1):
        write_in_a_process(folder / str(step), arguments_json, step)


if __name__ == "__main__":
    place, given, *rest = sys.argv[1:]
    main(Path(place), given, int(rest[0]) if rest else 0, tuple(rest[1:]))
