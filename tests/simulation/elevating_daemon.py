"""A daemon whose sudo is another program, since a test's machine needs no sudo.

The product itself, composed with another shell. With `--breaks` that shell raises, instead of
running anything, what no tool should: an error that spells the password out in every way.
"""

import functools
import sys
from collections.abc import Mapping

from tests import spelled
from tests.simulation import crashing_daemon
from tools import contract, registry, shell

MODULE = "tests.simulation.elevating_daemon"


class BrokenShell(shell.Shell):
    """Raises the secret that it was given."""

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        password = (secret.take() if secret is not None else None) or b""
        said = [form.decode("utf-8", "replace") for form in spelled.forms(password)]
        raise RuntimeError(password, *said) from ValueError(password.decode("utf-8", "replace"))


def build(
    kind: type[shell.Shell],
    sudo: str,
    switches: registry.Switches,
) -> Mapping[str, contract.Tool]:
    """The tools of the product, with a shell that has another sudo."""
    offered = registry.build(switches)
    return {**offered, "shell_exec": kind(switches.shell_seconds, sudo=sudo)}


def main() -> int:
    parser = crashing_daemon.parser()
    parser.add_argument("--sudo", required=True)
    parser.add_argument("--breaks", action="store_true")
    given = parser.parse_args()
    kind = BrokenShell if given.breaks else shell.Shell
    return crashing_daemon.run(given, functools.partial(build, kind, given.sudo))


if __name__ == "__main__":
    sys.exit(main())
