"""Cards and notices: every byte of what would run is there, and what fits is offered."""

import random
from pathlib import Path

import pytest

from bots.telegram import buttons, cards, finals, outgoing, texts
from daemon.permission import card
from daemon.runtime import judge
from proto.ducklm.v1 import approvals_pb2, channels_pb2, common_pb2, tasks_pb2
from tests.conftest import Figures, Rounds
from tests.unit.bots import test_card_fidelity as fidelity
from tests.unit.runtime import rig

COMMANDS = 2000
ID = "approval-" + "a" * 32


def approval(text: str, **more: object) -> approvals_pb2.Approval:
    given = approvals_pb2.Approval(approval_id=ID, tool="shell_exec", card=text)
    given.status = approvals_pb2.PENDING
    given.expires_at.FromSeconds(2_000_000_000)
    for name, value in more.items():
        setattr(given, name, value)
    return given


def shown(text: str) -> str:
    """What a person can read of a card: in the message, or in the file that comes with it."""
    found = cards.approval(approval(text), None)
    assert outgoing.units(found.text.text) <= outgoing.TEXT_UNITS
    assert all(one.isprintable() or one == "\n" for one in found.text.text)
    if found.document is not None:
        return found.document.data.decode()
    (block,) = [one for one in found.text.entities if one.kind == "pre"]
    encoded = found.text.text.encode("utf-16-le")
    return encoded[2 * block.offset : 2 * (block.offset + block.length)].decode("utf-16-le")


