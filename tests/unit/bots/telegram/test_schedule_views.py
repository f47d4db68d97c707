"""Schedules as they are seen: texts that show just what was said, and buttons that fit."""

import datetime
import itertools

import pytest

from bots.telegram import buttons, drafts, finals, outgoing, rendering, schedule_views, texts
from proto.ducklm.v1 import common_pb2, schedules_pb2, tasks_pb2

HERE = schedule_views.Place("telegram:77", "5")
GROUP = schedule_views.Place("telegram:77", "-100", "4")
Schedule = schedules_pb2.Schedule
Run = schedules_pb2.Run
Policy = schedules_pb2.SchedulePolicy
ID = "schedule-" + "0" * 28 + "7f3a"
ART = "ab" * 32
NASTY = "*a* `b` [c](http://d.e) #e @f /g $h$ \\(i\\) <j> _k_\n- l\n1. m\n```"


def schedule(
    more: Schedule | None = None, schedule_id: str = ID, name: str = "News", chat: str = "5"
) -> Schedule:
    """A schedule with what is said over it."""
    given = Schedule(
        schedule_id=schedule_id,
        name=name,
        text="tell me the news",
        kind=Schedule.AGENT,
        mode=common_pb2.BUILD,
        state=Schedule.ACTIVE,
        policy=Policy(
            missed=Policy.RUN_ONCE,
            overlap=Policy.LEAVE_OUT,
            tell=Policy.ALWAYS,
            to=schedules_pb2.ChatTarget(account="telegram:77", chat=chat),
        ),
        times=schedules_pb2.Times(
            when="every day at 09:00", zone="Europe/Berlin", told=["Thu 2026-12-03 09:00 CET"]
        ),
    )
    if more is not None:
        given.MergeFrom(more)
    return given


def shown(view: schedule_views.View) -> str:
    """What is read."""
    for one in itertools.chain(*view.rows):
        assert len(one.data.encode()) <= outgoing.CALLBACK_BYTES
        assert buttons.read(one.data) is not None
    return rendering.markdown(view.text).text


def labels(view: schedule_views.View) -> list[list[str]]:
    return [[one.text for one in row] for row in view.rows]


# --- a draft


def draft(text: str = "go", is_command: bool = False, *notes: str) -> schedule_views.View:
    given = drafts.Draft("telegram:77:5", "key", "every 2h", "UTC", text, is_command)
    times = schedules_pb2.Times(
        when="every 2h from 2026-12-01 10:37",
        zone="UTC",
        told=["Tue 2026-12-01 12:37 UTC", "Tue 2026-12-01 14:37 UTC"],
        notes=notes,
    )
    return schedule_views.draft(given, times, ART, "")


@pytest.mark.spec("C-05")
def test_a_draft_says_all_that_was_understood() -> None:
    view = draft("go", False, "8 is read as 08:00", "that day is today.")
    assert shown(view) == (
        "Shall I keep this?\n"
        "every 2h from 2026-12-01 10:37 (UTC)\n"
        "Next: Tue 2026-12-01 12:37 UTC · Tue 2026-12-01 14:37 UTC\n"
        "⚠ 8 is read as 08:00.\n"
        "⚠ that day is today.\n"
        "Then I do this, as if you said it:\n"
        "go"
    )
    assert labels(view) == [["Keep", "Cancel"]]
    assert buttons.read(view.rows[0][0].data) == buttons.Draft(keeps=True, artifact_id=ART)


@pytest.mark.parametrize("is_command", [True, False])
def test_what_is_to_be_done_is_shown_as_it_is(is_command: bool) -> None:
    assert shown(draft(NASTY, is_command)).endswith(f"\n{NASTY}")
    found = rendering.markdown(draft(NASTY, is_command).text)
    (block,) = [one for one in found.entities if one.kind == "pre"]
    assert block.length == outgoing.units(NASTY)


def test_what_cannot_be_seen_of_a_command_is_spelled_out() -> None:
    assert shown(draft("ls\u202e\u200b x", True)).endswith("ls\\u202e\\u200b x")


def test_a_long_draft_is_shown_whole_with_its_buttons_last() -> None:
    text = " ".join(f"word{number}" for number in range(900))
    view = draft(text)
    whole = outgoing.Text(rendering.markdown(view.text).text, rows=(tuple(view.rows[0]),))
    parts = rendering.split(whole)
    assert len(parts) > 1
    assert [bool(one.rows) for one in parts] == [*([False] * (len(parts) - 1)), True]
    assert "word899" in parts[-1].text


# --- one


