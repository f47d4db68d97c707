"""`ducklm schedule` against a real daemon: words become a rule, a rule becomes runs, with and
without a person at the keys."""

from collections.abc import Iterator

import pytest
from google.protobuf import json_format

from bots import texts
from proto.ducklm.v1 import common_pb2, schedules_pb2
from tests import running_daemon
from tests.e2e import terminal
from tests.integration.rpc import work

pytestmark = pytest.mark.spec("C-05")
WEEKDAYS = "every mon,tue,wed,thu,fri at 08:00"
EVERY_OPTION = """
--name N --text T --zone UTC --mode plan --missed skip --grace 5 --overlap wait --retries 2
--backoff 90 --pause-after 0 --most 7 --deadline 3600 --approval 300 --to telegram:1/2/3
--tell change --yes
"""
QUESTION = "Run it? [y]es, once / [a]lways / [N]o / or say why not: "
POLICY = schedules_pb2.SchedulePolicy


@pytest.fixture(autouse=True)
def emptied(api: running_daemon.Api) -> Iterator[None]:
    """A test leaves no schedule behind."""
    yield
    for row in listed(api):
        api.schedules.Delete(schedules_pb2.DeleteScheduleRequest(schedule_id=row.schedule_id))


def listed(api: running_daemon.Api) -> list[schedules_pb2.Schedule]:
    return list(api.schedules.List(schedules_pb2.ListSchedulesRequest()).schedules)


def runs(api: running_daemon.Api, schedule_id: str) -> list[schedules_pb2.Run]:
    request = schedules_pb2.ListRunsRequest(schedule_id=schedule_id)
    return list(api.schedules.ListRuns(request).runs)


def added(api: running_daemon.Api, text: str, command: bool = False) -> schedules_pb2.Schedule:
    heard = api.schedules.Preview(schedules_pb2.PreviewRequest(when="every 2h"))
    kind = schedules_pb2.Schedule.COMMAND if command else schedules_pb2.Schedule.AGENT
    request = schedules_pb2.CreateScheduleRequest(when=heard.when, text=text, kind=kind)
    return api.schedules.Create(request)