@pytest.mark.acceptance(15)
@pytest.mark.spec("C-04")
async def test_what_telegram_shows_decodes_to_what_would_run(
    tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    chance, judging = random.Random(seed), judge.Judge(rig.loaded_rules, rig.place)
    commands = [fidelity.fuzzed(chance) for _ in range(rounds(COMMANDS))]
    for command in commands:
        text, inspection = await fidelity.inspected(command, tmp_path, judging)
        assert fidelity.decoded(shown(text)) == command == inspection.command
    figures("commands read back from Telegram", len(commands))


# What Telegram drops from a text, or makes a space of.
_CHANGED = frozenset(
    (*map(chr, range(10)), *map(chr, range(11, 32)), *map(chr, range(0x2028, 0x202F)))
    + ("\u030a", "\u0333", "\u033f")
)


@pytest.mark.acceptance(15)
@pytest.mark.spec("C-04")
@pytest.mark.parametrize(
    "command",
    ["rm a\u030a", "rm x\u0333 \u033f", "cat a\tb", "a\u030a" * 2000, "echo '\\u{30a}' \u030a"],
)
def test_what_telegram_would_drop_is_spelled_out(command: str) -> None:
    """A person would see `rm a` otherwise, and another file would be gone."""
    text = card.render("shell_exec", (("command", command), ("folder", "/srv")))
    found = cards.approval(approval(text), None)
    assert not _CHANGED & set(found.text.text)
    assert fidelity.decoded(shown(text)) == command


LONG = "because " * 30


@pytest.mark.spec("C-04")
@pytest.mark.parametrize(
    ("body", "reasons", "folder"),
    [
        ("ls", [f"{LONG}{number}" for number in range(30)], ""),
        ("ls", ["🦆" * 200] * 20, "/" + "🦆" * 300),
        ("🦆" * 1400, [LONG] * 7, "/srv"),
        ("🦆" * 3000, ["🦆" * 300] * 10, "/" + "🦆" * 300),
        ("x" * 2990, [], "/" + "x" * 1500),
    ],
)
def test_a_card_fits_and_what_is_cut_is_in_its_file(
    body: str, reasons: list[str], folder: str
) -> None:
    given = approval(body, always_allowed=True, folder=folder)
    given.reasons.extend(reasons)
    for status in (approvals_pb2.PENDING, approvals_pb2.DENIED):
        given.status = status
        given.decided_by, given.reason = "telegram:7:42", "🦆" * 300
        found = cards.approval(given, None)
        assert outgoing.units(found.text.text) <= outgoing.TEXT_UNITS
    given.status = approvals_pb2.PENDING
    found = cards.approval(given, None)
    assert found.document is not None
    file = found.document.data.decode()
    assert all(one.strip() in file for one in [body, folder, *reasons])
    assert [texts.ONCE] in labels(found.text)


@pytest.mark.parametrize(
    ("command", "folder", "is_said"),
    [("ls /srv/x", "/srv", True), ("ls\nfolder: /srv", "/srv", False), ("ls", "", False)],
)
def test_where_it_runs_is_said_once(command: str, folder: str, is_said: bool) -> None:
    found = cards.approval(approval(command, folder=folder), None)
    assert ("in /srv" in found.text.text.split("\n")) == is_said


def test_a_name_of_a_tool_calls_nobody() -> None:
    given = approval("x", tool="@you")
    for text in (cards.approval(given, None).text, cards.announced(given)):
        assert ("code", 0, 4) in [(one.kind, one.offset, one.length) for one in text.entities]


@pytest.mark.spec("K-14")
def test_a_card_of_a_run_says_which_schedule_asks() -> None:
    given = approval("ls", status=approvals_pb2.PENDING)
    for text in (
        cards.approval(given, None, "News @all").text,
        cards.announced(given, "News @all"),
    ):
        assert text.text.startswith("shell_exec asks to run\n⏰ for News @all")
        assert "code" in [one.kind for one in text.entities]
    given.card = "x" * 4000
    assert "⏰ for News" in cards.approval(given, None, "News").text.text
    given.status = approvals_pb2.DENIED
    assert "⏰ for News" in cards.approval(given, None, "News").text.text


@pytest.mark.parametrize(("waits", "says"), [(True, "parked."), (False, "waits no more.")])
def test_a_run_that_waits_says_which_schedule_it_is_of(waits: bool, says: str) -> None:
    given = channels_pb2.Delivery(chat="5", waits=waits, task=task(common_pb2.PARKED))
    given.run.name = "News"
    assert cards.notice(given).text == f"⏰ “News” {says}"


def test_a_notice_of_a_schedule_says_of_which() -> None:
    given = channels_pb2.Delivery(chat="5", text="It is paused.")
    given.run.name = "News @all"
    shown = cards.notice(given)
    assert shown.text == "⏰ News @all\nIt is paused."
    assert "code" in [one.kind for one in shown.entities]


def labels(text: outgoing.Text) -> list[list[str]]:
    return [[one.text for one in row] for row in text.rows]


@pytest.mark.parametrize(
    ("text", "always", "row"),
    [
        ("ls", True, [texts.ONCE, texts.ALWAYS]),
        ("ls", False, [texts.ONCE]),
        ("x" * 4000, True, [texts.ONCE]),
    ],
)
def test_always_is_offered_only_where_it_may_be(text: str, always: bool, row: list[str]) -> None:
    found = cards.approval(approval(text, always_allowed=always), None)
    assert labels(found.text) == [row, [texts.DENY, texts.DENY_WHY]]
    assert (found.document is None) == (text == "ls")


@pytest.mark.parametrize(
    ("status", "by", "line"),
    [
        (approvals_pb2.ALLOWED, "telegram:7:42", "✓ allowed by 42"),
        (approvals_pb2.DENIED, "local:owner", "✗ denied by owner"),
        (approvals_pb2.EXPIRED, "", "✗ nobody answered in time"),
        (approvals_pb2.WITHDRAWN, "", "– the task ended first"),
    ],
)
def test_a_decided_card_says_how_and_has_no_buttons(status: int, by: str, line: str) -> None:
    found = cards.approval(approval("ls", status=status, decided_by=by), None)
    assert found.text.text.endswith(line)
    assert found.text.rows == ()


def task(state: int, **more: object) -> tasks_pb2.Task:
    given = tasks_pb2.Task(task_id="task-" + "b" * 32, text="do it", kind="answer")
    given.state = state  # type: ignore[assignment]
    for name, value in more.items():
        setattr(given, name, value)
    return given


@pytest.mark.parametrize(
    ("chat", "state", "part", "rows"),
    [
        ("5", common_pb2.MODEL_UNAVAILABLE, "waits for a model", [[texts.RETRY, texts.ABANDON]]),
        ("5", common_pb2.PARKED, "parked", [[texts.RETRY, texts.ABANDON]]),
        ("5", common_pb2.AWAITING_SECRET, "Your next message here", []),
        ("-1", common_pb2.AWAITING_SECRET, "in our private chat", []),
        (
            "5",
            common_pb2.AWAITING_DECISION,
            "Nobody saw how this ended: rm x",
            [[texts.MARK_DONE, texts.RUN_AGAIN], [texts.ABANDON]],
        ),
    ],
)
def test_a_task_that_waits_says_what_can_be_done(
    chat: str, state: int, part: str, rows: list[list[str]]
) -> None:
    waiting = task(state, secret="the password for sudo")
    unknown = waiting.unknown_outcomes.add()
    unknown.call_id, unknown.tool = "call-" + "c" * 32, "shell_exec"
    unknown.arguments_json = '{"command":"rm x"}'
    given = channels_pb2.Delivery(chat=chat, principal="telegram:7:5", waits=True, task=waiting)
    found = cards.notice(given)
    assert part in found.text
    assert labels(found) == rows
    assert all(buttons.read(one.data) is not None for row in found.rows for one in row)
    assert not cards.is_over(given)
    given.waits = False
    assert cards.notice(given).rows == ()
    assert cards.is_over(given)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (task(common_pb2.COMPLETED, answer="**Yes**"), "Yes"),
        (task(common_pb2.COMPLETED, answer=" "), texts.EMPTY_ANSWER),
        (task(common_pb2.COMPLETED, answer="\u200b\u2060\u3164"), texts.EMPTY_ANSWER),
        (task(common_pb2.COMPLETED, answer="[](x)"), "[](x)"),
        (task(common_pb2.COMPLETED, answer=""), texts.FORGOTTEN),
        (task(common_pb2.FAILED, reason="x", answer="[](y)"), "No answer: failed: x.\n\n[](y)"),
        (task(common_pb2.CANCELLED), texts.STOPPED),
        (task(common_pb2.FAILED, reason="it broke"), "No answer: failed: it broke."),
        (
            task(common_pb2.BUDGET_EXHAUSTED, reason="16 rounds"),
            "No answer: stopped: its budget is used up: 16 rounds.",
        ),
    ],
)
def test_how_a_task_ends(given: tasks_pb2.Task, text: str) -> None:
    final = finals.final(given)
    assert [one.text for one in final.parts] == [text]
    assert bool(final.parts[-1].rows) == (given.state == common_pb2.COMPLETED)


@pytest.mark.spec("B-02")
def test_a_very_long_answer_is_a_file_with_its_beginning() -> None:
    answer = "\n\n".join(f"paragraph {number} " + "x" * 1000 for number in range(40))
    final = finals.final(task(common_pb2.COMPLETED, answer=answer), ("✓ ls",))
    (part,) = final.parts
    assert part.text.endswith(texts.WHOLE_IN_FILE)
    assert outgoing.units(part.text) <= outgoing.TEXT_UNITS
    assert final.document is not None
    assert final.document.data.decode() == answer


def test_what_there_is_of_an_answer_is_never_cut() -> None:
    answer = "\n\n".join(f"paragraph {number}" + "x" * 1000 for number in range(8))
    final = finals.final(task(common_pb2.BUDGET_EXHAUSTED, reason="16 rounds", answer=answer))
    assert "\n\n".join(one.text for one in final.parts).endswith(answer)
