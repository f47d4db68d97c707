"""What people can do with the bot on Telegram, through a real bot and a real daemon."""

import time
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import channels_pb2, common_pb2, conversations_pb2, tasks_pb2
from tests import running_bot, running_daemon
from tests.conftest import Figures, Rounds
from tests.fakes.telegram import faults, world
from tests.integration.rpc import work

pytestmark = pytest.mark.timeout(90)

BUSY_S = 10.0  # what a run beside others may take longer
GROUP = "-1002"
FORUM = "-1003"
SCRIPT: list[running_daemon.ScriptLine] = [
    {
        "role": "*",
        "match": "^remove it",
        "reply": '{"kind":"tool","tool":"shell_exec","arguments":{"command":"rm -r build"}}',
    },
    {"role": "*", "match": "not that", "reply": "Then I leave it."},
    *work.SCRIPT,
]


@pytest.fixture(scope="module")
def bot() -> Iterator[running_bot.RunningBot]:
    with running_bot.running(SCRIPT) as started:
        started.world.topics[FORUM] = {"4", "9"}
        yield started


@pytest.fixture
def held(bot: running_bot.RunningBot) -> world.World:
    return bot.world


def answered(held: world.World, chat: str, part: str, after: int = 0) -> world.Shown:
    """The answer with its buttons that came after a message."""

    def find() -> world.Shown | None:
        for one in held.messages(chat):
            if one.message_id > after and part in one.text and one.rows:
                return one
        return None

    shown: world.Shown = held.until(find)
    return shown


