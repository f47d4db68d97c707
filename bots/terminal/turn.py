"""Follows one task from where the log stood to its end, or to where it waits for later.

Answers for: what is asked of the person on the way, that Ctrl-C cancels the task and not the
client, and that nothing is shown twice however often the connection breaks.
"""

import contextlib
import dataclasses
from collections.abc import Callable

from bots import presenter, render, texts, views
from bots.terminal import client, console, faults, link, prompts, screen, settings
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2


@dataclasses.dataclass(frozen=True)
class TurnEnd:
    """Where a turn came to rest."""

    task_id: str
    state: common_pb2.TaskState.ValueType
    answer: str = ""
    reason: str = ""
    approval_ids: tuple[str, ...] = ()
    secret: str = ""  # which one it waits for
    left: bool = False  # the person did not wait for it

    @property
    def exit_code(self) -> faults.Exit:
        if self.state == common_pb2.COMPLETED:
            return faults.Exit.OK
        if self.state in presenter.WAITING_STATES and not self.left:
            return faults.Exit.WAITS
        return faults.Exit.FAILED


@dataclasses.dataclass(frozen=True)
class Seats:
    """What every turn of one client shares."""

    client: client.Client
    link: link.Link
    console: console.Console
    screen: screen.Screen
    new_key: Callable[[], str]
    interactive: bool  # a person answers questions here
    wait_for_others: bool = False  # without one: stay while others decide elsewhere


class Turn:
    """One task. It may be followed again after it was left: it goes on where it was."""

    def __init__(self, seats: Seats, task_id: str, after_seq: int) -> None:
        self.task_id = task_id
        self._seats = seats
        self._prompts = prompts.Prompts(seats.client, seats.link, seats.console, seats.new_key)
        self._presenter = presenter.Presenter(after_seq)
        self._answer = ""
        self._asked: set[str] = set()  # approvals whose end the person knows
        self._cancelling = False

    def follow(self) -> TurnEnd:
        """Return when the task is final, waits for later, or is left; raises CallFault."""
        while True:
            try:
                return self._until_rest()
            except KeyboardInterrupt:
                end = self._interrupted()
            if end is not None:
                return end

    def resume(self) -> TurnEnd:
        """Ask for what the task waits for now, then follow it; raises CallFault."""
        try:
            end = self._ask_again()
        except KeyboardInterrupt:
            end = self._interrupted()
        return end or self.follow()

    def _ask_again(self) -> TurnEnd | None:
        task = self._seats.link.patiently(lambda: self._seats.client.task(self.task_id))
        if task.state != common_pb2.AWAITING_APPROVAL:
            return self._wait_on(task) if task.state in presenter.WAITING_STATES else None
        for approval_id in task.approval_ids:
            card = presenter.card_of(self._approval_now(approval_id))
            if end := self._approval(card):
                return end
        return None

    def _approval_now(self, approval_id: str) -> approvals_pb2.Approval:
        return self._seats.link.patiently(lambda: self._seats.client.approval(approval_id))

    def _until_rest(self) -> TurnEnd:
        updates = self._seats.link.updates(self._subscribe, self._presenter.last_seq)
        with contextlib.closing(updates):
            for update in updates:
                if end := self._take(update):
                    return end
        raise AssertionError("the stream of updates has no end of its own")

    def _subscribe(self, after_seq: int) -> client.Stream:
        return self._seats.client.subscribe(after_seq, self.task_id)

    def _take(self, update: events_pb2.Update) -> TurnEnd | None:
        if not update.HasField("event") or update.event.seq > self._presenter.last_seq:
            self._seats.screen.update(update)
        end: TurnEnd | None = None
        for view in self._presenter.feed(update):
            if isinstance(view, views.ApprovalClosed) and view.approval_id in self._asked:
                continue
            self._seats.screen.show(view)
            end = self._react(view) or end
        return end

    def _react(self, view: views.View) -> TurnEnd | None:
        match view:
            case views.AnswerText(text=text):
                self._answer = text
            case views.ApprovalCard():
                return self._approval(view)
            case views.Waiting():
                return self._waiting(view)
            case views.Ended(state=state, reason=reason):
                return TurnEnd(self.task_id, state, self._answer, reason)
            case _:
                pass  # only to be seen
        return None

    def _approval(self, card: views.ApprovalCard) -> TurnEnd | None:
        if card.approval_id in self._asked:
            return None
        if not self._seats.interactive:
            self._seats.console.say(render.card(card, self._seats.console.palette))
            return None  # the state that follows says that it waits
        if self._prompts.approval(card):
            self._asked.add(card.approval_id)
            return None
        return TurnEnd(self.task_id, common_pb2.AWAITING_APPROVAL, approval_ids=(card.approval_id,))

    def _waiting(self, view: views.Waiting) -> TurnEnd | None:
        by_card = self._seats.interactive and view.state == common_pb2.AWAITING_APPROVAL
        if by_card or self._cancelling:
            return None
        task = self._seats.link.patiently(lambda: self._seats.client.task(self.task_id))
        if task.state != view.state:
            return None  # somebody was faster; the log goes on to say so
        return self._wait_on(task)

    def _wait_on(self, task: tasks_pb2.Task) -> TurnEnd | None:
        if self._seats.interactive:
            if self._prompts.decision(task):
                return None
        else:
            self._seats.console.say(prompts.left_waiting(task))
            if self._seats.wait_for_others:
                return None
        return TurnEnd(
            self.task_id,
            task.state,
            reason=task.reason,
            approval_ids=tuple(task.approval_ids),
            secret=task.secret,
        )

    def _interrupted(self) -> TurnEnd | None:
        """Cancel the task; a second time, leave it."""
        if self._cancelling:
            self._seats.console.say(texts.LEFT_BEHIND)
            return self._left()
        self._cancelling = True
        self._seats.console.say(texts.CANCELLING)
        try:
            self._seats.client.cancel(self.task_id, self._seats.new_key())
        except faults.CallFault as fault:
            if not fault.lost:
                raise
            task_id = render.one_line(self.task_id)
            self._seats.console.say(texts.CANCEL_UNREACHABLE.format(id=task_id))
            return self._left()
        return None

    def _left(self) -> TurnEnd:
        return TurnEnd(self.task_id, common_pb2.TASK_STATE_UNSPECIFIED, left=True)


def begin(
    seats: Seats,
    text: str,
    conversation_id: str,
    wanted: settings.Settings = settings.DEFAULT,
) -> tuple[str, Turn]:
    """Submit a text; the conversation's id and the turn to follow. Raises CallFault.

    The settings are those of a conversation which begins with it.
    """
    key = seats.new_key()
    if not conversation_id and wanted.needs_creation:
        make = seats.link.patiently(lambda: seats.client.create_conversation(wanted, key))
        conversation_id, wanted, key = make.conversation_id, settings.DEFAULT, seats.new_key()
    accepted = seats.link.patiently(lambda: seats.client.submit(text, conversation_id, key, wanted))
    return accepted.conversation_id, Turn(seats, accepted.task_id, accepted.seq - 1)
