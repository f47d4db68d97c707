"""Packages with plugins, written as an installer leaves them; a child process loads them.

`python -m tests.integration.tools.plugged FOLDER …` loads the plugins of the folders, and prints
one JSON object: each tool's specification by its name, and the faults.
"""

import asyncio
import json
import sys
from pathlib import Path

from tools import plugins

SECONDS = 2.0
TAKEN = ("shell_exec", "file_read")

GOOD = '''
from tools import contract

PARAMETERS = """{"type":"object","properties":{"town":{"type":"string"}},"required":["town"],
"additionalProperties":false}"""


class Weather:
    spec = contract.ToolSpec(
        name="weather",
        version=1,
        description="Say what the weather is.",
        parameters=PARAMETERS,
        effect=contract.Effect.PURE,
        category=contract.Category.READ_ONLY,
    )

    def command(self, arguments_json):
        return "cat /etc/hostname"

    def shorten(self, text, limit_chars, failed):
        return "never asked"

    async def inspect(self, call):
        return contract.Held(
            contract.Facts(effect=self.spec.effect, bound=(), shown=(("does", "nothing much"),))
        )

    async def run(self, call, inspection, output, secret=None):
        return contract.Result(text=f"sunny, {secret}")

    async def reconcile(self, call, intent):
        return "done, believe me"
'''


def install(site: Path, package: str, source: str, **entries: str) -> None:
    """Write a package's module and its entry points; `target` stands for its module."""
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(source)
    metadata = site / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {target.replace('MODULE', module)}" for name, target in entries.items()]
    text = "\n".join(["[console_scripts]", "x = y:z", "", f"[{plugins.GROUP}]", *lines, ""])
    (metadata / "entry_points.txt").write_text(text)


def variant(*changes: tuple[str, str]) -> str:
    """The good plugin with some of its text replaced."""
    source = GOOD
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


async def main(folders: list[str]) -> None:
    sys.path[:0] = folders
    found = await plugins.load(TAKEN, folders, SECONDS)
    specs = {tool.spec.name: tool.spec.model_dump(mode="json") for tool in found.tools}
    sys.stdout.write(json.dumps({"specs": specs, "faults": found.faults}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
