"""Every field of requests about schedules is read back from what it did."""

from collections.abc import Callable, Iterator

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    channels_pb2,
    common_pb2,
    projects_pb2,
    schedules_pb2,
)
from tests import running_daemon
from tests.integration.rpc import covered, methods, work

covers = covered.covers
refused = covered.refused
_Policy = schedules_pb2.SchedulePolicy
_ACCOUNT = "telegram:planner"
DAILY = "every day at 09:30"
NEVER_SOON = "at 2190-01-05 16:54"


@pytest.fixture(scope="module")
def bot(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> Iterator[running_daemon.Api]:
    """The way of a bot of its own."""
    scopes = [admin_pb2.Token.RUN, admin_pb2.Token.READ, admin_pb2.Token.CHANNEL]
    request = admin_pb2.CreateTokenRequest(
        name="planner-bot", scopes=scopes, platform="telegram", account="planner"
    )
    secret = api.admin.CreateToken(request).secret
    with daemon.channel() as channel:
        opened = running_daemon.Api(channel, secret)
        for user in ("42", "43"):
            opened.channels.Pair(channels_pb2.PairRequest(origin=origin(user)))
            word = channels_pb2.DecidePairingRequest(principal=f"{_ACCOUNT}:{user}", allow=True)
            api.channels.DecidePairing(word)
        yield opened


def origin(user: str = "42", chat: str = "42", topic: str = "") -> common_pb2.Origin:
    """A person of the bot's who may talk."""
    return common_pb2.Origin(principal=f"{_ACCOUNT}:{user}", chat=chat, topic=topic)


def made(
    api: running_daemon.Api, text: str = "say it", when: str = DAILY, **more: object
) -> schedules_pb2.Schedule:
    request = schedules_pb2.CreateScheduleRequest(text=text, when=when, zone="UTC")
    for name, value in more.items():
        setattr(request, name, value)
    return api.schedules.Create(request)


@covers(schedules_pb2.PreviewRequest, "when", "zone", "count")
def test_preview(api: running_daemon.Api) -> None:
    heard = api.schedules.Preview(
        schedules_pb2.PreviewRequest(when="every weekday at 8", zone="Europe/Berlin", count=5)
    )
    assert heard.when == "every mon,tue,wed,thu,fri at 08:00"
    assert heard.zone == "Europe/Berlin"
    assert len(heard.next) == len(heard.told) == 5
    assert heard.notes
    again = api.schedules.Preview(schedules_pb2.PreviewRequest(when=heard.when, zone=heard.zone))
    assert (again.when, list(again.told), list(again.notes)) == (heard.when, heard.told[:3], [])


POLICY = _Policy(
    missed=_Policy.RUN_ALL,
    catch_up=7,
    grace_seconds=120,
    overlap=_Policy.WAIT,
    tell=_Policy.ON_CHANGE,
    to=schedules_pb2.ChatTarget(account=_ACCOUNT, chat="-5", topic="3"),
    retries=2,
    backoff_seconds=9,
    pause_after_failures=3,
    most_runs=11,
    deadline_seconds=600,
    approval_seconds=60,
)


@covers(
    schedules_pb2.CreateScheduleRequest,
    *("origin", "name", "text", "kind", "when", "zone", "mode", "folder", "profile"),
    *("policy", "client_key"),
)
@covers(_Policy, *(field.name for field in _Policy.DESCRIPTOR.fields if field.name != "no_chat"))
@covers(schedules_pb2.ChatTarget, "account", "chat", "topic")
@covers(schedules_pb2.GetScheduleRequest, "schedule_id", "origin")
def test_create(api: running_daemon.Api) -> None:
    project = api.projects.Create(projects_pb2.CreateProjectRequest(name="planned"))
    request = schedules_pb2.CreateScheduleRequest(
        origin=common_pb2.Origin(channel="script"),
        name="Morning",
        text="env true",
        kind=schedules_pb2.Schedule.COMMAND,
        when=DAILY,
        zone="Europe/Berlin",
        mode=common_pb2.PLAN,
        folder="planned",
        policy=POLICY,
        client_key="fields create schedule",
    )
    kept = api.schedules.Create(request)
    assert api.schedules.Create(request).schedule_id == kept.schedule_id
    assert (kept.name, kept.text, kept.kind) == ("Morning", "env true", request.kind)
    assert (kept.principal, kept.mode) == ("local:owner", common_pb2.PLAN)
    assert kept.folder == project.folder
    assert (kept.times.when, kept.times.zone) == (DAILY, "Europe/Berlin")
    assert kept.policy == POLICY
    found = api.schedules.Get(
        schedules_pb2.GetScheduleRequest(schedule_id=kept.schedule_id, origin=request.origin)
    )
    assert found == kept
    request.client_key, request.profile = "", "nobody's"
    assert refused(lambda: api.schedules.Create(request)) is grpc.StatusCode.NOT_FOUND


def test_words_are_refused_with_what_they_mean(api: running_daemon.Api) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        made(api, when="every weekday at 8")
    code, sentence = methods.fault(caught.value)
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "every mon,tue,wed,thu,fri at 08:00" in sentence


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("when", "sometime", grpc.StatusCode.INVALID_ARGUMENT),
        ("when", "at 2020-01-05 16:54", grpc.StatusCode.INVALID_ARGUMENT),
        ("when", "0 9 31 2 *", grpc.StatusCode.INVALID_ARGUMENT),
        ("zone", "Europe/Atlantis", grpc.StatusCode.INVALID_ARGUMENT),
        ("text", " ", grpc.StatusCode.INVALID_ARGUMENT),
        ("folder", "nowhere", grpc.StatusCode.NOT_FOUND),
    ],
)
def test_what_cannot_be_kept(
    api: running_daemon.Api, field: str, value: str, code: grpc.StatusCode
) -> None:
    assert refused(lambda: made(api, **{field: value})) is code


