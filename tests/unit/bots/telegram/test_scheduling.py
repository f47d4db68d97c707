"""What /schedule and its buttons ask of the daemon: by whom, under which key, and nothing else."""

import json
import typing
from collections.abc import AsyncGenerator, Callable

import grpc
import pytest

from bots import client
from bots.telegram import buttons, drafts, replies, scheduling, texts
from proto.ducklm.v1 import artifacts_pb2, channels_pb2, common_pb2, schedules_pb2, tasks_pb2
from tests.unit.bots.telegram import receiving

ID = "schedule-" + "0" * 28 + "7f3a"
ART = "ab" * 32
KEEP, CANCEL = (buttons.Draft(keeps=one, artifact_id=ART) for one in (True, False))
LIMIT_S = 20.0
NOT_FOUND = client.CallFault(grpc.StatusCode.NOT_FOUND, "There is no schedule.")
NEWS = schedules_pb2.Schedule(
    schedule_id=ID, name="News", times=schedules_pb2.Times(when="every 2h", zone="UTC")
)
DRAFT = drafts.Draft("telegram:77:5", "key", "every 2h", "UTC", "go", is_command=True)


class Daemon(receiving.Daemon):
    """Has one schedule, and the bytes of one draft."""

    def __init__(self) -> None:
        super().__init__()
        self.data = drafts.written(DRAFT)
        self.answers |= {
            "schedules.List": schedules_pb2.ListSchedulesResponse(schedules=[NEWS]),
            "schedules.Get": NEWS,
            "schedules.Create": NEWS,
            "schedules.Update": NEWS,
            "schedules.Preview": NEWS.times,
            "schedules.ListRuns": schedules_pb2.ListRunsResponse(),
            "schedules.Stop": NEWS,
            "schedules.Pause": NEWS,
            "schedules.Resume": NEWS,
            "schedules.PauseAll": schedules_pb2.ListSchedulesResponse(schedules=[NEWS]),
            "schedules.ResumeAll": schedules_pb2.ListSchedulesResponse(schedules=[NEWS]),
            "schedules.Rehearse": schedules_pb2.RunNowResponse(task_id="t"),
            "artifacts.Put": artifacts_pb2.PutArtifactResponse(artifact_id=ART),
        }

    async def stream(
        self,
        method: Callable[..., typing.Any],
        request: object,
        idle_s: float | None = None,
    ) -> AsyncGenerator[typing.Any]:
        self.asked.append(("artifacts.Get", request))
        for start in range(0, len(self.data), 1000):
            yield artifacts_pb2.ArtifactChunk(data=self.data[start : start + 1000])

    def one(self, method: str) -> typing.Any:
        """What was asked by that method, once."""
        (found,) = [request for asked, request in self.asked if asked == method]
        return found


class Stage:
    def __init__(self) -> None:
        self.daemon = Daemon()
        self.look = channels_pb2.LookResponse(allowed=True)

    def doing(self, user: int = 5, key: str = "k") -> scheduling.Scheduling:
        origin = common_pb2.Origin(
            principal=f"telegram:77:{user}", chat="-100", topic="4", message_id="9", speaker="Ann"
        )
        return scheduling.Scheduling(self.daemon, replies.Chat(self.daemon, origin, key))

    async def press(self, press: typing.Any, user: int = 5, key: str = "k") -> scheduling.Pressed:
        return await self.doing(user, key).press(press, self.look)

    async def type(self, argument: str) -> str:
        await self.doing().do(argument)
        said: str = self.daemon.one("channels.Post").text
        return said


@pytest.fixture
async def stage() -> Stage:
    return Stage()


HERE = common_pb2.Origin(principal="telegram:77:5", chat="-100", topic="4")


@pytest.mark.spec("C-05")
async def test_adding_has_the_words_read_and_keeps_no_schedule(stage: Stage) -> None:
    said = await stage.type("add every other hour: `ls`")
    assert [one for one, _ in stage.daemon.asked] == [
        "schedules.Preview",
        "artifacts.Put",
        "channels.Post",
    ]
    assert stage.daemon.one("schedules.Preview").when == "every other hour"
    kept = json.loads(stage.daemon.one("artifacts.Put"))
    assert kept == {
        "principal": "telegram:77:5",
        "key": "k",
        "when": "every 2h",
        "zone": "UTC",
        "text": "ls",
        "is_command": True,
        "schedule_id": "",
    }
    assert "every 2h" in said
    row = stage.daemon.one("channels.Post").rows[0]
    assert [buttons.read(one.data) for one in row.buttons] == [KEEP, CANCEL]


