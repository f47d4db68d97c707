"""What the terminal shows of a call decodes to the bytes that would run, and hides none of them.

The whole way: a command is judged and inspected by the real tool, its card made and carried as the
API does, and read back from what `ducklm` wrote.
"""

import json
import random
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bots import texts
from daemon.permission import card
from daemon.runtime import judge
from proto.ducklm.v1 import approvals_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import proposing
from tests.unit.bots import stage, updates
from tests.unit.runtime import rig
from tools import contract, shell, shell_inspection
from tools.sandbox import launching

pytestmark = [pytest.mark.timeout(120), pytest.mark.spec("C-04")]

COMMANDS = 2000
PAGE = 50
SHELL = shell.Shell(600, launching.Powers(launching.Kind.NONE))
TITLE = texts.CARD_TITLE.format(tool="shell_exec")
_BAR = "  | "
_SPELLED = re.compile(r"\\u\{([0-9a-f]+)\}")
_SIZES = re.compile(r"command \((\d+) bytes, (\d+) lines\):")
_PIECES = (
    *("ls -la", "rm -r build", "; ", "\n", "\t", "\r", "\r\n", "\x1b[2K", "\x1b]0;x\x07", "\x08"),
    *("\x7f", "\x85", "\x9b", " " * 3000, "\n" * 200, "\u202e", "\u2066", "\u200b", "\u200d"),
    *("\ufeff", "\u00a0", "\u2028", "\u2029", "\u3164", "\ufe0f", "\U000e0041", "\U000e0100"),
    *("\ue000", "\U0001f600", "e\u0301", "\u00e9", "\u65e5\u672c", "\\u{202e}", "\\u{5c}", "\\"),
    *("\\x1b", "\\u", "\nfolder: /srv", f"\n{TITLE}\n", f"\n{_BAR}ls", "\n  approval a-1\n"),
    *("command: ls", "'a b'", '"$HOME"', "\u115f", "\u180e", "\u00ad", "\u061c", "\u0600"),
)


def fuzzed(chance: random.Random) -> str:
    """A command; one in a hundred has nearly 64 KiB, with its harm at the end."""
    if chance.random() < 0.01:
        filling = chance.choice(("a", " ", "\n", "\u202e", "日")) * 65_000
        return filling.encode()[:65_000].decode(errors="ignore") + "; touch x"
    pieces = "".join(chance.choices(_PIECES, k=chance.randint(1, 8)))
    letter = chr(chance.randrange(1, 0xD800))
    return f"touch {pieces}{letter}{chance.choice(_PIECES)}"


async def inspected(
    command: str, folder: Path, judging: judge.Judge
) -> tuple[str, shell_inspection.Inspected]:
    """The card of a command, and what was inspected for it."""
    said = await judging.said(command, str(folder))
    call = contract.Call(
        call_id="call-1",
        tool="shell_exec",
        arguments_json=json.dumps({"command": command}),
        key="call-1",
        folder=str(folder),
        names=judge.names(said),
    )
    inspection = await SHELL.inspect(call)
    inspection.close()
    assert isinstance(inspection, shell_inspection.Inspected)
    return card.of(SHELL.spec, inspection.facts), inspection


def shown(cards: Sequence[str]) -> list[str]:
    """The cards as `ducklm approvals` shows them."""
    rows = [approvals_pb2.Approval(approval_id="a", tool="shell_exec", card=one) for one in cards]

    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Approvals.List", approvals_pb2.ListApprovalsResponse(approvals=rows))

    return list(_cards(stage.play(["approvals", "--limit", str(PAGE)], script).stdout))


def _cards(written: str) -> Iterator[str]:
    """What stands behind the bars, card by card; whatever a terminal could obey is refused."""
    assert all(one.isprintable() or one == "\n" for one in written)
    for block in f"\n{written}".split(f"\n{TITLE}\n")[1:]:
        lines = block.split("\n")
        bars = [line.startswith(_BAR) for line in lines]
        yield "\n".join(line[len(_BAR) :] for line in lines[: bars.index(False)])


