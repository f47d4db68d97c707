"""Prints a task's run step by step from its log: `scripts/replay.py TASK [--state DIR]`.

Reads only, whether a daemon runs or not: not a file of the state folder is made or changed. Times
count from the submission, texts are shortened, and a log that cannot be folded is said to be so.
"""

import argparse
import dataclasses
import datetime
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import assert_never

from daemon.domain import errors, events, fold, ids, state, taints, world
from daemon.storage import codec, database, event_store, lock, records

TEXT_CHARS = 100
COMMIT_CHARS = 12
PAGE_EVENTS = 1000
PAGE_TEXTS = 500

Texts = dict[ids.ContentId, str | None]


@dataclasses.dataclass(frozen=True)
class Run:
    """A task's events, and the texts that they name."""

    recorded: Sequence[events.Recorded]
    texts: Texts


def read(folder: Path, task_id: ids.TaskId) -> Run:
    """The run of a task.

    Raises:
        errors.StorageFault: the database cannot be read, or there is no such task.
    """
    path = folder / database.FILE_NAME
    with lock.looked_at(folder) as live, database.look(path, live) as connection:
        recorded: list[events.Recorded] = []
        while page := event_store.read(
            connection,
            codec.Codec(),
            recorded[-1].seq if recorded else 0,
            PAGE_EVENTS,
            task_id,
        ):
            recorded.extend(page)
        if not recorded:
            raise errors.StorageFault(f"There is no task {task_id} in {path}.")
        wanted = [content for one in recorded for content in _contents(one.event) if content]
        texts: Texts = {}
        for start in range(0, len(wanted), PAGE_TEXTS):
            texts |= records.texts(connection, wanted[start : start + PAGE_TEXTS])
        return Run(recorded, texts)


def _contents(event: events.Event) -> tuple[ids.ContentId | None, ...]:
    match event:
        case (
            events.TaskSubmitted()
            | events.TaskSteered()
            | events.AnswerGiven()
            | events.ModelCallFinished()
            | events.ModelCallFailed()
            | events.ReplyRefused()
            | events.FeedbackGiven()
        ):
            return (event.text,)
        case events.PlanMade():
            return tuple(step.goal for step in event.steps)
        case events.StepJudged():
            return (event.note,)
        case events.StepEnded():
            return (event.result,)
        case events.ConversationCompacted():
            return (event.summary,)
        case events.ToolCallProposed():
            return (event.arguments,)
        case events.ToolCallEnded():
            return (event.result, event.diff)
        case events.ApprovalRequested():
            return (event.card,)
        case events.ApprovalResolved():
            return (event.reason,)
        case _:
            return ()


def lines(run: Run) -> Iterator[str]:
    """The run as lines; the first says what was asked, the last where it stands."""
    first = run.recorded[0]
    submitted = first.event
    if not isinstance(submitted, events.TaskSubmitted):
        raise errors.StorageFault(f"The log of {first.task_id} does not begin with its submission.")
    at = datetime.datetime.fromtimestamp(first.at_ms / 1000, datetime.UTC)
    yield f"{submitted.task_id} in {submitted.conversation_id}"
    yield f"submitted {at:%Y-%m-%d %H:%M:%S} UTC by {submitted.origin.principal}"
    folded = world.World()
    began_ms: dict[str, int] = {}
    for number, one in enumerate(run.recorded, 1):
        _fold(folded, one._replace(seq=number), one.seq)
        elapsed = (one.at_ms - first.at_ms) / 1000
        yield f"{elapsed:+10.3f} s  #{one.seq:<6} {_say(run, one, began_ms)}".rstrip()
    yield _standing(folded, run)


def _fold(folded: world.World, numbered: events.Recorded, seq: int) -> None:
    try:
        fold.apply(folded, numbered)
    except (ValueError, KeyError, state.ImpossibleTransition) as error:
        raise errors.StorageFault(f"The log is damaged at event {seq}: {error}.") from error


def _standing(folded: world.World, run: Run) -> str:
    calls = [one.event for one in run.recorded]
    models = sum(isinstance(one, events.ModelCallStarted) for one in calls)
    tools = sum(isinstance(one, events.ToolCallProposed) for one in calls)
    changes = [one.state for one in calls if isinstance(one, events.TaskStateChanged)]
    stands = changes[-1] if changes else "queued"
    live = " (live)" if folded.tasks else ""
    return f"now {stands}{live}: {models} model calls, {tools} tool calls"