async def test_keeping_says_who_asks_and_where_and_not_in_answer_to_what(stage: Stage) -> None:
    done = await stage.press(KEEP)
    assert done.said == texts.KEPT
    made = stage.daemon.one("schedules.Create")
    assert made.origin == HERE
    assert (made.when, made.zone, made.text) == ("every 2h", "UTC", "go")
    assert made.kind == schedules_pb2.Schedule.COMMAND


async def test_a_draft_is_kept_under_one_key_however_often_it_is_pressed(stage: Stage) -> None:
    for key in ("k1", "k2"):
        assert (await stage.press(KEEP, key=key)).said == texts.KEPT
    requests = [one for method, one in stage.daemon.asked if method == "schedules.Create"]
    assert requests[0] == requests[1]
    assert (await stage.press(CANCEL)).said == texts.KEPT_BEFORE


async def test_a_draft_that_was_given_up_is_kept_by_no_later_press(stage: Stage) -> None:
    assert (await stage.press(CANCEL)).said == texts.NOT_KEPT
    late = await stage.press(KEEP)
    assert (late.said, late.view) == (texts.KEPT_BEFORE, None)


@pytest.mark.parametrize("press", [KEEP, CANCEL])
async def test_nobody_decides_about_a_draft_of_somebody_else(
    stage: Stage, press: buttons.Draft
) -> None:
    done = await stage.press(press, user=6)
    assert (done.said, done.view) == (texts.NOT_YOUR_DRAFT, None)
    assert stage.daemon.lines() == ["artifacts.Get"]


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"x",
            b"[]",
            b"{}",
            b"\xff",
            b"[" * 60_000,
            b"null",
            b'{"principal": "telegram:77:5"}',
        ),
        json.dumps(json.loads(drafts.written(DRAFT)) | {"text": 5}).encode(),
        json.dumps(json.loads(drafts.written(DRAFT)) | {"more": "x"}).encode(),
        drafts.written(DRAFT) + b" " * drafts.MOST_BYTES,
    ],
)
async def test_bytes_that_are_no_draft_are_not_kept(stage: Stage, data: bytes) -> None:
    stage.daemon.data = data
    assert (await stage.press(KEEP)).said == texts.OLD_BUTTON
    assert stage.daemon.lines() == ["artifacts.Get"]


async def test_another_time_for_a_schedule_is_kept_like_a_new_one(stage: Stage) -> None:
    await stage.type("set 7f3a when every other hour")
    assert stage.daemon.one("schedules.Preview").zone == "UTC"
    assert json.loads(stage.daemon.one("artifacts.Put"))["schedule_id"] == ID
    stage.daemon.data = stage.daemon.one("artifacts.Put")
    assert (await stage.press(KEEP)).said == texts.KEPT
    changed = stage.daemon.one("schedules.Update")
    assert (changed.schedule_id, changed.when, changed.zone) == (ID, "every 2h", "UTC")
    assert not changed.HasField("text")


async def test_a_refusal_is_raised_for_others_to_tell(stage: Stage) -> None:
    stage.daemon.faults["schedules.Create"] = [NOT_FOUND]
    with pytest.raises(client.CallFault):
        await stage.press(KEEP)


@pytest.mark.spec("K-14")
@pytest.mark.parametrize(
    ("action", "asked", "said"),
    [
        ("show", "", ""),
        ("run", "schedules.RunNow", texts.RUN_STARTED),
        ("stop", "schedules.Stop", texts.RUN_STOPPED),
        ("pause", "schedules.Pause", texts.PAUSED_TOAST),
        ("resume", "schedules.Resume", texts.RESUMED_TOAST),
        ("delete", "", ""),
        ("runs", "schedules.ListRuns", ""),
    ],
)
async def test_what_a_button_asks_and_what_is_shown_then(
    stage: Stage, action: str, asked: str, said: str
) -> None:
    done = await stage.press(buttons.Schedule(action, ID))
    assert done.said == said
    assert done.view is not None
    assert "News" in done.view.text
    methods = [one for one, _ in stage.daemon.asked]
    looks = [] if action in ("stop", "pause", "resume") else ["schedules.Get"]
    assert sorted(methods) == sorted(filter(None, [*looks, asked]))
    if asked:
        request = stage.daemon.one(asked)
        assert (request.schedule_id, request.origin) == (ID, HERE)
        assert action == "runs" or request.client_key.startswith("k ")