@pytest.mark.spec("K-14")
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            Schedule(),
            "News · 7f3a\nevery day at 09:00 (Europe/Berlin)\nNext: Thu 2026-12-03 09:00 CET\n",
        ),
        (Schedule(), "\nTask:\ntell me the news\nIt came due and ran: 0 times\n"),
        (
            Schedule(),
            "\nof missed times the newest is done late · what comes due while it runs is left",
        ),
        (Schedule(), "\nResults come here."),
        (Schedule(state=Schedule.PAUSED), "(Europe/Berlin)\nPaused.\n"),
        (Schedule(runs=12, failures=2), "ran: 12 times; the last 2 failed\n"),
        (Schedule(live=Run(state=Run.WAITING)), "\nNow: waits for somebody, or for a model\n"),
        (Schedule(kind=Schedule.COMMAND), "\nCommand:\ntell me the news\nWhat needs a yes asks"),
        (Schedule(kind=Schedule.COMMAND, allowed=True), "\nIt runs unasked.\n"),
        (
            Schedule(mode=common_pb2.PLAN, folder="/home/a_b/my_ducks", profile="terse"),
            "\nmode plan · project my_ducks · profile terse\n",
        ),
        (Schedule(policy=Policy(missed=Policy.SKIP)), "\nmissed times are left out ·"),
        (Schedule(policy=Policy(missed=Policy.RUN_ALL, catch_up=3)), "newest 3 are done late"),
        (Schedule(policy=Policy(overlap=Policy.WAIT)), "comes due while it runs waits"),
        (Schedule(policy=Policy(tell=Policy.ON_CHANGE)), "told when it differs"),
        (Schedule(policy=Policy(retries=2)), "tried again, at most 2 times"),
        (Schedule(policy=Policy(pause_after_failures=5)), "paused after 5 failures in a row"),
        (Schedule(text="x" * 2000), "x\n… 500 characters more\n"),
    ],
)
def test_a_schedule_says_how_it_stands(more: Schedule, says: str) -> None:
    assert says in shown(schedule_views.schedule(schedule(more), HERE))


@pytest.mark.parametrize(
    ("to", "says"),
    [
        (schedules_pb2.ChatTarget(account="telegram:77", chat="5"), "Results come here."),
        (schedules_pb2.ChatTarget(account="telegram:77", chat="5", topic="4"), "another chat."),
        (schedules_pb2.ChatTarget(account="telegram:78", chat="5"), "another chat."),
        (None, "Results go to no chat."),
    ],
)
def test_it_says_where_results_go(to: schedules_pb2.ChatTarget | None, says: str) -> None:
    given = schedule()
    given.policy.ClearField("to")
    if to is not None:
        given.policy.to.CopyFrom(to)
    assert shown(schedule_views.schedule(given, HERE)).endswith(says)


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        (Schedule(), [["Run now", "Pause"], ["History"], ["Delete…", "‹ list"]]),
        (
            Schedule(state=Schedule.PAUSED, live=Run(state=Run.RUNNING)),
            [["Stop", "Resume"], ["History"], ["Delete…", "‹ list"]],
        ),
        (
            Schedule(kind=Schedule.COMMAND),
            [["Run now", "Pause"], ["History", "Allow…"], ["Delete…", "‹ list"]],
        ),
        (
            Schedule(kind=Schedule.COMMAND, allowed=True),
            [["Run now", "Pause"], ["History"], ["Delete…", "‹ list"]],
        ),
    ],
)
def test_what_can_be_done_has_a_button(more: Schedule, rows: list[list[str]]) -> None:
    assert labels(schedule_views.schedule(schedule(more), HERE)) == rows


def test_deleting_asks_once_more() -> None:
    view = schedule_views.deleting(schedule(name=NASTY))
    assert shown(view).startswith("Delete *a* `b` [c](http://d.e) #e @f /g")
    erase, back = view.rows[0]
    assert buttons.read(erase.data) == buttons.Schedule("erase", ID)
    assert buttons.read(back.data) == buttons.Schedule("show", ID)


@pytest.mark.parametrize("text", ["x" * 1500, "\u202e" * 1500, "🦆" * 1500, "`" * 1500])
def test_a_view_is_one_message_or_its_beginning(text: str) -> None:
    given = rendering.markdown(
        schedule_views.schedule(schedule(Schedule(text=text), name=text), HERE).text
    )
    assert rendering.split(given)[0].text.startswith(given.text[:40])


# --- the list


def many(count: int) -> list[Schedule]:
    return [
        schedule(schedule_id=f"schedule-{number:032x}", name=f"News {number}")
        for number in range(count)
    ]


def test_the_list_has_a_row_for_each_and_says_how_to_add() -> None:
    view = schedule_views.listing(many(2), HERE)
    assert shown(view).startswith("Scheduled here and for you:\n\nNews 0 · 0000\nevery day at")
    assert labels(view)[0] == ["News 0 · Thu 2026-12-03 09:00 CET"]
    assert buttons.read(view.rows[1][0].data) == buttons.Schedule("show", f"schedule-{1:032x}")
    empty = schedule_views.listing([], HERE)
    assert shown(empty).endswith("/schedule add every weekday at 8: tell me what is new")


