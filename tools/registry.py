"""Which tools there are, by name. A tool that its settings turn off is not offered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tools import contract, file_list, file_read, file_write, shell, testing


@dataclass(frozen=True, slots=True)
class Switches:
    """What the settings say of the tools: which are offered, and what those are given."""

    shell: bool = False
    shell_seconds: int = 600
    files: bool = False
    testing: bool = False


Build = Callable[[Switches], Mapping[str, contract.Tool]]
"""What makes the tools: `build`, or a test's own in its place."""


def build(switches: Switches) -> Mapping[str, contract.Tool]:
    """The tools that the settings offer, by name."""
    tools: list[contract.Tool] = []
    if switches.shell:
        tools.append(shell.Shell(switches.shell_seconds))
    if switches.files:
        tools.extend((file_read.FileRead(), file_write.FileWrite(), file_list.FileList()))
    if switches.testing:
        tools.extend(testing.every_class())
    return {tool.spec.name: tool for tool in tools}