def decoded(read: str) -> str:
    """The command that a card shows."""
    tool, head, *rest = read.split("\n")
    assert tool == "shell_exec"
    sized = _SIZES.fullmatch(head)
    if sized is None:
        assert head.startswith("command: ")
        return _text(head.removeprefix("command: "))
    text = _text("\n".join(rest[: int(sized[2])]))
    assert len(text.encode()) == int(sized[1])
    return text


def _text(spelled: str) -> str:
    return _SPELLED.sub(lambda match: chr(int(match[1], 16)), spelled)


@pytest.mark.acceptance(15)
async def test_what_is_shown_decodes_to_what_would_run(
    tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    chance, judging = random.Random(seed), judge.Judge(rig.loaded_rules, rig.place)
    commands = [fuzzed(chance) for _ in range(rounds(COMMANDS))]
    for start in range(0, len(commands), PAGE):
        page = commands[start : start + PAGE]
        found = [await inspected(command, tmp_path, judging) for command in page]
        read = [decoded(one) for one in shown([one for one, _ in found])]
        assert [one.encode() for one in read] == [one.encode() for one in page]
        assert read == [inspection.command for _, inspection in found]
    figures("commands read back from the terminal", len(commands))


@pytest.mark.acceptance(15)
def test_the_card_in_the_chat_is_the_same(rounds: Rounds, seed: int, figures: Figures) -> None:
    """What a person is asked with, whether typed at or not."""
    chance = random.Random(seed)
    for _ in range(rounds(100)):
        command = fuzzed(chance)
        text = card.render("shell_exec", (("command", command), ("folder", "/srv")))

        def script(daemon: stage.Daemon, text: str = text) -> None:
            daemon.greet()
            daemon.accept()
            daemon.stream().send(updates.approval_requested(2, text))
            daemon.answer("Approvals.Get", approvals_pb2.Approval(status=approvals_pb2.PENDING))

        played = stage.play(["chat"], script, typed=["go"])
        (read,) = _cards(played.stderr)
        assert decoded(read) == command
    figures("cards in a chat", rounds(100))


SUDO = ("sudo id -u", "sudo cp 'a b' c", "sudo printf '\u202e %s' '\u200b'", "sudo echo '\u00a0'")


@pytest.mark.acceptance(15)
@pytest.mark.parametrize("command", SUDO)
async def test_as_root_the_words_that_run_are_shown(command: str, tmp_path: Path) -> None:
    """Where a command is rewritten, the card has it as rewritten."""
    said = await judge.Judge(rig.loaded_rules, rig.place).said(command, str(tmp_path))
    names = judge.names(said)
    assert names.elevated
    call = contract.Call(
        call_id="call-1",
        tool="shell_exec",
        arguments_json=json.dumps({"command": command}),
        key="call-1",
        folder=str(tmp_path),
        names=names,
    )
    fake = tmp_path / "sudo"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    inspection = await shell.Shell(600, sudo=str(fake)).inspect(call)
    inspection.close()
    (read,) = shown([card.of(SHELL.spec, inspection.facts)])
    assert tuple(shlex.split(decoded(read))) == names.argv


@pytest.mark.acceptance(15)
async def test_a_card_too_long_for_a_chat_is_whole_and_never_always(tmp_path: Path) -> None:
    short, long = "echo a > ran", f"echo {'a' * card.LONG_CHARS} > ran"
    async with rig.started(SHELL, folder=str(tmp_path), judging=None) as runtime:
        cards = {}
        for command in (short, long):
            asked = await proposing.propose(runtime, proposing.command(command))
            cards[command] = await runtime.kept.text(asked.approval.card) or ""
            assert not (asked.approval.always_allowed and command == long)
    assert [decoded(one) for one in shown(list(cards.values()))] == [short, long]