_WANTED = {
    events.TaskKind.ANSWER: "submitted",
    events.TaskKind.COMPACT: "summary wanted",
    events.TaskKind.REHEARSAL: "to be allowed",
}


def _say(run: Run, one: events.Recorded, began_ms: dict[str, int]) -> str:
    event = one.event
    match event:
        case events.TaskSubmitted():
            skill = f" with the skill {event.skill}" if event.skill else ""
            skill += f" with the profile {event.profile}" if event.profile else ""
            what = _WANTED[event.kind]
            return f"{what}{skill}: {_short(run, event.text)}"
        case events.TaskStateChanged():
            return f"{event.previous} → {event.state}" + (
                f": {event.reason}" if event.reason else ""
            )
        case events.TaskRecovered():
            return f"recovered, {event.count} times by now"
        case events.TaskDecided():
            return f"{event.principal} decided {event.decision}"
        case events.AnswerGiven():
            return f"answered: {_short(run, event.text)}"
        case events.ModelCallStarted() | events.ModelCallFinished() | events.ModelCallFailed():
            return _say_model(run, one, event, began_ms)
        case events.ApprovalRequested() | events.ApprovalResolved():
            return _say_approval(run, event)
        case (
            events.ToolCallProposed()
            | events.ToolCallInspected()
            | events.ToolCallStarted()
            | events.ToolCallEnded()
        ):
            return _say_tool(run, event)
        case events.TaskTainted() | events.ProjectTainted():
            return f"{event.type}: {taints.tell(event.sources)}"
        case events.SecretRequested():
            return f"needs {event.what}"
        case events.SecretProvided():
            return f"{event.principal} gave the secret"
        case events.GrantCreated():
            return f"{event.granted_by} allowed always: {event.grant_id}"
        case (
            events.ConversationCreated()
            | events.ConversationUpdated()
            | events.ConversationDeleted()
            | events.GrantRevoked()
            | events.ProjectTrusted()
            | events.DeliveryReported()
            | events.NoticePosted()
            | events.ChatMoved()
            | events.PairingRequested()
            | events.PairingDecided()
            | events.ScheduleSet()
            | events.ScheduleRemoved()
            | events.ScheduleRunQueued()
            | events.ScheduleRunStarted()
            | events.ScheduleRunsLeftOut()
            | events.ScheduleRunEnded()
        ):
            return str(event.type)
        case (
            events.ConversationCompacted()
            | events.ExchangeUndone()
            | events.ProjectReverted()
            | events.FeedbackGiven()
        ):
            return _say_afterwards(run, event)
        case _:
            return _say_thinking(run, event)


def _say_afterwards(
    run: Run,
    event: events.ConversationCompacted
    | events.ExchangeUndone
    | events.ProjectReverted
    | events.FeedbackGiven,
) -> str:
    match event:
        case events.ConversationCompacted():
            summary = _short(run, event.summary)
            return f"what was said up to #{event.up_to_seq} is summarized: {summary}"
        case events.ExchangeUndone():
            what = f"{len(event.commits)} commits to take back" if event.commits else "no commits"
            left = f", {len(event.left)} calls cannot be taken back" if event.left else ""
            return f"{event.principal} undid it: {what}{left}"
        case events.ProjectReverted():
            return (
                f"commits not taken back: {event.fault}"
                if event.fault
                else (f"commits taken back by {event.commit[:COMMIT_CHARS]}")
            )
        case events.FeedbackGiven():
            why = f": {_short(run, event.text)}" if event.text else ""
            return f"{event.principal} finds it {'good' if event.good else 'bad'}{why}"
        case _:
            assert_never(event)


def _say_thinking(
    run: Run,
    event: events.TaskSteered
    | events.DirectiveTaken
    | events.ReplyRefused
    | events.PlanMade
    | events.StepStarted
    | events.StepJudged
    | events.StepEnded,
) -> str:
    match event:
        case events.TaskSteered():
            return f"{event.origin.principal} added: {_short(run, event.text)}"
        case events.DirectiveTaken():
            return f"directive by the {event.source}: {event.kind}"
        case events.ReplyRefused():
            why = "cut by the token limit" if event.cut else f"refused, {event.reason}"
            return f"reply {why}: {_short(run, event.text)}"
        case events.PlanMade():
            return f"plan: {'; '.join(_step(run, step) for step in event.steps)}"
        case events.StepStarted():
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            return f"step {event.step_id} started{again}"
        case events.StepJudged():
            given = (event.correctness, event.usefulness, event.safety)
            scores = " ".join("?" if score is None else str(score) for score in given)
            note = f": {_short(run, event.note)}" if event.note else ""
            said = f"correct, useful, safe: {scores}"
            return f"step {event.step_id} judged {event.follows} ({said}){note}"
        case events.StepEnded():
            result = f": {_short(run, event.result)}" if event.result else ""
            return f"step {event.step_id} {event.outcome}{result}"
        case _:
            assert_never(event)


