"""The sandbox: nothing gets out, nothing is left, and what this machine lacks is said."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.tools import confined, escapes
from tools import contract, shell
from tools.sandbox import launching, limits

pytestmark = [pytest.mark.spec("D-14"), pytest.mark.timeout(120)]

MIB = 1024 * 1024
TIGHT = limits.Limits(
    tasks=64,
    resident_bytes=256 * MIB,
    file_bytes=64 * MIB,
    disk_bytes=128 * MIB,
    temporary_bytes=16 * MIB,
    output_bytes=32 * MIB,
)
SHELL = shell.Shell(600, bounds=TIGHT)
OPEN = shell.Shell(600, launching.Powers(launching.Kind.NONE))


async def attempt(using: shell.Shell, escape: escapes.Escape, root: Path) -> tuple[bool, str]:
    """Whether an attempt was blocked and left the rest intact, and what it said."""
    with ExitStack() as held:
        scene = escapes.Scene(root, held)
        confinement = scene.confinement() if using is SHELL else contract.Confinement()
        run = confined.Run(using, scene.folder, scene.filled(escape.command), confinement)
        result = await run.go()
        outcome = escapes.Outcome(scene, run, result)
        return escape.blocked(outcome) and scene.intact(), result.text


@pytest.mark.acceptance(20)
@pytest.mark.parametrize("name", escapes.ESCAPES)
async def test_an_escape_is_blocked(name: str, tmp_path: Path) -> None:
    blocked, said = await attempt(SHELL, escapes.ESCAPES[name], tmp_path)
    assert blocked, said


@pytest.mark.parametrize("name", [k for k, one in escapes.ESCAPES.items() if one.control])
async def test_the_attempt_is_a_real_one(name: str, tmp_path: Path) -> None:
    """Without a sandbox it gets through."""
    blocked, said = await attempt(OPEN, escapes.ESCAPES[name], tmp_path)
    assert not blocked, said
