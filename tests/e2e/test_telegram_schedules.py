"""Schedules on Telegram, by a real bot and a real daemon: added by words, allowed, run, told."""

import datetime
import zoneinfo
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import schedules_pb2
from tests import running_bot, running_daemon
from tests.fakes.telegram import world
from tests.integration.rpc import work

pytestmark = [pytest.mark.timeout(120), pytest.mark.spec("C-05")]

FORUM = "-1003"
SCRIPT: list[running_daemon.ScriptLine] = [
    {"role": "*", "match": "^tell me the news", "reply": "**No news** for @ann.", "repeat": True},
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


def schedules(bot: running_bot.RunningBot, user: int = 0) -> list[schedules_pb2.Schedule]:
    """What somebody has scheduled, or all."""
    with bot.daemon.api() as api:
        found = api.schedules.List(schedules_pb2.ListSchedulesRequest()).schedules
    return [one for one in found if not user or one.principal == f"telegram:77:{user}"]


def runs(bot: running_bot.RunningBot, schedule_id: str) -> list[schedules_pb2.Run]:
    request = schedules_pb2.ListRunsRequest(schedule_id=schedule_id)
    with bot.daemon.api() as api:
        return list(api.schedules.ListRuns(request).runs)


def add(held: world.World, words: str, user: int, chat: str = "", topic: str = "") -> world.Shown:
    """The draft that words become."""
    chat = chat or str(user)
    name = "@duck_bot" if chat.startswith("-") else ""
    more = {"topic": topic} if topic else {}
    asked = held.say(f"/schedule{name} add {words}", user=user, chat=chat, **more)
    return fresh(held, chat, "Shall I keep this?", asked)


def fresh(held: world.World, chat: str, part: str, after: int) -> world.Shown:
    """The message that came after another one and says so now."""

    def find() -> world.Shown | None:
        found = [one for one in held.messages(chat) if one.message_id > after and part in one.text]
        return found[-1] if found else None

    shown: world.Shown = held.until(find)
    return shown


def push(held: world.World, shown: world.Shown, button: str, user: int) -> str:
    """What somebody is told who presses a button."""
    press = held.press(held.button(shown, button), shown.message_id, user=user, chat=shown.chat)
    return held.toast(press).text


def keep(held: world.World, words: str, user: int, chat: str = "", topic: str = "") -> world.Shown:
    """The message of a schedule that is kept."""
    shown = add(held, words, user, chat, topic)
    assert push(held, shown, "Keep", user) == "Kept."
    held.until(lambda: has(shown, "Run now"))
    return shown


def has(shown: world.Shown, button: str) -> bool:
    return any(one["text"] == button for row in shown.rows for one in row)


def test_words_are_shown_as_they_were_understood_kept_once_and_run(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    shown = add(held, "every weekday at 8: tell me the news", user=5)
    assert "every mon,tue,wed,thu,fri at 08:00" in shown.text
    assert shown.text.count("08:00") >= 4  # the rule, and its next three times
    assert "tell me the news" in shown.text
    assert schedules(bot, 5) == []
    data = held.button(shown, "Keep")
    assert push(held, shown, "Keep", user=5) == "Kept."
    held.until(lambda: has(shown, "Run now"))
    again = held.press(data, shown.message_id, user=5)
    assert held.toast(again).text == "Kept."
    (one,) = schedules(bot, 5)
    assert (one.name, one.kind, one.policy.to.chat) == ("tell me the news", one.AGENT, "5")
    assert push(held, shown, "Run now", user=5) == "It begins."
    told = fresh(held, "5", "No news", shown.message_id)
    assert told.text == "⏰ tell me the news\nNo news for @ann."
    assert told.said == [told.text]  # never a preview
    assert {"type": "code", "offset": 31, "length": 5} in told.entities
    held.until(lambda: runs(bot, one.schedule_id)[0].state == schedules_pb2.Run.DELIVERED)
    assert runs(bot, one.schedule_id)[0].platform_ids == [str(told.message_id)]
    assert push(held, shown, "History", user=5) == ""
    held.until(lambda: "done and shown" in shown.text and "by hand" in shown.text)


SOON_S = 25.0  # in which a schedule is written, read and kept, also on a busy machine


def soon(bot: running_bot.RunningBot) -> str:
    """A time that comes soon, as the daemon's clock shows it."""
    with bot.daemon.api() as api:
        zone = api.schedules.Preview(schedules_pb2.PreviewRequest(when="every 2h")).zone
    at = datetime.datetime.now(zoneinfo.ZoneInfo(zone)) + datetime.timedelta(seconds=SOON_S)
    return f"{at:%Y-%m-%d %H:%M:%S}"


def test_what_comes_due_is_done_and_told_by_itself(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    shown = keep(held, f"at {soon(bot)}: tell me the news at last", user=5)
    (one,) = [one for one in schedules(bot, 5) if one.name == "tell me the news at last"]
    told = fresh(held, "5", "⏰ tell me the news at last", shown.message_id)
    assert told.text == "⏰ tell me the news at last\nNo news for @ann."
    assert one.schedule_id not in [each.schedule_id for each in schedules(bot, 5)]  # it is over
    (run,) = runs(bot, one.schedule_id)
    assert (run.by_hand, run.name) == (False, one.name)
    gone = held.press(held.button(shown, "Run now"), shown.message_id, user=5)
    assert "it was deleted, or it is over" in held.toast(gone).text


@pytest.mark.spec("K-14")
def test_a_command_asks_in_the_chat_and_runs_after_the_press(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    shown = keep(held, "every 2h: `env echo two ducks`", user=6)
    (one,) = schedules(bot, 6)
    assert (one.kind, one.text, one.allowed) == (one.COMMAND, "env echo two ducks", False)
    assert push(held, shown, "Run now", user=6) == "It begins."
    card = fresh(held, "6", "env echo two ducks\n", shown.message_id)
    assert "⏰ for env echo two ducks" in card.text
    held.until(lambda: has(card, "Once"))
    stranger = held.press(held.button(card, "Once"), card.message_id, user=7, chat="6")
    assert "decide" in held.toast(stranger).text or "may" in held.toast(stranger).text
    assert push(held, card, "Once", user=6) == "Allowed."
    told = fresh(held, "6", "two ducks\n", card.message_id)
    assert told.text.startswith("⏰ env echo two ducks\n")
    assert runs(bot, one.schedule_id)[0].by_hand


@pytest.mark.spec("K-14")
def test_a_command_that_is_allowed_once_for_all_runs_unasked(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    shown = keep(held, "every 2h: `env echo unasked`", user=7)
    assert push(held, shown, "Allow…", user=7) == "Answer the card."
    card = fresh(held, "7", "⏰ for env echo unasked", shown.message_id)
    held.until(lambda: has(card, "Always"))
    assert push(held, card, "Always", user=7) == "Allowed."
    held.until(lambda: schedules(bot, 7)[0].allowed)
    assert push(held, shown, "Run now", user=7) == "It begins."
    told = fresh(held, "7", "unasked\n", card.message_id)
    assert told.text.startswith("⏰ env echo unasked")
    assert not has(told, "Once")
    after = [one for one in held.messages("7") if one.message_id > card.message_id]
    assert after == [told]  # nothing asked
    held.say("/schedule", user=7)
    listed = fresh(held, "7", "Scheduled here", told.message_id)
    assert push(held, listed, listed.rows[0][0]["text"], user=7) == ""
    held.until(lambda: "It runs unasked." in listed.text)
    assert not has(listed, "Allow…")


def test_a_run_that_fails_says_why(bot: running_bot.RunningBot, held: world.World) -> None:
    shown = keep(held, "every 6h: `ls nowhere`", user=5)
    assert push(held, shown, "Run now", user=5) == "It begins."
    told = fresh(held, "5", "⏰ ls nowhere failed", shown.message_id)
    assert "cannot access 'nowhere'" in told.text
    assert push(held, shown, "History", user=5) == ""
    held.until(lambda: " – failed · " in shown.text)


def test_another_time_is_shown_before_it_is_kept(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    keep(held, "every 7h: hello sevens", user=5)
    asked = held.say("/schedule show hello sevens", user=5)
    shown = fresh(held, "5", "hello sevens", asked)
    handle = shown.text.partition(" · ")[2].partition("\n")[0]
    asked = held.say(f"/schedule set {handle} when every monday at 7:30", user=5)
    draft = fresh(held, "5", "Shall I change when hello sevens is done?", asked)
    assert "every mon at 07:30" in draft.text
    kept = {one.name: one.times.when for one in schedules(bot, 5)}
    assert kept["hello sevens"].startswith("every 7h")
    assert push(held, draft, "Keep", user=5) == "Kept."
    kept = {one.name: one.times.when for one in schedules(bot, 5)}
    assert kept["hello sevens"] == "every mon at 07:30"


def test_nobody_else_presses(bot: running_bot.RunningBot, held: world.World) -> None:
    shown = add(held, "every 3h: hello", user=8)
    for button in ("Keep", "Cancel"):
        press = held.press(held.button(shown, button), shown.message_id, user=5, chat="8")
        assert held.toast(press).text == "Only whoever asked for it can keep it."
    stranger = held.press(held.button(shown, "Keep"), shown.message_id, user=99, chat="8")
    assert "not let you in" in held.toast(stranger).text
    assert push(held, shown, "Keep", user=8) == "Kept."
    held.until(lambda: has(shown, "Run now"))
    before = schedules(bot, 8)
    for button in ("Run now", "Pause", "History", "Delete…"):
        press = held.press(held.button(shown, button), shown.message_id, user=5, chat="8")
        assert "There is no schedule" in held.toast(press).text
    erase = f"t:x:{before[0].schedule_id}"
    press = held.press(erase, shown.message_id, user=5, chat="8")
    assert "There is no schedule" in held.toast(press).text
    held.press(held.button(shown, "‹ list"), shown.message_id, user=5, chat="8")
    assert schedules(bot, 8) == before
    owner = held.press(held.button(shown, "Pause"), shown.message_id, user=42, chat="8")
    assert held.toast(owner).text == "Paused."
    held.until(lambda: has(shown, "Resume"))
    assert push(held, shown, "Resume", user=8) == "It goes on from now."


def test_a_draft_is_decided_once_in_whatever_order_it_is_pressed(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    count = len(schedules(bot))
    first = add(held, "every 4h: hello", user=5)
    second = add(held, "every 4h: hello", user=5)
    keeps, cancels = held.button(first, "Keep"), held.button(first, "Cancel")
    assert push(held, first, "Cancel", user=5) == "Not kept."
    held.until(lambda: first.text == "Not kept." and not first.rows)
    late = held.press(keeps, first.message_id, user=5)
    assert held.toast(late).text == "That was decided already."
    assert len(schedules(bot)) == count
    assert push(held, second, "Keep", user=5) == "Kept."  # the same words, said again
    held.until(lambda: has(second, "Run now"))
    late = held.press(cancels, first.message_id, user=5)
    assert held.toast(late).text == "Not kept."
    assert len(schedules(bot)) == count + 1


def test_a_draft_outlives_the_bot(bot: running_bot.RunningBot, held: world.World) -> None:
    shown = add(held, "every 5h: hello after all", user=5)
    bot.kill()
    data = held.button(shown, "Keep")
    presses = [held.press(data, shown.message_id, user=5) for _ in range(2)]
    bot.start()
    assert [held.toast(one).text for one in presses] == ["Kept.", "Kept."]
    names = [one.name for one in schedules(bot, 5)]
    assert names.count("hello after all") == 1
    held.until(lambda: "hello after all" in shown.text and has(shown, "Run now"))


def test_results_come_to_the_topic_that_asked(
    bot: running_bot.RunningBot, held: world.World
) -> None:
    shown = keep(held, "every day at noon: tell me the news", user=5, chat=FORUM, topic="4")
    assert push(held, shown, "Run now", user=5) == "It begins."
    told = fresh(held, FORUM, "No news", shown.message_id)
    assert (told.topic, told.reply_to) == ("4", "")
    asked = held.say("/schedule@duck_bot", user=5, chat=FORUM, topic="9")
    listed = fresh(held, FORUM, "Scheduled for this chat", asked)
    assert (listed.topic, len(listed.rows)) == ("9", 1)  # not what is told in private
    handle = listed.text.partition(" · ")[2].partition("\n")[0]
    asked = held.say(f"/schedule@duck_bot set {handle} here", user=5, chat=FORUM, topic="9")
    moved = fresh(held, FORUM, "Results come here.", asked)
    assert push(held, moved, "Run now", user=5) == "It begins."
    assert fresh(held, FORUM, "No news", moved.message_id).topic == "9"
    other = held.press(held.button(listed, listed.rows[0][0]["text"]), listed.message_id, 6, FORUM)
    assert "There is no schedule" in held.toast(other).text


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("/schedule dance", "/schedule knows no “dance”"),
        ("/schedule add every day at 9 no border", "a colon and a space"),
        ("/schedule add whenever you like: hello", "Write it like one of these: every 2h"),
        ("/schedule add every minute of joy: hello", "Write it like one of these"),
        ("/schedule show zzzz", "There is no schedule zzzz. There are:\n"),
        ("/schedule run", "Name one by its sign"),
        ("/schedule set hello retries many", "/schedule set 7f3a retries 2"),
        ("/schedule set hello colour red", "“colour” cannot be set"),
        ("/schedule set hello retries 11", "at most 10"),
        ("/schedule set hello zone Mars/Base", "Mars/Base"),
        ("/schedule set hello name Good day", "Good day"),
        ("/schedule set good day", "“day” cannot be set"),
        ("/schedule pause Good day", "Paused."),
        ("/schedule set Good", "Write it like this"),
        ("/schedule runs", "What became of what was scheduled"),
        ("/schedule delete Good day", "Delete Good day"),
        ("/schedule pauseall", "All paused: "),
        ("/schedule resumeall", "All go on from now: "),
    ],
)
def test_what_is_typed_is_done_or_taught(
    bot: running_bot.RunningBot, held: world.World, said: str, answer: str
) -> None:
    if not any(one.name in ("hello", "Good day") for one in schedules(bot, 8)):
        keep(held, "every 3h: hello", user=8)
    asked = held.say(said, user=8)
    assert answer in fresh(held, "8", "", asked).text
