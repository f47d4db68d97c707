"""Random runs of a simulated daemon: whatever comes in whatever order, the invariants hold."""

import random
from collections.abc import Callable

import hypothesis
import pytest
from hypothesis import strategies

from daemon.domain import events, ids, inputs, limits, messages, principals
from tests.unit.decide import acts_of_schedules, moves, scenes, simulated
from tools import contract

Act = Callable[[simulated.Daemon, random.Random], None]

BOUNDS = limits.Limits(
    running_tasks=2,
    queued_tasks=4,
    task_rounds=6,
    task_tool_calls=12,
    task_recoveries=2,
    task_seconds=600,
    approval_seconds=300,
)
TEXTS = ("hi", "hi", "hi", "run `ls`", "")
SELDOM = 0.2


def pick(daemon: simulated.Daemon, dice: random.Random) -> int:
    """Some task, live or not."""
    return dice.randrange(len(daemon.seen))


def asking(daemon: simulated.Daemon, dice: random.Random) -> int:
    """Mostly a task that waits for a person."""
    waiting = [n for n, one in enumerate(daemon.seen) if daemon.waits(one.task_id)]
    return dice.choice(waiting) if waiting and dice.random() < 0.8 else pick(daemon, dice)


def submit(daemon: simulated.Daemon, dice: random.Random) -> None:
    chat = pick(daemon, dice) if dice.random() < 0.7 else None
    key = dice.choice(("", "", "a", "b"))
    body = dice.choice("xy")
    text = dice.choice(TEXTS)
    feed(daemon, moves.submit(text, chat, key, body))


def feed(daemon: simulated.Daemon, move: scenes.Move) -> None:
    for given in move(daemon):
        daemon.feed(given)


def land(daemon: simulated.Daemon, dice: random.Random) -> None:
    if daemon.flying:
        daemon.land(dice, dice.randrange(len(daemon.flying)))


def resolve(daemon: simulated.Daemon, dice: random.Random) -> None:
    answer = dice.choice((*inputs.Answer, inputs.Answer.ALLOW_ONCE, inputs.Answer.ALLOW_ONCE))
    reason = dice.choice(("", "no", "no"))
    feed(daemon, moves.resolve(answer, reason, asking(daemon, dice)))


def decide(daemon: simulated.Daemon, dice: random.Random) -> None:
    said = dice.choice(list(events.Decision))
    feed(daemon, moves.decide(said, asking(daemon, dice)))


def cancel(daemon: simulated.Daemon, dice: random.Random) -> None:
    feed(daemon, moves.cancel(pick(daemon, dice)))


def wait(daemon: simulated.Daemon, dice: random.Random) -> None:
    daemon.now_ms += dice.choice((1, 1000, 400_000))
    task = pick(daemon, dice)
    feed(daemon, moves.approval_timer(task))
    feed(daemon, moves.budget_timer(task))
    feed(daemon, moves.secret_timer(task))


def restart(daemon: simulated.Daemon, dice: random.Random) -> None:
    if dice.random() < SELDOM:
        return
    daemon.restart(clean=dice.random() < 0.5)


def stray(daemon: simulated.Daemon, dice: random.Random) -> None:
    """An answer about a call that has ended, or never was: only those may be lost on nobody."""
    task = pick(daemon, dice)
    seen = daemon.seen[task]
    ended = ids.CallId("call-never")
    kept = (list(seen.model_calls), list(seen.tool_calls))
    seen.model_calls, seen.tool_calls = [ended], [ended]
    strays = (
        moves.says("stray", task),
        moves.faults(messages.ModelFaultKind.DIED, task),
        moves.inspected(task),
        moves.not_inspected(task),
        moves.ran(of=task),
        moves.stopped(events.CallOutcome.FAILED, task),
        moves.reconciled(contract.Reconciled.DONE, task),
    )
    gathers = (moves.gathered(task), moves.not_gathered(messages.ModelFaultKind.DIED, task))
    move = dice.choice(strays if daemon.flies(seen.task_id) else (*strays, *gathers))
    for given in move(daemon):
        assert daemon.feed(given).events == ()
    seen.model_calls, seen.tool_calls = kept