def _step(run: Run, step: events.PlannedStep) -> str:
    tool = f" {step.tool}" if step.tool else ""
    after = f" after {', '.join(step.after)}" if step.after else ""
    return f"{step.step_id} ({step.kind}{tool}{after}) {_short(run, step.goal)}"


def _say_model(
    run: Run,
    one: events.Recorded,
    event: events.ModelCallStarted | events.ModelCallFinished | events.ModelCallFailed,
    began_ms: dict[str, int],
) -> str:
    took = (one.at_ms - began_ms.get(event.call_id, one.at_ms)) / 1000
    match event:
        case events.ModelCallStarted():
            began_ms[event.call_id] = one.at_ms
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            return f"model call by {event.role} started{again}"
        case events.ModelCallFinished():
            used = f"{event.usage.prompt_tokens} + {event.usage.completion_tokens} tokens"
            said = _short(run, event.text)
            return f"model call finished after {took:.3f} s ({event.slot}, {used}): {said}"
        case events.ModelCallFailed():
            came = f"; it had said {_short(run, event.text)}" if event.text else ""
            return f"model call failed after {took:.3f} s ({event.fault}): {event.message}{came}"
        case _:
            assert_never(event)


def _say_approval(run: Run, event: events.ApprovalRequested | events.ApprovalResolved) -> str:
    if isinstance(event, events.ApprovalRequested):
        return f"approval requested: {_short(run, event.card)}"
    by = f" by {event.decided_by}" if event.decided_by else ""
    reason = f": {_short(run, event.reason)}" if event.reason else ""
    return f"approval {event.outcome}{by}{reason}"


def _say_tool(
    run: Run,
    event: events.ToolCallProposed
    | events.ToolCallInspected
    | events.ToolCallStarted
    | events.ToolCallEnded,
) -> str:
    match event:
        case events.ToolCallProposed():
            again = " again" if event.repeats else ""
            return f"{event.tool} proposed{again}: {_short(run, event.arguments)}"
        case events.ToolCallInspected():
            return f"tool call inspected: {event.effect}, {event.verdict}"
        case events.ToolCallStarted():
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            return f"tool call started{again}"
        case events.ToolCallEnded():
            code = "" if event.exit_code is None else f", exit code {event.exit_code}"
            told = f": {_short(run, event.result)}" if event.result else ""
            took = f"after {event.duration_ms / 1000:.3f} s{code}"
            return f"tool call {event.outcome} {took}{_change(run, event)}{told}"
        case _:
            assert_never(event)


def _change(run: Run, event: events.ToolCallEnded) -> str:
    """Which commit has the call's changes, in how many files, and how large they are."""
    if not event.commit:
        return ""
    diff = run.texts.get(event.diff) if event.diff else None
    lines = (diff or "").splitlines()
    more = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    less = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    size = "(forgotten)" if diff is None else f"+{more} −{less} lines"
    return f", commit {event.commit[:COMMIT_CHARS]}, {len(event.files)} files, {size}"


def _short(run: Run, content: ids.ContentId) -> str:
    text = run.texts.get(content)
    if text is None:
        return "(forgotten)"
    shown = repr(text[:TEXT_CHARS])
    return shown if len(text) <= TEXT_CHARS else f"{shown} … ({len(text)} characters)"


def state_folder(given: Path | None) -> Path:
    """The folder that the daemon would use."""
    xdg = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    return Path(given or os.environ.get("DUCKLM_STATE") or xdg / "ducklm").expanduser()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/replay.py", description=__doc__)
    parser.add_argument("task", help="the task's id")
    parser.add_argument("--state", type=Path, help="the state folder (else $DUCKLM_STATE, XDG)")
    given = parser.parse_args(arguments)
    try:
        for line in lines(read(state_folder(given.state), ids.TaskId(given.task))):
            sys.stdout.write(f"{line}\n")
    except errors.StorageFault as fault:
        sys.stderr.write(f"replay: {fault}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