@pytest.mark.parametrize(
    "policy",
    [
        _Policy(catch_up=0),
        _Policy(retries=11),
        _Policy(backoff_seconds=0),
        _Policy(grace_seconds=-1),
        _Policy(approval_seconds=1),
        _Policy(to=schedules_pb2.ChatTarget(account="local:owner", chat="5")),
        _Policy(to=schedules_pb2.ChatTarget(account=_ACCOUNT)),
    ],
    ids=str,
)
def test_what_no_policy_is(api: running_daemon.Api, policy: schedules_pb2.SchedulePolicy) -> None:
    request = schedules_pb2.CreateScheduleRequest(text="x", when=DAILY, policy=policy)
    assert refused(lambda: api.schedules.Create(request)) is grpc.StatusCode.INVALID_ARGUMENT


@covers(
    schedules_pb2.UpdateScheduleRequest,
    *("origin", "schedule_id", "name", "text", "kind", "when", "zone", "mode", "folder"),
    *("profile", "policy", "client_key"),
)
@covers(_Policy, "no_chat")
def test_update(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    before = bot.schedules.Create(
        schedules_pb2.CreateScheduleRequest(text="x", when=DAILY, origin=origin())
    )
    assert before.policy.to.chat == "42"
    request = schedules_pb2.UpdateScheduleRequest(
        origin=origin(),
        schedule_id=before.schedule_id,
        name="Other",
        text="env true",
        kind=schedules_pb2.Schedule.COMMAND,
        when="30 7 * * 1-5",
        zone="America/New_York",
        mode=common_pb2.PLAN,
        folder="",
        policy=_Policy(no_chat=True, retries=3),
        client_key="fields update schedule",
    )
    after = bot.schedules.Update(request)
    assert bot.schedules.Update(request) == after
    assert (after.name, after.text, after.kind) == ("Other", "env true", request.kind)
    assert (after.times.when, after.times.zone) == ("30 7 * * 1-5", "America/New_York")
    assert (after.mode, after.folder, after.profile) == (common_pb2.PLAN, "", "")
    expected = _Policy()
    expected.CopyFrom(before.policy)
    expected.ClearField("to")
    expected.no_chat, expected.retries = True, 3
    assert after.policy == expected
    unknown = schedules_pb2.UpdateScheduleRequest(
        origin=origin(), schedule_id=before.schedule_id, profile="nobody's"
    )
    assert refused(lambda: bot.schedules.Update(unknown)) is grpc.StatusCode.NOT_FOUND
    nothing = schedules_pb2.UpdateScheduleRequest(schedule_id=before.schedule_id)
    assert refused(lambda: api.schedules.Update(nothing)) is grpc.StatusCode.INVALID_ARGUMENT


@covers(schedules_pb2.PauseScheduleRequest, "schedule_id", "origin", "client_key")
@covers(schedules_pb2.ResumeScheduleRequest, "schedule_id", "origin", "client_key")
@covers(schedules_pb2.PauseAllRequest, "origin", "client_key")
@covers(schedules_pb2.ResumeAllRequest, "origin", "client_key")
@covers(schedules_pb2.ListSchedulesRequest, "origin")
def test_pause_and_list(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    mine = made(api)
    theirs = bot.schedules.Create(
        schedules_pb2.CreateScheduleRequest(text="x", when=DAILY, origin=origin())
    )
    paused = schedules_pb2.Schedule.PAUSED
    one = schedules_pb2.PauseScheduleRequest(
        schedule_id=theirs.schedule_id, client_key="fields pause", origin=origin()
    )
    assert bot.schedules.Pause(one).state == bot.schedules.Pause(one).state == paused
    on = schedules_pb2.ResumeScheduleRequest(
        schedule_id=theirs.schedule_id, client_key="fields resume", origin=origin()
    )
    active = schedules_pb2.Schedule.ACTIVE
    assert bot.schedules.Resume(on).state == bot.schedules.Resume(on).state == active
    listed = api.schedules.List(schedules_pb2.ListSchedulesRequest())
    assert {mine.schedule_id, theirs.schedule_id} <= {x.schedule_id for x in listed.schedules}
    own = bot.schedules.List(schedules_pb2.ListSchedulesRequest(origin=origin("43")))
    assert not own.schedules
    stopped = api.schedules.PauseAll(schedules_pb2.PauseAllRequest(client_key="fields all"))
    assert {x.state for x in stopped.schedules} == {paused}
    nobody = bot.schedules.PauseAll(schedules_pb2.PauseAllRequest(origin=origin("43")))
    assert not nobody.schedules
    again = api.schedules.ResumeAll(schedules_pb2.ResumeAllRequest(client_key="fields on"))
    assert {x.state for x in again.schedules} == {active}
    nobody = bot.schedules.ResumeAll(schedules_pb2.ResumeAllRequest(origin=origin("43")))
    assert not nobody.schedules


@covers(schedules_pb2.RunNowRequest, "schedule_id", "origin", "client_key")
@covers(schedules_pb2.StopScheduleRequest, "schedule_id", "origin", "client_key")
@covers(schedules_pb2.ListRunsRequest, "schedule_id", "origin", "page")
@covers(schedules_pb2.DeleteScheduleRequest, "schedule_id", "origin", "client_key")
def test_runs(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    kept = made(api, text="say it", name="Said")
    run = schedules_pb2.RunNowRequest(schedule_id=kept.schedule_id, client_key="fields run")
    began = api.schedules.RunNow(run)
    assert api.schedules.RunNow(run) == began
    work.end(api, began.task_id)
    first = schedules_pb2.ListRunsRequest(schedule_id=kept.schedule_id)
    (done,) = api.schedules.ListRuns(first).runs
    assert (done.state, done.task_id, done.by_hand) == (
        schedules_pb2.Run.DONE,
        began.task_id,
        True,
    )
    assert (done.name, done.attempts) == ("Said", 1)
    slow = made(api, text="endless")
    going = api.schedules.RunNow(schedules_pb2.RunNowRequest(schedule_id=slow.schedule_id))
    again = schedules_pb2.RunNowRequest(schedule_id=slow.schedule_id)
    assert refused(lambda: api.schedules.RunNow(again)) is grpc.StatusCode.FAILED_PRECONDITION
    stop = schedules_pb2.StopScheduleRequest(schedule_id=slow.schedule_id, client_key="fields stop")
    assert not api.schedules.Stop(stop).HasField("live")
    assert api.schedules.Stop(stop).schedule_id == slow.schedule_id
    assert work.task(api, going.task_id).state == common_pb2.CANCELLED
    page = common_pb2.Page(size=1)
    newest = api.schedules.ListRuns(schedules_pb2.ListRunsRequest(page=page))
    assert [x.task_id for x in newest.runs] == [going.task_id]
    page.token = newest.next_page_token
    after = api.schedules.ListRuns(schedules_pb2.ListRunsRequest(page=page))
    assert [x.task_id for x in after.runs] == [began.task_id]
    theirs = schedules_pb2.ListRunsRequest(origin=origin("43"))
    assert not bot.schedules.ListRuns(theirs).runs
    delete = schedules_pb2.DeleteScheduleRequest(
        schedule_id=kept.schedule_id, client_key="fields delete"
    )
    api.schedules.Delete(delete)
    api.schedules.Delete(delete)
    gone = schedules_pb2.GetScheduleRequest(schedule_id=kept.schedule_id)
    assert refused(lambda: api.schedules.Get(gone)) is grpc.StatusCode.NOT_FOUND
    assert [x.task_id for x in api.schedules.ListRuns(first).runs] == [began.task_id]


@covers(schedules_pb2.RehearseRequest, "schedule_id", "origin", "client_key")
def test_rehearse(api: running_daemon.Api) -> None:
    kept = made(api, text="env echo allowed", kind=schedules_pb2.Schedule.COMMAND)
    assert not kept.allowed
    request = schedules_pb2.RehearseRequest(
        schedule_id=kept.schedule_id, client_key="fields rehearse"
    )
    asked = api.schedules.Rehearse(request)
    assert api.schedules.Rehearse(request) == asked
    approval_id = work.pending(api, asked.task_id)
    work.resolve(api, approval_id, approvals_pb2.ALLOW_ALWAYS)
    work.end(api, asked.task_id)
    found = api.schedules.Get(schedules_pb2.GetScheduleRequest(schedule_id=kept.schedule_id))
    assert found.allowed
    unasked = api.schedules.RunNow(schedules_pb2.RunNowRequest(schedule_id=kept.schedule_id))
    assert "allowed" in work.end(api, unasked.task_id).answer
    changed = schedules_pb2.UpdateScheduleRequest(
        schedule_id=kept.schedule_id, text="env echo other"
    )
    assert not api.schedules.Update(changed).allowed


def test_others_do_not_find_it(bot: running_daemon.Api) -> None:
    kept = bot.schedules.Create(
        schedules_pb2.CreateScheduleRequest(text="x", when=DAILY, origin=origin())
    )
    schedule_id, there = kept.schedule_id, origin("43", "43")
    calls = bot.schedules
    asked: list[Callable[[], object]] = [
        lambda: calls.Get(schedules_pb2.GetScheduleRequest(schedule_id=schedule_id, origin=there)),
        lambda: calls.Update(
            schedules_pb2.UpdateScheduleRequest(schedule_id=schedule_id, origin=there, text="y")
        ),
        lambda: calls.Delete(
            schedules_pb2.DeleteScheduleRequest(schedule_id=schedule_id, origin=there)
        ),
        lambda: calls.Pause(
            schedules_pb2.PauseScheduleRequest(schedule_id=schedule_id, origin=there)
        ),
        lambda: calls.Resume(
            schedules_pb2.ResumeScheduleRequest(schedule_id=schedule_id, origin=there)
        ),
        lambda: calls.RunNow(schedules_pb2.RunNowRequest(schedule_id=schedule_id, origin=there)),
        lambda: calls.Rehearse(
            schedules_pb2.RehearseRequest(schedule_id=schedule_id, origin=there)
        ),
        lambda: calls.Stop(
            schedules_pb2.StopScheduleRequest(schedule_id=schedule_id, origin=there)
        ),
    ]
    for call in asked:
        assert refused(call) is grpc.StatusCode.NOT_FOUND


def test_somebody_else_s_chat_is_not_told(bot: running_daemon.Api) -> None:
    elsewhere = _Policy(to=schedules_pb2.ChatTarget(account=_ACCOUNT, chat="44"))
    request = schedules_pb2.CreateScheduleRequest(
        text="x", when=DAILY, origin=origin(), policy=elsewhere
    )
    assert refused(lambda: bot.schedules.Create(request)) is grpc.StatusCode.PERMISSION_DENIED
    request.policy.to.chat = "42"
    assert bot.schedules.Create(request).policy.to.chat == "42"