def steer(daemon: simulated.Daemon, dice: random.Random) -> None:
    feed(daemon, moves.steer(dice.random() < 0.7, pick(daemon, dice)))


def secret(daemon: simulated.Daemon, dice: random.Random) -> None:
    feed(daemon, moves.provide_secret(asking(daemon, dice)))


def of_conversation(daemon: simulated.Daemon, dice: random.Random) -> None:
    """A person asks something of a conversation as a whole."""
    seen = daemon.seen[pick(daemon, dice)]
    kinds = ("undo", "undo", "compact", "compact", "feedback")
    daemon.feed(asked_of(seen, "delete" if dice.random() < SELDOM else dice.choice(kinds)))


def asked_of(seen: scenes.Seen, kind: str) -> inputs.Input:
    chat, who = seen.conversation_id, scenes.OWNER
    match kind:
        case "undo":
            return inputs.UndoExchange(
                credential="owner", principal=who, correlation_id="other", conversation_id=chat
            )
        case "compact":
            return inputs.CompactConversation(
                credential="owner",
                principal=who,
                correlation_id="other",
                conversation_id=chat,
                origin=principals.Origin(principal=who),
            )
        case "delete":
            return inputs.DeleteConversation(
                credential="owner", principal=who, correlation_id="other", conversation_id=chat
            )
        case _:
            return inputs.GiveFeedback(
                credential="owner",
                principal=who,
                correlation_id="other",
                task_id=seen.task_id,
                good=True,
            )


def revert(daemon: simulated.Daemon, dice: random.Random) -> None:
    if daemon.reverting:
        daemon.revert(dice)


def abort(daemon: simulated.Daemon, dice: random.Random) -> None:
    if dice.random() < SELDOM:
        feed(daemon, moves.abort(pick(daemon, dice)))


def lose(daemon: simulated.Daemon, dice: random.Random) -> None:
    """A commit that failed."""
    daemon.lose(moves.cancel(pick(daemon, dice))(daemon)[0])


ACTS: tuple[Act, ...] = (
    *[land] * 30,
    submit,
    submit,
    *[resolve] * 3,
    decide,
    decide,
    cancel,
    wait,
    *[restart] * 3,
    stray,
    lose,
    steer,
    secret,
    of_conversation,
    revert,
    abort,
)


@pytest.mark.spec("D-01")
@pytest.mark.spec("D-03")
@pytest.mark.spec("L-05")
@pytest.mark.timeout(60)
@hypothesis.settings(max_examples=100, deadline=None, database=None)
@hypothesis.given(dealt=strategies.integers(0, 2**32 - 1), acts=strategies.integers(50, 300))
def test_the_invariants_hold_over_any_run(dealt: int, acts: int) -> None:
    dice = random.Random(dealt)
    daemon = simulated.Daemon(BOUNDS, dice.random() < 0.3, dice.random() < 0.5, dice.random() < 0.3)
    feed(daemon, moves.submit("hi"))
    for _ in range(acts):
        dice.choice(ACTS)(daemon, dice)
    daemon.watch.folds(daemon.world)
    daemon.settle(dice)


OF_SCHEDULES: tuple[Act, ...] = (
    *ACTS,
    *[land] * 10,
    acts_of_schedules.create,
    acts_of_schedules.create,
    *[acts_of_schedules.change] * 3,
    *[acts_of_schedules.tick] * 8,
    *[acts_of_schedules.read] * 2,
    acts_of_schedules.read_late,
)


@pytest.mark.spec("K-14")
@pytest.mark.spec("C-05")
@pytest.mark.timeout(90)
@hypothesis.settings(max_examples=40, deadline=None, database=None)
@hypothesis.given(dealt=strategies.integers(0, 2**32 - 1), acts=strategies.integers(50, 300))
def test_and_of_schedules(dealt: int, acts: int) -> None:
    """Each due time is accounted for once, and no schedule is forgotten."""
    dice = random.Random(dealt)
    daemon = simulated.Daemon(BOUNDS)
    feed(daemon, moves.submit("hi"))
    acts_of_schedules.create(daemon, dice)
    for _ in range(acts):
        dice.choice(OF_SCHEDULES)(daemon, dice)
    daemon.watch.folds(daemon.world)
    daemon.settle(dice)
