"""Which tools there are, by name. A tool that its settings turn off is not offered."""

from collections.abc import Callable, Mapping

from tools import contract, file_list, file_read, file_write, shell, testing

Build = Callable[[bool, int, bool, bool], Mapping[str, contract.Tool]]
"""What makes the tools: `build`, or a test's own in its place."""


def build(
    shell_enabled: bool, shell_seconds: int, testing_enabled: bool, files_enabled: bool = False
) -> Mapping[str, contract.Tool]:
    """The tools that the settings offer, by name."""
    tools: list[contract.Tool] = []
    if shell_enabled:
        tools.append(shell.Shell(shell_seconds))
    if files_enabled:
        tools.extend((file_read.FileRead(), file_write.FileWrite(), file_list.FileList()))
    if testing_enabled:
        tools.extend(testing.every_class())
    return {tool.spec.name: tool for tool in tools}