@pytest.mark.spec("K-14")
def test_it_is_added_listed_run_and_accounted_for(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    said = ("every weekday at 8", "What is new today?", "--zone", "Europe/Berlin")
    more = ("--name", "Digest", "--missed", "all:3", "--yes", "--json")
    done = terminal.run(daemon, "schedule", "add", *said, *more)
    assert (done.returncode, done.stderr) == (0, "")
    made = json_format.Parse(done.stdout, schedules_pb2.Schedule())
    assert (made.times.when, made.times.zone) == (WEEKDAYS, "Europe/Berlin")
    assert (made.policy.missed, made.policy.catch_up) == (POLICY.RUN_ALL, 3)
    assert [row.schedule_id for row in listed(api)] == [made.schedule_id]
    shown = terminal.run(daemon, "schedule", "list").stdout
    assert shown.startswith(f"{made.schedule_id[-6:]}  {made.times.told[0]} ")
    assert f"{WEEKDAYS} (Europe/Berlin)\n" in shown
    done = terminal.run(daemon, "schedule", "run", made.schedule_id[-6:], "--follow")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Paris.\n", "")
    (run,) = runs(api, made.schedule_id)
    assert (run.state, run.by_hand) == (schedules_pb2.Run.DONE, True)
    told = terminal.run(daemon, "schedule", "runs", "Digest").stdout
    assert f"{run.due_told:<28}  done " in told
    assert f"by hand · {run.task_id}\n" in told


def test_without_a_terminal_nothing_is_kept_unless_it_is_sure(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    done = terminal.run(daemon, "schedule", "add", "every weekday at 8", "hello", "--zone", "UTC")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"when          {WEEKDAYS} (UTC)\nnext          " in done.stderr
    assert "note          8 is read as 08:00" in done.stderr
    assert done.stderr.endswith(f"{texts.SCHEDULE_NOT_SURE}\n")
    assert listed(api) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "every blue moon", "x"), "Write it like one of these: every 2h; every 3d at"),
        (("add", "every 2h", "x", "--zone", "Mars/Base"), "Mars/Base"),
        (("add", "every 2h", "x", "--grace", "999999"), "grace_seconds: at most 604800"),
        (("show", "schedule-0"), "There is no schedule schedule-0"),
    ],
)
def test_bad_input_teaches(
    daemon: running_daemon.RunningDaemon,
    api: running_daemon.Api,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    yes = ("--yes",) if arguments[0] == "add" else ()
    done = terminal.run(daemon, "schedule", *arguments, *yes)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert listed(api) == []


def test_every_setting_is_changed_and_shown(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    made = added(api, "hello")
    edit = ("schedule", "edit", made.schedule_id[-6:], "--when", "every day at 12:30")
    done = terminal.run(daemon, *edit, *EVERY_OPTION.split())
    assert done.returncode == 0, done.stderr
    shown = terminal.run(daemon, "schedule", "show", "N").stdout
    for line in (
        "text          T",
        "when          every day at 12:30 (UTC)",
        "if missed     left out; what is at most 5 s late still runs",
        "if busy       one waits for the run that goes on",
        "results       that differ from the one before, to telegram:1/2/3",
        "if it failed  tried again 2 times, the first after 1 min 30 s, then twice as long",
        "pauses after  never",
        "runs          0 of 7",
        "at most       1 h",
        "waits for yes 5 min",
        "mode          plan",
    ):
        assert f"\n{line}\n" in shown


def test_paused_resumed_and_deleted(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    added(api, "hello")
    for command, state in (
        (("pause", "hello"), "paused"),
        (("resume", "hello"), "active"),
        (("pause-all",), "paused"),
        (("resume-all",), "active"),
    ):
        assert f"  {state}  " in terminal.run(daemon, "schedule", *command).stdout
    assert terminal.run(daemon, "schedule", "delete", "hello").returncode == 2
    assert len(listed(api)) == 1
    done = terminal.run(daemon, "schedule", "delete", "hello", "--yes", "--json")
    assert (done.returncode, done.stdout, listed(api)) == (0, "{}\n", [])


def test_a_run_that_waits_is_stopped(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    made = added(api, "env echo waits", command=True)
    done = terminal.run(daemon, "schedule", "run", made.schedule_id, "--follow")
    assert done.returncode == 4
    assert "because: a scheduled task asks" in done.stderr
    assert runs(api, made.schedule_id)[0].state == schedules_pb2.Run.WAITING
    stopped = terminal.run(daemon, "schedule", "stop", made.schedule_id)
    assert (stopped.returncode, "  active  " in stopped.stdout) == (0, True)
    (run,) = runs(api, made.schedule_id)
    assert (run.state, run.reason) == (schedules_pb2.Run.CANCELLED, "its run was stopped")


@pytest.mark.spec("C-04")
def test_a_command_that_is_allowed_runs_unasked(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    made = added(api, "env echo allowed-now", command=True)
    with terminal.person(daemon, "schedule", "allow", made.schedule_id[-6:]) as person:
        person.sees(texts.SCHEDULE_REHEARSES)
        assert "command: env echo allowed-now" in person.sees(QUESTION)
        person.type("a\n")
        person.sees("From now on each run of the schedule may run this command unasked.")
        assert person.process.wait(terminal.PATIENCE_S) == 0
    assert runs(api, made.schedule_id) == []
    assert listed(api)[0].allowed
    grants = terminal.run(daemon, "grants", "list").stdout
    assert f", in runs of {made.schedule_id} alone\n" in grants
    done = terminal.run(daemon, "schedule", "run", made.schedule_id, "--json")
    begun = json_format.Parse(done.stdout, schedules_pb2.RunNowResponse())
    task = work.end(api, begun.task_id)
    assert (task.state, "allowed-now" in task.answer) == (common_pb2.COMPLETED, True)


def test_the_chat_shows_asks_and_keeps(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    add = '/schedule add "every weekday at 8" "What is new?" --zone UTC\n'
    with terminal.person(daemon, "chat") as person:
        person.sees(terminal.PROMPT)
        person.type(add)
        assert f"when          {WEEKDAYS} (UTC)\n" in person.sees(texts.SCHEDULE_PROMPT)
        person.type("n\n")
        person.sees(texts.SCHEDULE_NOT_KEPT)
        person.sees(terminal.PROMPT)
        person.type(add)
        person.sees(texts.SCHEDULE_PROMPT)
        person.type("y\n")
        person.sees("  active     What is new?\n")
        person.sees(terminal.PROMPT)
        person.type("/schedule nonsense\n")
        person.sees("No such command 'nonsense'")
        person.sees(terminal.PROMPT)
        person.type("/schedule\n")
        assert WEEKDAYS in person.sees(terminal.PROMPT)
        assert person.leaves() == 0
    assert [row.text for row in listed(api)] == ["What is new?"]
