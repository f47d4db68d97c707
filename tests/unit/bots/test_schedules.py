"""`ducklm schedule add` and `edit`: nothing is kept that was not shown as it was understood."""

import json
from collections.abc import Sequence

import pytest
from google.protobuf import json_format

from bots import texts
from proto.ducklm.v1 import common_pb2, schedules_pb2
from tests.unit.bots import scheduled, stage

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("C-05")]
POLICY = schedules_pb2.SchedulePolicy
ADD = ["schedule", "add", "mondays and fridays at 8", "What is new?"]
EDIT = ["schedule", "edit", "22cc"]


def test_what_was_understood_is_shown_and_then_kept() -> None:
    def script(daemon: stage.Daemon) -> None:
        previewed, request = scheduled.keeps(daemon)
        assert previewed == schedules_pb2.PreviewRequest(when=ADD[2], zone="", count=3)
        expected = schedules_pb2.CreateScheduleRequest(
            origin=common_pb2.Origin(channel="terminal"),
            text="What is new?",
            when=scheduled.RULE,
            zone="Europe/Berlin",
            policy=schedules_pb2.SchedulePolicy(),
            client_key="key-1",
        )
        assert request == expected

    played = stage.play(ADD, script, typed=["y"])
    assert played.code == 0
    assert played.lines == [
        "when          every mon,fri at 08:00 (Europe/Berlin)",
        "next          Fri 2026-12-04 08:00 CET",
        "              Mon 2026-12-07 08:00 CET",
        "              Fri 2026-12-11 08:00 CET",
        "note          8 is read as 08:00\\x1b[2J",
        texts.SCHEDULE_HINT_TO,
    ]
    assert played.person.questions == [texts.SCHEDULE_PROMPT]
    assert played.stdout.startswith("bb22cc  Fri 2026-12-04 08:00 CET ")