@pytest.mark.spec("B-01")
def test_an_answer_grows_in_one_message_and_is_worth_something(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    asked = held.say("slow tell me", user=5)
    shown = answered(held, "5", "word11", asked)
    assert shown.said[0] == "…"
    assert shown.text == work.SLOW_WORDS
    press = held.press(held.button(shown, "👍"), shown.message_id, user=5)
    assert held.toast(press).text == "Noted."
    with bot.daemon.api() as api:
        told = [one for one in work.all_events(api) if one.HasField("feedback_given")]
    assert told[-1].feedback_given.good
    assert told[-1].feedback_given.principal == "telegram:77:5"


@pytest.mark.spec("B-04")
def test_a_no_with_a_reason_goes_on_with_it(bot: running_bot.RunningBot, held: world.World) -> None:
    asked = held.say("remove it", user=5)
    card = held.card("5", "rm -r build")
    press = held.press(held.button(card, "Deny with a reason…"), card.message_id, user=5)
    assert held.toast(press).text == "Tell me why."
    question = held.message("5", "Why not?")
    assert question.force_reply
    held.until(lambda: _is_known(bot, question))  # nobody replies before, but a test can
    held.say("not that folder", user=5, reply_to=question.message_id)
    shown = answered(held, "5", "Then I leave it.", asked)
    assert "✗" in shown.text
    held.until(lambda: "denied by 5" in held.messages("5")[_index(held, card)].text)


def _is_known(bot: running_bot.RunningBot, shown: world.Shown) -> bool:
    """Whether the daemon has heard what this message shows."""
    request = channels_pb2.ListDeliveriesRequest(states=[channels_pb2.Delivery.SHOWN])
    with bot.daemon.api() as api:
        found = api.channels.ListDeliveries(request).deliveries
    shown_by = [one for one in found if one.chat == shown.chat]
    return any(str(shown.message_id) in one.platform_ids for one in shown_by)


def _index(held: world.World, shown: world.Shown) -> int:
    return [one.message_id for one in held.messages("5")].index(shown.message_id)


@pytest.mark.acceptance(21)
@pytest.mark.spec("B-06")
@pytest.mark.parametrize("state", ["running", "asking", "queued", "banned"])
def test_stop_is_heard_at_once(
    bot: running_bot.RunningBot,
    held: world.World,
    state: str,
    rounds: Rounds,
    figures: Figures,
) -> None:
    text = "`env echo waits`" if state == "asking" else "endless"
    asked = held.say(text, user=6)
    if state == "asking":
        held.card("6", "env echo waits")
    else:
        held.until(lambda: any(one.message_id > asked for one in held.messages("6")))
    if state == "queued":
        held.say("endless too", user=6)
    if state == "banned":
        ban = faults.Rule("", "retry", chat="6", retry_after_s=3)
        bot.telegram.faults.add(ban)
        held.until(lambda: ban.times == 0)
    with bot.daemon.api() as api:
        began = work.all_events(api)[-1].seq
        wanted = 2 if state == "queued" else 1
        pressed_s = time.monotonic()
        held.say("/stop", user=6)

        def cancelled() -> bool:
            found = work.events(api, after_seq=began)
            ends = [one for one in found if one.task_state_changed.to == common_pb2.CANCELLED]
            return len(ends) >= wanted

        held.until(cancelled)
        took_s = time.monotonic() - pressed_s
    figures(f"/stop on Telegram, {state}, s", round(took_s, 3))
    alone = rounds(1000) == 1000
    assert took_s <= (1.0 if alone else BUSY_S)
    held.until(lambda: [one for one in held.messages("6") if one.text.startswith("Stopped:")])


@pytest.mark.spec("B-03")
def test_a_stranger_is_let_in_by_the_owner(held: world.World) -> None:
    held.say("hello", user=91)
    code = held.message("91", "your code is").text.rstrip(".").rpartition(" ")[2]
    card = held.card("42", code)
    stranger = held.press(held.button(card, "Let in"), card.message_id, user=91, chat="42")
    assert "may not talk here" in held.toast(stranger).text
    press = held.press(held.button(card, "Let in"), card.message_id, user=42)
    assert held.toast(press).text == "Let in."
    held.until(lambda: any("may talk to me" in one.text for one in held.messages("42")))
    asked = held.say("hello", user=91)
    answered(held, "91", "Paris.", asked)


@pytest.mark.spec("B-03")
def test_in_a_group_the_bot_is_spoken_to_or_silent(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    held.say("hello everybody", user=5, chat=GROUP)
    held.say("/help@another_bot", user=5, chat=GROUP)
    held.say("hello @duck_bot", user=99, chat=GROUP)  # nobody whom it knows
    held.say(
        "hello @duck_bot", user=5, chat=GROUP, sender_chat=held.chat(GROUP), **{"from": _ANONYMOUS}
    )
    held.message(GROUP, "anonymous")
    asked = held.say("slow @duck_bot", user=5, chat=GROUP)
    shown = answered(held, GROUP, "word11", asked)
    assert shown.reply_to == str(asked)
    others = [one.text for one in held.messages(GROUP) if "anonymous" not in one.text]
    assert others == [shown.text]
    again = held.say("and again", user=6, chat=GROUP, reply_to=shown.message_id)
    answered(held, GROUP, "Paris.", again)
    with bot.daemon.api() as api:
        told = [one for one in work.all_events(api) if one.HasField("task_submitted")]
    last = told[-1].task_submitted
    assert (last.text, last.origin.speaker) == ("and again", "Person 6")
    assert 'this message of the group is from "Person 6"' in last.note
    assert told[-2].task_submitted.text == "slow"


_ANONYMOUS = {"id": 1087968824, "is_bot": True, "first_name": "Group"}


@pytest.mark.spec("B-01")
def test_each_topic_has_its_own_answers(held: world.World) -> None:
    for topic in ("4", "", "9"):
        asked = held.say("hello @duck_bot", user=5, chat=FORUM, topic=topic)
        shown = answered(held, FORUM, "Paris.", asked)
        assert shown.topic == topic


def test_a_group_that_becomes_a_supergroup_goes_on_there(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    asked = held.say("hello @duck_bot", user=5, chat="-55")
    answered(held, "-55", "Paris.", asked)
    before = _conversation(bot, "-55")
    held.migrate("-55", "-10055")
    asked = held.say("hello @duck_bot", user=5, chat="-10055")
    answered(held, "-10055", "Paris.", asked)
    assert _conversation(bot, "-10055") == before != ""
    assert _conversation(bot, "-55") == ""


def _conversation(bot: running_bot.RunningBot, chat: str) -> str:
    origin = common_pb2.Origin(principal="telegram:77:5", chat=chat)
    with bot.daemon.api() as api:
        return api.channels.Look(channels_pb2.LookRequest(origin=origin)).conversation_id


@pytest.mark.spec("K-15")
def test_files_come_into_the_project_and_go_out_of_it(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    asked = held.say("", user=7, caption="hello file", **held.file(b"Quack", name="duck.txt"))
    answered(held, "7", "Paris.", asked)
    assert (running_bot.folder_of(bot) / "incoming" / "duck.txt").read_bytes() == b"Quack"
    held.say("/files incoming", user=7)
    assert "incoming/duck.txt" in held.message("7", "duck.txt").text
    held.say("/files incoming/duck.txt", user=7)
    sent = held.until(lambda: [one for one in held.messages("7") if one.document == b"Quack"])
    assert sent[0].file_name == "duck.txt"
    held.say("", user=7, **held.file(b"\xff\xd8\xff\xe0", kind="photo"))
    held.message("7", "no model here can see")
    held.say("", user=7, **held.file(b"OggS", kind="voice"))
    held.message("7", "I cannot hear")


def test_an_album_is_one_message(bot: running_bot.RunningBot, held: world.World) -> None:
    parts = [held.file(b"one", name="1.txt"), held.file(b"two", name="2.txt")]
    with bot.daemon.api() as api:
        before = len([one for one in work.all_events(api) if one.HasField("task_submitted")])
        bot.kill()
        for number, part in enumerate(parts):
            more = {"caption": "album"} if number == 0 else {}
            held.say("", user=7, media_group_id="g1", **part, **more)
        bot.start()
        answered(held, "7", "Paris.", max(one.message_id for one in held.messages("7", None)))
        told = [one for one in work.all_events(api) if one.HasField("task_submitted")]
    assert len(told) == before + 1
    assert len(told[-1].task_submitted.attachments) == 2


@pytest.mark.spec("D-12")
def test_what_is_forwarded_is_not_trusted(bot: running_bot.RunningBot, held: world.World) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Mallory"}
    held.say("`env echo forwarded`", user=8, forward_origin=origin)
    card = held.card("8", "env echo forwarded")
    with bot.daemon.api() as api:
        task = api.tasks.List(tasks_pb2.ListTasksRequest(page=common_pb2.Page(size=1))).tasks[0]
    assert [one.kind for one in task.taint] == ["forwarded"]
    held.toast(held.press(held.button(card, "Deny"), card.message_id, user=8))


@pytest.mark.spec("B-05")
def test_settings_are_chosen_by_buttons(bot: running_bot.RunningBot, held: world.World) -> None:
    held.say("/settings", user=8)
    menu = held.card("8", "How this conversation works")
    held.press(menu.rows[0][0]["callback_data"], menu.message_id, user=8)
    held.until(lambda: "How much may I do" in menu.text)
    press = held.press(held.button(menu, "plan: only look"), menu.message_id, user=8)
    assert held.toast(press).text == "Done."
    held.until(lambda: any("plan" in one["text"] for row in menu.rows for one in row))
    with bot.daemon.api() as api:
        request = conversations_pb2.GetConversationRequest(conversation_id=_conversation(bot, "8"))
        assert api.conversations.Get(request).mode == common_pb2.PLAN
    yolo = held.press("s:mode:yolo", menu.message_id, user=8)
    assert "only an owner" in held.toast(yolo).text
    held.say("/mode sideways", user=8)
    held.message("8", "Write it like this: /mode")
    held.say("/nonsense", user=8)
    held.message("8", "I know no /nonsense")


def test_the_menu_of_commands_is_set_once(bot: running_bot.RunningBot, held: world.World) -> None:
    held.until(lambda: held.commands)
    assert {"command": "stop", "description": "Stop what runs or waits here"} in held.commands
    assert "model" not in [one["command"] for one in held.commands]
    bot.kill()
    bot.start()
    asked = held.say("hello", user=5)
    answered(held, "5", "Paris.", asked)
    assert [one.method for one in held.calls].count("setMyCommands") == 1


@pytest.mark.spec("B-07")
def test_the_daemon_away_is_told_once_and_all_is_handled_when_it_is_back(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    bot.daemon.kill()
    first = held.say("hello there", user=5)
    held.message("5", "cannot reach my daemon")
    held.say("hello again", user=5)
    confirmed = held.confirmed
    bot.daemon.start()
    held.until(lambda: len([m for m in held.messages("5") if m.message_id > first and m.rows]) == 2)
    told = [one for one in held.messages("5") if "cannot reach my daemon" in one.text]
    assert len([one for one in told if one.message_id > first]) == 1
    assert held.confirmed >= confirmed


@pytest.mark.spec("B-07")
def test_receiving_goes_on_after_the_network_and_beside_a_second_poller(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    bot.telegram.stop()
    asked = held.say("hello while away", user=5)
    bot.telegram.start()
    back_s = time.monotonic()
    answered(held, "5", "Paris.", asked)
    assert time.monotonic() - back_s <= 15 + BUSY_S
    bot.telegram.faults.add(faults.Rule("getUpdates", "conflict"))
    held.until(lambda: "somebody_else_receives" in bot.said())
    assert bot.said().count("somebody_else_receives") == 1


def test_nothing_that_was_said_and_no_token_is_logged(bot: running_bot.RunningBot) -> None:
    said = bot.said()
    assert said
    for secret in (
        bot.environment()["DUCKLM_TELEGRAM_TOKEN"],
        bot.environment()["DUCKLM_BOT_TOKEN"],
    ):
        assert secret not in said
    assert "hello" not in said