@pytest.mark.parametrize(
    ("page", "first", "turns"),
    [
        (0, "News 0", ["more ›"]),
        (1, "News 8", ["‹ list", "more ›"]),
        (2, "News 16", ["‹ list"]),
        (99, "News 16", ["‹ list"]),
    ],
)
def test_a_long_list_has_pages(page: int, first: str, turns: list[str]) -> None:
    view = schedule_views.listing(many(20), HERE, page)
    assert labels(view)[0][0].startswith(first)
    assert labels(view)[-1] == turns
    assert len(rendering.split(rendering.markdown(view.text))) == 1


def test_a_group_is_shown_only_what_is_told_there() -> None:
    found = [schedule(), schedule(schedule_id=ID[:-1] + "b", name="Theirs", chat="-100")]
    view = schedule_views.listing(found, GROUP)
    assert labels(view) == [["Theirs · Thu 2026-12-03 09:00 CET"]]
    assert "News" not in shown(view)


# --- what became of it


def run(state: Run.State.ValueType = Run.DONE, took_ms: int = 3000, more: Run | None = None) -> Run:
    """A run with what is said over it."""
    given = Run(
        name="News",
        state=state,
        due_told="Thu 2026-12-03 09:00 CET",
        duration_ms=took_ms,
    )
    begun = state not in (Run.MISSED, Run.SKIPPED, Run.LATE)
    if begun:
        given.started_at.FromDatetime(datetime.datetime(2026, 12, 3))
        given.ended_at.FromDatetime(datetime.datetime(2026, 12, 3))
    if more is not None:
        given.MergeFrom(more)
    return given


@pytest.mark.spec("K-14")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (run(), "done · 3 s"),
        (run(Run.DELIVERED, more=Run(late_ms=59_999)), "done and shown · 3 s"),
        (run(more=Run(late_ms=60_000)), "done · 60 s late · 3 s"),
        (run(more=Run(late_ms=12 * 60_000)), "done · 12 min late · 3 s"),
        (run(more=Run(late_ms=50 * 3_600_000)), "done · 2 days late · 3 s"),
        (run(took_ms=200, more=Run(by_hand=True)), "done · under 1 s · by hand"),
        (
            run(Run.FAILED, 400_000, more=Run(attempts=3, reason="no_model")),
            "failed · 6 min · 3 attempts: no_model",
        ),
        (run(Run.MISSED), "missed"),
        (run(Run.SKIPPED, more=Run(reason="another run went on")), "left out: another run went on"),
        (run(Run.LATE), "waits for the one before"),
    ],
)
def test_a_run_says_what_became_of_it(given: Run, says: str) -> None:
    view = schedule_views.history([given], "News", ID)
    assert shown(view) == f"What became of News:\n• Thu 2026-12-03 09:00 CET – {says}"
    every = schedule_views.history([given])
    assert shown(every).endswith(f"\n• News, Thu 2026-12-03 09:00 CET – {says}")
    assert not every.rows


def test_no_runs_are_said() -> None:
    assert shown(schedule_views.history([], "News", ID)).endswith(texts.RUNS_NONE)


# --- results


def task(state: common_pb2.TaskState.ValueType, answer: str, reason: str = "") -> tasks_pb2.Task:
    return tasks_pb2.Task(
        task_id="task-" + "a" * 32, kind="answer", state=state, answer=answer, reason=reason
    )


@pytest.mark.spec("C-05")
@pytest.mark.parametrize(
    ("ended", "given", "says"),
    [
        (task(common_pb2.COMPLETED, "All **well**."), run(), "⏰ News\nAll well."),
        (
            task(common_pb2.COMPLETED, "All well."),
            run(more=Run(late_ms=12 * 60_000)),
            "⏰ News · 12 min late\nAll well.",
        ),
        (
            task(common_pb2.COMPLETED, "(exit code 2)"),
            run(Run.FAILED),
            "⏰ News failed\n(exit code 2)",
        ),
        (
            task(common_pb2.FAILED, "", "it took too long"),
            run(Run.FAILED, more=Run(late_ms=3 * 3_600_000)),
            "⏰ News failed · 3 h late\nfailed: it took too long",
        ),
        (
            task(common_pb2.FAILED, "half", "it took too long"),
            run(Run.FAILED),
            "⏰ News failed\nfailed: it took too long\n\nhalf",
        ),
        (task(common_pb2.COMPLETED, "x", ""), run(more=Run(name="@all #x")), "⏰ @all #x\nx"),
    ],
)
def test_a_result_is_headed_by_its_schedule(ended: tasks_pb2.Task, given: Run, says: str) -> None:
    (part,) = finals.final(ended, (), given).parts
    assert part.text == says


def test_a_title_pings_nobody() -> None:
    given = run()
    given.name = "@all #x"
    (part,) = finals.final(task(common_pb2.COMPLETED, "x"), (), given).parts
    assert [one.kind for one in part.entities if one.offset >= 2].count("code") == 2


def test_a_long_result_is_a_file() -> None:
    final = finals.final(task(common_pb2.COMPLETED, "word " * 5000), (), run())
    assert final.document is not None
    assert final.parts[0].text.startswith("⏰ News\nword")
