"""What a person sees on Telegram, as a text: `python -m tests.unit.bots.telegram.transcript`.

The views are those of the bot, of made-up tasks. Entities stand as Markdown, buttons in brackets.
"""

import datetime
import pathlib
from collections.abc import Iterator

from bots import commands, views
from bots.telegram import cards, drafts, finals, outgoing, previews, rendering, schedule_views
from proto.ducklm.v1 import (
    approvals_pb2,
    channels_pb2,
    common_pb2,
    events_pb2,
    schedules_pb2,
    tasks_pb2,
)

PATH = pathlib.Path(__file__).parents[3] / "golden" / "telegram.md"
_MARKS = {"bold": ("**", "**"), "italic": ("_", "_"), "code": ("`", "`"), "pre": ("```\n", "\n```")}
_T, _C = "task-" + "a" * 32, "call-" + "b" * 32
_ID = "approval-" + "c" * 32
_COMMAND = (
    "shell_exec\ncommand: rm -r build\nfolder: /home/ann/ducks\nsandbox: bubblewrap, no network"
)


def drawn(text: outgoing.Text) -> str:
    """A message as Markdown, its buttons below."""
    encoded, marks = text.text.encode("utf-16-le"), dict[int, str]()
    for one in text.entities:
        quote = "quote" in one.kind
        before, after = ("▸ ", " ◂") if quote else _MARKS.get(one.kind, ("", ""))
        end = one.offset + one.length
        marks[one.offset] = marks.get(one.offset, "") + before
        marks[end] = after + marks.get(end, "")
    shown = ""
    for unit in range(len(encoded) // 2 + 1):
        shown += marks.get(unit, "")
        shown += encoded[2 * unit : 2 * unit + 2].decode("utf-16-le", "surrogatepass")
    rows = [" ".join(f"[ {one.text} ]" for one in row) for row in text.rows]
    whole = "\n".join([shown, *rows])
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def growing() -> Iterator[tuple[str, outgoing.Text]]:
    """A preview from the first moment to the last words."""
    preview = previews.Preview()
    yield "while it waits", preview.text(0)
    stage = views.Stage
    preview.feed(views.Progress(_T, stage.LOADING, 40, 100, 2300))
    yield "while a model is loaded", preview.text(2300)
    preview.feed(views.Progress(_T, stage.READING, 512, 900, 4100))
    yield "while it reads", preview.text(4100)
    steps = (
        views.PlanStep("a", "look at the folder", "tool", (), views.StepStatus.DONE),
        views.PlanStep("b", "remove the build", "tool", ("a",), views.StepStatus.RUNNING),
        views.PlanStep("c", "tell what was done", "respond", ("b",)),
    )
    preview.feed(views.PlanShown(_T, steps))
    preview.feed(views.ToolStarted(_T, "call-0", "shell_exec", "ls", 1))
    finished = events_pb2.ToolCallEnded.FINISHED
    ended = views.ToolEnded(_T, "call-0", "shell_exec", "ls", finished, 0, "", "", 12)
    preview.feed(ended)
    preview.feed(views.ToolStarted(_T, _C, "shell_exec", "make clean", 1))
    preview.feed(views.ToolOutput(_T, _C, "rm -f duck.o\nrm -f pond.o\n"))
    yield "while a plan is followed", preview.text(7000)
    failed = views.ToolEnded(_T, _C, "shell_exec", "make clean", finished, 2, "", "ab" * 32, 900)
    preview.feed(failed)
    preview.feed(views.TextPiece(_T, "call-9", "The folder is **clean** now, but `make` sa"))
    yield "while it writes", preview.text(9000)


def approval(status: int, by: str = "") -> approvals_pb2.Approval:
    given = approvals_pb2.Approval(
        approval_id=_ID,
        tool="shell_exec",
        card=_COMMAND,
        reasons=["deletes files for good"],
        always_allowed=True,
        decided_by=by,
        folder="/home/ann/ducks",
    )
    given.status = status  # type: ignore[assignment]
    given.expires_at.FromDatetime(datetime.datetime(2027, 1, 5, 16, 54))
    return given


def asked() -> Iterator[tuple[str, outgoing.Text]]:
    """Cards, ends and notices."""
    yield "a command asks", cards.approval(approval(approvals_pb2.PENDING), datetime.UTC).text
    allowed = approval(approvals_pb2.ALLOWED, "telegram:77:42")
    yield "it was allowed", cards.approval(allowed, datetime.UTC).text
    done = ("✓ ls", "✗ make clean (exit 2)")
    answer = "The folder is **clean**:\n\n```sh\nls\n```\n\nAsk @ann for the rest."
    task = tasks_pb2.Task(
        task_id=_T, kind="answer", text="clean up", state=common_pb2.COMPLETED, answer=answer
    )
    yield "the answer", finals.final(task, done).parts[0]
    task.state, task.reason = common_pb2.AWAITING_DECISION, "the outcome of a call is unknown"
    task.unknown_outcomes.add(
        call_id=_C, tool="shell_exec", arguments_json='{"command":"rm -r build"}'
    )
    waiting = channels_pb2.Delivery(chat="42", principal="telegram:77:42", waits=True, task=task)
    yield "after a crash in the middle of a command", cards.notice(waiting)
    person = channels_pb2.Person(
        principal="telegram:77:99", name="Mallory", code="123456", state=channels_pb2.Person.ASKED
    )
    yield "somebody unknown asks to talk", cards.notice(channels_pb2.Delivery(person=person))
    yield "/help", outgoing.Text(commands.help_text())


def seen(view: schedule_views.View) -> outgoing.Text:
    """A view as a message."""
    text = rendering.markdown(view.text)
    return outgoing.Text(text.text, text.entities, tuple(map(tuple, view.rows)))


def scheduled() -> Iterator[tuple[str, outgoing.Text]]:
    """From words to a result."""
    here = schedule_views.Place("telegram:77", "42")
    times = schedules_pb2.Times(
        when="every mon,tue,wed,thu,fri at 08:00",
        zone="Europe/Berlin",
        told=["Wed 2026-12-02 08:00 CET", "Thu 2026-12-03 08:00 CET", "Fri 2026-12-04 08:00 CET"],
        notes=["8 is read as 08:00, in the morning; say 8pm for 20:00"],
    )
    text = "tell me what is new in the pond"
    draft = drafts.Draft("telegram:77:42", "k", times.when, times.zone, text)
    said = "/schedule add every weekday at 8: tell me what is new in the pond"
    yield f"`{said}`", seen(schedule_views.draft(draft, times, "ab" * 32, ""))
    policy = schedules_pb2.SchedulePolicy
    one = schedules_pb2.Schedule(
        schedule_id="schedule-" + "0" * 28 + "7f3a",
        name=text,
        text=text,
        mode=common_pb2.BUILD,
        state=schedules_pb2.Schedule.ACTIVE,
        times=times,
        policy=policy(
            missed=policy.RUN_ONCE,
            overlap=policy.LEAVE_OUT,
            tell=policy.ALWAYS,
            to=schedules_pb2.ChatTarget(account="telegram:77", chat="42"),
            pause_after_failures=5,
        ),
    )
    yield "Keep is pressed", seen(schedule_views.schedule(one, here, "Kept."))
    run = schedules_pb2.Run(
        name=text,
        due_told="Wed 2026-12-02 08:00 CET",
        state=schedules_pb2.Run.DELIVERED,
        late_ms=12 * 60_000,
        duration_ms=94_000,
    )
    run.started_at.FromDatetime(datetime.datetime(2026, 12, 2))
    run.ended_at.FromDatetime(datetime.datetime(2026, 12, 2))
    task = tasks_pb2.Task(
        task_id=_T, kind="answer", state=common_pb2.COMPLETED, answer="**Two** more ducks."
    )
    yield "it came due while the machine slept", finals.final(task, (), run).parts[0]
    yield "History is pressed", seen(schedule_views.history([run], text, one.schedule_id))
    one.kind, one.name, one.text = one.COMMAND, "make feed", "make feed"
    yield "/schedule", seen(schedule_views.listing([one], here))
    pending = approval(approvals_pb2.PENDING)
    card = cards.approval(pending, datetime.UTC, "make feed").text
    yield "a command of a schedule asks", card


def made() -> str:
    """The whole transcript."""
    parts = ["# What is seen on Telegram", "Made by `tests/unit/bots/telegram/transcript.py`."]
    for title, text in (*growing(), *asked(), *scheduled()):
        body = "\n".join(f"> {line}" if line else ">" for line in drawn(text).split("\n"))
        parts += [f"## {title}", body]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PATH.write_text(made(), "utf-8")
