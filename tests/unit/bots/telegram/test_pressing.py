"""What becomes of presses: each is answered, soon, whatever the daemon and Telegram do."""

import asyncio

import pytest

from bots import client
from bots.telegram import buttons, lanes, pressing, texts, updates
from proto.ducklm.v1 import approvals_pb2, channels_pb2, tasks_pb2
from tests.unit.bots.telegram import receiving

BOT = updates.Bot("77", "duck_bot")
LIMIT_S = 20.0
ID = f"approval-{'a' * 32}"
TASK = f"task-{'b' * 32}"
ONCE = buttons.data(buttons.Answer(ID, approvals_pb2.ALLOW_ONCE))
WHY = buttons.data(buttons.Answer(ID, approvals_pb2.DENY, asks=True))
RETRY = buttons.data(buttons.Decide(tasks_pb2.RETRY))
WHOLE = buttons.data(buttons.Whole("0" * 64))


class Stage:
    def __init__(self, sending: lanes.Lanes) -> None:
        self.daemon = receiving.Daemon()
        self.api = receiving.Api()
        self.person = receiving.Person()
        self.pressing = pressing.Pressing(self.daemon, self.api, sending)

    async def press(self, data: str) -> None:
        incoming = updates.read(self.person.presses(data), BOT)
        assert isinstance(incoming, updates.Press)
        await self.pressing.press(incoming, "telegram:77:1")

    async def toast(self) -> str:
        """What the presser sees: the first answer."""
        async with asyncio.timeout(LIMIT_S):
            while not self.api.toasts:
                self.api.told.clear()
                await self.api.told.wait()
        return self.api.toasts[0][1]


@pytest.fixture
async def stage() -> Stage:
    return Stage(receiving.Banned())


@pytest.mark.spec("B-04")
@pytest.mark.parametrize(
    ("data", "told", "toast"),
    [
        (ONCE, [f"approvals.Resolve {ID} ALLOW_ONCE"], "Allowed."),
        (WHY, ["channels.Look"], texts.OLD_BUTTON),
        (RETRY, ["channels.Look"], texts.OLD_BUTTON),
        ("p:y:", ["channels.Look"], texts.OLD_BUTTON),
        (buttons.data(buttons.Feedback(TASK, good=True)), ["tasks.Feedback"], texts.THANKS),
        (WHOLE, ["channels.Look", "channels.Post `output.txt`"], texts.SENDING),
        ("s:mode:nonsense", ["channels.Look", "conversations.Get"], texts.OLD_BUTTON),
        ("anything", [], texts.NOT_OURS),
    ],
)
async def test_what_a_press_does(stage: Stage, data: str, told: list[str], toast: str) -> None:
    await stage.press(data)
    assert stage.daemon.lines() == told
    assert await stage.toast() == toast


async def test_a_press_says_whose_it_is_and_where_whatever_it_carries(stage: Stage) -> None:
    await stage.press(ONCE)
    (origin,) = [one.origin for _, one in stage.daemon.asked]
    assert (origin.principal, origin.chat, origin.message_id) == ("telegram:77:5", "5", "101")


async def test_a_refusal_is_told_in_the_daemons_words(stage: Stage) -> None:
    stage.daemon.faults["approvals.Resolve"] = [receiving.NO]
    await stage.press(ONCE)
    assert await stage.toast() == "Only an owner may."


@pytest.mark.spec("B-04")
@pytest.mark.parametrize(
    ("status", "told", "toast"),
    [
        (approvals_pb2.PENDING, f"channels.Post {texts.WHY_NOT}", texts.WHY_TOAST),
        (approvals_pb2.ALLOWED, "", "Allowed."),
        (approvals_pb2.EXPIRED, "", "It had expired."),
    ],
)
async def test_a_reason_is_asked_for_only_while_the_card_waits(
    stage: Stage, status: approvals_pb2.ApprovalStatus.ValueType, told: str, toast: str
) -> None:
    card = approvals_pb2.Approval(approval_id=ID, status=status)
    stage.daemon.look.replied_to.approval.CopyFrom(card)
    await stage.press(WHY)
    assert stage.daemon.lines() == ["channels.Look", *([told] if told else [])]
    assert await stage.toast() == toast


@pytest.mark.parametrize("data", [WHY, WHOLE, "m:mode:", "s:mode:plan"])
async def test_a_stranger_gets_nothing_by_a_press(stage: Stage, data: str) -> None:
    stage.daemon.look = channels_pb2.LookResponse()
    await stage.press(data)
    assert stage.daemon.lines() == ["channels.Look"]
    assert await stage.toast() == texts.STILL_STRANGER


async def test_a_slow_daemon_is_not_waited_for(stage: Stage) -> None:
    held = stage.daemon.holds["approvals.Resolve"] = asyncio.Event()
    running = asyncio.create_task(stage.press(ONCE))
    assert await stage.toast() == texts.SLOW_TOAST
    assert not running.done()
    held.set()
    await running


async def test_a_daemon_that_is_away_leaves_the_press_for_later(stage: Stage) -> None:
    stage.daemon.faults["approvals.Resolve"] = [receiving.AWAY]
    with pytest.raises(client.CallFault):
        await stage.press(ONCE)
    assert stage.api.toasts == []
    await stage.press(ONCE)
    assert await stage.toast() == "Allowed."


async def test_a_menu_in_a_chat_that_is_banned_keeps_nobody_waiting(stage: Stage) -> None:
    async with asyncio.timeout(LIMIT_S):
        await stage.press("m:mode:")
        await stage.press("s:mode:plan")
    assert await stage.toast() == ""


async def test_a_menu_is_edited_in_its_place() -> None:
    sending = lanes.Lanes()
    stage = Stage(sending)
    await stage.press("m:mode:")
    async with asyncio.timeout(LIMIT_S):
        while not stage.api.log:
            stage.api.told.clear()
            await stage.api.told.wait()
    assert stage.api.log == [f"edit 101: {texts.MODES}"]
    await sending.close()