@pytest.mark.parametrize("typed", [[], [""], ["n"], ["maybe"], [KeyboardInterrupt()]])
def test_without_a_yes_nothing_is_kept(typed: list[str | KeyboardInterrupt]) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Schedules.Preview", scheduled.HEARD)

    played = stage.play(ADD, script, typed=typed)
    assert (played.code, played.stdout) == (1, "")
    assert played.lines[-1] == texts.SCHEDULE_NOT_KEPT


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_where_nobody_can_say_yes_it_is_shown_and_not_kept(more: list[str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Schedules.Preview", scheduled.HEARD)

    played = stage.play([*ADD, *more], script, setting=stage.PIPES)
    assert (played.code, played.stdout) == (2, "")
    assert played.lines[0] == "when          every mon,fri at 08:00 (Europe/Berlin)"
    assert played.lines[-1] == texts.SCHEDULE_NOT_SURE


def test_a_script_says_yes_beforehand_and_has_json_alone() -> None:
    def script(daemon: stage.Daemon) -> None:
        assert scheduled.keeps(daemon)[1].text == "from a pipe\nof two lines"

    typed = stage.Setting(False, False, stdin="from a pipe\nof two lines\n")
    played = stage.play([*ADD[:3], "-", "--yes", "--json"], script, setting=typed)
    assert (played.code, played.stderr) == (0, "")
    assert json_format.Parse(played.stdout, schedules_pb2.Schedule()) == scheduled.DIGEST


def test_a_command_says_how_it_is_allowed() -> None:
    made = schedules_pb2.Schedule()
    made.CopyFrom(scheduled.BACKUP)
    made.allowed = False

    def script(daemon: stage.Daemon) -> None:
        assert scheduled.keeps(daemon, made)[1].kind == schedules_pb2.Schedule.COMMAND

    played = stage.play([*ADD, "--command"], script, typed=["yes"])
    assert played.lines[-1] == texts.SCHEDULE_HINT_ALLOW.format(id="bb33dd")


POLICIES = [
    (["--missed", "skip"], POLICY(missed=POLICY.SKIP)),
    (["--missed", "once"], POLICY(missed=POLICY.RUN_ONCE)),
    (["--missed", "all"], POLICY(missed=POLICY.RUN_ALL)),
    (["--missed", "all:3"], POLICY(missed=POLICY.RUN_ALL, catch_up=3)),
    (["--grace", "0"], POLICY(grace_seconds=0)),
    (["--overlap", "skip"], POLICY(overlap=POLICY.LEAVE_OUT)),
    (["--overlap", "wait"], POLICY(overlap=POLICY.WAIT)),
    (["--tell", "always"], POLICY(tell=POLICY.ALWAYS)),
    (["--tell", "failure"], POLICY(tell=POLICY.ON_FAILURE)),
    (["--tell", "change"], POLICY(tell=POLICY.ON_CHANGE)),
    (["--tell", "never"], POLICY(tell=POLICY.NEVER)),
    (
        ["--to", "telegram:1/-2"],
        POLICY(to=schedules_pb2.ChatTarget(account="telegram:1", chat="-2")),
    ),
    (
        ["--to", "telegram:1/-2/3"],
        POLICY(to=schedules_pb2.ChatTarget(account="telegram:1", chat="-2", topic="3")),
    ),
    (["--to", "none"], POLICY(no_chat=True)),
    (["--retries", "2", "--backoff", "5"], POLICY(retries=2, backoff_seconds=5)),
    (["--pause-after", "0"], POLICY(pause_after_failures=0)),
    (["--most", "7"], POLICY(most_runs=7)),
    (["--deadline", "60"], POLICY(deadline_seconds=60)),
    (["--approval", "0"], POLICY(approval_seconds=0)),
]


@pytest.mark.parametrize(("options", "policy"), POLICIES)
def test_every_field_of_a_policy_is_an_option_of_both(
    options: list[str], policy: schedules_pb2.SchedulePolicy
) -> None:
    def adds(daemon: stage.Daemon) -> None:
        assert scheduled.keeps(daemon)[1].policy == policy

    def edits(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.DIGEST)
        request = daemon.answer("Schedules.Update", scheduled.DIGEST)
        assert request == schedules_pb2.UpdateScheduleRequest(
            origin=common_pb2.Origin(channel="terminal"),
            schedule_id=scheduled.DIGEST.schedule_id,
            policy=policy,
            client_key="key-1",
        )

    assert stage.play([*ADD, *options], adds, typed=["y"]).code == 0
    assert stage.play([*EDIT, *options], edits).code == 0


def test_no_field_of_a_policy_lacks_an_option() -> None:
    fields = {field.name for _, policy in POLICIES for field, _ in policy.ListFields()}
    assert fields == {field.name for field in POLICY.DESCRIPTOR.fields}


WORK = [
    (["--name", "n"], {"name": "n"}),
    (["--zone", "UTC"], {}),
    (["--project", "ducks"], {"folder": "ducks"}),
    (["--project", "/p/../q"], {"folder": "/q"}),
    (["--project", "~/a"], {"folder": "/nonexistent/a"}),
    (["--profile", "careful"], {"profile": "careful"}),
    (["--mode", "plan"], {"mode": "PLAN"}),
    (["--command"], {"kind": "COMMAND"}),
    (["--agent"], {"kind": "AGENT"}),
]


@pytest.mark.parametrize(("options", "said"), WORK)
def test_what_a_new_one_is_told(options: list[str], said: dict[str, str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        previewed, request = scheduled.keeps(daemon)
        assert previewed.zone == ("UTC" if "--zone" in options else "")
        given = json_format.MessageToDict(request)
        assert {name: given.get(name) for name in said} == said

    assert stage.play([*ADD, *options], script, typed=["y"]).code == 0


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (["--name", "n", "--text", "t"], {"name": "n", "text": "t"}),
        (["--project", "-", "--profile", "-"], {"folder": "", "profile": ""}),
        (["--mode", "build", "--agent"], {"mode": "BUILD", "kind": "AGENT"}),
    ],
)
def test_only_what_is_named_changes(options: list[str], fields: dict[str, str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.BACKUP, scheduled.DIGEST)
        request = daemon.answer("Schedules.Update", scheduled.DIGEST)
        given = json_format.MessageToDict(request)
        for name in ("origin", "scheduleId", "clientKey", "policy"):
            given.pop(name)
        assert given == fields

    assert stage.play([*EDIT, *options], script).code == 0


@pytest.mark.parametrize(
    ("options", "when", "zone"),
    [
        (["--when", "every day at 9"], "every day at 9", "Europe/Berlin"),
        (["--zone", "UTC"], scheduled.RULE, "UTC"),
        (["--zone", "UTC", "--when", "at noon"], "at noon", "UTC"),
    ],
)
@pytest.mark.parametrize("answer", ["y", "n"])
def test_other_times_are_shown_and_asked_about(
    options: list[str], when: str, zone: str, answer: str
) -> None:
    heard = schedules_pb2.Times(when="the rule", zone="the zone", told=["then"])

    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.DIGEST)
        daemon.answer("Schedules.Get", scheduled.DIGEST)
        request = daemon.answer("Schedules.Preview", heard)
        assert (request.when, request.zone) == (when, zone)
        if answer == "y":
            request = daemon.answer("Schedules.Update", scheduled.DIGEST)
            assert (request.when, request.zone) == ("the rule", "the zone")

    played = stage.play([*EDIT, *options], script, typed=[answer])
    assert played.code == (0 if answer == "y" else 1)
    assert played.lines[:2] == ["when          the rule (the zone)", "next          then"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--missed", "often"], texts.SCHEDULE_MISSED_UNKNOWN),
        (["--missed", "all:"], texts.SCHEDULE_MISSED_UNKNOWN),
        (["--missed", "all:-1"], texts.SCHEDULE_MISSED_UNKNOWN),
        (["--missed", ""], texts.SCHEDULE_MISSED_UNKNOWN),
        (["--overlap", "queue"], "must be one of: skip, wait."),
        (["--tell", "loudly"], "must be one of: always, failure, change, never."),
        (["--to", "telegram"], texts.SCHEDULE_TO_MALFORMED),
        (["--to", "1/2"], texts.SCHEDULE_TO_MALFORMED),
        (["--to", "telegram:1/"], texts.SCHEDULE_TO_MALFORMED),
        (["--to", "telegram:1/2/3/4"], texts.SCHEDULE_TO_MALFORMED),
        (["--mode", "wild"], "The mode must be one of: plan, build, yolo."),
        (["--name", "\udcff"], texts.TEXT_NOT_UTF8),
        (["--to", "telegram:1/\udcff"], texts.TEXT_NOT_UTF8),
    ],
)
@pytest.mark.parametrize("command", [ADD, ["schedule", "edit", "schedule-1"]])
def test_bad_options_teach_before_any_call(
    command: Sequence[str], options: list[str], says: str
) -> None:
    played = stage.play([*command, *options], stage.nothing)
    assert (played.code, played.stdout) == (2, "")
    assert says in played.stderr


@pytest.mark.parametrize("number", ["-1", "1000001", "many"])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    assert stage.play([*ADD, "--retries", number], stage.nothing).code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["schedule", "edit", "22cc"], texts.SCHEDULE_NO_CHANGE),
        (["schedule", "edit", "22cc", "--yes"], texts.SCHEDULE_NO_CHANGE),
        (["schedule", "edit", "22cc", "--text", " "], texts.TEXT_EMPTY),
        (["schedule", "add", "at noon", " "], texts.TEXT_EMPTY),
        (["schedule", "add", "at \udcff", "x"], texts.TEXT_NOT_UTF8),
        (["schedule", "add", "at noon", "\udcff"], texts.TEXT_NOT_UTF8),
        (["schedule", "show", "schedule-\udcff"], texts.TEXT_NOT_UTF8),
    ],
)
def test_bad_arguments_teach_before_any_call(arguments: list[str], says: str) -> None:
    played = stage.play(arguments, stage.nothing)
    assert (played.code, played.lines) == (2, [says])


def test_words_that_are_not_understood_are_told_with_the_daemons_examples() -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.refuses(daemon, '"blue moon" was not understood. Write it like: every 2h.')

    played = stage.play([*ADD, "--yes"], script)
    assert (played.code, played.stdout) == (2, "")
    assert "Write it like: every 2h." in played.lines[0]


def test_an_edit_as_json() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Schedules.Update", scheduled.BACKUP)

    arguments = ["schedule", "edit", "schedule-1", "--name", "n", "--json"]
    played = stage.play(arguments, script, setting=stage.PIPES)
    assert json.loads(played.stdout)["scheduleId"] == scheduled.BACKUP.schedule_id
    assert (played.code, played.stderr) == (0, "")