async def test_erasing_deletes_and_leaves_nothing_to_press(stage: Stage) -> None:
    done = await stage.press(buttons.Schedule("erase", ID))
    assert done.said == texts.DELETED_TOAST
    assert done.view is not None
    assert (done.view.text, done.view.rows) == ("News is deleted\\.", [])
    assert stage.daemon.one("schedules.Delete").schedule_id == ID


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([common_pb2.AWAITING_APPROVAL], texts.ALLOW_ASKED),
        ([common_pb2.QUEUED, common_pb2.RUNNING, common_pb2.AWAITING_APPROVAL], texts.ALLOW_ASKED),
        ([common_pb2.COMPLETED], "It may run."),
    ],
)
async def test_allowing_says_where_the_question_is_or_what_came_of_it(
    stage: Stage, states: list[common_pb2.TaskState.ValueType], said: str
) -> None:
    tasks = [tasks_pb2.Task(state=one, answer="It may run.") for one in states]
    stage.daemon.answers["tasks.Get"] = tasks[0]
    answer = stage.daemon._answer

    def next_answer(method: str, request: typing.Any) -> typing.Any:
        return tasks.pop(0) if method == "tasks.Get" else answer(method, request)

    stage.daemon._answer = next_answer  # type: ignore[method-assign]
    assert (await stage.press(buttons.Schedule("allow", ID))).said == said


@pytest.mark.parametrize(
    ("user", "whose", "said", "shown"),
    [
        (5, "telegram:77:5", "", True),
        (5, "", "", True),
        (6, "telegram:77:5", texts.NOT_YOUR_LIST, False),
    ],
)
async def test_a_list_is_turned_by_whoever_asked_for_it(
    stage: Stage, user: int, whose: str, said: str, shown: bool
) -> None:
    stage.look.replied_to.principal = whose
    done = await stage.press(buttons.Schedules(0), user=user)
    assert (done.said, done.view is not None) == (said, shown)


@pytest.mark.parametrize(
    ("typed", "asked", "says"),
    [
        ("", "schedules.List", "Nothing is scheduled"),  # in this group
        ("runs", "schedules.ListRuns", "What became of what was scheduled"),
        ("runs 7f3a", "schedules.ListRuns", "What became of News"),
        ("show 7f3a", "schedules.Get", "News"),
        ("run 7f3a", "schedules.RunNow", "It begins"),
        ("pauseall", "schedules.PauseAll", "All paused"),
        ("resumeall", "schedules.ResumeAll", "All go on"),
        ("set 7f3a retries 3", "schedules.Update", "Done"),
        ("delete 7f3a", "schedules.Get", "Delete"),
        ("show dddd", "schedules.List", "There is no schedule dddd"),
        ("dance", "channels.Post", "knows no"),
    ],
)
async def test_what_is_typed_asks_for_just_that(
    stage: Stage, typed: str, asked: str, says: str
) -> None:
    assert says in await stage.type(typed)
    assert asked in [one for one, _ in stage.daemon.asked]


async def test_here_is_the_chat_and_topic_that_it_is_said_in(stage: Stage) -> None:
    await stage.type("set 7f3a here")
    to = stage.daemon.one("schedules.Update").policy.to
    assert (to.account, to.chat, to.topic) == ("telegram:77", "-100", "4")


@pytest.mark.parametrize(
    ("action", "method"), [("stop", "schedules.Stop"), ("resume", "schedules.Resume")]
)
async def test_what_is_over_by_a_press_is_said_so_and_has_no_buttons(
    stage: Stage, action: str, method: str
) -> None:
    over = schedules_pb2.Schedule(schedule_id=ID, name="News", state=schedules_pb2.Schedule.OVER)
    stage.daemon.answers[method] = over
    done = await stage.press(buttons.Schedule(action, ID))
    assert done.view is not None
    assert "is over" in done.view.text
    assert done.view.rows == []


@pytest.mark.parametrize(
    ("typed", "when", "zone"),
    [
        ("when every 3h", "every 3h", "UTC"),
        ("zone Europe/Berlin", "every 2h", "Europe/Berlin"),
    ],
)
async def test_other_times_and_another_zone_are_shown_before_they_are_kept(
    stage: Stage, typed: str, when: str, zone: str
) -> None:
    await stage.type(f"set {ID[-4:]} {typed}")
    asked = stage.daemon.one("schedules.Preview")
    assert (asked.when, asked.zone) == (when, zone)
    assert "schedules.Update" not in [method for method, _ in stage.daemon.asked]
    row = stage.daemon.one("channels.Post").rows[0]
    assert [buttons.read(one.data) for one in row.buttons] == [KEEP, CANCEL]
